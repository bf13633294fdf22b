//! Nested retry loops, recognised by how the sends of a call factor: m rounds of n sends.

use super::loops::{Loops, Sign, loops_of};
use super::row_ref::{RowRef, earlier};
use crate::calls::{Call, Grouping};
use crate::model::{AttemptTable, Interner, Symbol};
use crate::untrusted::cut;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Largest number of rounds, or of sends in a round, that is distinguished.
const MOST: u32 = 99;

/// Two nested loops, and how they were recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layering {
    sign: Sign,
    client: Symbol,
    client_version: Symbol,
    /// Layer whose sends were counted and, for [`Sign::Nested`], the layer around it.
    layer: Symbol,
    around: Symbol,
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

/// Counts by pair of loops and factorisation.
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
            around: if loops.sign == Sign::Nested { other().unwrap_or(Symbol::NONE) } else { Symbol::NONE },
            rounds: (loops.rounds.len() as u32).min(MOST),
            inner: loops.inner().min(MOST),
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
        let here = names.get(self.layer).map(|name| cut(name, 40));
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
                let inner =
                    here.map_or_else(|| "the one that numbers attempts".to_owned(), |here| format!("that of {here}"));
                (inner, "a second loop".to_owned())
            }
            Sign::OneNumber => {
                let outer = here.map_or_else(|| "a loop".to_owned(), |here| format!("the loop of {here}"));
                ("retries it does not count".to_owned(), outer)
            }
            Sign::Nested => {
                let outer = names.get(self.around).map(|name| cut(name, 40)).unwrap_or_default();
                (format!("the retries of {}", here.unwrap_or_default()), format!("the loop of {outer}"))
            }
        }
    }
}

/// Adds the loops of one call. Returns whether the call shows any with certainty.
pub(super) fn absorb(layers: &mut Layers, call: &Call<'_>) -> bool {
    let Some(loops) = loops_of(call) else { return false };
    if call.grouping == Grouping::Inferred && !loops.are_shown(call) {
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
        let words = (key.names(&table.names), key.sign, key.rounds, key.inner, key.even);
        let client = key.client(&table.names);
        let client = (client.0.map(str::to_owned), client.1.map(str::to_owned));
        (std::cmp::Reverse(tally.sends), words, client)
    });
    list
}
