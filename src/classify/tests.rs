//! Table tests of the class: each row is a failure, the expected class and the expected decider.
#![allow(clippy::unwrap_used)]

use super::Kind::{Cancelled, Connection, PolicyRefusal, SchemaError, Timeout};
use super::*;

pub(super) const NONE: Failure<'static> = Failure {
    status: None,
    error_type: None,
    error_code: None,
    message: None,
    kind: None,
    exception: None,
    transport: None,
    mid_stream: false,
    truncated: false,
    logged_as_error: false,
    logged_as_ok: false,
    hint: AskedWait::None,
    has_rate_limit_headers: false,
    window_rejected: false,
    should_retry: None,
    side_effect: false,
    provider: None,
    custom_rows: &[],
};

pub(super) const fn http(status: u16) -> Failure<'static> {
    Failure { status: Some(status), ..NONE }
}

pub(super) const fn with_type(status: u16, error_type: &'static str) -> Failure<'static> {
    Failure { error_type: Some(error_type), ..http(status) }
}

pub(super) const fn with_code(status: u16, error_code: &'static str) -> Failure<'static> {
    Failure { error_code: Some(error_code), ..http(status) }
}

pub(super) const fn with_message(status: u16, message: &'static str) -> Failure<'static> {
    Failure { message: Some(message), ..http(status) }
}

pub(super) const fn only_message(message: &'static str) -> Failure<'static> {
    Failure { message: Some(message), logged_as_error: true, ..NONE }
}

pub(super) const fn with_exception(exception: &'static str) -> Failure<'static> {
    Failure { exception: Some(exception), logged_as_error: true, ..NONE }
}

pub(super) const fn with_body(
    status: u16,
    error_type: &'static str,
    code: &'static str,
    message: &'static str,
) -> Failure<'static> {
    Failure { error_type: Some(error_type), error_code: Some(code), message: Some(message), ..http(status) }
}

#[track_caller]
pub(super) fn judge(case: &Failure<'_>) -> Verdict {
    classify(case).unwrap()
}

const CAP: &str = "You have reached your API usage limits: your organization has crossed its \
    monthly API usage threshold. Access resumes at 00:00 UTC on the first day of next month.";
const OWN_LIMIT: &str = "You have reached your specified API usage limits. You will regain access \
    on 2026-12-01 at 00:00 UTC.";
const WORKSPACE: &str = "You have reached your specified workspace API usage limits.";
const NO_CREDIT: &str = "Your credit balance is too low to access the Anthropic API.";
const OVER_QUOTA: &str = "You exceeded your current quota, please check your plan and billing details.";
const TOO_LARGE: &str = "Request too large for gpt-4o in organization org-x on tokens per min \
    (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced.";
const FULL_BUCKET: &str = "Rate limit reached for organization org-x on tokens per min (TPM): \
    Limit 250000, Used 250000, Requested 57059. Please try again in 13.694s.";
const GEMINI_BOTH: &str = "429 RESOURCE_EXHAUSTED. {'error': {'code': 429, 'message': 'You exceeded \
    your current quota, please check your plan and billing details.', 'status': \
    'RESOURCE_EXHAUSTED', 'details': [{'quotaId': 'GenerateRequestsPerDayPerProjectPerModel'}, \
    {'quotaId': 'GenerateRequestsPerMinutePerProjectPerModel'}, {'retryDelay': '47s'}]}}";
const GEMINI_MINUTE: &str = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You
 exceeded your current quota","details":[{"quotaId":"GenerateRequestsPerMinutePerProject"}]}}"#;
const FILTERED: &str = "The response was filtered due to the prompt triggering Azure OpenAI’s \
    content management policy. Please modify your prompt and retry.";
pub(super) const ORGANISATION: &str =
    "This request would exceed your organization's rate limit of 50 requests per minute.";
const LITELLM_529: &str = r#"litellm.InternalServerError: AnthropicException - {"type":"error",
 "error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}. Handle with `x`."#;
const TWICE_IN_STRINGS: &str = r#"{"message":"{\"error\":{\"type\":\"None\",\"code\":\"500\",\"message\":\"{\\\"type\\\":\\\"error\\\",\\\"error\\\":{\\\"type\\\":\\\"overloaded_error\\\"}}\"}}"}"#;
const ESCAPED: &str = r#"529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}"#;
const GROQ_BYTES: &str = r#"GroqException - b'{"error":{"message":"Rate limit reached: Limit 15000,
 Used 11972, Requested 4351.","type":"tokens","code":"rate_limit_exceeded"}}\n'"#;
const PY_QUOTA: &str = "Error code: 429 - {'error': {'message': 'no', 'type': \
    'insufficient_quota', 'param': None, 'code': 'insufficient_quota'}}";
const WINDOW: &str = "You've hit your session limit · resets 3:30am (America/New_York)";
const HTML_502: &str = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>";
const CONTEXT_4097: &str = "This model's maximum context length is 4097 tokens. However, your \
    messages resulted in 4452 tokens. Please reduce the length of the messages.";

#[test]
#[rustfmt::skip]
fn every_class_is_found_by_its_evidence() {
    use Class as C;
    use Decider as D;
    let cases: &[(Failure<'_>, C, D)] = &[
        // money
        (with_body(429, "rate_limit_error", "enforced_spend_limit_reached", CAP), C::SpendCap, D::ErrorCode),
        (Failure { message: Some(CAP), ..with_type(429, "rate_limit_error") }, C::SpendCap, D::Message),
        (Failure { message: Some(OWN_LIMIT), ..with_type(400, "invalid_request_error") }, C::SpendLimit, D::Message),
        (Failure { message: Some(WORKSPACE), ..with_type(400, "invalid_request_error") }, C::SpendLimit, D::Message),
        (Failure { message: Some(WORKSPACE), ..with_type(429, "rate_limit_error") }, C::SpendLimit, D::Message),
        (Failure { message: Some(WORKSPACE), hint: AskedWait::Short, ..with_type(429, "rate_limit_error") }, C::RateLimited, D::ErrorType),
        // the time at which access returns, converted to a wait, is no evidence of a rate limit
        (Failure { message: Some(OWN_LIMIT), ..with_type(429, "rate_limit_error") }, C::SpendLimit, D::Message),
        (Failure { message: Some(OWN_LIMIT), hint: AskedWait::Long, ..with_type(429, "rate_limit_error") }, C::SpendLimit, D::Message),
        (Failure { message: Some(OWN_LIMIT), hint: AskedWait::Short, ..with_type(429, "rate_limit_error") }, C::SpendLimit, D::Message),
        (only_message("Error: 400 {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"You have reached your specified API usage limits. You will\"}}\n    at x"), C::SpendLimit, D::Message),
        // not at the start of a message: a quotation
        (Failure { message: Some("prompt: You have NOT reached your API usage limits"), ..with_type(400, "invalid_request_error") }, C::InvalidRequest, D::ErrorType),
        (Failure { message: Some(NO_CREDIT), ..with_type(400, "invalid_request_error") }, C::QuotaExhausted, D::Message),
        (Failure { message: Some(NO_CREDIT), ..with_type(402, "billing_error") }, C::Billing, D::ErrorType),
        (with_body(429, "insufficient_quota", "insufficient_quota", OVER_QUOTA), C::QuotaExhausted, D::ErrorCode),
        (with_message(429, OVER_QUOTA), C::QuotaExhausted, D::Message),
        (Failure { exception: Some("RateLimitError"), ..only_message(OVER_QUOTA) }, C::QuotaExhausted, D::Message),
        (only_message(PY_QUOTA), C::QuotaExhausted, D::Message),
        (with_body(429, "insufficient_quota", "credit_balance_exhausted", "no credits"), C::QuotaExhausted, D::ErrorCode),
        (with_code(429, "team_spend_limit_exceeded"), C::QuotaExhausted, D::ErrorCode),
        (with_code(400, "billing_hard_limit_reached"), C::QuotaExhausted, D::ErrorCode),
        (Failure { message: Some("Too many tokens per day, please wait"), ..with_type(429, "ThrottlingException") }, C::QuotaExhausted, D::Message),
        (with_type(400, "ServiceQuotaExceededException"), C::QuotaExhausted, D::ErrorType),
        (http(402), C::Billing, D::Status),
        // a specific code under a vague type, and the other way round
        (with_body(429, "insufficient_quota", "rate_limit_exceeded", "slow"), C::RateLimited, D::ErrorCode),
        (with_body(429, "insufficient_quota", "something_new", "?"), C::QuotaExhausted, D::ErrorType),
        // the same words with another meaning
        (Failure { message: Some("You exceeded your current limit of concurrent requests."), ..with_type(429, "INSUFFICIENT QUOTA") }, C::RateLimited, D::ErrorType),
        (with_message(429, "INSUFFICIENT QUOTA"), C::UnexplainedRateLimit, D::Status),
        (with_body(429, "insufficient_quota", "insufficient_quota", "Allocated quota exceeded, please increase your quota limit."), C::RateLimited, D::Message),
        (Failure { message: Some("Too many tokens, please wait before trying again."), ..with_type(429, "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/") }, C::RateLimited, D::ErrorType),
        (only_message("Too many tokens, please wait before trying again."), C::RateLimited, D::Message),
        // Gemini
        (only_message(GEMINI_BOTH), C::QuotaExhausted, D::QuotaId),
        (with_message(429, GEMINI_MINUTE), C::RateLimited, D::QuotaId),
        (Failure { message: Some(OVER_QUOTA), ..with_type(429, "RESOURCE_EXHAUSTED") }, C::RateLimited, D::ErrorType),
        (Failure { message: Some(OVER_QUOTA), provider: Some("gcp.gemini"), ..http(429) }, C::UnexplainedRateLimit, D::Status),
        (with_body(429, "RESOURCE_EXHAUSTED", "GenerateRequestsPerDayPerProject", "x"), C::QuotaExhausted, D::ErrorCode),
        (with_type(503, "UNAVAILABLE"), C::Overloaded, D::ErrorType),
        (with_type(504, "DEADLINE_EXCEEDED"), C::Timeout, D::ErrorType),
        (with_type(400, "INVALID_ARGUMENT"), C::InvalidRequest, D::ErrorType),
        (Failure { message: Some("API key not valid. Please pass a valid API key."), ..with_type(400, "INVALID_ARGUMENT") }, C::Authentication, D::Message),
        (with_type(403, "PERMISSION_DENIED"), C::Permission, D::ErrorType),
        (with_type(401, "UNAUTHENTICATED"), C::Authentication, D::ErrorType),
        (Failure { message: Some("tools.0: getSalesPerDay has no schema"), ..with_type(400, "invalid_request_error") }, C::InvalidRequest, D::ErrorType),
        // windows and plans
        (Failure { window_rejected: true, hint: AskedWait::Short, should_retry: Some(true), ..with_type(429, "rate_limit_error") }, C::UsageWindow, D::WindowHeader),
        (Failure { window_rejected: true, ..with_type(529, "overloaded_error") }, C::Overloaded, D::ErrorType),
        (Failure { window_rejected: true, message: Some("Extra usage is required for long context requests."), ..with_type(429, "rate_limit_error") }, C::Entitlement, D::Message),
        (with_message(429, WINDOW), C::UsageWindow, D::Message),
        (with_message(429, "You’ve hit your session limit · resets 4pm (UTC)"), C::UsageWindow, D::Message),
        (with_type(429, "usage_limit_reached"), C::UsageWindow, D::ErrorType),
        (with_type(429, "usage_not_included"), C::Entitlement, D::ErrorType),
        // throttles
        (Failure { message: Some(ORGANISATION), ..with_type(429, "rate_limit_error") }, C::RateLimited, D::ErrorType),
        (Failure { message: Some("Please slow your pace."), ..with_type(429, "rate_limit_error") }, C::RateLimited, D::ErrorType),
        (with_body(429, "requests", "rate_limit_exceeded", "Limit 500, Used 500, Requested 1."), C::RateLimited, D::ErrorCode),
        (only_message(FULL_BUCKET), C::RateLimited, D::Message),
        (only_message(GROQ_BYTES), C::RateLimited, D::Message),
        (Failure { has_rate_limit_headers: true, ..http(429) }, C::RateLimited, D::Status),
        (Failure { hint: AskedWait::Short, ..http(429) }, C::RateLimited, D::Status),
        (with_body(429, "tokens", "rate_limit_exceeded", TOO_LARGE), C::RequestOverLimit, D::Amounts),
        (with_message(413, "Limit: 30,000 tokens ... Requested: 35_000"), C::RequestOverLimit, D::Amounts),
        (only_message("model stream error: Request too large: Limit 30000, Requested 36055."), C::RequestOverLimit, D::Amounts),
        (with_message(413, "Limit 500, Requested 1"), C::RequestTooLarge, D::Status),
        // unexplained limits
        (http(429), C::UnexplainedRateLimit, D::Status),
        (Failure { message: Some("Error"), should_retry: Some(true), ..with_type(429, "rate_limit_error") }, C::UnexplainedRateLimit, D::ErrorType),
        (with_body(429, "None", "model_cooldown", "All credentials are cooling down"), C::UnexplainedRateLimit, D::Status),
        (with_exception("openai.RateLimitError"), C::UnexplainedRateLimit, D::Exception),
        (Failure { exception: Some("pydantic_ai.ModelHTTPError"), ..http(429) }, C::UnexplainedRateLimit, D::Status),
        // capacity
        (Failure { mid_stream: true, exception: Some("anthropic.APIStatusError"), message: Some("Overloaded"), ..with_type(200, "overloaded_error") }, C::Overloaded, D::ErrorType),
        (with_type(500, "overloaded_error"), C::Overloaded, D::ErrorType),
        (http(529), C::Overloaded, D::Status),
        (with_type(529, "api_error"), C::Overloaded, D::Status),
        (with_code(503, "server_is_overloaded"), C::Overloaded, D::ErrorCode),
        (with_code(503, "slow_down"), C::Overloaded, D::ErrorCode),
        (with_body(503, "Service Unavailable", "None", "The engine is currently busy and cannot accept new requests."), C::Overloaded, D::Message),
        (with_body(503, "None", "503", "{\"message\":\"Bedrock is unable to process your request.\"}"), C::Overloaded, D::Message),
        (with_type(429, "ModelNotReadyException"), C::Overloaded, D::ErrorType),
        (with_type(503, "com.amazonaws.bedrock#ServiceUnavailableException"), C::Overloaded, D::ErrorType),
        (Failure { mid_stream: true, ..with_type(200, "serviceUnavailableException") }, C::Overloaded, D::ErrorType),
        (with_message(429, "That model is currently overloaded with other requests."), C::Overloaded, D::Message),
        // a gateway's 500
        (with_body(500, "InternalServerError", "500", LITELLM_529), C::Overloaded, D::Message),
        (with_body(500, "None", "500", TWICE_IN_STRINGS), C::Overloaded, D::Message),
        (only_message(ESCAPED), C::Overloaded, D::Message),
        (with_body(500, "api_error", "None", "{'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}"), C::Overloaded, D::Message),
        (with_body(500, "InternalServerError", "500", "{\"error\":{\"message\":\"boom\"}}"), C::ServerError, D::Status),
        // a word that happens to be a code, under a key that does not hold codes
        (with_body(400, "invalid_request_error", "None", "{'error': {'param': 'timeout', 'message': 'x'}}"), C::InvalidRequest, D::ErrorType),
        (with_message(503, "upstream connect error or disconnect/reset before headers. reset reason: connection failure"), C::GatewayError, D::Status),
        (with_message(502, HTML_502), C::GatewayError, D::Status),
        (with_message(520, "error code: 520"), C::GatewayError, D::Status),
        (http(522), C::GatewayError, D::Status),
        (with_type(503, "Service Unavailable"), C::GatewayError, D::Status),
        // servers
        (with_type(500, "api_error"), C::ServerError, D::ErrorType),
        (with_type(503, "api_error"), C::ServerError, D::ErrorType),
        (with_type(500, "server_error"), C::ServerError, D::ErrorType),
        (http(500), C::ServerError, D::Status),
        (http(507), C::ServerError, D::Status),
        (Failure { mid_stream: true, ..http(200) }, C::Connection, D::Nothing),
        (Failure { mid_stream: true, ..with_type(200, "api_error") }, C::ServerError, D::ErrorType),
        // timeouts and connections
        (with_type(504, "timeout_error"), C::Timeout, D::ErrorType),
        (http(408), C::Timeout, D::Status),
        (http(504), C::Timeout, D::Status),
        (Failure { kind: Some(Timeout), ..NONE }, C::Timeout, D::Kind),
        (Failure { transport: Some("client_closed_before_response"), logged_as_error: true, ..NONE }, C::Timeout, D::Transport),
        (Failure { transport: Some("server_rst_before_response"), logged_as_error: true, ..http(0) }, C::Connection, D::Transport),
        (Failure { transport: Some("stream_ended_early"), logged_as_ok: true, ..http(200) }, C::Connection, D::Transport),
        (Failure { message: Some("Timeout on reading data from socket"), exception: Some("litellm.MidStreamFallbackError"), ..http(200) }, C::Timeout, D::Message),
        (only_message("Request timed out."), C::Timeout, D::Message),
        (only_message("Connection error."), C::Connection, D::Message),
        (with_exception("aiohttp.ServerDisconnectedError"), C::Connection, D::Exception),
        (Failure { message: Some("Connection error."), ..with_exception("APIConnectionError") }, C::Connection, D::Exception),
        (Failure { kind: Some(Connection), ..NONE }, C::Connection, D::Kind),
        (with_type(429, "ECONNRESET"), C::Connection, D::Exception),
        (with_type(500, "litellm.APIConnectionError"), C::Connection, D::Exception),
        (with_type(408, "litellm.Timeout"), C::Timeout, D::Exception),
        (Failure { exception: Some("ValueError: sleep length must be non-negative"), hint: AskedWait::None, ..http(429) }, C::UnexplainedRateLimit, D::Status),
        (http(409), C::Conflict, D::Status),
        (with_type(409, "conflict_error"), C::Conflict, D::ErrorType),
        // requests
        (with_message(400, "prompt is too long: 210000 tokens > 200000 maximum"), C::ContextTooLong, D::Message),
        (with_body(500, "api_error", "None", "prompt is too long: 210000 tokens"), C::ContextTooLong, D::Message),
        (with_code(500, "context_length_exceeded"), C::ContextTooLong, D::ErrorCode),
        (only_message(CONTEXT_4097), C::ContextTooLong, D::Message),
        (with_body(400, "BadRequestError", "400", CONTEXT_4097), C::ContextTooLong, D::Message),
        (with_message(400, FILTERED), C::ContentPolicy, D::Message),
        (with_code(400, "content_filter"), C::ContentPolicy, D::ErrorCode),
        (with_code(400, "content_policy_violation"), C::ContentPolicy, D::ErrorCode),
        (Failure { message: Some("Output blocked by content filtering policy"), ..with_type(400, "invalid_request_error") }, C::ContentPolicy, D::Message),
        (Failure { kind: Some(PolicyRefusal), ..http(200) }, C::ContentPolicy, D::Kind),
        (Failure { message: Some("max_tokens: Field required"), ..with_type(400, "invalid_request_error") }, C::InvalidRequest, D::ErrorType),
        (with_type(400, "ValidationException"), C::InvalidRequest, D::ErrorType),
        (with_code(400, "unsupported_parameter"), C::InvalidRequest, D::ErrorCode),
        (http(422), C::InvalidRequest, D::Status),
        (with_type(401, "authentication_error"), C::Authentication, D::ErrorType),
        (with_type(401, "invalid_request_error"), C::Authentication, D::Status),
        (with_body(401, "invalid_request_error", "invalid_api_key", "Incorrect API key"), C::Authentication, D::ErrorCode),
        (with_type(403, "AccessDeniedException"), C::Permission, D::ErrorType),
        (http(403), C::Permission, D::Status),
        (with_type(404, "not_found_error"), C::NotFound, D::ErrorType),
        (with_body(404, "invalid_request_error", "model_not_found", "no such model"), C::NotFound, D::ErrorCode),
        (with_type(413, "request_too_large"), C::RequestTooLarge, D::ErrorType),
        (only_message("unexpected status 413 Payload Too Large: <html>"), C::RequestTooLarge, D::Status),
        // failures that the client classified itself
        (Failure { kind: Some(SchemaError), logged_as_error: true, ..http(200) }, C::SchemaError, D::Kind),
        (Failure { kind: Some(Cancelled), ..NONE }, C::Cancelled, D::Kind),
        (with_exception("AbortError"), C::Cancelled, D::Exception),
        (with_exception("asyncio.CancelledError"), C::Cancelled, D::Exception),
        // numbers and placeholders in the wrong field
        (with_code(0, "503"), C::GatewayError, D::Status),
        (Failure { mid_stream: true, ..with_code(200, "502") }, C::GatewayError, D::Status),
        (with_type(0, "429"), C::UnexplainedRateLimit, D::Status),
        (with_body(500, "error", "null", ""), C::ServerError, D::Status),
        (only_message("529 status code (no body)"), C::Overloaded, D::Status),
        // no evidence
        (http(418), C::Unknown, D::Status),
        (Failure { logged_as_error: true, ..NONE }, C::Unknown, D::Nothing),
        (Failure { logged_as_error: true, ..http(0) }, C::Unknown, D::Nothing),
        (Failure { logged_as_error: true, ..http(200) }, C::Unknown, D::Nothing),
        (only_message("Bad Request"), C::Unknown, D::Nothing),
        (NONE, C::Unknown, D::Nothing),
    ];
    let mut wrong = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (case, class, by) in cases {
        let verdict = judge(case);
        seen.insert(verdict.class);
        if (verdict.class, verdict.decided_by) != (*class, *by) {
            wrong.push(format!("{case:?}\n  want {class:?} by {by:?}\n  got  {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen.len(), Class::ALL.len(), "a class without a case");
}
