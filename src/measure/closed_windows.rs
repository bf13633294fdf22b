//! Windows that 429s had closed for everyone on a scope, and who ran into them.

use super::burst::{self, Line};
use super::gate::{Callers, Closing, GateEvent, bounds, stretch};
use crate::model::Time;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Sends kept as examples, of one window and of all.
const EXAMPLES: usize = 8;

/// Thresholds of [`Ignored`].
#[derive(Clone, Copy, Debug)]
pub struct GateTerms {
    /// A send that left so soon after the answer that closed the gate was on its way already, µs.
    pub grace_us: i64,
    /// Least sends refused in a window.
    pub sends: u64,
    /// Least share they are of all calls that started or were refused in it.
    pub share: f64,
}

/// Windows that were ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct Ignored {
    /// How many: by one 429 each, or by several whose windows overlap.
    pub windows: u64,
    /// Sends refused in them that had been told nothing.
    pub fresh: u64,
    /// Retries refused in them that had been told to wait longer, where more than one call was told anything.
    pub hurried: u64,
    /// Calls that started in them unharmed.
    pub passed: u64,
    /// How long they were closed together, µs.
    pub closed_us: i64,
    /// When everyone could know of the first.
    pub first: Time,
    /// The 429 that opened it.
    pub opened_by: u32,
    /// Some of the sends, in time order.
    pub examples: SmallVec<[u32; EXAMPLES]>,
}

impl Ignored {
    /// Sends that ran into what another call had been told.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        self.fresh + self.hurried
    }
}

/// A stretch in which the gate was shut, by one 429 or by several whose windows overlap.
#[derive(Clone, Debug)]
struct Window {
    /// When everyone could know: rounded up to stretches, and as it was.
    from: Time,
    since: Time,
    /// Until when everyone was to stay away.
    until: Time,
    opened_by: u32,
    fresh: u64,
    hurried: u64,
    callers: Callers,
    examples: SmallVec<[u32; EXAMPLES]>,
    passed: u64,
    /// Starts before this stretch are in `passed`, or before the window.
    counted: i64,
}

/// The windows of one scope, found while time goes by.
#[derive(Clone, Debug)]
pub(super) struct ClosedWindows {
    /// Those that may still be run into, in time order: at most two touch any moment.
    open: VecDeque<Window>,
    /// Knocks before this stretch are heard.
    heard: i64,
    ignored: Option<Ignored>,
}

impl Default for ClosedWindows {
    fn default() -> Self {
        ClosedWindows { open: VecDeque::new(), heard: i64::MIN, ignored: None }
    }
}

impl ClosedWindows {
    /// Judges what is over when nothing can happen before `until` any more.
    pub(super) fn settle(
        &mut self,
        gate_events: &[(i64, GateEvent)],
        starts: &Line<'_>,
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

    /// The windows that enough sends ignored.
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

    /// A 429 opens a window, or makes the last one longer.
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
                // A stretch that the beginning cuts is left out.
                counted: burst::stretch(from.plus_us(burst::LENGTH_US - 1)),
            }),
            _ => {}
        }
    }

    /// Judges the windows that ended before `until`.
    fn close(&mut self, until: Time, starts: &Line<'_>, terms: &GateTerms) {
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
    /// A send was refused in it.
    fn take(&mut self, gate_event: &GateEvent) {
        self.fresh += gate_event.fresh;
        self.hurried += gate_event.hurried;
        self.callers = self.callers.and(gate_event.callers);
        if self.examples.len() < EXAMPLES {
            self.examples.extend(gate_event.example);
        }
    }

    /// Counts the calls that started in it unharmed, up to the stretch `until`. The stretch its end cuts is left out.
    fn pass(&mut self, starts: &Line<'_>, until: i64) {
        let until = until.min(burst::stretch(self.until));
        if until > self.counted {
            let sum = starts.sum(self.counted, until);
            self.passed += u64::from(sum.starts - sum.met);
            self.counted = until;
        }
    }

    /// Sends that ran into what another call had been told. A call that alone ignores its own hint does not.
    fn collisions(&self) -> u64 {
        if self.callers.several() { self.fresh + self.hurried } else { self.fresh }
    }
}
