//! Which retry loop stands around which, by how a call's sends factor: m rounds of n.

use super::loops::{Loops, Sign, loops_of};
use super::row_ref::{RowRef, earlier};
use crate::calls::{Call, Grouping};
use crate::model::{AttemptTable, Interner, Symbol};
use crate::untrusted::cut;
use foldhash::fast::RandomState;
use std::collections::HashMap;

/// Rounds, and sends of a round, beyond which no more are told apart.
const MOST: u32 = 99;

/// Two loops, and how they were seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layering {
    sign: Sign,
    client: Symbol,
    client_version: Symbol,
    /// The layer whose sends were counted, and for [`Sign::Nested`] the one around it.
    layer: Symbol,
    around: Symbol,
    /// Rounds of the outer loop.
    pub rounds: u32,
    /// Sends of the inner loop in the longest round.
    pub inner: u32,
    /// Every round sent as often.
    pub even: bool,
}

/// Calls in which two loops were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerTally {
    /// Calls.
    pub calls: u64,
    /// Their sends, as far as the two loops made them.
    pub sends: u64,
    /// The first attempt of the earliest.
    pub first: Option<RowRef>,
}

/// By pair of loops and factorisation.
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

    /// Most sends of one call: what (r+1)^d comes to for two layers with these counts.
    #[must_use]
    pub fn bound(&self) -> u32 {
        self.rounds * self.inner
    }

    /// What shows the two loops, in words.
    #[must_use]
    pub fn sign(&self) -> &'static str {
        self.sign.words()
    }

    /// The client's library and its version, as logged.
    #[must_use]
    pub fn client<'n>(&self, names: &'n Interner) -> (Option<&'n str>, Option<&'n str>) {
        (names.get(self.client), names.get(self.client_version))
    }

    /// The inner loop and the outer one, as far as the log names them.
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

/// Takes in the loops of one call; whether it shows any that are no guess.
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

/// The pairs of loops, that with most sends first.
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
