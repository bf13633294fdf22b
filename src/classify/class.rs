//! The vocabulary of verdicts: what a failure is, how it heals, what a client should do.

use serde::{Serialize, Serializer};

/// What kind of failure an attempt met.
///
/// The variants are in the order of the table in the model: money first, then limits, then
/// the provider's trouble, then the request's.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Class {
    /// The provider's own monthly spend cap of the tier.
    SpendCap,
    /// A spend limit the account's owner has set.
    SpendLimit,
    /// Credit, prepaid quota or a daily allowance is used up.
    QuotaExhausted,
    /// A subscription's or session's window is spent until it reopens.
    UsageWindow,
    /// The plan does not include what was asked for.
    Entitlement,
    /// An ordinary throttle that heals by waiting.
    RateLimited,
    /// This one request is larger than the whole limit.
    RequestOverLimit,
    /// A 429 with nothing that says why.
    UnexplainedRateLimit,
    /// The provider has no capacity.
    Overloaded,
    /// Something between the client and the model answered.
    GatewayError,
    /// The provider failed.
    ServerError,
    /// No answer in time, on either side's clock.
    Timeout,
    /// The connection failed, or broke before the answer was complete.
    Connection,
    /// A conflict with the state of a resource.
    Conflict,
    /// The prompt does not fit into the context window.
    ContextTooLong,
    /// A filter or the model's policy refused.
    ContentPolicy,
    /// The request is malformed.
    InvalidRequest,
    /// The credentials are wrong or missing.
    Authentication,
    /// A payment is due.
    Billing,
    /// The credentials are fine, the right is missing.
    Permission,
    /// No such model, file or route.
    NotFound,
    /// The body is over the size limit.
    RequestTooLarge,
    /// The answer arrived and did not fit the caller's schema.
    SchemaError,
    /// The caller gave up on purpose.
    Cancelled,
    /// None of the above can be shown.
    Unknown,
}

impl Class {
    /// Every class, in the order of the enum.
    pub const ALL: [Self; 25] = [
        Self::SpendCap,
        Self::SpendLimit,
        Self::QuotaExhausted,
        Self::UsageWindow,
        Self::Entitlement,
        Self::RateLimited,
        Self::RequestOverLimit,
        Self::UnexplainedRateLimit,
        Self::Overloaded,
        Self::GatewayError,
        Self::ServerError,
        Self::Timeout,
        Self::Connection,
        Self::Conflict,
        Self::ContextTooLong,
        Self::ContentPolicy,
        Self::InvalidRequest,
        Self::Authentication,
        Self::Billing,
        Self::Permission,
        Self::NotFound,
        Self::RequestTooLarge,
        Self::SchemaError,
        Self::Cancelled,
        Self::Unknown,
    ];

    /// The name used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SpendCap => "spend_cap",
            Self::SpendLimit => "spend_limit",
            Self::QuotaExhausted => "quota_exhausted",
            Self::UsageWindow => "usage_window",
            Self::Entitlement => "entitlement",
            Self::RateLimited => "rate_limited",
            Self::RequestOverLimit => "request_over_limit",
            Self::UnexplainedRateLimit => "unexplained_429",
            Self::Overloaded => "overloaded",
            Self::GatewayError => "gateway_error",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Conflict => "conflict",
            Self::ContextTooLong => "context_too_long",
            Self::ContentPolicy => "content_policy",
            Self::InvalidRequest => "invalid_request",
            Self::Authentication => "authentication",
            Self::Billing => "billing",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::RequestTooLarge => "request_too_large",
            Self::SchemaError => "schema_error",
            Self::Cancelled => "cancelled",
            Self::Unknown => "unknown",
        }
    }

    /// The class with this name, as reports and configuration spell it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// The bucket before a status of 503 or the server's `x-should-retry` changes it.
    pub const fn default_bucket(self) -> Bucket {
        match self {
            Self::RateLimited | Self::UnexplainedRateLimit => Bucket::RetryAfter,
            Self::Overloaded => Bucket::Capacity,
            Self::GatewayError | Self::ServerError | Self::Timeout | Self::Connection | Self::Conflict => {
                Bucket::Transient
            }
            Self::SpendCap
            | Self::SpendLimit
            | Self::QuotaExhausted
            | Self::UsageWindow
            | Self::Entitlement
            | Self::RequestOverLimit
            | Self::ContextTooLong
            | Self::ContentPolicy
            | Self::InvalidRequest
            | Self::Authentication
            | Self::Billing
            | Self::Permission
            | Self::NotFound
            | Self::RequestTooLarge
            | Self::SchemaError
            | Self::Cancelled
            | Self::Unknown => Bucket::Terminal,
        }
    }

    /// Only money, or a month, helps.
    pub const fn is_money(self) -> bool {
        matches!(self, Self::SpendCap | Self::SpendLimit | Self::QuotaExhausted | Self::Billing)
    }

    /// A cap on money or quota that stops everyone on the account until it reopens.
    pub const fn is_cap(self) -> bool {
        matches!(self, Self::SpendCap | Self::SpendLimit | Self::QuotaExhausted)
    }

    /// A spent window or a plan: the account is shut for a while, whatever the server's
    /// retry header says.
    pub const fn is_window(self) -> bool {
        matches!(self, Self::UsageWindow | Self::Entitlement)
    }

    /// Sending the same again cannot help, unless the server says otherwise.
    pub const fn is_terminal_by_default(self) -> bool {
        matches!(self.default_bucket(), Bucket::Terminal)
    }
}

