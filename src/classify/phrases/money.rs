//! Phrases about money: credit, balances, budgets and bills. They apply under any status.

use super::{ANY, MessageRow, begins, opens, origin, says};
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
    begins("You have reached your API usage limits", SpendCap, ANY, ANTHROPIC),
    begins("You have reached your specified API usage limits", SpendLimit, ANY, ANTHROPIC),
    begins("You have reached your specified workspace API usage limits", SpendLimit, ANY, ANTHROPIC),
    says("credit balance is too low", QuotaExhausted, ANY, ANTHROPIC),
    says("Billing hard limit has been reached", QuotaExhausted, ANY, OPENAI),

    // A shorter answer can still be paid for, so the account is not empty.
    opens("requires more credits, or fewer max_tokens", Billing, ANY, OPENROUTER),
    opens("insufficient credit", QuotaExhausted, ANY, OPENROUTER),
    opens("key limit exceeded", QuotaExhausted, ANY, OPENROUTER),
    opens("insufficient balance", QuotaExhausted, ANY, DEEPSEEK),
    opens("insufficient account balance", QuotaExhausted, ANY, DEEPSEEK),
    opens("insufficient funds", QuotaExhausted, ANY, DEEPSEEK),
    opens("balance is insufficient", QuotaExhausted, ANY, SILICONFLOW),
    opens("run out of credits", QuotaExhausted, ANY, XAI),
    opens("out of credits", QuotaExhausted, ANY, XAI),
    opens("used all available credits", QuotaExhausted, ANY, XAI),
    opens("doesn't have any credits", QuotaExhausted, ANY, XAI),
    opens("no credits left", QuotaExhausted, ANY, XAI),
    opens("exceeded your monthly included credits", QuotaExhausted, ANY, HUGGINGFACE),
    opens("depleted your monthly included credits", QuotaExhausted, ANY, HUGGINGFACE),
    opens("credit limit exceeded", QuotaExhausted, ANY, TOGETHER),
    opens("reaching the monthly spending limit", QuotaExhausted, ANY, FIREWORKS),
    opens("monthly spending limit reached", QuotaExhausted, ANY, FIREWORKS),
    opens("Budget has been exceeded", QuotaExhausted, ANY, LITELLM),
    opens("ExceededBudget", QuotaExhausted, ANY, LITELLM),
    opens("over budget", QuotaExhausted, ANY, LITELLM),
    opens("used up your daily free allocation", QuotaExhausted, ANY, CLOUDFLARE),
    opens("free tier of the model has been exhausted", QuotaExhausted, ANY, DASHSCOPE),

    opens("account is in arrears", Billing, ANY, DASHSCOPE),
    opens("account is in good standing", Billing, ANY, DASHSCOPE),
    opens("has an overdue balance", Billing, ANY, ARK),
    opens("overdue payment", Billing, ANY, ARK),
    opens("failure to pay past invoices", Billing, ANY, FIREWORKS),
    opens("requires billing to be enabled", Billing, ANY, GOOGLE),
    opens("requires a valid credit card on file", Billing, ANY, OPENAI),
    opens("payment required", Billing, ANY, OPENAI),

    opens("余额不足", QuotaExhausted, ANY, ZHIPU),
    opens("餘額不足", QuotaExhausted, ANY, ZHIPU),
    opens("无可用资源包", QuotaExhausted, ANY, ZHIPU),
    opens("额度不足", QuotaExhausted, ANY, NEW_API),
    opens("额度已用尽", QuotaExhausted, ANY, NEW_API),
    opens("额度已用完", QuotaExhausted, ANY, NEW_API),
    opens("额度已耗尽", QuotaExhausted, ANY, NEW_API),
    opens("预扣费额度失败", QuotaExhausted, ANY, NEW_API),
    opens("欠费", Billing, ANY, DASHSCOPE),
];
