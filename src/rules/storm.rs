//! Distinguishes a retry storm from healthy clients during an outage.
//!
//! In an outage every client makes all its attempts up to its cap, so the number of attempts per call shows nothing
//! about the client. Two things show a defect of it: waits that do not grow while calls fail, and nested retry loops.

use super::Hit;
use crate::measure::{Amplified, Fleet, Flows, Service, WaitGrowth};
use std::borrow::Cow;

/// Sends to one service over time, over all accounts, and how the waits between them grew.
pub(super) struct ServiceTraffic<'f> {
    pub(super) service: Service,
    pub(super) flows: Cow<'f, Flows>,
    pub(super) wait_growth: WaitGrowth,
}

/// Returns the sends to each service, sorted by name.
pub(super) fn by_service<'f>(fleet: &'f Fleet<'_>) -> Vec<ServiceTraffic<'f>> {
    let mut all: Vec<ServiceTraffic<'f>> = Vec::new();
    for (scope, tally) in fleet.sorted_scopes() {
        let service = Service::of(&scope);
        match all.iter_mut().find(|traffic| traffic.service == service) {
            Some(traffic) => {
                traffic.flows.to_mut().merge(tally.flow.clone());
                traffic.wait_growth.merge(tally.wait_growth);
            }
            None => {
                all.push(ServiceTraffic { service, flows: Cow::Borrowed(&tally.flow), wait_growth: tally.wait_growth })
            }
        }
    }
    all
}

/// Evidence that the clients themselves cause the load.
pub(super) enum Storm {
    /// Waits do not grow: mean first and mean last wait of a call, in seconds.
    NoBackoff(f64, f64),
    /// Retry loops are nested: number of attempts from calls that two loops retried.
    Layered(u64),
}

/// Returns evidence that the attempts of `amplified` are more than an outage explains, if any. `terms` are the growth
/// of waits that counts as backoff, the number of calls needed to measure it, and the wait in seconds from which on
/// clients are not a storm.
pub(super) fn storm(wait_growth: &WaitGrowth, amplified: &Amplified, terms: [f64; 3]) -> Option<Storm> {
    let [growth_at_least, calls, long_wait_s] = terms;
    if amplified.layered * 2 >= amplified.sends {
        return Some(Storm::Layered(amplified.layered));
    }
    let growth = wait_growth.growth_upper_bound(calls as u64)?;
    let (first, last) = wait_growth.means_s()?;
    (growth < growth_at_least && last < long_wait_s).then_some(Storm::NoBackoff(first, last))
}

impl Storm {
    /// Returns words that end a sentence.
    pub(super) fn words(&self) -> String {
        match self {
            Storm::NoBackoff(first, last) => format!(
                "their waits do not grow ({} at first, {} at last)",
                super::shared::seconds(*first),
                super::shared::seconds(*last)
            ),
            Storm::Layered(sends) => format!("{sends} of them come from nested retry loops"),
        }
    }

    pub(super) fn figures(&self, hit: Hit) -> Hit {
        match self {
            Storm::NoBackoff(first, last) => hit.number("first_wait_s", *first).number("last_wait_s", *last),
            Storm::Layered(sends) => hit.count("layered_sends", *sends),
        }
    }
}
