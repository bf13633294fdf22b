//! One attempt of a request: a packed row of 64 bytes.

use super::{DetailId, OriginId, Span, Symbol, Time};
use crate::classify::{Bucket, Class};

/// One attempt, packed: 64 bytes, whatever the log said. What only failures carry is a [`Detail`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attempt {
    /// When it was sent.
    pub sent: Time,
    /// Fingerprint of the logical call, or of the stream to infer calls in (see [`Flags::NO_CALL_ID`]).
    pub key: [u64; 2],
    /// The run it belongs to.
    pub run: Symbol,
    /// Provider, model, layer, client and rate-limit scope, interned together.
    pub origin: OriginId,
    /// Index of the input in [`AttemptTable::files`].
    pub file: u32,
    /// Line number in that input, from 1.
    pub line: u32,
    /// Fingerprint of what identifies this attempt: its request id, else the whole record.
    pub identity: u32,
    /// Send to end of response or failure.
    pub duration: Span,
    /// Index of the rest, for the attempts that have any.
    pub detail: DetailId,
    /// What else is known of it, one bit each.
    pub flags: Flags,
    /// HTTP status; 0 where none came.
    pub status: u16,
    /// Number in its layer, 1 = first; 0 where the log does not say.
    pub number: u16,
    /// The layer's own cap on attempts; 0 where it declares none.
    pub max_attempts: u16,
    /// The inner counter the SDK sends, 0 = first; [`Attempt::NO_COUNT`] where absent.
    pub sdk_retry: u8,
    /// Why it failed; `None` for a success.
    pub class: Option<Class>,
}

/// Where logs have no times, their attempts are placed in order from here on: 1990-01-01, years before any model API.
pub(crate) const NO_TIME: Time = Time(631_152_000_000_000);
const YEAR_US: i64 = 365 * 86_400_000_000;
/// Where logs have a clock without a date, it counts from here on: 1991-01-01. Order and spacing hold.
pub(crate) const NO_DATE: Time = NO_TIME.plus_us(YEAR_US);

/// Whether a time is made up: its log has none, and it says in which order attempts were sent.
pub(crate) fn is_untimed(time: Time) -> bool {
    (NO_TIME..NO_DATE).contains(&time)
}

/// Whether the date of a time is made up: its log has none.
pub(crate) fn is_undated(time: Time) -> bool {
    (NO_TIME..NO_DATE.plus_us(YEAR_US)).contains(&time)
}

impl Attempt {
    /// No inner SDK counter was logged.
    pub const NO_COUNT: u8 = u8::MAX;

    /// Whether the attempt failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.class.is_some()
    }

    /// Whether it succeeded, and its row says all there is to say of it where it is alone.
    #[must_use]
    pub(crate) fn is_single_success(&self) -> bool {
        self.class.is_none() && !self.detail.is_detail()
    }

    /// How its failure heals, the server's own override heard; `None` for a success.
    #[must_use]
    pub fn bucket(&self) -> Option<Bucket> {
        self.class.map(|_| self.flags.bucket())
    }

    /// Whether the failure can only repeat itself.
    #[must_use]
    pub fn terminal(&self) -> bool {
        self.bucket() == Some(Bucket::Terminal)
    }

    /// Whether a rate limit refused it: this caller's own, and over in a while.
    #[must_use]
    pub fn rate_limited(&self) -> bool {
        matches!(self.class, Some(Class::RateLimited | Class::UnexplainedRateLimit))
    }

    /// Whether there was no capacity for it: an overload, or a 503 of something in between. That is everyone's, not
    /// this caller's.
    #[must_use]
    pub fn lacked_capacity(&self) -> bool {
        self.class == Some(Class::Overloaded) || (self.class == Some(Class::GatewayError) && self.status == 503)
    }

    /// Whether the server refused it for now: by a rate limit, or for lack of capacity.
    #[must_use]
    pub fn refused(&self) -> bool {
        self.rate_limited() || self.lacked_capacity()
    }

    /// The server's own word on a further attempt (`x-should-retry`).
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

    /// When the answer or the failure was complete; the send itself where the log has no duration.
    #[must_use]
    pub fn ended(&self) -> Time {
        self.sent.plus_us(self.duration.as_us().unwrap_or(0))
    }

    /// Whether its log has no times: what stands for one says in which order attempts were sent, and nothing else.
    #[must_use]
    pub fn is_untimed(&self) -> bool {
        is_untimed(self.sent)
    }

    /// Whether its log has no dates: nothing tells on which day it was sent.
    #[must_use]
    pub fn is_undated(&self) -> bool {
        is_undated(self.sent)
    }

    /// Whether the record says enough to be told from another: a request id, or a call and a place in it. A
    /// record that repeats word for word is a second delivery only then.
    #[must_use]
    pub fn identified(&self) -> bool {
        let placed = self.number > 0 || self.sdk_count().is_some();
        self.flags.has(Flags::REQUEST_ID) || (placed && !self.flags.has(Flags::NO_CALL_ID))
    }

    /// The inner SDK counter, where logged.
    #[must_use]
    pub fn sdk_count(&self) -> Option<u8> {
        (self.sdk_retry != Self::NO_COUNT).then_some(self.sdk_retry)
    }
}

