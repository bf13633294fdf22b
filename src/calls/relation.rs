//! Relations between two attempts of one call.

use super::callers::differ;
use super::{Call, Grouping};
use crate::classify::Class;
use crate::model::{Attempt, AttemptTable, Flags};
use std::ops::Range;

/// Returns whether the attempt at `position` was retried according to more evidence than a similar request some time
/// later.
pub(crate) fn shows_retry(call: &Call<'_>, position: usize) -> bool {
    let decided = call.at(position).flags.has(Flags::DECIDED_RETRY);
    let detail = call.detail(position);
    let hash = call.request_hash(position);
    let same_body = hash != 0 && call.request_hash(position + 1) == hash;
    // A counter may belong to a different call than the one it was assigned to, but it does show a retry.
    let next = call.at(position + 1);
    let counted = next.number > 1 || next.sdk_count().is_some_and(|count| count > 0);
    call.grouping != Grouping::Inferred
        || counted
        || decided
        || same_body
        || detail.is_some_and(|detail| detail.planned_us.is_some())
}

/// Returns whether two attempts have the same client, layer, model and account, regardless of host and endpoint.
pub(crate) fn same_sender(table: &AttemptTable, a: &Attempt, b: &Attempt) -> bool {
    a.origin == b.origin || table.origin(a).sender() == table.origin(b).sender()
}

/// Returns whether a repeat of the attempt is unsafe: it may have changed external state before it failed, and has no
/// idempotency key. An attempt refused by a rate limit or an overload before any response began has changed nothing.
pub(crate) fn is_unsafe_to_repeat(attempt: &Attempt) -> bool {
    let flags = attempt.flags;
    let refused = matches!(attempt.class, Some(Class::RateLimited | Class::UnexplainedRateLimit | Class::Overloaded));
    flags.has(Flags::SIDE_EFFECT)
        && !flags.has(Flags::IDEMPOTENT)
        && (!refused || flags.has(Flags::MID_STREAM) || attempt.status == 0)
}

/// Returns whether two attempts may have used the same provider and account: no name known of both differs.
pub(crate) fn same_account(call: &Call<'_>, a: usize, b: usize) -> bool {
    let (a, b) = (call.origin(a), call.origin(b));
    ![(a.provider, b.provider), (a.org, b.org), (a.api_key, b.api_key), (a.workspace, b.workspace)]
        .into_iter()
        .any(differ)
}

/// Returns whether two attempts may have counted against the same rate limit.
pub(crate) fn same_scope(call: &Call<'_>, a: usize, b: usize) -> bool {
    same_account(call, a, b) && !differ((call.origin(a).model, call.origin(b).model))
}

/// Iterates over the sequences of attempts that end with a success, a decision to give up, or the end of the call. A
/// call has several of them if consecutive requests share a call id.
pub(crate) fn retry_sequences<'c>(call: &'c Call<'_>) -> impl Iterator<Item = Range<usize>> + 'c {
    let mut start = 0;
    std::iter::from_fn(move || {
        let first = start;
        let last = (first..call.len()).find(|&p| {
            let attempt = call.at(p);
            !attempt.failed() || attempt.flags.has(Flags::DECIDED_FAIL) || p + 1 == call.len()
        })?;
        start = last + 1;
        Some(first..start)
    })
}
