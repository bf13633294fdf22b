//! What was not judged and why, what was read, and how it was counted.

use super::page::Section;
use super::quality::lines;
use super::table::{Cell, Column, Row, Table};
use super::untrusted::{name, prose};
use super::view::View;
use crate::model::{Input, Reject, Unreadable};
use crate::render::words::{self, counted, number};
use crate::report::{Coverage, Undecided};
use maud::{Markup, html};

/// Inputs and rejected lines shown.
const MOST: usize = 100;

const GAPS: [Column; 3] = [Column::text("Field"), Column::text("Present"), Column::text("Rules it would enable")];
const UNDECIDED: [Column; 3] =
    [Column::text("Rule"), Column::text("Field that would have told"), Column::number("Calls")];
const UNREADABLE: [Column; 4] =
    [Column::text("Field"), Column::text("Such as"), Column::text("First at").minor(), Column::number("Values")];
const INPUTS: [Column; 5] = [
    Column::text("Input"),
    Column::text("Format").minor(),
    Column::number("Lines"),
    Column::number("Attempts"),
    Column::number("Rejected").minor(),
];
const REJECTS: [Column; 2] = [Column::text("Place"), Column::text("Reason")];

pub(super) fn section(view: &View<'_>) -> Section {
    let body = html! {
        div.parts {
            (gaps(&view.report.coverage))
            (undecided(&view.report.undecided))
            (unreadable(&view.report.unreadable))
            (rejects(view))
            (inputs(view))
            (method(view))
        }
    };
    Section::new("method", "Coverage and method", "what was not judged, what was read, how it was counted", body)
}

fn gaps(coverage: &[Coverage]) -> Markup {
    if coverage.is_empty() {
        return html! {};
    }
    let row = |gap: &Coverage| {
        let present = words::share(gap.present);
        Row::plain(vec![
            Cell::new(html! { code { (gap.field) } }),
            Cell::new(html! { @if present.is_empty() { "nothing to read it from" } @else { (present) } }),
            Cell::new(html! { (gap.rules.join(", ")) }),
        ])
    };
    let rows = coverage.iter().map(row).collect();
    let table = Table { id: "gap-table", caption: "missing fields", columns: &GAPS, rows, facets: Vec::new() };
    html! { h3 { "Rules without evidence" } (table.render()) }
}

fn undecided(undecided: &[Undecided]) -> Markup {
    if undecided.is_empty() {
        return html! {};
    }
    let row = |gap: &Undecided| {
        Row::plain(vec![
            Cell::new(html! { (gap.rule) }),
            Cell::new(html! { code { (gap.field) } }),
            Cell::count(gap.calls),
        ])
    };
    let rows = undecided.iter().map(row).collect();
    let table = Table { id: "undecided-table", caption: "calls", columns: &UNDECIDED, rows, facets: Vec::new() };
    html! { h3 { "Calls that single rules could not judge" } (table.render()) }
}

fn unreadable(unreadable: &[Unreadable]) -> Markup {
    if unreadable.is_empty() {
        return html! {};
    }
    let row = |one: &Unreadable| {
        Row::plain(vec![
            Cell::new(html! { code { (one.field) } }),
            Cell::new(html! { code { (name(&one.example)) } }),
            Cell::new(html! { code { (name(&one.file)) ":" (one.line) } }),
            Cell::count(one.count),
        ])
    };
    let rows = unreadable.iter().map(row).collect();
    let table = Table { id: "unreadable-table", caption: "values", columns: &UNREADABLE, rows, facets: Vec::new() };
    html! { h3 { "Values that mean nothing to their field, judged as if absent" } (table.render()) }
}

fn rejects(view: &View<'_>) -> Markup {
    let report = view.report;
    if report.rejects.is_empty() {
        return html! {};
    }
    let row = |reject: &Reject| {
        let column = if reject.column > 0 { format!(":{}", reject.column) } else { String::new() };
        Row::plain(vec![
            Cell::new(html! { code { (name(&reject.file)) ":" (reject.line) (column) } }),
            Cell::new(html! { (prose(&reject.reason)) }),
        ])
    };
    let rows: Vec<Row> = report.rejects.iter().take(MOST).map(row).collect();
    let more = report.ledger.rejected.saturating_sub(rows.len() as u64);
    let table = Table { id: "reject-table", caption: "rejected lines", columns: &REJECTS, rows, facets: Vec::new() };
    html! {
        h3 { (counted(report.ledger.rejected, "line")) " that could not be read" }
        (table.render())
        @if more > 0 { p.note { "And " (number(more)) " more; " code { "--rejects FILE" } " writes all of them." } }
    }
}

fn inputs(view: &View<'_>) -> Markup {
    let inputs = &view.report.inputs;
    let row = |input: &Input| {
        let ledger = &input.ledger;
        Row::plain(vec![
            Cell::new(html! { code { (name(&input.path)) } }),
            Cell::new(html! { (input.format) }),
            Cell::count(ledger.lines),
            Cell::count(ledger.attempts),
            Cell::count(ledger.rejected),
        ])
    };
    let rows = inputs.iter().take(MOST).map(row).collect();
    let table = Table { id: "input-table", caption: "inputs", columns: &INPUTS, rows, facets: Vec::new() };
    html! {
        h3 { "Inputs" }
        (table.render())
        @if inputs.len() > MOST { p.note { "The first " (MOST) " of " (number(inputs.len() as u64)) "." } }
    }
}

fn method(view: &View<'_>) -> Markup {
    let report = view.report;
    html! {
        h3 { "How it was counted" }
        dl.terms {
            dt { "Program" } dd { (report.generator) ", report schema " (report.schema_version) }
            @if let Some(window) = report.window {
                dt { "Time" } dd { (view.full(window.first)) " to " (view.full(window.last)) "; charts in UTC" }
            }
            dt { "Lines" } dd { (lines(&report.ledger)) }
            dt { "Send" } dd { "One attempt: a request that went out, or tried to. Its copies count once." }
            dt { "Call" } dd { "All sends that try to get one answer. A call is open when its next attempt may lie beyond the data." }
            dt { "Wait" } dd { "From the end of a failed attempt to the next send of its call; from start to start where the log has no durations." }
            dt { "Wasted" } dd { "A send that could not have succeeded: into a spent cap, with a refused key, the same refused request. A retry that merely failed is none." }
            dt { "Green run" } dd { "A run whose calls all ended in success." }
        }
    }
}
