//! Decides which call a line belongs to, and notes where concurrent calls make that a guess.
//!
//! Lines about responses and retries name no request. With one call at a time their order tells; with several, any call
//! that could have written the line may have.

use super::{Calls, SLACK_US};
use crate::ingest::formats::python_sdk::log_line::LogLine;
use crate::ingest::formats::python_sdk::options::Options;
use crate::ingest::formats::text::attempt::{Attempt, Call};

impl Calls {
    /// Notes that a line belongs to one of the calls whose last attempt `fits`: with several, which one is a guess.
    pub(super) fn note_rivals(&mut self, fits: impl Fn(&Attempt) -> bool) {
        let is_rival = |call: &Call| call.last().is_some_and(&fits);
        if self.calls.iter().filter(|call| is_rival(call)).count() > 1 {
            self.calls.iter_mut().filter(|call| is_rival(call)).for_each(|call| call.is_guessed = true);
        }
    }

    /// Notes that the latest call of a concurrent log is a guess if others are in progress: its lines may have been given
    /// to one of them.
    pub(super) fn note_company(&mut self) {
        if let Some((latest, others)) = self.calls.split_last_mut() {
            latest.is_guessed |= others.iter().any(Call::is_active);
        }
    }

    /// Returns whether the line at `line` was written while several calls were in progress. A client that makes one call
    /// at a time writes nothing while it waits for a response or for an announced retry.
    pub(super) fn are_concurrent(&mut self, line: &LogLine<'_>) -> bool {
        let later_us = line.moment.slack_us + SLACK_US;
        let last_attempts = || self.calls.iter().filter_map(Call::last);
        let in_flight = last_attempts().filter(|last| last.begun.is_some() && !last.is_over()).count();
        let waits = |last: &Attempt| last.due().is_some_and(|due| due.us_since(line.moment.at) > later_us);
        self.has_concurrent |= in_flight > 1 || last_attempts().any(waits);
        self.has_concurrent
    }

    /// Gives the call at `place`, which its key shows to be retried now, the response that announced this retry, if
    /// another call was given it: responses of concurrent calls arrive in any order.
    pub(super) fn trade(&mut self, place: usize, line: &LogLine<'_>) {
        let late_us = |call: &Call| Some(line.moment.at.us_since(call.last()?.due()?).abs());
        let own_us = late_us(&self.calls[place]);
        if own_us.is_some_and(|us| us <= line.moment.slack_us + SLACK_US) {
            return;
        }
        let others = (0..self.calls.len()).filter(|at| *at != place);
        let mut others: Vec<(i64, usize)> = others.filter_map(|at| Some((late_us(&self.calls[at])?, at))).collect();
        others.retain(|(us, at)| own_us.is_none_or(|own_us| *us < own_us) && self.may_take(place, *at));
        others.sort_unstable();
        let Some(ring) = others.iter().find_map(|(_, other)| self.ring(place, *other)) else { return };
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

    /// Returns the shortest ring of calls that begins with `place` and `other`, in which each call may have got the
    /// response given to the next, and the last that of the first. Between the two stand calls without an announced
    /// retry.
    fn ring(&self, place: usize, other: usize) -> Option<Vec<usize>> {
        let is_free = |at: &usize| self.calls[*at].last().is_some_and(|last| last.planned_ms.is_none());
        let mut left: Vec<usize> =
            (0..self.calls.len()).filter(|at| ![place, other].contains(at)).filter(is_free).collect();
        // Calls reached, each with the index here of the one that takes its response.
        let mut reached = vec![(other, 0)];
        let mut next = 0;
        while let Some((taker, _)) = reached.get(next).copied() {
            if self.may_take(taker, place) {
                let mut ring = vec![taker];
                while next > 0 {
                    next = reached[next].1;
                    ring.push(reached[next].0);
                }
                ring.push(place);
                ring.reverse();
                return Some(ring);
            }
            reached.extend(left.extract_if(.., |giver| self.may_take(taker, *giver)).map(|giver| (giver, next)));
            next += 1;
        }
        None
    }

    /// Returns whether the response to the last attempt of the call at `giver` may have been one to the last attempt of
    /// the call at `taker`, which it did not precede.
    fn may_take(&self, taker: usize, giver: usize) -> bool {
        let (Some(mine), Some(theirs)) = (self.calls[taker].last(), self.calls[giver].last()) else { return false };
        let Some(begun) = mine.begun.filter(|_| theirs.begun.is_some()) else { return false };
        theirs.ended.is_none_or(|end| end.at.plus_us(end.slack_us) >= begun.at)
    }

    /// Returns the call that the next request to `url` continues.
    pub(super) fn due(
        &mut self,
        options: &Options,
        count: Option<i64>,
        url: &str,
        line: &LogLine<'_>,
    ) -> Option<usize> {
        let is_keyed = |call: &Call| options.key.is_some() && call.key == options.key;
        if let Some(place) = self.calls.iter().position(is_keyed) {
            return Some(place);
        }
        let is_same = |attempt: &Attempt| {
            attempt.url.is_empty() || url.is_empty() || attempt.url.contains(url) || url.contains(&attempt.url)
        };
        let may_be = |call: &Call| {
            let is_counted = count.is_none_or(|count| count == call.counted_from + call.attempts.len() as i64);
            let is_keyless = options.key.is_none() || call.key.is_none();
            is_keyless && is_counted && call.last().is_some_and(is_same)
        };
        let latest_us = line.moment.slack_us + SLACK_US;
        let late_us = |call: &Call| Some(line.moment.at.us_since(call.last()?.due()?)).filter(|us| *us >= -latest_us);
        let are_concurrent = self.are_concurrent(line);
        let fitting = self.calls.iter().enumerate().filter(|(_, call)| may_be(call));
        let mut fitting: Vec<(i64, usize)> =
            fitting.filter_map(|(place, call)| Some((late_us(call)?.abs(), place))).collect();
        let &(late, nearest) = fitting.iter().min()?;
        if are_concurrent {
            // What came later than announced may as well be another request.
            let is_late = late > latest_us;
            fitting.retain(|(us, place)| *us <= latest_us || *place == nearest);
            if is_late || fitting.len() > 1 {
                fitting.iter().for_each(|(_, place)| self.calls[*place].is_guessed = true);
            }
        }
        Some(nearest)
    }
}
