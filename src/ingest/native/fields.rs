//! The spellings of every field: people's own loggers name the same thing in many ways.

use super::words::Words;
use std::sync::LazyLock;

/// What a key of a record means, including its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Ts,
    DurationMs,
    DurationS,
    /// No unit in the name: a string may carry one, a bare number is read as ms, the reading that errs on the
    /// side of longer waits.
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
    /// A status when it looks like one, else an error code.
    Code,
    ErrorType,
    ErrorCode,
    ErrorMessage,
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
    Body,
    Transport,
    Delivered,
    Client,
    UserAgent,
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
    Headers,
    /// A response header logged at top level.
    Header,
}

impl Field {
    /// Its own spelling.
    pub(crate) fn name(self) -> &'static str {
        let spellings = SPELLINGS.iter().find(|(field, _)| *field == self);
        spellings.and_then(|(_, names)| names.first()).copied().unwrap_or("header")
    }
}

/// How many fields there are, for tables indexed by field.
pub(crate) const FIELDS: usize = Field::Header as usize + 1;

/// Canonical spelling first: an earlier spelling wins over a later one in the same record.
const SPELLINGS: &[(Field, &[&str])] = &[
    (
        Field::Ts,
        &[
            "ts",
            "timestamp",
            "@timestamp",
            "time",
            "start_time",
            "startTime",
            "sent_at",
            "created_at",
            "startTimeUnixNano",
        ],
    ),
    (Field::DurationMs, &["duration_ms", "latency_ms", "elapsed_ms", "durationMs"]),
    (Field::DurationS, &["duration_s", "elapsed_s", "elapsed_seconds", "latency_s"]),
    (Field::DurationBare, &["duration", "latency", "elapsed"]),
    (Field::TtftMs, &["ttft_ms", "time_to_first_token_ms", "first_token_ms"]),
    (Field::TtftS, &["ttft_s", "ttft", "time_to_first_token"]),
    (
        Field::RunId,
        &[
            "run_id",
            "run",
            "session_id",
            "sessionId",
            "job_id",
            "trace_id",
            "conversation_id",
            "traceId",
            "traceid",
            "trace.id",
            "dd.trace_id",
            "otelTraceID",
        ],
    ),
    (Field::CallId, &["call_id", "call", "turn_id", "logical_id", "logical_request_id"]),
    (Field::GroupId, &["operation_id", "correlation_id", "operationId", "correlationId"]),
    (Field::Number, &["attempt", "attempt_number", "attemptNumber", "try"]),
    (Field::NumberFromZero, &["retry_attempt", "retry_count", "retries"]),
    (Field::MaxAttempts, &["max_attempts", "maxAttempts"]),
    (Field::MaxRetries, &["max_retries", "maxRetries"]),
    (Field::Layer, &["layer", "component", "source", "retry_layer"]),
    (Field::SdkRetryCount, &["sdk_retry_count"]),
    (Field::Resends, &["http.request.resend_count", "resend_count"]),
    (Field::RequestId, &["request_id", "request-id", "requestId", "requestID", "x-request-id", "_request_id"]),
    (Field::AwsRequestId, &["aws_request_id"]),
    (Field::Provider, &["provider", "gen_ai.provider.name", "llm_provider", "gen_ai.system", "custom_llm_provider"]),
    (Field::Model, &["model", "gen_ai.request.model", "model_name"]),
    (Field::Org, &["org", "organization", "account", "organization_id", "account_id"]),
    (Field::ApiKey, &["api_key_id", "key_id"]),
    (Field::Workspace, &["workspace", "workspace_id", "project"]),
    (
        Field::Host,
        &["host", "hostname", "host.name", "instance", "pod", "pod_name", "k8s.pod.name", "service.instance.id"],
    ),
    (Field::Endpoint, &["endpoint", "base_url", "api_base", "server.address", "url.full", "http.url"]),
    (Field::Status, &["status", "status_code", "http_status", "statusCode", "http_status_code"]),
    (Field::Code, &["code"]),
    (Field::ErrorType, &["error_type", "errorType"]),
    (Field::ErrorCode, &["error_code", "errorCode"]),
    (Field::ErrorMessage, &["error_message", "errorMessage"]),
    (Field::Error, &["error", "err"]),
    (Field::Exception, &["exception", "exception_type", "exc_type"]),
    (Field::Kind, &["kind"]),
    (Field::MidStream, &["mid_stream"]),
    (Field::Stream, &["stream", "streaming"]),
    (Field::RetryAfter, &["retry_after", "retryAfter", "retry_after_s"]),
    (Field::RetryAfterMs, &["retry_after_ms", "retryAfterMs"]),
    (Field::ShouldRetry, &["should_retry"]),
    (Field::PlannedMs, &["planned_wait_ms", "retryInMs", "delay_ms", "retry_delay_ms", "computed_delay_ms", "wait_ms"]),
    (Field::PlannedS, &["planned_wait_s", "retry_in", "backoff_s", "sleep_s", "delay_s", "wait_s"]),
    (Field::Decision, &["decision", "action"]),
    (Field::WillRetry, &["will_retry", "is_retryable", "willRetry"]),
    (Field::Outcome, &["outcome", "result"]),
    (Field::Success, &["success"]),
    (Field::Body, &["body", "response", "response_body"]),
    (Field::Transport, &["transport"]),
    (Field::Delivered, &["delivered", "chunks_delivered", "delivered_chunks", "text_delivered"]),
    (Field::Client, &["client"]),
    (Field::UserAgent, &["user_agent"]),
    (Field::MaxTokens, &["max_tokens", "max_output_tokens"]),
    (Field::TimeoutS, &["timeout_s", "timeout"]),
    (Field::TimeoutMs, &["timeout_ms", "deadline_ms"]),
    (Field::SideEffect, &["side_effect"]),
    (Field::IdempotencyKey, &["idempotency_key", "idempotency-key"]),
    (Field::RequestHash, &["request_hash", "body_sha256", "args_sha"]),
    (Field::Usage, &["usage"]),
    (Field::InputTokens, &["input_tokens", "prompt_tokens"]),
    (Field::OutputTokens, &["output_tokens", "completion_tokens"]),
    (Field::CacheRead, &["cache_read_tokens", "cache_read_input_tokens"]),
    (Field::CacheWrite, &["cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens"]),
    (Field::CostUsd, &["cost_usd", "response_cost"]),
    (Field::Tool, &["tool", "tool_name"]),
    (Field::Headers, &["headers", "response_headers"]),
];

