//! Rate limits: token buckets that drain with each request and refill at a constant rate.

use super::super::facts::Dialect;
use crate::model::Time;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Limits per minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) requests: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// Whether requests that exceed them are refused.
    pub(crate) is_enforced: bool,
}

impl Default for Limits {
    /// Large limits that are not enforced, so that only the scenario determines failures.
    fn default() -> Limits {
        Limits { requests: 1_000_000, input_tokens: 1_000_000_000, output_tokens: 100_000_000, is_enforced: false }
    }
}

/// The buckets of one organisation: requests, input tokens and output tokens.
pub(crate) struct Buckets {
    limits: Limits,
    state: Mutex<[Bucket; 3]>,
}

#[derive(Clone, Copy)]
struct Bucket {
    size: f64,
    level: f64,
    at: Instant,
}

/// State of the buckets after a request.
pub(crate) struct Left {
    /// Rate-limit headers.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Time to wait, if the request is refused.
    pub(crate) refused: Option<Duration>,
}

impl Bucket {
    fn fill(&mut self, now: Instant) {
        let gained = self.size / 60.0 * now.duration_since(self.at).as_secs_f64();
        self.level = (self.level + gained).min(self.size);
        self.at = now;
    }

    /// Time until the bucket contains `amount`.
    fn wait_for(&self, amount: f64) -> Duration {
        Duration::from_secs_f64((amount.min(self.size) - self.level).max(0.0) / (self.size / 60.0))
    }
}

impl Buckets {
    pub(crate) fn new(limits: Limits, now: Instant) -> Buckets {
        let full = |size: u64| Bucket { size: size.max(1) as f64, level: size.max(1) as f64, at: now };
        let state = [limits.requests, limits.input_tokens, limits.output_tokens].map(full);
        Buckets { limits, state: Mutex::new(state) }
    }

    /// Takes one request with `tokens`, input and output, out of the buckets, unless it is refused.
    pub(crate) fn take(&self, now: Instant, time: Time, tokens: [f64; 2], dialect: Dialect) -> Left {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = [1.0, tokens[0], tokens[1]];
        let mut wait = Duration::ZERO;
        for (bucket, wanted) in state.iter_mut().zip(wanted) {
            bucket.fill(now);
            wait = wait.max(bucket.wait_for(wanted));
        }
        let refused = (self.limits.is_enforced && !wait.is_zero()).then_some(wait);
        if refused.is_none() {
            state.iter_mut().zip(wanted).for_each(|(bucket, wanted)| bucket.level = (bucket.level - wanted).max(0.0));
        }
        Left { headers: headers(&state, time, dialect), refused }
    }
}

fn headers(state: &[Bucket; 3], time: Time, dialect: Dialect) -> Vec<(&'static str, String)> {
    match dialect {
        Dialect::Anthropic => {
            let names = [
                [
                    "anthropic-ratelimit-requests-limit",
                    "anthropic-ratelimit-requests-remaining",
                    "anthropic-ratelimit-requests-reset",
                ],
                [
                    "anthropic-ratelimit-input-tokens-limit",
                    "anthropic-ratelimit-input-tokens-remaining",
                    "anthropic-ratelimit-input-tokens-reset",
                ],
                [
                    "anthropic-ratelimit-output-tokens-limit",
                    "anthropic-ratelimit-output-tokens-remaining",
                    "anthropic-ratelimit-output-tokens-reset",
                ],
            ];
            names.iter().zip(state).flat_map(|(names, bucket)| anthropic(names, bucket, time)).collect()
        }
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            let [requests, input, _] = state;
            let of = |names: [&'static str; 3], bucket: &Bucket| {
                let full = bucket.wait_for(bucket.size);
                [
                    (names[0], (bucket.size as u64).to_string()),
                    (names[1], (bucket.level as u64).to_string()),
                    (names[2], go_duration(full)),
                ]
            };
            let names = |kind| match kind {
                0 => ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"],
                _ => ["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"],
            };
            [of(names(0), requests), of(names(1), input)].concat()
        }
        _ => Vec::new(),
    }
}

/// Headers of one bucket. Remaining tokens are rounded to thousands, as Anthropic does.
fn anthropic(names: &[&'static str; 3], bucket: &Bucket, time: Time) -> [(&'static str, String); 3] {
    let left = bucket.level as u64;
    let left = if names[0].contains("tokens") { (left + 500) / 1000 * 1000 } else { left };
    let full = i64::try_from(bucket.wait_for(bucket.size).as_secs_f64().ceil() as u64).unwrap_or(0);
    let reset = Time((time.0 / 1_000_000 + full) * 1_000_000);
    [(names[0], (bucket.size as u64).to_string()), (names[1], left.to_string()), (names[2], reset.to_string())]
}

/// Formats a duration as `6m0s`, `1.200s` or `17ms`.
fn go_duration(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{}ms", span.as_millis()),
        1..60 => format!("{:.3}s", span.as_secs_f64()),
        _ => format!("{}m{}s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_drains_refuses_and_fills_again() {
        let start = Instant::now();
        let limits = Limits { requests: 60, is_enforced: true, ..Limits::default() };
        let buckets = Buckets::new(limits, start);
        let take =
            |after_ms| buckets.take(start + Duration::from_millis(after_ms), Time(0), [10.0, 1.0], Dialect::Anthropic);
        for left in (0..60).rev() {
            let found = take(0);
            assert!(found.refused.is_none());
            assert_eq!(found.headers[1], ("anthropic-ratelimit-requests-remaining", left.to_string()));
        }
        assert_eq!(take(0).refused, Some(Duration::from_secs(1)));
        assert_eq!(take(500).refused, Some(Duration::from_millis(500)));
        assert!(take(1000).refused.is_none());
        assert!(take(1000).refused.is_some());
        assert_eq!(take(120_000).headers[1].1, "59");
    }

    #[test]
    fn resets_are_spelled_as_each_provider_does() {
        for (ms, text) in [(17, "17ms"), (1200, "1.200s"), (360_000, "6m0s")] {
            assert_eq!(go_duration(Duration::from_millis(ms)), text);
        }
    }
}
