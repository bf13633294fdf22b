//! Phrases about usage windows, plans, and limits of a day or longer, as opposed to limits per minute.

use super::{AppliesTo, LIMIT, MessageRow, REFUSED, opens, origin, quota_id, says};
use crate::classify::{
    Class::{Entitlement, QuotaExhausted, RateLimited, UsageWindow},
    row::Origin,
};

const CLAUDE_CODE: Origin = origin("anthropic", "Claude Code notices, claude-code issues");
const OPENAI: Origin = origin("openai", "OpenAI API docs, Error codes and Rate limits");
const CODEX: Origin = origin("openai", "openai/codex#43892");
const QUOTA_ID: Origin = origin("gemini", "Gemini API, google.rpc.QuotaFailure quotaId");
const GEMINI_CLI: Origin = origin("gemini", "Gemini CLI, quota notices");
const VERTEX: Origin = origin("gemini", "Vertex AI docs, Quotas, metric names");
const BEDROCK: Origin = origin("bedrock", "Amazon Bedrock User Guide, API error codes");
const DASHSCOPE: Origin = origin("dashscope", "Alibaba Model Studio docs, Error messages");
const ZHIPU: Origin = origin("zhipu", "Zhipu and Z.ai API docs, Error codes 1308 and 1310");
const KIMI: Origin = origin("moonshot", "Kimi Code notices");
const CEREBRAS: Origin = origin("cerebras", "Cerebras docs, Rate limits; dcdpr/jp#1081");
const COHERE: Origin = origin("cohere", "Cohere docs, Rate limits");
const OPENROUTER: Origin = origin("openrouter", "OpenRouter docs, Limits; Gitlawb/openclaude#936");
const GITHUB: Origin = origin("github", "GitHub Models docs, Rate limits");

/// A rate limit, a message alone, or the code of an exhausted quota.
const LIMIT_OR_QUOTA: AppliesTo = LIMIT.union(AppliesTo::QUOTAS);
/// Short intervals. In a message that contains one, a longer interval is only part of the explanation.
const SHORT: &[&str] = &["per minute", "per min ", "per min)", "per second", "PerMinute"];

/// Providers that use the phrase "exceeded your current quota" for every limit.
const SAME_SENTENCE: &[&str] =
    &["gemini", "google", "vertex", "scaleway", "dashscope", "qwen", "bailian", "alibaba", "aliyun", "modelstudio"];

/// A limit over a day or longer that refills continuously.
const fn long(text: &'static str, origin: Origin) -> MessageRow {
    MessageRow { refills: true, unless_said: SHORT, ..says(text, QuotaExhausted, LIMIT, origin) }
}

#[rustfmt::skip]
pub(super) const ROWS: &[MessageRow] = &[
    says("Extra usage is required for long context", Entitlement, super::ANY, CLAUDE_CODE),
    says("long context beta is not yet available for this subscription", Entitlement, super::ANY, CLAUDE_CODE),
    says("not included in your plan", Entitlement, super::ANY, CLAUDE_CODE),
    opens("plan does not include", Entitlement, REFUSED.union(LIMIT), ZHIPU),
    opens("model is not supported when using Codex", Entitlement, REFUSED, CODEX),
    says("You've hit your session limit", UsageWindow, LIMIT, CLAUDE_CODE),
    says("You've hit your weekly limit", UsageWindow, LIMIT, CLAUDE_CODE),
    says("You've hit your limit", UsageWindow, LIMIT, CLAUDE_CODE),
    says("You've hit your usage limit", UsageWindow, LIMIT, CODEX),
    says("You've reached your usage limit", UsageWindow, LIMIT, KIMI),
    says("usage limit has been reached", UsageWindow, LIMIT, CODEX),
    says("usage limit reached", UsageWindow, LIMIT, CLAUDE_CODE),
    says("weekly limit reached", UsageWindow, LIMIT, CLAUDE_CODE),
    says("5-hour limit reached", UsageWindow, LIMIT, CLAUDE_CODE),
    says("Monthly Limit Exhausted", UsageWindow, LIMIT, ZHIPU),
    says("使用上限", UsageWindow, LIMIT, ZHIPU),
    says("您的限额将在", UsageWindow, LIMIT, ZHIPU),
    says("hour allocated quota exceeded", UsageWindow, LIMIT_OR_QUOTA, DASHSCOPE),
    says("week allocated quota exceeded", UsageWindow, LIMIT_OR_QUOTA, DASHSCOPE),
    says("month allocated quota exceeded", UsageWindow, LIMIT_OR_QUOTA, DASHSCOPE),
    says("quota will reset after", UsageWindow, LIMIT, GEMINI_CLI),

    says("Too many tokens per day", QuotaExhausted, LIMIT, BEDROCK),
    quota_id("PerDay", QuotaExhausted, QUOTA_ID),
    quota_id("PerMinute", RateLimited, QUOTA_ID),
    MessageRow { unless_said: SHORT, ..says("_per_day", QuotaExhausted, LIMIT, VERTEX) },
    says("_per_minute", RateLimited, LIMIT_OR_QUOTA, VERTEX),
    says("free-models-per-day", QuotaExhausted, LIMIT, OPENROUTER),
    says("free_tier_daily", QuotaExhausted, LIMIT, OPENROUTER),
    says("ByModelByDay", QuotaExhausted, LIMIT, GITHUB),
    long("requests per day", OPENAI),
    long("tokens per day", OPENAI),
    long("calls per day", COHERE),
    long("requests per month", COHERE),
    long("tokens per month", COHERE),
    long("calls per month", COHERE),
    long("calls / month", COHERE),
    long("daily limit", CEREBRAS),
    long("daily quota", CEREBRAS),
    long("daily request limit", CEREBRAS),
    long("daily token limit", CEREBRAS),
    long("daily rate limit", CEREBRAS),
    long("weekly limit", ZHIPU),
    long("monthly limit", COHERE),
    long("monthly quota", COHERE),

    says("tokens per min", RateLimited, LIMIT_OR_QUOTA, OPENAI),
    says("requests per min", RateLimited, LIMIT_OR_QUOTA, OPENAI),
    says("tokens per second", RateLimited, LIMIT_OR_QUOTA, OPENAI),
    says("requests per second", RateLimited, LIMIT_OR_QUOTA, CEREBRAS),
    says("Allocated quota exceeded", RateLimited, LIMIT_OR_QUOTA, DASHSCOPE),
    // The message for an empty account, with a link to a page about tokens per minute (can1357/oh-my-pi#8496).
    says("help.aliyun.com/zh/model-studio/error-code#token-limit", RateLimited, LIMIT_OR_QUOTA, DASHSCOPE),
    says("alibabacloud.com/help/en/model-studio/error-code#token-limit", RateLimited, LIMIT_OR_QUOTA, DASHSCOPE),
    // Some providers send this sentence with every 429, including limits per minute.
    MessageRow { unless: SAME_SENTENCE,
        ..says("exceeded your current quota", QuotaExhausted, LIMIT, OPENAI) },
];
