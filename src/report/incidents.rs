//! Stretches of time in which failures of one kind clustered.

use crate::calls::LONGEST_PLAUSIBLE_WAIT_US;
use crate::measure::{Fleet, Incident, Service};
use crate::model::Time;
use crate::untrusted::masked;
use serde::Serialize;

/// One incident.
#[derive(Clone, Debug, Serialize)]
pub struct IncidentRow {
    /// Failure class of most of its attempts.
    pub class: &'static str,
    /// Every failure class of it with its failing attempts, the most frequent first.
    pub classes: Vec<IncidentClass>,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// When the first failing attempt was sent.
    pub first: Time,
    /// When the last one was.
    pub last: Time,
    /// Failing attempts.
    pub failed: u64,
    /// Sends to the service in that time, failing or not.
    pub sends: u64,
    /// Calls that first failed in one of these ways in it.
    pub calls: u64,
    /// Runs hit.
    pub runs: u64,
    /// Whether that number is exact; else it is an estimate within some 20%.
    pub runs_exact: bool,
    /// The most failing attempts within any 60 s: an exact count.
    pub peak_per_min: u64,
    /// What ended it.
    pub ended: Ending,
    /// Up to three request ids to ask the provider about.
    pub request_ids: Vec<String>,
}

/// One failure class of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IncidentClass {
    /// Failure class.
    pub class: &'static str,
    /// Failing attempts.
    pub failed: u64,
}

/// What ended an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// A later send to the service succeeded.
    Recovered,
    /// No later send succeeded, though the log goes on for longer than any retry loop waits.
    GaveUp,
    /// The log ends with it.
    EndOfData,
}

/// The worst incidents in time order, and how many there are besides.
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
            calls: incident.calls,
            runs: incident.runs.0,
            runs_exact: incident.runs.1,
            peak_per_min: incident.peak_per_min,
            ended: ending(incident, data_end),
            request_ids: incident.request_ids(fleet.table).map(masked).collect(),
        }
    };
    (worst.iter().map(row).collect(), *more)
}

fn ending(incident: &Incident, data_end: Time) -> Ending {
    if incident.recovered {
        Ending::Recovered
    } else if data_end.us_since(incident.seen.1) > LONGEST_PLAUSIBLE_WAIT_US {
        Ending::GaveUp
    } else {
        Ending::EndOfData
    }
}
