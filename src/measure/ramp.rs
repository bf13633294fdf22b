//! Sudden rises in the rate of starts that led to 429s.

use super::burst::BurstPrefixSums;
use super::gate::{GateEvent, stretch};
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
    pub risen_us: i64,
    /// Length of the period before that in which the earlier rate is measured, in µs; also how long after the first 429
    /// further ones count.
    pub before_us: i64,
    /// Part of that earlier period that the log must cover at least, in µs.
    pub least_before_us: i64,
}

impl RampTerms {
    /// Returns how far back starts must be known, in µs.
    pub(super) fn reach_us(&self) -> i64 {
        self.risen_us + 2 * self.before_us
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
    looked: i64,
    /// A refusal before this time follows another, so it is not the first.
    quiet_until: Time,
    found: Vec<Ramp>,
}

impl Default for Ramps {
    fn default() -> Self {
        Ramps { looked: i64::MIN, quiet_until: Time(i64::MIN), found: Vec::new() }
    }
}

impl Ramps {
    /// Processes what is final, given that nothing before `until` is still to come, in a log that begins at `begin`.
    pub(super) fn settle(
        &mut self,
        table: &AttemptTable,
        (gate_events, starts): (&[(i64, GateEvent)], &BurstPrefixSums<'_>),
        (begin, until): (Time, Time),
        terms: &RampTerms,
    ) {
        let place = |key: i64| gate_events.partition_point(|(other, _)| *other < key);
        let due = stretch(until.plus_us(-terms.before_us)).max(self.looked);
        for at in place(self.looked)..place(due) {
            if let Some(row) = gate_events[at].1.first {
                self.look(table, (row, &gate_events[at..]), starts, begin, terms);
            }
        }
        self.looked = due;
    }

    /// Returns the rises found, in time order.
    pub(super) fn found(&self) -> &[Ramp] {
        &self.found
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.found.iter_mut().for_each(|ramp| visit(&mut ramp.row));
    }

    fn look(
        &mut self,
        table: &AttemptTable,
        (row, gate_events): (u32, &[(i64, GateEvent)]),
        starts: &BurstPrefixSums<'_>,
        begin: Time,
        terms: &RampTerms,
    ) {
        let sent = |row: u32| table.rows[row as usize].sent;
        let at = sent(row);
        let onset = at >= self.quiet_until;
        self.quiet_until = at.plus_us(terms.before_us);
        let covered = at.plus_us(-terms.risen_us).us_since(begin).min(terms.before_us);
        if !onset || covered < terms.least_before_us {
            return;
        }
        let before = starts.between(at.plus_us(-terms.risen_us - covered), at.plus_us(-terms.risen_us));
        let risen = starts.between(at.plus_us(-terms.risen_us), at);
        let usual = before as f64 * terms.risen_us as f64 / covered as f64;
        let rose = risen as f64 >= terms.rise * usual && risen as f64 >= usual + terms.deviations * usual.sqrt();
        let end = at.plus_us(terms.before_us);
        let refusals =
            gate_events.iter().filter_map(|(_, gate_event)| Some((sent(gate_event.first?), gate_event.refused)));
        let followed: u64 = refusals.take_while(|(at, _)| *at < end).map(|(_, refused)| refused).sum();
        if rose && before >= terms.before && risen >= terms.starts && followed >= terms.refusals {
            let per_s = |count: f64| count * 1e6 / terms.risen_us as f64;
            self.found.push(Ramp { at, row, rates: (per_s(usual), per_s(risen as f64)), refusals: followed });
        }
    }
}
