//! Stretches of time in which failures of one class clustered.

use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::{style, words};
use crate::report::{Ending, IncidentRow, Report};
use std::io;

/// Incidents before `--verbose`: those with most failing attempts.
const SHOWN: usize = 5;

const COLUMNS: [Column; 7] = [
    Column::new("class", Fit::Words).cut_to(10),
    Column::new("when", Fit::Words),
    Column::new("failed", Fit::Words).spare(1),
    Column::new("in 60 s", Fit::Number).spare(2),
    Column::new("runs", Fit::Number).spare(3),
    Column::new("ended", Fit::Words),
    Column::new("service", Fit::Id).cut_to(12).spare(4),
];

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.incidents.is_empty() {
        return Ok(());
    }
    page.heading("INCIDENTS", "failures of one class that came together, across runs or calls")?;
    let most = if page.options.verbose { usize::MAX } else { SHOWN };
    let mut by_size: Vec<&IncidentRow> = report.incidents.iter().collect();
    by_size.sort_by_key(|incident| std::cmp::Reverse(incident.failed));
    let least = by_size.get(most).map(|incident| incident.failed);
    let mut shown: Vec<&IncidentRow> = by_size.into_iter().take(most).collect();
    shown.sort_by_key(|incident| incident.first);
    let mut table = Table::new(&COLUMNS);
    shown.iter().for_each(|incident| table.row(row(incident, page)));
    page.table(&table)?;
    let more = (report.incidents.len() - shown.len()) as u64 + report.incidents_omitted;
    match least {
        Some(failed) => page.remark(&format!(
            "and {} of {failed} failing attempts or fewer (--verbose shows more)",
            words::counted(more, "more incident")
        )),
        None => Ok(()),
    }
}

fn row(incident: &IncidentRow, page: &Page<'_>) -> Vec<Text> {
    let about = if incident.runs_exact { "" } else { "~" };
    let (ended, style) = match incident.ended {
        Ending::Recovered => ("recovered", style::GREEN),
        Ending::GaveUp => ("gave up", style::RED),
        Ending::EndOfData => ("log ends", style::YELLOW),
    };
    let service: Vec<&str> = incident.provider.iter().chain(&incident.model).map(String::as_str).collect();
    vec![
        Text::plain(incident.class),
        Text::plain(page.stretch(incident.first, incident.last)),
        Text::plain(format!("{} of {}", words::number(incident.failed), words::number(incident.sends))),
        Text::plain(words::number(incident.peak_per_min)),
        Text::plain(format!("{about}{}", words::number(incident.runs))),
        Text::styled(style, ended),
        Text::plain(service.join(" ")),
    ]
}
