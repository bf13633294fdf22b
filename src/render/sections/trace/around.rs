//! Surroundings of a traced call: failures on the same scope and elsewhere, and the remaining share of the limits.

use crate::model::units::capitalized;
use crate::render::document::{Block, Cell, Clock, Column, Facet, RichText, Row, Section, SpanKind, Table};
use crate::render::words::{counted, number, percent};
use crate::report::Share;
use crate::trace::{Failures, HeadroomAround, LimitReading, Surroundings, Trace};

/// Share of a limit below which it counts as nearly used up.
const NEARLY_USED_UP: f64 = 0.05;

const FAILURES: [Column; 6] = [
    Column::words("Failed").min_width(10),
    Column::number("Attempts"),
    Column::number("Calls").rank(2),
    Column::words("From").rank(1),
    Column::words("To"),
    Column::id("Where").min_width(12),
];
const HEADROOM: [Column; 5] = [
    Column::words("Left of"),
    Column::number("Before"),
    Column::number("Meanwhile").rank(1),
    Column::number("After"),
    Column::number("Limit"),
];

/// Returns the section about other calls.
pub(crate) fn around<'a>(trace: &Trace, clock: &Clock) -> Section<'a> {
    let Some(around) = &trace.surroundings else {
        let why = "not read, since the calls span much of the log: --context 1m reads it, a call id narrows it";
        return Section::new("around", "Around it", "", vec![Block::Prose(RichText::new(SpanKind::Faint, why))]);
    };
    let mut blocks = vec![Block::Prose(other_attempts(around).into())];
    let sides = [("on the same scope", &around.here_failures), ("elsewhere", &around.elsewhere_failures)];
    let rows = sides.iter().flat_map(|(scope, failures)| failures.iter().map(|one| failure_row(scope, one, clock)));
    let rows: Vec<Row<'a>> = rows.collect();
    if !rows.is_empty() {
        let table = Table::new("", "kind", &FAILURES, rows).limits(4, 4, 50);
        blocks.push(Block::Table(Table { by_facet: true, fixed: true, ..table }));
    }
    if !around.headroom.is_empty() {
        let rows = around.headroom.iter().map(headroom_row).collect();
        blocks.push(Block::Table(Table { fixed: true, ..Table::new("", "limit", &HEADROOM, rows) }));
    }
    let range = clock.range(around.from, around.until).to_text();
    Section::new("around", "Around it", format!("{range}, other calls"), blocks)
}

fn failure_row<'a>(scope: &'static str, one: &Failures, clock: &Clock) -> Row<'a> {
    Row {
        facet: Some(Facet { name: scope, sign: None, is_noun: false }),
        ..Row::new(vec![
            Cell::new(RichText::new(SpanKind::Bad, one.class)),
            Cell::count(one.attempts),
            Cell::count(one.calls),
            Cell::new(clock.time(one.first)),
            Cell::new(clock.time(one.last)),
            Cell::new(one.scope.as_deref().unwrap_or("same scope")),
        ])
    }
}

fn headroom_row<'a>(one: &HeadroomAround) -> Row<'a> {
    let readings = [one.before, one.least, one.after];
    let limit = readings.iter().flatten().next().map_or_else(String::new, |it| number(it.limit.unsigned_abs()));
    let [before, least, after] = readings.map(|reading| Cell::new(remaining_text(reading)));
    Row::new(vec![Cell::new(one.limit_kind.label()), before, least, after, Cell::new(limit)])
}

/// Formats a reading as "1398 (35%)".
fn remaining_text(reading: Option<LimitReading>) -> RichText {
    let Some(reading) = reading else { return RichText::new(SpanKind::Faint, "–") };
    let ratio = reading.remaining as f64 / reading.limit.max(1) as f64;
    let kind = if ratio < NEARLY_USED_UP { SpanKind::Bad } else { SpanKind::Plain };
    let remaining = u64::try_from(reading.remaining).unwrap_or(0);
    RichText::new(kind, format!("{} ({})", number(remaining), percent(ratio)))
}

/// Describes whether other attempts failed at the same time.
fn other_attempts(around: &Surroundings) -> String {
    let others = around.here.of + around.elsewhere.of;
    let alike = around.alike.count;
    if others == 0 {
        return "Nothing else was sent then.".to_owned();
    }
    if alike > 0 {
        return format!(
            "It was not alone: {} on the same scope failed in the same way ({}).",
            share(around.alike, "other attempt"),
            around.scope
        );
    }
    let here = match (around.here.of, around.here.count) {
        (0, _) => format!("nothing else was sent on the same scope ({})", around.scope),
        (_, 0) => {
            format!("all {} on the same scope succeeded ({})", counted(around.here.of, "other attempt"), around.scope)
        }
        _ => {
            format!("{} on the same scope failed in other ways ({})", share(around.here, "other attempt"), around.scope)
        }
    };
    let elsewhere = match (around.elsewhere.of, around.elsewhere.count) {
        (0, _) => String::new(),
        (of, 0) => format!("; elsewhere all {} succeeded", counted(of, "attempt")),
        _ => format!("; elsewhere {} failed", share(around.elsewhere, "attempt")),
    };
    capitalized(&format!("{here}{elsewhere}."))
}

/// Formats a share as "3 of 120 other attempts (2.5%)".
fn share(share: Share, thing: &str) -> String {
    let of = counted(share.of, thing);
    let ratio = share.ratio().map_or_else(String::new, |ratio| format!(" ({})", percent(ratio)));
    format!("{} of {of}{ratio}", number(share.count))
}
