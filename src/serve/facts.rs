//! Extracts facts from the head of a request, and from its body as it is forwarded.

use super::attempt::AttemptRecord;
use super::scalars::Scalars;
use crate::untrusted::{cut, mask_keys};
use hyper::HeaderMap;
use hyper::http::request::Parts;
use sha2::{Digest, Sha256};

/// Maximum length of a client-supplied name, in characters.
const MAX_NAME_CHARS: usize = 200;

/// The API that a path belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    /// Messages API, and the older text completions at `/complete`.
    Anthropic,
    /// Chat completions, completions and embeddings.
    OpenAiChat,
    /// Responses API.
    OpenAiResponses,
    /// `generateContent` and `streamGenerateContent`.
    Gemini,
    /// `InvokeModel` and `Converse`, with or without streaming.
    Bedrock,
    /// Any other path.
    Other,
}

impl Dialect {
    pub(crate) fn of(path: &str) -> Dialect {
        let ends = |endings: &[&str]| endings.iter().any(|ending| path.ends_with(ending));
        if path.contains("/model/")
            && ends(&["/invoke", "/converse", "/invoke-with-response-stream", "/converse-stream"])
        {
            Dialect::Bedrock
        } else if path.contains(":generateContent") || path.contains(":streamGenerateContent") {
            Dialect::Gemini
        } else if ends(&["/messages", "/messages/count_tokens", "/complete"]) {
            Dialect::Anthropic
        } else if ends(&["/responses"]) {
            Dialect::OpenAiResponses
        } else if ends(&["/completions", "/embeddings"]) {
            Dialect::OpenAiChat
        } else {
            Dialect::Other
        }
    }

    /// Name of the provider in records.
    pub(crate) fn provider(self) -> Option<&'static str> {
        match self {
            Dialect::Anthropic => Some("anthropic"),
            Dialect::OpenAiChat | Dialect::OpenAiResponses => Some("openai"),
            Dialect::Gemini => Some("gcp.gemini"),
            Dialect::Bedrock => Some("aws.bedrock"),
            Dialect::Other => None,
        }
    }
}

/// Builds a record from the head of a request.
pub(crate) fn from_head(parts: &Parts) -> AttemptRecord {
    let text = |name: &str| header(&parts.headers, name);
    let path = parts.uri.path();
    let timeout = text("x-stainless-read-timeout").or_else(|| text("x-stainless-timeout"));
    AttemptRecord {
        layer: Some("boundary"),
        provider: Dialect::of(path).provider(),
        method: Some(parts.method.as_str().to_owned()),
        path: Some(masked_text(path)),
        model: model_in(path),
        // Gemini and Bedrock specify streaming in the path.
        stream: (path.contains(":streamGenerateContent") || path.ends_with("-stream")).then_some(true),
        user_agent: text("user-agent"),
        sdk_language: text("x-stainless-lang"),
        sdk_version: text("x-stainless-package-version"),
        sdk_retry_count: text("x-stainless-retry-count").or_else(|| aws_retries(&parts.headers)).and_then(parse_number),
        timeout_s: timeout.and_then(|text| text.parse().ok()).filter(|seconds: &f64| seconds.is_finite()),
        idempotency_key: text("idempotency-key"),
        traceparent: text("traceparent"),
        ..AttemptRecord::default()
    }
}

/// Retries from `amz-sdk-request`, as in `attempt=2; max=3`; attempts count from 1.
fn aws_retries(headers: &HeaderMap) -> Option<String> {
    let text = header(headers, "amz-sdk-request")?;
    let attempt = text.split(';').find_map(|part| part.trim().strip_prefix("attempt="))?;
    Some(attempt.parse::<u64>().ok()?.checked_sub(1)?.to_string())
}

fn parse_number(text: String) -> Option<u64> {
    text.trim().parse().ok()
}

/// Extracts the model from a path such as `/models/NAME:generateContent` or `/model/NAME/invoke`.
fn model_in(path: &str) -> Option<String> {
    let (_, rest) = path.rsplit_once("/models/").or_else(|| path.rsplit_once("/model/"))?;
    let name = rest.split(['/', ':']).next()?;
    (!name.is_empty()).then(|| masked_text(name))
}

/// Returns a header as text, with keys masked.
pub(crate) fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(masked_text(headers.get(name)?.to_str().ok()?))
}

/// Prepares text from a client or a server for a record: masks keys and limits its length.
pub(crate) fn masked_text(text: &str) -> String {
    cut(&mask_keys(text), MAX_NAME_CHARS)
}

/// Facts from the body of a request, collected as it is forwarded.
#[derive(Default)]
pub(crate) struct BodyFacts {
    hash: Sha256,
    scalars: Scalars,
    model: Option<String>,
    stream: Option<bool>,
    max_tokens: Option<u64>,
    bytes: u64,
    is_whole: bool,
}

impl BodyFacts {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
        let BodyFacts { scalars, model, stream, max_tokens, .. } = self;
        scalars.push(bytes, &mut |path, value| match path {
            "model" => *model = Some(masked_text(value)),
            "stream" => *stream = Some(value == "true"),
            "max_tokens" | "max_completion_tokens" | "max_output_tokens" => *max_tokens = value.parse().ok(),
            _ => {}
        });
    }

    /// Marks the body as complete.
    pub(crate) fn end(&mut self) {
        self.is_whole = true;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    pub(crate) fn streams(&self) -> bool {
        self.stream == Some(true)
    }

    /// SHA-256 of a complete body, in hexadecimal; `None` for an empty one, which does not identify a request.
    pub(crate) fn hash(&self) -> Option<String> {
        (self.is_whole && self.bytes > 0).then(|| format!("{:x}", HexOf(self.hash.clone().finalize().as_slice())))
    }

    /// Adds the facts to a record.
    pub(crate) fn add_to(&self, attempt: &mut AttemptRecord) {
        attempt.request_hash = self.hash();
        attempt.model = self.model.clone().or(attempt.model.take());
        attempt.stream = self.stream.or(attempt.stream);
        attempt.max_tokens = self.max_tokens;
    }
}

struct HexOf<'b>(&'b [u8]);

impl std::fmt::LowerHex for HexOf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
