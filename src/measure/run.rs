//! Summary of one run.

use super::call_terms::CallTerms;
use super::handling::Handlings;
use super::immediate_retries::ImmediateRetries;
use super::late::Late;
use super::pace::Paces;
use super::row_ref::{RowRef, earlier};
use super::single_successes::Sums;
use super::spent::Spent;
use super::terminal_failures::TerminalFailures;
use crate::calls::{Call, Grouping, Wait};
use crate::model::{Bar, Outcome, Symbol, Time};
use foldhash::fast::RandomState;
use indexmap::IndexSet;
use std::collections::BTreeMap;

/// Number of models up to which they are compared one by one.
const MAX_LINEAR_SEARCH: usize = 8;

/// Counts of one run.
#[derive(Clone, Debug)]
pub struct RunTally {
    /// Calls that succeeded with their only attempt. They are the most frequent and are not in the maps below.
    single_attempt_successes: u64,
    /// Other calls by number of attempts and outcome.
    bars: BTreeMap<u32, Bar>,
    /// Of the calls in `bars`, those that succeeded, by the position of the successful attempt, from 1.
    success_by_attempt: BTreeMap<u32, u64>,
    /// Number of attempts.
    pub sends: u64,
    /// Attempts that followed a failed one of their call.
    pub retries: u64,
    /// Total wait between attempts of its calls.
    pub waited: Wait,
    /// Sends that could not have helped.
    pub wasted: u64,
    /// Consumption of its attempts.
    pub spent: Spent,
    /// Consumption of the attempts that could not have helped.
    pub wasted_spent: Spent,
    /// Time of the first send.
    pub first: Time,
    /// Time of the last answer.
    pub last: Time,
    /// Whether its log has no dates, so that those of `first` and `last` were assigned.
    pub is_undated: bool,
    /// Latest start of a call that succeeded.
    pub last_success: Option<Time>,
    /// Calls with more than one attempt.
    pub retried_calls: u64,
    /// Of `retried_calls`, those grouped by inference.
    pub guessed_calls: u64,
    /// First attempt of the earliest retried call.
    pub retried: Option<RowRef>,
    /// Models used, in no particular order.
    pub models: IndexSet<Symbol, RandomState>,
    /// Model used last, which is nearly always the next one too.
    last_model: Symbol,
    /// How its calls handled recoverable failures.
    pub handlings: Handlings,
    /// Its terminal failures.
    pub terminal_failures: TerminalFailures,
    /// Speed of its successes.
    pub paces: Paces,
    /// Calls that succeeded only after several attempts because of rate limits.
    pub late: Late,
    /// Its immediate retries.
    pub immediate_retries: ImmediateRetries,
    /// Findings by severity: info, warning, error.
    pub findings: [u64; 3],
}

impl Default for RunTally {
    fn default() -> Self {
        RunTally {
            single_attempt_successes: 0,
            bars: BTreeMap::new(),
            success_by_attempt: BTreeMap::new(),
            sends: 0,
            retries: 0,
            waited: Wait::NONE,
            wasted: 0,
            spent: Spent::default(),
            wasted_spent: Spent::default(),
            first: Time(i64::MAX),
            last: Time(i64::MIN),
            is_undated: false,
            last_success: None,
            retried_calls: 0,
            guessed_calls: 0,
            retried: None,
            models: IndexSet::default(),
            last_model: Symbol::NONE,
            handlings: Handlings::default(),
            terminal_failures: TerminalFailures::default(),
            paces: Paces::default(),
            late: Late::default(),
            immediate_retries: ImmediateRetries::default(),
            findings: [0; 3],
        }
    }
}

impl RunTally {
    /// Adds one call.
    pub fn absorb(&mut self, call: &Call<'_>, terms: &CallTerms) {
        self.count(call);
        if call.outcome == Outcome::Ok {
            self.last_success = self.last_success.max(Some(call.first().sent));
        }
        if call.len() > 1 {
            self.retried_calls += 1;
            self.guessed_calls += u64::from(call.grouping == Grouping::Inferred);
            self.retried = earlier(self.retried, Some(RowRef::of(call.table(), call.rows()[0])));
        }
        self.handlings.absorb(call, terms);
        self.paces.absorb(call);
        self.late.absorb(call, terms);
        self.immediate_retries.absorb(call, terms);
        self.sends += call.len() as u64;
        self.retries += call.retried().count() as u64;
        self.waited = self.waited.and(call.waited());
        self.first = self.first.min(call.first().sent);
        self.last = self.last.max(call.ended());
        self.is_undated |= call.first().is_undated();
        self.add_model(call.origin(0).model);
    }

