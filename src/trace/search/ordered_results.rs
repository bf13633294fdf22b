//! Results of several threads, consumed in the order of their numbers.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How far a result may be ahead of the first missing one; bounds the number of results kept.
const AHEAD: usize = 64;

/// Passes results on in the order of their numbers, which start at 0 and have no gaps.
pub(super) struct OrderedResults<'t, T> {
    state: Mutex<State<'t, T>>,
    moved: Condvar,
}

struct State<'t, T> {
    take: &'t mut (dyn FnMut(usize, T) + Send),
    /// Number of the next result to pass on.
    next: usize,
    /// Results that wait for earlier ones.
    early: BTreeMap<usize, T>,
    /// Whether a worker has panicked.
    is_over: bool,
    /// Number of workers blocked in [`Worker::give`].
    waiting: usize,
}

/// Handle of a worker thread. If the worker panics, all waiting workers are woken.
pub(super) struct Worker<'w, 't, T>(&'w OrderedResults<'t, T>);

impl<T> Drop for Worker<'_, '_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().is_over = true;
            self.0.moved.notify_all();
        }
    }
}

impl<T> Worker<'_, '_, T> {
    /// Adds the result numbered `nth`; blocks while it is too far ahead of the first missing one. Returns whether to go
    /// on.
    pub(super) fn give(&self, nth: usize, result: T) -> bool {
        let results = self.0;
        let mut state = results.lock();
        state.early.insert(nth, result);
        if state.take_on() && state.waiting > 0 {
            results.moved.notify_all();
        }
        while !state.is_over && nth >= state.next + AHEAD {
            state.waiting += 1;
            state = results.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        !state.is_over
    }
}

impl<'t, T> OrderedResults<'t, T> {
    pub(super) fn new(take: &'t mut (dyn FnMut(usize, T) + Send)) -> OrderedResults<'t, T> {
        let state = State { take, next: 0, early: BTreeMap::new(), is_over: false, waiting: 0 };
        OrderedResults { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// Creates the handle of one more worker.
    pub(super) fn worker(&self) -> Worker<'_, 't, T> {
        Worker(self)
    }

    fn lock(&self) -> MutexGuard<'_, State<'t, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<'_, T> {
    /// Passes on all results that are next in order. Returns whether there were any.
    fn take_on(&mut self) -> bool {
        let before = self.next;
        while !self.is_over
            && let Some(result) = self.early.remove(&self.next)
        {
            self.next += 1;
            (self.take)(self.next - 1, result);
        }
        self.next > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_results_wait_for_those_before() {
        let mut taken = Vec::new();
        let mut take = |nth: usize, text: &str| taken.push((nth, text.to_owned()));
        let results: OrderedResults<'_, &str> = OrderedResults::new(&mut take);
        for (nth, text) in [(2, "c"), (0, "a"), (3, "d"), (1, "b")] {
            assert!(results.worker().give(nth, text));
        }
        drop(results);
        assert_eq!(taken, [(0, "a"), (1, "b"), (2, "c"), (3, "d")].map(|(nth, text)| (nth, text.to_owned())));
    }

    #[test]
    fn many_workers_far_ahead_of_a_slow_one_are_taken_in_order() {
        let mut taken = Vec::new();
        let mut take = |nth: usize, (): ()| taken.push(nth);
        let results: OrderedResults<'_, ()> = OrderedResults::new(&mut take);
        std::thread::scope(|scope| {
            for worker in 1..4 {
                let results = &results;
                scope.spawn(move || (worker..4 * AHEAD).step_by(4).all(|nth| results.worker().give(nth, ())));
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            assert!((0..4 * AHEAD).step_by(4).all(|nth| results.worker().give(nth, ())));
        });
        drop(results);
        assert!(taken.iter().copied().eq(0..4 * AHEAD));
    }

    #[test]
    fn nobody_waits_for_a_worker_that_is_gone() {
        let mut take = |_: usize, (): ()| {};
        let results: OrderedResults<'_, ()> = OrderedResults::new(&mut take);
        let gone = std::thread::scope(|scope| {
            let leave = || {
                let _worker = results.worker();
                std::panic::resume_unwind(Box::new(()));
            };
            scope.spawn(leave).join().is_err()
        });
        assert!(gone);
        assert!(!results.worker().give(2 * AHEAD, ()));
    }
}
