//! How much the log tells: its lines, its fields, and what could not be judged.

use super::view::View;
use crate::model::Ledger;
use crate::render::words::{counted, number, percent};
use crate::report::{Report, Share};
use maud::{Markup, html};

pub(super) fn overview(view: &View<'_>) -> Markup {
    let report = view.report;
    let totals = &report.totals;
    html! {
        h2 { "Data quality" }
        dl.quality {
            div.pair { dt { "Inputs" } dd { (counted(report.inputs.len() as u64, "file")) } }
            div { dt { "Lines" } dd { (lines(&report.ledger)) } }
            (field("Request id on answers", totals.with_request_id))
            (field("Server hint on 429s", totals.hinted_429))
            (field("Rate-limit headers", totals.with_headroom))
            (field("Rules with evidence", totals.rules_with_evidence))
            (unreadable(report))
            (unjudged(report))
        }
    }
}

/// The ledger as a sum that balances.
pub(super) fn lines(ledger: &Ledger) -> String {
    let parts = [
        (ledger.skipped, "skipped"),
        (ledger.rejected, "rejected"),
        (ledger.blank, "blank"),
        (ledger.duplicates, "duplicate"),
    ];
    let mut text = format!("{} = {}", number(ledger.lines), counted(ledger.attempts, "attempt"));
    for (n, what) in parts.iter().filter(|(n, _)| *n > 0) {
        let plural = if *what == "duplicate" && *n != 1 { "s" } else { "" };
        text.push_str(&format!(" + {} {what}{plural}", number(*n)));
    }
    if ledger.filtered > 0 {
        text.push_str(&format!(" ({} of the skipped by filters)", number(ledger.filtered)));
    }
    text
}

/// A share with its counts and as a bar; nothing of a share of nothing.
fn field(name: &str, share: Share) -> Markup {
    let Some(ratio) = share.ratio() else { return html! {} };
    html! {
        div {
            div.pair { dt { (name) } dd { (percent(ratio)) " (" (number(share.count)) " of " (number(share.of)) ")" } }
            svg.meter viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
                rect.of width="100" height="4" {}
                rect.part width=(format!("{:.1}", ratio * 100.0)) height="4" {}
            }
        }
    }
}

/// Values that were judged as if they were absent.
fn unreadable(report: &Report) -> Markup {
    let values: u64 = report.unreadable.iter().map(|one| one.count).sum();
    if values == 0 {
        return html! {};
    }
    let fields: Vec<&str> = report.unreadable.iter().map(|one| one.field).collect();
    html! {
        div {
            dt { a href="#method" { (counted(values, "value")) " not understood" } }
            dd { "of " (fields.join(", ")) }
        }
    }
}

fn unjudged(report: &Report) -> Markup {
    let rules: u64 = report.coverage.iter().map(|gap| gap.rules.len() as u64).sum();
    if rules == 0 {
        return html! {};
    }
    let fields: Vec<&str> = report.coverage.iter().map(|gap| gap.field).collect();
    html! {
        div {
            dt { a href="#method" { (counted(rules, "rule")) " without evidence" } }
            dd { "for lack of " (fields.join(", ")) }
        }
    }
}