/// Facts of one attempt that take a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    /// An error event followed a 200.
    pub const MID_STREAM: u32 = 1;
    /// The request asked for a stream.
    pub const STREAM: u32 = 1 << 1;
    /// The logger called it a success.
    pub const LOGGED_OK: u32 = 1 << 2;
    /// The logger called it a failure.
    pub const LOGGED_ERROR: u32 = 1 << 3;
    /// `x-should-retry: true`.
    pub const SERVER_SAYS_RETRY: u32 = 1 << 4;
    /// `x-should-retry: false`.
    pub const SERVER_SAYS_NO: u32 = 1 << 5;
    /// The attempt can change something outside.
    pub const SIDE_EFFECT: u32 = 1 << 6;
    /// The client chose to send again.
    pub const DECIDED_RETRY: u32 = 1 << 7;
    /// The client chose to give up, which closes the call.
    pub const DECIDED_FAIL: u32 = 1 << 8;
    /// A request id was logged.
    pub const REQUEST_ID: u32 = 1 << 9;
    /// The platform's id beside it was logged.
    pub const AWS_ID: u32 = 1 << 10;
    /// At least one usable rate-limit header.
    pub const HEADROOM: u32 = 1 << 11;
    /// A tool execution, not a model call.
    pub const TOOL: u32 = 1 << 12;
    /// The request carried an idempotency key.
    pub const IDEMPOTENT: u32 = 1 << 13;
    /// A server hint was there and could not be read.
    pub const BAD_HINT: u32 = 1 << 14;
    /// The record names no logical call; [`Attempt::key`] is its stream.
    pub const NO_CALL_ID: u32 = 1 << 15;
    /// Class and action rest on little; see `classify::Verdict`.
    pub const LOW_CONFIDENCE: u32 = 1 << 16;
    /// An OpenAI-shaped error envelope: `type` or `param` the string "None", or JSON inside the message.
    pub const FOREIGN_ENVELOPE: u32 = 1 << 17;
    /// The client chose something other than sending again or giving up: a fallback, a compaction.
    pub const DECIDED_OTHER: u32 = 1 << 18;
    /// Part of the answer had already been handed to the caller.
    pub const DELIVERED: u32 = 1 << 19;
    /// The log says that the attempt changes nothing outside.
    pub const NO_SIDE_EFFECT: u32 = 1 << 20;
    /// Whatever sends again beneath the client says how often it sent.
    pub const COUNTS_BENEATH: u32 = 1 << 21;

    /// What the attempt cost is known.
    pub const COST: u32 = 1 << 28;
    /// It was worked out by declared prices.
    pub const PRICED: u32 = 1 << 29;

    /// The longest time between two chunks was logged.
    pub const CHUNK_GAP: u32 = 1 << 24;

    /// The record of a failure says how much had been delivered, be it nothing.
    pub const DELIVERED_LOGGED: u32 = 1 << 25;

    /// The response told of a subscription's usage windows: the attempt was paid for by one, not by an API key.
    pub const SUBSCRIPTION: u32 = 1 << 26;
    /// The number of the attempt was counted from 0.
    pub const FROM_ZERO: u32 = 1 << 27;
    /// Where the two bits of how the answer ended stand.
    const END_SHIFT: u32 = 22;
    /// Where the two bits of the failure's bucket stand.
    const BUCKET_SHIFT: u32 = 30;

    /// Notes how the answer ended.
    pub fn set_end(&mut self, end: AnswerEnd) {
        self.0 |= (end as u32) << Self::END_SHIFT;
    }

    /// How the answer ended, as far as the record says.
    #[must_use]
    pub fn end(self) -> AnswerEnd {
        AnswerEnd::ALL[(self.0 >> Self::END_SHIFT) as usize % AnswerEnd::ALL.len()]
    }

    /// Notes how a failure heals.
    pub fn set_bucket(&mut self, bucket: Bucket) {
        self.0 |= (bucket as u32) << Self::BUCKET_SHIFT;
    }

    /// Takes over how a failure heals, and how sure that is.
    pub(super) fn take_verdict(&mut self, other: Flags) {
        const OF_VERDICT: u32 = Flags::LOW_CONFIDENCE | 3 << Flags::BUCKET_SHIFT;
        self.0 = (self.0 & !OF_VERDICT) | (other.0 & OF_VERDICT);
    }

    fn bucket(self) -> Bucket {
        Bucket::ALL[(self.0 >> Self::BUCKET_SHIFT) as usize]
    }

    /// Whether all bits of `mask` are set.
    #[must_use]
    pub fn has(self, mask: u32) -> bool {
        self.0 & mask == mask
    }

    /// Sets the bits of `mask` when `on`.
    pub fn set(&mut self, mask: u32, on: bool) {
        if on {
            self.0 |= mask;
        }
    }
}

/// What the record of an answer says about its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum AnswerEnd {
    /// Nothing.
    #[default]
    NotLogged,
    /// It has a field for the stop reason, which is empty.
    Empty,
    /// The answer is complete: a stop reason, or the stream's last event.
    Complete,
    /// The answer broke off.
    Truncated,
}

impl AnswerEnd {
    /// Every value, in the order of their numbers.
    const ALL: [AnswerEnd; 4] = [Self::NotLogged, Self::Empty, Self::Complete, Self::Truncated];
}

/// The kinds of rate limit a server reports headroom for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum LimitKind {
    /// Requests per interval.
    Requests,
    /// Tokens of either direction.
    Tokens,
    /// Input tokens per interval.
    InputTokens,
    /// Output tokens per interval.
    OutputTokens,
}

impl LimitKind {
    /// Every kind, in the order they are shown.
    pub const ALL: [LimitKind; 4] =
        [LimitKind::Requests, LimitKind::InputTokens, LimitKind::OutputTokens, LimitKind::Tokens];

    /// As people say it.
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

/// One reading of one limit, as a response's headers gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Which limit.
    pub kind: LimitKind,
    /// Allowed per interval.
    pub limit: i64,
    /// Left of it; a negative value is a sentinel, not a reading.
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
