//! The incidents of a fleet that are told.

use super::failure_clusters::{Incident, WorstIncidents};
use super::fleet::Fleet;
use super::service::Service;
use crate::classify::Class;

/// Incidents kept, those with most failing attempts.
const MOST_INCIDENTS: usize = 50;

impl Fleet<'_> {
    /// The worst incidents in time order, and how many there are besides.
    #[must_use]
    pub fn worst_incidents(&self) -> &WorstIncidents {
        self.stats.worst_incidents.get_or_init(|| self.find_worst_incidents())
    }

    fn find_worst_incidents(&self) -> WorstIncidents {
        let found = self.failure_clusters.incidents(|service| self.sends_of(service)).into_iter();
        let mut all: Vec<(Service, Class, Incident)> =
            found.flat_map(|(service, class, list)| list.into_iter().map(move |one| (service, class, one))).collect();
        let order = |(service, class, one): &(Service, Class, Incident)| {
            (one.seen.0, class.name(), service.names(self.table), one.seen.1)
        };
        all.sort_by(|a, b| (b.2.failed).cmp(&a.2.failed).then_with(|| order(a).cmp(&order(b))));
        let more = all.len().saturating_sub(MOST_INCIDENTS);
        all.truncate(MOST_INCIDENTS);
        all.sort_by(|a, b| order(a).cmp(&order(b)));
        (all, more as u64)
    }
}
