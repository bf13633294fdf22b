//! Decides which call a line belongs to, and marks calls for which that is a guess.
//!
//! Lines about responses and retries do not name their request. If there is one call at a time, a line belongs to that
//! call. With concurrent calls, it may belong to any call whose latest attempt it fits.

use super::{Calls, TOLERANCE_US};
use crate::ingest::formats::python_sdk::log_line::LogLine;
use crate::ingest::formats::python_sdk::options::Options;
use crate::ingest::formats::text::attempt::{Attempt, Call};

impl Calls {
    /// Marks the calls whose last attempt `fits` as guessed if there are several, since a line belongs to one of them.
    pub(super) fn mark_guessed(&mut self, fits: impl Fn(&Attempt) -> bool) {
        let is_candidate = |call: &Call| call.last().is_some_and(&fits);
        if self.calls.iter().filter(|call| is_candidate(call)).count() > 1 {
            self.calls.iter_mut().filter(|call| is_candidate(call)).for_each(|call| call.is_guessed = true);
        }
    }

    /// Marks the latest call of a concurrent log as guessed if others are in progress: its lines may have been assigned
    /// to one of them.
    pub(super) fn mark_latest_guessed(&mut self) {
        if let Some((latest, others)) = self.calls.split_last_mut() {
            latest.is_guessed |= others.iter().any(Call::is_active);
        }
    }

    /// Returns whether the log has concurrent calls, as far as it was read: `line` was written while several requests
    /// were in progress, or while a call waited before a retry. A client that makes one call at a time writes nothing
    /// then.
    pub(super) fn are_concurrent(&mut self, line: &LogLine<'_>) -> bool {
        let tolerance_us = line.time.slack_us + TOLERANCE_US;
        let last_attempts = || self.calls.iter().filter_map(Call::last);
        let in_flight = last_attempts().filter(|last| last.begun.is_some() && !last.is_over()).count();
        let waits = |last: &Attempt| last.due().is_some_and(|due| due.us_since(line.time.at) > tolerance_us);
        self.has_concurrent |= in_flight > 1 || last_attempts().any(waits);
        self.has_concurrent
    }

    /// Exchanges the responses of two calls if the retry of the call at `index`, which is certain by its key, fits the
    /// wait that was announced after the response of the other: concurrent responses may have been assigned to the
    /// wrong calls.
    pub(super) fn exchange_responses(&mut self, index: usize, line: &LogLine<'_>) {
        let difference_us = |call: &Call| Some(line.time.at.us_since(call.last()?.due()?).abs());
        let current_us = difference_us(&self.calls[index]);
        if current_us.is_some_and(|us| us <= line.time.slack_us + TOLERANCE_US) {
            return;
        }
        let others = (0..self.calls.len()).filter(|at| *at != index);
        let mut others: Vec<(i64, usize)> =
            others.filter_map(|at| Some((difference_us(&self.calls[at])?, at))).collect();
        others.retain(|(us, at)| current_us.is_none_or(|current_us| *us < current_us) && self.may_receive(index, *at));
        others.sort_unstable();
        let Some(ring) = others.iter().find_map(|(_, other)| self.ring(index, *other)) else { return };
        let taken: Option<Vec<Attempt>> = ring.iter().map(|at| self.calls[*at].attempts.pop()).collect();
        let Some(mut taken) = taken else { return };
        // Each takes the response of the next, and keeps the time its own request was sent.
        let begun: Vec<_> = taken.iter().map(|attempt| attempt.begun).collect();
        taken.rotate_left(1);
        for ((at, mut attempt), begun) in ring.into_iter().zip(taken).zip(begun) {
            attempt.begun = begun;
            self.calls[at].attempts.push(attempt);
            self.calls[at].is_guessed = true;
        }
    }

    /// Returns the shortest ring of calls that begins with `index` and `other`, in which each call may have got the
    /// response given to the next, and the last that of the first. Between the two stand calls without an announced
    /// retry.
    fn ring(&self, index: usize, other: usize) -> Option<Vec<usize>> {
        let is_free = |at: &usize| self.calls[*at].last().is_some_and(|last| last.planned_ms.is_none());
        let mut left: Vec<usize> =
            (0..self.calls.len()).filter(|at| ![index, other].contains(at)).filter(is_free).collect();
        // Calls reached, each with the index here of the one that takes its response.
        let mut reached = vec![(other, 0)];
        let mut next = 0;
        while let Some((taker, _)) = reached.get(next).copied() {
            if self.may_receive(taker, index) {
                let mut ring = vec![taker];
                while next > 0 {
                    next = reached[next].1;
                    ring.push(reached[next].0);
                }
                ring.push(index);
                ring.reverse();
                return Some(ring);
            }
            reached.extend(left.extract_if(.., |giver| self.may_receive(taker, *giver)).map(|giver| (giver, next)));
            next += 1;
        }
        None
    }

    /// Returns whether the response to the last attempt of the call at `giver` may have been one to the last attempt of
    /// the call at `taker`, which it did not precede.
    fn may_receive(&self, taker: usize, giver: usize) -> bool {
        let (Some(mine), Some(theirs)) = (self.calls[taker].last(), self.calls[giver].last()) else { return false };
        let Some(begun) = mine.begun.filter(|_| theirs.begun.is_some()) else { return false };
        theirs.ended.is_none_or(|end| end.at.plus_us(end.slack_us) >= begun.at)
    }

    /// Returns the call that the next request to `url` continues.
    pub(super) fn continued_call(
        &mut self,
        options: &Options,
        count: Option<i64>,
        url: &str,
        line: &LogLine<'_>,
    ) -> Option<usize> {
        let has_key = |call: &Call| options.key.is_some() && call.key == options.key;
        if let Some(index) = self.calls.iter().position(has_key) {
            return Some(index);
        }
        let has_url = |attempt: &Attempt| {
            attempt.url.is_empty() || url.is_empty() || attempt.url.contains(url) || url.contains(&attempt.url)
        };
        let is_candidate = |call: &Call| {
            let has_count = count.is_none_or(|count| count == call.counted_from + call.attempts.len() as i64);
            let lacks_key = options.key.is_none() || call.key.is_none();
            lacks_key && has_count && call.last().is_some_and(has_url)
        };
        let tolerance_us = line.time.slack_us + TOLERANCE_US;
        let late_us = |call: &Call| Some(line.time.at.us_since(call.last()?.due()?)).filter(|us| *us >= -tolerance_us);
        let are_concurrent = self.are_concurrent(line);
        let candidates = self.calls.iter().enumerate().filter(|(_, call)| is_candidate(call));
        let mut candidates: Vec<(i64, usize)> =
            candidates.filter_map(|(index, call)| Some((late_us(call)?.abs(), index))).collect();
        let &(late, nearest) = candidates.iter().min()?;
        if are_concurrent {
            // A request later than announced may as well belong to a new call.
            let is_late = late > tolerance_us;
            candidates.retain(|(us, index)| *us <= tolerance_us || *index == nearest);
            if is_late || candidates.len() > 1 {
                candidates.iter().for_each(|(_, index)| self.calls[*index].is_guessed = true);
            }
        }
        Some(nearest)
    }
}
