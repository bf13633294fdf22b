//! Whether a failed attempt may have taken effect, and whether the next one repeats it.

use crate::calls::{CLOCK_SLACK_US, Call, Grouping};
use crate::classify::Class;
use crate::model::Flags;

/// Parts of exception names which show that no connection was established, so nothing was sent.
const NEVER_CONNECTED: [&str; 12] = [
    "connecterror",
    "connecttimeout",
    "connectiontimeout",
    "connectionrefused",
    "econnrefused",
    "enotfound",
    "eai_again",
    "gaierror",
    "getaddrinfo",
    "pooltimeout",
    "nameresolution",
    "connectorerror",
];

/// Returns whether the attempt at `position` failed before anything can have been sent.
pub(super) fn was_never_sent(call: &Call<'_>, position: usize) -> bool {
    let Some(detail) = call.detail(position) else { return false };
    let names = &call.table().names;
    [detail.exception, detail.transport].into_iter().any(|symbol| {
        let text = names.text(symbol).to_ascii_lowercase();
        NEVER_CONNECTED.iter().any(|word| text.contains(word))
    })
}

/// Returns whether the attempt at `position` may have taken effect although no response arrived.
pub(super) fn may_have_taken_effect(call: &Call<'_>, position: usize) -> bool {
    let attempt = call.at(position);
    let has_no_answer = matches!(attempt.class, Some(Class::Timeout | Class::Connection))
        || attempt.flags.has(Flags::MID_STREAM)
        || matches!(attempt.status, 504 | 524);
    attempt.failed() && has_no_answer && !was_never_sent(call, position)
}

/// Returns whether the log shows that the attempt at `b` repeats the one at `a`: by number, counter, body or
/// idempotency key.
pub(super) fn is_logged_repeat(call: &Call<'_>, a: usize, b: usize) -> bool {
    let (before, next) = (call.at(a), call.at(b));
    let numbers = before.number > 0 && next.number > before.number;
    let counts = matches!((before.sdk_count(), next.sdk_count()), (Some(before), Some(next)) if next > before);
    numbers || counts || same_body(call, a, b) || same_key(call, a, b)
}

/// Like [`is_logged_repeat`], but also true if only a call id connects the two: neither has a number or counter, the
/// earlier one failed before the later one was sent, and the bodies are not known to differ.
pub(super) fn follows(call: &Call<'_>, a: usize, b: usize) -> bool {
    let is_unnumbered = |p: usize| call.at(p).number == 0 && call.at(p).sdk_count().is_none();
    let by_call_id = call.grouping == Grouping::Explicit && call.at(a).failed() && is_unnumbered(a) && is_unnumbered(b);
    is_logged_repeat(call, a, b) || (by_call_id && is_sequential(call, a, b) && !call.body_changed(a, b))
}

/// Returns whether both bodies are known and equal.
pub(super) fn same_body(call: &Call<'_>, a: usize, b: usize) -> bool {
    call.request_hash(a) != 0 && call.request_hash(a) == call.request_hash(b)
}

/// Returns whether both have the same idempotency key.
pub(super) fn same_key(call: &Call<'_>, a: usize, b: usize) -> bool {
    key(call, a) != 0 && key(call, a) == key(call, b)
}

/// Returns the fingerprint of the idempotency key at `position`, 0 if there is none.
pub(super) fn key(call: &Call<'_>, position: usize) -> u64 {
    call.detail(position).map_or(0, |detail| detail.idempotency)
}

/// Returns whether the later attempt was sent after the earlier one had ended, unlike a hedged request.
pub(super) fn is_sequential(call: &Call<'_>, earlier: usize, later: usize) -> bool {
    call.at(later).sent.us_since(call.at(earlier).ended()) >= -CLOCK_SLACK_US
}

/// Returns whether the call has a single attempt which is the first of its layer, as far as the log shows.
pub(super) fn sent_once(call: &Call<'_>) -> bool {
    let first = call.first();
    call.len() == 1 && first.number <= 1 && first.sdk_count().is_none_or(|count| count == 0)
}

/// Returns whether the attempts of the call are connected by similarity alone.
pub(super) fn is_inferred(call: &Call<'_>) -> bool {
    call.grouping == Grouping::Inferred
}