    fn count(&mut self, call: &Call<'_>) {
        if call.len() == 1 && call.outcome == Outcome::Ok {
            self.single_attempt_successes += 1;
            return;
        }
        let bar = self.bars.entry(call.len() as u32).or_default();
        match call.outcome {
            Outcome::Ok => bar.ok += 1,
            Outcome::Failed => bar.failed += 1,
            Outcome::Open => bar.open += 1,
        }
        if call.outcome == Outcome::Ok {
            let position = call.attempts().position(|attempt| !attempt.failed()).unwrap_or(0) as u32 + 1;
            *self.success_by_attempt.entry(position).or_default() += 1;
        }
    }

    /// Adds calls of one successful attempt without detail, all of one model.
    pub(super) fn add_single_successes(&mut self, sums: &Sums, model: Symbol) {
        self.single_attempt_successes += sums.calls;
        self.sends += sums.calls;
        self.last_success = self.last_success.max(Some(sums.sent.1));
        self.first = self.first.min(sums.sent.0);
        self.last = self.last.max(sums.ended);
        self.is_undated |= sums.is_undated;
        self.spent.add(sums.spent);
        self.add_model(model);
    }

    fn add_model(&mut self, model: Symbol) {
        if model != self.last_model && model.is_some() {
            self.last_model = model;
            // There are few models: comparing them is cheaper than hashing one.
            if self.models.len() > MAX_LINEAR_SEARCH || !self.models.iter().any(|known| *known == model) {
                self.models.insert(model);
            }
        }
    }

    /// Adds the counts of the same run from other calls.
    pub fn merge(&mut self, other: RunTally) {
        self.single_attempt_successes += other.single_attempt_successes;
        for (attempts, theirs) in other.bars {
            let mine = self.bars.entry(attempts).or_default();
            mine.ok += theirs.ok;
            mine.failed += theirs.failed;
            mine.open += theirs.open;
        }
        for (attempt, calls) in other.success_by_attempt {
            *self.success_by_attempt.entry(attempt).or_default() += calls;
        }
        self.handlings.merge(other.handlings);
        self.terminal_failures.merge(other.terminal_failures);
        self.paces.merge(other.paces);
        self.late.merge(other.late);
        self.immediate_retries.merge(other.immediate_retries);
        self.guessed_calls += other.guessed_calls;
        self.sends += other.sends;
        self.retries += other.retries;
        self.waited = self.waited.and(other.waited);
        self.wasted += other.wasted;
        self.spent.add(other.spent);
        self.wasted_spent.add(other.wasted_spent);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.is_undated |= other.is_undated;
        self.last_success = self.last_success.max(other.last_success);
        self.retried_calls += other.retried_calls;
        self.retried = earlier(self.retried, other.retried);
        other.models.into_iter().for_each(|model| self.add_model(model));
        for (mine, theirs) in self.findings.iter_mut().zip(other.findings) {
            *mine += theirs;
        }
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        RowRef::each_row(&mut self.retried, visit);
        self.handlings.each_row(visit);
        self.terminal_failures.each_row(visit);
        self.paces.each_row(visit);
        RowRef::each_row(&mut self.late.first, visit);
        self.immediate_retries.each_row(visit);
    }

    /// Returns the calls by number of attempts and outcome.
    #[must_use]
    pub fn bars(&self) -> BTreeMap<u32, Bar> {
        let mut bars = self.bars.clone();
        if self.single_attempt_successes > 0 {
            bars.entry(1).or_default().ok += self.single_attempt_successes;
        }
        bars
    }

    /// Returns the successful calls by the position of the successful attempt, from 1.
    #[must_use]
    pub fn success_by_attempt(&self) -> BTreeMap<u32, u64> {
        let mut calls = self.success_by_attempt.clone();
        if self.single_attempt_successes > 0 {
            *calls.entry(1).or_default() += self.single_attempt_successes;
        }
        calls
    }

    /// Returns the number of calls with this outcome.
    #[must_use]
    pub fn ended(&self, outcome: Outcome) -> u64 {
        let others = self.bars.values().map(|bar| match outcome {
            Outcome::Ok => bar.ok,
            Outcome::Failed => bar.failed,
            Outcome::Open => bar.open,
        });
        others.sum::<u64>() + if outcome == Outcome::Ok { self.single_attempt_successes } else { 0 }
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.single_attempt_successes + self.bars.values().map(|bar| bar.calls()).sum::<u64>()
    }

    /// Returns the outcome of the run: failed if any call failed, otherwise open if any is open.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        if self.ended(Outcome::Failed) > 0 {
            Outcome::Failed
        } else if self.ended(Outcome::Open) > 0 {
            Outcome::Open
        } else {
            Outcome::Ok
        }
    }
}
