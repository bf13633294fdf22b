//! A transient failure ended the call at once.

use super::rl206_gave_up_on_the_hint as rl206;
use super::rl704_overload_relabelled as rl704;
use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::{Call, Grouping};
use crate::classify::{Bucket, Class};
use crate::model::{Attempt, Confidence, Flags, Outcome, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL201",
    name: "transient-not-retried",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A call ended on its first attempt with a failure that usually heals within seconds.",
    why: "Rate limits, overloads, 5xx, timeouts and lost connections are the weather of a busy service: a call \
          without a second try fails as often as the weather does, and a run of many calls fails with it. Stopping is \
          right where the failed attempt may have changed something and carries no idempotency key; a rate limit or \
          an overload that was refused at once has changed nothing.",
    fix: "Retry it: two or more retries with exponential backoff and jitter, no earlier than retry-after where \
          the server gives one; check that the retry layer sees this failure at all.",
    remedy: Remedy::Fix,
    source: "Official Anthropic and OpenAI SDKs, _base_client.py: connection errors, 408, 409, 429 and 5xx are \
             retried twice by default",
    needs: &[Field::CallIdentity, Field::IdempotencyKey],
    settings: &[],
    exceptions: &[&[
        "A side effect without a key may rightly end the call, unless it was refused before it could act.",
        "A hint that is long enough to end the call, a server that says no, and a decision to retry or to fall back \
         excuse giving up.",
        "Errors inside a stream are RL202, hints that a cap does not allow RL206, relabelled overloads RL704; tools \
         are not judged.",
        "A run that asks another model within seconds of the failure has fallen back, and attempts beneath the client \
         that its counters show are retries.",
        "A retry that only the server's word makes worth while is RL205.",
        "An attempt with a number above 1 has predecessors that the log has lost.",
        "In a log without ids or counters it is info, unless the client decided to fail.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","decision":"fail"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":429,"headers":{"Retry-After":"2"},"error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit"},"decision":"fail"}
{"timestamp":"2026-05-20T10:00:30Z","session_id":"s","turn_id":"t2","try":1,"status_code":200}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"connection_error","exception":"httpx.ConnectError","side_effect":true,"idempotency_key":"k1","decision":"fail"}"#,
        // A 429 had no effect: a retry is safe with or without a side effect.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_type":"rate_limit_error","side_effect":true,"decision":"fail"}"#,
    ],
    near_misses: &[
        // Tools have a layer of their own that knows whether they may run twice.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"tool":"fetch","kind":"timeout","decision":"fail"}"#,
        // An error inside a stream: that is RL202.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"mid_stream":true,"error_type":"overloaded_error","decision":"fail"}"#,
        // A gateway gave the overload a status that no client retries: that is RL704.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"overloaded_error","error_message":"Overloaded","decision":"fail"}"#,
        // The server sent `x-should-retry: false`.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","should_retry":false,"decision":"fail"}"#,
        // It may have taken effect: checking first is right.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","side_effect":true,"decision":"fail"}"#,
        // A spent monthly cap with the status of a rate limit.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached","decision":"fail"}"#,
        // The client had decided to retry, but the log ends before the retry.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","decision":"retry","delay_ms":500}"#,
        // The third attempt: the first two are missing from the log.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":3,"max_attempts":3,"status":529,"error_type":"overloaded_error","decision":"fail"}"#,
        // The request that the log has one record of was sent three times.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","http.request.resend_count":2,"decision":"fail"}"#,
        // An hour is too long to wait within a call: ending it so that it can resume is right.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":3600,"error_type":"rate_limit_error","decision":"fail"}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let attempt = call.first();
    let bucket = attempt.bucket()?;
    // A record with a higher number has predecessors that are missing from the log.
    let is_single = call.len() == 1
        && attempt.number <= 1
        && attempt.sdk_count().is_none_or(|count| count == 0)
        && !call.was_resent_beneath();
    let is_finding = is_single && call.outcome == Outcome::Failed && bucket != Bucket::Terminal && !call.fell_back;
    if !is_finding || has_reason_to_stop(attempt) || rl206::too_long(call, 0, settings) {
        return None;
    }
    // A more specific rule applies: RL206, RL704, or RL205 if only the server's `x-should-retry` says that the failure
    // is transient.
    let invited = attempt.class.is_some_and(Class::is_terminal_by_default);
    if invited || rl206::gave_up(call, settings).is_some() || rl704::is_misled(call) {
        return None;
    }
    let status = if attempt.status == 0 { String::new() } else { format!(" (status {})", attempt.status) };
    let hint_words = match call.hint_us(0) {
        Some(hint) if hint > 0 => {
            format!(", although the server asked for another try in {}", shared::seconds(hint as f64 / 1e6))
        }
        _ => String::new(),
    };
    let what = shared::class_words(attempt.class);
    let mut hit = Hit::new(format!("gave up after one attempt on {what}{status}{hint_words}"))
        .on_call(call)
        .about(attempt.class)
        .count("attempts", 1);
    if attempt.max_attempts > 0 {
        hit = hit.count("max_attempts", u64::from(attempt.max_attempts));
    }
    hit.confidence = confidence(attempt);
    // Without ids or counters, the next attempt may have been assigned to another call.
    if call.grouping == Grouping::Inferred && !attempt.flags.has(Flags::DECIDED_FAIL) {
        hit.severity = Some(Severity::Info);
    }
    Some(hit)
}

/// Returns whether the call had a valid reason to stop, or one that another rule judges.
fn has_reason_to_stop(attempt: &Attempt) -> bool {
    let flags = attempt.flags;
    // Falling back to another model after a lack of capacity is a valid reaction, and the log may have it as another
    // call.
    let fell_back = flags.has(Flags::DECIDED_OTHER) && attempt.lacked_capacity();
    shared::is_unsafe_to_repeat(attempt)
        || fell_back
        || flags.has(Flags::TOOL)
        || flags.has(Flags::MID_STREAM)
        || flags.has(Flags::DECIDED_RETRY)
}

fn confidence(attempt: &Attempt) -> Confidence {
    let flags = attempt.flags;
    if attempt.class == Some(Class::UnexplainedRateLimit) || flags.has(Flags::LOW_CONFIDENCE) {
        Confidence::Low
    } else if attempt.max_attempts == 1 || flags.has(Flags::DECIDED_OTHER) {
        // A layer configured to send once may be inside another that retries with a new call.
        Confidence::Medium
    } else {
        Confidence::High
    }
}
