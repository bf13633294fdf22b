//! What was read, and how much of it says what a rule needs to know.

use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::words::glued;
use super::{style, words};
use crate::model::{Ledger, Unreadable, units::seconds};
use crate::report::{Report, Window};
use std::io;

/// Columns of the labels.
const HANG: usize = 8;

const INPUTS: [Column; 5] = [
    Column::new("input", Fit::Id).cut_to(12),
    Column::new("format", Fit::Words).spare(1),
    Column::new("lines", Fit::Number),
    Column::new("attempts", Fit::Number),
    Column::new("rejected", Fit::Number),
];

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    page.heading("DATA", &report.generator)?;
    item("inputs", Text::plain(inputs(report)), page)?;
    item("lines", lines(&report.ledger), page)?;
    if let Some(window) = report.window {
        item("time", Text::plain(time(window, page)), page)?;
    }
    item("fields", Text::plain(fields(report)), page)?;
    let rules = words::share(report.totals.rules_with_evidence);
    if !rules.is_empty() {
        item("rules", Text::plain(format!("evidence for {rules}")), page)?;
    }
    if !report.unreadable.is_empty() {
        item("unread", Text::styled(style::YELLOW, unreadable(report)), page)?;
    }
    if page.options.verbose && report.inputs.len() > 1 { each_input(report, page) } else { Ok(()) }
}

fn item(label: &str, text: Text, page: &mut Page<'_>) -> io::Result<()> {
    page.hanging(Text::styled(style::FAINT, label), HANG, &text)
}

/// How many, of which formats, and where they are.
fn inputs(report: &Report) -> String {
    let mut formats: Vec<&str> = report.inputs.iter().map(|input| input.format).collect();
    formats.sort_unstable();
    formats.dedup();
    let formats = formats.join(", ");
    let (first, last) = match report.inputs.as_slice() {
        [] => return String::new(),
        [one] => return format!("{} ({formats})", one.path),
        [first, .., last] => (first.path.as_str(), last.path.as_str()),
    };
    let count = words::counted(report.inputs.len() as u64, "file");
    match words::folder(first) {
        Some(folder) if report.inputs.iter().all(|input| input.path.starts_with(folder)) => {
            format!("{count} ({formats}) in {folder}")
        }
        _ => format!("{count} ({formats}), {first} to {last}"),
    }
}

fn each_input(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let mut table = Table::new(&INPUTS);
    for input in &report.inputs {
        let ledger = &input.ledger;
        let counts = [ledger.lines, ledger.attempts, ledger.rejected].map(|n| Text::plain(words::number(n)));
        table.row([Text::plain(&input.path), Text::plain(input.format)].into_iter().chain(counts).collect());
    }
    page.blank()?;
    page.table(&table)
}

/// The ledger as a sum that balances.
fn lines(ledger: &Ledger) -> Text {
    let mut text = Text::plain(words::number(ledger.lines)).then(" = ");
    text = text.then(words::counted(ledger.attempts, "attempt"));
    for (n, what, style) in [
        (ledger.skipped, "skipped", style::PLAIN),
        (ledger.rejected, "rejected", style::YELLOW),
        (ledger.blank, "blank", style::PLAIN),
        (ledger.duplicates, "duplicate", style::PLAIN),
    ] {
        if n > 0 {
            let plural = if what == "duplicate" && n != 1 { "s" } else { "" };
            text = text.then(" +\u{a0}").and(style, glued(&format!("{} {what}{plural}", words::number(n))));
        }
    }
    if ledger.filtered > 0 {
        text = text.then(format!(" ({} of the skipped by filters)", words::number(ledger.filtered)));
    }
    text
}

fn time(window: Window, page: &Page<'_>) -> String {
    let zone = page.options.zone;
    let (first, last) = (zone.show(window.first, "%Y-%m-%d %H:%M:%S"), zone.show(window.last, "%Y-%m-%d %H:%M:%S"));
    let zone = glued(&format!("(all times {zone})"));
    if first == last {
        return format!("{first} {zone}");
    }
    // The date once where it is the same.
    let last = match (first.get(..10), last.get(..10)) {
        (Some(day), Some(same)) if day == same => last.get(11..).unwrap_or_default().to_owned(),
        _ => last,
    };
    let long = seconds(window.last.s_since(window.first).max(0.0));
    format!("{first} to {last}, {long} {zone}")
}

/// Values that mean nothing to their field: what rests on them was judged as if they were absent.
fn unreadable(report: &Report) -> String {
    let one = |it: &Unreadable| {
        let values = words::counted(it.count, "value");
        format!("{values} of {}, such as \"{}\" ({}:{})", it.field, it.example, it.file, it.line)
    };
    report.unreadable.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Shares of what the judgement rests on.
fn fields(report: &Report) -> String {
    let totals = &report.totals;
    [
        ("request id", totals.with_request_id),
        ("server hint on 429s", totals.hinted_429),
        ("headroom headers", totals.with_headroom),
    ]
    .into_iter()
    .filter(|(_, share)| share.of > 0)
    .map(|(what, share)| format!("{what} {}", words::share(share)))
    .collect::<Vec<_>>()
    .join("; ")
}
