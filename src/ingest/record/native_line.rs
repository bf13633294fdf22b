//! Writes a record of any format as one line of native JSON, which the native reader reads as the same attempt.

use super::attempt::Builder;
use super::error_body::{ErrorBody, means_no_error};
use super::fields::Field;
use super::headers::Headers;
use super::id_field::IdField;
use super::ids::ids_of;
use super::json_line::JsonLine;
use super::mapping::Mapping;
use super::place::Place;
use super::sent::sent_at;
use super::typed::Record;
use crate::model::{HintSource, LimitKind, Time};
use serde_json::json;

/// Returns the line of a record in which ids are searched for. `raw` is the text of the record; if `is_native`, it is
/// in native spelling and is kept, with the values of `place` added.
pub(in crate::ingest) fn searchable_line(record: &Record<'_>, raw: &str, place: &Place<'_>, is_native: bool) -> String {
    if !is_native || !matches!(serde_json::from_str(raw), Ok(serde_json::Value::Object(_))) {
        return native_line(record, raw, place);
    }
    let mut line = raw.replace(['\n', '\r'], " ");
    for (key, value) in defaults(record, place) {
        let end = line.rfind('}').unwrap_or(line.len());
        let separator = if line[..end].trim_end().ends_with('{') { "" } else { "," };
        line.replace_range(end.., &format!("{separator}{}:{value}}}", json!(key)));
    }
    line
}

/// Returns the values that the record lacks and the envelope or document around it has.
fn defaults(record: &Record<'_>, place: &Place<'_>) -> Vec<(&'static str, serde_json::Value)> {
    let Some(defaults) = place.defaults else { return Vec::new() };
    let mut members = Vec::new();
    let is_timeless = record.ts.is_none() && record.started_at.is_none() && record.ended_at.is_none();
    if let Some(time) = defaults.time.filter(|_| is_timeless) {
        members.push(("ended_at", json!(time.to_string())));
    }
    if record.run().is_none() {
        let run = defaults.run.as_deref().or(defaults.source.as_ref().map(|_| place.stream));
        members.extend(run.map(|run| ("run_id", json!(run))));
    }
    if let Some(call) = defaults.call.as_deref().filter(|_| record.call().is_none()) {
        members.push(("call_id", json!(call)));
    }
    members
}

/// Returns the line of a record whose text is `raw`; it is read back as the same attempt, wherever it is.
pub(in crate::ingest) fn native_line(record: &Record<'_>, raw: &str, place: &Place<'_>) -> String {
    let (sent, duration_ms) = sent_at(record, place).ok().flatten().unwrap_or((Time(0), None));
    let builder = Builder { record, sent, duration_ms, place };
    let mut line = JsonLine::new();
    // Written first, so that readable values of the same fields take precedence.
    write_misread(record, &mut line);
    write_times(&builder, &mut line);
    write_ids(&builder, raw, &mut line);
    write_names(record, &mut line);
    write_outcome(&builder, &mut line);
    write_durations(record, &mut line);
    write_amounts(record, &mut line);
    line.object("headers", headers(&record.headers, record.error.previous));
    line.end()
}

fn write_times(builder: &Builder<'_, '_>, line: &mut JsonLine) {
    let record = builder.record;
    if builder.sent == Time(0) {
        line.scalar("ts", record.ts.as_ref());
        line.scalar("started_at", record.started_at.as_ref());
        line.scalar("ended_at", record.ended_at.as_ref());
        line.number("duration_ms", record.duration_ms);
        return;
    }
    line.text("started_at", Some(&builder.sent.to_string()));
    line.number("duration_ms", builder.duration_ms);
    line.display("whole_seconds", record.whole_seconds.then_some(true));
}

fn write_ids(builder: &Builder<'_, '_>, raw: &str, line: &mut JsonLine) {
    let record = builder.record;
    line.text("run_id", builder.run());
    if builder.run().is_none() {
        line.text("converted_from", Some(builder.stream()).filter(|name| !name.is_empty()));
    }
    line.text("call_id", builder.call_id());
    line.display("call_guessed", record.call_guessed.then_some(true));
    if record.number_from_zero {
        line.display("retry_attempt", record.number.map(|number| number.saturating_sub(1)));
    } else {
        line.display("attempt", record.number);
    }
    line.display("max_attempts", record.max_attempts);
    line.display("sdk_retry_count", record.sdk_retry_count.or(record.headers.sdk_retry_count));
    let implied = record.attempts_implied.map(|attempts| attempts.saturating_sub(1));
    line.display("resend_count", record.resends.max(implied));
    line.text("request_id", builder.request_id());
    if record.aws_request_id || record.headers.aws_request_id {
        let platform = ids_of(raw, Mapping::EMPTY).into_iter().find(|(field, _)| *field == IdField::Platform);
        match platform {
            Some((_, id)) => line.text("aws_request_id", Some(&id)),
            None => line.display("aws_request_id", Some(true)),
        }
    }
    line.text("idempotency_key", builder.idempotency_key());
    line.text("request_hash", record.request_hash.as_deref());
    // Without a request id, the record is identified by its text.
    if builder.request_id().is_none() {
        line.text("record_hash", Some(&format!("{:08x}", builder.identity(raw))));
    }
}

