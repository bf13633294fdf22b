//! One attempt of a request: a packed row of 64 bytes.

use super::{CompactDuration, DetailId, OriginId, Symbol, Time};
use crate::classify::{Bucket, Class};

/// One attempt, packed into 64 bytes whatever the log recorded. Fields that few attempts need, mostly failures, are in
/// a [`Detail`](super::Detail).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// Time the request was sent.
    pub sent: Time,
    /// Fingerprint of the logical call or, without a call id, of the run or file within which calls are inferred (see
    /// [`Flags::NO_CALL_ID`]).
    pub key: [u64; 2],
    /// Run the attempt belongs to.
    pub run: Symbol,
    /// Provider, model, layer, client and rate-limit scope, interned together.
    pub origin: OriginId,
    /// Index of the input in [`AttemptTable::files`](super::AttemptTable::files).
    pub file: u32,
    /// Line number in that input, from 1.
    pub line: u32,
    /// Fingerprint of the request id or, without one, of the whole record.
    pub identity: u32,
    /// Time from the send to the end of the response or to the failure.
    pub duration: CompactDuration,
    /// Index of the attempt's [`Detail`](super::Detail) or ids, if it has any.
    pub detail: DetailId,
    /// Further facts, one bit each.
    pub flags: Flags,
    /// HTTP status; 0 if there was no response.
    pub status: u16,
    /// Attempt number within its layer, 1 = first; 0 if not logged.
    pub number: u16,
    /// The layer's own limit on attempts; 0 if it declares none.
    pub max_attempts: u16,
    /// Retry counter sent by the inner SDK, 0 = first attempt; [`Attempt::NO_COUNT`] if absent.
    pub sdk_retry: u8,
    /// Class of the failure; `None` for a success.
    pub class: Option<Class>,
}

/// First of the times assigned, in log order, to attempts of logs without times: 1990-01-01, years before any model
/// API, so that no real time is among them.
pub(crate) const UNTIMED_START: Time = Time(631_152_000_000_000);
const YEAR_US: i64 = 365 * 86_400_000_000;
/// First day of the times of logs that have a time of day but no date: 1991-01-01. Order and spacing are those of the
/// log.
pub(crate) const UNDATED_START: Time = UNTIMED_START.plus_us(YEAR_US);

/// Returns whether `time` was assigned because its log has none; such times express only the order of sends.
pub(crate) fn is_untimed(time: Time) -> bool {
    (UNTIMED_START..UNDATED_START).contains(&time)
}

/// Returns whether the date of `time` was assigned because its log has none.
pub(crate) fn is_undated(time: Time) -> bool {
    (UNTIMED_START..UNDATED_START.plus_us(YEAR_US)).contains(&time)
}

impl Attempt {
    /// Value of [`Attempt::sdk_retry`] if no inner SDK counter was logged.
    pub const NO_COUNT: u8 = u8::MAX;

