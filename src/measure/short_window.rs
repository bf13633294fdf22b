//! What happens within seconds on one rate-limit scope: judged while time goes by, and then forgotten, so that
//! it costs the same however long the log is.

use super::burst::{RunMark, Starts};
use super::call_terms::CallTerms;
use super::closed_windows::{ClosedWindows, GateTerms, Ignored};
use super::failure_clusters;
use super::fanout::{Fanout, FanoutTerms, Fanouts};
use super::gate::Gate;
use super::peaks::Peaks;
use super::ramp::{Ramp, RampTerms, Ramps};
use super::waves::{Train, WaveTerms, Waves};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Attempt, AttemptTable, Scope, Time};

/// Starts are looked back at for so long at least, and refusals, µs; and for longer than any measure asks by so much.
const KEPT_US: i64 = 150_000_000;
const SPARE_US: i64 = 20_000_000;

/// By what [`ShortWindow`] are judged.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Calls started together.
    pub fanout: FanoutTerms,
    /// Sends into a closed gate.
    pub gate: GateTerms,
    /// Rates that rose too fast.
    pub ramp: RampTerms,
    /// Retries that arrive together.
    pub wave: WaveTerms,
}

/// What a log covers: its first send, and the last moment it speaks of where that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) begin: Time,
    pub(super) end: Time,
}

/// The last seconds of one scope, and what the seconds before them came to.
///
/// Several may be merged before anything is settled. Afterwards, only further ones may be merged into it of which
/// nothing is settled.
#[derive(Clone, Debug, Default)]
pub struct ShortWindow {
    starts: Starts,
    gate: Gate,
    waves: Waves,
    fanouts: Fanouts,
    closed_windows: ClosedWindows,
    ramps: Ramps,
    peaks: Peaks,
    /// Failures that say something about more than their request: when they were sent, and why.
    failures: Vec<(Time, Class)>,
}

impl ShortWindow {
    /// Takes in the attempts of `call`, of the run behind `mark`, on `scope` that were sent at `since` or later. They are in the order of
    /// time, and some may be still to come.
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

    /// Takes in a call of one attempt that succeeded, of the run behind `mark`.
    pub(super) fn follow_plain(&mut self, table: &AttemptTable, attempt: &Attempt, mark: RunMark) {
        self.starts.add_plain(table, attempt.sent, mark);
        self.peaks.add(attempt);
    }

    /// TimeBuckets it holds.
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

    /// Judges what is known of in full when nothing can be sent before `until` any more.
    pub(super) fn settle(&mut self, table: &AttemptTable, until: Time, log: Span, terms: &Terms) {
        let (starts, gate_events) = (self.starts.line(table), self.gate.gate_events(table));
        self.fanouts.settle(&starts, until, log.end, &terms.fanout);
        self.closed_windows.settle(gate_events, &starts, until, &terms.gate);
        self.ramps.settle(table, (gate_events, &starts), (log.begin, until), &terms.ramp);
        self.waves.settle(table, until, &terms.wave);
        self.peaks.settle(until);
        let reach_us = terms.ramp.reach_us().max(terms.fanout.reach_us()) + SPARE_US;
        let kept_from = until.plus_us(-reach_us.max(KEPT_US));
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

    /// Hands over the failures that were taken in since it was asked last.
    pub(super) fn take_failures(&mut self) -> Vec<(Time, Class)> {
        std::mem::take(&mut self.failures)
    }

    /// The most in flight and the most within a minute.
    #[must_use]
    pub fn peaks(&self) -> &Peaks {
        &self.peaks
    }

    /// The train of calls started together that ran into most limits and overloads.
    #[must_use]
    pub fn worst_fanout(&self) -> Option<Fanout> {
        self.fanouts.worst()
    }

    /// The windows that a 429 had closed for everyone and that enough sends ignored.
    #[must_use]
    pub fn ignored(&self) -> Option<&Ignored> {
        self.closed_windows.ignored()
    }

    /// Every rise in the rate of starts that 429s followed, in time order.
    #[must_use]
    pub fn ramps(&self) -> &[Ramp] {
        self.ramps.found()
    }

    /// Every train of retry waves, in time order.
    #[must_use]
    pub fn trains(&self, terms: &WaveTerms) -> Vec<Train> {
        self.waves.trains(terms)
    }
}