fn write_names(record: &Record<'_>, line: &mut JsonLine) {
    let headers = &record.headers;
    for (key, name) in [
        ("layer", &record.layer),
        ("provider", &record.provider),
        ("model", &record.model),
        ("org", &record.org),
        ("api_key_id", &record.api_key),
        ("workspace", &record.workspace),
        ("host", &record.host),
        ("client_address", &record.caller_address),
        ("endpoint", &record.endpoint),
        ("user_agent", if record.user_agent.is_some() { &record.user_agent } else { &headers.user_agent }),
        ("sdk_language", if record.sdk_language.is_some() { &record.sdk_language } else { &headers.language }),
        ("sdk_version", if record.sdk_version.is_some() { &record.sdk_version } else { &headers.package_version }),
        ("tool", &record.tool),
    ] {
        line.text(key, name.as_deref());
    }
    let mut client = JsonLine::new();
    client.text("name", record.client.as_deref());
    client.text("version", record.client_version.as_deref());
    line.object("client", client);
}

fn write_outcome(builder: &Builder<'_, '_>, line: &mut JsonLine) {
    let record = builder.record;
    line.display("status", record.status.or(record.error.status));
    for (key, word) in [
        ("outcome", &record.outcome),
        ("error_type", &record.error_type),
        ("error_code", &record.error_code),
        ("error_message", &record.error_message),
        ("exception", &record.exception),
        ("kind", &record.kind),
        ("transport", &record.transport),
        ("decision", &record.decision),
    ] {
        line.text(key, word.as_deref());
    }
    if builder.error_message().is_none() {
        line.text("message", builder.log_message());
    }
    for (key, truth) in [
        ("success", record.success),
        ("completed", record.complete.or(record.error.stream_ended)),
        ("mid_stream", record.mid_stream.then_some(true)),
        ("stream", record.stream.then_some(true)),
        ("side_effect", if record.side_effect { Some(true) } else { record.no_side_effect.then_some(false) }),
        ("should_retry", builder.should_retry()),
        ("will_retry", record.will_retry),
    ] {
        line.display(key, truth);
    }
    // The reason itself is not stored, so one that any reader takes for a reason is written, or a word for none.
    line.text("stop_reason", record.stop_reason.map(|is_given| if is_given { "stop" } else { "none" }));
    line.scalar("retry_after", record.retry_after.as_ref());
    write_error(&record.error, line);
}

fn write_error(error: &ErrorBody<'_>, line: &mut JsonLine) {
    let mut body = JsonLine::new();
    if let Some(word) = error.error_type.as_deref() {
        // Under `type`, these words would be read as the label of an error or as no error.
        let is_ambiguous =
            word == "error" || means_no_error(word) || word.contains("://") || word.starts_with("about:");
        body.text(if is_ambiguous { "name" } else { "type" }, Some(word));
    }
    body.text("code", error.code.as_deref());
    body.text("message", error.message.as_deref());
    body.display("http_code", error.status);
    body.text("request_id", error.request_id.as_deref());
    if let Some(wait) = error.wait {
        let key = match (wait.is_estimate, wait.unit_known) {
            (true, _) => "estimated_time",
            (false, true) => "retry_after_s",
            (false, false) => "retry_after",
        };
        body.number(key, Some(wait.us as f64 / 1e6));
    }
    body.text("quotaId", error.quota_id.as_deref());
    body.text("reason", error.reason.as_deref());
    body.text("title", error.title.as_deref());
    body.text("param", error.says_none.then_some("None"));
    if error.present && body.is_empty() {
        line.display("error", Some(true));
    }
    line.object("error", body);
}

