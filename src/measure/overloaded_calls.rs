//! Calls that repeatedly failed for lack of capacity, on one model throughout.

use super::row_ref::RowRef;
use crate::calls::Call;
use crate::model::{Flags, Time};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Minimum number of capacity failures of a call that are counted; fewer are common.
const MIN_FAILURES: usize = 3;
/// Larger numbers of failures count as this many.
const MAX_FAILURES: usize = 32;
/// Maximum number of calls that are kept for each number of failures: the earliest.
const EARLIEST: usize = 4;

/// A call that repeatedly failed for lack of capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OverloadedCall {
    /// First attempt of the call.
    pub row_ref: RowRef,
    /// End of the call.
    pub ended: Time,
}

#[derive(Clone, Debug, Default)]
struct CallsByFailures {
    calls: u64,
    earliest: SmallVec<[OverloadedCall; EARLIEST]>,
}

/// Such calls of one scope, by their number of capacity failures.
#[derive(Clone, Debug, Default)]
pub struct OverloadedCalls(BTreeMap<u8, CallsByFailures>);

impl OverloadedCalls {
    /// Adds a call all of whose attempts drew on the scope.
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        let failures = call.attempts().filter(|attempt| attempt.lacked_capacity()).count();
        let fell_back = call.attempts().any(|attempt| attempt.flags.has(Flags::DECIDED_OTHER));
        if failures < MIN_FAILURES || fell_back {
            return;
        }
        let row_ref = RowRef::of(call.table(), call.rows()[0]);
        let calls_with = self.0.entry(failures.min(MAX_FAILURES) as u8).or_default();
        calls_with.calls += 1;
        calls_with.add_example(OverloadedCall { row_ref, ended: call.ended() });
    }

    pub(super) fn merge(&mut self, other: OverloadedCalls) {
        for (failures, theirs) in other.0 {
            let mine = self.0.entry(failures).or_default();
            mine.calls += theirs.calls;
            theirs.earliest.into_iter().for_each(|call| mine.add_example(call));
        }
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let all = self.0.values_mut().flat_map(|calls_with| calls_with.earliest.iter_mut());
        all.for_each(|call| visit(&mut call.row_ref.row));
    }

    /// Returns the number of calls with at least `failures` capacity failures, and the earliest of them in order.
    #[must_use]
    pub fn at_least(&self, failures: u64) -> (u64, Vec<OverloadedCall>) {
        let bars =
            || self.0.iter().filter(|(count, _)| u64::from(**count) >= failures).map(|(_, calls_with)| calls_with);
        let mut earliest: Vec<OverloadedCall> =
            bars().flat_map(|calls_with| calls_with.earliest.iter().copied()).collect();
        earliest.sort_unstable();
        earliest.truncate(EARLIEST);
        (bars().map(|calls_with| calls_with.calls).sum(), earliest)
    }
}

impl CallsByFailures {
    fn add_example(&mut self, call: OverloadedCall) {
        let index = self.earliest.partition_point(|known| *known < call);
        if index < EARLIEST {
            self.earliest.truncate(EARLIEST - 1);
            self.earliest.insert(index, call);
        }
    }
}