static TABLE: LazyLock<Words<(Field, u8)>> = LazyLock::new(|| {
    let spelled = |(field, names): &'static (Field, &'static [&'static str])| {
        names.iter().enumerate().map(|(rank, name)| ((*name).into(), (*field, rank as u8 + 1)))
    };
    Words::new(SPELLINGS.iter().flat_map(spelled).collect())
});

/// The rank of a user's own spelling: it wins over all that are built in.
pub(crate) const OWN: u8 = 0;

/// The field a key means and the rank of its spelling, lowest first, from 1.
pub(crate) fn lookup(key: &str) -> Option<(Field, u8)> {
    TABLE.get(key).or_else(|| super::headers::is_interesting(key).then_some((Field::Header, 1)))
}

/// Every field under its own name, for suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    SPELLINGS.iter().filter_map(|(_, names)| names.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_means_two_things() {
        let all: usize = SPELLINGS.iter().map(|(_, names)| names.len()).sum();
        assert_eq!(TABLE.len(), all);
    }

    #[test]
    fn canonical_spellings_rank_first() {
        assert_eq!(lookup("ts"), Some((Field::Ts, 1)));
        assert_eq!(lookup("timestamp"), Some((Field::Ts, 2)));
        assert_eq!(lookup("anthropic-ratelimit-requests-remaining"), Some((Field::Header, 1)));
        assert_eq!(lookup("colour"), None);
    }
}
