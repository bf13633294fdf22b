//! Sources of a server's requested wait.

/// Source of a server's requested wait, strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum HintSource {
    /// Header `retry-after-ms`, or a field of that name.
    RetryAfterMs,
    /// Header `x-ms-retry-after-ms`.
    XMsRetryAfterMs,
    /// Header `x-amz-retry-after`, in milliseconds.
    XAmzRetryAfter,
    /// Header `retry-after`, or a field of that name.
    #[default]
    RetryAfter,
    /// A field of the error's body.
    Body,
    /// Text of the error message.
    Message,
    /// A field of the error's body that is named an estimate.
    Estimate,
    /// Reset time of a rate limit with nothing remaining.
    Reset,
}

impl HintSource {
    /// Every source, strongest first.
    pub(crate) const ALL: [HintSource; 8] = [
        Self::RetryAfterMs,
        Self::XMsRetryAfterMs,
        Self::XAmzRetryAfter,
        Self::RetryAfter,
        Self::Body,
        Self::Message,
        Self::Estimate,
        Self::Reset,
    ];

    /// Returns the name used in reports and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RetryAfterMs => "retry-after-ms",
            Self::XMsRetryAfterMs => "x-ms-retry-after-ms",
            Self::XAmzRetryAfter => "x-amz-retry-after",
            Self::RetryAfter => "retry-after",
            Self::Body => "body",
            Self::Message => "message",
            Self::Estimate => "estimate",
            Self::Reset => "rate-limit reset",
        }
    }

    /// Returns whether the server asked to wait this long before this request is sent again. A reset is only the time
    /// at which a limit is full again, and a request may be admitted long before; an estimate may be wrong.
    #[must_use]
    pub const fn is_explicit(self) -> bool {
        !matches!(self, Self::Estimate | Self::Reset)
    }
}