    /// Returns whether the attempt failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.class.is_some()
    }

    /// Returns whether the attempt succeeded and has no [`Detail`](super::Detail), so that, if it is the only attempt of
    /// its call, its row describes the call completely.
    #[must_use]
    pub(crate) fn is_single_success(&self) -> bool {
        self.class.is_none() && !self.detail.is_detail()
    }

    /// Returns the bucket of the failure, with the server's own override applied; `None` for a success.
    #[must_use]
    pub fn bucket(&self) -> Option<Bucket> {
        self.class.map(|_| self.flags.bucket())
    }

    /// Returns whether the failure is terminal: the same request can only fail again.
    #[must_use]
    pub fn terminal(&self) -> bool {
        self.bucket() == Some(Bucket::Terminal)
    }

    /// Returns whether the attempt was refused by a rate limit of this caller, which recovers with time.
    #[must_use]
    pub fn rate_limited(&self) -> bool {
        matches!(self.class, Some(Class::RateLimited | Class::UnexplainedRateLimit))
    }

    /// Returns whether the service lacked capacity: an overload, or a 503 whatever its error type, unless that is a
    /// rate limit or names a fault of the request. This affects all callers, unlike a rate limit.
    #[must_use]
    pub fn lacked_capacity(&self) -> bool {
        let is_unavailable =
            |class: Class| self.status == 503 && !self.rate_limited() && class.default_bucket() != Bucket::Terminal;
        self.class.is_some_and(|class| class == Class::Overloaded || is_unavailable(class))
    }

    /// Returns whether the server refused the attempt temporarily, by a rate limit or for lack of capacity.
    #[must_use]
    pub fn refused(&self) -> bool {
        self.rate_limited() || self.lacked_capacity()
    }

    /// Returns the server's explicit advice on a further attempt (`x-should-retry`).
    #[must_use]
    pub fn should_retry(&self) -> Option<bool> {
        if self.flags.has(Flags::SERVER_SAYS_RETRY) {
            Some(true)
        } else if self.flags.has(Flags::SERVER_SAYS_NO) {
            Some(false)
        } else {
            None
        }
    }

    /// Returns the time the response or the failure was complete; the send time if the log has no duration.
    #[must_use]
    pub fn ended(&self) -> Time {
        self.sent.plus_us(self.duration.as_us().unwrap_or(0))
    }

    /// Returns whether the log has no times, so that `sent` expresses only the order of sends.
    #[must_use]
    pub fn is_untimed(&self) -> bool {
        is_untimed(self.sent)
    }

    /// Returns whether the log has no dates, so that the day of the send is unknown.
    #[must_use]
    pub fn is_undated(&self) -> bool {
        is_undated(self.sent)
    }

    /// Returns whether the record can be distinguished from others, by a request id or by a call and an attempt number
    /// in it. Only then is an identical record a repeated delivery of the same attempt.
    #[must_use]
    pub fn identified(&self) -> bool {
        let is_numbered = self.number > 0 || self.sdk_count().is_some();
        self.flags.has(Flags::REQUEST_ID) || (is_numbered && !self.flags.has(Flags::NO_CALL_ID))
    }

    /// Returns the inner SDK counter, if logged.
    #[must_use]
    pub fn sdk_count(&self) -> Option<u8> {
        (self.sdk_retry != Self::NO_COUNT).then_some(self.sdk_retry)
    }
}

