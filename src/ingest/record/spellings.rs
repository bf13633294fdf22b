//! Keys of every field: loggers give the same field many names.

use super::fields::Field;
use super::normalized_key::NormalizedKey;
use super::word_table::WordTable;
use std::borrow::Cow;
use std::sync::LazyLock;

impl Field {
    /// Returns the canonical spelling.
    pub(crate) fn name(self) -> &'static str {
        let spellings = SPELLINGS.iter().find(|(field, _)| *field == self);
        spellings.and_then(|(_, names)| names.first()).copied().unwrap_or("header")
    }
}

/// Spellings of each field, the canonical one first: in one record, an earlier spelling takes precedence over a later
/// one.
const SPELLINGS: &[(Field, &[&str])] = &[
    (
        Field::Ts,
        &[
            "ts",
            "timestamp",
            "@timestamp",
            "time",
            "created_at",
            "asctime",
            "datetime",
            "timestamp_ms",
            "ts_ms",
            "time_ms",
            "event_time",
            "log_time",
            "timeUnixNano",
            "time_unix_nano",
        ],
    ),
    (
        Field::StartedAt,
        &[
            "started_at",
            "start_time",
            "startTime",
            "sent_at",
            "startTimeUnixNano",
            "start_time_unix_nano",
            "requested_at",
            "request_start",
            "request_started_at",
            "start_ts",
            "event.start",
        ],
    ),
    (
        Field::EndedAt,
        &[
            "ended_at",
            "end_time",
            "endTime",
            "finished_at",
            "completed_at",
            "responded_at",
            "endTimeUnixNano",
            "end_time_unix_nano",
            "request_end",
            "request_ended_at",
            "end_ts",
            "event.end",
        ],
    ),
    (Field::DurationMs, &["duration_ms", "latency_ms", "elapsed_ms", "durationMs", "responseTime"]),
    (Field::DurationS, &["duration_s", "elapsed_s", "elapsed_seconds", "latency_s"]),
    (Field::DurationUs, &["duration_us"]),
    // The Elastic Common Schema counts it in ns.
    (Field::DurationNs, &["duration_ns", "event.duration"]),
    (Field::DurationUnitless, &["duration", "latency", "elapsed"]),
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
    (Field::Number, &["attempt", "attempt_number", "attemptNumber", "try", "attempt_no", "try_number", "attempt_num"]),
    (Field::NumberFromZero, &["retry_attempt", "retry_count", "retries"]),
    (Field::MaxAttempts, &["max_attempts", "maxAttempts"]),
    (Field::MaxRetries, &["max_retries", "maxRetries"]),
    (Field::Layer, &["layer", "component", "source", "retry_layer"]),
    (Field::SdkRetryCount, &["sdk_retry_count"]),
    (Field::Resends, &["http.request.resend_count", "resend_count"]),
    (Field::RequestId, &["request_id", "request-id", "requestId", "requestID", "x-request-id", "_request_id"]),
    (Field::AwsRequestId, &["aws_request_id"]),
    (Field::Provider, &["provider", "gen_ai.provider.name", "llm_provider", "gen_ai.system", "custom_llm_provider"]),
    (Field::Model, &["model", "gen_ai.request.model", "model_name", "llm_model", "model_id"]),
    (Field::Org, &["org", "organization", "account", "organization_id", "account_id"]),
    (Field::ApiKey, &["api_key_id", "key_id"]),
    (Field::Workspace, &["workspace", "workspace_id", "project"]),
    (
        Field::Host,
        &["host", "hostname", "host.name", "instance", "pod", "pod_name", "k8s.pod.name", "service.instance.id"],
    ),
    (
        Field::CallerAddress,
        &[
            "client_address",
            "client_ip",
            "client_addr",
            "client.address",
            "http.client_ip",
            "network.client.ip",
            "x-forwarded-for",
            "forwarded_for",
            "remote_addr",
            "remote_address",
            "remote_ip",
        ],
    ),
    (Field::Endpoint, &["endpoint", "base_url", "api_base", "server.address", "url.full", "http.url"]),
    (
        Field::Status,
        &["status", "status_code", "http_status", "statusCode", "http_status_code", "http.response.status_code"],
    ),
    (Field::StatusLike, &["response_status"]),
    (Field::Code, &["code"]),
    (Field::ErrorType, &["error_type", "errorType", "error.type", "err.type"]),
    (Field::ErrorCode, &["error_code", "errorCode", "error.code", "err.code"]),
    (Field::ErrorMessage, &["error_message", "errorMessage", "error.message", "err.message", "exception.message"]),
    (Field::LogMessage, &["message"]),
    (Field::Error, &["error", "err"]),
    (Field::Exception, &["exception", "exception_type", "exc_type", "exception.type", "stack_trace"]),
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
    (Field::Outcome, &["outcome", "result", "event.outcome", "call_status", "request_status", "final_status"]),
    (Field::Success, &["success", "ok", "succeeded", "successful", "is_success", "is_ok"]),
    (Field::Failure, &["failed", "is_error", "errored", "has_error"]),
    (Field::Body, &["body", "response", "response_body"]),
    (Field::Transport, &["transport"]),
    (Field::Delivered, &["delivered", "chunks_delivered", "delivered_chunks", "text_delivered"]),
    (
        Field::StopReason,
        &[
            "stop_reason",
            "finish_reason",
            "stopReason",
            "finishReason",
            "finish_reasons",
            "finishReasons",
            "gen_ai.response.finish_reasons",
            "gen_ai.response.finish_reason",
            "done_reason",
        ],
    ),
    (
        Field::Complete,
        &[
            "completed",
            "complete",
            "is_complete",
            "response_complete",
            "responseComplete",
            "response_completed",
            "stream_complete",
            "stream_completed",
            "streamCompleted",
            "finished",
            "is_finished",
            "stream_finished",
            "done",
            "stream_done",
            "saw_done",
            "message_stop",
            "saw_message_stop",
        ],
    ),
    (
        Field::Interrupted,
        &[
            "interrupted",
            "stream_interrupted",
            "streamInterrupted",
            "incomplete",
            "stream_incomplete",
            "truncated_stream",
        ],
    ),
    (
        Field::ChunkGapMs,
        &[
            "max_chunk_gap_ms",
            "maxChunkGapMs",
            "max_gap_ms",
            "longest_chunk_gap_ms",
            "longest_gap_ms",
            "max_inter_chunk_ms",
            "max_inter_token_ms",
            "max_stall_ms",
            "stall_ms",
        ],
    ),
    (
        Field::ChunkGapS,
        &[
            "max_chunk_gap_s",
            "max_gap_s",
            "longest_chunk_gap_s",
            "longest_gap_s",
            "max_inter_chunk_s",
            "max_stall_s",
            "stall_s",
        ],
    ),
    (Field::Client, &["client"]),
    (Field::UserAgent, &["user_agent", "user_agent.original"]),
    (Field::SdkLanguage, &["sdk_language"]),
    (Field::SdkVersion, &["sdk_version", "client_version"]),
    (Field::MaxTokens, &["max_tokens", "max_output_tokens"]),
    (Field::TimeoutS, &["timeout_s", "timeout"]),
    (Field::TimeoutMs, &["timeout_ms", "deadline_ms"]),
    (Field::SideEffect, &["side_effect"]),
    (Field::IdempotencyKey, &["idempotency_key", "idempotency-key"]),
    (Field::RequestHash, &["request_hash", "body_sha256", "args_sha"]),
    (Field::Usage, &["usage"]),
    (Field::InputTokens, &["input_tokens", "prompt_tokens", "gen_ai.usage.input_tokens"]),
    (Field::OutputTokens, &["output_tokens", "completion_tokens", "gen_ai.usage.output_tokens"]),
    (Field::CacheRead, &["cache_read_tokens", "cache_read_input_tokens"]),
    (Field::CacheWrite, &["cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens"]),
    (Field::CostUsd, &["cost_usd", "response_cost", "usd"]),
    (Field::Tool, &["tool", "tool_name"]),
    (Field::ConvertedFrom, &["converted_from"]),
    (Field::RecordHash, &["record_hash"]),
    (Field::WholeSeconds, &["whole_seconds"]),
    (Field::CallGuessed, &["call_guessed"]),
    (Field::Headers, &["headers", "response_headers"]),
    (Field::RequestHeaders, &["request_headers"]),
];

