//! Incidents: periods in which failures of one kind clustered.

use crate::calls::LONGEST_PLAUSIBLE_WAIT_US;
use crate::measure::{Fleet, Incident, Service};
use crate::model::Time;
use crate::untrusted::masked;
use serde::Serialize;

/// One incident.
#[derive(Clone, Debug, Serialize)]
pub struct IncidentRow {
    /// Most frequent failure class.
    pub class: &'static str,
    /// All failure classes of the incident with their number of failing attempts, most frequent first.
    pub classes: Vec<IncidentClass>,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// When the first failing attempt was sent.
    pub first: Time,
    /// When the last failing attempt was sent.
    pub last: Time,
    /// Number of failing attempts.
    pub failed: u64,
    /// Sends to the service in that time, failing or not.
    pub sends: u64,
    /// Whether `sends` is exact; otherwise it includes a few sends just before or after that time.
    pub sends_exact: bool,
    /// Calls whose first failure of these kinds was in that time.
    pub calls: u64,
    /// Number of runs affected.
    pub runs: u64,
    /// Whether `runs` is exact; otherwise it is an estimate within about 20%.
    pub runs_exact: bool,
    /// Most failing attempts within any 60 s, an exact count.
    pub peak_per_min: u64,
    /// How it ended.
    pub ended: IncidentEnd,
    /// Up to three request ids to ask the provider about.
    pub request_ids: Vec<String>,
}

/// One failure class of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IncidentClass {
    /// Failure class.
    pub class: &'static str,
    /// Number of failing attempts.
    pub failed: u64,
}

/// How an incident ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentEnd {
    /// A later send to the service succeeded.
    Recovered,
    /// No later send succeeded, and the log continues for longer than any retry loop waits.
    GaveUp,
    /// The log ends too soon after it to tell.
    EndOfData,
}

/// Returns the worst incidents in time order, and the number of others.
pub(super) fn incidents(fleet: &Fleet<'_>) -> (Vec<IncidentRow>, u64) {
    let data_end = fleet.covered().map_or(Time(0), |covered| covered.last);
    let (worst, more) = fleet.worst_incidents();
    let row = |(service, incident): &(Service, Incident)| {
        let (provider, model) = service.names(fleet.table);
        IncidentRow {
            class: incident.class().name(),
            classes: incident
                .classes
                .iter()
                .map(|(class, failed)| IncidentClass { class: class.name(), failed: *failed })
                .collect(),
            provider: provider.map(masked),
            model: model.map(masked),
            first: incident.seen.0,
            last: incident.seen.1,
            failed: incident.failed,
            sends: incident.sends,
            sends_exact: incident.sends_exact,
            calls: incident.calls,
            runs: incident.runs.0,
            runs_exact: incident.runs.1,
            peak_per_min: incident.peak_per_min,
            ended: incident_end(incident, data_end),
            request_ids: incident.request_ids(fleet.table).map(masked).collect(),
        }
    };
    (worst.iter().map(row).collect(), *more)
}

fn incident_end(incident: &Incident, data_end: Time) -> IncidentEnd {
    if incident.recovered {
        IncidentEnd::Recovered
    } else if data_end.us_since(incident.seen.1) > LONGEST_PLAUSIBLE_WAIT_US {
        IncidentEnd::GaveUp
    } else {
        IncidentEnd::EndOfData
    }
}
