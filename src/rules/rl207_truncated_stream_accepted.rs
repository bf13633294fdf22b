//! An incomplete answer was used as if it were complete.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings};
use crate::calls::Call;
use crate::classify::Class;
use crate::measure::{AnswerSource, Answers, AnswersWithoutEnd, EARLIEST, Fleet, RowRef};
use crate::model::{AnswerEnd, Attempt, Confidence, Flags, Outcome, Remedy, Severity, Symbol};

const MAX_EMPTY: Setting = Setting {
    name: "max_empty_share",
    default: 0.5,
    unit: "",
    meaning: "empty stop reasons in more than this share of a client's answers are the habit of its server or logger",
};

const MAX_ABSENT: Setting = Setting {
    name: "max_absent_share",
    default: 0.25,
    unit: "",
    meaning: "streams without a stop reason are told where they are at most this share of those that could have one",
};

/// APIs whose complete answers always have a stop reason. Sources: Anthropic docs, Streaming messages
/// (`message_delta`); OpenAI API reference, Chat completions (`finish_reason`); Gemini API reference, `finishReason`;
/// Amazon Bedrock, ConverseStream (`messageStop`).
const FIRST_PARTY: [&str; 7] = ["anthropic", "openai", "gemini", "google", "vertex", "bedrock", "azure"];

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL207",
    name: "truncated-stream-accepted",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A stream that began with status 200 ended without its end and was used as a complete answer.",
    why: "The caller works with half an answer: code cut off in the middle, a tool call without its last arguments, a \
          judgement without its conclusion. Nothing failed, so nothing is retried and nobody looks.",
    fix: "Take a stream as complete only after its last event (message_stop, [DONE]) or a stop reason; without one \
          discard what arrived and send the request again with backoff.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Streaming messages: message_delta carries the stop reason and message_stop is \
             the last event; OpenAI API reference: the last chunk has a finish_reason and data: [DONE] follows",
    needs: &[Field::StopReason],
    settings: &[MAX_EMPTY, MAX_ABSENT],
    exceptions: &[&[
        "It says nothing where the call was sent again, was logged as failed, or was cancelled by its caller.",
        "Empty stop reasons count only beside answers of the same client and model that have one, or from a \
         provider's own API where they are no habit.",
        "Streams without the field count only where most streams of the same client have it; the finding is then a \
         warning.",
        "A kept body that the logger cut inside an event shows nothing.",
        "A stop reason outweighs a field that calls the answer incomplete.",
        "A connection that closed before or after the answer, or was closed by the client, does not count.",
    ]],
    check: Check::CallAndFleet(check, check_all),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","provider":"anthropic","stream":true,"status":200,"outcome":"ok","completed":false,"delivered":7}"#,
        // Among answers that do have a stop reason.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"a","provider":"openai","model":"m","stream":true,"status":200,"finish_reason":"stop"}
{"ts":"2026-05-20T10:01:00Z","call_id":"b","provider":"openai","model":"m","stream":true,"status":200,"finish_reason":null}"#,
        // A logged body that lacks its last event.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","provider":"my-vllm","status":200,"outcome":"ok","body":"data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"},\"finish_reason\":null}]}\n\n"}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","provider":"anthropic","stream":true,"status":200,"outcome":"ok","transport":"connection closed by peer during the answer"}"#,
        // Three streams have the field, one does not.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"a","provider":"anthropic","stream":true,"status":200,"stop_reason":"end_turn"}
{"ts":"2026-05-20T10:01:00Z","call_id":"b","provider":"anthropic","stream":true,"status":200,"stop_reason":"tool_use"}
{"ts":"2026-05-20T10:02:00Z","call_id":"c","provider":"anthropic","stream":true,"status":200,"stop_reason":"max_tokens"}
{"ts":"2026-05-20T10:03:00Z","call_id":"d","provider":"anthropic","stream":true,"status":200}"#,
    ],
    near_misses: &[
        // This server or logger gives no stop reason at all.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"a","provider":"my-vllm","stream":true,"status":200,"finish_reason":null}
{"ts":"2026-05-20T10:01:00Z","call_id":"b","provider":"my-vllm","stream":true,"status":200,"finish_reason":null}
{"ts":"2026-05-20T10:02:00Z","call_id":"c","provider":"my-vllm","stream":true,"status":200}"#,
        // The client noticed it and retried.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","attempt":1,"stream":true,"status":200,"completed":false,"duration_ms":900}
{"ts":"2026-05-20T10:00:02Z","call_id":"c","attempt":2,"stream":true,"status":200,"completed":true,"duration_ms":900}"#,
        // Logged as a failure: whether that is retried is for RL202.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","stream":true,"status":200,"outcome":"error","completed":false}"#,
        // The caller closed the connection.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","stream":true,"status":200,"kind":"cancelled","completed":false}"#,
        // There is a stop reason, although the field for the last event says otherwise.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","stream":true,"status":200,"outcome":"ok","stop_reason":"end_turn","done":false}"#,
        // The logger truncated the body that it stored.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","status":200,"outcome":"ok","body":"event: message_start\ndata: {\"type\":\"message_start\"}\n\nevent: content_block_delta\ndata: {\"type\":\"content_bl"}"#,
        // The connection was closed after the answer.
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","status":200,"outcome":"ok","stream":true,"transport":"closed_after_response"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    if !accepted(call) {
        return None;
    }
    let last = call.len() - 1;
    let provider = call.table().names.text(call.origin(last).provider);
    let what = "a stream that had begun with status 200 broke off before its end, and was used as a complete answer";
    let mut hit = Hit::new(what).on(call, last).about(call.last().class).count("attempts", call.len() as u64);
    if let Some(delivered) = call.detail(last).map(|detail| detail.delivered).filter(|&chunks| chunks > 0) {
        hit = hit.count("delivered", u64::from(delivered));
    }
    hit.severity = Some(severity(provider));
    if !call.last().flags.has(Flags::LOGGED_OK) {
        hit.confidence = Confidence::Medium;
    }
    Some(hit)
}

