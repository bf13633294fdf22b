//! Parses lines of LiteLLM's log and their messages.

use crate::ingest::ansi;
use crate::ingest::formats::json_objects::Members;
use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Names of the loggers that write the lines.
const LOGGERS: [&str; 5] = ["LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "uvicorn.access", "uvicorn.error"];

/// A line written by one of these loggers.
#[derive(Debug)]
pub(super) struct LoggerLine<'l> {
    /// Number of the line format, which identifies the logging handler: two handlers may write the same message.
    pub(super) line_format: u8,
    pub(super) message: Cow<'l, str>,
    /// Members of a JSON line; empty for text.
    pub(super) members: Members<'l>,
}

/// The prefixes of text lines: `18:10:38 - LiteLLM:DEBUG: utils.py:600 - `, `[2026-11-29 18:10:38 - LiteLLM:600 -
/// DEBUG] `, `2026-11-30 18:32:37,242 - LiteLLM Router - INFO - `, `DEBUG:LiteLLM:`, `LiteLLM: ` Sources:
/// litellm/_logging.py; openai-python, _utils/_logs.py; the defaults of Python's logging.
static PREFIX: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:[^\n]{0,48}?(?-u:\b)LiteLLM(?: Router| Proxy)?(?:(:[A-Z]+: [\w.]+:\d+ -(?: |$))|(:\d+ - [A-Z]+\](?: |$))|( - [A-Z]+ -(?: |$)))|(?:[A-Z]+:)?LiteLLM(?: Router| Proxy)?(:))",
    )
    .ok()
});
/// `127.0.0.1:55142 - "POST /v1/chat/completions HTTP/1.1" 200`, as uvicorn writes it.
static ACCESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"[\w.:\[\]]+:\d+ - "POST (\S+) HTTP/[\d.]+" (\d{3})(?-u:\b)"#).ok());
/// `Server error '529 ' for url 'https://..'`, as raised by httpx.
static STATUS_ERROR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:Server error|Client error|Redirect response) '(\d{3}) [^']{0,80}' for url '([^']+)'").ok()
});
/// `LiteLLM Retried: 2 times`
static RETRIED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"LiteLLM Retried: (\d{1,4}) times").ok());
/// `model group 'gpt' failed`
static GROUP: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"model group '([^']{1,200})' failed").ok());

/// Numbers of the formats that are not groups of [`PREFIX`].
const JSON_FORMAT: u8 = 0;
const ACCESS_FORMAT: u8 = 5;

/// Parses the prefix of a line. Returns `None` if the line was not written by one of these loggers.
pub(super) fn line(line: &str) -> Option<LoggerLine<'_>> {
    if line.starts_with('{') {
        let members = Members::of(line).ok()?;
        let component = members.scalar_text("component")?;
        if !LOGGERS.contains(&&*component) || !members.has_all(&["message", "level"]) {
            return None;
        }
        let message = Cow::Owned(ansi::without(&members.scalar_text("message")?).into_owned());
        return Some(LoggerLine { line_format: JSON_FORMAT, message, members });
    }
    if line.contains("LiteLLM")
        && let Some(found) = PREFIX.as_ref()?.captures(line)
    {
        // Each group of the pattern is the end of one format.
        let line_format = (1..5).find(|group| found.get(*group).is_some())? as u8;
        let message = Cow::Borrowed(line.get(found.get(0)?.end()..)?);
        return Some(LoggerLine { line_format, message, members: Members::default() });
    }
    let access = line.contains("POST ") && ACCESS.as_ref()?.is_match(line);
    access.then(|| LoggerLine { line_format: ACCESS_FORMAT, message: Cow::Borrowed(line), members: Members::default() })
}

