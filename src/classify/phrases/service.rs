//! Phrases about the service: a lack of capacity, or a rate limit.

use super::{AppliesTo, CROWDED, LIMIT, MESSAGE_ONLY, MessageRow, opens, origin, says};
use crate::classify::{
    Class::{Overloaded, RateLimited},
    row::Origin,
};

const OPENAI: Origin = origin("openai", "OpenAI API docs, Error codes");
const GEMINI: Origin = origin("gemini", "Gemini API docs, Troubleshooting");
const VERTEX: Origin = origin("gemini", "Vertex AI docs, Error code 429");
const BEDROCK: Origin = origin("bedrock", "Amazon Bedrock User Guide, API error codes");
const VLLM: Origin = origin("vllm", "vLLM server, max_num_queued_reqs");
const SGLANG: Origin = origin("sglang", "SGLang server, max_queued_requests");
const OLLAMA: Origin = origin("ollama", "ollama, server/sched.go, ErrMaxQueue");
const TORCHSERVE: Origin = origin("torchserve", "pytorch/serve#3361");
const TRITON: Origin = origin("triton", "triton-inference-server, max_queue_size");
const LLAMA_CPP: Origin = origin("llama.cpp", "llama.cpp, tools/server/README.md");
const HUGGINGFACE: Origin = origin("huggingface", "Hugging Face Inference API docs, Errors");
const MISTRAL: Origin = origin("mistral", "continuedev/continue#6185");
const DEEPSEEK: Origin = origin("deepseek", "DeepSeek API docs, Error codes, 503");
const ZHIPU: Origin = origin("zhipu", "Zhipu API docs, Error codes 1302, 1303 and 1305");
const NEW_API: Origin = origin("new-api", "new-api and one-api, error texts of relays");
const CLOUDFLARE: Origin = origin("cloudflare", "Cloudflare Workers AI docs, Errors, 3040");
const CEREBRAS: Origin = origin("cerebras", "Cerebras docs, Errors");
const DASHSCOPE: Origin = origin("dashscope", "Alibaba Model Studio docs, Error messages");
const MOONSHOT: Origin = origin("moonshot", "Moonshot API docs, Errors");
const LITELLM: Origin = origin("litellm", "LiteLLM docs, Routing; BerriAI/litellm#7669");

/// Servers report a lack of capacity under various statuses.
const SHORT: AppliesTo = CROWDED.union(AppliesTo::REQUESTS).union(AppliesTo::RIGHTS);

#[rustfmt::skip]
pub(super) const ROWS: &[MessageRow] = &[
    opens("overloaded", Overloaded, SHORT, OPENAI),
    opens("engine is currently busy", Overloaded, SHORT, VLLM),
    opens("Bedrock is unable to process your request", Overloaded, SHORT, BEDROCK),
    opens("too many connections", Overloaded, SHORT, BEDROCK),
    opens("Model is not ready for inference", Overloaded, SHORT, BEDROCK),
    opens("experiencing high demand", Overloaded, SHORT, GEMINI),
    opens("No capacity available", Overloaded, SHORT, GEMINI),
    opens("capacity exceeded", Overloaded, SHORT, MISTRAL),
    opens("capacity temporarily exceeded", Overloaded, SHORT, CLOUDFLARE),
    opens("at capacity", Overloaded, SHORT, OPENAI),
    opens("due to system capacity limits", Overloaded, SHORT, DASHSCOPE),
    opens("experiencing high traffic", Overloaded, SHORT, CEREBRAS),
    opens("under heavy load", Overloaded, SHORT, DEEPSEEK),
    opens("server is busy", Overloaded, SHORT, DEEPSEEK),
    opens("server busy, please try again", Overloaded, SHORT, OLLAMA),
    opens("pending requests exceeded", Overloaded, SHORT, OLLAMA),
    opens("queue is full", Overloaded, SHORT, SGLANG),
    opens("exceeds maximum queue size", Overloaded, SHORT, TRITON),
    opens("has no worker to serve inference request", Overloaded, SHORT, TORCHSERVE),
    opens("is currently loading", Overloaded, SHORT, HUGGINGFACE),
    opens("model too busy", Overloaded, SHORT, HUGGINGFACE),
    opens("loading model", Overloaded, SHORT, LLAMA_CPP),
    opens("访问量过大", Overloaded, SHORT, ZHIPU),
    opens("负载已饱和", Overloaded, SHORT, NEW_API),
    opens("负载过高", Overloaded, SHORT, NEW_API),
    opens("服务器繁忙", Overloaded, SHORT, DEEPSEEK),
    opens("服务繁忙", Overloaded, SHORT, ZHIPU),
    opens("系统繁忙", Overloaded, SHORT, ZHIPU),

    says("rate limit", RateLimited, LIMIT, OPENAI),
    says("rate_limit_e", RateLimited, MESSAGE_ONLY, OPENAI),
    says("throttl", RateLimited, LIMIT, BEDROCK),
    says("concurrent requests", RateLimited, LIMIT, MOONSHOT),
    says("max organization concurrency", RateLimited, LIMIT, MOONSHOT),
    says("request rate increased too quickly", RateLimited, LIMIT, DASHSCOPE),
    says("request rate is too high", RateLimited, LIMIT, DASHSCOPE),
    says("receiving too many requests", RateLimited, LIMIT, MOONSHOT),
    says("No deployments available", RateLimited, LIMIT, LITELLM),
    says("Quota exceeded for", RateLimited, LIMIT, VERTEX),
    says("Resource exhausted", RateLimited, LIMIT, VERTEX),
    says("Resource has been exhausted", RateLimited, LIMIT, GEMINI),
    says("RESOURCE_EXHAUSTED", RateLimited, MESSAGE_ONLY, GEMINI),
    says("速率限制", RateLimited, LIMIT, ZHIPU),
    says("并发数过高", RateLimited, LIMIT, ZHIPU),
    says("频率过高", RateLimited, LIMIT, ZHIPU),
    says("请求过于频繁", RateLimited, LIMIT, ZHIPU),
    says("限流", RateLimited, LIMIT, DASHSCOPE),
    says("too many requests", RateLimited, MESSAGE_ONLY, OPENAI),
    says("too many tokens", RateLimited, MESSAGE_ONLY, BEDROCK),
];
