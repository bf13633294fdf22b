//! Phrases about requests: prompts that are too long, and content that a filter refused.

use super::{ANY, AppliesTo, BROKEN, FILTERED, LIMIT, MessageRow, REFUSED, opens, origin, says};
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
    says("Too many tokens, please wait", RateLimited, ANY, BEDROCK),
    says("number of tokens allowed within a given time", RateLimited, ANY, origin("meta", "meta-llama/llama-models#354")),

    says("prompt is too long", ContextTooLong, ANY, ANTHROPIC),
    says("exceed context limit", ContextTooLong, ANY, ANTHROPIC),
    says("context_length_exceeded", ContextTooLong, ANY, OPENAI),
    says("maximum context length", ContextTooLong, ANY, OPENAI),
    says("exceeds the context window", ContextTooLong, ANY, OPENAI),
    says("exceed the configured limit", ContextTooLong, AppliesTo::REQUESTS.union(BROKEN), OPENAI),
    says("exceeds the maximum number of tokens allowed", ContextTooLong, ANY, GEMINI),
    says("but model only supports up to", ContextTooLong, ANY, GEMINI),
    says("Input is too long for requested model", ContextTooLong, ANY, BEDROCK),
    says("number of input tokens cannot exceed", ContextTooLong, ANY, BEDROCK),
    says("too many input tokens", ContextTooLong, ANY, BEDROCK),
    says("longer than the maximum model length", ContextTooLong, ANY, VLLM),
    says("longer than the model's context length", ContextTooLong, ANY, VLLM),
    says("exceeds maximum allowed token size", ContextTooLong, ANY, VLLM),
    says("tokens + `max_new_tokens` must be <=", ContextTooLong, ANY, TGI),
    says("exceeds the available context size", ContextTooLong, ANY, LLAMA_CPP),
    says("input length exceeds the context length", ContextTooLong, ANY, OLLAMA),
    says("exceeds maximum context length", ContextTooLong, ANY, OLLAMA),
    says("number of tokens in the prompt cannot exceed", ContextTooLong, ANY, COHERE),
    says("exceeded model token limit", ContextTooLong, ANY, MOONSHOT),
    says("context window exceeds limit", ContextTooLong, ANY, MINIMAX),
    says("Range of input length should be", ContextTooLong, ANY, DASHSCOPE),
    says("maximum prompt length is", ContextTooLong, ANY, XAI),
    says("Prompt 超长", ContextTooLong, ANY, ZHIPU),
    says("prompt超长", ContextTooLong, ANY, ZHIPU),

    says("content filter", ContentPolicy, FILTERED, ANTHROPIC),
    says("content_filter", ContentPolicy, FILTERED, OPENAI),
    says("content_policy_violation", ContentPolicy, FILTERED, OPENAI),
    says("content management policy", ContentPolicy, FILTERED, AZURE),
    says("rejected as a result of our safety system", ContentPolicy, FILTERED, OPENAI),
    says("violating our usage policy", ContentPolicy, FILTERED, OPENAI),
    says("violates usage guidelines", ContentPolicy, FILTERED, XAI),
    says("may contain inappropriate content", ContentPolicy, FILTERED, DASHSCOPE),
    says("PROHIBITED_CONTENT", ContentPolicy, FILTERED, GEMINI),
    says("不安全或敏感内容", ContentPolicy, FILTERED, ZHIPU),

    opens("not found, try pulling it first", NotFound, REFUSED.union(LIMIT), OLLAMA),
];