fn write_durations(record: &Record<'_>, line: &mut JsonLine) {
    line.number("retry_after_ms", record.retry_after_ms);
    line.number("planned_wait_ms", record.planned_ms);
    line.number("ttft_ms", record.ttft_ms);
    line.number("max_chunk_gap_ms", record.chunk_gap_ms);
    line.number("timeout_ms", record.timeout_ms);
}

fn write_amounts(record: &Record<'_>, line: &mut JsonLine) {
    line.display("delivered", record.delivered);
    line.display("max_tokens", record.max_tokens);
    if let Some(usage) = record.usage {
        // A token count that could not be read is already in the line; a number after it would replace it.
        let is_read = |field: Field| record.misread.iter().all(|(misread, _)| *misread != field);
        line.display("input_tokens", Some(usage.input).filter(|_| is_read(Field::InputTokens)));
        line.display("output_tokens", Some(usage.output).filter(|_| is_read(Field::OutputTokens)));
        line.display("cache_read_tokens", Some(usage.cache_read).filter(|tokens| *tokens != 0));
        line.display("cache_write_tokens", Some(usage.cache_write).filter(|tokens| *tokens != 0));
        line.number("cost_usd", usage.cost_usd);
    }
}

/// Returns the response headers not written elsewhere; `listed` is the number of earlier failures listed in the body.
fn headers(headers: &Headers<'_>, listed: Option<u16>) -> JsonLine {
    let mut line = JsonLine::new();
    line.scalar("retry-after", headers.retry_after.as_ref());
    if let Some((ms, source)) = headers.retry_after_ms {
        let name = if source == HintSource::RetryAfter { HintSource::RetryAfterMs } else { source }.name();
        if ms.is_finite() { line.number(name, Some(ms)) } else { line.text(name, Some("NaN")) }
    }
    line.display("x-envoy-attempt-count", headers.upstream_attempts);
    line.display("x-litellm-attempted-retries", headers.gateway_retries.or(listed.map(i64::from)));
    line.text("anthropic-organization-id", headers.org.as_deref());
    line.text("x-amzn-errortype", headers.error_type.as_deref());
    line.text("date", headers.date.as_deref());
    write_limits(headers, &mut line);
    line.text("anthropic-ratelimit-unified-status", headers.window_rejected.then_some("rejected"));
    line.text("anthropic-ratelimit-unified-reset", headers.window_reset.as_deref());
    let has_limit_value = headers.limits.iter().any(|it| it.limit.is_some() || it.remaining.is_some())
        || headers.resets.iter().any(Option::is_some);
    if headers.any_window {
        line.text("anthropic-ratelimit-unified-claim", Some(""));
    } else if headers.any_limit && !has_limit_value {
        line.text("anthropic-ratelimit-requests-reset", Some(""));
    }
    line
}

fn write_limits(headers: &Headers<'_>, line: &mut JsonLine) {
    for kind in LimitKind::ALL {
        let name = match kind {
            LimitKind::Requests => "requests",
            LimitKind::Tokens => "tokens",
            LimitKind::InputTokens => "input-tokens",
            LimitKind::OutputTokens => "output-tokens",
        };
        let reading = headers.limits[kind as usize];
        line.display(&format!("anthropic-ratelimit-{name}-limit"), reading.limit);
        line.display(&format!("anthropic-ratelimit-{name}-remaining"), reading.remaining);
        if let Some(reset) = &headers.resets[kind as usize] {
            let family = if reset.of_refusal { "x-rate-limit" } else { "x-ratelimit" };
            line.text(&format!("{family}-reset-{name}"), Some(&reset.text));
        }
    }
}

