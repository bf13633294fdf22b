//! Where a server's wait was read.

/// Where a server's wait was read, the strongest first.
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
    /// The words of the error.
    Message,
    /// A field of the error's body that calls itself an estimate.
    Estimate,
    /// The reset of a rate limit of which nothing remained.
    Reset,
}

impl HintSource {
    /// Every source, the strongest first.
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

    /// The name used in reports and JSON.
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

    /// Whether the server named this wait for this request. A bucket may let a request in long before it is full
    /// again, which is what its reset tells, and an estimate may be wrong.
    #[must_use]
    pub const fn is_promise(self) -> bool {
        !matches!(self, Self::Estimate | Self::Reset)
    }
}
