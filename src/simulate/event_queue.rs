//! Queue of the attempts to send: first attempts of arriving tasks, and next attempts of waiting tasks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Tasks by the step at which they send next.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    /// When each task arrives, the last one in front.
    arriving: Vec<(u64, u32)>,
    /// Step and task of each other attempt, packed into one number, because comparing one number is faster than a pair.
    waiting: BinaryHeap<Reverse<u128>>,
}

fn packed(step: u64, task: u32) -> u128 {
    u128::from(step) << u32::BITS | u128::from(task)
}

fn unpacked(packed: u128) -> (u64, u32) {
    ((packed >> u32::BITS) as u64, packed as u32)
}

impl EventQueue {
    /// Tasks numbered from 0 that arrive at these steps.
    pub(super) fn new(arrivals: impl Iterator<Item = u64>) -> EventQueue {
        let mut arriving: Vec<(u64, u32)> = arrivals.zip(0..u32::MAX).collect();
        arriving.sort_unstable();
        arriving.reverse();
        EventQueue { arriving, waiting: BinaryHeap::new() }
    }

    /// Returns the number of tasks that are still to arrive.
    pub(super) fn arriving(&self) -> u32 {
        self.arriving.len() as u32
    }

    /// Adds an attempt of `task` at `step`.
    pub(super) fn push(&mut self, step: u64, task: u32) {
        self.waiting.push(Reverse(packed(step, task)));
    }

    /// Takes all tasks of the next step, in order.
    pub(super) fn pop(&mut self, tasks: &mut Vec<u32>) -> Option<u64> {
        tasks.clear();
        let arrival = self.arriving.last().map(|(step, _)| *step);
        let next = arrival.into_iter().chain(self.first_waiting().map(|(step, _)| step)).min()?;
        while let Some((_, task)) = self.arriving.pop_if(|(step, _)| *step == next) {
            tasks.push(task);
        }
        while let Some((_, task)) = self.first_waiting().filter(|(step, _)| *step == next) {
            tasks.push(task);
            self.waiting.pop();
        }
        tasks.sort_unstable();
        Some(next)
    }

    fn first_waiting(&self) -> Option<(u64, u32)> {
        self.waiting.peek().map(|Reverse(first)| unpacked(*first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_one_step_come_together_and_in_order() {
        let mut event_queue = EventQueue::new([5, 1, 5, 7].into_iter());
        let (mut steps, mut tasks) = (Vec::new(), Vec::new());
        for (step, task) in [(5, 9), (5, 1), (6, 8), (5, 0)] {
            event_queue.push(step, task);
        }
        assert_eq!(event_queue.arriving(), 4);
        while let Some(step) = event_queue.pop(&mut tasks) {
            steps.push((step, tasks.clone()));
            if step == 6 && steps.len() == 3 {
                // A task that does not wait sends again in the same step, after the others.
                event_queue.push(6, 2);
            }
        }
        let expected = [(1, vec![1]), (5, vec![0, 0, 1, 2, 9]), (6, vec![8]), (6, vec![2]), (7, vec![3])];
        assert_eq!(steps, expected);
    }
}
