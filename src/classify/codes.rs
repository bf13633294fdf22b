//! Error codes and types of providers, as tables; each row names its source.

use super::Class;
use super::row::{ExactRow, FamilyRow, Origin, ProviderRow, Weight};

const fn origin(provider: &'static str, source: &'static str) -> Origin {
    Origin { provider, source }
}

const ANTHROPIC: Origin = origin("anthropic", "Anthropic API docs, Errors");
const CLAUDE_CODE: Origin = origin("anthropic", "Claude Code SDK, sdk.d.ts, assistant error");
const ANTHROPIC_SDK: Origin = origin("anthropic", "Anthropic API docs, OpenTelemetry spans");
const OPENAI: Origin = origin("openai", "OpenAI API docs, Error codes");
const OPENAI_SPEND: Origin = origin("openai", "jin-bo/agentao#283, promptfoo#10855");
const OPENAI_RESPONSES: Origin = origin("openai", "openai-node, responses.ts, ResponseError");
const CODEX: Origin = origin("openai", "CLIProxyAPI#1666, codegraff2#90");
const MOONSHOT: Origin = origin("moonshot", "Moonshot API docs, Errors");
const GEMINI: Origin = origin("gemini", "Gemini API docs, Troubleshooting; google.rpc.Code");
const QUOTA_ID: Origin = origin("gemini", "Gemini API, google.rpc.QuotaFailure quotaId");
const BEDROCK: Origin = origin("bedrock", "Amazon Bedrock Runtime API reference, Errors");
const AWS: Origin = origin("bedrock", "AWS API reference, Common errors");
const AZURE: Origin = origin("azure", "Azure OpenAI docs, Content filtering and errors");
const SCALEWAY: Origin = origin("scaleway", "LibreChat-AI/agents#357");
const CEREBRAS: Origin = origin("cerebras", "dcdpr/jp#1081");
const DASHSCOPE: Origin = origin("dashscope", "Alibaba Model Studio docs, Error messages");
const LITELLM: Origin = origin("litellm", "LiteLLM docs, Exception mapping");
const GOOGLE: Origin = origin("gemini", "Google Cloud docs, JSON API errors; google.rpc.ErrorInfo");
const GOOGLE_CLASS: Origin = origin("gemini", "google-api-core, exceptions.py");
const DATABRICKS: Origin = origin("databricks", "Databricks REST API docs, Errors; nicobailon/pi-subagents#1957");
const MISTRAL: Origin = origin("mistral", "continuedev/continue#6185, earendil-works/pi#9815");
const MINIMAX: Origin = origin("minimax", "MiniMax API docs, Error codes; modelscope/modelscope#1691");
const ZHIPU: Origin = origin("zhipu", "Zhipu and Z.ai API docs, Error codes; zai-org/feedback#789");
const SILICONFLOW: Origin = origin("siliconflow", "SiliconFlow docs, Error codes; FoundationAgents/OpenManus#438");
const CLOUDFLARE_AI: Origin = origin("cloudflare", "Cloudflare Workers AI docs, Errors");
const QIANFAN: Origin = origin("qianfan", "Baidu Qianfan API docs, Error codes");
const TENCENT: Origin = origin("tencent", "Tencent Hunyuan API docs, Error codes");
const ARK: Origin = origin("volcengine", "Volcengine Ark API docs, Error codes");
const TOGETHER: Origin = origin("together", "Together AI docs, Error codes");
const GROQ: Origin = origin("groq", "Groq API docs, Errors");
const TGI: Origin = origin("huggingface", "text-generation-inference, docs/openapi.json");
const LLAMA_CPP: Origin = origin("llama.cpp", "llama.cpp, tools/server/README.md");
const NEW_API: Origin = origin("new-api", "new-api and one-api, error codes of relays");
const VERCEL: Origin = origin("vercel", "Vercel AI Gateway docs, Errors");
const SDK_CLASS: Origin = origin("sdk", "openai-python and anthropic-python, _exceptions.py");
const NATIVE: Origin = origin("retrylens", "retrylens attempt record, field `kind`");

const fn row(name: &'static str, class: Class, weight: Weight, origin: Origin) -> ExactRow {
    ExactRow { name, class, weight, origin }
}

