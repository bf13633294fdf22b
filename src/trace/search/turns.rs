//! What is done side by side, taken in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How far one may be ahead of the first that is not done: bounds what waits for its turn.
const AHEAD: usize = 64;

/// Takes results by their number, from 0, none left out.
pub(super) struct Turns<'t, T> {
    state: Mutex<State<'t, T>>,
    moved: Condvar,
}

struct State<'t, T> {
    take: &'t mut (dyn FnMut(usize, T) + Send),
    /// The first that is not taken.
    next: usize,
    /// Done before their turn.
    early: BTreeMap<usize, T>,
    /// A worker is gone.
    is_over: bool,
    /// Workers that wait.
    waiting: usize,
}

/// What a worker holds as long as it gives results: that it breaks off leaves nobody waiting for its turn.
pub(super) struct Worker<'w, 't, T>(&'w Turns<'t, T>);

impl<T> Drop for Worker<'_, '_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().is_over = true;
            self.0.moved.notify_all();
        }
    }
}

impl<T> Worker<'_, '_, T> {
    /// Takes the result numbered `nth` when its turn has come; waits where that is far off. Whether to go on.
    pub(super) fn give(&self, nth: usize, result: T) -> bool {
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

impl<'t, T> Turns<'t, T> {
    pub(super) fn new(take: &'t mut (dyn FnMut(usize, T) + Send)) -> Turns<'t, T> {
        let state = State { take, next: 0, early: BTreeMap::new(), is_over: false, waiting: 0 };
        Turns { state: Mutex::new(state), moved: Condvar::new() }
    }

    /// One more that gives results.
    pub(super) fn worker(&self) -> Worker<'_, 't, T> {
        Worker(self)
    }

    fn lock(&self) -> MutexGuard<'_, State<'t, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<'_, T> {
    /// Takes all whose turn it is; whether there were any.
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
    fn what_comes_early_waits_for_its_turn() {
        let mut taken = Vec::new();
        let mut take = |nth: usize, text: &str| taken.push((nth, text.to_owned()));
        let turns: Turns<'_, &str> = Turns::new(&mut take);
        for (nth, text) in [(2, "c"), (0, "a"), (3, "d"), (1, "b")] {
            assert!(turns.worker().give(nth, text));
        }
        drop(turns);
        assert_eq!(taken, [(0, "a"), (1, "b"), (2, "c"), (3, "d")].map(|(nth, text)| (nth, text.to_owned())));
    }

    #[test]
    fn many_workers_far_ahead_of_a_slow_one_are_taken_in_order() {
        let mut taken = Vec::new();
        let mut take = |nth: usize, (): ()| taken.push(nth);
        let turns: Turns<'_, ()> = Turns::new(&mut take);
        std::thread::scope(|scope| {
            for worker in 1..4 {
                let turns = &turns;
                scope.spawn(move || (worker..4 * AHEAD).step_by(4).all(|nth| turns.worker().give(nth, ())));
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
            assert!((0..4 * AHEAD).step_by(4).all(|nth| turns.worker().give(nth, ())));
        });
        drop(turns);
        assert!(taken.iter().copied().eq(0..4 * AHEAD));
    }

    #[test]
    fn nobody_waits_for_a_worker_that_is_gone() {
        let mut take = |_: usize, (): ()| {};
        let turns: Turns<'_, ()> = Turns::new(&mut take);
        let gone = std::thread::scope(|scope| {
            let leave = || {
                let _worker = turns.worker();
                std::panic::resume_unwind(Box::new(()));
            };
            scope.spawn(leave).join().is_err()
        });
        assert!(gone);
        assert!(!turns.worker().give(2 * AHEAD, ()));
    }
}
