//! A record written in native spelling, as one line of JSON: what reads native lines reads those of every format so.

use super::attempt::{Builder, sent_at};
use super::place::Place;
use super::scalar::Scalar;
use super::typed::Record;
use crate::ingest::hint::ServerHint;
use crate::model::{LimitKind, Time};
use serde_json::{Map, Value, json};

/// The line of a record whose text is `raw`, which stands at `place`. `is_native`: the text is in native spelling.
pub(in crate::ingest) fn spelled(record: &Record<'_>, raw: &str, place: &Place<'_>, is_native: bool) -> String {
    let mut line = match serde_json::from_str(raw) {
        Ok(Value::Object(_)) if is_native => raw.replace(['\n', '\r'], " "),
        _ => Value::Object(members(record, place)).to_string(),
    };
    for (key, value) in given(record, place) {
        let end = line.rfind('}').unwrap_or(line.len());
        let separator = if line[..end].trim_end().ends_with('{') { "" } else { "," };
        line.replace_range(end.., &format!("{separator}{}:{value}}}", json!(key)));
    }
    line
}

/// What a record does not say itself.
fn given(record: &Record<'_>, place: &Place<'_>) -> Vec<(&'static str, Value)> {
    let Some(given) = place.given else { return Vec::new() };
    let mut members = Vec::new();
    let is_timeless = record.ts.is_none() && record.started_at.is_none() && record.ended_at.is_none();
    if let Some(time) = given.time.filter(|_| is_timeless) {
        members.push(("ended_at", json!(time.to_string())));
    }
    if record.run().is_none() {
        let run = given.run.as_deref().or(given.source.as_ref().map(|_| place.stream));
        members.extend(run.map(|run| ("run_id", json!(run))));
    }
    if let Some(call) = given.call.as_deref().filter(|_| record.call().is_none()) {
        members.push(("call_id", json!(call)));
    }
    members
}

/// What a record says, worked out.
fn members(record: &Record<'_>, place: &Place<'_>) -> Map<String, Value> {
    let (sent, duration_ms) = sent_at(record, place).ok().flatten().unwrap_or((Time(0), None));
    let builder = Builder { record, sent, duration_ms, place };
    let mut members = Map::new();
    times(record, &mut members);
    names(record, &builder, &mut members);
    outcome(record, &builder, sent, &mut members);
    amounts(record, &mut members);
    limits(record, &mut members);
    members.retain(|_, value| !value.is_null());
    members
}

fn times(record: &Record<'_>, members: &mut Map<String, Value>) {
    let moments = [("ts", &record.ts), ("started_at", &record.started_at), ("ended_at", &record.ended_at)];
    members.extend(moments.map(|(key, moment)| (key.to_owned(), moment.as_ref().map_or(Value::Null, scalar))));
    let spans = [
        ("duration_ms", record.duration_ms),
        ("duration", record.bare_duration),
        ("ttft_ms", record.ttft_ms),
        ("max_chunk_gap_ms", record.chunk_gap_ms),
        ("timeout_ms", record.timeout_ms),
        ("planned_wait_ms", record.planned_ms),
    ];
    members.extend(spans.map(|(key, span)| (key.to_owned(), json!(span))));
}

fn names(record: &Record<'_>, builder: &Builder<'_, '_>, members: &mut Map<String, Value>) {
    let names = [
        ("run_id", record.run()),
        ("call_id", builder.call_id()),
        ("request_id", builder.request_id()),
        ("layer", record.layer.as_deref()),
        ("provider", record.provider.as_deref()),
        ("model", record.model.as_deref()),
        ("org", record.org.as_deref().or(record.headers.org.as_deref())),
        ("api_key_id", record.api_key.as_deref()),
        ("workspace", record.workspace.as_deref()),
        ("host", record.host.as_deref()),
        ("endpoint", record.endpoint.as_deref()),
        ("user_agent", record.user_agent.as_deref().or(record.headers.user_agent.as_deref())),
        ("sdk_language", record.sdk_language.as_deref().or(record.headers.language.as_deref())),
        ("sdk_version", record.sdk_version.as_deref().or(record.headers.package_version.as_deref())),
        ("idempotency_key", builder.idempotency_key()),
        ("request_hash", record.request_hash.as_deref()),
        ("tool", record.tool.as_deref()),
    ];
    members.extend(names.map(|(key, name)| (key.to_owned(), json!(name))));
    if record.client.is_some() || record.client_version.is_some() {
        members.insert("client".to_owned(), json!({"name": record.client, "version": record.client_version}));
    }
}