use Class::{
    Authentication, Billing, Cancelled, Conflict, Connection, ContentPolicy, ContextTooLong, Entitlement, GatewayError,
    InvalidRequest, NotFound, Overloaded, Permission, QuotaExhausted, RateLimited, RequestTooLarge, SchemaError,
    ServerError, SpendCap, Timeout, UsageWindow,
};
use Weight::{Broad, Final, Open, Weak};

/// All known codes and types, by provider. Names are unique.
#[rustfmt::skip]
pub const EXACT: &[ExactRow] = &[
    row("enforced_spend_limit_reached", SpendCap, Final, ANTHROPIC),
    row("overloaded_error", Overloaded, Final, ANTHROPIC),
    row("rate_limit_error", RateLimited, Broad, ANTHROPIC),
    row("api_error", ServerError, Broad, ANTHROPIC),
    // OpenAI uses this type for nearly every 4xx, so the status and the message take precedence.
    row("invalid_request_error", InvalidRequest, Broad, ANTHROPIC),
    row("authentication_error", Authentication, Final, ANTHROPIC),
    row("billing_error", Billing, Final, ANTHROPIC),
    row("permission_error", Permission, Open, ANTHROPIC),
    row("not_found_error", NotFound, Final, ANTHROPIC),
    row("request_too_large", RequestTooLarge, Open, ANTHROPIC),
    row("timeout_error", Timeout, Final, ANTHROPIC),
    row("conflict_error", Conflict, Final, ANTHROPIC),

    row("overloaded", Overloaded, Final, CLAUDE_CODE),
    row("rate_limit", RateLimited, Broad, CLAUDE_CODE),
    row("invalid_request", InvalidRequest, Broad, CLAUDE_CODE),
    row("authentication_failed", Authentication, Final, CLAUDE_CODE),

    row("client_timeout_error", Timeout, Final, ANTHROPIC_SDK),
    row("connection_error", Connection, Final, ANTHROPIC_SDK),

    // Not final, because a provider that sends this code for a rate limit says so in the message.
    row("insufficient_quota", QuotaExhausted, Open, OPENAI),
    row("billing_hard_limit_reached", QuotaExhausted, Final, OPENAI_SPEND),
    row("billing_not_active", QuotaExhausted, Final, OPENAI_SPEND),
    row("credit_balance_exhausted", QuotaExhausted, Final, OPENAI_SPEND),
    row("organization_spend_limit_exceeded", QuotaExhausted, Final, OPENAI_SPEND),
    row("project_spend_limit_exceeded", QuotaExhausted, Final, OPENAI_SPEND),
    row("organization_usage_limit_exceeded", QuotaExhausted, Final, OPENAI_SPEND),
    row("rate_limit_exceeded", RateLimited, Open, OPENAI),
    row("tokens", RateLimited, Open, OPENAI),
    row("requests", RateLimited, Open, OPENAI),
    row("input_tokens", RateLimited, Open, OPENAI),
    row("server_error", ServerError, Broad, OPENAI),
    row("server_is_overloaded", Overloaded, Final, OPENAI),
    row("slow_down", Overloaded, Final, OPENAI),
    row("context_length_exceeded", ContextTooLong, Final, OPENAI),
    row("string_above_max_length", InvalidRequest, Open, OPENAI),
    row("content_filter", ContentPolicy, Final, OPENAI),
    row("content_policy_violation", ContentPolicy, Final, OPENAI),
    row("moderation_blocked", ContentPolicy, Final, OPENAI),
    row("invalid_api_key", Authentication, Final, OPENAI),
    row("account_deactivated", Authentication, Final, OPENAI),
    row("model_not_found", NotFound, Final, OPENAI),
    row("unsupported_country_region_territory", Permission, Final, OPENAI),
    row("missing_required_parameter", InvalidRequest, Open, OPENAI),
    row("invalid_value", InvalidRequest, Open, OPENAI),
    row("invalid_type", InvalidRequest, Open, OPENAI),
    row("invalid_prompt", ContentPolicy, Final, OPENAI_RESPONSES),
    row("bio_policy", ContentPolicy, Final, OPENAI_RESPONSES),
    row("image_content_policy_violation", ContentPolicy, Final, OPENAI_RESPONSES),
    row("data_residency_mismatch", InvalidRequest, Final, OPENAI_RESPONSES),
    row("vector_store_timeout", Timeout, Final, OPENAI_RESPONSES),
    row("usage_limit_reached", UsageWindow, Final, CODEX),
    row("usage_not_included", Entitlement, Final, CODEX),

    row("resource_unavailable", Overloaded, Final, OPENAI),
    row("payment_required", Billing, Open, OPENAI),

    row("exceeded_current_quota_error", QuotaExhausted, Final, MOONSHOT),
    row("invalid_authentication_error", Authentication, Final, MOONSHOT),
    row("incorrect_api_key_error", Authentication, Final, MOONSHOT),
    row("permission_denied_error", Permission, Open, MOONSHOT),
    row("resource_not_found_error", NotFound, Final, MOONSHOT),
    row("rate_limit_reached_error", RateLimited, Open, MOONSHOT),
    row("engine_overloaded_error", Overloaded, Final, MOONSHOT),

    // All 429 responses of Gemini have this code; the quota id in the message distinguishes minutes from days.
    row("RESOURCE_EXHAUSTED", RateLimited, Open, GEMINI),
    row("UNAVAILABLE", Overloaded, Final, GEMINI),
    row("DEADLINE_EXCEEDED", Timeout, Final, GEMINI),
    row("INVALID_ARGUMENT", InvalidRequest, Open, GEMINI),
    row("FAILED_PRECONDITION", InvalidRequest, Open, GEMINI),
    row("PERMISSION_DENIED", Permission, Open, GEMINI),
    row("UNAUTHENTICATED", Authentication, Final, GEMINI),
    row("NOT_FOUND", NotFound, Final, GEMINI),
    row("INTERNAL", ServerError, Broad, GEMINI),
    row("CANCELLED", Cancelled, Final, GEMINI),
    row("ABORTED", Conflict, Final, GEMINI),

    row("rateLimitExceeded", RateLimited, Open, GOOGLE),
    row("userRateLimitExceeded", RateLimited, Open, GOOGLE),
    row("RATE_LIMIT_EXCEEDED", RateLimited, Open, GOOGLE),
    row("dailyLimitExceeded", QuotaExhausted, Final, GOOGLE),
    row("MODEL_CAPACITY_EXHAUSTED", Overloaded, Final, GOOGLE),
    row("API_KEY_INVALID", Authentication, Final, GOOGLE),
    row("BILLING_DISABLED", Billing, Final, GOOGLE),
    row("SERVICE_DISABLED", Permission, Final, GOOGLE),
    row("accessNotConfigured", Permission, Final, GOOGLE),
    row("ResourceExhausted", RateLimited, Weak, GOOGLE_CLASS),
    row("TooManyRequests", RateLimited, Broad, GOOGLE_CLASS),
    row("Unauthenticated", Authentication, Weak, GOOGLE_CLASS),
    row("PermissionDenied", Permission, Weak, GOOGLE_CLASS),
    row("InvalidArgument", InvalidRequest, Weak, GOOGLE_CLASS),

    row("ThrottlingException", RateLimited, Open, BEDROCK),
    row("ModelNotReadyException", Overloaded, Final, BEDROCK),
    row("ServiceUnavailableException", Overloaded, Final, BEDROCK),
    row("ValidationException", InvalidRequest, Open, BEDROCK),
    row("AccessDeniedException", Permission, Open, BEDROCK),
    row("ServiceQuotaExceededException", QuotaExhausted, Final, BEDROCK),
    row("ResourceNotFoundException", NotFound, Final, BEDROCK),
    row("InternalServerException", ServerError, Broad, BEDROCK),
    row("ModelErrorException", ServerError, Open, BEDROCK),
    row("ModelStreamErrorException", ServerError, Open, BEDROCK),
    row("ModelTimeoutException", Timeout, Final, BEDROCK),
    row("TooManyRequestsException", RateLimited, Open, AWS),
    row("UnrecognizedClientException", Authentication, Final, AWS),
    row("ExpiredTokenException", Authentication, Final, AWS),

    row("ResponsibleAIPolicyViolation", ContentPolicy, Final, AZURE),
    row("DeploymentNotFound", NotFound, Final, AZURE),
    row("too_many_requests", RateLimited, Broad, AZURE),
    row("RateLimitReached", RateLimited, Open, AZURE),
    row("NoCapacity", Overloaded, Final, AZURE),

    row("INSUFFICIENT QUOTA", RateLimited, Open, SCALEWAY),
    row("token_quota_exceeded", RateLimited, Open, CEREBRAS),
    row("request_quota_exceeded", RateLimited, Open, CEREBRAS),
    row("too_many_requests_error", RateLimited, Broad, CEREBRAS),
    row("too_many_tokens_error", RateLimited, Broad, CEREBRAS),
    row("queue_exceeded", Overloaded, Final, CEREBRAS),
    row("wrong_api_key", Authentication, Final, CEREBRAS),

    row("rate_limited", RateLimited, Broad, MISTRAL),
    row("service_tier_capacity_exceeded", Overloaded, Final, MISTRAL),
    row("insufficient_balance_error", QuotaExhausted, Final, MINIMAX),

    row("REQUEST_LIMIT_EXCEEDED", RateLimited, Open, DATABRICKS),
    row("TEMPORARILY_UNAVAILABLE", Overloaded, Final, DATABRICKS),
    row("QUOTA_EXCEEDED", QuotaExhausted, Open, DATABRICKS),
    row("INVALID_PARAMETER_VALUE", InvalidRequest, Broad, DATABRICKS),
    row("BAD_REQUEST", InvalidRequest, Broad, DATABRICKS),
    row("RESOURCE_DOES_NOT_EXIST", NotFound, Final, DATABRICKS),
    row("ENDPOINT_NOT_FOUND", NotFound, Final, DATABRICKS),
    row("INTERNAL_ERROR", ServerError, Broad, DATABRICKS),

    row("dynamic_request_limited", RateLimited, Open, TOGETHER),
    row("dynamic_token_limited", RateLimited, Open, TOGETHER),
    row("credit_limit", QuotaExhausted, Final, TOGETHER),
    row("capacity_exceeded", Overloaded, Final, GROQ),
    row("model_decommissioned", NotFound, Final, GROQ),
    row("validation", InvalidRequest, Open, TGI),
    row("generation", ServerError, Broad, TGI),
    row("exceed_context_size_error", ContextTooLong, Final, LLAMA_CPP),
    row("unavailable_error", Overloaded, Final, LLAMA_CPP),
    row("insufficient_user_quota", QuotaExhausted, Final, NEW_API),
    row("pre_consume_token_quota_failed", QuotaExhausted, Final, NEW_API),
    row("insufficient_funds", QuotaExhausted, Final, VERCEL),

    row("RequestLimitExceeded", RateLimited, Open, TENCENT),
    row("ResourcePackExhausted", QuotaExhausted, Final, TENCENT),
    row("FreeResourcePackExhausted", QuotaExhausted, Final, TENCENT),
    row("AccountOverdueError", Billing, Final, ARK),
    row("SetLimitExceeded", QuotaExhausted, Final, ARK),
    row("ServerOverloaded", Overloaded, Final, ARK),
    row("RequestBurstTooFast", RateLimited, Open, ARK),
    row("Throttling", RateLimited, Open, DASHSCOPE),
    row("Throttling.RateQuota", RateLimited, Open, DASHSCOPE),
    row("Throttling.BurstRate", RateLimited, Open, DASHSCOPE),
    row("Throttling.AllocationQuota", RateLimited, Open, DASHSCOPE),
    row("AllocationQuota.FreeTierOnly", QuotaExhausted, Final, DASHSCOPE),
    row("Arrearage", Billing, Final, DASHSCOPE),
    row("PrepaidBillOverdue", Billing, Final, DASHSCOPE),
    row("PostpaidBillOverdue", Billing, Final, DASHSCOPE),
    row("CommodityNotPurchased", Entitlement, Final, DASHSCOPE),
    row("AccessDenied.Unpurchased", Entitlement, Final, DASHSCOPE),
    row("limit_burst_rate", RateLimited, Open, DASHSCOPE),
    row("limit_requests", RateLimited, Open, DASHSCOPE),
    row("InvalidApiKey", Authentication, Final, DASHSCOPE),
    row("ServiceUnavailable", Overloaded, Open, DASHSCOPE),
    row("ModelUnavailable", Overloaded, Final, DASHSCOPE),
    row("ModelServingError", ServerError, Open, DASHSCOPE),
    row("RequestTimeOut", Timeout, Final, DASHSCOPE),
    row("data_inspection_failed", ContentPolicy, Final, DASHSCOPE),
    row("DataInspectionFailed", ContentPolicy, Final, DASHSCOPE),

    row("ContextWindowExceededError", ContextTooLong, Final, LITELLM),
    row("ContentPolicyViolationError", ContentPolicy, Final, LITELLM),
    row("BudgetExceededError", QuotaExhausted, Final, LITELLM),
    row("budget_exceeded", QuotaExhausted, Final, LITELLM),
    row("throttling_error", RateLimited, Broad, LITELLM),
    row("internal_server_error", ServerError, Broad, LITELLM),
    row("key_model_access_denied", Permission, Final, LITELLM),
    row("team_model_access_denied", Permission, Final, LITELLM),
    row("expired_key", Authentication, Final, LITELLM),
    row("ServiceUnavailableError", GatewayError, Weak, LITELLM),
    row("BadGatewayError", GatewayError, Weak, LITELLM),
    row("InternalServerError", ServerError, Weak, SDK_CLASS),
    row("BadRequestError", InvalidRequest, Weak, SDK_CLASS),
    row("UnprocessableEntityError", InvalidRequest, Weak, SDK_CLASS),
    row("AuthenticationError", Authentication, Weak, SDK_CLASS),
    row("PermissionDeniedError", Permission, Weak, SDK_CLASS),
    row("NotFoundError", NotFound, Weak, SDK_CLASS),
    row("ConflictError", Conflict, Weak, SDK_CLASS),
    row("RequestTooLargeError", RequestTooLarge, Weak, SDK_CLASS),
    row("RateLimitError", RateLimited, Weak, SDK_CLASS),
    row("OverloadedError", Overloaded, Weak, SDK_CLASS),
    row("DeadlineExceededError", Timeout, Weak, SDK_CLASS),

    // Names of failures in the attempt record, for loggers that write them as the error type.
    row("timeout", Timeout, Final, NATIVE),
    row("schema_error", SchemaError, Final, NATIVE),
    row("policy_refusal", ContentPolicy, Final, NATIVE),
    row("cancelled", Cancelled, Final, NATIVE),
];

