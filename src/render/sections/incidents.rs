//! Periods in which failures of one kind clustered.

use super::{View, charts};
use crate::render::charts::ChartKind;
use crate::render::document::{Block, Cell, Column, Fact, RichText, Row, Section, Sign, SpanKind, Table};
use crate::render::words::{counted, number};
use crate::report::{IncidentEnd, IncidentRow};

const COLUMNS: [Column; 8] = [
    Column::words("Class").min_width(10),
    Column::words("When"),
    Column::number("Lasted").rank(5),
    Column::number("Failed").rank(1),
    Column::number("In 60 s").rank(2),
    Column::number("Runs").rank(3),
    Column::words("Ended"),
    Column::id("Where").min_width(12).rank(4),
];

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let incidents = &view.report.incidents;
    if incidents.is_empty() {
        return None;
    }
    let rows = incidents.iter().map(|one| row(view, one)).collect();
    let table = Table::new("incident-table", "incident", &COLUMNS, rows).limits(5, 10, usize::MAX);
    let table = Table { omitted: view.report.incidents_omitted, ..table };
    let blocks = vec![charts(view, ChartKind::Incidents, "chart"), Block::Table(table)];
    let note = "failures of one kind that came together, across runs or calls";
    Some(Section::new("incidents", "Incidents", note, blocks))
}

fn row<'a>(view: &View<'a>, incident: &'a IncidentRow) -> Row<'a> {
    let (sign, ended) = match incident.ended {
        IncidentEnd::Recovered => (Sign::Ok, "recovered"),
        IncidentEnd::GaveUp => (Sign::Failed, "gave up"),
        IncidentEnd::EndOfData => (Sign::Open, "log ends"),
    };
    let when = view.clock.range(incident.first, incident.last);
    let place = RichText::place([incident.provider.as_deref(), incident.model.as_deref()]);
    // An estimate is marked as one.
    let about = |is_exact: bool, n: u64| format!("{}{}", if is_exact { "" } else { "~" }, number(n));
    let runs = about(incident.runs_exact, incident.runs);
    let failed = format!("{} of {}", number(incident.failed), about(incident.sends_exact, incident.sends));
    let runs_word = if incident.runs == 1 { "run" } else { "runs" };
    let ids = incident.request_ids.iter().fold(RichText::default(), |ids, id| ids.and(SpanKind::Name, id));
    let mut facts = vec![
        Fact::new("Where", place.clone()),
        Fact::new("When", when.clone()),
        Fact::new("Failed", format!("{failed} attempts in that time")),
        Fact::new("Hit", format!("{} in {runs} {runs_word}", counted(incident.calls, "call"))),
        Fact::new("IDs", ids),
    ];
    let classes: Vec<String> =
        incident.classes.iter().map(|one| format!("{} {}", one.class, number(one.failed))).collect();
    if classes.len() > 1 {
        facts.insert(0, Fact::new("Classes", classes.join(", ")));
    }
    Row {
        weight: incident.failed,
        more: vec![Block::Facts(facts)],
        ..Row::new(vec![
            Cell::code(name(incident)),
            Cell::keyed(when, incident.first.0),
            Cell::span(incident.last.s_since(incident.first).max(0.0)),
            Cell::keyed(failed, incident.failed),
            Cell::count(incident.peak_per_min),
            Cell::keyed(runs, incident.runs),
            Cell::new(RichText::new(SpanKind::Sign(sign), ended)),
            Cell::new(place),
        ])
    }
}

/// Returns the most frequent class, and the number of the others: "overloaded", "overloaded +2".
fn name(incident: &IncidentRow) -> String {
    match incident.classes.len() {
        0 | 1 => incident.class.to_owned(),
        all => format!("{} +{}", incident.class, all - 1),
    }
}