/// How a failure heals, if it does.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Bucket {
    /// The same request will fail again.
    Terminal,
    /// It heals after the time the server names, for the whole organisation.
    RetryAfter,
    /// Everyone's capacity is short: spread out, then fall back.
    Capacity,
    /// Chance: the next send may well succeed.
    Transient,
}

impl Bucket {
    /// Every bucket.
    pub const ALL: [Self; 4] = [Self::Terminal, Self::RetryAfter, Self::Capacity, Self::Transient];

    /// The name used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::RetryAfter => "retry_after",
            Self::Capacity => "capacity",
            Self::Transient => "transient",
        }
    }
}

/// What a well-behaved client does next.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Action {
    /// Wait as long as the server asked, then send again.
    WaitThenRetry,
    /// Do not send this again.
    Stop,
    /// Wait with exponential backoff and jitter, then send again.
    BackoffThenRetry,
    /// Find out whether it took effect before sending again.
    Reconcile,
    /// Feed the validator's message back, a bounded number of times.
    Repair,
    /// Treat it as a refusal, not as an error.
    Refuse,
    /// Stop or escalate; never loop.
    UnknownFailure,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 7] = [
        Self::WaitThenRetry,
        Self::Stop,
        Self::BackoffThenRetry,
        Self::Reconcile,
        Self::Repair,
        Self::Refuse,
        Self::UnknownFailure,
    ];

    /// The name used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WaitThenRetry => "wait_then_retry",
            Self::Stop => "stop",
            Self::BackoffThenRetry => "backoff_then_retry",
            Self::Reconcile => "reconcile",
            Self::Repair => "repair",
            Self::Refuse => "refuse",
            Self::UnknownFailure => "unknown_failure",
        }
    }
}

/// What the class was read from: the strongest piece of evidence that was there.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Decider {
    /// The provider's exact error code.
    ErrorCode,
    /// The provider's exact error type.
    ErrorType,
    /// The message: its prose, or an error body found inside it.
    Message,
    /// The HTTP status alone.
    Status,
    /// The logger's own word for the failure.
    Kind,
    /// The name of an exception or errno.
    Exception,
    /// What the connection did.
    Transport,
    /// `anthropic-ratelimit-unified-status: rejected`.
    WindowHeader,
    /// `x-should-retry` changed the bucket of the class.
    ShouldRetryHeader,
    /// A quota id such as Gemini's `...PerDayPerProject...`.
    QuotaId,
    /// The amounts in the message: more was requested than the limit holds.
    Amounts,
    /// A row of the user's own.
    Configuration,
    /// Nothing told.
    Nothing,
}

impl Decider {
    /// Every decider.
    pub const ALL: [Self; 13] = [
        Self::ErrorCode,
        Self::ErrorType,
        Self::Message,
        Self::Status,
        Self::Kind,
        Self::Exception,
        Self::Transport,
        Self::WindowHeader,
        Self::ShouldRetryHeader,
        Self::QuotaId,
        Self::Amounts,
        Self::Configuration,
        Self::Nothing,
    ];

    /// The name used in reports and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ErrorCode => "error_code",
            Self::ErrorType => "error_type",
            Self::Message => "message",
            Self::Status => "status",
            Self::Kind => "kind",
            Self::Exception => "exception",
            Self::Transport => "transport",
            Self::WindowHeader => "window_header",
            Self::ShouldRetryHeader => "should_retry_header",
            Self::QuotaId => "quota_id",
            Self::Amounts => "amounts",
            Self::Configuration => "configuration",
            Self::Nothing => "nothing",
        }
    }
}

macro_rules! serialize_as_name {
    ($($word:ty),*) => {$(
        impl Serialize for $word {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    )*};
}
serialize_as_name!(Class, Bucket, Action, Decider, super::Kind);