/// Names of durations, each in use with and without a unit suffix.
const DURATIONS: &[&str] = &[
    "duration",
    "latency",
    "elapsed",
    "elapsed_time",
    "response_time",
    "time_taken",
    "took",
    "request_duration",
    "response_duration",
    "call_duration",
    "request_latency",
    "total_duration",
    "total_latency",
    "http_duration",
];

/// Unit suffixes.
const UNITS: &[(&str, Field)] = &[
    ("", Field::DurationUnitless),
    ("_ms", Field::DurationMs),
    ("_msec", Field::DurationMs),
    ("_millis", Field::DurationMs),
    ("_milliseconds", Field::DurationMs),
    ("_in_ms", Field::DurationMs),
    ("_s", Field::DurationS),
    ("_sec", Field::DurationS),
    ("_secs", Field::DurationS),
    ("_seconds", Field::DurationS),
    ("_us", Field::DurationUs),
    ("_micros", Field::DurationUs),
    ("_microseconds", Field::DurationUs),
    ("_ns", Field::DurationNs),
    ("_nanos", Field::DurationNs),
    ("_nanoseconds", Field::DurationNs),
];

/// Endings of normalized keys that indicate an HTTP status whatever precedes them.
const STATUS_ENDINGS: &[&str] = &["statuscode", "httpstatus", "responsestatus", "responsecode", "httpcode"];

