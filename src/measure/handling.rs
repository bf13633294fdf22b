//! Whether the calls of a run retried after a recoverable failure or gave up.

use super::call_terms::CallTerms;
use super::row_ref::{RowRef, earlier};
use crate::calls::{Call, Grouping, is_unsafe_to_repeat};
use crate::classify::Class;
use crate::model::{Attempt, Flags, Outcome};
use std::collections::BTreeMap;

/// Calls whose first attempt failed with one class, by what they did next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handling {
    /// Calls that sent again.
    pub retried: u64,
    /// Calls that ended with their first attempt without a reason in the log.
    pub given_up: u64,
    /// Of `given_up`, calls whose failure occurred within a stream.
    pub given_up_mid_stream: u64,
    /// Calls for which only similarity shows whether they sent again.
    pub guessed: u64,
    /// First attempt of the earliest call that sent again.
    pub first_retried: Option<RowRef>,
    /// Earliest attempt that was given up.
    pub first_given_up: Option<RowRef>,
}

/// Counts by failure class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handlings(BTreeMap<Class, Handling>);

impl Handlings {
    /// Adds one call.
    pub(super) fn absorb(&mut self, call: &Call<'_>, terms: &CallTerms) {
        let first = call.first();
        let Some(class) = first.class.filter(|class| *class != Class::Timeout && !first.terminal()) else { return };
        let row_ref = Some(RowRef::of(call.table(), call.rows()[0]));
        if retried(call) {
            let handling = self.0.entry(class).or_default();
            handling.retried += 1;
            handling.first_retried = earlier(handling.first_retried, row_ref);
        } else if given_up(call, terms) {
            let handling = self.0.entry(class).or_default();
            handling.given_up += 1;
            handling.given_up_mid_stream += u64::from(first.flags.has(Flags::MID_STREAM));
            handling.first_given_up = earlier(handling.first_given_up, row_ref);
        } else if call.grouping == Grouping::Inferred && (call.len() > 1 || ended_at_once(call, terms)) {
            self.0.entry(class).or_default().guessed += 1;
        }
    }

    /// Adds the counts of other calls.
    pub(super) fn merge(&mut self, other: Handlings) {
        for (class, theirs) in other.0 {
            let mine = self.0.entry(class).or_default();
            mine.retried += theirs.retried;
            mine.given_up += theirs.given_up;
            mine.given_up_mid_stream += theirs.given_up_mid_stream;
            mine.guessed += theirs.guessed;
            mine.first_retried = earlier(mine.first_retried, theirs.first_retried);
            mine.first_given_up = earlier(mine.first_given_up, theirs.first_given_up);
        }
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        for handling in self.0.values_mut() {
            RowRef::each_row(&mut handling.first_retried, visit);
            RowRef::each_row(&mut handling.first_given_up, visit);
        }
    }

    /// Iterates over the failure classes in order.
    pub fn iter(&self) -> impl Iterator<Item = (Class, &Handling)> {
        self.0.iter().map(|(class, handling)| (*class, handling))
    }
}

/// Returns whether the call sent again, by more evidence than similarity.
fn retried(call: &Call<'_>) -> bool {
    call.len() > 1 && call.grouping != Grouping::Inferred && !call.disordered
}

/// Returns whether the call ended with its first attempt for no reason given in the log.
fn given_up(call: &Call<'_>, terms: &CallTerms) -> bool {
    let known = call.grouping != Grouping::Inferred || call.first().flags.has(Flags::DECIDED_FAIL);
    known && ended_at_once(call, terms)
}

/// Like `given_up`, without requiring that its attempts are known to be complete.
fn ended_at_once(call: &Call<'_>, terms: &CallTerms) -> bool {
    let first = call.first();
    let alone = call.len() == 1 && first.number <= 1 && first.sdk_count().is_none_or(|count| count == 0);
    let long = call.hint_us(0).is_some_and(|hint| hint > terms.resume_later_us);
    alone && !long && call.outcome == Outcome::Failed && first.max_attempts != 1 && !excused(first)
}

/// Returns whether there is a good reason to stop or to continue elsewhere.
fn excused(attempt: &Attempt) -> bool {
    let flags = attempt.flags;
    is_unsafe_to_repeat(attempt)
        || [Flags::TOOL, Flags::DELIVERED, Flags::DECIDED_RETRY, Flags::DECIDED_OTHER]
            .into_iter()
            .any(|flag| flags.has(flag))
}
