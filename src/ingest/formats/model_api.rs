//! Recognizes requests to model APIs by their URL.

use crate::ingest::record::{Field, Record, provider_in};
use std::borrow::Cow;

/// Endings of the paths of model requests. Sources: the API references of Anthropic, OpenAI, Google (Gemini API and
/// Vertex AI) and Amazon Bedrock. Gateways may prepend a path of their own.
const REQUEST_ENDINGS: [&str; 19] = [
    "/v1/messages",
    "/v1/complete",
    "/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/openai/responses",
    "/codex/responses",
    "/v1/embeddings",
    ":generateContent",
    ":streamGenerateContent",
    ":embedContent",
    ":batchEmbedContents",
    ":rawPredict",
    ":streamRawPredict",
    "/converse",
    "/converse-stream",
    "/invoke",
    "/invoke-with-response-stream",
    "/v2/chat",
];
/// Endings that are used by other APIs too, each with the text that precedes the name of a model in a model request. A
/// path with such an ending is a model request if it contains that text, or, for `/completions` and `/embeddings`, if
/// it has a longer ending of [`REQUEST_ENDINGS`].
const AMBIGUOUS_ENDINGS: [(&str, &str); 6] = [
    ("/converse", "/model/"),
    ("/converse-stream", "/model/"),
    ("/invoke", "/model/"),
    ("/invoke-with-response-stream", "/model/"),
    ("/completions", "/deployments/"),
    ("/embeddings", "/deployments/"),
];
/// Text that precedes the name of a model in a path, and the characters that end the name.
const MODEL_PREFIXES: [(&str, &[char]); 3] =
    [("/models/", &[':', '/']), ("/model/", &['/']), ("/deployments/", &['/'])];

/// Returns whether a URL, or a path alone, is that of a request to a model.
pub(super) fn is_request(url: &str) -> bool {
    let path = path_of(url);
    let ambiguous = AMBIGUOUS_ENDINGS.iter().find(|(ending, _)| path.ends_with(ending));
    match ambiguous {
        Some((_, before_model)) if path.contains(before_model) => true,
        Some((ending, _)) if !matches!(*ending, "/completions" | "/embeddings") => false,
        _ => REQUEST_ENDINGS.iter().any(|ending| path.ends_with(ending)),
    }
}

/// Returns the path without query, fragment and trailing slashes.
fn path_of(url: &str) -> &str {
    let rest = after_scheme(url);
    let path = rest.map_or(url, |rest| memchr::memchr(b'/', rest.as_bytes()).map_or("", |start| &rest[start..]));
    let end = memchr::memchr2(b'?', b'#', path.as_bytes()).unwrap_or(path.len());
    path[..end].trim_end_matches('/')
}

/// Returns the part of a URL after `://`; `None` if the URL has no scheme.
fn after_scheme(url: &str) -> Option<&str> {
    let mut colons = memchr::memchr_iter(b':', url.as_bytes());
    colons.find_map(|colon| url[colon..].strip_prefix("://"))
}

/// Sets endpoint, provider and model from a URL; provider and model only if they are not set yet.
pub(super) fn put_url<'t>(record: &mut Record<'t>, url: Cow<'t, str>) {
    if record.provider.is_none() {
        record.put(Field::Provider, provider_in(&url));
    }
    if record.model.is_none() {
        record.put(Field::Model, model_in(path_of(&url)).map(str::to_owned));
    }
    record.put(Field::Endpoint, url);
}

/// Returns the name of the model in a path.
fn model_in(path: &str) -> Option<&str> {
    MODEL_PREFIXES.iter().find_map(|(before, ends)| {
        let (_, rest) = path.rsplit_once(before)?;
        rest.split(*ends).next().filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_requests_are_recognized_by_their_paths() {
        for url in [
            "https://api.anthropic.com/v1/messages?beta=true",
            "/anthropic/v1/messages/",
            "http://127.0.0.1:4000/v1/chat/completions",
            "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
            "https://x.openai.azure.com/openai/deployments/d/embeddings?api-version=1",
            "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
            "https://bedrock-runtime.eu-west-1.amazonaws.com/model/a.b-v1%3A0/converse-stream",
        ] {
            assert!(is_request(url), "{url}");
        }
        for url in [
            "/",
            "/index.html",
            "/invoke",
            "/surveys/5/responses",
            "/shop/completions",
            "/threads/7/messages",
            "https://api.anthropic.com",
            "https://api.anthropic.com/v1/messages/count_tokens",
            "https://api.openai.com/v1/models",
        ] {
            assert!(!is_request(url), "{url}");
        }
    }

    #[test]
    fn a_url_names_provider_and_model() {
        let mut record = Record::default();
        put_url(&mut record, "https://bedrock-runtime.eu-west-1.amazonaws.com/model/a.b/invoke".into());
        assert_eq!((record.provider.as_deref(), record.model.as_deref()), (Some("bedrock"), Some("a.b")));
        let mut record = Record::default();
        put_url(&mut record, "/v1beta/models/gemini-x:generateContent?key=k".into());
        assert_eq!((record.provider.as_deref(), record.model.as_deref()), (None, Some("gemini-x")));
    }
}
