//! Phrases about usage windows, plans, and limits of a day or longer, as opposed to limits per minute.

use super::{AppliesTo, LIMIT, MessageRow, REJECTED_OR_MESSAGE, anywhere, near_start, origin, quota_id};
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
const SHORT_INTERVALS: &[&str] = &["per minute", "per min ", "per min)", "per second", "PerMinute"];

/// Providers that use the phrase "exceeded your current quota" for every limit.
const SAME_SENTENCE: &[&str] =
    &["gemini", "google", "vertex", "scaleway", "dashscope", "qwen", "bailian", "alibaba", "aliyun", "modelstudio"];

/// A limit over a day or longer that refills continuously.
const fn long_interval(text: &'static str, origin: Origin) -> MessageRow {
    MessageRow {
        refills: true,
        unless_message_contains: SHORT_INTERVALS,
        ..anywhere(text, QuotaExhausted, LIMIT, origin)
    }
}

#[rustfmt::skip]
pub(super) const ROWS: &[MessageRow] = &[
    anywhere("Extra usage is required for long context", Entitlement, super::ANY, CLAUDE_CODE),
    anywhere("long context beta is not yet available for this subscription", Entitlement, super::ANY, CLAUDE_CODE),
    anywhere("not included in your plan", Entitlement, super::ANY, CLAUDE_CODE),
    near_start("plan does not include", Entitlement, REJECTED_OR_MESSAGE.union(LIMIT), ZHIPU),
    near_start("model is not supported when using Codex", Entitlement, REJECTED_OR_MESSAGE, CODEX),
    anywhere("You've hit your session limit", UsageWindow, LIMIT, CLAUDE_CODE),
    anywhere("You've hit your weekly limit", UsageWindow, LIMIT, CLAUDE_CODE),
    anywhere("You've hit your limit", UsageWindow, LIMIT, CLAUDE_CODE),
    anywhere("You've hit your usage limit", UsageWindow, LIMIT, CODEX),
    anywhere("You've reached your usage limit", UsageWindow, LIMIT, KIMI),
    anywhere("usage limit has been reached", UsageWindow, LIMIT, CODEX),
    anywhere("usage limit reached", UsageWindow, LIMIT, CLAUDE_CODE),
    anywhere("weekly limit reached", UsageWindow, LIMIT, CLAUDE_CODE),
    anywhere("5-hour limit reached", UsageWindow, LIMIT, CLAUDE_CODE),
    anywhere("Monthly Limit Exhausted", UsageWindow, LIMIT, ZHIPU),
    anywhere("使用上限", UsageWindow, LIMIT, ZHIPU),
    anywhere("您的限额将在", UsageWindow, LIMIT, ZHIPU),
    anywhere("hour allocated quota exceeded", UsageWindow, LIMIT_OR_QUOTA, DASHSCOPE),
    anywhere("week allocated quota exceeded", UsageWindow, LIMIT_OR_QUOTA, DASHSCOPE),
    anywhere("month allocated quota exceeded", UsageWindow, LIMIT_OR_QUOTA, DASHSCOPE),
    anywhere("quota will reset after", UsageWindow, LIMIT, GEMINI_CLI),

    anywhere("Too many tokens per day", QuotaExhausted, LIMIT, BEDROCK),
    quota_id("PerDay", QuotaExhausted, QUOTA_ID),
    quota_id("PerMinute", RateLimited, QUOTA_ID),
    MessageRow { unless_message_contains: SHORT_INTERVALS, ..anywhere("_per_day", QuotaExhausted, LIMIT, VERTEX) },
    anywhere("_per_minute", RateLimited, LIMIT_OR_QUOTA, VERTEX),
    anywhere("free-models-per-day", QuotaExhausted, LIMIT, OPENROUTER),
    anywhere("free_tier_daily", QuotaExhausted, LIMIT, OPENROUTER),
    anywhere("ByModelByDay", QuotaExhausted, LIMIT, GITHUB),
    long_interval("requests per day", OPENAI),
    long_interval("tokens per day", OPENAI),
    long_interval("calls per day", COHERE),
    long_interval("requests per month", COHERE),
    long_interval("tokens per month", COHERE),
    long_interval("calls per month", COHERE),
    long_interval("calls / month", COHERE),
    long_interval("daily limit", CEREBRAS),
    long_interval("daily quota", CEREBRAS),
    long_interval("daily request limit", CEREBRAS),
    long_interval("daily token limit", CEREBRAS),
    long_interval("daily rate limit", CEREBRAS),
    long_interval("weekly limit", ZHIPU),
    long_interval("monthly limit", COHERE),
    long_interval("monthly quota", COHERE),

    anywhere("tokens per min", RateLimited, LIMIT_OR_QUOTA, OPENAI),
    anywhere("requests per min", RateLimited, LIMIT_OR_QUOTA, OPENAI),
    anywhere("tokens per second", RateLimited, LIMIT_OR_QUOTA, OPENAI),
    anywhere("requests per second", RateLimited, LIMIT_OR_QUOTA, CEREBRAS),
    anywhere("Allocated quota exceeded", RateLimited, LIMIT_OR_QUOTA, DASHSCOPE),
    // The message for an empty account, with a link to a page about tokens per minute (can1357/oh-my-pi#8496).
    anywhere("help.aliyun.com/zh/model-studio/error-code#token-limit", RateLimited, LIMIT_OR_QUOTA, DASHSCOPE),
    anywhere("alibabacloud.com/help/en/model-studio/error-code#token-limit", RateLimited, LIMIT_OR_QUOTA, DASHSCOPE),
    // Some providers send this sentence with every 429, including limits per minute.
    MessageRow { unless_provider: SAME_SENTENCE,
        ..anywhere("exceeded your current quota", QuotaExhausted, LIMIT, OPENAI) },
];
