//! Nested retry loops: an outer loop repeats the retries of an inner one, so that the sends of a call are m rounds of n
//! sends.

use super::loops::{Loops, Sign, loops_of};
use super::row_ref::{RowRef, earlier};
use crate::calls::{Call, Grouping};
use crate::model::{AttemptTable, Interner, Symbol};
use crate::untrusted::cut;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Larger numbers of rounds, or of sends in a round, count as this many.
const MAX_COUNT: u32 = 99;

/// Two nested loops, and how they were recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layering {
    sign: Sign,
    client: Symbol,
    client_version: Symbol,
    /// Layer whose sends were counted.
    layer: Symbol,
    /// Layer around it, for [`Sign::Nested`].
    outer_layer: Symbol,
    /// Rounds of the outer loop.
    pub rounds: u32,
    /// Sends of the inner loop in the longest round.
    pub inner: u32,
    /// Whether all rounds have the same number of sends.
    pub even: bool,
}

/// Calls in which the two loops were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerTally {
    /// Number of calls.
    pub calls: u64,
    /// Sends of these calls that belong to the two loops.
    pub sends: u64,
    /// First attempt of the earliest of them.
    pub first: Option<RowRef>,
}

/// Counts by pair of loops and numbers of rounds and sends.
pub type Layers = HashMap<Layering, LayerTally, RandomState>;

impl Layering {
    pub(crate) fn of(call: &Call<'_>, loops: &Loops) -> Layering {
        let first = loops.positions.first().copied().unwrap_or(0);
        let origin = call.origin(first);
        let other = || (0..call.len()).map(|p| call.origin(p).layer).find(|layer| *layer != origin.layer);
        Layering {
            sign: loops.sign,
            client: origin.client,
            client_version: origin.client_version,
            layer: origin.layer,
            outer_layer: if loops.sign == Sign::Nested { other().unwrap_or(Symbol::NONE) } else { Symbol::NONE },
            rounds: (loops.rounds.len() as u32).min(MAX_COUNT),
            inner: loops.inner().min(MAX_COUNT),
            even: loops.are_even(),
        }
    }

    /// Returns the most sends of one call: (r+1)^d for two layers with these counts.
    #[must_use]
    pub fn bound(&self) -> u32 {
        self.rounds * self.inner
    }

    /// Returns a phrase for the sign by which the loops were recognised.
    #[must_use]
    pub fn sign(&self) -> &'static str {
        self.sign.words()
    }

    /// Returns the client library and its version, as logged.
    #[must_use]
    pub fn client<'n>(&self, names: &'n Interner) -> (Option<&'n str>, Option<&'n str>) {
        (names.get(self.client), names.get(self.client_version))
    }

    /// Returns names of the inner and the outer loop, as far as the log has them.
    #[must_use]
    pub fn names(&self, names: &Interner) -> (String, String) {
        let inner_layer = names.get(self.layer).map(|name| cut(name, 40));
        let sdk = || {
            let client = names.get(self.client).map_or_else(String::new, |client| {
                format!(" ({})", cut(&format!("{client} {}", names.text(self.client_version)), 60))
            });
            format!("the SDK's own retries{client}")
        };
        match self.sign {
            Sign::SdkCounter => (sdk(), "a loop".to_owned()),
            Sign::OneCount => ("retries beneath the SDK".to_owned(), sdk()),
            Sign::Numbers => {
                let inner = inner_layer
                    .map_or_else(|| "the one that numbers attempts".to_owned(), |layer| format!("that of {layer}"));
                (inner, "a second loop".to_owned())
            }
            Sign::OneNumber => {
                let outer = inner_layer.map_or_else(|| "a loop".to_owned(), |layer| format!("the loop of {layer}"));
                ("retries it does not count".to_owned(), outer)
            }
            Sign::Nested => {
                let outer = names.get(self.outer_layer).map(|name| cut(name, 40)).unwrap_or_default();
                (format!("the retries of {}", inner_layer.unwrap_or_default()), format!("the loop of {outer}"))
            }
        }
    }
}

/// Adds the loops of one call. Returns whether the call certainly shows two loops.
pub(super) fn absorb(layers: &mut Layers, call: &Call<'_>) -> bool {
    let Some(loops) = loops_of(call) else { return false };
    if call.grouping == Grouping::Inferred && !loops.repeat_one_request(call) {
        return false;
    }
    let tally = layers.entry(Layering::of(call, &loops)).or_default();
    let first = loops.positions.first().map(|&position| RowRef::of(call.table(), call.rows()[position]));
    add(tally, LayerTally { calls: 1, sends: u64::from(loops.sends()), first });
    true
}

pub(super) fn merge(layers: &mut Layers, other: Layers) {
    for (key, theirs) in other {
        add(layers.entry(key).or_default(), theirs);
    }
}

fn add(mine: &mut LayerTally, theirs: LayerTally) {
    mine.calls += theirs.calls;
    mine.sends += theirs.sends;
    mine.first = earlier(mine.first, theirs.first);
}

/// Returns the pairs of loops, those with the most sends first.
#[must_use]
pub fn sorted_layers<'l>(layers: &'l Layers, table: &AttemptTable) -> Vec<(&'l Layering, &'l LayerTally)> {
    let mut list: Vec<_> = layers.iter().collect();
    list.sort_by_cached_key(|(key, tally)| {
        let names_and_counts = (key.names(&table.names), key.sign, key.rounds, key.inner, key.even);
        let client = key.client(&table.names);
        let client = (client.0.map(str::to_owned), client.1.map(str::to_owned));
        (std::cmp::Reverse(tally.sends), names_and_counts, client)
    });
    list
}
