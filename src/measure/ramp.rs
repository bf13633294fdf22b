//! Sudden rises in the rate of starts that were followed by 429s.

use super::gate::{GateEvent, bucket_of};
use super::starts::StartPrefixSums;
use crate::model::{AttemptTable, Time};

/// Thresholds for `Ramps`.
#[derive(Clone, Copy, Debug)]
pub struct RampTerms {
    /// Minimum ratio of the rate of starts to that of the minute before.
    pub rise: f64,
    /// Minimum number of starts at the higher rate.
    pub starts: u64,
    /// Minimum number of 429s within a minute of the first.
    pub refusals: u64,
    /// Minimum number of starts in the minute before.
    pub before: u64,
    /// Minimum rise of the rate, in standard deviations.
    pub deviations: f64,
    /// Length of the period before the first 429 in which the rise is measured, in µs.
    pub rise_us: i64,
    /// Length of the period before that in which the earlier rate is measured, in µs; also how long after the first 429
    /// further ones count.
    pub baseline_us: i64,
    /// Part of that earlier period that the log must cover at least, in µs.
    pub min_baseline_us: i64,
}

impl RampTerms {
    /// Returns how far back starts must be known, in µs.
    pub(super) fn reach_us(&self) -> i64 {
        self.rise_us + 2 * self.baseline_us
    }
}

/// A rise in the rate of starts that was followed by 429s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Send time of the first refused attempt.
    pub at: Time,
    /// Row of that attempt.
    pub row: u32,
    /// Starts per second in the minute before the rise, and after it.
    pub rates: (f64, f64),
    /// Number of 429s within a minute.
    pub refusals: u64,
}

/// Rises of one scope that were followed by 429s, found in time order.
#[derive(Clone, Debug)]
pub(super) struct Ramps {
    /// Bucket before which refusals are processed.
    processed_until: i64,
    /// A refusal before this time follows another one and is not the first.
    next_first_from: Time,
    found: Vec<Ramp>,
}

impl Default for Ramps {
    fn default() -> Self {
        Ramps { processed_until: i64::MIN, next_first_from: Time(i64::MIN), found: Vec::new() }
    }
}

impl Ramps {
    /// Processes what is final, given that all attempts sent before `until` have been added. The log begins at `begin`.
    pub(super) fn settle(
        &mut self,
        table: &AttemptTable,
        (gate_events, starts): (&[(i64, GateEvent)], &StartPrefixSums<'_>),
        (begin, until): (Time, Time),
        terms: &RampTerms,
    ) {
        let index = |key: i64| gate_events.partition_point(|(other, _)| *other < key);
        let due = bucket_of(until.plus_us(-terms.baseline_us)).max(self.processed_until);
        for at in index(self.processed_until)..index(due) {
            if let Some(row) = gate_events[at].1.first {
                self.check_refusal(table, (row, &gate_events[at..]), starts, begin, terms);
            }
        }
        self.processed_until = due;
    }

    /// Returns the rises found, in time order.
    pub(super) fn found(&self) -> &[Ramp] {
        &self.found
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.found.iter_mut().for_each(|ramp| visit(&mut ramp.row));
    }

    /// Records a rise before the refusal at `row`, if it is the first for some time and the rate had risen.
    fn check_refusal(
        &mut self,
        table: &AttemptTable,
        (row, gate_events): (u32, &[(i64, GateEvent)]),
        starts: &StartPrefixSums<'_>,
        begin: Time,
        terms: &RampTerms,
    ) {
        let sent = |row: u32| table.rows[row as usize].sent;
        let at = sent(row);
        let is_first = at >= self.next_first_from;
        self.next_first_from = at.plus_us(terms.baseline_us);
        let covered = at.plus_us(-terms.rise_us).us_since(begin).min(terms.baseline_us);
        if !is_first || covered < terms.min_baseline_us {
            return;
        }
        let before = starts.between(at.plus_us(-terms.rise_us - covered), at.plus_us(-terms.rise_us));
        let recent = starts.between(at.plus_us(-terms.rise_us), at);
        let expected = before as f64 * terms.rise_us as f64 / covered as f64;
        let has_risen =
            recent as f64 >= terms.rise * expected && recent as f64 >= expected + terms.deviations * expected.sqrt();
        let end = at.plus_us(terms.baseline_us);
        let refusals =
            gate_events.iter().filter_map(|(_, gate_event)| Some((sent(gate_event.first?), gate_event.refused)));
        let followed: u64 = refusals.take_while(|(at, _)| *at < end).map(|(_, refused)| refused).sum();
        if has_risen && before >= terms.before && recent >= terms.starts && followed >= terms.refusals {
            let per_s = |count: f64| count * 1e6 / terms.rise_us as f64;
            self.found.push(Ramp { at, row, rates: (per_s(expected), per_s(recent as f64)), refusals: followed });
        }
    }
}
