//! What else went on: failures on the same limit and elsewhere, and what was left of the limits.

use super::super::layout::{Fit, Text};
use super::super::page::Page;
use super::super::table::{Column, Table};
use super::super::{style, words};
use crate::report::Share;
use crate::trace::{Failures, HeadroomAround, LimitReading, Surroundings, Trace};
use std::io;

/// Kinds of failures told of each side before `--verbose`.
const SHOWN: usize = 4;

pub(super) fn write(trace: &Trace, page: &mut Page<'_>) -> io::Result<()> {
    let Some(around) = &trace.surroundings else {
        page.heading("AROUND IT", "")?;
        return page
            .remark("not read, since the calls span much of the log: --context 1m reads it, a call id narrows it");
    };
    let stretch = page.stretch(around.from, around.until);
    page.heading("AROUND IT", &format!("{stretch}, other calls"))?;
    page.hanging(Text::new(), 0, &Text::plain(alone(around)))?;
    failures(around, page)?;
    headroom(&around.headroom, page)
}

/// Whether it was this call alone.
pub(in crate::render) fn alone(around: &Surroundings) -> String {
    let others = around.here.of + around.elsewhere.of;
    let alike = around.alike.count;
    if others == 0 {
        return "Nothing else was sent then.".to_owned();
    }
    if alike > 0 {
        return format!(
            "It was not alone: {} on the same scope failed in the same way ({}).",
            share(around.alike, "other send"),
            around.scope
        );
    }
    let here = match (around.here.of, around.here.count) {
        (0, _) => format!("nothing else was sent on the same scope ({})", around.scope),
        (_, 0) => format!(
            "all {} on the same scope succeeded ({})",
            words::counted(around.here.of, "other send"),
            around.scope
        ),
        _ => format!("{} on the same scope failed in other ways ({})", share(around.here, "other send"), around.scope),
    };
    let elsewhere = match (around.elsewhere.of, around.elsewhere.count) {
        (0, _) => String::new(),
        (of, 0) => format!("; elsewhere all {} did", words::counted(of, "send")).replace("did", "succeeded"),
        _ => format!("; elsewhere {} failed", share(around.elsewhere, "send")),
    };
    let mut text = format!("{here}{elsewhere}.");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

/// "3 of 120 other sends (2.5%)".
fn share(share: Share, thing: &str) -> String {
    let of = words::counted(share.of, thing);
    let ratio = share.ratio().map_or_else(String::new, |ratio| format!(" ({})", words::percent(ratio)));
    format!("{} of {of}{ratio}", words::number(share.count))
}

fn failures(around: &Surroundings, page: &mut Page<'_>) -> io::Result<()> {
    let most = if page.options.verbose { usize::MAX } else { SHOWN };
    let rows = || around.here_failures.iter().take(most).chain(around.elsewhere_failures.iter().take(most));
    if rows().next().is_none() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::new("failed", Fit::Words).cut_to(10),
        Column::new("sends", Fit::Number),
        Column::new("calls", Fit::Number).spare(2),
        Column::new("from", Fit::Words).spare(1),
        Column::new("to", Fit::Words),
        Column::new("where", Fit::Words).cut_to(12),
    ]);
    rows().for_each(|one| table.row(row(one, page)));
    page.blank()?;
    page.table(&table)
}

fn row(one: &Failures, page: &Page<'_>) -> Vec<Text> {
    vec![
        Text::styled(style::RED, one.class),
        Text::plain(words::number(one.sends)),
        Text::plain(words::number(one.calls)),
        Text::plain(page.time(one.first)),
        Text::plain(page.time(one.last)),
        Text::plain(one.scope.as_deref().unwrap_or("same scope")),
    ]
}

fn headroom(list: &[HeadroomAround], page: &mut Page<'_>) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        Column::new("left of", Fit::Words),
        Column::new("before", Fit::Number),
        Column::new("meanwhile", Fit::Number).spare(1),
        Column::new("after", Fit::Number),
        Column::new("limit", Fit::Number),
    ]);
    for one in list {
        let readings = [one.before, one.least, one.after];
        let limit =
            readings.iter().flatten().next().map_or_else(String::new, |it| words::number(it.limit.unsigned_abs()));
        let mut cells = vec![Text::plain(one.limit_kind.label())];
        cells.extend(readings.iter().map(|reading| left(*reading)));
        cells.push(Text::plain(limit));
        table.row(cells);
    }
    page.blank()?;
    page.table(&table)
}

/// "1398 (35%)", red where next to nothing is left.
fn left(reading: Option<LimitReading>) -> Text {
    let Some(reading) = reading else { return Text::styled(style::FAINT, "–") };
    let ratio = reading.remaining as f64 / reading.limit.max(1) as f64;
    let color = if ratio < 0.05 { style::RED } else { style::PLAIN };
    let remaining = u64::try_from(reading.remaining).unwrap_or(0);
    Text::styled(color, format!("{} ({})", words::number(remaining), words::percent(ratio)))
}