fn outcome(record: &Record<'_>, builder: &Builder<'_, '_>, sent: Time, members: &mut Map<String, Value>) {
    let words = [
        ("error_type", builder.error_type()),
        ("error_code", builder.error_code()),
        ("error_message", builder.message()),
        ("exception", record.exception.as_deref()),
        ("kind", record.kind.as_deref()),
        ("decision", record.decision.as_deref()),
        ("outcome", record.outcome.as_deref()),
        ("transport", record.transport.as_deref()),
    ];
    members.extend(words.map(|(key, word)| (key.to_owned(), json!(word))));
    let truths = [
        ("should_retry", builder.should_retry()),
        ("will_retry", record.will_retry),
        ("success", record.success),
        ("completed", record.complete),
        ("mid_stream", builder.mid_stream().then_some(true)),
        ("stream", record.stream.then_some(true)),
        ("side_effect", if record.side_effect { Some(true) } else { record.no_side_effect.then_some(false) }),
    ];
    members.extend(truths.map(|(key, truth)| (key.to_owned(), json!(truth))));
    members.insert("status".to_owned(), json!(Some(builder.status()).filter(|status| *status > 0)));
    // A reason that is there says that the answer is complete; none says nothing, or that it is not.
    match record.stop_reason {
        Some(true) => members.insert("stop_reason".to_owned(), json!("stop")),
        Some(false) => members.insert("stop_reason".to_owned(), json!("none")),
        None => None,
    };
    let wait = builder.hint(sent).and_then(ServerHint::wait_us);
    members.insert("retry_after_ms".to_owned(), json!(wait.map(|us| us as f64 / 1e3)));
}

fn amounts(record: &Record<'_>, members: &mut Map<String, Value>) {
    let implied = record.attempts_implied.map(|attempts| attempts.saturating_sub(1));
    let counts = [
        ("attempt", record.number),
        ("max_attempts", record.max_attempts),
        ("sdk_retry_count", record.sdk_retry_count.or(record.headers.sdk_retry_count)),
        ("resend_count", record.resends.max(implied)),
        ("delivered", record.delivered),
        ("max_tokens", record.max_tokens),
    ];
    members.extend(counts.map(|(key, count)| (key.to_owned(), json!(count))));
    if let Some(usage) = record.usage {
        let amounts = [
            ("input_tokens", json!(usage.input)),
            ("output_tokens", json!(usage.output)),
            ("cache_read_tokens", json!(usage.cache_read)),
            ("cache_write_tokens", json!(usage.cache_write)),
            ("cost_usd", json!(usage.cost_usd)),
        ];
        members.extend(amounts.map(|(key, amount)| (key.to_owned(), amount)));
    }
}

fn limits(record: &Record<'_>, members: &mut Map<String, Value>) {
    for kind in LimitKind::ALL {
        let name = match kind {
            LimitKind::Requests => "requests",
            LimitKind::Tokens => "tokens",
            LimitKind::InputTokens => "input-tokens",
            LimitKind::OutputTokens => "output-tokens",
        };
        let reading = record.headers.limits[kind as usize];
        members.insert(format!("anthropic-ratelimit-{name}-limit"), json!(reading.limit));
        members.insert(format!("anthropic-ratelimit-{name}-remaining"), json!(reading.remaining));
    }
}

fn scalar(value: &Scalar<'_>) -> Value {
    match value {
        Scalar::Int(number) => json!(number),
        Scalar::Float(number) => json!(number),
        Scalar::Text(text) => json!(text),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Mapping, whole_record};
    use super::*;
    use crate::ingest::dialect::Dialect;
    use crate::model::Zone;

    #[test]
    fn what_is_spelled_reads_as_the_record_did() {
        let raw = r#"{"ts":"2026-01-05T10:00:00Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":4,"status":529,"duration_ms":12.5,"model":"m","provider":"anthropic","error":{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"},"headers":{"retry-after":"3","anthropic-ratelimit-requests-limit":"50","anthropic-ratelimit-requests-remaining":"0"},"usage":{"input_tokens":5}}"#;
        let place = Place::anywhere(Zone::UTC, Dialect::PLAIN);
        let record = whole_record(raw, &Mapping::NONE).unwrap();
        let line = spelled(&record, raw, &place, false);
        let again = whole_record(&line, &Mapping::NONE).unwrap();
        let said = |record: &Record<'_>| {
            let (sent, duration_ms) = sent_at(record, &place).unwrap().unwrap();
            let builder = Builder { record, sent, duration_ms, place: &place };
            let hint = builder.hint(sent).and_then(ServerHint::wait_us);
            let ids = [builder.request_id(), builder.call_id(), record.run()].map(|id| id.map(str::to_owned));
            (sent, duration_ms, builder.verdict(hint), hint, ids, record.number, record.usage, record.headers.limits)
        };
        assert_eq!(said(&again), said(&record), "{line}");
        assert_eq!(spelled(&record, raw, &place, true), raw);
    }
}
