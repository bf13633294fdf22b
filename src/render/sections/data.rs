//! The inputs, and for which share of the data the fields that rules need are present.

use super::View;
use crate::model::units::seconds;
use crate::model::{Input, Ledger};
use crate::render::document::{Block, Fact, RichText, Section, SpanKind, Target};
use crate::render::words::{self, counted, nonbreaking, number};
use crate::report::{Report, Share, Window};

pub(super) fn section<'a>(view: &View<'a>) -> Section<'a> {
    let report = view.report;
    let totals = &report.totals;
    let mut facts = vec![Fact::new("Inputs", inputs(report)), Fact::new("Lines", lines(&report.ledger))];
    facts.extend(report.window.map(|window| Fact::new("Time", time(window, view))));
    for (label, ratio) in [
        ("Request ids", totals.with_request_id),
        ("Hints on 429s", totals.hinted_429),
        ("Limit headers", totals.with_headroom),
        ("Rules judged", totals.rules_with_evidence),
    ] {
        facts.extend(share(label, ratio));
    }
    facts.extend(long_waits(totals.waits_measured));
    facts.extend(unreadable(report));
    facts.extend(not_judged(report));
    Section::new("data", "Data", report.generator.clone(), vec![Block::Facts(facts)])
}

/// Returns the number of inputs, their formats and their common folder or first and last path.
fn inputs(report: &Report) -> RichText {
    let format = |input: &Input| match &input.envelope {
        Some(envelope) => format!("{} in {envelope}", input.format),
        None => input.format.to_owned(),
    };
    let mut formats: Vec<String> = report.inputs.iter().map(format).collect();
    formats.sort_unstable();
    formats.dedup();
    let formats = formats.join(", ");
    let paths: Vec<&str> = report.inputs.iter().map(|input| words::path(&input.path)).collect();
    let (first, last) = match paths.as_slice() {
        [] => return RichText::from("none"),
        [one] => return RichText::new(SpanKind::Name, *one).then(format!(" ({formats})")),
        [first, .., last] => (*first, *last),
    };
    let count = format!("{} ({formats})", counted(paths.len() as u64, "file"));
    match words::folder(first).filter(|folder| paths.iter().all(|path| path.starts_with(folder))) {
        Some(folder) => RichText::from(format!("{count} in ")).and(SpanKind::Name, folder),
        None => RichText::from(format!("{count}, ")).and(SpanKind::Name, first).then(" to ").and(SpanKind::Name, last),
    }
}

/// Formats the line counts as a sum that balances.
pub(super) fn lines(ledger: &Ledger) -> RichText {
    let mut text = RichText::from(format!("{} = {}", number(ledger.lines), counted(ledger.attempts, "attempt")));
    for (n, what, kind) in [
        (ledger.skipped, "skipped", SpanKind::Plain),
        (ledger.rejected, "rejected", SpanKind::Caution),
        (ledger.blank, "blank", SpanKind::Plain),
        (ledger.duplicates, if ledger.duplicates == 1 { "duplicate" } else { "duplicates" }, SpanKind::Plain),
        (ledger.views, if ledger.views == 1 { "other view" } else { "other views" }, SpanKind::Plain),
    ] {
        if n > 0 {
            text = text.then(" +\u{a0}").and(kind, nonbreaking(&format!("{} {what}", number(n))));
        }
    }
    match ledger.filtered {
        0 => text,
        n => text.then(format!(" ({} of the skipped by filters)", number(n))),
    }
}

fn time(window: Window, view: &View<'_>) -> String {
    let zone = view.clock.zone;
    let (ends, zone) = (words::ends(window, zone, words::SECONDS), nonbreaking(&format!("(all times {zone})")));
    if window.first == window.last {
        return format!("{ends} {zone}");
    }
    format!("{ends}, {} {zone}", seconds(window.last.s_since(window.first).max(0.0)))
}

/// A share as a fact; `None` if it is a share of 0.
fn share(label: &'static str, share: Share) -> Option<Fact> {
    let ratio = share.ratio()?;
    Some(Fact { ratio: Some(ratio), ..Fact::new(label, words::share(share)) })
}

/// Returns a fact for waits that include the time of an attempt and so look longer than they were.
fn long_waits(measured: Share) -> Option<Fact> {
    let over = measured.of - measured.count;
    let text = format!(
        "{} of {} include the time an attempt took: one time is logged there, and no duration",
        number(over),
        number(measured.of)
    );
    (over > 0).then(|| Fact::new("Waits", text))
}

/// Returns a fact for values that could not be read and were treated as absent.
fn unreadable(report: &Report) -> Option<Fact> {
    let values: u64 = report.unreadable.iter().map(|one| one.count).sum();
    let fields: Vec<&str> = report.unreadable.iter().map(|one| one.field).collect();
    let text = RichText::new(SpanKind::Link(Target::Section("method")), counted(values, "value"));
    (values > 0).then(|| Fact::new("Not read", text.then(format!(" of {}", fields.join(", ")))))
}

fn not_judged(report: &Report) -> Option<Fact> {
    // A rule that lacks several fields is in several rows of the coverage.
    let judged = report.totals.rules_with_evidence;
    let rules = judged.of.saturating_sub(judged.count);
    let fields: Vec<&str> = report.coverage.iter().map(|gap| gap.field).collect();
    let text = RichText::new(SpanKind::Link(Target::Section("method")), counted(rules, "rule"));
    let text = text.then(format!(" for lack of {}", fields.join(", ")));
    (rules > 0).then(|| Fact { full: true, ..Fact::new("Not judged", text) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::text::sample::failing;

    #[test]
    fn a_rule_that_lacks_two_fields_is_one_rule() {
        let mut report = failing();
        let mut again = report.coverage[0].clone();
        again.field = "duration_ms";
        report.coverage.push(again);
        let Share { count, of } = report.totals.rules_with_evidence;
        let text = not_judged(&report).unwrap().value.to_text();
        assert!(text.starts_with(&format!("{} rules for lack of", of - count)), "{text}");
    }
}