/// Meaning of a message, or of one line of it.
#[derive(Debug, PartialEq)]
pub(super) enum Message<'m> {
    /// The model and provider of the next request.
    Model { model: &'m str, provider: &'m str },
    /// Retry limit of the SDK that LiteLLM calls.
    MaxRetries(i64),
    /// A request is being sent; its URL follows.
    Sent,
    /// URL of the request being sent.
    Url(&'m str),
    /// The raw response follows.
    RawResponse,
    /// The request failed with this status.
    Failed { status: i64, url: &'m str, text: &'m str },
    /// The request succeeded.
    Succeeded,
    /// The request failed or succeeded, without further information.
    Ended { ok: bool },
    /// The router finished an attempt.
    RouterAttempt { model: &'m str, error: Option<&'m str>, status: &'m str },
    /// The proxy gave up.
    GaveUp { call: &'m str, model: Option<&'m str>, retries: Option<i64>, error: &'m str },
    /// The proxy responded to its client.
    Access { path: &'m str, status: i64 },
}

/// Parses a line of a message. `expects_response` tells whether the raw response is expected here.
pub(super) fn read(text: &str, expects_response: bool) -> Option<Message<'_>> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if text == "POST Request Sent from LiteLLM:" {
        return Some(Message::Sent);
    }
    if text == "RAW RESPONSE:" {
        return Some(Message::RawResponse);
    }
    if expects_response && let Some(message) = raw_response(text) {
        return Some(message);
    }
    if let Some(url) = text.strip_suffix(" \\").filter(|url| url.starts_with("http")) {
        return Some(Message::Url(url));
    }
    if let Some(rest) = text.strip_prefix("LiteLLM completion() model= ") {
        let (model, provider) = rest.split_once("; provider = ")?;
        return Some(Message::Model { model, provider });
    }
    if text.contains("Non-Default params passed to completion()") {
        return number_after(text, "'max_retries': ").map(Message::MaxRetries);
    }
    if let Some(status) = text.strip_prefix("status_code: ").and_then(|status| status.parse().ok()) {
        return Some(Message::Failed { status, url: "", text: "" });
    }
    if text.starts_with("Logging Details") {
        let ok = text.contains("Success Call");
        let failed = text.contains("logger_fn - ") || text.contains("Failure Call");
        return (ok || failed).then_some(Message::Ended { ok });
    }
    router_attempt(text).or_else(|| gave_up(text)).or_else(|| access(text))
}

/// Parses the raw response: an error as printed by httpx or an SDK, or a body.
fn raw_response(text: &str) -> Option<Message<'_>> {
    if let Some(found) = STATUS_ERROR.as_ref()?.captures(text) {
        let status = found.get(1)?.as_str().parse().ok()?;
        return Some(Message::Failed { status, url: found.get(2)?.as_str(), text: "" });
    }
    if let Some(rest) = text.strip_prefix("Error code: ") {
        let (status, text) = rest.split_once(" - ").unwrap_or((rest, ""));
        return Some(Message::Failed { status: status.parse().ok()?, url: "", text });
    }
    let is_body = ["{\"", "{'", "ModelResponse(", "ChatCompletion("].iter().any(|start| text.starts_with(start));
    is_body.then_some(Message::Succeeded)
}

/// Parses `litellm.acompletion(model=NAME) 200 OK` or `.. Exception TEXT`, and a failed fallback.
fn router_attempt(text: &str) -> Option<Message<'_>> {
    if let Some(rest) = text.strip_prefix("Fallback attempt failed for model ") {
        let (model, error) = rest.split_once(": ")?;
        return Some(Message::RouterAttempt { model, error: Some(error), status: "" });
    }
    let (function, rest) = text.strip_prefix("litellm.")?.split_once("(model=")?;
    let (model, result) = rest.split_once(')')?;
    let is_name = function.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let result = result.trim();
    let error = result.strip_prefix("Exception ");
    let status = result.strip_suffix(" OK").unwrap_or_default();
    (is_name && (error.is_some() || !status.is_empty())).then_some(Message::RouterAttempt { model, error, status })
}

/// Parses the proxy's message on giving up. `occured` is how LiteLLM spells it.
fn gave_up(text: &str) -> Option<Message<'_>> {
    let (_, rest) = text.split_once("Exception occured - ")?;
    let (call, error) = match rest.strip_prefix("litellm_call_id=") {
        Some(rest) => rest.split_once(" - ")?,
        None => ("", rest),
    };
    let group = GROUP.as_ref()?.captures(error).and_then(|found| found.get(1)).map(|name| name.as_str());
    let retries = RETRIED.as_ref()?.captures(error).and_then(|found| found.get(1)?.as_str().parse().ok());
    Some(Message::GaveUp { call, model: group, retries, error })
}

