//! What separates a retry storm from healthy clients that meet an outage.
//!
//! In an outage every capped client makes all its attempts, so the number of attempts a call says nothing about the
//! client. Two things do: waits that do not grow while calls fail, and loops around loops.

use super::Hit;
use crate::measure::{Amplified, Fleet, Flows, Service, Spacing};
use std::borrow::Cow;

/// What one service was sent over time, whatever the account, and how the waits between grew.
pub(super) struct Sent<'f> {
    pub(super) service: Service,
    pub(super) flows: Cow<'f, Flows>,
    pub(super) spacing: Spacing,
}

/// What each service was sent, in the order of their names.
pub(super) fn by_service<'f>(fleet: &'f Fleet<'_>) -> Vec<Sent<'f>> {
    let mut all: Vec<Sent<'f>> = Vec::new();
    for (scope, tally) in fleet.sorted_scopes() {
        let service = Service::of(&scope);
        match all.iter_mut().find(|sent| sent.service == service) {
            Some(sent) => {
                sent.flows.to_mut().merge(tally.flow.clone());
                sent.spacing.merge(tally.spacing);
            }
            None => all.push(Sent { service, flows: Cow::Borrowed(&tally.flow), spacing: tally.spacing }),
        }
    }
    all
}

/// Why the clients themselves are to blame.
pub(super) enum Storm {
    /// Waits do not grow: mean first and last wait of a call, in seconds.
    NoBackoff(f64, f64),
    /// So many of the attempts come from calls that two loops retried.
    Layered(u64),
}

/// What shows that the attempts of `amplified` are more than an outage explains. `terms`: the growth of waits that is
/// backoff, the calls it takes to see it, and the wait in seconds from which on clients are gentle.
pub(super) fn storm(spacing: &Spacing, amplified: &Amplified, terms: [f64; 3]) -> Option<Storm> {
    let [growth_at_least, calls, gentle_s] = terms;
    if amplified.layered * 2 >= amplified.sends {
        return Some(Storm::Layered(amplified.layered));
    }
    let growth = spacing.growth_at_most(calls as u64)?;
    let (first, last) = spacing.means_s()?;
    (growth < growth_at_least && last < gentle_s).then_some(Storm::NoBackoff(first, last))
}

impl Storm {
    /// In words that end a sentence.
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
