//! The worst incidents of a fleet.

use super::failure_clusters::{Incident, WorstIncidents};
use super::fleet::Fleet;
use super::service::Service;

/// Maximum number of incidents that are kept: those with the most failed attempts.
const MAX_INCIDENTS: usize = 50;

impl Fleet<'_> {
    /// Returns the worst incidents in time order, and the number of others.
    #[must_use]
    pub fn worst_incidents(&self) -> &WorstIncidents {
        self.stats.worst_incidents.get_or_init(|| self.find_worst_incidents())
    }

    fn find_worst_incidents(&self) -> WorstIncidents {
        let found = self.failure_clusters.incidents(|service| self.sends_of(service)).into_iter();
        let mut all: Vec<(Service, Incident)> =
            found.flat_map(|(service, list)| list.into_iter().map(move |incident| (service, incident))).collect();
        let order = |(service, incident): &(Service, Incident)| {
            (incident.seen.0, incident.class().name(), service.names(self.table), incident.seen.1)
        };
        all.sort_by(|a, b| b.1.failed.cmp(&a.1.failed).then_with(|| order(a).cmp(&order(b))));
        let omitted = all.len().saturating_sub(MAX_INCIDENTS);
        all.truncate(MAX_INCIDENTS);
        all.sort_by(|a, b| order(a).cmp(&order(b)));
        (all, omitted as u64)
    }
}
