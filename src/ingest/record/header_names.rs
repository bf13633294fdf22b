//! Names of the response headers that are read.

use super::word_table::WordTable;
use crate::model::{HintSource, LimitKind};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Prefix of the headers on subscription usage windows.
const WINDOW: &str = "anthropic-ratelimit-unified-";

/// Part of a rate limit that a header gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum LimitPart {
    Limit,
    Remaining,
    Reset,
    /// Time at which a limit is restored, as Azure sends it with a refusal (openai/openai-python#937).
    ResetOfRefusal,
    /// Anything else.
    Other,
}

/// Meaning of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) enum Header {
    Limit(LimitPart, LimitKind),
    RetryAfter,
    RetryAfterMs(HintSource),
    ShouldRetry,
    RequestId,
    /// Id that a proxy gave the request.
    ProxyRequestId,
    AwsRequestId,
    SdkRetryCount,
    /// Number of times Envoy sent the request upstream, counted from 1 (Envoy documentation, HTTP header manipulation).
    UpstreamAttempts,
    /// Number of times LiteLLM or Portkey sent the request again, counted from 0.
    GatewayRetries,
    IdempotencyKey,
    UserAgent,
    PackageVersion,
    Language,
    Org,
    ErrorType,
    Date,
    WindowStatus,
    WindowReset,
    /// Any other header on subscription usage windows.
    Window,
}

/// Headers other than limits, by their lowercase names.
const NAMES: &[(&str, Header)] = &[
    ("retry-after", Header::RetryAfter),
    ("retry-after-ms", Header::RetryAfterMs(HintSource::RetryAfterMs)),
    // Azure Cosmos DB and AI services docs, Rate limits
    ("x-ms-retry-after-ms", Header::RetryAfterMs(HintSource::XMsRetryAfterMs)),
    // aws/aws-sdk-kotlin#1307
    ("x-amz-retry-after", Header::RetryAfterMs(HintSource::XAmzRetryAfter)),
    ("x-should-retry", Header::ShouldRetry),
    ("request-id", Header::RequestId),
    ("x-request-id", Header::ProxyRequestId),
    ("apim-request-id", Header::ProxyRequestId),
    ("x-amzn-requestid", Header::AwsRequestId),
    ("x-stainless-retry-count", Header::SdkRetryCount),
    ("x-envoy-attempt-count", Header::UpstreamAttempts),
    ("x-litellm-attempted-retries", Header::GatewayRetries),
    // Portkey docs, Automatic retries: -1 if they were exhausted.
    ("x-portkey-retry-attempt-count", Header::GatewayRetries),
    ("idempotency-key", Header::IdempotencyKey),
    ("user-agent", Header::UserAgent),
    ("x-stainless-package-version", Header::PackageVersion),
    ("x-stainless-lang", Header::Language),
    ("anthropic-organization-id", Header::Org),
    ("openai-organization", Header::Org),
    ("x-amzn-errortype", Header::ErrorType),
    ("date", Header::Date),
    ("anthropic-ratelimit-unified-status", Header::WindowStatus),
    ("anthropic-ratelimit-unified-reset", Header::WindowReset),
];

/// Prefixes of limit headers, and the meaning of the reset: Anthropic, OpenAI, the IETF drafts
/// (draft-ietf-httpapi-ratelimit-headers), Azure. The reset of Anthropic is not used as a wait: its token buckets admit
/// requests long before they are full.
const LIMITS: [(&str, LimitPart); 4] = [
    ("anthropic-ratelimit-", LimitPart::Other),
    ("x-ratelimit-", LimitPart::Reset),
    ("ratelimit-", LimitPart::Reset),
    ("x-rate-limit-", LimitPart::ResetOfRefusal),
];
/// Kinds of limits by name; a limit without a kind is one of requests.
const KINDS: [(&str, LimitKind); 5] = [
    ("", LimitKind::Requests),
    ("requests", LimitKind::Requests),
    ("tokens", LimitKind::Tokens),
    ("input-tokens", LimitKind::InputTokens),
    ("output-tokens", LimitKind::OutputTokens),
];
/// Parts of a limit by name.
const PARTS: [(&str, LimitPart); 3] =
    [("limit", LimitPart::Limit), ("remaining", LimitPart::Remaining), ("reset", LimitPart::Reset)];

static TABLE: LazyLock<WordTable<Header>> = LazyLock::new(|| {
    let mut names: Vec<_> = NAMES.iter().map(|(name, header)| (Cow::Borrowed(*name), *header)).collect();
    for (prefix, reset) in LIMITS {
        for (kind, limit) in KINDS {
            for (part, meaning) in PARTS {
                let meaning = if meaning == LimitPart::Reset { reset } else { meaning };
                let header = Header::Limit(meaning, limit);
                if kind.is_empty() {
                    names.push((format!("{prefix}{part}").into(), header));
                } else {
                    // Servers send both orders.
                    names.push((format!("{prefix}{kind}-{part}").into(), header));
                    names.push((format!("{prefix}{part}-{kind}").into(), header));
                }
            }
        }
    }
    WordTable::new(names)
});

/// Prefixes of header names in flat records: OpenTelemetry attributes, and paths. For each, whether the headers are
/// those of a request.
const PREFIXES: [(&str, bool); 7] = [
    ("http.response.header.", false),
    ("res.headers.", false),
    ("response.headers.", false),
    ("response_headers.", false),
    ("http.request.header.", true),
    ("req.headers.", true),
    ("request.headers.", true),
];

/// Returns the header of this name, in any case, if it is read.
pub(in crate::ingest) fn named(name: &str) -> Option<Header> {
    let name = without_prefix(name);
    if name.len() > LONGEST_NAME {
        return None;
    }
    TABLE.get_in_any_case(name).or_else(|| starts_with(name, WINDOW).then_some(Header::Window))
}

/// Returns the name of a header without the prefix of a path. A request header that does not identify the sender keeps
/// its prefix, so that it is not read.
fn without_prefix(name: &str) -> &str {
    // Fast path: no header name contains a dot.
    if !name.contains('.') {
        return name;
    }
    let Some((prefix, of_request)) = PREFIXES.iter().find(|(prefix, _)| starts_with(name, prefix)) else {
        return name;
    };
    let header = &name[prefix.len()..];
    if !of_request || identifies_sender(header) { header } else { name }
}

/// Whether a request header of this name identifies the sender. Other request headers are not read, since the same
/// names have a different meaning in responses.
pub(in crate::ingest) fn identifies_sender(name: &str) -> bool {
    matches!(
        TABLE.get_in_any_case(name),
        Some(
            Header::SdkRetryCount
                | Header::IdempotencyKey
                | Header::UserAgent
                | Header::PackageVersion
                | Header::Language
        )
    )
}

/// Longest name of a header that is read, in bytes.
const LONGEST_NAME: usize = 64;

fn starts_with(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Whether a top-level key of a record is the name of a header that is read.
pub(crate) fn is_header(key: &str) -> bool {
    if key.contains('.') {
        return without_prefix(key).len() < key.len() && named(key).is_some();
    }
    // Fast path: nearly every unknown key is excluded by its first letter.
    match key.as_bytes().first() {
        Some(b'a' | b'A') => starts_with(key, "anthropic-"),
        Some(b'x' | b'X') => starts_with(key, "x-"),
        Some(b'r' | b'R') => starts_with(key, "retry-after") || starts_with(key, "ratelimit-"),
        Some(b'o' | b'O') => starts_with(key, "openai-organization"),
        _ => false,
    }
}
