//! Fast path: lines similar to earlier lines are not parsed. A line with the constant bytes of a prototype becomes a
//! patched copy of its row; one with the constant bytes of a plan is turned into a record by that plan.
//!
//! Both do exactly what the strict reader would do, or decline the line; a test compares them.

use super::give::{Outcome, give};
use super::learn;
use super::per_line::{PerLine, Varying};
use super::plan::Plan;
use super::prototype::{Budget, Made, Prototype};
use super::trie::{Collect, Fit, ScalarSpan, Trie};
use crate::ingest::limits::LONGEST_LINE;
use crate::ingest::record::{Mapping, Memory, Place, Record};
use crate::model::AttemptTable;

/// Number of consecutive lines without a fitting plan after which learning pauses: in some logs, no constant bytes
/// repeat.
const PATIENCE: u32 = 64;
/// Shortest pause of learning, in lines; it doubles with each consecutive pause.
const PAUSE: u32 = 2048;
/// Longest pause of learning, in lines.
const LONGEST_PAUSE: u32 = 32 << 10;

/// Plans and prototypes learned from earlier lines; one instance per worker.
#[derive(Debug, Default)]
pub(super) struct FastPath {
    plans: Trie<Collect, Plan>,
    prototypes: Trie<Varying, Prototype>,
    budget: Budget,
    /// Number of the table that the prototypes' cached origins belong to.
    table: u64,
    scalars: Vec<ScalarSpan>,
    /// Whether a prototype fits the line, but its row needs the full record.
    declined: bool,
    misses: u32,
    pause: u32,
    next_pause: u32,
    /// Fingerprint of the user-defined keys the plans were made with.
    own: u64,
    /// Whether the prototypes are of rows that keep all ids; see [`Place::keep_ids`].
    keep_ids: bool,
    /// Whether the user-defined keys need the strict reader, so that it reads every line.
    strict: bool,
    /// Whether the strict reader reads every line, permanently.
    closed: bool,
}

/// How a line was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// By a plan.
    Plan,
    /// Not read: left to the strict reader, and not worth learning from.
    Strict,
    /// Not read: its constant bytes are unknown.
    Unknown,
}

impl FastPath {
    /// Returns a fast path that reads no line, for comparison.
    pub(super) fn closed() -> FastPath {
        FastPath { closed: true, ..FastPath::default() }
    }

    /// Switches to a table, the user-defined keys `own` and what rows keep. Discards origins cached for another table,
    /// and the plans and prototypes made otherwise.
    pub(super) fn begin(&mut self, own: &Mapping, keep_ids: bool, table: u64) {
        if self.keep_ids != keep_ids {
            self.keep_ids = keep_ids;
            self.prototypes.clear();
        }
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

    /// Reads the first line of `text` if a prototype fits it, and returns its length without its ending.
    #[inline]
    pub(super) fn take_similar(
        &mut self,
        text: &str,
        place: &Place<'_>,
        memory: &mut Memory,
        table: &mut AttemptTable,
    ) -> Option<usize> {
        self.declined = false;
        if !is_plain(place) {
            return None;
        }
        let mut said = PerLine::new(place.zone);
        let Fit::Whole(prototype, length) = self.prototypes.fit(text, &mut said) else { return None };
        (self.misses, self.next_pause) = (0, 0);
        self.budget.earn();
        self.declined = length > LONGEST_LINE
            || prototype.take(&text[..length], &said, place, &mut memory.origins, table).is_none();
        (!self.declined).then_some(length)
    }

    /// Reads `line`, which no prototype fits, if its constant bytes are known.
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
        self.scalars.clear();
        let plan = match self.plans.fit(line, &mut self.scalars) {
            Fit::Whole(plan, _) => plan,
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
        if is_plain(place)
            && is_attempt
            && !self.declined
            && table.rows.last().is_some_and(|row| Prototype::is_possible(&record, row))
            && self.budget.spend()
        {
            let made = Made { line, scalars: &self.scalars, plan, record: &record, place, table };
            Prototype::learn(&made).into_iter().for_each(|entry| self.prototypes.add(entry));
        }
        Route::Plan
    }

    /// Learns from a line with unknown constant bytes that the strict reader has accepted.
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
        learn::learn(line, own).into_iter().for_each(|entry| self.plans.add(entry));
    }
}

/// Whether prototypes may be of use: a filter needs the record, and prototypes have no run or call given by the
/// surroundings.
#[inline]
fn is_plain(place: &Place<'_>) -> bool {
    place.filter.is_none() && !place.names_for_others()
}
