//! Lines like lines before are not parsed: one that has the constant bytes of a prototype is a patched copy of its row,
//! one that has those of a plan is made a record by it.
//!
//! Either does exactly what the strict reader would have done, or declines; a test holds them together.

use super::learn::learn;
use super::outcome::{Outcome, give};
use super::plan::Plan;
use super::prototype::{Budget, Made, Prototype};
use super::trie::{Fit, ScalarSpan, Trie};
use crate::ingest::record::{Mapping, Memory, Place, Record, Taken};
use crate::model::AttemptTable;

/// Lines in a row that no plan fitted before learning pauses: some logs repeat no constant bytes.
const PATIENCE: u32 = 64;
/// Lines for which it then pauses; each time in vain twice as long,
const PAUSE: u32 = 2048;
/// but no longer than this.
const LONGEST_PAUSE: u32 = 32 << 10;

/// The plans and prototypes of the lines before. One a worker.
#[derive(Debug, Default)]
pub(super) struct FastPath {
    plans: Trie<Plan>,
    prototypes: Trie<Prototype>,
    budget: Budget,
    /// Number of the table whose origins the prototypes know.
    table: u64,
    scalars: Vec<ScalarSpan>,
    misses: u32,
    pause: u32,
    next_pause: u32,
    /// Fingerprint of the user's own keys that the plans were made with.
    own: u64,
    /// Everything is left to the strict reader, which alone makes something of values.
    strict: bool,
    /// The same, for good.
    closed: bool,
}

/// How a line was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// By a prototype.
    Prototype,
    /// By a plan.
    Plan,
    /// Not at all: the strict reader must look at it, and there is nothing to learn from it.
    Strict,
    /// Not at all: nothing is known of its constant bytes.
    Unknown,
}

impl FastPath {
    /// One that reads no line: what it is compared with.
    pub(super) fn closed() -> FastPath {
        FastPath { closed: true, ..FastPath::default() }
    }

    /// Goes on with the table of this number and a logger's own keys. Forgets what belonged to another table, and the
    /// plans that were made with other keys than these.
    pub(super) fn begin(&mut self, own: &Mapping, table: u64) {
        if self.own != own.fingerprint() {
            self.own = own.fingerprint();
            self.strict = own.needs_parser();
            self.plans.clear();
            self.prototypes.clear();
        }
        if self.table != table {
            self.table = table;
            self.prototypes.each(&mut |prototype| prototype.origin = None);
        }
    }

    /// Reads `line` if its constant bytes are known.
    pub(super) fn read(
        &mut self,
        line: &str,
        place: &Place<'_>,
        memory: &mut Memory,
        table: &mut AttemptTable,
        done: &mut impl FnMut(Outcome),
    ) -> Route {
        if self.closed || self.strict {
            return Route::Strict;
        }
        // A filter asks the record; kept ids, and names from elsewhere, are no part of a prototype.
        let plain = !place.keep_ids && place.filter.is_none() && !place.names_for_others();
        let mut declined = false;
        if plain && let Fit::Whole(prototype) = self.prototypes.fit(line.as_bytes(), &mut self.scalars) {
            (self.misses, self.next_pause) = (0, 0);
            self.budget.earn();
            if prototype.take(line, &self.scalars, place, &mut memory.origins, table).is_some() {
                done(Outcome::Taken(Taken::Attempt));
                return Route::Prototype;
            }
            declined = true;
        }
        let plan = match self.plans.fit(line.as_bytes(), &mut self.scalars) {
            Fit::Whole(plan) => plan,
            Fit::Unusual => {
                (self.misses, self.next_pause) = (0, 0);
                return Route::Strict;
            }
            Fit::Other => return Route::Unknown,
        };
        (self.misses, self.next_pause) = (0, 0);
        let mut record = Record::default();
        plan.fill(line, &self.scalars, &mut record);
        let is_attempt = give(&record, line, place, memory, table, done);
        if plain
            && is_attempt
            && !declined
            && table.rows.last().is_some_and(|row| Prototype::is_possible(&record, row))
            && self.budget.spend()
        {
            let made = Made { line, scalars: &self.scalars, plan, record: &record, place, table };
            Prototype::learn(&made).into_iter().for_each(|entry| self.prototypes.add(entry));
        }
        Route::Plan
    }

    /// Learns from a line of unknown constant bytes, which the strict reader has accepted.
    pub(super) fn learn(&mut self, line: &str, own: &Mapping) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        self.misses += 1;
        if self.misses > PATIENCE {
            self.misses = 0;
            self.pause = self.next_pause.clamp(PAUSE, LONGEST_PAUSE);
            self.next_pause = 2 * self.pause;
        }
        learn(line, own).into_iter().for_each(|entry| self.plans.add(entry));
    }
}
