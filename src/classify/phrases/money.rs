//! Phrases about money: credit, balances, budgets and bills. They apply under any status.

use super::{ANY, MessageRow, anywhere, at_start, near_start, origin};
use crate::classify::{
    Class::{Billing, QuotaExhausted, SpendCap, SpendLimit},
    row::Origin,
};

const ANTHROPIC: Origin = origin("anthropic", "Anthropic API docs, Errors");
const OPENAI: Origin = origin("openai", "OpenAI API docs, Error codes");
const DEEPSEEK: Origin = origin("deepseek", "DeepSeek API docs, Error codes; 666ghj/BettaFish#286");
const SILICONFLOW: Origin = origin("siliconflow", "FoundationAgents/OpenManus#438");
const ZHIPU: Origin = origin("zhipu", "Zhipu API docs, Error codes; zai-org/feedback#789");
const XAI: Origin = origin("xai", "xAI API docs, Debugging errors");
const OPENROUTER: Origin = origin("openrouter", "OpenRouter docs, Errors");
const HUGGINGFACE: Origin = origin("huggingface", "Hugging Face docs, Inference Providers pricing");
const TOGETHER: Origin = origin("together", "Together AI docs, Error codes");
const FIREWORKS: Origin = origin("fireworks", "Fireworks AI docs, Account suspension");
const DASHSCOPE: Origin = origin("dashscope", "Alibaba Model Studio docs, Error messages");
const ARK: Origin = origin("volcengine", "Volcengine Ark API docs, Error codes");
const GOOGLE: Origin = origin("gemini", "Google Cloud docs, BILLING_DISABLED");
const LITELLM: Origin = origin("litellm", "LiteLLM docs, Budgets");
const NEW_API: Origin = origin("new-api", "new-api and one-api, error texts of relays");
const CLOUDFLARE: Origin = origin("cloudflare", "Cloudflare Workers AI docs, Errors, 3036");

#[rustfmt::skip]
pub(super) const ROWS: &[MessageRow] = &[
    at_start("You have reached your API usage limits", SpendCap, ANY, ANTHROPIC),
    at_start("You have reached your specified API usage limits", SpendLimit, ANY, ANTHROPIC),
    at_start("You have reached your specified workspace API usage limits", SpendLimit, ANY, ANTHROPIC),
    anywhere("credit balance is too low", QuotaExhausted, ANY, ANTHROPIC),
    anywhere("Billing hard limit has been reached", QuotaExhausted, ANY, OPENAI),

    // A shorter answer can still be paid for, so the account is not empty.
    near_start("requires more credits, or fewer max_tokens", Billing, ANY, OPENROUTER),
    near_start("insufficient credit", QuotaExhausted, ANY, OPENROUTER),
    near_start("key limit exceeded", QuotaExhausted, ANY, OPENROUTER),
    near_start("insufficient balance", QuotaExhausted, ANY, DEEPSEEK),
    near_start("insufficient account balance", QuotaExhausted, ANY, DEEPSEEK),
    near_start("insufficient funds", QuotaExhausted, ANY, DEEPSEEK),
    near_start("balance is insufficient", QuotaExhausted, ANY, SILICONFLOW),
    near_start("run out of credits", QuotaExhausted, ANY, XAI),
    near_start("out of credits", QuotaExhausted, ANY, XAI),
    near_start("used all available credits", QuotaExhausted, ANY, XAI),
    near_start("doesn't have any credits", QuotaExhausted, ANY, XAI),
    near_start("no credits left", QuotaExhausted, ANY, XAI),
    near_start("exceeded your monthly included credits", QuotaExhausted, ANY, HUGGINGFACE),
    near_start("depleted your monthly included credits", QuotaExhausted, ANY, HUGGINGFACE),
    near_start("credit limit exceeded", QuotaExhausted, ANY, TOGETHER),
    near_start("reaching the monthly spending limit", QuotaExhausted, ANY, FIREWORKS),
    near_start("monthly spending limit reached", QuotaExhausted, ANY, FIREWORKS),
    near_start("Budget has been exceeded", QuotaExhausted, ANY, LITELLM),
    near_start("ExceededBudget", QuotaExhausted, ANY, LITELLM),
    near_start("over budget", QuotaExhausted, ANY, LITELLM),
    near_start("used up your daily free allocation", QuotaExhausted, ANY, CLOUDFLARE),
    near_start("free tier of the model has been exhausted", QuotaExhausted, ANY, DASHSCOPE),

    near_start("account is in arrears", Billing, ANY, DASHSCOPE),
    near_start("account is in good standing", Billing, ANY, DASHSCOPE),
    near_start("has an overdue balance", Billing, ANY, ARK),
    near_start("overdue payment", Billing, ANY, ARK),
    near_start("failure to pay past invoices", Billing, ANY, FIREWORKS),
    near_start("requires billing to be enabled", Billing, ANY, GOOGLE),
    near_start("requires a valid credit card on file", Billing, ANY, OPENAI),
    near_start("payment required", Billing, ANY, OPENAI),

    near_start("余额不足", QuotaExhausted, ANY, ZHIPU),
    near_start("餘額不足", QuotaExhausted, ANY, ZHIPU),
    near_start("无可用资源包", QuotaExhausted, ANY, ZHIPU),
    near_start("额度不足", QuotaExhausted, ANY, NEW_API),
    near_start("额度已用尽", QuotaExhausted, ANY, NEW_API),
    near_start("额度已用完", QuotaExhausted, ANY, NEW_API),
    near_start("额度已耗尽", QuotaExhausted, ANY, NEW_API),
    near_start("预扣费额度失败", QuotaExhausted, ANY, NEW_API),
    near_start("欠费", Billing, ANY, DASHSCOPE),
];
