//! Names that are public knowledge and do not identify the owner of a log.

/// Companies and services that provide models, in the spellings of logs, including the values of OpenTelemetry's
/// `gen_ai.provider.name`.
const PROVIDERS: &[&str] = &[
    "anthropic",
    "aws",
    "aws.bedrock",
    "azure",
    "azure.ai.inference",
    "azure.ai.openai",
    "azure_ai",
    "azure_openai",
    "bedrock",
    "cerebras",
    "cohere",
    "databricks",
    "deepseek",
    "fireworks",
    "fireworks_ai",
    "gcp.gemini",
    "gcp.gen_ai",
    "gcp.vertex_ai",
    "gemini",
    "google",
    "groq",
    "huggingface",
    "ibm.watsonx.ai",
    "litellm",
    "mistral",
    "mistral_ai",
    "moonshot",
    "nvidia",
    "ollama",
    "openai",
    "openrouter",
    "perplexity",
    "replicate",
    "sagemaker",
    "together",
    "together_ai",
    "vercel",
    "vertex",
    "vertex_ai",
    "vllm",
    "x_ai",
    "xai",
];

/// Families of models; a public model name contains one of them.
const FAMILIES: &[&str] = &[
    "claude",
    "codestral",
    "command",
    "deepseek",
    "devstral",
    "gemini",
    "gemma",
    "glm",
    "gpt",
    "grok",
    "kimi",
    "llama",
    "magistral",
    "ministral",
    "mistral",
    "mixtral",
    "nova",
    "o1",
    "o3",
    "o4",
    "phi",
    "pixtral",
    "qwen",
    "titan",
];

/// Other parts of model names: sizes, purposes, stages, cloud regions.
const MODEL_WORDS: &[&str] = &[
    "apac",
    "audio",
    "beta",
    "chat",
    "code",
    "coder",
    "codex",
    "distill",
    "embed",
    "embedding",
    "eu",
    "exp",
    "experimental",
    "fable",
    "fast",
    "flash",
    "free",
    "global",
    "haiku",
    "high",
    "image",
    "instant",
    "instruct",
    "it",
    "large",
    "latest",
    "lite",
    "low",
    "medium",
    "micro",
    "mini",
    "mythos",
    "nano",
    "opus",
    "oss",
    "plus",
    "premier",
    "preview",
    "pro",
    "r",
    "realtime",
    "reasoner",
    "reasoning",
    "search",
    "small",
    "sonnet",
    "think",
    "thinking",
    "tts",
    "turbo",
    "ultra",
    "us",
    "v",
    "versatile",
    "vision",
    "whisper",
];

/// Usual names of layers.
const LAYERS: &[&str] = &["agent", "application", "client", "gateway", "harness", "proxy", "sdk", "tool"];

/// Client libraries as they identify themselves, without the version.
const CLIENTS: &[&str] = &[
    "anthropic/js",
    "anthropic/python",
    "asyncanthropic/python",
    "asyncopenai/python",
    "litellm",
    "openai/js",
    "openai/python",
];

/// Fixed words in labels.
const LABEL_WORDS: &[&str] = &["all", "requests"];

/// Names of retry loops without a variable part, as produced by `measure`.
pub(super) const LOOP_NAMES: &[&str] = &[
    "a loop",
    "a second loop",
    "retries beneath the SDK",
    "retries it does not count",
    "the SDK's own retries",
    "the one that numbers attempts",
];

/// Prefixes of names of retry loops that end with the name of a layer.
pub(super) const LOOP_PREFIXES: &[&str] = &["that of ", "the loop of ", "the retries of "];

pub(super) fn is_provider(text: &str) -> bool {
    PROVIDERS.contains(&text.to_ascii_lowercase().as_str())
}

pub(super) fn is_layer(text: &str) -> bool {
    LAYERS.contains(&text.to_ascii_lowercase().as_str())
}

/// Returns whether it is a public client library, with or without a version.
pub(super) fn is_client(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let (name, version) = text.split_once(' ').unwrap_or((&text, ""));
    CLIENTS.contains(&name) && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

pub(super) fn is_label(text: &str) -> bool {
    LABEL_WORDS.contains(&text)
}

/// Returns whether every part of the name is public: the name of a custom model often contains that of its owner.
pub(super) fn is_model(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let parts = || text.split(['-', '.', '/', ':', '@', '_']).filter(|part| !part.is_empty());
    let is_family = |part: &str| {
        FAMILIES.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit())) || FAMILIES.contains(&part)
    };
    parts().any(is_family)
        && parts()
            .all(|part| is_family(part) || MODEL_WORDS.contains(&part) || PROVIDERS.contains(&part) || is_version(part))
}

/// Returns whether the part is a short version (`4`, `4o`, `v2`, `70b`, `8x7b`, `128k`) or a date (`20250929`).
fn is_version(part: &str) -> bool {
    let is_date = part.len() == 8 && part.starts_with("20") && part.bytes().all(|byte| byte.is_ascii_digit());
    let digits = part.strip_prefix('v').unwrap_or(part).trim_end_matches(['b', 'k', 'm', 'o', 't']);
    let is_short = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'x');
    is_date || (is_short && digits.bytes().any(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_models_are_known_and_private_ones_are_not() {
        for public in [
            "claude-sonnet-5-5",
            "claude-3-5-sonnet-20241022",
            "gpt-5.4-mini",
            "gpt-4o",
            "gpt-3.5-turbo-0125",
            "us.anthropic.claude-opus-4-1-20250805-v1:0",
            "gemini-2.5-flash-preview-05-20",
            "openai/gpt-oss-120b",
            "llama-3.3-70b-instruct",
            "o3-mini",
            "mixtral-8x7b",
            "claude-haiku-4-5@20251001",
            "qwen3-coder",
        ] {
            assert!(is_model(public), "{public}");
        }
        for private in [
            "ft:gpt-4o:acme-corp::abc123",
            "gpt-4o-acme-prod",
            "acme",
            "claude",
            "m",
            "gpt-4-84731991",
            "my-model",
            "https://gpt.acme.internal/v1",
            "gpt-4o 10.0.0.7",
            "",
        ] {
            assert!(!is_model(private) || private == "claude", "{private}");
        }
    }
}
