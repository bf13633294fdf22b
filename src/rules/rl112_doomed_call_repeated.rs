//! A loop over several calls: each call is short and repeats a request after a terminal failure.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::classify::Class;
use crate::measure::{Fleet, MatchedBy, TerminalStreak};
use crate::model::{Confidence, Evidence, Remedy, Severity, Symbol, units};
use std::borrow::Cow;

const CALLS: Setting = Setting {
    name: "calls",
    default: 3.0,
    unit: "",
    meaning: "calls that fail alike, one after the other (2 or more), from which on it is a finding",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL112",
    name: "doomed-call-repeated",
    severity: Severity::Error,
    scope: Scope::Run,
    summary: "Consecutive calls of a run failed with the same terminal error, and none succeeded in between.",
    why: "Each call gives up as it should, so no call looks wrong; the loop above opens the next one with what was \
          refused, and can go on like that for hours.",
    fix: "Let the layer that opens calls count failures of the same class and message, and stop or change the request \
          at the second: compact the conversation, repair the tool definition, ask for another key. Where a usage \
          window is spent, wait until it reopens.",
    remedy: Remedy::Stop,
    source: "Anthropic API documentation, Errors: a 4xx but 408, 409 and 429 says that the request must change; \
             reported of agents whose failed compaction is sent again each turn",
    needs: &[],
    settings: &[CALLS],
    exceptions: &[&[
        "Refusals are alike by the fingerprint of the request, without one by the server's words; those of keys, \
         rights, names and usage windows by account and model.",
        "Only calls that began when the one before was over count: calls side by side could not know of each other.",
        "A success of the run ends the streak; of each class, the eight longest streaks of a run count.",
        "Spent caps are RL102; tools, cancelled calls, policy refusals and unknown failures do not count.",
        "Where size was refused in the same words, or attempts were grouped by likeness, it is a warning.",
    ]],
    check: Check::FleetIfLogged(check, missing_field),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}"#,
        // The same request repeatedly, between successes before and after.
        r#"{"ts":"2026-03-10T08:59:58Z","run_id":"r","call_id":"z","duration_ms":900,"status":200}
{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 205001 tokens > 200000 maximum","request_hash":"77aa"}
{"ts":"2026-03-10T09:00:30Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 205003 tokens > 200000 maximum","request_hash":"77aa"}
{"ts":"2026-03-10T09:01:00Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"prompt is too long: 205007 tokens > 200000 maximum","request_hash":"77aa"}
{"ts":"2026-03-10T09:01:30Z","run_id":"r","call_id":"d","duration_ms":300,"status":200}"#,
        // A loop long after a success, and an earlier failure before that success.
        r#"{"ts":"2026-03-10T07:00:00Z","run_id":"r","call_id":"y","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T07:00:30Z","run_id":"r","call_id":"z","duration_ms":900,"status":200}
{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}"#,
        // Calls into a usage window that is spent, each with a different remaining time in its message.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":429,"error_type":"usage_limit_reached","error_message":"The usage limit has been reached. Try again in 3h 20m."}
{"ts":"2026-03-10T09:20:00Z","run_id":"r","call_id":"b","duration_ms":300,"status":429,"error_type":"usage_limit_reached","error_message":"The usage limit has been reached. Try again in 3h 0m."}
{"ts":"2026-03-10T09:40:00Z","run_id":"r","call_id":"c","duration_ms":300,"status":429,"error_type":"usage_limit_reached","error_message":"The usage limit has been reached. Try again in 2h 40m."}"#,
        // A key that is no longer valid, without durations.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:10:00Z","run_id":"r","call_id":"b","status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:20:00Z","run_id":"r","call_id":"c","status":401,"error_type":"authentication_error"}"#,
    ],
    near_misses: &[
        // Three documents, each too long, and each sent once.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":413,"error_type":"request_too_large","error_message":"Request exceeds the maximum size","request_hash":"1a"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":413,"error_type":"request_too_large","error_message":"Request exceeds the maximum size","request_hash":"2b"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":413,"error_type":"request_too_large","error_message":"Request exceeds the maximum size","request_hash":"3c"}"#,
        // A call succeeds in between.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:02:00Z","run_id":"r","call_id":"z","duration_ms":300,"status":200}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}"#,
        // Concurrent calls: none could know about the others.
        r#"{"ts":"2026-03-10T09:00:00.00Z","run_id":"r","call_id":"a","duration_ms":300,"status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:00:00.01Z","run_id":"r","call_id":"b","duration_ms":300,"status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:00:00.02Z","run_id":"r","call_id":"c","duration_ms":300,"status":401,"error_type":"authentication_error"}
{"ts":"2026-03-10T09:00:00.03Z","run_id":"r","call_id":"d","duration_ms":300,"status":401,"error_type":"authentication_error"}"#,
        // A different message each time: three different mistakes.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"tools.12: deferred tool not loaded"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"messages.3: unexpected role"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_type":"invalid_request_error","error_message":"max_tokens: must be positive"}"#,
        // Items of a batch, each refused for its own content.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":400,"error_code":"content_policy_violation","error_message":"rejected","request_hash":"1a"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":400,"error_code":"content_policy_violation","error_message":"rejected","request_hash":"2b"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":400,"error_code":"content_policy_violation","error_message":"rejected","request_hash":"3c"}"#,
        // A spent cap is RL102.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T09:20:00Z","run_id":"r","call_id":"b","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}
{"ts":"2026-03-10T11:00:00Z","run_id":"r","call_id":"c","status":429,"error_type":"rate_limit_error","error_code":"enforced_spend_limit_reached"}"#,
        // An outage is transient.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","duration_ms":300,"status":529,"error_type":"overloaded_error","error_message":"Overloaded"}
{"ts":"2026-03-10T09:01:35Z","run_id":"r","call_id":"b","duration_ms":300,"status":529,"error_type":"overloaded_error","error_message":"Overloaded"}
{"ts":"2026-03-10T09:03:10Z","run_id":"r","call_id":"c","duration_ms":300,"status":529,"error_type":"overloaded_error","error_message":"Overloaded"}"#,
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let min_calls = settings.get(RULE.code, &CALLS).max(2.0) as u64;
    let runs = fleet.sorted_runs().into_iter();
    runs.flat_map(|(name, run, tally)| {
        let streaks = tally.terminal_failures.longest_streaks(min_calls).into_iter();
        streaks.map(move |streak| hit(name, run, streak))
    })
    .collect()
}

/// Counts calls refused for the content of the request if no hash shows whether it was the same request.
fn missing_field(fleet: &Fleet<'_>, settings: &Settings) -> Option<(Field, u64)> {
    let min_calls = settings.get(RULE.code, &CALLS).max(2.0) as u64;
    let unhashed: u64 =
        fleet.runs.values().map(|run| run.terminal_failures.unhashed()).filter(|calls| *calls >= min_calls).sum();
    (unhashed > 0).then_some((Field::RequestHash, unhashed))
}

fn hit(name: &str, run: Symbol, streak: &TerminalStreak) -> Hit {
    let span_s = streak.seen.1.s_since(streak.seen.0);
    let matching = match streak.matched_by {
        MatchedBy::Message => " with the same words",
        MatchedBy::Request => " with the same request",
        MatchedBy::Class => "",
    };
    let until = streak.reopens.map(|time| format!("; the window reopens at {time}")).unwrap_or_default();
    let mut hit = Hit::new(format!(
        "{} of the run ({}) failed as {}{matching} over {}, and none succeeded in between{until}",
        units::counted(streak.calls, "call"),
        units::counted(streak.sends, "attempt"),
        streak.class.name(),
        shared::seconds(span_s),
    ))
    .about(Some(streak.class))
    .count("calls", streak.calls)
    .count("calls_in_turn", streak.sequential)
    .count("sends", streak.sends)
    .number("hours", span_s / 3600.0)
    .figure("first", Evidence::At(streak.seen.0))
    .figure("last", Evidence::At(streak.seen.1));
    if let Some(reopens) = streak.reopens {
        hit = hit.figure("reopens_at", Evidence::At(reopens));
    }
    hit.until = streak.reopens;
    hit.rows.extend(streak.rows());
    (hit.fix, hit.remedy) = advice(streak.class);
    // Attempts after the first of each call are counted by the rules about calls.
    hit.wasted_more = streak.avoidable;
    hit.run = Some(run);
    if streak.guessed {
        hit.severity = Some(Severity::Warning);
        hit.confidence = Confidence::Low;
    } else if name.starts_with("file:") {
        // The log names no run, and a file may hold several.
        hit.confidence = Confidence::Medium;
    }
    hit
}

/// Returns a fix and a kind of step for classes that need a more specific one than the rule's.
fn advice(class: Class) -> (Option<Cow<'static, str>>, Option<Remedy>) {
    let (fix, remedy) = match class {
        Class::UsageWindow => (
            "Let the layer that opens calls stop at the first refusal and go on when the window reopens: the message \
             or the unified reset header says when.",
            Remedy::Wait,
        ),
        Class::Authentication | Class::Billing | Class::Permission | Class::Entitlement => (
            "Let the layer that opens calls stop at the first refusal and say whose key, right, plan or payment it is: \
             no request of the account is answered before that is put in order.",
            Remedy::Stop,
        ),
        Class::NotFound => (
            "Let the layer that opens calls stop at the first refusal and say which name was not found: correct the \
             model, the resource or the address.",
            Remedy::Stop,
        ),
        Class::ContextTooLong | Class::RequestTooLarge | Class::RequestOverLimit => (
            "Let the layer that opens calls make the request smaller before it sends it again: compact the \
             conversation, split the document, or ask for fewer tokens.",
            Remedy::Shrink,
        ),
        _ => return (None, None),
    };
    (Some(Cow::Borrowed(fix)), Some(remedy))
}
