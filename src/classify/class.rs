//! The values of a verdict: the class of a failure, its bucket, and the action for the client.

use serde::{Serialize, Serializer};

/// The class of a failure.
///
/// Variants are ordered: money first, then limits, then failures of the provider, then failures of the request.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Class {
    /// The provider's monthly spend cap for the account's tier.
    SpendCap,
    /// A spend limit set by the owner of the account.
    SpendLimit,
    /// Credit, a prepaid quota or a daily allowance is used up.
    QuotaExhausted,
    /// The usage window of a subscription or session is used up until it resets.
    UsageWindow,
    /// The plan does not include what was requested.
    Entitlement,
    /// An ordinary rate limit, which waiting resolves.
    RateLimited,
    /// A single request that exceeds the whole limit.
    RequestOverLimit,
    /// A 429 without any explanation.
    UnexplainedRateLimit,
    /// The provider lacks capacity.
    Overloaded,
    /// An intermediary between the client and the model failed.
    GatewayError,
    /// The provider failed.
    ServerError,
    /// No answer within the client's or the server's time limit.
    Timeout,
    /// The connection failed, or broke before the answer was complete.
    Connection,
    /// A conflict with the state of a resource.
    Conflict,
    /// The prompt exceeds the context window.
    ContextTooLong,
    /// A content filter or the model's policy refused the request.
    ContentPolicy,
    /// The request is malformed.
    InvalidRequest,
    /// The credentials are invalid or missing.
    Authentication,
    /// A payment is due.
    Billing,
    /// The credentials are valid but lack a permission.
    Permission,
    /// The model, file or route does not exist.
    NotFound,
    /// The body exceeds the size limit.
    RequestTooLarge,
    /// The answer does not match the caller's schema.
    SchemaError,
    /// The caller cancelled the request.
    Cancelled,
    /// There is not enough evidence for any other class.
    Unknown,
}

impl Class {
    /// All classes, in the order of their declaration.
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

    /// Name in reports and JSON.
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

    /// Returns the class with this name, as used in reports and the configuration.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// The bucket of the class, before a status of 403 or 503 or the server's `x-should-retry` changes it.
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

    /// Whether the failure lasts until a payment or the next billing period.
    pub const fn is_money(self) -> bool {
        matches!(self, Self::SpendCap | Self::SpendLimit | Self::QuotaExhausted | Self::Billing)
    }

    /// Whether a cap on money or quota stops the whole account until it resets.
    pub const fn is_cap(self) -> bool {
        matches!(self, Self::SpendCap | Self::SpendLimit | Self::QuotaExhausted)
    }

    /// Whether a usage window or the plan blocks the account for a while, regardless of the server's retry header.
    pub const fn is_window(self) -> bool {
        matches!(self, Self::UsageWindow | Self::Entitlement)
    }

    /// Whether retrying the same request cannot succeed, unless the server says otherwise.
    pub const fn is_terminal_by_default(self) -> bool {
        matches!(self.default_bucket(), Bucket::Terminal)
    }
}

/// What resolves a failure, if anything.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Bucket {
    /// Nothing resolves it: the same request will fail again.
    Terminal,
    /// Waiting for the time the server states; it applies to the whole organisation.
    RetryAfter,
    /// Capacity that is short for everyone: spread requests out, then fall back.
    Capacity,
    /// Retrying: the next attempt may well succeed.
    Transient,
}

impl Bucket {
    /// All buckets.
    pub const ALL: [Self; 4] = [Self::Terminal, Self::RetryAfter, Self::Capacity, Self::Transient];

    /// Name in reports and JSON.
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
    /// Wait as long as the server asked, then retry.
    WaitThenRetry,
    /// Do not retry.
    Stop,
    /// Wait with exponential backoff and jitter, then retry.
    BackoffThenRetry,
    /// Find out whether the request took effect before retrying.
    Reconcile,
    /// Send the validator's message to the model, a limited number of times.
    Repair,
    /// Treat it as a refusal, not as an error.
    Refuse,
    /// Stop or escalate; never retry in a loop.
    UnknownFailure,
}

impl Action {
    /// All actions.
    pub const ALL: [Self; 7] = [
        Self::WaitThenRetry,
        Self::Stop,
        Self::BackoffThenRetry,
        Self::Reconcile,
        Self::Repair,
        Self::Refuse,
        Self::UnknownFailure,
    ];

    /// Name in reports and JSON.
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

/// The evidence that determined the class.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Decider {
    /// The provider's error code.
    ErrorCode,
    /// The provider's error type.
    ErrorType,
    /// The message: its prose, or an error body inside it.
    Message,
    /// The HTTP status alone.
    Status,
    /// The logger's own name for the failure.
    Kind,
    /// The name of an exception or errno.
    Exception,
    /// The behaviour of the connection.
    Transport,
    /// The header `anthropic-ratelimit-unified-status: rejected`.
    WindowHeader,
    /// The header `x-should-retry`, which changed the bucket of the class.
    ShouldRetryHeader,
    /// A quota id such as Gemini's `...PerDayPerProject...`.
    QuotaId,
    /// The amounts in the message: the request exceeds the limit.
    Amounts,
    /// A row of the user's configuration.
    Configuration,
    /// No evidence.
    Nothing,
}

impl Decider {
    /// All deciders.
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

    /// Name in reports and JSON.
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
