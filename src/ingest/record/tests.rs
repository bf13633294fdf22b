//! Errors as providers, gateways and clients print them: one row each, with the expected class and wait.
#![allow(clippy::unwrap_used)]

use crate::classify::{Action, Class};
use crate::ingest::dialect::Dialect;
use crate::ingest::record::{Diagnosis, ErrorContext, diagnose};
use crate::model::Time;

/// 2026-09-21T14:13:20Z.
const NOW: Time = Time(1_790_000_000_000_000);

fn met(status: Option<u16>, provider: &str, text: &str) -> Diagnosis {
    let dialect = Dialect::default();
    let provider = Some(provider).filter(|name| !name.is_empty());
    diagnose(
        text,
        &ErrorContext { status, retry_after: None, side_effect: false, provider, now: NOW, dialect: &dialect },
    )
}

#[test]
#[rustfmt::skip]
fn errors_of_many_providers() {
    use Class as C;
    let cases: &[(u16, &str, &str, Class, Option<f64>)] = &[
        // insufficient funds, under any status and in the languages providers write
        (403, "siliconflow", r#"{"code":30011,"message":"The selected model requires paid balance. Your paid balance is insufficient. Please top up and try again.","data":null}"#, C::QuotaExhausted, None),
        (0, "", "Error code: 403 - {'code': 30011, 'message': 'Your paid balance is insufficient. Please top up and try again.', 'data': None}", C::QuotaExhausted, None),
        (0, "", r#"litellm.BadRequestError: DeepseekException - {"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#, C::QuotaExhausted, None),
        (0, "", "Error: 402 Insufficient Balance", C::QuotaExhausted, None),
        (402, "openrouter", r#"{"error":{"message":"Insufficient credits. Add more using https://openrouter.ai/settings/credits","code":402}}"#, C::QuotaExhausted, None),
        (402, "openrouter", r#"{"error":{"message":"This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 2112.","code":402}}"#, C::Billing, None),
        (402, "huggingface", r#"{"error":"You have exceeded your monthly included credits for Inference Providers. Subscribe to PRO to get 20x more monthly included credits."}"#, C::QuotaExhausted, None),
        (429, "xai", r#"{"code":"Some resource has been exhausted","error":"Your team 1b2c has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits."}"#, C::QuotaExhausted, None),
        (429, "moonshot", r#"{"error":{"message":"Your account org-1 is suspended due to insufficient balance, please recharge your account or check your plan and billing details","type":"exceeded_current_quota_error"}}"#, C::QuotaExhausted, None),
        (402, "together", r#"{"error":{"message":"Credit limit exceeded, please navigate to https://api.together.xyz/settings/billing to add credits","type":"credit_limit","param":null,"code":null}}"#, C::QuotaExhausted, None),
        (400, "dashscope", r#"{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing.","request_id":"r"}"#, C::Billing, None),
        (403, "volcengine", r#"{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance.","type":"Forbidden"}}"#, C::Billing, None),
        (403, "", r#"{"error":{"message":"用户额度不足, 剩余额度: ＄0.000000","type":"new_api_error","code":"insufficient_user_quota"}}"#, C::QuotaExhausted, None),
        (200, "minimax", r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#, C::QuotaExhausted, None),
        (500, "", r#"{"error":{"message":"upstream: 余额不足，请充值","type":"upstream_error"}}"#, C::QuotaExhausted, None),
        (403, "gemini", r#"{"error":{"code":403,"message":"This API method requires billing to be enabled.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"BILLING_DISABLED","domain":"googleapis.com"}]}}"#, C::Billing, None),
        (429, "cloudflare", r#"{"errors":[{"code":3036,"message":"You have used up your daily free allocation of 10,000 neurons"}],"success":false}"#, C::QuotaExhausted, None),
        (0, "", "litellm.BudgetExceededError: Budget has been exceeded! Current cost: 10.2, Max budget: 10.0", C::QuotaExhausted, None),
        // windows, plans and limits of a day or longer
        (429, "", r#"{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0"}}}}"#, C::QuotaExhausted, None),
        (429, "groq", r#"{"error":{"message":"Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_x` on tokens per day (TPD): Limit 100000, Used 99336, Requested 2721. Please try again in 29m37.248s.","type":"tokens","code":"rate_limit_exceeded"}}"#, C::UsageWindow, Some(1777.248)),
        (429, "openai", r#"{"error":{"message":"Rate limit reached for gpt-5.2 on requests per day (RPD): Limit 10000, Used 10000, Requested 1. Please try again in 8.64s.","type":"requests","code":"rate_limit_exceeded"}}"#, C::RateLimited, Some(8.64)),
        (429, "github", r#"{"error":{"code":"RateLimitReached","message":"Rate limit of 50 per 86400s exceeded for UserByModelByDay. Please wait 36282 seconds before retrying."}}"#, C::QuotaExhausted, Some(36_282.0)),
        (429, "gemini", r#"{"error":{"code":429,"message":"You have exhausted your capacity on this model. Your quota will reset after 18h30m0s.","status":"RESOURCE_EXHAUSTED"}}"#, C::UsageWindow, Some(66_600.0)),
        (429, "dashscope", r#"{"error":{"code":"insufficient_quota","message":"week allocated quota exceeded.","type":"insufficient_quota"}}"#, C::UsageWindow, None),
        (429, "zhipu", r#"{"error":{"code":"1308","message":"已达到 5 小时的使用上限。您的限额将在 2026-09-21 22:00:00 重置。"}}"#, C::UsageWindow, None),
        (0, "", "429 You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle.", C::UsageWindow, None),
        (429, "zai", r#"{"error":{"code":"1311","message":"Your current subscription plan does not include access to this model"}}"#, C::Entitlement, None),
        // rate limits, whatever their code
        (429, "qwen", r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}"#, C::RateLimited, None),
        (429, "", r#"{"error":{"code":"insufficient_quota","message":"You have exceeded 100000 tokens per minute of this workspace.","type":"insufficient_quota"}}"#, C::RateLimited, None),
        (0, "", "google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded for quota metric 'Generate Content API requests per minute' and limit 'GenerateContent request limit per minute'.", C::RateLimited, None),
        (0, "", "google.api_core.exceptions.ResourceExhausted: 429 Resource has been exhausted (e.g. check quota). [retry_delay {\n  seconds: 36\n}\n]", C::RateLimited, Some(36.0)),
        (429, "azure", r#"{"error":{"code":"429","message":"Requests to the Embeddings_Create Operation have exceeded call rate limit of your current AIServices S0 pricing tier. Please retry after 86400 seconds."}}"#, C::RateLimited, Some(86_400.0)),
        (0, "bedrock", "botocore.errorfactory.ThrottlingException: An error occurred (ThrottlingException) when calling the ConverseStream operation (reached max retries: 4): Too many tokens, please wait before trying again.", C::RateLimited, None),
        (0, "", "An error occurred (ThrottlingException) when calling the Converse operation: Your request rate is too high.", C::RateLimited, None),
        (429, "databricks", r#"{"error_code":"REQUEST_LIMIT_EXCEEDED","message":"Exceeded workspace output tokens per minute rate limit."}"#, C::RateLimited, None),
        (429, "replicate", r#"{"title":"Request was throttled","detail":"Request was throttled. Your rate limit resets in ~30s.","status":429}"#, C::RateLimited, Some(30.0)),
        (0, "", r#"{"type":"about:blank","title":"Too Many Requests","status":429,"detail":"Rate limit exceeded. Retry after 12 seconds."}"#, C::RateLimited, Some(12.0)),
        (429, "zhipu", r#"{"error":{"code":"1302","message":"您的账户已达到速率限制，请您控制请求频率，30 秒后重试"}}"#, C::RateLimited, Some(30.0)),
        (429, "qianfan", r#"{"error_code":336501,"error_msg":"Rate limit reached for RPM"}"#, C::RateLimited, None),
        (429, "volcengine", r#"{"error":{"code":"ModelAccountTpmRateLimitExceeded","message":"The Tokens Per Minute limit of the associated model for your account has been exceeded."}}"#, C::RateLimited, None),
        (429, "openrouter", r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"Too many requests, retry_after 5\",\"type\":\"rate_limit_error\",\"retry_after\":5}}","provider_name":"Acme"}}}"#, C::RateLimited, Some(5.0)),
        // no capacity, under 400, 429 and 503
        (503, "ollama", r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#, C::Overloaded, None),
        (429, "huggingface", r#"{"error":"Model is overloaded","error_type":"overloaded"}"#, C::Overloaded, None),
        (503, "huggingface", r#"{"error":"Model acme/tiny is currently loading","estimated_time":42.5}"#, C::Overloaded, Some(42.5)),
        (503, "llama.cpp", r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#, C::Overloaded, None),
        (400, "", r#"{"message":"Too many connections, please wait before trying again."}"#, C::Overloaded, None),
        (400, "", r#"{"error":{"message":"Model overloaded, no queue slots left","type":"invalid_request_error"}}"#, C::Overloaded, None),
        (429, "mistral", r#"{"object":"error","message":"Service tier capacity exceeded for this model.","type":"service_tier_capacity_exceeded","code":"3505"}"#, C::Overloaded, None),
        (429, "cerebras", r#"{"message":"We're experiencing high traffic right now! Please try again soon.","type":"too_many_requests_error","param":"queue","code":"queue_exceeded"}"#, C::Overloaded, None),
        (503, "deepseek", r#"{"error":{"message":"Server is busy, please retry later","type":"service_unavailable_error"}}"#, C::Overloaded, None),
        (429, "zhipu", r#"{"error":{"code":"1305","message":"该模型当前访问量过大，请您稍后再试"}}"#, C::Overloaded, None),
        (503, "torchserve", r#"{"code":503,"type":"ServiceUnavailableException","message":"Model \"x\" has no worker to serve inference request."}"#, C::Overloaded, None),
        (400, "bedrock", r#"{"error":{"type":"serviceUnavailableException","message":"Bedrock is unable to process your request."}}"#, C::Overloaded, None),
        (0, "", r#"litellm.APIConnectionError: Bad response code, expected 200: {'status_code': 400, 'headers': {':exception-type': 'serviceUnavailableException', ':content-type': 'application/json', ':message-type': 'exception'}, 'body': b'{"message":"Bedrock is unable to process your request."}'}"#, C::Overloaded, None),
        (0, "", "Bad response code, expected 200: {'status_code': 400, 'headers': {':exception-type': 'throttlingException'}, 'body': b'{\"message\":\"Too many tokens, please wait before trying again.\"}'}", C::RateLimited, None),
        (503, "gemini", r#"{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}"#, C::Overloaded, None),
        (0, "", "got status: 503 Service Unavailable. {\"error\":{\"code\":503,\"message\":\"The model is overloaded.\",\"status\":\"UNAVAILABLE\"}}", C::Overloaded, None),
        // prompts that are too long, in any envelope
        (500, "", r#"{"error":{"message":"Input length (140012) exceeds maximum allowed token size (131072)","type":"internal_error"}}"#, C::ContextTooLong, None),
        (500, "ollama", r#"{"error":"input length exceeds the context length"}"#, C::ContextTooLong, None),
        (422, "huggingface", r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4021 `inputs` tokens and 512 `max_new_tokens`","error_type":"validation"}"#, C::ContextTooLong, None),
        (400, "xai", r#"{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#, C::ContextTooLong, None),
        (400, "moonshot", r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192","type":"invalid_request_error"}}"#, C::ContextTooLong, None),
        (400, "minimax", r#"{"type":"error","error":{"type":"bad_request_error","message":"invalid params, context window exceeds limit (2013)"}}"#, C::ContextTooLong, None),
        // permissions, keys, edge servers
        (0, "", "request to https://x.test failed (status 403 Forbidden)", C::Permission, None),
        (403, "", "<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head><body>Sorry, you have been blocked</body></html>", C::GatewayError, None),
        (0, "", "PermissionDeniedError: <html>\r\n<head><title>403 Forbidden</title></head>\r\n<body><center>nginx</center></body></html>", C::GatewayError, None),
        (403, "", "error code: 1020", C::GatewayError, None),
        (0, "", "API error: 402 Payment Required", C::Billing, None),
        (0, "", "AxiosError: Request failed with status code 401", C::Authentication, None),
        (400, "gemini", r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#, C::Authentication, None),
        // gaxios puts the response under `response.data`
        (0, "", r#"{"error":{"message":"Request failed with status code 429","code":"429","status":429,"response":{"status":429,"data":{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"11s"}]}}}}}"#, C::QuotaExhausted, Some(11.0)),
    ];
    let mut wrong = Vec::new();
    for (status, provider, text, class, wait_s) in cases {
        let mut got = met(Some(*status).filter(|status| *status != 0), provider, text);
        if *status == 200 {
            // The body alone does not show a failure; the record does.
            let record = format!(r#"{{"ts":"2026-09-21T14:13:20Z","status":200,"outcome":"error","body":{text}}}"#);
            got = met(None, provider, &record);
        }
        let found = (got.verdict.map(|verdict| verdict.class), got.wait_s);
        if found != (Some(*class), *wait_s) {
            wrong.push(format!("{text}\n  want {class:?} {wait_s:?}\n  got  {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[rustfmt::skip]
fn words_that_elsewhere_mean_another_thing() {
    use Class as C;
    let cases: &[(u16, &str, &str, Class)] = &[
        // a user's text, quoted in a refusal
        (400, "", r#"{"error":{"message":"messages.1.content: My card says insufficient balance, what now? - text must not be empty","type":"invalid_request_error"}}"#, C::InvalidRequest),
        (400, "", r#"{"error":{"message":"Invalid value: 'the server is busy and overloaded'. Supported values are: 'low'.","type":"invalid_request_error"}}"#, C::InvalidRequest),
        (400, "", r#"{"error":{"message":"Could not parse the tool result \"余额不足\"","type":"invalid_request_error"}}"#, C::InvalidRequest),
        (422, "", r#"{"detail":"Unprocessable: the document speaks of people who have run out of credits"}"#, C::InvalidRequest),
        // "per day" in the address of a page, or beside the minute that was meant
        (429, "", r#"{"error":{"message":"Rate limit reached. See https://docs.example.test/limits/requests-per-day","type":"rate_limit_error"}}"#, C::RateLimited),
        (429, "", r#"{"error":{"message":"Rate limit exceeded: 20 requests per minute. You also have 1000 requests per day.","type":"rate_limit_error"}}"#, C::RateLimited),
        // the code of an empty account, unless the provider uses it with another meaning
        (429, "openai", r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota"}}"#, C::QuotaExhausted),
        (429, "", r#"{"error":{"code":"1113","message":"slow down","type":"rate_limit_error"}}"#, C::RateLimited),
        (429, "scaleway", r#"{"error":{"code":"INSUFFICIENT QUOTA","message":"You exceeded your current quota of concurrent requests"}}"#, C::RateLimited),
        // a missing permission, described in JSON
        (403, "", r#"{"error":{"type":"permission_error","message":"Your API key may not use this model. See <https://x.test/html>"}}"#, C::Permission),
        (401, "", "<html><head><title>401 Authorization Required</title></head></html>", C::Authentication),
        // a number that is not a status
        (0, "", "ValueError: 500 items are too many", C::Unknown),
        (429, "meta", r#"{"title":"Too Many Requests","detail":"You have exceeded the maximum number of tokens allowed within a given time frame.","status":429}"#, C::RateLimited),
    ];
    for (status, provider, text, class) in cases {
        let got = met(Some(*status).filter(|status| *status != 0), provider, text);
        assert_eq!(got.verdict.map(|verdict| verdict.class), Some(*class), "{text}");
    }
}

#[test]
fn an_edge_that_shut_the_caller_out_is_not_asked_again() {
    let page = met(Some(403), "", "<html><head><title>403 Forbidden</title></head></html>").verdict.unwrap();
    assert_eq!((page.class, page.action), (Class::GatewayError, Action::Stop));
}

#[test]
fn a_wait_stands_wherever_a_server_puts_it() {
    let cases = [
        (r#"{"status":429,"headers":{"x-ms-retry-after-ms":"1500"}}"#, Some(1.5)),
        (r#"{"status":429,"headers":{"x-amz-retry-after":"2500"}}"#, Some(2.5)),
        // the finer header takes precedence, in any order
        (
            r#"{"status":429,"headers":{"x-ms-retry-after-ms":"9000","retry-after-ms":"1500","retry-after":"2"}}"#,
            Some(1.5),
        ),
        (r#"{"status":429,"headers":{"x-rate-limit-reset-tokens":"55"}}"#, Some(55.0)),
        (
            r#"{"status":429,"headers":{"x-ratelimit-remaining-tokens":"0","x-ratelimit-reset-tokens":"6m0s"}}"#,
            Some(360.0),
        ),
        (r#"{"status":429,"headers":{"ratelimit-remaining":"0","ratelimit-reset":"12"}}"#, Some(12.0)),
        (r#"{"status":429,"headers":{"x-ratelimit-remaining":"0","x-ratelimit-reset":"1790000030000"}}"#, Some(30.0)),
        // of two exhausted limits, the later reset applies
        (
            r#"{"status":429,"headers":{"x-ratelimit-remaining-tokens":"0","x-ratelimit-reset-tokens":"6s","x-ratelimit-remaining-requests":"0","x-ratelimit-reset-requests":"20s"}}"#,
            Some(20.0),
        ),
        // something remains, or no remainder is given
        (r#"{"status":429,"headers":{"x-ratelimit-remaining-tokens":"900","x-ratelimit-reset-tokens":"6m0s"}}"#, None),
        (r#"{"status":429,"headers":{"x-ratelimit-reset-tokens":"6m0s"}}"#, None),
        // sentinels
        (r#"{"status":429,"headers":{"x-ratelimit-remaining-tokens":"-1","x-ratelimit-reset-tokens":"30s"}}"#, None),
        (r#"{"status":429,"headers":{"x-ratelimit-remaining-tokens":"0","x-ratelimit-reset-tokens":"0"}}"#, None),
        // a bucket that admits requests before it is full; a failure that is not a limit
        (
            r#"{"status":429,"headers":{"anthropic-ratelimit-requests-remaining":"0","anthropic-ratelimit-requests-reset":"2026-09-21T14:14:20Z"}}"#,
            None,
        ),
        (r#"{"status":503,"headers":{"ratelimit-remaining":"0","ratelimit-reset":"12"}}"#, None),
        (r#"{"status":429,"error":{"message":"slow down","retry_after_seconds":7}}"#, Some(7.0)),
        (r#"{"status":429,"error":{"message":"slow down","retry_after_ms":700}}"#, Some(0.7)),
        (r#"{"status":429,"error":{"message":"{\"error\":{\"details\":[{\"retryDelay\":\"27s\"}]}}"}}"#, Some(27.0)),
        (
            r#"{"ts":"2026-09-21T14:13:20Z","status":429,"error_message":"Limit reached, try again at 14:20"}"#,
            Some(400.0),
        ),
        (
            r#"{"ts":"2026-09-21T14:13:20Z","status":429,"error_message":"Limit reached, try again at 4:00 PM (UTC)"}"#,
            Some(6400.0),
        ),
        (r#"{"ts":"2026-09-21T14:13:20Z","status":429,"error_message":"try again at 17:00 UTC+2"}"#, Some(2800.0)),
        // a time of day without a zone, hours ahead
        (r#"{"ts":"2026-09-21T14:13:20Z","status":429,"error_message":"Limit reached, try again at 16:50"}"#, None),
        (r#"{"ts":"2026-09-21T14:13:20Z","status":429,"error_message":"retrying in 5 seconds"}"#, None),
        // a header takes precedence over the message
        (r#"{"status":429,"retry_after":3,"error_message":"Please try again in 12.77s"}"#, Some(3.0)),
    ];
    for (record, wait_s) in cases {
        assert_eq!(met(None, "", record).wait_s, wait_s, "{record}");
    }
}