/// Families of codes, which are tried after the exact ones.
pub const FAMILIES: &[FamilyRow] = &[
    family("", "", "_spend_limit_exceeded", QuotaExhausted, Final, OPENAI_SPEND),
    // Ark sends EndpointTpmRateLimitExceeded, ModelAccountRpmRateLimitExceeded and others.
    family("", "", "RateLimitExceeded", RateLimited, Open, ARK),
    family("", "SensitiveContentDetected", "", ContentPolicy, Final, ARK),
    family("unsupported_", "", "", InvalidRequest, Open, OPENAI),
    family("Throttling.", "", "", RateLimited, Open, DASHSCOPE),
    // Quota ids of Gemini, for logs that record them as the error code.
    family("", "PerDay", "", QuotaExhausted, Final, QUOTA_ID),
    family("", "PerMinute", "", RateLimited, Open, QUOTA_ID),
];

const fn family(
    prefix: &'static str,
    middle: &'static str,
    suffix: &'static str,
    class: Class,
    weight: Weight,
    origin: Origin,
) -> FamilyRow {
    FamilyRow { prefix, middle, suffix, row: row("", class, weight, origin) }
}

const fn of(
    providers: &'static [&'static str],
    name: &'static str,
    class: Class,
    weight: Weight,
    origin: Origin,
) -> ProviderRow {
    ProviderRow { providers, row: row(name, class, weight, origin) }
}