/// Returns whether the call ended with a truncated answer, and nothing shows that the client noticed.
pub(super) fn accepted(call: &Call<'_>) -> bool {
    let last = call.last();
    let broke_off = last.flags.end() == AnswerEnd::Truncated && last.class == Some(Class::Connection);
    let noticed = || {
        let detail = call.detail(call.len() - 1);
        let named = |total: fn(&crate::model::Detail) -> Symbol| detail.is_some_and(|detail| total(detail).is_some());
        last.flags.has(Flags::LOGGED_ERROR)
            || last.flags.has(Flags::DECIDED_RETRY)
            || named(|detail| detail.exception)
            || named(|detail| detail.transport)
            || call.outcome != Outcome::Failed
    };
    broke_off && !last.flags.has(Flags::TOOL) && (last.flags.has(Flags::LOGGED_OK) || !noticed())
}

fn check_all(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let get = |setting| settings.get(RULE.code, setting);
    let mut list: Vec<(&AnswerSource, &Answers)> = fleet.answers.iter().collect();
    list.sort_by_cached_key(|(source, _)| (source.names(fleet.table).map(str::to_owned), source.stream));
    let mut hits = Vec::new();
    for (source, answers) in list {
        let provider = source.names(fleet.table)[0];
        let all = answers.total();
        let share = |without_end: &AnswersWithoutEnd, total: u64| without_end.count as f64 / total.max(1) as f64;
        let others_have = answers.complete > 0 || is_first_party(provider);
        if others_have && share(&answers.empty, all) <= get(&MAX_EMPTY) {
            hits.extend(each(fleet, source, &answers.empty, all, "has an empty stop reason"));
        }
        let comparable = answers.complete + answers.absent.count;
        if source.stream && answers.complete > 0 && share(&answers.absent, comparable) <= get(&MAX_ABSENT) {
            let found = each(fleet, source, &answers.absent, comparable, "has no stop reason, which the others have");
            hits.extend(found.map(|mut hit| {
                (hit.severity, hit.confidence) = (Some(Severity::Warning), Confidence::Medium);
                hit
            }));
        }
    }
    hits
}

/// Returns a finding for each of the earliest answers without a known end.
fn each<'f>(
    fleet: &'f Fleet<'_>,
    source: &'f AnswerSource,
    without_end: &'f AnswersWithoutEnd,
    total: u64,
    what: &'f str,
) -> impl Iterator<Item = Hit> + 'f {
    let noun = if source.stream { "stream" } else { "answer" };
    let provider = source.names(fleet.table)[0];
    let more = without_end.count.saturating_sub(EARLIEST as u64);
    without_end.earliest.iter().map(move |row_ref: &RowRef| {
        let attempt: &Attempt = &fleet.table.rows[row_ref.row as usize];
        let mut message =
            format!("a {noun} with status 200 {what} and was used as an answer ({} of {total}", without_end.count);
        message.push_str(if source.stream {
            " streams of this client without an error)"
        } else {
            " answers of this client)"
        });
        let mut hit = Hit::new(message).count("without_stop_reason", without_end.count).count("answers", total);
        if more > 0 {
            hit = hit.count("not_listed", more);
        }
        hit.rows.push(row_ref.row);
        hit.run = Some(attempt.run);
        hit.severity = Some(if source.stream { severity(provider) } else { Severity::Warning });
        if !attempt.flags.has(Flags::LOGGED_OK) {
            hit.confidence = Confidence::Medium;
        }
        hit
    })
}

fn severity(provider: &str) -> Severity {
    if is_first_party(provider) { Severity::Error } else { Severity::Warning }
}

fn is_first_party(provider: &str) -> bool {
    let provider = provider.to_ascii_lowercase();
    FIRST_PARTY.iter().any(|name| provider.contains(name))
}
