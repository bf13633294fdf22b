//! What a provider's support needs to find a request.

use super::{Trace, TracedAttempt, TracedCall};
use crate::model::Time;
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
        provider: call.provider.clone(),
        model: call.model.clone(),
        status: attempt.sighting.status,
        error: (!error.is_empty()).then(|| error.join(" / ")),
        message: attempt.message.clone(),
        account: call.account.clone(),
        client: call.client.clone(),
    }
}
