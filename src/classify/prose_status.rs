//! Finds the HTTP status in the text of an exception or a log line.

use super::inside::error_status;

/// Text before a status, in lower case, and its source.
const PREFIXES: [(&str, &str); 23] = [
    ("error code: ", "openai-python, _exceptions.py"),
    ("status code ", "axios: \"Request failed with status code 429\""),
    ("status code: ", "requests, OkHttp and Go clients"),
    ("status_code: ", "Cohere SDK, core/api_error.py"),
    ("status_code=", "Python exceptions printed by repr"),
    ("status: ", "Google Gen AI SDK: \"got status: 503\""),
    ("status=", "logfmt"),
    ("statuscode: ", "AI SDK, APICallError"),
    ("statuscode=", "Java SDKs"),
    ("(status ", "Rust and Go clients: \"(status 403 Forbidden)\""),
    ("unexpected status ", "openai/codex"),
    ("http status ", "Java and Rust clients"),
    ("http error ", "urllib: \"HTTP Error 429: Too Many Requests\""),
    ("http/1.1 ", "a status line"),
    ("http/2 ", "a status line"),
    ("api error: ", "Claude Code notices"),
    ("api error (", "Claude Code notices: \"API Error (503 ...)\""),
    ("api returned ", "Grok and Groq clients"),
    ("server returned ", "Java and Go clients"),
    ("returned status ", "Java and Go clients"),
    ("response code ", "got: \"Response code 429\""),
    (": [", "Google Generative AI for JavaScript: \"[429 Too Many Requests]\""),
    ("error '", "httpx: \"Client error '429 Too Many Requests' for url\""),
];

/// How far into a message a status is searched for, in bytes.
const MAX_OFFSET: usize = 256;

/// Returns the status in a message such as `529 {"type":...`, `Error code: 429 - {...` or
/// `unexpected status 413 Payload Too Large`.
pub(super) fn status_in_prose(message: &str) -> Option<u16> {
    let text = message.trim_start().as_bytes();
    let start = text.strip_prefix(b"API ").unwrap_or(text);
    let start = start.strip_prefix(b"Error: ").unwrap_or(start);
    let start = start.strip_prefix(b"HTTP ").unwrap_or(start);
    status_at(start).or_else(|| after_prefix(text)).or_else(|| after_exception(text)).or_else(|| in_title(text))
}

fn after_prefix(text: &[u8]) -> Option<u16> {
    let head = &text[..text.len().min(MAX_OFFSET)];
    PREFIXES.iter().find_map(|(before, _)| {
        let mut windows = head.windows(before.len());
        let found = windows.position(|window| window.eq_ignore_ascii_case(before.as_bytes()))?;
        status_at(&text[found + before.len()..])
    })
}

/// Returns the status after an exception name: `google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded` or
/// `NonTransientAiException: 400 - {...`, but not `ValueError: 500 items`.
fn after_exception(text: &[u8]) -> Option<u16> {
    let name = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')).count();
    let rest = text.get(name..)?.strip_prefix(b": ").filter(|_| name > 0)?;
    let after = rest.get(3..)?.trim_ascii_start();
    let is_followed_by_reason =
        after.first().is_none_or(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'{' | b'(' | b':' | b'<'));
    status_at(rest).filter(|_| is_followed_by_reason)
}

/// Returns the status in a title such as `<title>403 Forbidden</title>`.
fn in_title(text: &[u8]) -> Option<u16> {
    let head = &text[..text.len().min(4 * MAX_OFFSET)];
    let start = memchr::memmem::find(head, b"<title>")? + b"<title>".len();
    status_at(&text[start..])
}

/// Parses exactly three digits that are an error status.
fn status_at(text: &[u8]) -> Option<u16> {
    let (digits, rest) = text.split_at_checked(3)?;
    let is_whole_number = rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_whole_number)?;
    digits.parse().ok().and_then(error_status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_status_in_exception_texts() {
        for (text, status) in [
            ("429 Quota exceeded", 429),
            ("google.api_core.exceptions.ResourceExhausted: 429 Quota exceeded for x", 429),
            ("org.springframework.ai.retry.NonTransientAiException: 400 - {", 400),
            ("TooManyRequestsError: status_code: 429, body: {", 429),
            ("request failed (status 403 Forbidden)", 403),
            ("got status: 503 Service Unavailable. {", 503),
            ("API error: 402 Payment Required", 402),
            ("API Error (503 Too many connections)", 503),
            ("Grok Responses API returned 403: {", 403),
            ("HTTP/1.1 503 Service Unavailable - {", 503),
            ("HTTP Error 429: Too Many Requests", 429),
            ("Client error '429 Too Many Requests' for url 'https://x.test'", 429),
            ("[GoogleGenerativeAI Error]: Error fetching from https://x.test: [503 Service Unavailable] busy", 503),
            ("requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url", 429),
            ("<html>\r\n<head><title>403 Forbidden</title></head>", 403),
        ] {
            assert_eq!(status_in_prose(text), Some(status), "{text}");
        }
    }

    #[test]
    fn ignores_numbers_that_are_no_status() {
        for text in [
            "ValueError: 500 items are too many",
            "HTTP/1.1 200 OK",
            "status: 4290",
            "got status: ok, 429 tokens left",
            "the model returned 512 tokens",
            "finished after 500 ms",
            "",
        ] {
            assert_eq!(status_in_prose(text), None, "{text}");
        }
    }
}
