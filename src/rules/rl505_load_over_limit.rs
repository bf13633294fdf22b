//! A large share of the attempts is refused minute after minute, so the load is permanently above the limit.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::measure::{Fleet, OverLimitPeriod, worst_over_limit};
use crate::model::{Evidence, LimitKind, Remedy, Scope as Limits, Severity};

const SHARE: Setting =
    Setting { name: "refused_share", default: 0.2, unit: "", meaning: "share of the attempts refused in each minute" };
const SPAN: Setting = Setting { name: "min_s", default: 300.0, unit: "s", meaning: "how long it must last" };
const SENDS: Setting = Setting { name: "min_sends", default: 100.0, unit: "", meaning: "attempts in that time" };

/// Ten calls in the same minute, the last three of which are refused.
macro_rules! minute {
    ($refused:literal: $($minute:literal),*) => {
        concat!($(
            sent!($minute "02", r#""status":200"#), sent!($minute "07", r#""status":200"#), sent!($minute "12", r#""status":200"#),
            sent!($minute "17", r#""status":200"#), sent!($minute "22", r#""status":200"#), sent!($minute "27", r#""status":200"#),
            sent!($minute "32", r#""status":200"#), sent!($minute "37", $refused), sent!($minute "42", $refused),
            sent!($minute "47", $refused)
        ),*)
    };
}
macro_rules! sent {
    ($minute:literal $second:literal, $rest:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            ":",
            $second,
            r#"Z","model":"m","call_id":""#,
            $minute,
            $second,
            "\",",
            $rest,
            "}\n"
        )
    };
}

/// Catalogue entry of the rule.
// The examples are more readable in rows.
#[rustfmt::skip]
pub(super) const RULE: Rule = Rule {
    code: "RL505",
    name: "load-over-limit",
    severity: Severity::Error,
    scope: Scope::Fleet,
    summary: "For five minutes or more, over a fifth of the attempts of every minute were refused with 429.",
    why: "This is no blip that a retry heals: more is offered than the limit allows, and every retry is offered on \
          top of it. Calls wait longer and longer, and the refused attempts achieve nothing.",
    fix: "Put a queue in front of the calls that releases them at the limit's rate, for all workers of the account \
          together; shed or postpone what does not fit, use a batch API, or ask for a higher limit.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits; Little's law: work that arrives faster than it is served \
             queues without bound",
    needs: &[Field::Time],
    settings: &[SHARE, SPAN, SENDS],
    exceptions: &[&[
        "Overloads do not count.",
        "Minutes with fewer refusals end the stretch; how long it lasted is measured between the refusals themselves.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        minute!(r#""status":429,"error_type":"rate_limit_error","retry_after":5"#:
            "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11"),
        minute!(r#""status":429,"error_type":"rate_limit_exceeded","x-ratelimit-limit-requests":7,"x-ratelimit-remaining-requests":0"#:
            "20", "21", "22", "23", "24", "25", "26", "27", "28", "29", "30", "31"),
    ],
    near_misses: &[
        // Three minutes of refusals.
        minute!(r#""status":429,"error_type":"rate_limit_error","retry_after":5"#: "00", "01", "02"),
        // An overload is not a limit of this caller.
        minute!(r#""status":529,"error_type":"overloaded_error""#:
            "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11"),
        // Refusals in every fourth minute only.
        minute!(r#""status":429,"error_type":"rate_limit_error","retry_after":5"#:
            "00", "04", "08", "12", "16", "20", "24", "28", "32", "36", "40", "44"),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let get = |setting| settings.get(RULE.code, setting);
    let (share, min_s, min_sends) = (get(&SHARE), get(&SPAN), get(&SENDS));
    let scopes = fleet.sorted_scopes().into_iter();
    scopes
        .filter_map(|(scope, tally)| {
            let period = worst_over_limit(&tally.flow, share)?;
            // The first and last of these minutes may begin and end with successes, so the duration is measured between
            // refusals.
            let (_, refusals) = tally.refusals.sorted();
            let mut within =
                refusals.iter().map(|(_, refusal)| refusal).filter(|refusal| period.contains(refusal.first.sent));
            let first = within.next()?;
            let last = within.next_back().unwrap_or(first);
            let is_finding = last.last.s_since(first.first.sent) >= min_s && period.sends as f64 >= min_sends;
            is_finding.then(|| hit(fleet, scope, &period))
        })
        .collect()
}

fn hit(fleet: &Fleet<'_>, scope: Limits, period: &OverLimitPeriod) -> Hit {
    let mut hit = Hit::new(format!(
        "{} of {} attempts on {} were refused with 429 over {}: {:.0} a minute were offered, {:.0} let through",
        period.rejected,
        period.sends,
        fleet.scope_label(&scope),
        shared::seconds(period.seconds()),
        period.offered_per_min(),
        period.passed_per_min(),
    ))
    .count("refused", period.rejected)
    .count("sends", period.sends)
    .number("lasted_s", period.seconds())
    .number("offered_per_min", period.offered_per_min())
    .number("let_through_per_min", period.passed_per_min())
    .figure("from", Evidence::At(period.first))
    .figure("until", Evidence::At(period.last));
    if let Some(most) = fleet.scopes.get(&scope).and_then(|tally| tally.short_window.peaks().per_minute()) {
        hit = hit.count("most_in_60_s", most.count);
    }
    let limit = fleet.table.headroom.get(scope, LimitKind::Requests);
    if let Some((_, summary)) = limit.and_then(|readings| readings.series.sorted().1.pop()) {
        hit = hit.count("requests_limit", summary.lowest.limit.unsigned_abs());
    }
    hit.rows.push(period.example.row);
    hit.class = Some(crate::classify::Class::RateLimited);
    hit.scope = Some(scope);
    hit
}
