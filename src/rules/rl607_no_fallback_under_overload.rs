//! One model is overloaded repeatedly while another one answers.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::measure::{Fleet, OverloadedCall};
use crate::model::{Evidence, Remedy, Scope as Limits, Severity, Time};

const FAILURES: Setting = Setting {
    name: "failures",
    default: 5.0,
    unit: "",
    meaning: "capacity failures of one call (3 to 32) on the same model",
};
/// Parts of the names of models that answer no prompts, so no call can fall back to them.
const OTHER_TASKS: [&str; 5] = ["embed", "rerank", "moderation", "whisper", "tts"];

/// An attempt of the call: number, second of 09:00, and further fields of its record.
macro_rules! sent {
    ($number:literal, $second:literal, $rest:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $second,
            r#"Z","run_id":"r","call_id":"c","provider":"p","attempt":"#,
            $number,
            r#","duration_ms":50,"#,
            $rest,
            "}\n"
        )
    };
}
macro_rules! overloaded {
    ($number:literal, $second:literal) => {
        sent!($number, $second, r#""model":"large","status":529,"error_type":"overloaded_error""#)
    };
}
/// A separate call to another model.
macro_rules! ok {
    ($second:literal, $model:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:00:"#,
            $second,
            r#"Z","run_id":"s","call_id":"x","provider":"p","model":""#,
            $model,
            r#"","duration_ms":900,"status":200}"#,
            "\n"
        )
    };
}

/// Catalogue entry of the rule.
// The calls of the examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL607",
    name: "no-fallback-under-overload",
    severity: Severity::Info,
    scope: Scope::Fleet,
    summary: "A call met five or more overloads on one model while another model of the log was answering.",
    why: "An overload is one model's lack of capacity. After some failures of that kind another model would have \
          answered at once, at the price of a prompt cache written anew.",
    fix: "After three capacity failures in one call, let another model answer, where the task allows it; never after \
          a 429, which is the caller's own limit.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors: 529 is the API's load, not the caller's limit; prompt caches are \
             per model",
    needs: &[Field::Time, Field::CallIdentity, Field::Model],
    settings: &[FAILURES],
    exceptions: &[&[
        "The other model must have answered while the call was under way.",
        "Models for embeddings, ranking, moderation or speech are no way out.",
        "Calls that asked another model or decided to do so do not count, nor do rate limits.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        concat!(
            overloaded!("1", "00"), overloaded!("2", "01"), overloaded!("3", "03"), overloaded!("4", "07"),
            overloaded!("5", "15"), ok!("05", "small"),
        ),
        // The call succeeded in the end, but later than necessary.
        concat!(
            overloaded!("1", "00"), overloaded!("2", "01"), overloaded!("3", "03"), overloaded!("4", "07"),
            overloaded!("5", "15"), overloaded!("6", "23"), sent!("7", "31", r#""model":"large","status":200"#),
            ok!("10", "small"),
        ),
    ],
    near_misses: &[
        // The other model answered later.
        concat!(
            overloaded!("1", "00"), overloaded!("2", "01"), overloaded!("3", "03"), overloaded!("4", "07"),
            overloaded!("5", "15"), ok!("40", "small"),
        ),
        // The call did fall back.
        concat!(
            overloaded!("1", "00"), overloaded!("2", "01"), overloaded!("3", "03"), overloaded!("4", "07"),
            overloaded!("5", "15"), sent!("6", "16", r#""model":"small","status":200"#), ok!("05", "small"),
        ),
        // The model that answered is none to fall back to.
        concat!(
            overloaded!("1", "00"), overloaded!("2", "01"), overloaded!("3", "03"), overloaded!("4", "07"),
            overloaded!("5", "15"), ok!("05", "text-embed-3"),
        ),
        // A rate limit is specific to the caller.
        concat!(
            sent!("1", "00", r#""model":"large","status":429,"error_type":"rate_limit_error","retry_after":1"#),
            sent!("2", "02", r#""model":"large","status":429,"error_type":"rate_limit_error","retry_after":1"#),
            sent!("3", "04", r#""model":"large","status":429,"error_type":"rate_limit_error","retry_after":1"#),
            sent!("4", "06", r#""model":"large","status":429,"error_type":"rate_limit_error","retry_after":1"#),
            sent!("5", "08", r#""model":"large","status":429,"error_type":"rate_limit_error","retry_after":1"#),
            ok!("05", "small"),
        ),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let min_failures = settings.get(RULE.code, &FAILURES).clamp(3.0, 32.0) as u64;
    let scopes = fleet.sorted_scopes();
    let mut hits = Vec::new();
    for (scope, tally) in &scopes {
        let (calls, earliest) = tally.overloaded_calls.at_least(min_failures);
        if calls == 0 || !scope.model.is_some() {
            continue;
        }
        let others = scopes.iter().filter(|(other, _)| is_alternative(fleet, scope, other));
        let found = others.filter_map(|(other, tally)| {
            let alternative_answered =
                |call: &&OverloadedCall| tally.succeeded_between(call.row_ref.sent, Some(call.ended));
            Some((earliest.iter().find(alternative_answered)?, other))
        });
        // The earliest call for which another model was available; of several models, the first by name.
        if let Some((call, other)) = found.min_by_key(|(call, _)| call.row_ref) {
            hits.push(hit(fleet, *scope, other, call, calls, min_failures));
        }
    }
    hits
}

fn is_alternative(fleet: &Fleet<'_>, scope: &Limits, other: &Limits) -> bool {
    let name = fleet.table.names.text(other.model).to_ascii_lowercase();
    other.model != scope.model && !name.is_empty() && !OTHER_TASKS.iter().any(|task| name.contains(task))
}

fn hit(fleet: &Fleet<'_>, scope: Limits, other: &Limits, call: &OverloadedCall, calls: u64, min_failures: u64) -> Hit {
    let name = |scope: &Limits| shared::cut(fleet.table.names.text(scope.model), 60);
    let (calls_words, first) =
        if calls == 1 { ("a call".to_owned(), "it") } else { (format!("{calls} calls"), "the first such call") };
    let time = |time: Time| Evidence::At(time);
    let mut hit = Hit::new(format!(
        "{calls_words} met {min_failures} or more overloads on {}, and no other model was asked, though {} was answering while {first} was under way",
        name(&scope),
        name(other),
    ))
    .count("calls", calls)
    .text("answering", name(other))
    .figure("from", time(call.row_ref.sent))
    .figure("until", time(call.ended));
    hit.rows.push(call.row_ref.row);
    hit.scope = Some(scope);
    hit
}
