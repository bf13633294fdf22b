//! Comparisons in words, the same in every form for people.

use super::text;
use super::words::{counted, number};
use crate::compare::{Basis, Change, Changed, Course, Presence, Rate, Shift, Side, Trend, TrendBasis};
use crate::model::{
    Zone,
    units::{per_thousand, seconds},
};

/// Nights of which a sparkline has a character each; of more, the last ones.
const SPARKS: usize = 40;

/// "2 → 9 per 1,000 calls (4 in 2000 → 18 in 2000)".
pub(super) fn rates(problem: &Changed) -> String {
    let (old, new) = (problem.old, problem.new);
    format!(
        "{} → {} per 1,000 calls ({} in {} → {} in {})",
        per_thousand(old.rate),
        per_thousand(new.rate),
        number(old.part),
        number(old.of),
        number(new.part),
        number(new.of)
    )
}

/// What else is to be said of a changed problem: a severity that moved, and what chance has to do with it.
pub(super) fn remarks(problem: &Changed, basis: &Basis) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(old) = problem.old_severity
        && problem.old.part > 0
        && problem.new.part > 0
        && old != problem.severity
    {
        remarks.push(format!("was {} {}", article(old.name()), old.name()));
    }
    match problem.change {
        Change::New if problem.old_untold => {
            remarks.push("the old log lacks the field that would have shown it".to_owned())
        }
        Change::Untold => remarks.push("the new log lacks the field that would show it".to_owned()),
        Change::Same => {}
        // Their severity moved.
        Change::Worse | Change::Better if problem.p_value >= basis.p_below => {}
        _ if problem.p_value < basis.p_below => remarks.push(format!("beyond chance: p {}", chance(problem.p_value))),
        _ => remarks.push(format!("chance may explain it: p {}", chance(problem.p_value))),
    }
    remarks
}

/// A probability with what matters of it: "0.061", "< 0.0001".
pub(super) fn chance(p: f64) -> String {
    match p {
        ..0.0001 => "< 0.0001".to_owned(),
        ..0.01 => format!("{p:.4}"),
        _ => format!("{p:.2}"),
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// The mark and word of a measure that changed; empty where it did not.
pub(super) fn verdict(shift: &Shift) -> &'static str {
    match shift.change {
        Change::Worse => "worse",
        Change::Better => "better",
        _ => "",
    }
}

/// How it was decided, in a sentence.
pub(super) fn basis(basis: &Basis) -> String {
    format!(
        "Worse and better: a rate {} times the other or more, where chance alone makes such a difference less often than \
         once in {} (exact test of two counts); or another severity. New and fixed: on one side only.",
        basis.ratio_from,
        number((1.0 / basis.p_below).round() as u64)
    )
}

/// The same of a trend.
pub(super) fn trend_basis(basis: &TrendBasis) -> String {
    format!(
        "A night departs where a rate and the median of the nights before it differ by a factor of {} or more, and by more \
         than {} standard deviations (scaled median absolute deviation, and no less than counting alone scatters); it takes \
         {} nights before it at least.",
        basis.ratio_from, basis.deviations_from, basis.nights_from
    )
}

/// "2026-03-10 21:04 to 2026-03-11 05:10, 105 calls, 171 sends".
pub(super) fn side(side: &Side, zone: Zone) -> String {
    let time = side.window.map_or_else(String::new, |window| {
        let (first, last) = (zone.show(window.first, "%Y-%m-%d %H:%M"), zone.show(window.last, "%Y-%m-%d %H:%M"));
        let last = match (first.get(..10), last.get(..10)) {
            (Some(day), Some(same)) if day == same => last.get(11..).unwrap_or_default().to_owned(),
            _ => last,
        };
        let long = seconds(window.last.s_since(window.first).max(0.0));
        format!("{first} to {last} ({long}), ")
    });
    let calls = [counted(side.calls, "call"), counted(side.sends, "send"), counted(side.runs, "run")].join(", ");
    format!("{time}{calls}")
}

/// A character a night: a dot where there is nothing, else a height below the highest.
pub(super) fn sparkline(rates: impl Iterator<Item = Rate>) -> String {
    let rates: Vec<f64> = rates.map(|rate| rate.rate).collect();
    let rates = &rates[rates.len().saturating_sub(SPARKS)..];
    let most = rates.iter().fold(0.0_f64, |most, rate| most.max(*rate));
    rates.iter().map(|rate| if *rate > 0.0 { text::height(rate / most) } else { '·' }).collect()
}

/// What nights are called: as much of their date as tells them apart.
pub(super) fn labels(trend: &Trend, zone: Zone) -> Vec<String> {
    ["%m-%d", "%Y-%m-%d", "%m-%d %H:%M", "%Y-%m-%d %H:%M"]
        .into_iter()
        .map(|format| trend.nights.iter().map(|night| zone.show(night.window.first, format)).collect::<Vec<_>>())
        .find(|labels| {
            let distinct: std::collections::BTreeSet<&String> = labels.iter().collect();
            // In the order of their names, or a year is missing.
            distinct.len() == labels.len() && labels.is_sorted()
        })
        .unwrap_or_else(|| {
            let full = |window: crate::report::Window| zone.show(window.first, "%Y-%m-%d %H:%M:%S");
            trend.nights.iter().map(|night| full(night.window)).collect()
        })
}

/// How a problem comes and goes: "since 01-04".
pub(super) fn presence(course: &Course, labels: &[String]) -> String {
    let label = |at: usize| labels.get(at).map_or("", String::as_str);
    match course.presence {
        Presence::New => "new".to_owned(),
        Presence::Back => "back again".to_owned(),
        Presence::Since => format!("since {}", label(course.first)),
        Presence::OnAndOff => "on and off".to_owned(),
        Presence::Always => "every night".to_owned(),
        Presence::Untold => format!("not told after {}", label(course.last)),
        Presence::Gone => format!("gone after {}", label(course.last)),
    }
}
