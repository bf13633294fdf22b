//! What keys of a record mean.

/// What a key of a record means, including its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// A time that may be that of the attempt's start or of the writing of the record.
    Ts,
    /// When the attempt began, and nothing else.
    StartedAt,
    /// When the answer or the failure was complete.
    EndedAt,
    DurationMs,
    DurationS,
    DurationUs,
    DurationNs,
    /// No unit in the name: a string may carry one, a number is read in the unit that its input uses.
    DurationBare,
    TtftMs,
    TtftS,
    RunId,
    CallId,
    /// Names what several calls belong to, unless attempts are numbered: then it names the call.
    GroupId,
    /// Counted from 1; also `2/5`.
    Number,
    /// Counted from 0.
    NumberFromZero,
    MaxAttempts,
    MaxRetries,
    Layer,
    SdkRetryCount,
    /// Resends that the instrumentation of the HTTP client counts.
    Resends,
    RequestId,
    AwsRequestId,
    Provider,
    Model,
    Org,
    ApiKey,
    Workspace,
    Host,
    Endpoint,
    Status,
    /// A status where it is one, under a key that only ends like one.
    StatusLike,
    /// A status when it looks like one, else an error code.
    Code,
    ErrorType,
    ErrorCode,
    ErrorMessage,
    /// What a logger says of the record in words: of the error, where the attempt failed and nothing else speaks of it.
    LogMessage,
    Error,
    Exception,
    Kind,
    MidStream,
    Stream,
    RetryAfter,
    RetryAfterMs,
    ShouldRetry,
    PlannedMs,
    PlannedS,
    Decision,
    WillRetry,
    Outcome,
    Success,
    /// True for a failure.
    Failure,
    Body,
    Transport,
    Delivered,
    /// Why the model stopped: no answer is complete without it.
    StopReason,
    /// Whether the answer is complete.
    Complete,
    /// Whether it is not.
    Interrupted,
    /// The longest time between two chunks of a stream.
    ChunkGapMs,
    ChunkGapS,
    Client,
    UserAgent,
    /// The language of the official SDK.
    SdkLanguage,
    SdkVersion,
    MaxTokens,
    TimeoutS,
    TimeoutMs,
    SideEffect,
    IdempotencyKey,
    RequestHash,
    Usage,
    InputTokens,
    OutputTokens,
    CacheRead,
    CacheWrite,
    CostUsd,
    Tool,
    /// The log a record was converted from: it stands for the run where none is named.
    ConvertedFrom,
    /// What a converted record without a request id is told from others by.
    RecordHash,
    /// Its time was read from a clock of whole seconds.
    WholeSeconds,
    Headers,
    RequestHeaders,
    /// A response header logged at top level.
    Header,
}

/// How many fields there are, for tables indexed by field.
pub(crate) const FIELDS: usize = Field::Header as usize + 1;
