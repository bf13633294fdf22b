//! What is done side by side, taken in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How far one may be ahead of the first that is not done: bounds what waits for its turn.
const AHEAD: usize = 64;

/// Takes results by their number, from 0, none left out; the first failure in that order ends it.
pub(super) struct Turns<'t, T, E> {
    state: Mutex<State<'t, T, E>>,
    moved: Condvar,
}

struct State<'t, T, E> {
    take: &'t mut (dyn FnMut(usize, T) + Send),
    /// The first that is not taken.
    next: usize,
    /// Done before their turn.
    early: BTreeMap<usize, Result<T, E>>,
    failure: Option<E>,
    /// A failure was met, or a worker is gone.
    is_over: bool,
    /// Workers that wait.
    waiting: usize,
}

/// What a worker holds as long as it gives results: that it breaks off leaves nobody waiting for its turn.
pub(super) struct Worker<'w, 't, T, E>(&'w Turns<'t, T, E>);

impl<T, E> Drop for Worker<'_, '_, T, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().is_over = true;
            self.0.moved.notify_all();
        }
    }
}

impl<T, E> Worker<'_, '_, T, E> {
    /// Takes the result numbered `nth` when its turn has come; waits where that is far off. Whether to go on.
    pub(super) fn give(&self, nth: usize, result: Result<T, E>) -> bool {
        let turns = self.0;
        let mut state = turns.lock();
        state.early.insert(nth, result);
        if state.take_on() && state.waiting > 0 {
            turns.moved.notify_all();
        }
        while !state.is_over && nth >= state.next + AHEAD {
            state.waiting += 1;
            state = turns.moved.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        !state.is_over
    }
}

impl<'t, T, E> Turns<'t, T, E> {
    pub(super) fn new(take: &'t mut (dyn FnMut(usize, T) + Send)) -> Turns<'t, T, E> {
        let state = State { take, next: 0, early: BTreeMap::new(), failure: None, is_over: false, waiting: 0 };
        Turns { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// One more that gives results.
    pub(super) fn worker(&self) -> Worker<'_, 't, T, E> {
        Worker(self)
    }

    /// The failure, if any.
    pub(super) fn finish(self) -> Result<(), E> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        state.failure.map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, State<'t, T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T, E> State<'_, T, E> {
    /// Takes all whose turn it is; whether there were any.
    fn take_on(&mut self) -> bool {
        let before = self.next;
        while !self.is_over
            && let Some(result) = self.early.remove(&self.next)
        {
            self.next += 1;
            match result {
                Ok(done) => (self.take)(self.next - 1, done),
                Err(error) => (self.failure, self.is_over) = (Some(error), true),
            }
        }
        self.next > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_early_waits_for_its_turn() {
        let mut taken = Vec::new();
        let mut take = |nth: usize, text: &str| taken.push((nth, text.to_owned()));
        let turns: Turns<'_, &str, ()> = Turns::new(&mut take);
        for (nth, text) in [(2, "c"), (0, "a"), (3, "d"), (1, "b")] {
            assert!(turns.worker().give(nth, Ok(text)));
        }
        assert_eq!(turns.finish(), Ok(()));
        assert_eq!(taken, [(0, "a"), (1, "b"), (2, "c"), (3, "d")].map(|(nth, text)| (nth, text.to_owned())));
    }

    #[test]
    fn the_first_failure_in_order_ends_it() {
        let mut taken = 0;
        let mut take = |_: usize, (): ()| taken += 1;
        let turns: Turns<'_, (), &str> = Turns::new(&mut take);
        assert!(turns.worker().give(2, Err("later")));
        assert!(turns.worker().give(0, Ok(())));
        assert!(!turns.worker().give(1, Err("first")));
        assert_eq!(turns.finish(), Err("first"));
        assert_eq!(taken, 1);
    }

    #[test]
    fn many_workers_far_ahead_of_a_slow_one_are_taken_in_order() {
        let mut taken = Vec::new();
        let mut take = |nth: usize, (): ()| taken.push(nth);
        let turns: Turns<'_, (), ()> = Turns::new(&mut take);
        std::thread::scope(|scope| {
            for worker in 1..4 {
                let turns = &turns;
                scope.spawn(move || (worker..4 * AHEAD).step_by(4).all(|nth| turns.worker().give(nth, Ok(()))));
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            assert!((0..4 * AHEAD).step_by(4).all(|nth| turns.worker().give(nth, Ok(()))));
        });
        assert_eq!(turns.finish(), Ok(()));
        assert!(taken.iter().copied().eq(0..4 * AHEAD));
    }

    #[test]
    fn nobody_waits_for_a_worker_that_is_gone() {
        let mut take = |_: usize, (): ()| {};
        let turns: Turns<'_, (), ()> = Turns::new(&mut take);
        let gone = std::thread::scope(|scope| {
            let leave = || {
                let _worker = turns.worker();
                std::panic::resume_unwind(Box::new(()));
            };
            scope.spawn(leave).join().is_err()
        });
        assert!(gone);
        assert!(!turns.worker().give(2 * AHEAD, Ok(())));
    }
}
