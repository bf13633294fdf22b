//! The caller already had the beginning of an answer and got another answer from the start.

use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::Call;
use crate::model::{Confidence, Flags, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL609",
    name: "output-replayed",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "Part of an answer had been handed on when the stream broke, and the request was sent again from the start.",
    why: "The second answer does not continue the first: whoever kept the first part now holds a beginning twice \
          and possibly in two wordings, and a tool call in it may be carried out twice.",
    fix: "Retry inside the stream only while nothing has been handed on; after that, tell the caller to discard \
          what it has, or continue from the text received and repeat the whole turn where a tool call was begun.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Streaming messages, error recovery: tool_use and thinking blocks cannot \
             be partly recovered; text can be continued from what was received",
    needs: &[Field::CallIdentity, Field::Delivered],
    settings: &[],
    exceptions: &[&[
        "A changed body goes on from what was received.",
        "Nothing is said where nothing had been handed on, or the call ended there.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"stream":true,"mid_stream":true,"error_type":"overloaded_error","delivered":40,"duration_ms":9000}
{"ts":"2026-05-20T10:00:11Z","run_id":"r","call_id":"c","attempt":2,"status":200,"stream":true,"duration_ms":12000}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"statusCode":200,"streaming":true,"exception":"httpx.ReadTimeout","chunks_delivered":12,"decision":"retry","delay_ms":500}
{"timestamp":"2026-05-20T10:00:21Z","session_id":"s","turn_id":"t","try":2,"statusCode":200,"streaming":true,"outcome":"success"}"#,
    ],
    near_misses: &[
        // Nothing had been passed on: retrying is right.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"stream":true,"mid_stream":true,"error_type":"overloaded_error","delivered":0}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"stream":true}"#,
        // Another body: the request continues from what had been received.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"stream":true,"mid_stream":true,"error_type":"overloaded_error","delivered":40,"request_hash":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"stream":true,"request_hash":"b"}"#,
        // The stream was not requested again.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"stream":true,"mid_stream":true,"error_type":"overloaded_error","delivered":40,"decision":"fail"}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let position = call.retried().find(|&p| is_replayed(call, p))?;
    let delivered = call.detail(position)?.delivered;
    let what = match call.at(position).class {
        class @ Some(_) if shared::class_words(class) != "a failure" => shared::class_words(class),
        _ => "an error",
    };
    let parts =
        if delivered == 1 { "part of the answer".to_owned() } else { format!("{delivered} pieces of the answer") };
    let mut hit = Hit::new(format!(
        "{parts} had been handed on when {what} broke the stream, and the request was sent again from the start"
    ))
    .on(call, position)
    .on(call, position + 1)
    .about(call.at(position).class)
    .count("delivered", u64::from(delivered));
    // The log does not show whether the caller kept the first part.
    hit.confidence = Confidence::Medium;
    Some(hit)
}

fn is_replayed(call: &Call<'_>, position: usize) -> bool {
    call.at(position).flags.has(Flags::DELIVERED)
        && shared::shows_retry(call, position)
        && !call.body_changed(position, position + 1)
}
