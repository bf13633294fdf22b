//! Classifies failures, and determines what a client should do about them.
//!
//! [`classify`] is a pure function of one attempt: no clock, no I/O, no state. The body takes precedence over the
//! status, since the status of a stream is 200 whatever happens in it: first exact codes, then the message where codes
//! are ambiguous, then what the client observed of the connection, then the status. Without any evidence, the class is
//! `unknown`.
//!
//! Knowledge about providers is data, each row with its source: codes in [`codes`], phrases in [`phrases`], waits in
//! [`waits`]. The precedence of evidence is code, in `decide`.

mod amounts;
mod class;
pub mod codes;
mod custom_row;
mod decide;
mod exception;
mod inside;
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
pub use custom_row::CustomRow;
pub(crate) use exception::cuts_off_response;
pub use exception::kind_of_exception;
pub use reopen::{reopens_at, stated_moment};
pub(crate) use waits::spelled_us;
pub use waits::{StatedWait, stated_wait};

use serde::Serialize;

/// What is known of one attempt, as far as it affects the verdict.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failure<'a> {
    /// HTTP status; `None` or 0 if no response was received.
    pub status: Option<u16>,
    /// `error.type` of the body.
    pub error_type: Option<&'a str>,
    /// `error.details.error_code`, or OpenAI's `error.code`.
    pub error_code: Option<&'a str>,
    /// `error.message`, or other text about the failure in the log.
    pub message: Option<&'a str>,
    /// The kind of failure according to the logger, if there was no HTTP response.
    pub kind: Option<Kind>,
    /// Class name of an exception, or errno: `aiohttp.ServerDisconnectedError`, `ECONNRESET`.
    pub exception: Option<&'a str>,
    /// Connection event, such as `server_rst_before_response`, `client_closed_before_response` (the client's own
    /// timeout) or `stream_ended_early`.
    pub transport: Option<&'a str>,
    /// Whether the error was an event in a stream that began with a 200.
    pub mid_stream: bool,
    /// Whether an answer that began with a 200 was cut off.
    pub truncated: bool,
    /// Whether the logger reported a failure.
    pub logged_as_error: bool,
    /// Whether the logger reported success.
    pub logged_as_ok: bool,
    /// How long the server asked to wait, if the record states it in a readable form.
    pub hint: AskedWait,
    /// Whether there were rate-limit headers.
    pub has_rate_limit_headers: bool,
    /// Whether `anthropic-ratelimit-unified-status` is `rejected`.
    pub window_rejected: bool,
    /// Value of `x-should-retry`.
    pub should_retry: Option<bool>,
    /// Whether the attempt may have side effects.
    pub side_effect: bool,
    /// Provider, as logged.
    pub provider: Option<&'a str>,
    /// Rows of the user's configuration, which take precedence over the built-in ones.
    pub custom_rows: &'a [CustomRow],
}

/// How long a server asked to wait.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum AskedWait {
    /// The server did not say.
    #[default]
    None,
    /// At most five minutes, as for a rate limit.
    Short,
    /// More than five minutes; for a daily or monthly limit, the time until it resets.
    Long,
}

impl AskedWait {
    /// Classifies a wait in µs.
    pub const fn of(us: i64) -> Self {
        if us > LONG_US { Self::Long } else { Self::Short }
    }

    /// Whether the server asked for a wait.
    pub const fn is_some(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// Longest wait that counts as short, in µs: the default threshold of rule RL308 for long waits.
const LONG_US: i64 = 300 * 1_000_000;

/// A failure without an HTTP response.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Kind {
    /// No answer in time.
    Timeout,
    /// No connection, or a broken one.
    Connection,
    /// The answer does not match the caller's schema.
    SchemaError,
    /// The model or a filter refused.
    PolicyRefusal,
    /// The caller cancelled the request.
    Cancelled,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Timeout, Self::Connection, Self::SchemaError, Self::PolicyRefusal, Self::Cancelled];

    /// Name in the attempt record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connection => "connection_error",
            Self::SchemaError => "schema_error",
            Self::PolicyRefusal => "policy_refusal",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the kind with this name, as used in the attempt record.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The class of such a failure.
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

/// Result of [`classify`].
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Verdict {
    /// Class of the failure.
    pub class: Class,
    /// What resolves it.
    pub bucket: Bucket,
    /// What the client should do next.
    pub action: Action,
    /// The evidence that determined the class or the bucket.
    pub decided_by: Decider,
    /// Whether the evidence is weak or contradictory.
    pub low_confidence: bool,
}

/// Classifies one attempt; `None` if it succeeded.
pub fn classify(failure: &Failure<'_>) -> Option<Verdict> {
    let status = decide::effective_status(failure);
    if decide::succeeded(failure, status) {
        return None;
    }
    let found = decide::find(failure, status);
    let class_bucket = match (found.class, status) {
        // A 503 means a lack of capacity, no matter which component sends it; other errors of a server or gateway are
        // transient.
        (Class::GatewayError | Class::ServerError, Some(503)) => Bucket::Capacity,
        // An edge server that blocks the caller with a 403 will block the next attempt too.
        (Class::GatewayError, Some(403)) => Bucket::Terminal,
        (class, _) => class.default_bucket(),
    };
    let bucket = bucket_after_header(failure, found.class, class_bucket);
    Some(Verdict {
        class: found.class,
        bucket,
        action: action(failure, found.class, bucket),
        decided_by: if bucket == class_bucket { found.by } else { Decider::ShouldRetryHeader },
        low_confidence: found.low_confidence,
    })
}

/// `x-should-retry` takes precedence over the class, except for spend caps and usage windows: a spend cap has been seen
/// with `true` (Yeachan-Heo/gajae-code#2444).
fn bucket_after_header(failure: &Failure<'_>, class: Class, class_bucket: Bucket) -> Bucket {
    match failure.should_retry {
        _ if class.is_money() || class.is_window() => class_bucket,
        Some(false) => Bucket::Terminal,
        Some(true) if class_bucket == Bucket::Terminal && failure.hint.is_some() => Bucket::RetryAfter,
        Some(true) if class_bucket == Bucket::Terminal => Bucket::Transient,
        _ => class_bucket,
    }
}

fn action(failure: &Failure<'_>, class: Class, bucket: Bucket) -> Action {
    action_for(class, bucket, failure.side_effect, failure.hint.is_some())
}

/// Returns the action for a failure of this class and bucket.
pub fn action_for(class: Class, bucket: Bucket, side_effect: bool, has_hint: bool) -> Action {
    match bucket {
        Bucket::Terminal => match class {
            Class::SchemaError => Action::Repair,
            Class::ContentPolicy => Action::Refuse,
            Class::Unknown => Action::UnknownFailure,
            _ => Action::Stop,
        },
        // The request may have taken effect although no answer was received.
        _ if side_effect && matches!(class, Class::Timeout | Class::Connection) => Action::Reconcile,
        Bucket::RetryAfter if has_hint && class != Class::UnexplainedRateLimit => Action::WaitThenRetry,
        Bucket::RetryAfter | Bucket::Capacity | Bucket::Transient => Action::BackoffThenRetry,
    }
}
