//! Meaning of the keys of a record.

/// Meaning of a key of a record, including its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// Time of the attempt's start or of the writing of the record; which of them is not certain.
    Ts,
    /// Time of the attempt's start.
    StartedAt,
    /// Time at which the response or the failure was complete.
    EndedAt,
    DurationMs,
    DurationS,
    DurationUs,
    DurationNs,
    /// Duration without a unit in the key: a string may state one, a number is in the unit its input uses.
    DurationBare,
    TtftMs,
    TtftS,
    RunId,
    CallId,
    /// Id of what several calls belong to; if attempts are numbered, it is the id of the call.
    GroupId,
    /// Attempt number counted from 1; also `2/5`.
    Number,
    /// Attempt number counted from 0.
    NumberFromZero,
    MaxAttempts,
    MaxRetries,
    Layer,
    SdkRetryCount,
    /// Resends counted by the instrumentation of the HTTP client.
    Resends,
    RequestId,
    AwsRequestId,
    Provider,
    Model,
    Org,
    ApiKey,
    Workspace,
    Host,
    /// Address of the machine that sent the request, as the server that received it logs it.
    CallerAddress,
    Endpoint,
    Status,
    /// Status under a key that only ends like a status key; used if the value is one.
    StatusLike,
    /// HTTP status if it looks like one, else an error code.
    Code,
    ErrorType,
    ErrorCode,
    ErrorMessage,
    /// The logger's message: that of the error, if the attempt failed and no other message is given.
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
    /// Reason why the model stopped; a response without one is incomplete.
    StopReason,
    /// Whether the response is complete.
    Complete,
    /// Whether the response is incomplete.
    Interrupted,
    /// Longest time between two chunks of a stream.
    ChunkGapMs,
    ChunkGapS,
    Client,
    UserAgent,
    /// Programming language of the official SDK.
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
    /// Log that a record was converted from; used as the run if none is named.
    ConvertedFrom,
    /// Hash that identifies a converted record without a request id.
    RecordHash,
    /// Whether its time comes from a clock of whole seconds.
    WholeSeconds,
    /// Whether the log does not tell which of several concurrent calls it belongs to, so that its call id is a guess.
    CallGuessed,
    Headers,
    RequestHeaders,
    /// A response header logged at top level.
    Header,
}

/// Number of fields, for tables indexed by field.
pub(crate) const FIELDS: usize = Field::Header as usize + 1;
