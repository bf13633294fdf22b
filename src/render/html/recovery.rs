//! Do retries help? What became of them, against what independent throws would give.

use super::classes;
use super::figure::figures;
use super::page::Section;
use super::table::{Cell, Column, Row, Table};
use super::untrusted::name;
use super::view::View;
use crate::model::units::seconds;
use crate::render::{
    charts::{ChartError, ChartKind},
    words::{self, number, percent},
};
use crate::report::{RecoveryRow, RecoveryStep, Share};
use maud::{Markup, html};

/// Tries a step must have, to speak of the share that recovers.
const LEAST_TRIED: u64 = 5;

const COLUMNS: [Column; 8] = [
    Column::text("First failure"),
    Column::text("Where").minor(),
    Column::number("Calls that retried"),
    Column::number("Recovered"),
    Column::number("One retry helps").minor(),
    Column::number("Recover").least(),
    Column::number("If independent").least(),
    Column::number("Sends for each").least(),
];
const STEPS: [Column; 5] = [
    Column::number("Retry"),
    Column::number("Succeeded"),
    Column::number("Recovered by now"),
    Column::number("If independent"),
    Column::number("Expected attempts").minor(),
];

pub(super) fn section(view: &View<'_>) -> Result<Option<Section>, ChartError> {
    let rows: Vec<Row> = view.report.recovery.iter().filter(|row| row.retried.count > 0).map(row).collect();
    if rows.is_empty() && view.report.classes.is_empty() {
        return Ok(None);
    }
    let table = Table { id: "recovery-table", caption: "recovery", columns: &COLUMNS, rows, facets: Vec::new() };
    let body = html! {
        @if !table.rows.is_empty() {
            (figures(view.report, ChartKind::Recovery)?)
            (table.render())
            p.note {
                "Recover: share of calls that succeed within the retries seen often enough. If independent: the same by "
                "1−(1−p)^k, were every retry a new throw with the success p of one. Well below it, failures stick: waiting "
                "longer helps more than trying more often."
            }
        }
        (classes::table(view))
    };
    Ok(Some(Section::new(
        "recovery",
        "Do retries help?",
        "calls whose first attempt failed, and what became of them",
        body,
    )))
}

fn row(row: &RecoveryRow) -> Row {
    let told = row.steps.iter().rev().find(|step| step.succeeded.of >= LEAST_TRIED).or(row.steps.first());
    let ratio = |of: fn(&RecoveryStep) -> f64| {
        let shown = told.map_or_else(String::new, |step| format!("{} by {}", percent(of(step)), step.retry));
        Cell::keyed(html! { (shown) }, told.map_or(-1.0, of))
    };
    Row {
        cells: vec![
            Cell::new(html! { code { (row.class) } }),
            Cell::new(html! { span.faint { (place(row)) } }),
            Cell::count(row.retried.count),
            share(row.recovered),
            share(row.one_retry),
            ratio(|step| step.observed),
            ratio(|step| step.predicted),
            Cell::keyed(
                html! { @if let Some(sends) = row.sends_per_recovery { (format!("{sends:.1}")) } },
                row.sends_per_recovery.unwrap_or(f64::MAX),
            ),
        ],
        more: Some(more(row)),
        id: None,
        link: None,
        facet: "",
    }
}

fn place(row: &RecoveryRow) -> String {
    [row.provider.as_deref(), row.model.as_deref()].into_iter().flatten().map(name).collect::<Vec<_>>().join(" · ")
}

fn share(share: Share) -> Cell {
    Cell::keyed(html! { (words::share(share)) }, share.ratio().unwrap_or(-1.0))
}

fn more(row: &RecoveryRow) -> Markup {
    let each = row.sends_per_recovery.zip(row.seconds_per_recovery);
    html! {
        dl.terms.small {
            dt { "Where" } dd { (place(row)) }
            dt { "First attempts" } dd { (words::share(row.first_attempts)) " failed so" }
            dt { "Sent again" } dd { (words::share(row.retried)) " of those calls" }
            dt { "A retry fails" } dd {
                (words::share(row.failing_again)) @if row.failing_first.of > 0 { "; a first attempt: " (words::share(row.failing_first)) }
            }
            @if let Some((sends, s)) = each { dt { "Price" } dd { (format!("{sends:.1}")) " retries and " (seconds(s)) " for each call that recovered" } }
        }
        @if !row.steps.is_empty() { (steps(&row.steps)) }
    }
}

/// Retry by retry. No table that sorts: its order is its meaning.
fn steps(steps: &[RecoveryStep]) -> Markup {
    html! {
        div.finding {
            table {
                caption.unseen { "retry by retry" }
                thead { tr { @for column in STEPS { (super::table::plain_head(column)) } } }
                tbody {
                    @for step in steps {
                        tr {
                            td.number { (step.retry) }
                            td.number { (number(step.succeeded.count)) " of " (number(step.succeeded.of)) }
                            td.number { (percent(step.observed)) }
                            td.number { (percent(step.predicted)) }
                            td.number.minor { (format!("{:.2}", step.expected_attempts)) }
                        }
                    }
                }
            }
        }
    }
}
