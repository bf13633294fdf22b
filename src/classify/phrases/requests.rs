//! Phrases about requests: prompts that are too long, and content that a filter refused.

use super::{
    ANY, AppliesTo, CONTENT_FILTER, LIMIT, MessageRow, REJECTED_OR_MESSAGE, SERVER_OR_MESSAGE, anywhere, near_start,
    origin,
};
use crate::classify::{
    Class::{ContentPolicy, ContextTooLong, NotFound, RateLimited},
    row::Origin,
};

const ANTHROPIC: Origin = origin("anthropic", "Anthropic API docs, Errors");
const OPENAI: Origin = origin("openai", "OpenAI API docs, Error codes");
const AZURE: Origin = origin("azure", "Azure OpenAI docs, Content filtering");
const GEMINI: Origin = origin("gemini", "Gemini API docs, Troubleshooting");
const BEDROCK: Origin = origin("bedrock", "Amazon Bedrock User Guide, API error codes");
const VLLM: Origin = origin("vllm", "vLLM server, serving_engine.py, _validate_input");
const TGI: Origin = origin("huggingface", "text-generation-inference, router/src/validation.rs");
const LLAMA_CPP: Origin = origin("llama.cpp", "llama.cpp, tools/server, exceed_context_size_error");
const OLLAMA: Origin = origin("ollama", "ollama, runner and server/routes.go");
const COHERE: Origin = origin("cohere", "Cohere API docs, Errors");
const MOONSHOT: Origin = origin("moonshot", "Moonshot API docs, Errors");
const MINIMAX: Origin = origin("minimax", "MiniMax API docs, Error codes");
const DASHSCOPE: Origin = origin("dashscope", "Alibaba Model Studio docs, Error messages");
const XAI: Origin = origin("xai", "xAI API docs, Debugging errors");
const ZHIPU: Origin = origin("zhipu", "Zhipu API docs, Error codes 1261 and 1301");

#[rustfmt::skip]
pub(super) const ROWS: &[MessageRow] = &[
    // Before the phrases about context length: here, "too many tokens" is a rate limit.
    anywhere("Too many tokens, please wait", RateLimited, ANY, BEDROCK),
    anywhere("number of tokens allowed within a given time", RateLimited, ANY, origin("meta", "meta-llama/llama-models#354")),

    anywhere("prompt is too long", ContextTooLong, ANY, ANTHROPIC),
    anywhere("exceed context limit", ContextTooLong, ANY, ANTHROPIC),
    anywhere("context_length_exceeded", ContextTooLong, ANY, OPENAI),
    anywhere("maximum context length", ContextTooLong, ANY, OPENAI),
    anywhere("exceeds the context window", ContextTooLong, ANY, OPENAI),
    anywhere("exceed the configured limit", ContextTooLong, AppliesTo::REQUESTS.union(SERVER_OR_MESSAGE), OPENAI),
    anywhere("exceeds the maximum number of tokens allowed", ContextTooLong, ANY, GEMINI),
    anywhere("but model only supports up to", ContextTooLong, ANY, GEMINI),
    anywhere("Input is too long for requested model", ContextTooLong, ANY, BEDROCK),
    anywhere("number of input tokens cannot exceed", ContextTooLong, ANY, BEDROCK),
    anywhere("too many input tokens", ContextTooLong, ANY, BEDROCK),
    anywhere("longer than the maximum model length", ContextTooLong, ANY, VLLM),
    anywhere("longer than the model's context length", ContextTooLong, ANY, VLLM),
    anywhere("exceeds maximum allowed token size", ContextTooLong, ANY, VLLM),
    anywhere("tokens + `max_new_tokens` must be <=", ContextTooLong, ANY, TGI),
    anywhere("exceeds the available context size", ContextTooLong, ANY, LLAMA_CPP),
    anywhere("input length exceeds the context length", ContextTooLong, ANY, OLLAMA),
    anywhere("exceeds maximum context length", ContextTooLong, ANY, OLLAMA),
    anywhere("number of tokens in the prompt cannot exceed", ContextTooLong, ANY, COHERE),
    anywhere("exceeded model token limit", ContextTooLong, ANY, MOONSHOT),
    anywhere("context window exceeds limit", ContextTooLong, ANY, MINIMAX),
    anywhere("Range of input length should be", ContextTooLong, ANY, DASHSCOPE),
    anywhere("maximum prompt length is", ContextTooLong, ANY, XAI),
    anywhere("Prompt 超长", ContextTooLong, ANY, ZHIPU),
    anywhere("prompt超长", ContextTooLong, ANY, ZHIPU),

    anywhere("content filter", ContentPolicy, CONTENT_FILTER, ANTHROPIC),
    anywhere("content_filter", ContentPolicy, CONTENT_FILTER, OPENAI),
    anywhere("content_policy_violation", ContentPolicy, CONTENT_FILTER, OPENAI),
    anywhere("content management policy", ContentPolicy, CONTENT_FILTER, AZURE),
    anywhere("rejected as a result of our safety system", ContentPolicy, CONTENT_FILTER, OPENAI),
    anywhere("violating our usage policy", ContentPolicy, CONTENT_FILTER, OPENAI),
    anywhere("violates usage guidelines", ContentPolicy, CONTENT_FILTER, XAI),
    anywhere("may contain inappropriate content", ContentPolicy, CONTENT_FILTER, DASHSCOPE),
    anywhere("PROHIBITED_CONTENT", ContentPolicy, CONTENT_FILTER, GEMINI),
    anywhere("不安全或敏感内容", ContentPolicy, CONTENT_FILTER, ZHIPU),

    near_start("not found, try pulling it first", NotFound, REJECTED_OR_MESSAGE.union(LIMIT), OLLAMA),
];
