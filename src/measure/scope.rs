//! What is known of one rate-limit scope: an account and a model of one provider.

use super::amplification::Spacing;
use super::burst::{Fanout, FanoutTerms, Met, Starts};
use super::drain::Traffic;
use super::flow::{Flow, Flows};
use super::gate::{Gate, Shut, Standing};
use super::load::Load;
use super::spot::Spot;
use super::starved::Starved;
use super::tally::{is_overload, is_rate_limit};
use super::waves::Waves;
use crate::attempt::{Attempt, AttemptTable, Scope, Time};
use crate::calls::Call;
use crate::classify::Class;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Counts of one scope.
#[derive(Clone, Debug, Default)]
pub struct ScopeTally {
    /// Sends and refusals over time.
    pub flow: Flows,
    /// 429 windows and who ran into them.
    pub gate: Gate,
    /// Starts of calls.
    pub starts: Starts,
    /// Waits for retries.
    pub waves: Waves,
    /// Calls that met lack of capacity again and again.
    pub starved: Starved,
    /// Arrivals, and how many were under way.
    pub load: Load,
    /// The waits its callers chose.
    pub spacing: Spacing,
    /// The latest start of a call that succeeded.
    pub last_success: Option<Time>,
}

/// How far before its hint's end a retry may come without having ignored it: 2%, and 50 ms for clocks.
/// The same tolerance as rule RL301.
fn tolerated(hint_us: i64) -> i64 {
    hint_us / 50 + 50_000
}

impl ScopeTally {
    /// Takes in a call that started on this scope.
    pub fn absorb(&mut self, call: &Call<'_>, scope: Scope, layered: bool) {
        let sends = (0..call.len()).filter(|&position| call.origin(position).scope() == scope).count() as u64;
        let layered = if layered { sends } else { 0 };
        self.absorb_sends(call, scope, Flow { calls: 1, sends_of_calls: sends, layered, ..Flow::default() });
        self.load.absorb(call);
        self.spacing.absorb(call);
        if call.attempts().any(|attempt| !attempt.failed()) {
            self.last_success = self.last_success.max(Some(call.first().sent));
        }
        if (1..call.len()).all(|position| call.origin(position).scope() == scope) {
            self.starved.absorb(call);
        }
        let first = call.first();
        self.starts.add(call.table(), call.rows()[0], first.run, met(first));
    }

    /// Takes in the attempts of `call` that drew on this scope.
    pub fn absorb_attempts(&mut self, call: &Call<'_>, scope: Scope) {
        self.absorb_sends(call, scope, Flow::default());
    }

    /// Takes in the attempts of `call` that drew on this scope, the first of all together with `start`.
    fn absorb_sends(&mut self, call: &Call<'_>, scope: Scope, start: Flow) {
        for position in 0..call.len() {
            if call.origin(position).scope() == scope {
                let with = if position == 0 { start } else { Flow::default() };
                self.absorb_attempt(call, position, with);
            }
        }
        self.waves.absorb(call, scope);
        self.load.absorb_attempts(call, scope);
        if call.attempts().any(is_rate_limit) {
            self.absorb_refusals(call, scope);
        }
    }

    fn absorb_refusals(&mut self, call: &Call<'_>, scope: Scope) {
        let (table, caller) = (call.table(), caller(call));
        // Until when the call itself was told to wait, and by which attempt last.
        let mut told: Option<(Time, usize)> = None;
        for position in 0..call.len() {
            let attempt = call.at(position);
            if call.origin(position).scope() != scope || !is_rate_limit(attempt) {
                continue;
            }
            let standing = match told {
                Some((until, _)) if attempt.sent < until => Standing::Hurried,
                Some((_, by)) if by + 1 == position => Standing::Obedient,
                _ => Standing::Fresh,
            };
            let row = call.rows()[position];
            self.gate.refuse(table, row, standing, caller);
            if let Some(until) = shut_until(call, position) {
                self.gate.close(table, attempt.ended(), until, row, caller);
                told = Some((told.map_or(until, |(before, _)| before.max(until)), position));
            }
        }
    }

