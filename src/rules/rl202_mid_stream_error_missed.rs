//! An error within a stream whose status was 200.

use super::rl207_truncated_stream_accepted as rl207;
use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::{Call, Grouping};
use crate::model::{AnswerEnd, Attempt, Confidence, Flags, Outcome, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL202",
    name: "mid-stream-error-missed",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A stream that began with status 200 carried an error event or broke off, and the call ended there or was logged as a success.",
    why: "The status is sent before the answer, so a retry layer that goes by the status sees a success. The \
          official SDKs raise the error without retrying it: an overload that comes a second late is fatal, one \
          that comes at once is not.",
    fix: "Treat an error event in a stream like the status it stands for: discard what arrived, tool calls \
          included, and send the turn again with backoff from the layer that consumes the stream.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Streaming messages: an error can follow a 200 as an event, typically \
             overloaded_error; official SDKs, measured: such an error surfaces with status 200 and is not retried",
    needs: &[Field::CallIdentity],
    settings: &[],
    exceptions: &[&[
        "It says nothing where the declared attempts are spent, where the client retried such an event earlier in the \
         call, or decided to retry.",
        "An attempt with a side effect and no idempotency key may rightly end the call.",
        "An event that is final, such as a refused request, is no missed retry.",
        "A stream that broke off and was used as an answer is RL207.",
        "Where part of the answer had been delivered it is a warning.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"mid_stream":true,"error_type":"overloaded_error","duration_ms":800}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"statusCode":200,"stream":true,"error":{"type":"overloaded_error","message":"Overloaded"},"outcome":"ok"}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"mid_stream":true,"error_type":"overloaded_error","delivered":41,"decision":"fail"}"#,
        // The stream broke off without an error from the server.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"mid_stream":true,"outcome":"error","decision":"fail"}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"outcome":"error","transport":"connection reset while streaming","decision":"fail"}"#,
    ],
    near_misses: &[
        // The stream was requested again.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"mid_stream":true,"error_type":"overloaded_error","duration_ms":800}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"stream":true,"status":200,"duration_ms":4000}"#,
        // The error in the stream is final.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"mid_stream":true,"error_type":"invalid_request_error"}"#,
        // The layer's attempt cap was reached.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":2,"stream":true,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:12Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":2,"stream":true,"status":200,"mid_stream":true,"error_type":"overloaded_error"}"#,
        // The call may have taken effect: ending it is right.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"mid_stream":true,"error_type":"overloaded_error","side_effect":true,"decision":"fail"}"#,
        // The client retries such errors and gave up on the second.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"mid_stream":true,"error_type":"overloaded_error","duration_ms":800}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"stream":true,"status":200,"mid_stream":true,"error_type":"overloaded_error","duration_ms":800}"#,
        // The stream broke off and was used as an answer: that is RL207.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"outcome":"ok","completed":false}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let last = call.last();
    // A truncated answer that was used as complete is reported by RL207.
    if !is_event(last) || last.terminal() || rl207::accepted(call) {
        return None;
    }
    let as_success = last.flags.has(Flags::LOGGED_OK);
    if !as_success && (call.outcome != Outcome::Failed || is_handled(call)) {
        return None;
    }
    let delivered = last.flags.has(Flags::DELIVERED);
    let end = if as_success { "the attempt was logged as a success" } else { "the call ended there" };
    let what = shared::class_words(last.class);
    let broke_off = last.flags.end() == AnswerEnd::Truncated;
    let mut message = if broke_off {
        format!("a stream that had begun with status 200 broke off before its end, and {end}")
    } else {
        format!("{what} arrived inside a stream that had begun with status 200, and {end}")
    };
    if delivered {
        message.push_str("; part of the answer had been delivered, so that a blind retry would repeat it");
    }
    let mut hit = Hit::new(message).on(call, call.len() - 1).about(last.class).count("attempts", call.len() as u64);
    if let Some(chunks) = call.detail(call.len() - 1).map(|detail| detail.delivered).filter(|&chunks| chunks > 0) {
        hit = hit.count("delivered", u64::from(chunks));
    }
    if delivered {
        hit.severity = Some(Severity::Warning);
        hit.fix = Some(
            "Discard the part of the answer that was delivered, tell the caller so, and send the turn \
                        again; where that part cannot be taken back, end the call and say so."
                .into(),
        );
    }
    if call.len() > 1 && !as_success {
        // The attempt cap may have ended the call, though the log declares none.
        hit.confidence = Confidence::Medium;
    }
    if call.grouping != Grouping::Explicit && !as_success && !last.flags.has(Flags::DECIDED_FAIL) {
        // The next attempt may have been assigned to another call.
        hit.severity = Some(Severity::Info);
        hit.confidence = Confidence::Low;
    }
    Some(hit)
}

fn is_event(attempt: &Attempt) -> bool {
    attempt.failed() && attempt.flags.has(Flags::MID_STREAM)
}

/// Returns whether the client retries such errors, or had a reason not to retry this one.
fn is_handled(call: &Call<'_>) -> bool {
    let last = call.last();
    let flags = last.flags;
    let is_last_allowed = last.max_attempts > 1 && last.number >= last.max_attempts;
    let may_have_taken_effect = flags.has(Flags::SIDE_EFFECT) && !flags.has(Flags::IDEMPOTENT);
    let retried_before = call.retried().any(|position| is_event(call.at(position)));
    is_last_allowed || may_have_taken_effect || retried_before || flags.has(Flags::DECIDED_RETRY)
}
