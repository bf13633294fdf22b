//! Time windows closed by 429s for everyone on a scope, and the sends that ignored them.

use super::burst::{self, BurstPrefixSums};
use super::gate::{Callers, Closing, GateEvent, bounds, stretch};
use crate::model::Time;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Sends kept as examples, for one window and for all.
const EXAMPLES: usize = 8;

/// Thresholds for [`Ignored`].
#[derive(Clone, Copy, Debug)]
pub struct GateTerms {
    /// How long after the response that closed the gate a send still counts as already on its way, in µs.
    pub grace_us: i64,
    /// Minimum number of refused sends in a window.
    pub sends: u64,
    /// Minimum share of them among all calls that started or were refused in the window.
    pub share: f64,
}

/// Windows that were ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct Ignored {
    /// Number of windows, each from one 429 or from several that overlap.
    pub windows: u64,
    /// Refused sends of calls that had not been told to wait.
    pub fresh: u64,
    /// Refused retries that had been told to wait longer, in windows in which more than one call was told to wait.
    pub hurried: u64,
    /// Calls that started in the windows and were not refused.
    pub passed: u64,
    /// Total length of the windows, in µs.
    pub closed_us: i64,
    /// When everyone could know of the first window.
    pub first: Time,
    /// Row of the 429 that opened the first window.
    pub opened_by: u32,
    /// Some of the refused sends, in time order.
    pub examples: SmallVec<[u32; EXAMPLES]>,
}

impl Ignored {
    /// Returns the sends that ran into a window opened by another call.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        self.fresh + self.hurried
    }
}

/// A time window closed by one 429, or by several that overlap.
#[derive(Clone, Debug)]
struct Window {
    /// When everyone could know of the window: rounded up to buckets, and exact.
    from: Time,
    since: Time,
    /// Until when everyone was told to wait.
    until: Time,
    opened_by: u32,
    fresh: u64,
    hurried: u64,
    callers: Callers,
    examples: SmallVec<[u32; EXAMPLES]>,
    passed: u64,
    /// Bucket before which starts are already counted in `passed`, or lie before the window.
    counted: i64,
}

/// Windows of one scope, found in time order.
#[derive(Clone, Debug)]
pub(super) struct ClosedWindows {
    /// Windows that may still be run into, in time order; at most two touch any point in time.
    open: VecDeque<Window>,
    /// Bucket before which gate events are processed.
    heard: i64,
    ignored: Option<Ignored>,
}

impl Default for ClosedWindows {
    fn default() -> Self {
        ClosedWindows { open: VecDeque::new(), heard: i64::MIN, ignored: None }
    }
}

impl ClosedWindows {
    /// Processes what is final, given that nothing before `until` is still to come.
    pub(super) fn settle(
        &mut self,
        gate_events: &[(i64, GateEvent)],
        starts: &BurstPrefixSums<'_>,
        until: Time,
        terms: &GateTerms,
    ) {
        let place = |key: i64| gate_events.partition_point(|(other, _)| *other < key);
        let due = stretch(until).max(self.heard);
        for (key, gate_event) in &gate_events[place(self.heard)..place(due)] {
            let (start, end) = bounds(*key);
            self.close(end, starts, terms);
            if let Some(window) = self.open.front_mut().filter(|window| window.from <= start) {
                window.take(gate_event);
            }
            if let Some(closing) = gate_event.closes {
                self.open(end.plus_us(terms.grace_us), &closing, gate_event.callers, terms);
            }
        }
        self.heard = due;
        self.close(until, starts, terms);
        let until = burst::stretch(until);
        self.open.iter_mut().for_each(|window| window.pass(starts, until));
    }

    /// Returns the windows that enough sends ignored, if any.
    pub(super) fn ignored(&self) -> Option<&Ignored> {
        self.ignored.as_ref()
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        for window in &mut self.open {
            visit(&mut window.opened_by);
            window.examples.iter_mut().for_each(&mut *visit);
        }
        if let Some(ignored) = &mut self.ignored {
            visit(&mut ignored.opened_by);
            ignored.examples.iter_mut().for_each(&mut *visit);
        }
    }

    /// Opens a window for a 429, or extends the last one.
    fn open(&mut self, from: Time, closing: &Closing, callers: Callers, terms: &GateTerms) {
        let Closing { until, answered, row } = *closing;
        match self.open.back_mut() {
            Some(last) if from <= last.until => {
                last.until = last.until.max(until);
                last.callers = last.callers.and(callers);
            }
            _ if until > from => self.open.push_back(Window {
                from,
                since: answered.plus_us(terms.grace_us),
                until,
                opened_by: row,
                fresh: 0,
                hurried: 0,
                callers,
                examples: SmallVec::new(),
                passed: 0,
                // The partial bucket at the start is left out.
                counted: burst::stretch(from.plus_us(burst::LENGTH_US - 1)),
            }),
            _ => {}
        }
    }

    /// Closes and judges the windows that ended before `until`.
    fn close(&mut self, until: Time, starts: &BurstPrefixSums<'_>, terms: &GateTerms) {
        while self.open.front().is_some_and(|window| window.until < until)
            && let Some(mut window) = self.open.pop_front()
        {
            window.pass(starts, i64::MAX);
            let collisions = window.collisions();
            let all = (collisions + window.passed) as f64;
            if collisions > 0 && collisions >= terms.sends && collisions as f64 >= terms.share * all {
                self.note(window);
            }
        }
    }

    fn note(&mut self, window: Window) {
        let ignored = self.ignored.get_or_insert_with(|| Ignored {
            windows: 0,
            fresh: 0,
            hurried: 0,
            passed: 0,
            closed_us: 0,
            first: window.since,
            opened_by: window.opened_by,
            examples: SmallVec::new(),
        });
        ignored.windows += 1;
        ignored.fresh += window.fresh;
        ignored.hurried += window.collisions() - window.fresh;
        ignored.passed += window.passed;
        ignored.closed_us += window.until.us_since(window.since);
        let room = EXAMPLES - ignored.examples.len();
        ignored.examples.extend(window.examples.into_iter().take(room));
    }
}

impl Window {
    /// Adds the refused sends of a gate event within the window.
    fn take(&mut self, gate_event: &GateEvent) {
        self.fresh += gate_event.fresh;
        self.hurried += gate_event.hurried;
        self.callers = self.callers.and(gate_event.callers);
        if self.examples.len() < EXAMPLES {
            self.examples.extend(gate_event.example);
        }
    }

    /// Counts the calls that started in the window and were not refused, up to bucket `until`. The partial bucket at
    /// the end is left out.
    fn pass(&mut self, starts: &BurstPrefixSums<'_>, until: i64) {
        let until = until.min(burst::stretch(self.until));
        if until > self.counted {
            let sum = starts.sum(self.counted, until);
            self.passed += u64::from(sum.starts - sum.met);
            self.counted = until;
        }
    }

    /// Returns the sends that ran into a window opened by another call. If there is only one call, its ignored hints do
    /// not count.
    fn collisions(&self) -> u64 {
        if self.callers.several() { self.fresh + self.hurried } else { self.fresh }
    }
}
