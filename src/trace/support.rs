//! Details that a provider's support needs to find a request.

use super::{Trace, TracedAttempt, TracedCall};
use crate::model::{Time, is_undated, is_untimed};
use serde::Serialize;

/// Maximum number of requests listed: support examines one, a few more show that it is not a single incident.
const CASES: usize = 3;

/// One failed request, with the details that a provider's support asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SupportCase {
    /// Request id given by the provider.
    pub request_id: Option<String>,
    /// Request id given by the platform, in addition to the provider's.
    pub platform_id: Option<String>,
    /// When it was sent, in UTC.
    pub ts: Time,
    /// Precision of `ts`.
    pub clock: Clock,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// HTTP status; `None` if no answer was received.
    pub status: Option<u16>,
    /// Error type and code.
    pub error: Option<String>,
    /// Error message.
    pub message: Option<String>,
    /// Organisation, workspace and API key, as logged.
    pub account: Option<String>,
    /// Client and its version, as logged.
    pub client: Option<String>,
}

/// Precision of a logged time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Exact to a millisecond or better.
    Milliseconds,
    /// Exact to a second; further digits, if any, were computed.
    Seconds,
    /// The time of day is known, but not the date.
    NoDate,
    /// Only the order of the attempts is known.
    None,
}

impl Clock {
    fn of(call: &TracedCall, attempt: &TracedAttempt) -> Clock {
        let ts = attempt.attempt_ref.ts;
        if is_untimed(ts) {
            Clock::None
        } else if is_undated(ts) {
            Clock::NoDate
        } else if is_on_second(ts) && call.attempts.iter().all(|other| is_on_second(other.attempt_ref.ts)) {
            Clock::Seconds
        } else if attempt.answered.is_some_and(is_on_second) && !is_on_second(ts) {
            // The log records the answer's time in whole seconds, and a duration from which the start was computed.
            Clock::Seconds
        } else {
            Clock::Milliseconds
        }
    }
}

/// Whether a time is on a whole second, within the resolution of durations (100 µs).
fn is_on_second(time: Time) -> bool {
    let us = time.0.rem_euclid(1_000_000);
    us.min(1_000_000 - us) < 100
}

/// Selects the requests to report: the one asked for if it failed, then other failures of its calls.
pub(super) fn cases(trace: &Trace) -> Vec<SupportCase> {
    let attempts = trace.calls.iter().flat_map(|call| call.attempts.iter().map(move |attempt| (call, attempt)));
    let mut failed: Vec<(&TracedCall, &TracedAttempt)> =
        attempts.filter(|(_, attempt)| attempt.attempt_ref.class.is_some()).collect();
    // Only a request that reached the provider has an id there.
    let has_id = |attempt: &TracedAttempt| attempt.attempt_ref.request_id.is_some() || attempt.platform_id.is_some();
    failed.sort_by_key(|(_, attempt)| (!attempt.named, !has_id(attempt)));
    failed.into_iter().take(CASES).map(|(call, attempt)| case(call, attempt)).collect()
}

fn case(call: &TracedCall, attempt: &TracedAttempt) -> SupportCase {
    let error = [attempt.error_type.as_deref(), attempt.error_code.as_deref()];
    let error: Vec<&str> = error.into_iter().flatten().collect();
    SupportCase {
        request_id: attempt.attempt_ref.request_id.clone(),
        platform_id: attempt.platform_id.clone(),
        ts: attempt.attempt_ref.ts,
        clock: Clock::of(call, attempt),
        provider: call.provider.clone(),
        model: call.model.clone(),
        status: attempt.attempt_ref.status,
        error: (!error.is_empty()).then(|| error.join(" / ")),
        message: attempt.message.clone(),
        account: call.account.clone(),
        client: call.client.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_of_whole_seconds_is_told_by_the_time_itself() {
        let at = |us: i64| is_on_second(Time(1_779_271_200_000_000 + us));
        assert_eq!([0, 60, -60, 1_000_000].map(at), [true; 4]);
        assert_eq!([1_000, 250_000, 999_000].map(at), [false; 3]);
    }
}
