//! Waits of each retry loop by step, from which its schedule is derived.

mod concurrent_waits;
mod decorrelated;
mod equal_waits;
mod growth;
mod retry_wait;
mod schedule;
#[cfg(test)]
mod tests;
mod waits;

pub use equal_waits::{EqualWaits, EqualWaitsCall};
pub(super) use retry_wait::step as loop_step;
pub use schedule::{Jitter, Schedule, Shape};
pub use waits::{Step, Waits};

use super::call_terms::CallTerms;
use super::row_ref::RowRef;
use crate::calls::Call;
use crate::model::{AttemptTable, Symbol, Time};
use concurrent_waits::ConcurrentWaits;
use foldhash::fast::RandomState;
use retry_wait::{Length, RetryWait};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};

/// Number of steps (retries of a loop) that are distinguished; later ones count as the last.
pub const MAX_STEPS: u8 = 12;
/// Maximum number of loops that are kept: the first by name. It limits memory, and no fleet has that many clients.
const MAX_LOOPS: usize = 64;

/// Maximum number of loops of one call whose waits are compared; a call passes through no more.
const MAX_LOOPS_OF_CALL: usize = 4;

/// A wait that the loop of a call chose itself: number of the retry, and length in µs.
struct ChosenWait {
    key: LoopKey,
    position: usize,
    wait: (u8, i64),
}

/// Identifies a retry loop by the names in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoopKey {
    /// Provider of the API.
    pub provider: Symbol,
    /// Client library.
    pub client: Symbol,
    /// Layer that sent the attempts.
    pub layer: Symbol,
    /// Whether this is the loop around the client library's retries rather than the library's own.
    pub outer: bool,
}

impl LoopKey {
    /// Returns provider, client and layer, the order in which loops are sorted.
    #[must_use]
    pub fn names(self, table: &AttemptTable) -> [&str; 3] {
        [self.provider, self.client, self.layer].map(|name| table.names.text(name))
    }
}

/// Waits of one loop.
#[derive(Clone, Debug, Default)]
pub struct LoopTally {
    /// Waits the loop chose itself, by number of the retry from 1.
    pub steps: BTreeMap<u8, Step>,
    /// Calls whose waits are equal, and those with enough waits to tell.
    pub equal_waits: EqualWaits,
    /// Number of waits requested by the server.
    pub server_requested: u64,
    /// Number of waits whose length the log does not show.
    pub unmeasured: u64,
    /// Of `unmeasured`, those for which the log has only whole seconds.
    pub coarse: u64,
    /// Waits shorter than this count as no wait, in µs.
    no_wait_us: i64,
}

impl LoopTally {
    /// Returns the number of waits the loop chose itself.
    #[must_use]
    pub fn chosen(&self) -> u64 {
        self.steps.values().map(|step| step.waits.count()).sum()
    }

    /// Returns the length below which a wait counts as none, in µs.
    #[must_use]
    pub fn no_wait_us(&self) -> i64 {
        self.no_wait_us
    }

    /// Derives the schedule that the waits follow.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        schedule::derive(self)
    }

    fn merge(&mut self, other: LoopTally) {
        for (number, step) in other.steps {
            self.steps.entry(number).or_default().merge(step);
        }
        self.equal_waits.merge(other.equal_waits);
        self.server_requested += other.server_requested;
        self.unmeasured += other.unmeasured;
        self.coarse += other.coarse;
        self.no_wait_us = self.no_wait_us.max(other.no_wait_us);
    }
}

/// Returns whether the wait before the attempt at `position` was requested by the server, judged by the attempts of the
/// call up to there.
pub(super) fn is_server_requested(call: &Call<'_>, position: usize, terms: &CallTerms) -> bool {
    retry_wait::of(call, position, position + 1, terms)
        .is_some_and(|retry_wait| retry_wait.length == Length::ServerRequested)
}

/// Waits of every loop.
#[derive(Clone, Debug, Default)]
pub struct Backoffs {
    loops: Loops<LoopTally>,
    /// Calls that waited at the same time.
    concurrent_waits: Loops<ConcurrentWaits>,
}

type Loops<T> = HashMap<LoopKey, T, RandomState>;

impl Backoffs {
    pub(super) fn absorb(&mut self, call: &Call<'_>, terms: &CallTerms) {
        let mut chosen: SmallVec<[ChosenWait; 8]> = SmallVec::new();
        for position in 1..call.len() {
            if let Some(retry_wait) = retry_wait::of(call, position, call.len(), terms) {
                self.add(call, position, retry_wait, terms);
                if let Length::Chosen(us) = retry_wait.length {
                    chosen.push(ChosenWait {
                        key: key_of(call, position, retry_wait.outer),
                        position,
                        wait: (retry_wait.step, us),
                    });
                }
            }
        }
        self.add_equal_waits(call, &chosen);
    }