/// Writes the values that their fields could not be read from.
fn write_misread(record: &Record<'_>, line: &mut JsonLine) {
    for (field, text) in record.misread.iter().filter(|(field, _)| *field != Field::RetryAfter) {
        line.text(field.name(), Some(text));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{sent_of, whole_record};
    use super::*;
    use crate::ingest::dialect::Dialect;
    use crate::ingest::hint::ServerHint;
    use crate::model::Zone;

    /// Describes the attempt that a line is read as.
    fn attempt_of(text: &str) -> String {
        let place = Place { stream: "file:log", ..Place::anywhere(Zone::UTC, Dialect::PLAIN) };
        let record = whole_record(text, Mapping::EMPTY).unwrap();
        let (sent, duration_ms) = sent_of(&record, text, &place).unwrap();
        let builder = Builder { record: &record, sent, duration_ms, place: &place };
        let answered = sent.plus_us((duration_ms.unwrap_or(0.0) * 1e3) as i64);
        let hint = builder.hint(answered);
        let verdict = builder.verdict(hint.and_then(ServerHint::wait_us));
        let flags = builder.flags(hint, verdict.as_ref());
        let ids = (builder.run(), builder.call_id(), builder.request_id(), builder.stream());
        let counts = (record.number, record.max_attempts, builder.resends(), builder.gateway_retries());
        let spans = [record.timeout_ms, record.planned_ms, record.ttft_ms, record.chunk_gap_ms];
        let amounts = (record.max_tokens, record.delivered, record.usage, spans);
        let words = [builder.error_type(), builder.error_code(), builder.message(), record.exception.as_deref()];
        let others = [record.transport.as_deref(), record.tool.as_deref(), record.request_hash.as_deref()];
        format!(
            "{sent} {duration_ms:?} {hint:?} {verdict:?} {flags:?} {ids:?} {counts:?} {amounts:?} {words:?} {others:?} {:?} {:?}",
            record.origin_names(),
            record.misread
        )
    }

    #[test]
    fn every_field_is_written_and_read_back() {
        let place = Place { stream: "file:log", ..Place::anywhere(Zone::UTC, Dialect::PLAIN) };
        let mut written = 0;
        for name in super::super::field_names() {
            for value in
                ["1", "\"7\"", "\"word\"", "\"2026-01-05T10:00:00Z\"", "true", "{\"type\":\"t\",\"input_tokens\":3}"]
            {
                for outcome in ["\"success\":false", "\"status\":200"] {
                    let text = format!("{{\"timestamp\":1767607200,\"model\":\"m\",{outcome},\"{name}\":{value}}}");
                    let record = whole_record(&text, Mapping::EMPTY).unwrap();
                    // An object is not a hint and is reported as misread, but cannot be written as one: as text, it would be
                    // a hint that no client can follow.
                    let cannot_be_written = name == "retry_after" && value.starts_with('{');
                    if sent_of(&record, &text, &place).is_ok() && !cannot_be_written {
                        let line = native_line(&record, &text, &place);
                        assert_eq!(attempt_of(&line), attempt_of(&text), "{text} became {line}");
                        written += 1;
                    }
                }
            }
        }
        assert!(written > 800, "{written}");
    }

    #[test]
    fn written_records_are_read_back_as_the_same_attempt() {
        for members in [
            r#""status":529,"attempt":2,"max_attempts":4,"call_id":"c","run_id":"r","duration_ms":12.5,"model":"m""#,
            r#""status":529,"error":{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            r#""status":429,"headers":{"retry-after":"3","anthropic-ratelimit-requests-limit":"50","date":"Mon, 05 Jan 2026 10:00:00 GMT"}"#,
            r#""status":429,"headers":{"x-ratelimit-remaining-requests":0,"x-ratelimit-limit-requests":5,"x-ratelimit-reset-requests":"6m0s"}"#,
            r#""status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected","anthropic-ratelimit-unified-reset":"1767620000"}"#,
            r#""status":429,"headers":{"anthropic-ratelimit-tokens-reset":"x"},"retry_after":"soon","request_id":"q""#,
            r#""status":503,"retry_after_ms":"none","retry_count":1,"duration_s":"long","latency":"1.5s","call_id":"c""#,
            r#""status":0,"exception":"ConnectTimeout","client":{"name":"n","version":"2"},"usage":{"input_tokens":5,"cost_usd":0.25}"#,
            r#""status":200,"stream":true,"stop_reason":null,"completed":false,"mid_stream":true,"delivered":3"#,
            r#""status":200,"headers":{"x-envoy-attempt-count":"3","x-stainless-retry-count":"1","user-agent":"a/1"},"resend_count":2"#,
            r#""error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"quotaId":"PerDay"},{"retryDelay":"37s"}]}"#,
            r#""error":{"name":"error","param":"None","code":"429","message":"{\"a\":1}"},"should_retry":false,"decision":"give_up""#,
            r#""outcome":"refused","error":true,"kind":"timeout","side_effect":false,"tool":"t","idempotency_key":"k""#,
        ] {
            let text = format!(r#"{{"ts":"2026-01-05T10:00:00.123456Z",{members}}}"#);
            let place = Place { stream: "file:log", ..Place::anywhere(Zone::UTC, Dialect::PLAIN) };
            let line = native_line(&whole_record(&text, Mapping::EMPTY).unwrap(), &text, &place);
            assert_eq!(attempt_of(&line), attempt_of(&text), "{line}");
            assert_eq!(native_line(&whole_record(&line, Mapping::EMPTY).unwrap(), &text, &place), line);
        }
    }
}
