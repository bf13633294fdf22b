//! Helpers that several rules share.

use crate::calls::Call;
pub(super) use crate::calls::{is_unsafe_to_repeat, retry_sequences, same_account, same_scope, shows_retry};
use crate::classify::Class;
pub(super) use crate::model::units::{seconds, seconds_range};
use crate::model::{Symbol, units};
pub(super) use crate::untrusted::cut;

/// Exception of rules that judge waits or spans of a call.
pub(super) const CLOCK: [&str; 1] = ["A call whose times contradict the order of its attempts is not judged."];

/// Exception of rules that need more than similarity to call an attempt a retry.
pub(super) const SHOWN: [&str; 1] = [
    "In a log without call ids a retry counts only where a number, a counter, an equal body, a planned wait or a decision \
     shows it.",
];

/// Returns by how much two send times of the call may be wrong relative to each other, in µs: some logs have whole
/// seconds only.
pub(super) fn clock_step_us(call: &Call<'_>) -> i64 {
    if call.whole_seconds { 1_000_000 } else { 0 }
}

/// Returns whether the log has neither a status nor an error for the attempt, so that its retry cannot be judged.
pub(super) fn has_no_error_fields(call: &Call<'_>, position: usize) -> bool {
    let has_error = call.detail(position).is_some_and(|detail| {
        [detail.error_type, detail.error_code, detail.message, detail.exception].into_iter().any(Symbol::is_some)
    });
    call.at(position).status == 0 && !has_error
}

/// Returns whether the attempt at `position` was sent to a server of the Messages API, according to the name of its
/// provider or else of its client.
pub(super) fn is_messages_api(call: &Call<'_>, position: usize) -> bool {
    // These providers have their own errors, whichever client calls them; some host the same models.
    const PLATFORMS: [&str; 8] = ["bedrock", "aws", "vertex", "gcp", "google", "gemini", "openai", "azure"];
    let (origin, names) = (call.origin(position), &call.table().names);
    let provider = names.text(origin.provider).to_ascii_lowercase();
    if provider.contains("anthropic") {
        return true;
    }
    let client = names.text(origin.client).to_ascii_lowercase();
    let on_platform = |name: &str| PLATFORMS.iter().any(|platform| name.contains(platform));
    client.contains("anthropic") && !on_platform(&provider) && !on_platform(&client)
}

/// Returns whether both attempts may be for the same model: no two models that are logged differ.
pub(super) fn same_model(call: &Call<'_>, a: usize, b: usize) -> bool {
    let (a, b) = (call.origin(a).model, call.origin(b).model);
    !(a.is_some() && b.is_some() && a != b)
}

/// Returns a failure class in plain words, with an article.
pub(super) fn class_words(class: Option<Class>) -> &'static str {
    match class {
        Some(Class::RateLimited) => "a rate limit",
        Some(Class::UnexplainedRateLimit) => "an unexplained 429",
        Some(Class::Overloaded) => "an overload",
        Some(Class::GatewayError) => "a gateway's error",
        Some(Class::ServerError) => "a server error",
        Some(Class::Timeout) => "a timeout",
        Some(Class::Connection) => "a lost connection",
        Some(Class::Conflict) => "a conflict",
        Some(Class::SpendCap | Class::SpendLimit) => "a spent budget",
        Some(Class::QuotaExhausted) => "a spent quota",
        Some(Class::UsageWindow) => "a spent usage window",
        Some(Class::Entitlement) => "a plan that does not cover the request",
        _ => "a failure",
    }
}

/// Converts a setting from seconds to µs. Thresholds are compared in whole microseconds, never in fractions of seconds.
pub(super) fn micros(s: f64) -> i64 {
    (s * 1e6).round() as i64
}

/// Converts a setting for the length of a period from seconds to µs, limited to one hour.
pub(super) fn period_us(s: f64) -> i64 {
    micros(s.clamp(0.0, 3600.0))
}

/// Multiplies a duration in µs by `factor`.
pub(super) fn scaled(us: i64, factor: f64) -> i64 {
    (us as f64 * factor).round() as i64
}

/// Returns words such as "once", "twice", "5 times".
pub(super) fn times(n: usize) -> String {
    units::times(n as u64)
}
