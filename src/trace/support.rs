//! What a provider's support needs to find a request.

use super::{Trace, TracedAttempt, TracedCall};
use crate::model::{Time, is_undated, is_untimed};
use serde::Serialize;

/// Requests named to support, at most: one is what they look at, a few show that it is no accident.
const CASES: usize = 3;

/// One failed request, as a provider's support needs it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SupportCase {
    /// The provider's id of it.
    pub request_id: Option<String>,
    /// The platform's id of it, beside the provider's.
    pub platform_id: Option<String>,
    /// When it was sent, UTC.
    pub ts: Time,
    /// How much of that the log tells.
    pub clock: Clock,
    /// Provider as logged.
    pub provider: Option<String>,
    /// Model as logged.
    pub model: Option<String>,
    /// HTTP status; `None` where no answer came.
    pub status: Option<u16>,
    /// Type and code of the error.
    pub error: Option<String>,
    /// The server's words.
    pub message: Option<String>,
    /// Organisation, workspace or key, as logged.
    pub account: Option<String>,
    /// The client and its version, as logged.
    pub client: Option<String>,
}

/// How much the log tells of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// It is exact to the millisecond or less.
    Milliseconds,
    /// To the second: further digits, where there are any, were worked out.
    Seconds,
    /// The day is not known.
    NoDate,
    /// Nothing but the order of attempts is known.
    None,
}

impl Clock {
    fn of(call: &TracedCall, attempt: &TracedAttempt) -> Clock {
        let ts = attempt.sighting.ts;
        if is_untimed(ts) {
            Clock::None
        } else if is_undated(ts) {
            Clock::NoDate
        } else if is_on_second(ts) && call.attempts.iter().all(|other| is_on_second(other.sighting.ts)) {
            Clock::Seconds
        } else if attempt.answered.is_some_and(is_on_second) && !is_on_second(ts) {
            // The log has the second of the answer, and how long it took.
            Clock::Seconds
        } else {
            Clock::Milliseconds
        }
    }
}

/// Whether a time is one of a clock of whole seconds; durations are kept in units of 100 µs.
fn is_on_second(time: Time) -> bool {
    let us = time.0.rem_euclid(1_000_000);
    us.min(1_000_000 - us) < 100
}

/// The requests to ask about: the one asked for if it failed, then other failures of its calls.
pub(super) fn cases(trace: &Trace) -> Vec<SupportCase> {
    let attempts = trace.calls.iter().flat_map(|call| call.attempts.iter().map(move |attempt| (call, attempt)));
    let mut failed: Vec<(&TracedCall, &TracedAttempt)> =
        attempts.filter(|(_, attempt)| attempt.sighting.class.is_some()).collect();
    // Only a request that reached the provider has an id there.
    let has_id = |attempt: &TracedAttempt| attempt.sighting.request_id.is_some() || attempt.platform_id.is_some();
    failed.sort_by_key(|(_, attempt)| (!attempt.named, !has_id(attempt)));
    failed.into_iter().take(CASES).map(|(call, attempt)| case(call, attempt)).collect()
}

fn case(call: &TracedCall, attempt: &TracedAttempt) -> SupportCase {
    let error = [attempt.error_type.as_deref(), attempt.error_code.as_deref()];
    let error: Vec<&str> = error.into_iter().flatten().collect();
    SupportCase {
        request_id: attempt.sighting.request_id.clone(),
        platform_id: attempt.platform_id.clone(),
        ts: attempt.sighting.ts,
        clock: Clock::of(call, attempt),
        provider: call.provider.clone(),
        model: call.model.clone(),
        status: attempt.sighting.status,
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
