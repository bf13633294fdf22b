//! Sums over all accounts of each service.

use super::fleet::{FleetStats, ServiceSums};
use super::flow::Flow;
use super::scope::ScopeTally;
use super::service::Service;
use crate::model::TimeSeries;
use foldhash::fast::RandomState;
use std::borrow::Cow;
use std::collections::HashMap;

impl FleetStats {
    fn service_sums(&self, service: Service) -> Option<&ServiceSums> {
        let sums = self.by_service.get_or_init(|| {
            let mut sums: HashMap<Service, ServiceSums, RandomState> = HashMap::default();
            for (index, scope) in self.scopes.keys().enumerate() {
                sums.entry(Service::of(scope)).or_default().scopes.push(index);
            }
            for ((service, _), recovery) in &self.recoveries {
                sums.entry(*service).or_default().failed_first += recovery.calls;
            }
            sums
        });
        sums.get(&service)
    }

    fn scopes_of(&self, service: Service) -> impl Iterator<Item = &ScopeTally> {
        let indices = self.service_sums(service).map(|sums| sums.scopes.as_slice()).unwrap_or_default();
        indices.iter().filter_map(|index| self.scopes.get_index(*index)).map(|(_, tally)| tally)
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
        self.service_sums(service).map_or(0, |sums| sums.failed_first)
    }

    /// Returns the number of calls that started with one service, over all accounts.
    #[must_use]
    pub fn calls_of(&self, service: Service) -> u64 {
        self.scopes_of(service).map(|tally| tally.load.calls).sum()
    }
}