/// Facts about one attempt that take a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    /// An error event followed a 200 response.
    pub const MID_STREAM: u32 = 1;
    /// The request asked for a stream.
    pub const STREAM: u32 = 1 << 1;
    /// The logger reported a success.
    pub const LOGGED_OK: u32 = 1 << 2;
    /// The logger reported a failure.
    pub const LOGGED_ERROR: u32 = 1 << 3;
    /// `x-should-retry: true`.
    pub const SERVER_SAYS_RETRY: u32 = 1 << 4;
    /// `x-should-retry: false`.
    pub const SERVER_SAYS_NO: u32 = 1 << 5;
    /// The attempt can change external state.
    pub const SIDE_EFFECT: u32 = 1 << 6;
    /// The client decided to send again.
    pub const DECIDED_RETRY: u32 = 1 << 7;
    /// The client decided to give up, which ends the call.
    pub const DECIDED_FAIL: u32 = 1 << 8;
    /// A request id was logged.
    pub const REQUEST_ID: u32 = 1 << 9;
    /// The platform's request id (`x-amzn-requestid`) was logged too.
    pub const AWS_ID: u32 = 1 << 10;
    /// The response had at least one usable rate-limit header.
    pub const HEADROOM: u32 = 1 << 11;
    /// The attempt is a tool execution, not a model call.
    pub const TOOL: u32 = 1 << 12;
    /// The request carried an idempotency key.
    pub const IDEMPOTENT: u32 = 1 << 13;
    /// A server hint was present but could not be parsed.
    pub const BAD_HINT: u32 = 1 << 14;
    /// The record has no call id; [`Attempt::key`] is that of its run or file.
    pub const NO_CALL_ID: u32 = 1 << 15;
    /// Class and bucket rest on weak evidence; see `classify::Verdict`.
    pub const LOW_CONFIDENCE: u32 = 1 << 16;
    /// The error was rewritten by a program that printed it with another language's syntax: `type` or `param` is the
    /// string "None", or the code is a number and the message is JSON.
    pub const FOREIGN_ENVELOPE: u32 = 1 << 17;
    /// The client decided on something other than sending again or giving up, such as a fallback or a compaction.
    pub const DECIDED_OTHER: u32 = 1 << 18;
    /// Part of the answer had already been handed to the caller.
    pub const DELIVERED: u32 = 1 << 19;
    /// The log states that the attempt changes no external state.
    pub const NO_SIDE_EFFECT: u32 = 1 << 20;
    /// The log states how often an SDK or gateway beneath the client sent the request.
    pub const COUNTS_BENEATH: u32 = 1 << 21;

    /// The cost of the attempt is known.
    pub const COST: u32 = 1 << 28;
    /// The cost was computed from declared prices.
    pub const PRICED: u32 = 1 << 29;

    /// The longest time between two chunks was logged.
    pub const CHUNK_GAP: u32 = 1 << 24;

    /// The record of a failure states how much had been delivered, even if nothing.
    pub const DELIVERED_LOGGED: u32 = 1 << 25;

    /// The response reported usage windows of a subscription, so a subscription paid for the attempt and not an API
    /// key.
    pub const SUBSCRIPTION: u32 = 1 << 26;
    /// The log counts attempts from 0; [`Attempt::number`] is one more.
    pub const FROM_ZERO: u32 = 1 << 27;
    /// Position of the two bits that hold the [`AnswerEnd`].
    const END_SHIFT: u32 = 22;
    /// Position of the two bits that hold the failure's bucket.
    const BUCKET_SHIFT: u32 = 30;

    /// Records how the answer ended.
    pub fn set_end(&mut self, end: AnswerEnd) {
        self.0 |= (end as u32) << Self::END_SHIFT;
    }

    /// Returns how the answer ended, according to the record.
    #[must_use]
    pub fn end(self) -> AnswerEnd {
        AnswerEnd::ALL[(self.0 >> Self::END_SHIFT) as usize % AnswerEnd::ALL.len()]
    }

    /// Records the bucket of a failure.
    pub fn set_bucket(&mut self, bucket: Bucket) {
        self.0 |= (bucket as u32) << Self::BUCKET_SHIFT;
    }

    /// Takes the bucket and the confidence of `other` in place of its own.
    pub(super) fn replace_verdict(&mut self, other: Flags) {
        const VERDICT_BITS: u32 = Flags::LOW_CONFIDENCE | 3 << Flags::BUCKET_SHIFT;
        self.0 = (self.0 & !VERDICT_BITS) | (other.0 & VERDICT_BITS);
    }

    fn bucket(self) -> Bucket {
        Bucket::ALL[(self.0 >> Self::BUCKET_SHIFT) as usize]
    }

    /// Returns whether all bits of `mask` are set.
    #[must_use]
    pub fn has(self, mask: u32) -> bool {
        self.0 & mask == mask
    }

    /// Sets the bits of `mask` if `on`; never clears any.
    pub fn set(&mut self, mask: u32, on: bool) {
        if on {
            self.0 |= mask;
        }
    }
}

/// How an answer ended, according to its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum AnswerEnd {
    /// The record does not say.
    #[default]
    NotLogged,
    /// The record has a field for the stop reason, which is empty.
    Empty,
    /// The answer is complete: there is a stop reason, or the stream's last event.
    Complete,
    /// The answer was cut off.
    Truncated,
}

impl AnswerEnd {
    /// Every value, in order of its discriminant.
    const ALL: [AnswerEnd; 4] = [Self::NotLogged, Self::Empty, Self::Complete, Self::Truncated];
}

/// Kinds of rate limit for which a server reports headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum LimitKind {
    /// Requests per interval.
    Requests,
    /// Input and output tokens together, per interval.
    Tokens,
    /// Input tokens per interval.
    InputTokens,
    /// Output tokens per interval.
    OutputTokens,
}

impl LimitKind {
    /// Every kind, in display order.
    pub const ALL: [LimitKind; 4] =
        [LimitKind::Requests, LimitKind::InputTokens, LimitKind::OutputTokens, LimitKind::Tokens];

    /// Returns the name used in text.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            LimitKind::Requests => "requests",
            LimitKind::Tokens => "tokens",
            LimitKind::InputTokens => "input tokens",
            LimitKind::OutputTokens => "output tokens",
        }
    }
}

/// Remaining amount of one rate limit, from the headers of one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Kind of limit.
    pub kind: LimitKind,
    /// Amount allowed per interval.
    pub limit: i64,
    /// Amount left in the interval; some providers send a negative value such as -1 for "unknown".
    pub remaining: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_64_bytes() {
        assert_eq!(std::mem::size_of::<Attempt>(), 64);
    }
}