    fn absorb_attempt(&mut self, call: &Call<'_>, position: usize, with: Flow) {
        let attempt = call.at(position);
        let flow = Flow {
            sends: 1,
            ok: u64::from(!attempt.failed()),
            rejected: u64::from(is_rate_limit(attempt)),
            overloaded: u64::from(is_overload(attempt)),
            last_ok: (!attempt.failed()).then_some(attempt.sent),
            first: Some(Spot::of(call.table(), call.rows()[position])),
            ..with
        };
        self.flow.add(attempt.sent, flow);
    }

    /// Takes in the counts of the same scope from other calls.
    pub fn merge(&mut self, table: &AttemptTable, other: ScopeTally) {
        self.flow.merge(other.flow);
        self.gate.merge(table, other.gate);
        self.starts.merge(table, other.starts);
        self.waves.merge(table, other.waves);
        self.starved.merge(other.starved);
        self.load.merge(other.load);
        self.spacing.merge(other.spacing);
        self.last_success = self.last_success.max(other.last_success);
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.flow.each_row(visit);
        self.gate.each_row(visit);
        self.starts.each_row(visit);
        self.waves.each_row(visit);
        self.starved.each_row(visit);
        Spot::each_row(&mut self.spacing.example, visit);
    }

    /// Whether a request sent between `from` and `until` succeeded.
    #[must_use]
    pub fn succeeded_between(&self, from: Time, until: Option<Time>) -> bool {
        let until = until.unwrap_or(Time(i64::MAX));
        if self.last_success.is_some_and(|last| last >= from && last < until) {
            return true;
        }
        let (width, flow) = self.flow.clone().sorted();
        flow.iter().any(|(at, flow)| flow.ok > 0 && *at >= from && at.plus_us(width) <= until)
    }

    /// The stretches in which a 429 had shut the gate, each with the calls that started in it unharmed.
    #[must_use]
    pub fn shut(&self, table: &AttemptTable, grace_us: i64, most_examples: usize) -> Vec<(Shut, u64)> {
        let unharmed = self.starts.unharmed(table);
        let shut = self.gate.shut(table, grace_us, most_examples).into_iter();
        shut.filter(|shut| shut.collisions() > 0)
            .map(|shut| {
                let passed = unharmed(shut.from, shut.until);
                (shut, passed)
            })
            .collect()
    }

    /// The train of calls started together that ran into most limits and overloads.
    #[must_use]
    pub fn worst_fanout(&self, table: &AttemptTable, terms: &FanoutTerms, most_examples: usize) -> Option<Fanout> {
        let (width, flow) = self.flow.clone().sorted();
        let active = (flow.first()?.0, flow.last()?.0.plus_us(width));
        self.starts.worst_fanout(table, active, terms, most_examples)
    }

    /// All sends, and those that a rate limit refused.
    #[must_use]
    pub fn sends(&self) -> (u64, u64) {
        let (_, flow) = self.flow.clone().sorted();
        flow.iter().fold((0, 0), |(sends, refused), (_, flow)| (sends + flow.sends, refused + flow.rejected))
    }

    /// Its sends and 429s over time, ready to be asked about.
    #[must_use]
    pub fn traffic(&self, table: &AttemptTable) -> Traffic {
        Traffic::of(table, &self.flow, &self.gate)
    }
}

fn met(attempt: &Attempt) -> Met {
    if is_rate_limit(attempt) {
        Met::RateLimit
    } else if is_overload(attempt) {
        Met::Overload
    } else {
        Met::Nothing
    }
}

/// What tells a call from the others on its scope.
fn caller(call: &Call<'_>) -> u64 {
    let first = call.first();
    FixedState::with_seed(0).hash_one((first.identity, first.sent, first.number))
}

/// Until when a 429 asks everyone on its scope to stay away.
fn shut_until(call: &Call<'_>, position: usize) -> Option<Time> {
    let attempt = call.at(position);
    let hint = call.hint_us(position).filter(|hint| *hint > 0)?;
    let telling = attempt.class == Some(Class::RateLimited);
    telling.then(|| attempt.ended().plus_us(hint - tolerated(hint)))
}
