//! The retry loop itself changed a refused request; counterpart of RL104.

use super::rl104_invalid_request_retried as rl104;
use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::{Call, Wait};
use crate::classify::Class;
use crate::model::{Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL105",
    name: "trimmed-inside-retry-loop",
    severity: Severity::Info,
    scope: Scope::Call,
    summary: "A refused request was changed and sent again inside the same call.",
    why: "It may well succeed, yet what was dropped from the request is a decision of the agent, and here the \
          transport layer took it where nobody sees it. A change that is refused with the same words again and \
          again is RL104 instead.",
    fix: "Let the retry layer stop, and let the agent shrink or rewrite the request as a call of its own, with \
          a log line that says what was dropped.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors and Context windows: a request over the limit is refused until \
             it changes, and what to leave out is the application's choice",
    needs: &[Field::CallId, Field::Counters, Field::RequestHash],
    settings: &[],
    exceptions: &[&[
        "A change that is refused with the same words again and again is RL104.",
        "An attempt that the server invited with x-should-retry: true counts as an ordinary retry.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 215000 tokens > 200000 maximum","request_hash":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"request_hash":"b"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"model":"small","statusCode":413,"error":{"type":"request_too_large"}}
{"timestamp":"2026-05-20T10:00:01Z","session_id":"s","turn_id":"t","try":2,"model":"large","statusCode":200}"#,
        // A smaller answer was requested after the credit had not covered the larger one.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":402,"max_tokens":32000}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"max_tokens":4000}"#,
    ],
    near_misses: &[
        // The same body again: that is RL104.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":413,"error_type":"request_too_large","request_hash":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":413,"error_type":"request_too_large","request_hash":"a"}"#,
        // Another model after an overload is a fallback, not a correction.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error","model":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"model":"b"}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let position = call.retried().find(|&p| {
        call.at(p).class.is_some_and(may_be_fixed_by_change) && call.at(p).terminal() && call.body_changed(p, p + 1)
    })?;
    if rl104::retried(call, settings).is_some() {
        return None;
    }
    let wait = call.wait_before(position + 1).unwrap_or(Wait::NONE);
    let tokens = |p: usize| call.detail(p).map_or(0, |detail| detail.max_tokens);
    let what = if !shared::same_model(call, position, position + 1) {
        "another model".to_owned()
    } else if tokens(position) != tokens(position + 1) && tokens(position + 1) > 0 {
        format!("max_tokens of {} instead of {}", tokens(position + 1), tokens(position))
    } else {
        "a changed body".to_owned()
    };
    let message = format!("a refused request was sent again with {what} after {}, inside the retry loop", wait.words());
    Some(
        Hit::new(message)
            .on(call, position)
            .on(call, position + 1)
            .about(call.at(position).class)
            .number("wait_s", wait.s()),
    )
}

/// Returns whether a changed request can succeed after a failure of this class: one with another content, or with a
/// lower maximum cost.
fn may_be_fixed_by_change(class: Class) -> bool {
    rl104::is_about_request(class) || matches!(class, Class::Billing | Class::QuotaExhausted)
}
