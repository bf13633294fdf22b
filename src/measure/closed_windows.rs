//! Time windows in which 429s had closed a scope for all callers, and the sends that ignored them.

use super::gate::{Callers, ClosingResponse, GateEvent, bounds, bucket_of};
use super::starts::{self, StartPrefixSums};
use crate::model::Time;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Sends kept as examples, for one window and for all.
const EXAMPLES: usize = 8;

/// Thresholds for [`IgnoredWindows`].
#[derive(Clone, Copy, Debug)]
pub struct GateTerms {
    /// How long after the response that closed the window a send still counts as already in flight, in µs.
    pub grace_us: i64,
    /// Minimum number of refused sends in a window.
    pub sends: u64,
    /// Minimum share of them among all calls that started or were refused in the window.
    pub share: f64,
}

/// Windows that were ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct IgnoredWindows {
    /// Number of windows, each from one 429 or from several that overlap.
    pub windows: u64,
    /// Refused sends of calls that had not been asked to wait.
    pub not_asked: u64,
    /// Refused retries that had been asked to wait longer, in windows in which more than one call was asked to wait.
    pub early: u64,
    /// Calls that started in the windows and were not refused.
    pub succeeded: u64,
    /// Total length of the windows, in µs.
    pub closed_us: i64,
    /// When all callers could know of the first window.
    pub first: Time,
    /// Row of the 429 that opened the first window.
    pub opened_by: u32,
    /// Some of the refused sends, in time order.
    pub examples: SmallVec<[u32; EXAMPLES]>,
}

impl IgnoredWindows {
    /// Returns the sends that ran into a window opened by another call.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        self.not_asked + self.early
    }
}

/// A time window closed by one 429, or by several that overlap.
#[derive(Clone, Debug)]
struct Window {
    /// When all callers could know of the window, rounded up to whole buckets.
    from: Time,
    /// The same, exactly.
    exact_from: Time,
    /// Until when callers were asked to wait.
    until: Time,
    opened_by: u32,
    not_asked: u64,
    early: u64,
    callers: Callers,
    examples: SmallVec<[u32; EXAMPLES]>,
    succeeded: u64,
    /// Bucket before which starts are already counted in `succeeded`, or lie before the window.
    counted_until: i64,
}

/// Windows of one scope, found in time order.
#[derive(Clone, Debug)]
pub(super) struct ClosedWindows {
    /// Windows in which sends may still be refused, in time order; at most two contain any point in time.
    open: VecDeque<Window>,
    /// Bucket before which gate events are processed.
    processed_until: i64,
    ignored: Option<IgnoredWindows>,
}

impl Default for ClosedWindows {
    fn default() -> Self {
        ClosedWindows { open: VecDeque::new(), processed_until: i64::MIN, ignored: None }
    }
}

impl ClosedWindows {
    /// Processes what is final, given that all attempts sent before `until` have been added.
    pub(super) fn settle(
        &mut self,
        gate_events: &[(i64, GateEvent)],
        starts: &StartPrefixSums<'_>,
        until: Time,
        terms: &GateTerms,
    ) {
        let index = |key: i64| gate_events.partition_point(|(other, _)| *other < key);
        let end_bucket = bucket_of(until).max(self.processed_until);
        for (key, gate_event) in &gate_events[index(self.processed_until)..index(end_bucket)] {
            let (start, end) = bounds(*key);
            self.close(end, starts, terms);
            if let Some(window) = self.open.front_mut().filter(|window| window.from <= start) {
                window.add_refusals(gate_event);
            }
            if let Some(response) = gate_event.closes {
                self.open(end.plus_us(terms.grace_us), &response, gate_event.callers, terms);
            }
        }
        self.processed_until = end_bucket;
        self.close(until, starts, terms);
        let until = starts::bucket_of(until);
        self.open.iter_mut().for_each(|window| window.count_succeeded(starts, until));
    }

    /// Returns the windows that enough sends ignored, if any.
    pub(super) fn ignored(&self) -> Option<&IgnoredWindows> {
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
    fn open(&mut self, from: Time, response: &ClosingResponse, callers: Callers, terms: &GateTerms) {
        let ClosingResponse { until, answered, row } = *response;
        match self.open.back_mut() {
            Some(last) if from <= last.until => {
                last.until = last.until.max(until);
                last.callers = last.callers.and(callers);
            }
            _ if until > from => self.open.push_back(Window {
                from,
                exact_from: answered.plus_us(terms.grace_us),
                until,
                opened_by: row,
                not_asked: 0,
                early: 0,
                callers,
                examples: SmallVec::new(),
                succeeded: 0,
                // The partial bucket at the start is left out.
                counted_until: starts::bucket_of(from.plus_us(starts::BUCKET_US - 1)),
            }),
            _ => {}
        }
    }

    /// Closes and judges the windows that ended before `until`.
    fn close(&mut self, until: Time, starts: &StartPrefixSums<'_>, terms: &GateTerms) {
        while self.open.front().is_some_and(|window| window.until < until)
            && let Some(mut window) = self.open.pop_front()
        {
            window.count_succeeded(starts, i64::MAX);
            let collisions = window.collisions();
            let all = (collisions + window.succeeded) as f64;
            if collisions > 0 && collisions >= terms.sends && collisions as f64 >= terms.share * all {
                self.record(window);
            }
        }
    }

    fn record(&mut self, window: Window) {
        let ignored = self.ignored.get_or_insert_with(|| IgnoredWindows {
            windows: 0,
            not_asked: 0,
            early: 0,
            succeeded: 0,
            closed_us: 0,
            first: window.exact_from,
            opened_by: window.opened_by,
            examples: SmallVec::new(),
        });
        ignored.windows += 1;
        ignored.not_asked += window.not_asked;
        ignored.early += window.collisions() - window.not_asked;
        ignored.succeeded += window.succeeded;
        ignored.closed_us += window.until.us_since(window.exact_from);
        let free = EXAMPLES - ignored.examples.len();
        ignored.examples.extend(window.examples.into_iter().take(free));
    }
}

impl Window {
    /// Adds the refused sends of a gate event within the window.
    fn add_refusals(&mut self, gate_event: &GateEvent) {
        self.not_asked += gate_event.not_asked;
        self.early += gate_event.early;
        self.callers = self.callers.and(gate_event.callers);
        if self.examples.len() < EXAMPLES {
            self.examples.extend(gate_event.example);
        }
    }

    /// Counts the calls that started in the window and were not refused, up to bucket `until`. The partial bucket at
    /// the end is left out.
    fn count_succeeded(&mut self, starts: &StartPrefixSums<'_>, until: i64) {
        let until = until.min(starts::bucket_of(self.until));
        if until > self.counted_until {
            let sum = starts.sum(self.counted_until, until);
            self.succeeded += u64::from(sum.starts - sum.refused);
            self.counted_until = until;
        }
    }

    /// Returns the sends that ran into a window opened by another call. If there is only one call, its ignored hints do
    /// not count.
    fn collisions(&self) -> u64 {
        if self.callers.are_several() { self.not_asked + self.early } else { self.not_asked }
    }
}
