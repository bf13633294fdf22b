//! What providers call their failures: exact codes and types, as data.
//!
//! Codes are matched exactly, case included: `insufficient_quota` is an empty account at one
//! provider, `INSUFFICIENT QUOTA` is every throttle of another.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Class;

/// Where a piece of provider knowledge comes from.
#[derive(Copy, Clone, Debug)]
pub struct Origin {
    /// Whom it is known from.
    pub provider: &'static str,
    /// Where it is written, short.
    pub source: &'static str,
}

/// How much a code settles by itself.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Weight {
    /// Settles the class; the message is not read.
    Final,
    /// Settles the class unless the message says something more telling.
    Open,
    /// Like `Open`, and a more specific status wins too.
    Broad,
    /// A class name of a client library: stands for a status, so the status goes first.
    Weak,
}

/// One exact code or type.
#[derive(Copy, Clone, Debug)]
pub struct ExactRow {
    /// The code or type, exactly as it is sent.
    pub name: &'static str,
    /// What it means.
    pub class: Class,
    /// How much it settles.
    pub weight: Weight,
    /// Who says so.
    pub origin: Origin,
}

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

/// Every exact code and type known, by provider. Names are unique.
#[rustfmt::skip]
pub const EXACT: &[ExactRow] = &[
    row("enforced_spend_limit_reached", SpendCap, Final, ANTHROPIC),
    row("overloaded_error", Overloaded, Final, ANTHROPIC),
    row("rate_limit_error", RateLimited, Broad, ANTHROPIC),
    row("api_error", ServerError, Broad, ANTHROPIC),
    // OpenAI uses this type for nearly every 4xx, so status and message go on.
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

    // Open for one reason: a provider that sends this code for a throttle says so in prose.
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

    row("exceeded_current_quota_error", QuotaExhausted, Final, MOONSHOT),
    row("rate_limit_reached_error", RateLimited, Open, MOONSHOT),
    row("engine_overloaded_error", Overloaded, Final, MOONSHOT),

    // Every 429 of Gemini; the quota id in the message says whether it is a minute or a day.
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

    row("INSUFFICIENT QUOTA", RateLimited, Open, SCALEWAY),
    row("token_quota_exceeded", RateLimited, Open, CEREBRAS),
    row("Throttling", RateLimited, Open, DASHSCOPE),
    row("Throttling.RateQuota", RateLimited, Open, DASHSCOPE),
    row("Throttling.BurstRate", RateLimited, Open, DASHSCOPE),
    row("Throttling.AllocationQuota", RateLimited, Open, DASHSCOPE),
    row("AllocationQuota.FreeTierOnly", QuotaExhausted, Final, DASHSCOPE),
    row("Arrearage", Billing, Final, DASHSCOPE),
    row("data_inspection_failed", ContentPolicy, Final, DASHSCOPE),
    row("DataInspectionFailed", ContentPolicy, Final, DASHSCOPE),

    row("ContextWindowExceededError", ContextTooLong, Final, LITELLM),
    row("ContentPolicyViolationError", ContentPolicy, Final, LITELLM),
    row("BudgetExceededError", QuotaExhausted, Final, LITELLM),
    row("budget_exceeded", QuotaExhausted, Final, LITELLM),
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

    // The record's own words, for loggers that put them where a type belongs.
    row("timeout", Timeout, Final, NATIVE),
    row("schema_error", SchemaError, Final, NATIVE),
    row("policy_refusal", ContentPolicy, Final, NATIVE),
    row("cancelled", Cancelled, Final, NATIVE),
];

/// A family of codes that share a beginning, a middle or an ending.
#[derive(Copy, Clone, Debug)]
pub struct FamilyRow {
    /// How the code begins.
    pub prefix: &'static str,
    /// What stands somewhere in the code.
    pub middle: &'static str,
    /// How the code ends.
    pub suffix: &'static str,
    /// The row that stands for the family; it has no name of its own.
    pub row: ExactRow,
}

/// Families of codes, tried after the exact ones.
pub const FAMILIES: &[FamilyRow] = &[
    family("", "", "_spend_limit_exceeded", QuotaExhausted, Final, OPENAI_SPEND),
    family("unsupported_", "", "", InvalidRequest, Open, OPENAI),
    family("Throttling.", "", "", RateLimited, Open, DASHSCOPE),
    // Gemini's quota ids, where a logger keeps them as the code.
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

static BY_NAME: LazyLock<HashMap<&'static str, &'static ExactRow>> =
    LazyLock::new(|| EXACT.iter().map(|row| (row.name, row)).collect());

/// The row of a code or type, however it is wrapped: `aws#ThrottlingException:http://...`,
/// `litellm.RateLimitError`, `throttlingException`.
pub fn lookup(word: &str) -> Option<&'static ExactRow> {
    if let Some(row) = BY_NAME.get(word) {
        return Some(row);
    }
    let fits = |family: &&FamilyRow| {
        word.len() > family.prefix.len() + family.suffix.len()
            && word.starts_with(family.prefix)
            && word.ends_with(family.suffix)
            && word.contains(family.middle)
    };
    if let Some(family) = FAMILIES.iter().find(fits) {
        return Some(&family.row);
    }
    let bare = bare_name(word);
    if bare.len() != word.len() && !bare.is_empty() {
        return lookup(bare);
    }
    // AWS event streams spell the exception names of the API reference in camel case.
    if word.ends_with("Exception") && word.starts_with(|first: char| first.is_ascii_lowercase()) {
        let mut capitalised = word.to_owned();
        capitalised[..1].make_ascii_uppercase();
        return BY_NAME.get(capitalised.as_str()).copied();
    }
    None
}

/// A name without its namespace (`x#`, `a.b.`) and without what follows a colon.
pub(super) fn bare_name(word: &str) -> &str {
    let word = word.split_once(':').map_or(word, |(name, _)| name).trim();
    let word = word.rsplit_once('#').map_or(word, |(_, name)| name);
    word.rsplit_once('.').map_or(word, |(_, name)| name)
}
