//! Compares a call with others of the same model and outcome, to show whether it was slow.

use crate::calls::Call;
use crate::model::{Outcome, Time};
use serde::Serialize;

/// Minimum number of peers for a median.
const LEAST: usize = 5;
/// Minimum number of peers for a 95th percentile; of fewer, it would be the slowest peer.
const MIN_P95: usize = 20;

/// A call compared with its peers: other calls of the same provider and model, with the same outcome, that began
/// between `from` and `until`. Only what was read around the call is considered, not the whole log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Peers {
    /// Start of the window.
    pub from: Time,
    /// End of the window.
    pub until: Time,
    /// Number of peers.
    pub calls: u64,
    /// Time from the first attempt to the last answer.
    pub elapsed: Option<PeerMeasure>,
    /// Sum of the durations of the attempts.
    pub working: Option<PeerMeasure>,
    /// Sum of the waits between attempts.
    pub waiting: Option<PeerMeasure>,
    /// Time from sending the last attempt to its first token.
    pub first_token: Option<PeerMeasure>,
}

/// One measure of a call, compared with the peers for which it is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PeerMeasure {
    /// Value of the call, in seconds.
    pub this_s: f64,
    /// Median of its peers, in seconds.
    pub median_s: f64,
    /// 95th percentile of its peers, in seconds; `None` with fewer than 20 peers.
    pub p95_s: Option<f64>,
    /// Number of peers with a smaller value.
    pub below: u64,
    /// Number of peers for which the measure is known.
    pub of: u64,
}

/// Compares `call` with its peers among `calls` that began within the window. Returns `None` if there are too few to
/// compare with.
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
            // Its first attempts may have been sent before the part of the log that was read.
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
        p95_s: (peers.len() >= MIN_P95).then(|| s(quantile(&peers, 95))),
        below: peers.partition_point(|us| *us < this) as u64,
        of: peers.len() as u64,
    })
}

/// Nearest-rank percentile: the smallest value that at least `percent` percent of all values do not exceed.
fn quantile(sorted: &[i64], percent: usize) -> i64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

/// `None` unless the duration of every attempt is known.
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
