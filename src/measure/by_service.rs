//! Sums over all accounts of each service.

use super::fleet::{FleetStats, OfService};
use super::flow::Flow;
use super::scope::ScopeTally;
use super::service::Service;
use crate::model::TimeSeries;
use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::HashMap;

impl FleetStats {
    fn of_service(&self, service: Service) -> Option<&OfService> {
        let known = self.by_service.get_or_init(|| {
            let mut known: HashMap<Service, OfService, RandomState> = HashMap::default();
            for (place, scope) in self.scopes.keys().enumerate() {
                known.entry(Service::of(scope)).or_default().scopes.push(place);
            }
            for ((service, _), recovery) in &self.recoveries {
                known.entry(*service).or_default().failed_first += recovery.calls;
            }
            known
        });
        known.get(&service)
    }

    fn scopes_of(&self, service: Service) -> impl Iterator<Item = &ScopeTally> {
        let places = self.of_service(service).map(|known| known.scopes.as_slice()).unwrap_or_default();
        places.iter().filter_map(|place| self.scopes.get_index(*place)).map(|(_, tally)| tally)
    }

    /// Returns the attempts to one service over time, over all accounts. Valid once all calls are added.
    #[must_use]
    pub fn sends_of(&self, service: Service) -> Cow<'_, TimeSeries<Flow>> {
        let mut scopes = self.scopes_of(service);
        let first = scopes.next().map(|tally| Cow::Borrowed(&tally.flow)).unwrap_or_default();
        scopes.fold(first, |mut sum, tally| {
            sum.to_mut().merge(tally.flow.clone());
            sum
        })
    }

    /// Returns the number of calls that started with one service and whose first attempt failed.
    #[must_use]
    pub fn failed_first(&self, service: Service) -> u64 {
        self.of_service(service).map_or(0, |known| known.failed_first)
    }

    /// Returns the number of calls that started with one service, over all accounts.
    #[must_use]
    pub fn calls_of(&self, service: Service) -> u64 {
        self.scopes_of(service).map(|tally| tally.load.calls).sum()
    }
}
