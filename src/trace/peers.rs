//! Why was it slow: a call beside others of the same model that ended alike, among what was read around it.

use crate::calls::Call;
use crate::model::{Outcome, Time};
use serde::Serialize;

/// Peers from which on a median says something.
const LEAST: usize = 5;
/// Peers from which on there is a 95th percentile: with fewer it would be the slowest of them.
const LEAST_P95: usize = 20;

/// A call beside its peers: other calls of the same provider and model that ended in the same way and began between
/// the two times. Only what was read around the call is known, not the whole log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Peers {
    /// From.
    pub from: Time,
    /// Until.
    pub until: Time,
    /// How many there are.
    pub calls: u64,
    /// First attempt to last answer.
    pub elapsed: Option<PeerMeasure>,
    /// Attempts under way, summed.
    pub working: Option<PeerMeasure>,
    /// Between attempts.
    pub waiting: Option<PeerMeasure>,
    /// From sending it to its first token, of the last attempt.
    pub first_token: Option<PeerMeasure>,
}

/// One measure of a call, and of those peers that have it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PeerMeasure {
    /// Of the call, s.
    pub this_s: f64,
    /// Median of its peers, s.
    pub median_s: f64,
    /// 95th percentile of its peers, s; `None` of fewer than 20.
    pub p95_s: Option<f64>,
    /// Peers that took less.
    pub below: u64,
    /// Peers that have the measure.
    pub of: u64,
}

/// The peers of `call` among `calls`, as far as they began within `window`; `None` where they are too few to tell.
pub(super) fn peers(call: &Call<'_>, calls: &[Call<'_>], (from, until): (Time, Time)) -> Option<Peers> {
    if call.outcome == Outcome::Open {
        return None;
    }
    let (model, first) = (service(call), call.first());
    let is_peer = |other: &&Call<'_>| {
        other.outcome == call.outcome
            && service(other) == model
            && (from..=until).contains(&other.first().sent)
            && other.rows()[0] != call.rows()[0]
            // Its first attempts may lie before what was read.
            && other.first().number <= 1
    };
    let peers: Vec<&Call<'_>> = calls.iter().filter(is_peer).collect();
    let compared =
        |measure: fn(&Call<'_>) -> Option<i64>| compare(measure(call)?, peers.iter().filter_map(|it| measure(it)));
    let (elapsed, working) = (compared(elapsed_us), compared(working_us));
    let (waiting, first_token) = (compared(waiting_us), compared(first_token_us));
    let known = elapsed.or(first_token).is_some();
    let (from, until) = (from.min(first.sent), until.max(first.sent));
    known.then_some(Peers { from, until, calls: peers.len() as u64, elapsed, working, waiting, first_token })
}

fn service(call: &Call<'_>) -> (crate::model::Symbol, crate::model::Symbol) {
    let origin = call.origin(0);
    (origin.provider, origin.model)
}

fn compare(this: i64, peers: impl Iterator<Item = i64>) -> Option<PeerMeasure> {
    let mut peers: Vec<i64> = peers.collect();
    peers.sort_unstable();
    let s = |us: i64| us as f64 / 1e6;
    (peers.len() >= LEAST).then(|| PeerMeasure {
        this_s: s(this),
        median_s: s(quantile(&peers, 50)),
        p95_s: (peers.len() >= LEAST_P95).then(|| s(quantile(&peers, 95))),
        below: peers.partition_point(|us| *us < this) as u64,
        of: peers.len() as u64,
    })
}

/// The least value that so many percent of all do not exceed.
fn quantile(sorted: &[i64], percent: usize) -> i64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

/// Only where every attempt says how long it took.
fn working_us(call: &Call<'_>) -> Option<i64> {
    call.attempts().map(|attempt| attempt.duration.as_us()).sum()
}

fn elapsed_us(call: &Call<'_>) -> Option<i64> {
    working_us(call).map(|_| call.ended().us_since(call.first().sent).max(0))
}

fn waiting_us(call: &Call<'_>) -> Option<i64> {
    (!call.disordered).then(|| call.waited().us)
}

fn first_token_us(call: &Call<'_>) -> Option<i64> {
    let ms = call.usage(call.len() - 1).ttft_ms_plus_1.checked_sub(1)?;
    Some(i64::from(ms) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occur() {
        let ten: Vec<i64> = (1..=10).collect();
        assert_eq!((quantile(&ten, 50), quantile(&ten, 95), quantile(&[7], 95)), (5, 10, 7));
        let hundred: Vec<i64> = (1..=100).collect();
        assert_eq!((quantile(&hundred, 50), quantile(&hundred, 95)), (50, 95));
    }

    #[test]
    fn few_peers_are_none() {
        assert_eq!(compare(5, 0..4), None);
        let some = compare(5, 0..6);
        assert!(some.is_some_and(|some| some.p95_s.is_none() && (some.below, some.of) == (5, 6)));
        assert!(compare(5, 0..20).is_some_and(|many| many.p95_s.is_some()));
    }
}
