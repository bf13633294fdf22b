//! Results of retries, compared with independent attempts.

use super::{View, charts, has_nothing_to_do};
use crate::render::charts::ChartKind;
use crate::render::document::{Block, Cell, Column, Fact, RichText, Row, Section, SpanKind, Table};
use crate::render::words::{self, number, percent};
use crate::report::{ClassRow, RecoveryRow, RecoveryStep, Share};

/// Minimum number of retried calls for a class to be shown in a terminal without `--verbose`.
const MIN_RETRIED: u64 = 5;
/// Minimum number of attempts in a step for its share to be meaningful.
const MIN_TRIED: u64 = 5;

const COLUMNS: [Column; 8] = [
    Column::words("Class").min_width(10),
    Column::number("Retried"),
    Column::number("Recovered"),
    Column::number("1st retry").rank(3),
    Column::number("Within").rank(1),
    Column::number("If independent").rank(1),
    Column::number("For each").rank(5),
    Column::id("Where").min_width(8).rank(2),
];
const STEPS: [Column; 5] = [
    Column::number("Retry"),
    Column::number("Succeeded"),
    Column::number("Recovered by now"),
    Column::number("If independent"),
    Column::number("Expected attempts").rank(1),
];
const CLASSES: [Column; 5] = [
    Column::words("Class").min_width(10),
    Column::words("Bucket").rank(2),
    Column::number("Failed attempts").rank(1),
    Column::number("Calls"),
    Column::number("Calls recovered"),
];

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let rows: Vec<Row<'a>> = view.report.recovery.iter().filter(|row| row.retried.count > 0).map(row).collect();
    if rows.is_empty() && view.report.classes.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    if !rows.is_empty() {
        blocks.push(charts(view, ChartKind::Recovery, "chart"));
        blocks.push(Block::Table(Table::new("recovery-table", "kind", &COLUMNS, rows).limits(6, 10, 100)));
        let legend = "Within: share of calls that succeed within the retries seen often enough. If independent: the same \
                      by 1−(1−p)^k, were the retries independent with the success p of one. Well below it, failures \
                      stick: waiting longer helps more than trying more often.";
        blocks.push(Block::Note(legend.to_owned()));
    }
    if !view.report.classes.is_empty() {
        let rows = view.report.classes.iter().map(class).collect();
        blocks.push(Block::Heading("By class, whatever came first".to_owned()));
        blocks.push(Block::Table(Table::new("class-table", "kind", &CLASSES, rows)));
    }
    let note = "calls whose first attempt failed, and how many recover";
    Some(Section::new("recovery", "Do retries help?", note, blocks).quiet(has_nothing_to_do(view.report)))
}

fn class<'a>(class: &ClassRow) -> Row<'a> {
    Row::new(vec![
        Cell::code(class.class),
        Cell::new(RichText::new(SpanKind::Faint, class.bucket)),
        Cell::count(class.attempts),
        Cell::count(class.calls),
        Cell::recovered(Share { count: class.recovered, of: class.calls }),
    ])
}

fn row<'a>(row: &RecoveryRow) -> Row<'a> {
    let last = row.steps.iter().rev().find(|step| step.succeeded.of >= MIN_TRIED).or(row.steps.first());
    let within = last.map_or_else(String::new, |step| format!("{} by {}", percent(step.observed), step.retry));
    let each = row.sends_per_recovery.zip(row.seconds_per_recovery);
    let cost = each.map_or_else(String::new, |(n, s)| {
        let retries = if n == 1.0 { "retry" } else { "retries" };
        format!("{} {retries}, {}", words::rate(n), words::compact_duration(s))
    });
    let place = RichText::place([row.provider.as_deref(), row.model.as_deref()]);
    Row {
        minor: row.retried.count < MIN_RETRIED,
        more: more(row, &place, &cost),
        ..Row::new(vec![
            Cell::code(row.class),
            Cell::count(row.retried.count),
            Cell::recovered(row.recovered),
            row.steps.first().map_or_else(|| Cell::new(""), |step| Cell::keyed(counts(step), step.observed)),
            Cell::keyed(within, last.map_or(-1.0, |step| step.observed)),
            Cell::optional(last.map(|step| step.predicted), percent),
            Cell::keyed(cost, row.sends_per_recovery.unwrap_or(f64::MAX)),
            Cell::name(row.model.as_deref().or(row.provider.as_deref()).unwrap_or_default()),
        ])
    }
}

/// Formats a step as "5 of 27".
fn counts(step: &RecoveryStep) -> String {
    format!("{} of {}", number(step.succeeded.count), number(step.succeeded.of))
}

fn more<'a>(row: &RecoveryRow, place: &RichText, cost: &str) -> Vec<Block<'a>> {
    let first = if row.failing_first.of > 0 {
        format!("{}; a first attempt: {}", words::share(row.failing_again), words::share(row.failing_first))
    } else {
        words::share(row.failing_again)
    };
    let facts = vec![
        Fact::new("Where", place.clone()),
        Fact::new("First attempts", format!("{} failed so", words::share(row.first_attempts))),
        Fact::new("Retried", format!("{} of those calls", words::share(row.retried))),
        Fact::new("A retry fails", first),
        Fact::new("For each", cost),
    ];
    let step = |step: &RecoveryStep| {
        Row::new(vec![
            Cell::new(step.retry.to_string()),
            Cell::new(counts(step)),
            Cell::new(percent(step.observed)),
            Cell::new(percent(step.predicted)),
            Cell::new(format!("{:.2}", step.expected_attempts)),
        ])
    };
    let steps = Table::new("", "retry", &STEPS, row.steps.iter().map(step).collect());
    vec![Block::Facts(facts), Block::Table(Table { fixed: true, ..steps })]
}