fn access(text: &str) -> Option<Message<'_>> {
    if !text.contains("POST ") {
        return None;
    }
    let found = ACCESS.as_ref()?.captures(text)?;
    let (path, status) = (found.get(1)?.as_str(), found.get(2)?.as_str().parse().ok()?);
    Some(Message::Access { path, status })
}

fn number_after(text: &str, label: &str) -> Option<i64> {
    let rest = &text[text.find(label)? + label.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lines_of_every_handler_are_recognized() {
        for (text, line_format, message) in [
            ("18:10:38 - LiteLLM:DEBUG: utils.py:600 - words", 1, "words"),
            ("18:10:38 - LiteLLM Router:INFO: router.py:60 - words", 1, "words"),
            ("[2026-03-02 18:10:38 - LiteLLM:600 - DEBUG] words", 2, "words"),
            ("2026-03-02 18:10:38,123 - LiteLLM Proxy - ERROR - words", 3, "words"),
            ("18:10:38 - LiteLLM:DEBUG: utils.py:600 -", 1, ""),
            ("DEBUG:LiteLLM:words", 4, "words"),
            (r#"{"message":"words","level":"INFO","component":"LiteLLM"}"#, 0, "words"),
        ] {
            let read = line(text).unwrap();
            assert_eq!((read.line_format, &*read.message), (line_format, message), "{text}");
        }
        assert!(line(r#"INFO:     10.0.0.1:5 - "POST /v1/messages HTTP/1.1" 200 OK"#).is_some());
        for other in
            ["2026-03-02 app - INFO - LiteLLM is fine", "LiteLLM", r#"{"message":"a","level":"b"}"#, "10 - words"]
        {
            assert!(line(other).is_none(), "{other}");
        }
    }

    #[test]
    fn messages_are_read() {
        for (text, expected) in [
            ("POST Request Sent from LiteLLM:", Some(Message::Sent)),
            ("http://a/v1/messages \\", Some(Message::Url("http://a/v1/messages"))),
            ("LiteLLM completion() model= m; provider = p", Some(Message::Model { model: "m", provider: "p" })),
            ("LiteLLM: Non-Default params passed to completion() {'max_retries': 2}", Some(Message::MaxRetries(2))),
            ("Logging Details LiteLLM-Failure Call: []", Some(Message::Ended { ok: false })),
            ("Logging Details LiteLLM-Success Call: x", Some(Message::Ended { ok: true })),
            (
                "litellm.acompletion(model=a/m) 200 OK",
                Some(Message::RouterAttempt { model: "a/m", error: None, status: "200" }),
            ),
            (
                "litellm.acompletion(model=m) Exception litellm.Timeout: slow",
                Some(Message::RouterAttempt { model: "m", error: Some("litellm.Timeout: slow"), status: "" }),
            ),
            ("litellm.acompletion(model=m) started", None),
            (
                r#"10.0.0.1:5 - "POST /v1/messages HTTP/1.1" 429"#,
                Some(Message::Access { path: "/v1/messages", status: 429 }),
            ),
            ("Retrying request with num_retries: 2", None),
        ] {
            assert_eq!(read(text, false), expected, "{text}");
        }
        let gave_up = "x(): Exception occured - litellm_call_id=c1 - litellm.Timeout: slow\n\nLiteLLM: model group 'g' failed with the error above. LiteLLM Retried: 2 times, LiteLLM Max Retries: 2";
        assert!(matches!(
            read(gave_up, false),
            Some(Message::GaveUp { call: "c1", model: Some("g"), retries: Some(2), .. })
        ));
        let url = "https://a/v1/messages";
        assert_eq!(
            read("Server error '529 ' for url 'https://a/v1/messages'", true),
            Some(Message::Failed { status: 529, url, text: "" })
        );
        assert_eq!(read("Error code: 500 - x", true), Some(Message::Failed { status: 500, url: "", text: "x" }));
        assert_eq!(read("{\"id\": \"msg\"}", true), Some(Message::Succeeded));
        assert_eq!(read("{\"id\": \"msg\"}", false), None);
    }
}
