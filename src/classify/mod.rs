//! What kind of failure an attempt met, and what a client should have done about it.
//!
//! [`classify`] is a pure function of one attempt: no clock, no I/O, no state. The body is
//! believed before the status, since a stream's status is 200 whatever happens in it: exact
//! codes first, then the message where the codes leave room, then what the client saw of the
//! connection, then the status. Where even that is missing, the class is `unknown`.
//!
//! What providers say is data: codes in [`codes`], phrases in [`phrases`], waits in [`waits`], each row with its
//! source. Which evidence goes first is code: `decide`.

mod amounts;
mod class;
pub mod codes;
mod decide;
mod exception;
mod inside;
mod own;
pub mod phrases;
mod prose_status;
mod reopen;
pub mod row;
pub mod table;
pub mod waits;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_table;
#[cfg(test)]
mod tests_verdict;

pub use amounts::{Amounts, amounts};
pub use class::{Action, Bucket, Class, Decider};
pub(crate) use exception::breaks_off;
pub use exception::kind_of_exception;
pub use own::OwnRow;
pub use reopen::{reopens_at, stated_moment};
pub(crate) use waits::spelled_us;
pub use waits::{StatedWait, stated_wait};

use serde::Serialize;

/// One attempt, as far as it bears on the verdict. Everything is borrowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failure<'a> {
    /// HTTP status; absent or 0 where no response came.
    pub status: Option<u16>,
    /// `error.type` of the body.
    pub error_type: Option<&'a str>,
    /// `error.details.error_code`, or OpenAI's `error.code`.
    pub error_code: Option<&'a str>,
    /// `error.message`, or whatever text the logger kept.
    pub message: Option<&'a str>,
    /// The logger's word for a failure without HTTP shape.
    pub kind: Option<Kind>,
    /// Class name of an exception, or errno: `aiohttp.ServerDisconnectedError`, `ECONNRESET`.
    pub exception: Option<&'a str>,
    /// What the connection did: `server_rst_before_response`, `client_closed_before_response`
    /// (the client's own timeout), `stream_ended_early`.
    pub transport: Option<&'a str>,
    /// The error came as an event of a stream that had begun with a 200.
    pub mid_stream: bool,
    /// An answer that had begun with a 200 broke off before its end.
    pub truncated: bool,
    /// The logger called it a failure.
    pub logged_as_error: bool,
    /// The logger called it a success.
    pub logged_as_ok: bool,
    /// How long the server asked to wait, where it said so in a usable form.
    pub hint: AskedWait,
    /// Any rate-limit header came.
    pub has_rate_limit_headers: bool,
    /// `anthropic-ratelimit-unified-status: rejected`.
    pub window_rejected: bool,
    /// `x-should-retry`.
    pub should_retry: Option<bool>,
    /// The attempt can change something outside.
    pub side_effect: bool,
    /// Whom it was sent to.
    pub provider: Option<&'a str>,
    /// The user's own rows, which go before everything that is built in.
    pub own: &'a [OwnRow],
}

/// How long a server asked to wait.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum AskedWait {
    /// It did not say.
    #[default]
    None,
    /// At most five minutes: a rate that heals.
    Short,
    /// More: beside a limit of a day or a month, the time until that opens again.
    Long,
}

impl AskedWait {
    /// A wait of so many µs.
    pub const fn of(us: i64) -> Self {
        if us > LONG_US { Self::Long } else { Self::Short }
    }

    /// Whether there was a wait at all.
    pub const fn is_some(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// Longest wait after which a call still goes on, in µs: what rule RL308 takes for long by default.
const LONG_US: i64 = 300 * 1_000_000;

/// A failure with no HTTP shape.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Kind {
    /// No answer in time.
    Timeout,
    /// No connection, or a broken one.
    Connection,
    /// The answer did not fit the caller's schema.
    SchemaError,
    /// The model or a filter refused.
    PolicyRefusal,
    /// The caller gave up on purpose.
    Cancelled,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Timeout, Self::Connection, Self::SchemaError, Self::PolicyRefusal, Self::Cancelled];

    /// The name used in the attempt record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connection => "connection_error",
            Self::SchemaError => "schema_error",
            Self::PolicyRefusal => "policy_refusal",
            Self::Cancelled => "cancelled",
        }
    }

    /// The kind with this name, as the attempt record spells it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The class such a failure belongs to.
    pub const fn class(self) -> Class {
        match self {
            Self::Timeout => Class::Timeout,
            Self::Connection => Class::Connection,
            Self::SchemaError => Class::SchemaError,
            Self::PolicyRefusal => Class::ContentPolicy,
            Self::Cancelled => Class::Cancelled,
        }
    }
}

/// What [`classify`] makes of a failure.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Verdict {
    /// What it is.
    pub class: Class,
    /// How it heals.
    pub bucket: Bucket,
    /// What to do next.
    pub action: Action,
    /// What the verdict rests on.
    pub decided_by: Decider,
    /// The evidence is thin or contradicts itself.
    pub low_confidence: bool,
}

/// Judges one attempt; `None` if it succeeded.
pub fn classify(failure: &Failure<'_>) -> Option<Verdict> {
    let status = decide::effective_status(failure);
    if decide::succeeded(failure, status) {
        return None;
    }
    let found = decide::find(failure, status);
    let own_bucket = match (found.class, status) {
        // A 503 says "no capacity here" whoever answers; other gateway answers are chance.
        (Class::GatewayError, Some(503)) => Bucket::Capacity,
        // An edge that shut the caller out does so again.
        (Class::GatewayError, Some(403)) => Bucket::Terminal,
        (class, _) => class.default_bucket(),
    };
    let bucket = bucket_after_header(failure, found.class, own_bucket);
    Some(Verdict {
        class: found.class,
        bucket,
        action: action(failure, found.class, bucket),
        decided_by: if bucket == own_bucket { found.by } else { Decider::ShouldRetryHeader },
        low_confidence: found.low_confidence,
    })
}

/// `x-should-retry` outranks the class, except where money or a window is spent: a spent cap
/// has been seen with `true` (Yeachan-Heo/gajae-code#2444).
fn bucket_after_header(failure: &Failure<'_>, class: Class, own: Bucket) -> Bucket {
    match failure.should_retry {
        _ if class.is_money() || class.is_window() => own,
        Some(false) => Bucket::Terminal,
        Some(true) if own == Bucket::Terminal && failure.hint.is_some() => Bucket::RetryAfter,
        Some(true) if own == Bucket::Terminal => Bucket::Transient,
        _ => own,
    }
}

fn action(failure: &Failure<'_>, class: Class, bucket: Bucket) -> Action {
    action_for(class, bucket, failure.side_effect, failure.hint.is_some())
}

/// What to do with a failure of this class that heals like this.
pub fn action_for(class: Class, bucket: Bucket, side_effect: bool, has_hint: bool) -> Action {
    match bucket {
        Bucket::Terminal => match class {
            Class::SchemaError => Action::Repair,
            Class::ContentPolicy => Action::Refuse,
            Class::Unknown => Action::UnknownFailure,
            _ => Action::Stop,
        },
        // It may have taken effect although no answer came back.
        _ if side_effect && matches!(class, Class::Timeout | Class::Connection) => Action::Reconcile,
        Bucket::RetryAfter if has_hint && class != Class::UnexplainedRateLimit => Action::WaitThenRetry,
        Bucket::RetryAfter | Bucket::Capacity | Bucket::Transient => Action::BackoffThenRetry,
    }
}
