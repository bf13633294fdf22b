//! Two code paths of one run treat the same failure differently.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::classify::Class;
use crate::measure::{Fleet, Handling};
use crate::model::{Remedy, Severity, Symbol, units};

const CALLS: Setting = Setting {
    name: "min_calls",
    default: 2.0,
    unit: "",
    meaning: "calls that must have retried the failure, and calls that must have given it up",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL204",
    name: "overload-seen-as-fatal",
    severity: Severity::Error,
    scope: Scope::Run,
    summary: "Calls of one run retried a failure, and other calls gave up on the same failure at once.",
    why: "The run knows how to survive it, but not everywhere: a second client, a path without the retry layer, or \
          an error inside a stream that the layer does not see takes the passing trouble for the end.",
    fix: "Send every call through the one layer that owns retries, and have it judge the error's type as well as \
          the status, so that an overload inside a stream counts like a 529.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors and Streaming messages: overloaded_error comes as status 529, or as \
             an event after a 200; official SDKs, _base_client.py: only the former is retried",
    needs: &[Field::CallIdentity],
    settings: &[CALLS],
    exceptions: &[&[
        "Timeouts, a declared cap of one attempt, hints over 5 min, tool executions, delivered answers, side effects \
         without a key and decided fallbacks do not count as giving up.",
        "Calls of no named run are not compared.",
    ]],
    check: Check::FleetIfLogged(check, missing_field),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"a","attempt":2,"status":200}
{"ts":"2026-05-20T10:00:10Z","run_id":"r","call_id":"b","attempt":1,"status":200,"mid_stream":true,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:20Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:00:21Z","run_id":"r","call_id":"c","attempt":2,"status":200}
{"ts":"2026-05-20T10:00:30Z","run_id":"r","call_id":"d","attempt":1,"status":200,"mid_stream":true,"error_type":"overloaded_error"}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"a","try":1,"status_code":500}
{"timestamp":"2026-05-20T10:00:01Z","session_id":"s","turn_id":"a","try":2,"status_code":500}
{"timestamp":"2026-05-20T10:00:02Z","session_id":"s","turn_id":"b","try":1,"status_code":500,"decision":"fail"}
{"timestamp":"2026-05-20T10:00:03Z","session_id":"s","turn_id":"c","try":1,"status_code":500,"decision":"fail"}
{"timestamp":"2026-05-20T10:00:04Z","session_id":"s","turn_id":"d","try":1,"status_code":500}
{"timestamp":"2026-05-20T10:00:05Z","session_id":"s","turn_id":"d","try":2,"status_code":200}"#,
    ],
    near_misses: &[
        // The other run may use another client.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"a","attempt":2,"status":200}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"b","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"b","attempt":2,"status":200}
{"ts":"2026-05-20T10:00:04Z","run_id":"q","call_id":"c","attempt":1,"status":529,"decision":"fail"}
{"ts":"2026-05-20T10:00:05Z","run_id":"q","call_id":"d","attempt":1,"status":529,"decision":"fail"}"#,
        // Text had been passed on: not retrying is defensible.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"a","attempt":2,"status":200}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"b","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"b","attempt":2,"status":200}
{"ts":"2026-05-20T10:00:04Z","run_id":"r","call_id":"c","attempt":1,"status":200,"mid_stream":true,"error_type":"overloaded_error","delivered":9}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"d","attempt":1,"status":200,"mid_stream":true,"error_type":"overloaded_error","delivered":9}"#,
        // The server asks for more than five minutes: ending the call so that it can resume is right.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":429,"error_type":"rate_limit_error","retry_after":1}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"a","attempt":2,"status":200}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"b","attempt":1,"status":429,"error_type":"rate_limit_error","retry_after":1}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"b","attempt":2,"status":200}
{"ts":"2026-05-20T10:00:06Z","run_id":"r","call_id":"c","attempt":1,"status":429,"error_type":"rate_limit_error","retry_after":400}
{"ts":"2026-05-20T10:00:07Z","run_id":"r","call_id":"d","attempt":1,"status":429,"error_type":"rate_limit_error","retry_after":400}"#,
        // One of each: coincidence, or a call that the run no longer needed.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"a","attempt":2,"status":200}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"b","attempt":1,"status":529,"decision":"fail"}"#,
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let min_calls = settings.get(RULE.code, &CALLS).max(1.0);
    let mut hits = Vec::new();
    // Without a run id, calls of different programs may be mixed.
    for (_, run, tally) in fleet.sorted_runs().into_iter().filter(|(_, run, _)| run.is_some()) {
        let inconsistent = tally.handlings.iter().filter(|(_, handling)| {
            let both = handling.retried.min(handling.given_up);
            both as f64 >= min_calls
        });
        hits.extend(inconsistent.map(|(class, handling)| hit(run, class, handling)));
    }
    hits
}

/// Counts calls for which only call ids would show whether they were retried, if these could change the result.
fn missing_field(fleet: &Fleet<'_>, settings: &Settings) -> Option<(Field, u64)> {
    let min_calls = settings.get(RULE.code, &CALLS).max(1.0);
    let of_named_runs =
        fleet.runs.iter().filter(|(run, _)| run.is_some()).flat_map(|(_, tally)| tally.handlings.iter());
    let undecided = of_named_runs.filter(|(_, handling)| {
        let all = handling.retried + handling.given_up + handling.guessed;
        handling.guessed > 0 && all as f64 >= 2.0 * min_calls
    });
    let guessed: u64 = undecided.map(|(_, handling)| handling.guessed).sum();
    (guessed > 0).then_some((Field::CallId, guessed))
}

fn hit(run: Symbol, class: Class, handling: &Handling) -> Hit {
    let what = shared::class_words(Some(class));
    let inside = match handling.given_up_mid_stream {
        0 => String::new(),
        n if n == handling.given_up => ", each time inside a stream".to_owned(),
        n => format!(", {n} of them inside a stream"),
    };
    let mut hit = Hit::new(format!(
        "{} of the run retried {what}, and {} gave up on one at once{inside}",
        units::counted(handling.retried, "call"),
        handling.given_up,
    ))
    .about(Some(class))
    .count("calls_retried", handling.retried)
    .count("calls_given_up", handling.given_up)
    .count("given_up_mid_stream", handling.given_up_mid_stream);
    hit.rows.extend(handling.first_given_up.map(|row_ref| row_ref.row));
    hit.rows.extend(handling.first_retried.map(|row_ref| row_ref.row));
    hit.run = Some(run);
    hit
}
