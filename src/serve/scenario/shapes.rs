//! Named answers of the stub, as a table: one row for each kind of answer.

/// One kind of answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    /// Aliases.
    pub(crate) also: &'static [&'static str],
    pub(crate) about: &'static str,
    pub(crate) does: Does,
}

/// How the stub answers.
#[derive(Debug, PartialEq)]
pub(crate) enum Does {
    /// With a complete answer.
    Succeed,
    /// With an error of the API.
    Fail(Failure),
    /// With a fixed body for every API, as sent by gateways and other servers.
    Foreign(Foreign),
    /// With an answer that breaks.
    Break(Break),
}

/// An error documented by the providers.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    /// Seconds in `retry-after`, unless the step specifies it.
    pub(crate) retry_after: Option<u32>,
    /// Whether rate-limit headers are included.
    pub(crate) has_limits: bool,
    /// Anthropic's error type and message.
    pub(crate) anthropic: [&'static str; 2],
    /// Anthropic's `error.details.error_code`.
    pub(crate) detail: Option<&'static str>,
    /// OpenAI's error type, code and message. An empty type or code is sent as null.
    pub(crate) openai: [&'static str; 3],
    /// Google's status and quota id. Without a quota id, no details are sent.
    pub(crate) google: [&'static str; 2],
    /// AWS exception.
    pub(crate) aws: &'static str,
}

/// An error of a gateway or another server.
#[derive(Debug, PartialEq)]
pub(crate) struct Foreign {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: &'static str,
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

/// Where an answer breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    /// An error event inside the stream.
    ErrorInside,
    /// The stream ends before its last event.
    CutShort,
    /// The connection closes inside the answer.
    CloseInside,
    /// The connection is reset inside the answer.
    ResetInside,
    /// The connection closes before the answer.
    CloseBefore,
    /// The connection is reset before the answer.
    ResetBefore,
    /// No data is sent at all.
    Stall,
    /// No data is sent after the first pieces.
    StallInside,
    /// The answer is not valid JSON.
    Garbage,
}

const fn fail(
    name: &'static str,
    also: &'static [&'static str],
    about: &'static str,
    status: u16,
    anthropic: [&'static str; 2],
    openai: [&'static str; 3],
    // Google's status and quota id, and the AWS exception.
    [status_name, google_detail, aws]: [&'static str; 3],
) -> Shape {
    let google = [status_name, google_detail];
    let failure =
        Failure { status, retry_after: None, has_limits: false, anthropic, detail: None, openai, google, aws };
    Shape { name, also, about, does: Does::Fail(failure) }
}

const fn limited(shape: Shape, retry_after: Option<u32>) -> Shape {
    let Does::Fail(mut failure) = shape.does else { return shape };
    failure.has_limits = true;
    failure.retry_after = retry_after;
    Shape { name: shape.name, also: shape.also, about: shape.about, does: Does::Fail(failure) }
}

const fn detailed(shape: Shape, detail: &'static str) -> Shape {
    let Does::Fail(mut failure) = shape.does else { return shape };
    failure.detail = Some(detail);
    Shape { name: shape.name, also: shape.also, about: shape.about, does: Does::Fail(failure) }
}

const fn breaks(name: &'static str, about: &'static str, how: Break) -> Shape {
    Shape { name, also: &[], about, does: Does::Break(how) }
}

const fn foreign(
    name: &'static str,
    about: &'static str,
    status: u16,
    content_type: &'static str,
    body: &'static str,
    headers: &'static [(&'static str, &'static str)],
) -> Shape {
    Shape { name, also: &[], about, does: Does::Foreign(Foreign { status, content_type, body, headers }) }
}

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=UTF-8";
const TEXT: &str = "text/plain";

/// All answers. Sources: Anthropic docs, Errors; OpenAI docs, Error codes; Gemini API docs, Troubleshooting; Bedrock
/// API reference, Common errors; vLLM, LiteLLM, nginx and Cloudflare, from their source code or docs.
#[rustfmt::skip]
pub(crate) const SHAPES: &[Shape] = &[
    Shape { name: "ok", also: &["200"], about: "a whole answer, plain or as a stream, as the request asks", does: Does::Succeed },
    fail("400", &["invalid"], "an invalid request", 400,
        ["invalid_request_error", "messages: at least one message is required"],
        ["invalid_request_error", "", "Invalid value for 'messages'."],
        ["INVALID_ARGUMENT", "", "ValidationException"]),
    fail("401", &[], "a refused key", 401,
        ["authentication_error", "invalid x-api-key"],
        ["invalid_request_error", "invalid_api_key", "Incorrect API key provided."],
        ["UNAUTHENTICATED", "", "UnrecognizedClientException"]),
    fail("402", &[], "billing", 402,
        ["billing_error", "There is an issue with your billing or payment information."],
        ["insufficient_quota", "billing_not_active", "Your account is not active, please check your billing details."],
        ["FAILED_PRECONDITION", "", "AccessDeniedException"]),
    fail("403", &[], "no permission", 403,
        ["permission_error", "Your API key does not have permission to use the specified resource."],
        ["invalid_request_error", "unsupported_country_region_territory", "Country, region, or territory not supported."],
        ["PERMISSION_DENIED", "", "AccessDeniedException"]),
    fail("404", &[], "an unknown model or path", 404,
        ["not_found_error", "The requested resource could not be found."],
        ["invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."],
        ["NOT_FOUND", "", "ResourceNotFoundException"]),
    fail("408", &[], "the server did not get the request in time", 408,
        ["timeout_error", "Request timed out."],
        ["server_error", "", "Request timed out."],
        ["DEADLINE_EXCEEDED", "", "ModelTimeoutException"]),
    fail("409", &[], "a conflict", 409,
        ["invalid_request_error", "The resource was changed meanwhile."],
        ["server_error", "", "The resource was updated by another request, try again."],
        ["ABORTED", "", "ConflictException"]),
    fail("413", &[], "a request over the size limit", 413,
        ["request_too_large", "Request exceeds the maximum allowed number of bytes."],
        ["invalid_request_error", "", "Request body is too large."],
        ["INVALID_ARGUMENT", "", "ValidationException"]),
    fail("422", &[], "a request that cannot be processed", 422,
        ["invalid_request_error", "The request could not be processed."],
        ["invalid_request_error", "", "Unprocessable entity."],
        ["INVALID_ARGUMENT", "", "ValidationException"]),
    limited(fail("429", &["rate-limit"], "a rate limit, with retry-after: 1 unless the step says otherwise", 429,
        ["rate_limit_error", "This request would exceed your organization's rate limit of requests per minute."],
        ["requests", "rate_limit_exceeded", "Rate limit reached on requests per min (RPM)."],
        ["RESOURCE_EXHAUSTED", "GenerateRequestsPerMinutePerProjectPerModel", "ThrottlingException"]), Some(1)),
    fail("429-bare", &[], "a 429 that explains nothing", 429,
        ["rate_limit_error", "Error"],
        ["", "", "Error"],
        ["RESOURCE_EXHAUSTED", "", "ThrottlingException"]),
    detailed(fail("spend-cap", &[], "the monthly spend cap is reached: a 429 without retry-after", 429,
        ["rate_limit_error", "You have reached your API usage limits: your organization has crossed its monthly API usage threshold. Access resumes at 00:00 UTC on the first day of next month."],
        ["insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."],
        ["RESOURCE_EXHAUSTED", "GenerateRequestsPerDayPerProjectPerModel", "ServiceQuotaExceededException"]),
        "enforced_spend_limit_reached"),
    fail("spend-limit", &[], "a limit the organisation has set itself: a 400", 400,
        ["invalid_request_error", "You have reached your specified API usage limits. You will regain access on the first day of next month at 00:00 UTC."],
        ["insufficient_quota", "billing_hard_limit_reached", "Billing hard limit has been reached."],
        ["FAILED_PRECONDITION", "", "ServiceQuotaExceededException"]),
    fail("credit", &[], "no credit is left: a 400", 400,
        ["invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."],
        ["insufficient_quota", "credit_balance_exhausted", "Your credit balance is exhausted."],
        ["FAILED_PRECONDITION", "", "AccessDeniedException"]),
    fail("quota", &[], "an exhausted quota: a 429 of OpenAI, Google's quota of the day", 429,
        ["rate_limit_error", "You have reached your API usage limits."],
        ["insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."],
        ["RESOURCE_EXHAUSTED", "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "ServiceQuotaExceededException"]),
    fail("context", &[], "a prompt longer than the model takes", 400,
        ["invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum"],
        ["invalid_request_error", "context_length_exceeded", "This model's maximum context length is 128000 tokens."],
        ["INVALID_ARGUMENT", "", "ValidationException"]),
    fail("content-policy", &[], "a request that a filter refuses", 400,
        ["invalid_request_error", "Output blocked by content filtering policy"],
        ["invalid_request_error", "content_policy_violation", "Your request was rejected as a result of our safety system."],
        ["INVALID_ARGUMENT", "", "ValidationException"]),
    fail("500", &[], "an internal error", 500,
        ["api_error", "Internal server error"],
        ["server_error", "", "The server had an error while processing your request."],
        ["INTERNAL", "", "InternalServerException"]),
    fail("503", &[], "unavailable, in the provider's own words", 503,
        ["overloaded_error", "Overloaded"],
        ["server_error", "", "The server is currently overloaded with other requests. Sorry about that!"],
        ["UNAVAILABLE", "", "ServiceUnavailableException"]),
    fail("504", &[], "the request took too long", 504,
        ["timeout_error", "Request timed out. Use streaming for long requests."],
        ["server_error", "", "The request timed out."],
        ["DEADLINE_EXCEEDED", "", "ModelTimeoutException"]),
    fail("529", &["overloaded"], "an overload", 529,
        ["overloaded_error", "Overloaded"],
        ["server_error", "server_is_overloaded", "The engine is currently overloaded, please try again later."],
        ["UNAVAILABLE", "", "ServiceUnavailableException"]),
    breaks("mid", "an overload inside a stream that began with 200; a 529 where no stream was asked for", Break::ErrorInside),
    breaks("cut", "a stream that ends before its last event; a body shorter than announced", Break::CutShort),
    breaks("drop", "the connection closes inside the answer", Break::CloseInside),
    breaks("reset-mid", "the connection is reset inside the answer", Break::ResetInside),
    breaks("close", "the connection closes before the answer", Break::CloseBefore),
    breaks("reset", "the connection is reset before the answer", Break::ResetBefore),
    breaks("stall", "nothing comes, until the client hangs up, or for=60s are over", Break::Stall),
    breaks("stall-mid", "nothing comes after the first pieces of the answer", Break::StallInside),
    breaks("garbage", "a 200 that is no JSON", Break::Garbage),
    foreign("502", "nginx in front of a dead upstream", 502, HTML,
        "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n", &[("server", "nginx")]),
    foreign("503-envoy", "Envoy without a healthy upstream", 503, TEXT, "no healthy upstream", &[("server", "envoy")]),
    foreign("520", "Cloudflare: the origin answered nothing it understands", 520, TEXT, "error code: 520", &[("server", "cloudflare")]),
    foreign("522", "Cloudflare: no connection to the origin", 522, TEXT, "error code: 522", &[("server", "cloudflare")]),
    foreign("524", "Cloudflare: the origin took too long", 524, TEXT, "error code: 524", &[("server", "cloudflare")]),
    foreign("vllm-busy", "vLLM with a full queue", 503, JSON,
        r#"{"error":{"message":"The engine is currently busy and cannot accept new requests. Please try again later or on a different instance.","type":"Service Unavailable","param":null,"code":503}}"#, &[]),
    foreign("litellm-529", "LiteLLM, which answers an overload as a 500", 500, JSON,
        r#"{"error":{"message":"litellm.InternalServerError: AnthropicError - {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}","type":"None","param":"None","code":"500"}}"#, &[]),
    foreign("bedrock-gateway", "a gateway in front of Bedrock that is busy", 503, JSON,
        r#"{"error":{"message":"{\"message\":\"Bedrock is unable to process your request.\"}","type":"None","param":"None","code":"503"}}"#, &[]),
    foreign("bedrock-throttle", "Bedrock's throttle", 429, JSON,
        r#"{"message":"Too many tokens, please wait before trying again."}"#, &[("x-amzn-errortype", "ThrottlingException")]),
    foreign("gemini-minute", "Gemini's limit of a minute, with a RetryInfo", 429, JSON,
        r#"{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 2s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"}]}}"#, &[]),
    foreign("gemini-day", "Gemini's quota of the day, which has a RetryInfo all the same", 429, JSON,
        r#"{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 37s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}"#, &[]),
    foreign("window", "a subscription's window is spent", 429, JSON,
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your account's rate limit. Please try again later."}}"#,
        &[("retry-after", "13262"), ("anthropic-ratelimit-unified-status", "rejected"), ("anthropic-ratelimit-unified-representative-claim", "five_hour")]),
];

/// Returns the shape with this name or alias.
pub(crate) fn named(name: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.name == name || shape.also.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_name_is_given_twice() {
        let names: Vec<&str> = SHAPES.iter().flat_map(|shape| [&[shape.name], shape.also].concat()).collect();
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        assert!(SHAPES.iter().all(|shape| named(shape.name) == Some(shape)));
    }

    #[test]
    fn foreign_bodies_that_say_json_are_json() {
        for shape in SHAPES {
            if let Does::Foreign(Foreign { content_type: JSON, body, .. }) = &shape.does {
                assert!(serde_json::from_str::<serde_json::Value>(body).is_ok(), "{}", shape.name);
            }
        }
    }
}
