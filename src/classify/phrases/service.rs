//! Phrases about the service: a lack of capacity, or a rate limit.

use super::{AppliesTo, CAPACITY, LIMIT, MESSAGE_ONLY, MessageRow, anywhere, near_start, origin};
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

/// Kinds of failure by which servers report a lack of capacity.
const LACKS_CAPACITY: AppliesTo = CAPACITY.union(AppliesTo::REQUESTS).union(AppliesTo::PERMISSIONS);

#[rustfmt::skip]
pub(super) const ROWS: &[MessageRow] = &[
    near_start("overloaded", Overloaded, LACKS_CAPACITY, OPENAI),
    near_start("engine is currently busy", Overloaded, LACKS_CAPACITY, VLLM),
    near_start("Bedrock is unable to process your request", Overloaded, LACKS_CAPACITY, BEDROCK),
    near_start("too many connections", Overloaded, LACKS_CAPACITY, BEDROCK),
    near_start("Model is not ready for inference", Overloaded, LACKS_CAPACITY, BEDROCK),
    near_start("experiencing high demand", Overloaded, LACKS_CAPACITY, GEMINI),
    near_start("No capacity available", Overloaded, LACKS_CAPACITY, GEMINI),
    near_start("capacity exceeded", Overloaded, LACKS_CAPACITY, MISTRAL),
    near_start("capacity temporarily exceeded", Overloaded, LACKS_CAPACITY, CLOUDFLARE),
    near_start("at capacity", Overloaded, LACKS_CAPACITY, OPENAI),
    near_start("due to system capacity limits", Overloaded, LACKS_CAPACITY, DASHSCOPE),
    near_start("experiencing high traffic", Overloaded, LACKS_CAPACITY, CEREBRAS),
    near_start("under heavy load", Overloaded, LACKS_CAPACITY, DEEPSEEK),
    near_start("server is busy", Overloaded, LACKS_CAPACITY, DEEPSEEK),
    near_start("server busy, please try again", Overloaded, LACKS_CAPACITY, OLLAMA),
    near_start("pending requests exceeded", Overloaded, LACKS_CAPACITY, OLLAMA),
    near_start("queue is full", Overloaded, LACKS_CAPACITY, SGLANG),
    near_start("exceeds maximum queue size", Overloaded, LACKS_CAPACITY, TRITON),
    near_start("has no worker to serve inference request", Overloaded, LACKS_CAPACITY, TORCHSERVE),
    near_start("is currently loading", Overloaded, LACKS_CAPACITY, HUGGINGFACE),
    near_start("model too busy", Overloaded, LACKS_CAPACITY, HUGGINGFACE),
    near_start("loading model", Overloaded, LACKS_CAPACITY, LLAMA_CPP),
    near_start("访问量过大", Overloaded, LACKS_CAPACITY, ZHIPU),
    near_start("负载已饱和", Overloaded, LACKS_CAPACITY, NEW_API),
    near_start("负载过高", Overloaded, LACKS_CAPACITY, NEW_API),
    near_start("服务器繁忙", Overloaded, LACKS_CAPACITY, DEEPSEEK),
    near_start("服务繁忙", Overloaded, LACKS_CAPACITY, ZHIPU),
    near_start("系统繁忙", Overloaded, LACKS_CAPACITY, ZHIPU),

    anywhere("rate limit", RateLimited, LIMIT, OPENAI),
    anywhere("rate_limit_e", RateLimited, MESSAGE_ONLY, OPENAI),
    anywhere("throttl", RateLimited, LIMIT, BEDROCK),
    anywhere("concurrent requests", RateLimited, LIMIT, MOONSHOT),
    anywhere("max organization concurrency", RateLimited, LIMIT, MOONSHOT),
    anywhere("request rate increased too quickly", RateLimited, LIMIT, DASHSCOPE),
    anywhere("request rate is too high", RateLimited, LIMIT, DASHSCOPE),
    anywhere("receiving too many requests", RateLimited, LIMIT, MOONSHOT),
    anywhere("No deployments available", RateLimited, LIMIT, LITELLM),
    anywhere("Quota exceeded for", RateLimited, LIMIT, VERTEX),
    anywhere("Resource exhausted", RateLimited, LIMIT, VERTEX),
    anywhere("Resource has been exhausted", RateLimited, LIMIT, GEMINI),
    anywhere("RESOURCE_EXHAUSTED", RateLimited, MESSAGE_ONLY, GEMINI),
    anywhere("速率限制", RateLimited, LIMIT, ZHIPU),
    anywhere("并发数过高", RateLimited, LIMIT, ZHIPU),
    anywhere("频率过高", RateLimited, LIMIT, ZHIPU),
    anywhere("请求过于频繁", RateLimited, LIMIT, ZHIPU),
    anywhere("限流", RateLimited, LIMIT, DASHSCOPE),
    anywhere("too many requests", RateLimited, MESSAGE_ONLY, OPENAI),
    anywhere("too many tokens", RateLimited, MESSAGE_ONLY, BEDROCK),
];
