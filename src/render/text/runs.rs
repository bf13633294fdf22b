//! Run by run, the costliest first.

use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::{style, words};
use crate::model::{Outcome, Severity};
use crate::render::{
    money::{known_dollars, known_tokens},
    who,
};
use crate::report::{Report, Run};
use std::collections::BTreeMap;
use std::io;

/// Runs before `--verbose`.
const SHOWN: usize = 15;
/// Columns that run and histogram share on a page of 80.
const SHARED: usize = 29;
/// Columns of a run's id on such a page where it is long.
const RUN: usize = 15;
/// Columns of a page on which costs leave room for names and histograms.
const WIDE: usize = 100;

const COLUMNS: [Column; 10] = [
    Column::new("run", Fit::Id).cut_to(8),
    Column::new("calls", Fit::Number),
    Column::new("sends", Fit::Number),
    Column::new("amp", Fit::Number).spare(3),
    Column::new("outcome", Fit::Words),
    Column::new("waited", Fit::Number).spare(1),
    Column::new("cost", Fit::Number),
    Column::new("tokens", Fit::Number).spare(1),
    Column::new("attempts:calls", Fit::Words).cut_to(10).spare(4),
    Column::new("found", Fit::Words).spare(2),
];

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.runs.is_empty()
        || (super::is_calm(report) && !page.options.verbose && !report.runs.iter().any(is_notable))
    {
        return Ok(());
    }
    let totals = &report.totals;
    let mut note = format!("{}, {} green", words::counted(totals.runs, "run"), words::number(totals.green_runs));
    if totals.green_runs_with_retries > 0 {
        note.push_str(&format!(", {} of them only with retries", words::number(totals.green_runs_with_retries)));
    }
    page.heading("RUNS", &note)?;
    let most = if page.options.verbose { report.runs.len() } else { SHOWN };
    let (shown, rest) = report.runs.split_at(most.min(report.runs.len()));
    let width = page.width;
    let cost = |run: &Run| if width < WIDE { Default::default() } else { cost(run, totals.usd.is_some()) };
    let costs = shown.iter().map(|run| cost(run).iter().map(Text::width).sum::<usize>()).max();
    let room =
        histogram_room(shown, page.width).saturating_sub(costs.filter(|width| *width > 0).map_or(0, |it| it + 2));
    let mut table = Table::new(&COLUMNS);
    shown.iter().for_each(|run| table.row(row(run, room, cost(run))));
    page.table(&table)?;
    if let Some(spent) = who::spent(totals) {
        page.remark(&format!("cost: {spent}"))?;
    }
    if rest.is_empty() { Ok(()) } else { page.remark(&more(rest)) }
}

/// Anything but success at the first attempt of every call.
fn is_notable(run: &Run) -> bool {
    run.outcome != Outcome::Ok || run.retries > 0
}

/// What the ids leave over, so that no bar is cut in its middle.
fn histogram_room(shown: &[Run], width: usize) -> usize {
    let more = width.saturating_sub(80);
    let longest = shown.iter().map(|run| Text::plain(&run.run_id).width()).max().unwrap_or(0);
    SHARED + more - longest.min(RUN + more * 2 / 3)
}

/// What it cost; where no run's cost is known, its tokens.
fn cost(run: &Run, priced: bool) -> [Text; 2] {
    let tokens = if priced { None } else { run.tokens };
    [Text::plain(known_dollars(run.usd)), Text::plain(known_tokens(tokens))]
}

fn row(run: &Run, room: usize, [cost, tokens]: [Text; 2]) -> Vec<Text> {
    vec![
        Text::plain(&run.run_id),
        Text::plain(words::number(run.calls)),
        Text::plain(words::number(run.attempts)),
        Text::plain(format!("{:.1}×", run.amplification)),
        outcome(run),
        Text::plain(words::span(run.wait_s)),
        cost,
        tokens,
        Text::plain(histogram(&run.histogram, room)),
        found(run.findings),
    ]
}

/// Errors and warnings under the marks of the section above: "3✗ 2!".
pub(super) fn found([errors, warnings, _]: [u64; 3]) -> Text {
    [(errors, Severity::Error), (warnings, Severity::Warning)].into_iter().filter(|(n, _)| *n > 0).fold(
        Text::new(),
        |text, (n, severity)| {
            let gap = if text.width() > 0 { " " } else { "" };
            text.then(gap).and(style::severity(severity), format!("{}{}", words::number(n), style::mark(severity)))
        },
    )
}

fn outcome(run: &Run) -> Text {
    let style = style::outcome(run.outcome);
    match run.outcome {
        Outcome::Failed => Text::styled(style, format!("{} failed", words::number(run.calls_failed))),
        Outcome::Open => Text::styled(style, "open"),
        Outcome::Ok if run.green_with_retries => Text::styled(style::YELLOW, "ok retried"),
        Outcome::Ok => Text::styled(style, "ok"),
    }
}

/// "1:49 2:12 3:3": calls by the attempts they took; what finds no room is summed up, as in "4+:7".
fn histogram(histogram: &BTreeMap<u32, u64>, room: usize) -> String {
    let bars: Vec<(u32, u64)> =
        histogram.iter().filter(|(_, calls)| **calls > 0).map(|(k, calls)| (*k, *calls)).collect();
    let texts = |kept: usize| {
        let (kept, rest) = bars.split_at(kept);
        let one = |(k, calls): &(u32, u64)| format!("{k}:{}", words::number(*calls));
        let tail =
            rest.first().map(|(k, _)| format!("{k}+:{}", words::number(rest.iter().map(|(_, calls)| calls).sum())));
        kept.iter().map(one).chain(tail).collect::<Vec<_>>().join(" ")
    };
    // A tail of one bar is that bar.
    let folded = (0..bars.len().saturating_sub(1)).rev().map(texts);
    std::iter::once(texts(bars.len())).chain(folded).find(|text| text.len() <= room).unwrap_or_else(|| texts(0))
}

fn more(rest: &[Run]) -> String {
    let plain = rest.iter().filter(|run| !is_notable(run)).count() as u64;
    let failed = rest.iter().filter(|run| run.outcome == Outcome::Failed).count() as u64;
    let mut notes = Vec::new();
    if failed > 0 {
        notes.push(format!("{} failed", words::number(failed)));
    }
    if plain > 0 {
        notes.push(format!("{} green without a retry", words::number(plain)));
    }
    let notes = if notes.is_empty() { String::new() } else { format!(": {}", notes.join(", ")) };
    format!("and {}{notes} (--verbose shows all)", words::counted(rest.len() as u64, "more run"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_fold_what_finds_no_room() {
        let bars: BTreeMap<u32, u64> = [(1, 49), (2, 12), (3, 3), (5, 1), (11, 2)].into();
        assert_eq!(histogram(&bars, 40), "1:49 2:12 3:3 5:1 11:2");
        assert_eq!(histogram(&bars, 20), "1:49 2:12 3:3 5+:3");
        assert_eq!(histogram(&bars, 10), "1:49 2+:18");
        assert_eq!(histogram(&bars, 3), "1+:67");
        assert_eq!(histogram(&BTreeMap::new(), 10), "");
    }
}
