//! A loop across turns: each call is short, and each repeats what was refused for good.

use super::{Check, Confidence, Hit, Remedy, Rule, Scope, Setting, Settings, Severity, shared};
use crate::attempt::Symbol;
use crate::measure::{Alike, Fleet, Refused};
use crate::report::Evidence;

const CALLS: Setting = Setting {
    name: "calls",
    default: 3.0,
    unit: "",
    meaning: "calls that fail alike, one after the other (2 to 8), from which on it is a finding",
};

/// See the catalogue.
pub(super) const RULE: Rule = Rule {
    code: "RL112",
    name: "doomed-call-repeated",
    severity: Severity::Error,
    scope: Scope::Run,
    summary: "Calls of a run failed one after the other with the same lasting failure, and none succeeded in between.",
    why: "Each call gives up as it should, so no call looks wrong; the loop above opens the next one with what was \
          refused, and can go on like that for hours.",
    fix: "Let the layer that opens calls count failures of the same class and message, and stop or change the request \
          at the second: compact the conversation, repair the tool definition, ask for another key.",
    remedy: Remedy::Stop,
    source: "Anthropic API documentation, Errors: a 4xx but 408, 409 and 429 says that the request must change; \
             reported of agents whose failed compaction is sent again each turn",
    needs: &[],
    settings: &[CALLS],
    check: Check::Fleet(check),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}"#,
        // The same request again and again, between successes before and after.
        r#"{"ts":"2026-03-10T08:59:58Z","run_id":"r","call_id":"z","duration_ms":900,"status":200}
{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 205001 tokens > 200000 maximum","request_hash":"77aa"}
{"ts":"2026-03-10T09:00:30Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 205003 tokens > 200000 maximum","request_hash":"77aa"}
{"ts":"2026-03-10T09:01:00Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 205007 tokens > 200000 maximum","request_hash":"77aa"}
{"ts":"2026-03-10T09:01:30Z","run_id":"r","call_id":"d","duration_ms":300,"status":200}"#,
        // A key that is no longer valid, and no durations.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:10:00Z","run_id":"r","call_id":"b","status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:20:00Z","run_id":"r","call_id":"c","status":401,"error_type":"authentication_error"}"#,
    ],
    near_misses: &[
        // A call succeeds in between.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:02:00Z","run_id":"r","call_id":"z","duration_ms":300,"status":200}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}"#,
        // Side by side: none could know of the others.
        r#"{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","call_id":"a","duration_ms":300,"status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:00:00.01Z","run_id":"r","call_id":"b","duration_ms":300,"status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:00:00.02Z","run_id":"r","call_id":"c","duration_ms":300,"status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:00:00.03Z","run_id":"r","call_id":"d","duration_ms":300,"status":401,"error_type":"authentication_error"}"#,
        // Other words each time: three different mistakes.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"messages.3: unexpected role"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"max_tokens: must be positive"}"#,
        // Items of a batch, each refused for what it says.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_code":"content_policy_violation","error_message":"rejected","request_hash":"1a"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_code":"content_policy_violation","error_message":"rejected","request_hash":"2b"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_code":"content_policy_violation","error_message":"rejected","request_hash":"3c"}"#,
        // A spent cap is RL102.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:20:00Z","run_id":"r","call_id":"b","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T11:00:00Z","run_id":"r","call_id":"c","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
        // An outage heals.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":529,"error_type":"overloaded_error","error_message":"Overloaded"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":529,"error_type":"overloaded_error","error_message":"Overloaded"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":529,"error_type":"overloaded_error","error_message":"Overloaded"}"#,
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let least = settings.get(RULE.code, &CALLS).clamp(2.0, 8.0) as u64;
    let runs = fleet.sorted_runs().into_iter();
    runs.flat_map(|(name, run, tally)| {
        let loops = tally.doomed.in_a_row(least).into_iter();
        loops.map(move |refused| hit(name, run, refused))
    })
    .collect()
}

fn hit(name: &str, run: Symbol, refused: &Refused) -> Hit {
    let span_s = refused.last_sent().s_since(refused.first_sent());
    let alike = match refused.alike {
        Alike::Message => "with the same words",
        Alike::Request => "with the same request",
    };
    let mut hit = Hit::new(format!(
        "{} calls of the run ({} sends) failed as {} {alike} over {}, and none succeeded in between",
        refused.calls,
        refused.sends,
        refused.class.name(),
        shared::seconds(span_s),
    ))
    .about(Some(refused.class))
    .count("calls", refused.calls)
    .count("sends", refused.sends)
    .number("hours", span_s / 3600.0)
    .figure("first", Evidence::At(refused.first_sent()))
    .figure("last", Evidence::At(refused.last_sent()));
    hit.rows.extend(refused.rows());
    // Sends beyond the first of each call are what the rules about calls count.
    hit.wasted_more = refused.calls - 1;
    hit.run = Some(run);
    if refused.guessed {
        hit.severity = Some(Severity::Warning);
        hit.confidence = Confidence::Low;
    } else if name.starts_with("file:") {
        // The log names no run: a file may hold several.
        hit.confidence = Confidence::Medium;
    }
    hit
}
