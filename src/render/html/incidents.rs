//! Stretches of time in which failures of one class clustered, across runs.

use super::figure::figures;
use super::page::Section;
use super::table::{Cell, Column, Row, Table};
use super::untrusted::name;
use super::view::View;
use crate::model::units::seconds;
use crate::render::{
    charts::{ChartError, ChartKind},
    words::{counted, number},
};
use crate::report::{Ending, IncidentRow};
use maud::{Markup, html};

const COLUMNS: [Column; 8] = [
    Column::text("Class"),
    Column::text("Where").minor(),
    Column::number("Began"),
    Column::number("Lasted"),
    Column::number("Failed").minor(),
    Column::number("Most in 60 s").least(),
    Column::number("Runs").least(),
    Column::text("Ended by").minor(),
];

pub(super) fn section(view: &View<'_>) -> Result<Option<Section>, ChartError> {
    let incidents = &view.report.incidents;
    if incidents.is_empty() {
        return Ok(None);
    }
    let rows = incidents.iter().map(|one| row(view, one)).collect();
    let table = Table { id: "incident-table", caption: "incidents", columns: &COLUMNS, rows, facets: Vec::new() };
    let omitted = view.report.incidents_omitted;
    let body = html! {
        (figures(view.report, ChartKind::Incidents)?)
        (table.render())
        @if omitted > 0 { p.note { (counted(omitted, "smaller incident")) " not shown." } }
    };
    Ok(Some(Section::new(
        "incidents",
        "Incidents",
        "stretches of time in which failures of one class clustered, across runs",
        body,
    )))
}

fn row(view: &View<'_>, incident: &IncidentRow) -> Row {
    let lasted = incident.last.s_since(incident.first).max(0.0);
    Row {
        cells: vec![
            Cell::new(html! { code { (incident.class) } }),
            Cell::new(html! { span.faint { (place(incident)) } }),
            Cell::keyed(view.time(incident.first), incident.first.0),
            Cell::span(lasted),
            Cell::count(incident.failed),
            Cell::count(incident.peak_per_min),
            Cell::keyed(html! { (runs(incident)) }, incident.runs),
            Cell::new(html! { (ending(incident.ended)) }),
        ],
        more: Some(more(view, incident)),
        id: None,
        link: None,
        facet: "",
    }
}

fn place(incident: &IncidentRow) -> String {
    [incident.provider.as_deref(), incident.model.as_deref()]
        .into_iter()
        .flatten()
        .map(name)
        .collect::<Vec<_>>()
        .join(" · ")
}

/// An estimate says that it is one.
fn runs(incident: &IncidentRow) -> String {
    format!("{}{}", if incident.runs_exact { "" } else { "about " }, number(incident.runs))
}

fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Recovered => "recovery",
        Ending::GaveUp => "giving up",
        Ending::EndOfData => "the end of the log",
    }
}

fn more(view: &View<'_>, incident: &IncidentRow) -> Markup {
    html! {
        dl.terms.small {
            dt { "Where" } dd { (place(incident)) }
            dt { "Time" } dd {
                (view.stretch(incident.first, incident.last)) ", " (seconds(incident.last.s_since(incident.first).max(0.0)))
            }
            dt { "Failed" } dd { (number(incident.failed)) " of " (counted(incident.sends, "send")) " in that time" }
            dt { "Hit" } dd { (counted(incident.calls, "call")) " in " (runs(incident)) " " (if incident.runs == 1 { "run" } else { "runs" }) }
            dt { "Ended by" } dd { (ending(incident.ended)) }
            @if !incident.request_ids.is_empty() {
                dt { "Ask about" } dd { @for id in &incident.request_ids { div { code { (name(id)) } } } }
            }
        }
    }
}
