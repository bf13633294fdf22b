//! Short-term counts of one rate-limit scope: judged in time order and then discarded, so that memory does not depend
//! on the length of the log.

use super::call_terms::CallTerms;
use super::closed_windows::{ClosedWindows, GateTerms, IgnoredWindows};
use super::failure_clusters;
use super::fanout::{Fanout, FanoutTerms, Fanouts};
use super::gate::Gate;
use super::peaks::Peaks;
use super::ramp::{Ramp, RampTerms, Ramps};
use super::starts::{RunMark, Starts};
use super::waves::{Train, WaveTerms, Waves};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Attempt, AttemptTable, Scope, Time};

/// Minimum time for which starts and refusals are kept, in µs.
const MIN_KEPT_US: i64 = 150_000_000;
/// Additional time for which they are kept beyond the longest period that any measure looks back, in µs.
const MARGIN_US: i64 = 20_000_000;

/// Thresholds for [`ShortWindow`].
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// For calls that start at the same time.
    pub fanout: FanoutTerms,
    /// For sends into a window closed by a 429.
    pub gate: GateTerms,
    /// For rates that rise too fast.
    pub ramp: RampTerms,
    /// For retries that arrive at the same time.
    pub wave: WaveTerms,
}

/// Time range of a log: first send, and latest time if known.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogRange {
    pub(super) begin: Time,
    pub(super) end: Time,
}

/// The last seconds of one scope, and the results for the time before them.
///
/// Several may be merged before any of them is settled. Into a settled one, only unsettled ones may be merged.
#[derive(Clone, Debug, Default)]
pub struct ShortWindow {
    starts: Starts,
    gate: Gate,
    waves: Waves,
    fanouts: Fanouts,
    closed_windows: ClosedWindows,
    ramps: Ramps,
    peaks: Peaks,
    /// Failures that concern more than their request: send time and class.
    failures: Vec<(Time, Class)>,
}

impl ShortWindow {
    /// Adds the attempts of `call` on `scope` that were sent at `since` or later; `mark` is that of its run. They are
    /// in time order, and more may follow.
    pub(super) fn follow(&mut self, call: &Call<'_>, mark: RunMark, scope: Scope, since: Time, terms: &CallTerms) {
        if call.first().sent >= since && call.origin(0).scope() == scope {
            self.starts.add(call, mark);
        }
        self.waves.follow(call, scope, since, terms);
        self.peaks.follow(call, scope, since);
        for (position, attempt) in call.attempts().enumerate() {
            if let Some(class) =
                attempt.class.filter(|class| attempt.sent >= since && failure_clusters::is_shared(*class))
                && call.origin(position).scope() == scope
            {
                self.failures.push((attempt.sent, class));
            }
        }
        if call.attempts().any(Attempt::rate_limited) {
            self.gate.follow(call, scope, since, terms);
        }
    }

    /// Adds a call of one successful attempt; `mark` is that of its run.
    pub(super) fn follow_single_success(&mut self, table: &AttemptTable, attempt: &Attempt, mark: RunMark) {
        self.starts.add_single_success(table, attempt.sent, mark);
        self.peaks.add(attempt);
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.starts.len() + self.gate.len() + self.waves.len() + self.peaks.len() + self.failures.len()
    }

    pub(super) fn merge(&mut self, table: &AttemptTable, other: ShortWindow) {
        self.starts.merge(table, other.starts);
        self.gate.merge(table, other.gate);
        self.waves.merge(table, other.waves);
        self.peaks.merge(other.peaks);
        self.failures.extend(other.failures);
    }

    /// Judges what is final, given that all attempts sent before `until` have been added.
    pub(super) fn settle(&mut self, table: &AttemptTable, until: Time, log: LogRange, terms: &Terms) {
        let (starts, gate_events) = (self.starts.prefix_sums(table), self.gate.gate_events(table));
        self.fanouts.settle(&starts, until, log.end, &terms.fanout);
        self.closed_windows.settle(gate_events, &starts, until, &terms.gate);
        self.ramps.settle(table, (gate_events, &starts), (log.begin, until), &terms.ramp);
        self.waves.settle(table, until, &terms.wave);
        self.peaks.settle(until);
        let reach_us = terms.ramp.reach_us().max(terms.fanout.reach_us()) + MARGIN_US;
        let kept_from = until.plus_us(-reach_us.max(MIN_KEPT_US));
        self.starts.forget(kept_from);
        self.gate.forget(kept_from);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.starts.each_row(visit);
        self.gate.each_row(visit);
        self.waves.each_row(visit);
        self.fanouts.each_row(visit);
        self.closed_windows.each_row(visit);
        self.ramps.each_row(visit);
    }

    /// Removes and returns the failures added since the last call.
    pub(super) fn take_failures(&mut self) -> Vec<(Time, Class)> {
        std::mem::take(&mut self.failures)
    }

    /// Returns the maximum concurrency and the maximum rates.
    #[must_use]
    pub fn peaks(&self) -> &Peaks {
        &self.peaks
    }

    /// Returns the burst of simultaneous starts in which the most calls were refused.
    #[must_use]
    pub fn worst_fanout(&self) -> Option<Fanout> {
        self.fanouts.worst()
    }

    /// Returns the closed windows that enough sends ignored, if any.
    #[must_use]
    pub fn ignored(&self) -> Option<&IgnoredWindows> {
        self.closed_windows.ignored()
    }

    /// Returns the rises in the rate of starts that were followed by 429s, in time order.
    #[must_use]
    pub fn ramps(&self) -> &[Ramp] {
        self.ramps.found()
    }

    /// Returns the trains of retry waves, in time order.
    #[must_use]
    pub fn trains(&self, terms: &WaveTerms) -> Vec<Train> {
        self.waves.trains(terms)
    }
}
