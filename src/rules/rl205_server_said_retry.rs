//! The server asked for a retry, and none was made.

use super::rl206_gave_up_on_the_hint as rl206;
use super::{Check, Field, Hit, Rule, Scope, Settings, repeats, shared};
use crate::calls::Call;
use crate::model::{Attempt, Flags, Outcome, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL205",
    name: "server-said-retry",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "The server said that a retry may succeed, and the call gave up at once.",
    why: "x-should-retry outranks the status: the server knows that this failure is a passing one, whatever its \
          number says.",
    fix: "Read x-should-retry before the status, and follow it in both directions, except where money or a usage \
          window is spent.",
    remedy: Remedy::Fix,
    source: "Official Anthropic and OpenAI SDKs, _base_client.py, _should_retry: the header is looked at before \
             the status",
    needs: &[Field::CallIdentity, Field::ShouldRetry],
    settings: &[],
    exceptions: &[&[
        "Money and usage windows outrank the header.",
        "A hint that is long enough to end the call, a side effect without a key, a tool execution, a decided retry \
         or fallback excuse giving up.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","should_retry":true,"decision":"fail"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":503,"headers":{"X-Should-Retry":"true"}}
{"timestamp":"2026-05-20T10:05:00Z","session_id":"s","turn_id":"u","try":1,"status_code":200}"#,
    ],
    near_misses: &[
        // A spent cap stays spent.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_code":"enforced_spend_limit_reached","should_retry":true,"decision":"fail"}"#,
        // There was a retry.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"should_retry":true}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":400,"should_retry":true}"#,
        // Half an hour: ending the call so that it can resume is right.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1800,"should_retry":true,"decision":"fail"}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let attempt = call.first();
    let class = attempt.class?;
    let server_allows_retry = attempt.should_retry() == Some(true) && !class.is_money() && !class.is_window();
    let gave_up = repeats::sent_once(call) && call.outcome == Outcome::Failed;
    if !server_allows_retry || !gave_up || has_reason_to_stop(attempt) || rl206::too_long(call, 0, settings) {
        return None;
    }
    let status = if attempt.status == 0 { String::new() } else { format!(" (status {})", attempt.status) };
    let mut hit =
        Hit::new(format!("gave up after one attempt{status} although the server had set x-should-retry to true"))
            .on_call(call)
            .about(attempt.class)
            .count("attempts", 1);
    // Without ids or counters, the next attempt may have been assigned to another call.
    if repeats::is_inferred(call) && !attempt.flags.has(Flags::DECIDED_FAIL) {
        hit.severity = Some(Severity::Info);
    }
    if let Some(hint) = call.hint_us(0) {
        hit = hit.text("asked_to_wait", shared::seconds(hint as f64 / 1e6));
    }
    Some(hit)
}

/// Returns whether the attempt had a valid reason to stop or to continue elsewhere.
fn has_reason_to_stop(attempt: &Attempt) -> bool {
    let flags = attempt.flags;
    shared::is_unsafe_to_repeat(attempt)
        || flags.has(Flags::TOOL)
        || flags.has(Flags::DECIDED_RETRY)
        || flags.has(Flags::DECIDED_OTHER)
}
