//! Measures of the fleet: incidents, whether retries help, load, loops around loops.

use super::NAME;
use super::escape::inline;
use super::page::Page;
use crate::model::Zone;
use crate::render::words::{self, counted, number};
use crate::report::{Ending, IncidentRow, LayerRow, LoadRow, RecoveryRow, Report};

/// Rows of each table; the JSON report has all of them.
const ROWS: usize = 10;

/// Tries that a step must have, to speak of the share that recovers.
const LEAST_TRIED: u64 = 5;

const INCIDENTS: [&str; 7] = ["class", "service", "from", "until", "failed:", "runs:", "ended"];
const RECOVERY: [&str; 6] =
    ["first failure", "service", "retried:", "recovered:", "within", "if each were a new throw:"];
const LOAD: [&str; 6] = ["scope", "calls:", "each takes:", "at once, by Little's law:", "peak:", "refused:"];
const LAYERS: [&str; 5] = ["inner loop", "around it", "factors", "calls:", "sends:"];

pub(super) fn write(report: &Report, zone: Zone, page: &mut Page) {
    let mut incidents: Vec<&IncidentRow> = report.incidents.iter().collect();
    incidents.sort_by_key(|incident| std::cmp::Reverse(incident.failed));
    incidents.truncate(ROWS);
    incidents.sort_by_key(|incident| incident.first);
    let all = report.incidents.len() as u64 + report.incidents_omitted;
    table(page, "### Incidents", &INCIDENTS, incidents, all, |incident| self::incident(incident, zone));
    let retried: Vec<&RecoveryRow> = report.recovery.iter().filter(|row| row.retried.count > 0).collect();
    let all = retried.len() as u64;
    table(page, "### Do retries help?", &RECOVERY, retried, all, recovery);
    let all = report.load.len() as u64;
    table(page, "### Load", &LOAD, report.load.iter().collect(), all, load);
    let all = report.layers.len() as u64;
    table(page, "### Loops around loops", &LAYERS, report.layers.iter().collect(), all, layer);
}

fn table<T>(page: &mut Page, heading: &str, head: &[&str], of: Vec<&T>, all: u64, row: impl Fn(&T) -> Vec<String>) {
    let rows: Vec<Vec<String>> = of.into_iter().take(ROWS).map(row).collect();
    let rest = match all.saturating_sub(rows.len() as u64) {
        0 => String::new(),
        more => format!("{} in the JSON report only.", counted(more, "more row")),
    };
    page.table(heading, head, &rows, &rest);
}

fn incident(incident: &IncidentRow, zone: Zone) -> Vec<String> {
    let at = |time| zone.show(time, "%Y-%m-%d %H:%M:%S");
    let about = if incident.runs_exact { "" } else { "about " };
    let ended = match incident.ended {
        Ending::Recovered => "recovered",
        Ending::GaveUp => "gave up",
        Ending::EndOfData => "log ends",
    };
    vec![
        incident.class.to_owned(),
        service(incident.provider.as_deref(), incident.model.as_deref()),
        at(incident.first),
        at(incident.last),
        format!("{} of {}", number(incident.failed), number(incident.sends)),
        format!("{about}{}", number(incident.runs)),
        ended.to_owned(),
    ]
}

fn recovery(row: &RecoveryRow) -> Vec<String> {
    let last = row.steps.iter().rev().find(|step| step.succeeded.of >= LEAST_TRIED).or(row.steps.first());
    let within = |retry: usize| if retry == 1 { "1 retry".to_owned() } else { format!("{retry} retries") };
    vec![
        row.class.to_owned(),
        service(row.provider.as_deref(), row.model.as_deref()),
        number(row.retried.count),
        words::share(row.recovered),
        last.map_or_else(String::new, |step| {
            format!("{} within {}", words::percent(step.observed), within(step.retry))
        }),
        last.map_or_else(String::new, |step| words::percent(step.predicted)),
    ]
}

fn load(row: &LoadRow) -> Vec<String> {
    let rate = |x: Option<f64>| x.map_or_else(String::new, words::rate);
    vec![
        inline(&row.scope, NAME),
        number(row.calls),
        row.time_in_system_s.map_or_else(String::new, words::span),
        rate(row.concurrency),
        row.in_flight_peak.map_or_else(String::new, number),
        words::share(row.refused),
    ]
}

fn layer(layer: &LayerRow) -> Vec<String> {
    let most = if layer.even { "" } else { " at most" };
    vec![
        inline(&layer.inner, NAME),
        inline(&layer.outer, NAME),
        format!("{} x {} = {}{most}", layer.rounds, layer.sends_per_round, layer.bound),
        number(layer.calls),
        number(layer.sends),
    ]
}

fn service(provider: Option<&str>, model: Option<&str>) -> String {
    [provider, model].into_iter().flatten().map(|part| inline(part, NAME)).collect::<Vec<_>>().join(" · ")
}