/// Names of Alibaba's model service.
const AT_DASHSCOPE: &[&str] = &["dashscope", "qwen", "bailian", "alibaba", "aliyun", "model-studio", "modelstudio"];
const AT_ZHIPU: &[&str] = &["zhipu", "zai", "z.ai", "z-ai", "bigmodel", "glm"];
const AT_MINIMAX: &[&str] = &["minimax"];
const AT_MISTRAL: &[&str] = &["mistral"];
const AT_SILICONFLOW: &[&str] = &["siliconflow", "siliconcloud"];
const AT_CLOUDFLARE: &[&str] = &["cloudflare", "workers-ai", "workers_ai"];
const AT_QIANFAN: &[&str] = &["qianfan", "baidu", "wenxin", "ernie"];

/// Codes with a meaning specific to some providers: numbers, and words that mean something else elsewhere.
#[rustfmt::skip]
pub const OF_PROVIDERS: &[ProviderRow] = &[
    // Elsewhere the code of an empty account; DashScope also sends it for its limit of tokens per minute
    // (can1357/oh-my-pi#8496).
    of(AT_DASHSCOPE, "insufficient_quota", RateLimited, Open, DASHSCOPE),

    of(AT_ZHIPU, "1000", Authentication, Final, ZHIPU),
    of(AT_ZHIPU, "1001", Authentication, Final, ZHIPU),
    of(AT_ZHIPU, "1002", Authentication, Final, ZHIPU),
    of(AT_ZHIPU, "1003", Authentication, Final, ZHIPU),
    of(AT_ZHIPU, "1113", QuotaExhausted, Final, ZHIPU),
    of(AT_ZHIPU, "1261", ContextTooLong, Final, ZHIPU),
    of(AT_ZHIPU, "1301", ContentPolicy, Final, ZHIPU),
    of(AT_ZHIPU, "1302", RateLimited, Open, ZHIPU),
    of(AT_ZHIPU, "1303", RateLimited, Open, ZHIPU),
    of(AT_ZHIPU, "1304", QuotaExhausted, Open, ZHIPU),
    of(AT_ZHIPU, "1305", Overloaded, Final, ZHIPU),
    of(AT_ZHIPU, "1308", UsageWindow, Final, ZHIPU),
    of(AT_ZHIPU, "1309", Entitlement, Final, ZHIPU),
    of(AT_ZHIPU, "1310", UsageWindow, Final, ZHIPU),
    of(AT_ZHIPU, "1311", Entitlement, Final, ZHIPU),

    of(AT_MINIMAX, "1002", RateLimited, Open, MINIMAX),
    of(AT_MINIMAX, "1004", Authentication, Final, MINIMAX),
    of(AT_MINIMAX, "1008", QuotaExhausted, Final, MINIMAX),
    of(AT_MINIMAX, "1026", ContentPolicy, Final, MINIMAX),
    of(AT_MINIMAX, "1027", ContentPolicy, Final, MINIMAX),
    of(AT_MINIMAX, "1039", RateLimited, Open, MINIMAX),
    of(AT_MINIMAX, "2013", InvalidRequest, Open, MINIMAX),
    of(AT_MINIMAX, "2056", UsageWindow, Final, MINIMAX),

    of(AT_MISTRAL, "1300", RateLimited, Open, MISTRAL),
    of(AT_MISTRAL, "3505", Overloaded, Final, MISTRAL),

    of(AT_SILICONFLOW, "30001", QuotaExhausted, Final, SILICONFLOW),
    of(AT_SILICONFLOW, "30011", QuotaExhausted, Final, SILICONFLOW),
    of(AT_SILICONFLOW, "50505", Overloaded, Final, SILICONFLOW),

    of(AT_CLOUDFLARE, "3036", QuotaExhausted, Final, CLOUDFLARE_AI),
    of(AT_CLOUDFLARE, "3040", Overloaded, Final, CLOUDFLARE_AI),

    of(AT_QIANFAN, "17", QuotaExhausted, Final, QIANFAN),
    of(AT_QIANFAN, "18", RateLimited, Open, QIANFAN),
    of(AT_QIANFAN, "19", QuotaExhausted, Final, QIANFAN),
    of(AT_QIANFAN, "336100", Overloaded, Final, QIANFAN),
    of(AT_QIANFAN, "336501", RateLimited, Open, QIANFAN),
    of(AT_QIANFAN, "336502", RateLimited, Open, QIANFAN),
];