/// Iterates over all spellings with their field and rank.
fn spellings() -> impl Iterator<Item = (Cow<'static, str>, (Field, u8))> {
    let spelled = |(field, names): &'static (Field, &'static [&'static str])| {
        names.iter().enumerate().map(|(rank, name)| (Cow::Borrowed(*name), (*field, rank as u8 + 1)))
    };
    let of_unit = |base: &'static str| {
        UNITS.iter().map(move |(unit, field)| (Cow::Owned(format!("{base}{unit}")), (*field, COMPOSED)))
    };
    SPELLINGS.iter().flat_map(spelled).chain(DURATIONS.iter().flat_map(move |base| of_unit(base)))
}

/// Rank of a key of [`DURATIONS`] with one of [`UNITS`]: worse than that of any spelling listed explicitly.
const COMPOSED: u8 = 32;
/// Added to the rank of a spelling that differs in case or separators.
pub(in crate::ingest) const LOOSE: u8 = 64;
/// Added to the rank of a field inside a nested object.
pub(in crate::ingest) const NESTED: u8 = 128;

static TABLE: LazyLock<WordTable<(Field, u8)>> = LazyLock::new(|| WordTable::new(spellings().collect()));

/// Spellings in normalized form.
static LOOSE_TABLE: LazyLock<WordTable<(Field, u8)>> = LazyLock::new(|| {
    let loose = |(name, (field, rank)): (Cow<'static, str>, (Field, u8))| {
        let name = NormalizedKey::of(&name)?.as_str().to_owned();
        Some((Cow::Owned(name), (field, rank + LOOSE)))
    };
    WordTable::new(spellings().filter_map(loose).collect())
});

/// Rank of a user-defined spelling: it takes precedence over all built-in ones.
pub(crate) const CUSTOM: u8 = 0;

/// Returns the field a key means and the rank of its spelling; 1 is the best.
pub(crate) fn lookup(key: &str) -> Option<(Field, u8)> {
    exact(key).or_else(|| loose(key))
}

/// Like [`lookup`], for keys spelled exactly as listed.
pub(in crate::ingest) fn exact(key: &str) -> Option<(Field, u8)> {
    TABLE.get(key).or_else(|| super::header_names::is_header(key).then_some((Field::Header, 1)))
}

/// Like [`lookup`], for keys that differ from a listed one in case or separators.
fn loose(key: &str) -> Option<(Field, u8)> {
    let normalized = NormalizedKey::of(key)?;
    let key = normalized.as_str();
    let status = || STATUS_ENDINGS.iter().any(|ending| key.ends_with(ending)).then_some((Field::StatusLike, LOOSE));
    LOOSE_TABLE.get(key).or_else(status)
}

/// Returns the spelling of a field that has this rank, or its canonical name if none is listed.
pub(in crate::ingest) fn spelled(field: Field, rank: u8) -> &'static str {
    let listed = SPELLINGS.iter().find(|(known, _)| *known == field).map_or(&[][..], |(_, names)| names);
    listed.get(usize::from(rank.saturating_sub(1))).or(listed.first()).copied().unwrap_or_default()
}

/// Iterates over the canonical names of all fields, for suggestions.
pub fn names() -> impl Iterator<Item = &'static str> {
    SPELLINGS.iter().filter_map(|(_, names)| names.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_belongs_to_two_fields() {
        let all: Vec<_> = SPELLINGS.iter().flat_map(|(_, names)| *names).collect();
        for (index, name) in all.iter().enumerate() {
            assert!(!all[..index].contains(name), "{name}");
        }
        // Spellings that differ only in case or separators belong to the same field. The exception is `responseTime`,
        // which is in ms by convention.
        for (name, (field, _)) in spellings().filter(|(name, _)| name != "response_time") {
            let found = loose(&name).map(|(field, _)| field);
            assert_eq!(found, Some(field), "{name}");
        }
    }

    #[test]
    fn canonical_spellings_rank_first() {
        assert_eq!(lookup("ts"), Some((Field::Ts, 1)));
        assert_eq!(lookup("timestamp"), Some((Field::Ts, 2)));
        assert_eq!(lookup("anthropic-ratelimit-requests-remaining"), Some((Field::Header, 1)));
        assert_eq!(lookup("colour"), None);
    }

    #[test]
    fn keys_are_known_in_other_cases_and_with_other_separators() {
        for (key, field) in [
            ("httpStatus", Some(Field::Status)),
            ("HTTP-Status-Code", Some(Field::Status)),
            ("upstreamStatusCode", Some(Field::StatusLike)),
            ("llm_http_status", Some(Field::StatusLike)),
            ("RunId", Some(Field::RunId)),
            ("elapsedMillis", Some(Field::DurationMs)),
            ("response_time", Some(Field::DurationUnitless)),
            ("responseTime", Some(Field::DurationMs)),
            ("took_ns", Some(Field::DurationNs)),
            ("EndTime", Some(Field::EndedAt)),
            ("is-error", Some(Field::Failure)),
            ("Message", Some(Field::LogMessage)),
            ("msg", None),
            ("level", None),
            ("levelname", None),
            ("a_key_that_is_longer_than_any_field_by_a_good_deal_statuscode", None),
        ] {
            assert_eq!(lookup(key).map(|(field, _)| field), field, "{key}");
        }
        assert_eq!(exact("requestid"), None);
    }
}
