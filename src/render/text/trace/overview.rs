//! Table of many calls, and the selection of those shown with a timeline.

use super::super::layout::Text;
use super::super::page::Page;
use super::super::table::Table;
use super::super::{style, words};
use super::timeline::WIDE;
use crate::model::{Outcome, Severity};
use crate::render::document::Column;
use crate::render::money::dollars;
use crate::trace::{Trace, TracedCall};
use std::collections::BTreeSet;
use std::io;

/// Up to this number, every call gets a timeline.
const MAX_CALLS_WITHOUT_SELECTION: usize = 3;
/// Maximum number of timelines without `--verbose`.
const MAX_TIMELINES: usize = 8;

const COLUMNS: [Column; 10] = [
    Column::number(""),
    Column::words("time").rank(1),
    Column::id("run").min_width(12).rank(4),
    Column::id("call").min_width(24),
    Column::number("attempts").short("att."),
    Column::words("outcome"),
    Column::number("waited").rank(3),
    Column::number("cost").rank(4),
    Column::words("failure").min_width(10).rank(2),
    Column::words("found").min_width(6),
];

/// Writes one line for each call.
pub(super) fn write(trace: &Trace, page: &mut Page<'_>) -> io::Result<()> {
    let zone = page.options.zone;
    let day = trace.calls.first().map(|call| call.attempts[0].attempt_ref.ts);
    let note = day.map_or_else(String::new, |day| zone.show(day, "from %Y-%m-%d %H:%M:%S %Z"));
    page.heading("CALLS", &note)?;
    let runs: BTreeSet<Option<&str>> = trace.calls.iter().map(|call| call.run_id.as_deref()).collect();
    // On a narrow page the id of the call matters more than that of its run.
    let with_run = runs.len() > 1 && page.width >= WIDE;
    let mut table = Table::new(&COLUMNS);
    for (nth, call) in trace.calls.iter().enumerate() {
        table.row(row(nth, call, with_run, page));
    }
    page.table(&table)?;
    if trace.calls_omitted > 0 {
        let omitted = words::counted(trace.calls_omitted, "later call");
        page.remark(&format!("{omitted} not shown: narrow by --since, or trace a call id"))?;
    }
    left_out(trace, page)
}

fn row(nth: usize, call: &TracedCall, with_run: bool, page: &Page<'_>) -> Vec<Text> {
    // The last failure: what the call ended with, or overcame.
    let last = call.attempts.iter().rev().find_map(|attempt| attempt.attempt_ref.class);
    let run = call.run_id.as_deref().filter(|_| with_run).unwrap_or_default();
    vec![
        Text::styled(style::FAINT, (nth + 1).to_string()),
        Text::plain(page.time(call.attempts[0].attempt_ref.ts)),
        Text::plain(run),
        Text::plain(call.call_id.as_deref().unwrap_or("(no id)")),
        Text::plain(words::number(call.attempts.len() as u64)),
        Text::styled(style::outcome(call.outcome), outcome(call.outcome)),
        Text::plain(words::compact_duration(call.waited_s)),
        Text::plain(call.usd.map_or_else(String::new, dollars)),
        Text::plain(last.unwrap_or_default()),
        found(call),
    ]
}

/// Returns the word for an outcome in a table.
pub(super) const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Failed => "failed",
        Outcome::Open => "open",
    }
}

/// Lists the rules of the findings with the marks of their severity: "✗RL401 ·RL203".
fn found(call: &TracedCall) -> Text {
    call.findings.iter().fold(Text::new(), |text, finding| {
        let gap = if text.width() > 0 { " " } else { "" };
        let mark = style::mark(finding.severity);
        text.then(gap).and(style::severity(finding.severity), format!("{mark}{}", finding.rule))
    })
}

/// Returns the positions of the calls shown with a timeline, in order of time: all if there are few, else the worst of
/// those with failures or findings.
pub(super) fn calls_with_timeline(trace: &Trace, verbose: bool) -> Vec<usize> {
    let all = 0..trace.calls.len();
    if verbose || all.len() <= MAX_CALLS_WITHOUT_SELECTION {
        return all.collect();
    }
    let mut shown: Vec<usize> = all.filter(|&nth| has_failure_or_finding(&trace.calls[nth])).collect();
    shown.sort_by_key(|&nth| std::cmp::Reverse(importance(&trace.calls[nth])));
    shown.truncate(MAX_TIMELINES);
    shown.sort_unstable();
    shown
}

fn has_failure_or_finding(call: &TracedCall) -> bool {
    !call.findings.is_empty() || call.attempts.iter().any(|attempt| attempt.attempt_ref.class.is_some())
}

fn importance(call: &TracedCall) -> (Option<Severity>, bool, usize) {
    let worst = call.findings.iter().map(|finding| finding.severity).max();
    (worst, call.outcome == Outcome::Failed, call.attempts.len())
}

fn left_out(trace: &Trace, page: &mut Page<'_>) -> io::Result<()> {
    let shown = calls_with_timeline(trace, page.options.verbose);
    let hidden = trace.calls.len() - shown.len();
    if hidden == 0 {
        return Ok(());
    }
    let bad = trace.calls.iter().filter(|call| has_failure_or_finding(call)).count() - shown.len();
    let bad = if bad == 0 { "none" } else { &words::number(bad as u64) };
    page.remark(&format!(
        "timelines below: {}; left out: {}, {bad} of them with failures or findings \
         (--verbose shows all, a call id instead of {} shows one)",
        shown.len(),
        words::counted(hidden as u64, "call"),
        trace.id
    ))
}