    /// Compares the waits of one call with each other, by loop.
    fn add_equal_waits(&mut self, call: &Call<'_>, chosen: &[ChosenWait]) {
        let mut seen: SmallVec<[LoopKey; 2]> = SmallVec::new();
        for first in chosen {
            if seen.len() == MAX_LOOPS_OF_CALL || seen.contains(&first.key) {
                continue;
            }
            seen.push(first.key);
            let of_loop = chosen.iter().filter(|other| other.key == first.key);
            let waits: SmallVec<[(u8, i64); 8]> = of_loop.map(|other| other.wait).collect();
            if waits.len() >= equal_waits::MIN_EQUAL
                && let Some(tally) = self.loops.get_mut(&first.key)
            {
                tally.equal_waits.add(&waits, RowRef::of(call.table(), call.rows()[first.position]));
            }
        }
    }

    /// Adds, to the counts over time, the waits of one call that ended at `since` or later.
    pub(super) fn follow(&mut self, call: &Call<'_>, since: Time, terms: &CallTerms) {
        for position in (1..call.len()).filter(|position| call.at(*position).sent >= since) {
            let retry_wait = retry_wait::of(call, position, position + 1, terms);
            let Some(RetryWait { outer, length: Length::Chosen(us), .. }) = retry_wait else {
                continue;
            };
            let waits = self.concurrent_waits.entry(key_of(call, position, outer)).or_default();
            waits.add(call.table(), call.at(position).sent, us);
            keep_first_by_name(&mut self.concurrent_waits, call.table());
        }
    }

    /// Counts concurrent waits as far as they are final, given that all attempts sent before `until` have been added.
    pub(super) fn settle(&mut self, table: &AttemptTable, until: Time) {
        self.concurrent_waits.values_mut().for_each(|waits| waits.settle(table, until));
    }

    fn add(&mut self, call: &Call<'_>, position: usize, retry_wait: RetryWait, terms: &CallTerms) {
        let RetryWait { outer, step, length } = retry_wait;
        let tally = self.loops.entry(key_of(call, position, outer)).or_default();
        tally.no_wait_us = terms.no_wait_us;
        match length {
            Length::Chosen(us) => {
                let row_ref = RowRef::of(call.table(), call.rows()[position]);
                tally.steps.entry(step.min(MAX_STEPS)).or_default().add(us, row_ref);
            }
            Length::ServerRequested => tally.server_requested += 1,
            Length::Unknown { coarse } => {
                tally.unmeasured += 1;
                tally.coarse += u64::from(coarse);
            }
        }
        keep_first_by_name(&mut self.loops, call.table());
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, mut other: Backoffs) {
        self.take_concurrent_waits(table, &mut other);
        for (key, tally) in other.loops {
            self.loops.entry(key).or_default().merge(tally);
        }
        keep_first_by_name(&mut self.loops, table);
    }

    /// Takes over the counts over time that are not settled.
    pub(super) fn take_concurrent_waits(&mut self, table: &AttemptTable, other: &mut Backoffs) {
        for (key, waits) in other.concurrent_waits.drain() {
            self.concurrent_waits.entry(key).or_default().merge(table, waits);
        }
        keep_first_by_name(&mut self.concurrent_waits, table);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        for tally in self.loops.values_mut() {
            tally.steps.values_mut().for_each(|step| step.each_row(visit));
            tally.equal_waits.each_row(visit);
        }
    }

    /// Returns the loops sorted by name.
    #[must_use]
    pub fn sorted(&self, table: &AttemptTable) -> Vec<(LoopKey, &LoopTally)> {
        let mut list: Vec<_> = self.loops.iter().map(|(key, tally)| (*key, tally)).collect();
        list.sort_unstable_by_key(|(key, _)| (key.names(table), key.outer));
        list.truncate(MAX_LOOPS);
        list
    }

    /// Returns the waits of one loop.
    #[must_use]
    pub fn of(&self, key: &LoopKey) -> Option<&LoopTally> {
        self.loops.get(key)
    }

    /// Returns the largest number of calls of one loop that waited at the same time, not counting waits requested by
    /// the server.
    #[must_use]
    pub fn peak_concurrent_waits(&self, key: &LoopKey) -> u64 {
        self.concurrent_waits.get(key).map_or(0, ConcurrentWaits::peak)
    }
}

fn key_of(call: &Call<'_>, position: usize, outer: bool) -> LoopKey {
    let origin = call.origin(position);
    LoopKey { provider: origin.provider, client: origin.client, layer: origin.layer, outer }
}

/// If there are more than twice [`MAX_LOOPS`], keeps the first [`MAX_LOOPS`] by name. A loop that is among the first of
/// all is also among the first of every part, so the loops kept in the end have all their waits, whatever the order of
/// merging.
fn keep_first_by_name<T>(loops: &mut Loops<T>, table: &AttemptTable) {
    if loops.len() > 2 * MAX_LOOPS {
        let mut keys: Vec<LoopKey> = loops.keys().copied().collect();
        keys.sort_unstable_by_key(|key| (key.names(table), key.outer));
        keys.drain(MAX_LOOPS..).for_each(|key| {
            loops.remove(&key);
        });
    }
}
