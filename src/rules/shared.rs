//! What several rules of one kind do alike.

use super::{Confidence, Hit, Severity};
use crate::attempt::{Attempt, Flags, Symbol};
use crate::calls::Call;
pub(super) use crate::calls::{same_account, same_scope, shows_retry, streaks};
use crate::classify::Class;
use crate::units;
pub(super) use crate::units::seconds;
pub(super) use crate::untrusted::cut;
use std::ops::Range;

/// A failure of a class that `wanted` accepts was followed by further sends of the same call to the same
/// account. The words get "twice" or "5 times", and the seconds waited.
pub(super) fn retried_class(
    call: &Call<'_>,
    wanted: impl Fn(Class) -> bool,
    words: impl Fn(&str, &str) -> String,
) -> Option<Hit> {
    retried(call, wanted, |p, q| same_account(call, p, q), words)
}

/// As [`retried_class`], where only sends that `repeats` accepts are the same request again: it gets the
/// position of the failure and that of a later send. A success of the call later is still a success: then
/// only the sends between the failure and it are counted as wasted.
pub(super) fn retried(
    call: &Call<'_>,
    wanted: impl Fn(Class) -> bool,
    repeats: impl Fn(usize, usize) -> bool,
    words: impl Fn(&str, &str) -> String,
) -> Option<Hit> {
    let position = call
        .retried()
        .find(|&p| call.at(p).class.is_some_and(&wanted) && refused_for_good(call, p) && repeats(p, p + 1))?;
    let stop = (position + 1..call.len()).find(|&q| !repeats(position, q)).unwrap_or(call.len());
    let again = stop - position - 1;
    let waited = waited_s(call, position + 1..stop);
    let attempt = call.at(position);
    let mut hit = Hit::new(words(&times(again), &seconds(waited)))
        .on_call(call)
        .about(attempt.class)
        .count("sends_after", again as u64)
        .number("waited_s", waited);
    if let Some(until) = call.detail(position).and_then(|detail| detail.reopens) {
        hit = hit.figure("reopens_at", crate::report::Evidence::At(until));
        hit.until = Some(until);
    }
    // The send that succeeded was not for nothing, nor was the wait before it.
    let success = (position + 1..stop).find(|&q| !call.at(q).failed());
    let end = success.unwrap_or(stop);
    hit.wasted.extend_from_slice(&call.rows()[position + 1..end]);
    hit.wait_s = waited_s(call, position + 1..end);
    if success.is_some() {
        doubt(&mut hit, attempt.class);
    }
    if attempt.flags.has(Flags::LOW_CONFIDENCE) {
        hit.confidence = Confidence::Low;
    }
    Some(hit)
}

/// What "can only fail again" is worth where a later send succeeded: the retry was luck, yet it worked.
fn doubt(hit: &mut Hit, class: Option<Class>) {
    hit.confidence = Confidence::Medium;
    if !class.is_some_and(|class| class.is_money() || class.is_window()) {
        hit.severity = Some(Severity::Warning);
    }
}

/// Whether a further send of what failed at `position` was bound to fail, as far as the log shows.
fn refused_for_good(call: &Call<'_>, position: usize) -> bool {
    let attempt = call.at(position);
    // The server's own word overrides what its error means, except for money and windows.
    let invited = attempt.should_retry() == Some(true) && !attempt.terminal();
    let reopened = call
        .detail(position)
        .and_then(|detail| detail.reopens)
        .is_some_and(|reopens| call.at(position + 1).sent >= reopens);
    !invited && !reopened && (shows_retry(call, position) || fails_alike(call, position, position + 1))
}

/// Whether two attempts failed with the same class and words.
fn fails_alike(call: &Call<'_>, a: usize, b: usize) -> bool {
    let words = |p| call.detail(p).map_or(Symbol::NONE, |detail| detail.message);
    call.at(a).class == call.at(b).class && words(a) == words(b)
}

fn waited_s(call: &Call<'_>, positions: Range<usize>) -> f64 {
    positions.filter_map(|p| call.wait_before(p)).map(|wait| wait.s()).sum()
}

/// How far two send times of the call may be off against each other: some logs keep whole seconds.
pub(super) fn clock_step_us(call: &Call<'_>) -> i64 {
    const SECOND_US: i64 = 1_000_000;
    if call.attempts().all(|attempt| attempt.sent.0 % SECOND_US == 0) { SECOND_US } else { 0 }
}

/// Whether the log says so little of a failure that nothing can be held against its retry.
pub(super) fn says_nothing(call: &Call<'_>, position: usize) -> bool {
    let told = call.detail(position).is_some_and(|detail| {
        [detail.error_type, detail.error_code, detail.message, detail.exception].into_iter().any(Symbol::is_some)
    });
    call.at(position).status == 0 && !told
}

/// Whether the attempt at `position` was meant for a server that speaks the Messages protocol, by the name
/// of its provider or else of its client.
pub(super) fn speaks_messages(call: &Call<'_>, position: usize) -> bool {
    // These platforms host the same models behind errors of their own.
    const PLATFORMS: [&str; 5] = ["bedrock", "aws", "vertex", "gcp", "google"];
    let (origin, names) = (call.origin(position), &call.table().names);
    let provider = names.text(origin.provider).to_ascii_lowercase();
    if provider.contains("anthropic") {
        return true;
    }
    let client = names.text(origin.client).to_ascii_lowercase();
    let on_platform = |name: &str| PLATFORMS.iter().any(|platform| name.contains(platform));
    client.contains("anthropic") && !on_platform(&provider) && !on_platform(&client)
}

/// Whether the failure says that there is no capacity: an overload, or a 503 of something in between.
pub(super) fn is_capacity(attempt: &Attempt) -> bool {
    attempt.class == Some(Class::Overloaded) || (attempt.class == Some(Class::GatewayError) && attempt.status == 503)
}

/// A failure in plain words, with its article.
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

/// "once", "twice", "5 times".
pub(super) fn times(n: usize) -> String {
    units::times(n as u64)
}
