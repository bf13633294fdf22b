//! Parses log lines of the Python SDKs and of their HTTP client.

use aho_corasick::{AhoCorasick, MatchKind};
use std::sync::LazyLock;

/// A message about an attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Message<'l> {
    /// Options of the next request, as a Python literal.
    Options(&'l str),
    /// How often the SDK has already sent the next request.
    Count(i64),
    /// A request is being sent; the URL is empty if not logged.
    Sent { url: &'l str },
    /// A response was received.
    Response { source: Source, url: &'l str, status: i64, headers: &'l str },
    /// The provider's id of the response.
    RequestId(&'l str),
    /// The server's instruction to retry or not, which the SDK obeys.
    ServerSays { retry: bool },
    /// No response was received; name of the exception, or empty.
    Raised { exception: &'l str },
    /// The request will be retried; `count` is the number of the retry and the maximum.
    Retry { path: &'l str, seconds: f64, count: Option<(i64, i64)> },
    /// The exception raised to the application: status and body literal.
    Error { status: i64, body: &'l str },
}

/// Logger of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// `httpcore`, with headers; logs first.
    Connection = 1,
    /// `httpx`.
    Client = 2,
    /// The SDK itself, with headers; logs last.
    Sdk = 4,
}

type Parse = for<'l> fn(&'l str) -> Option<Message<'l>>;

/// Start of each message, and the parser of the text after it.
const PARSERS: [(&str, Parse); 12] = [
    ("HTTP Request: ", request),
    ("HTTP Response: ", response),
    ("Sending HTTP Request: ", sent),
    ("Retrying request ", retry),
    ("Request options: ", |rest| rest.starts_with('{').then_some(Message::Options(rest))),
    ("Building HTTP request: ", count),
    (" as header `x-should-retry` is set to `", server_says),
    ("request_id: ", |rest| Some(Message::RequestId(rest.trim())).filter(|_| is_id(rest.trim()))),
    ("Encountered ", raised),
    ("receive_response_headers.complete return_value=", connection),
    ("send_request_headers.started request=<Request ", |_| Some(Message::Sent { url: "" })),
    ("Error code: ", error),
];

/// Search for the starts of all messages at once.
static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let starts = PARSERS.map(|(start, _)| start);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(starts).ok()
});

/// Parses a line. Returns the message and its start in the line.
pub(super) fn read(line: &str) -> Option<(Message<'_>, usize)> {
    let found = SEARCH.as_ref()?.find(line)?;
    let (_, parse) = PARSERS.get(found.pattern().as_usize())?;
    Some((parse(line.get(found.end()..)?)?, found.start()))
}

/// Parses `POST https://host/v1/messages "HTTP/1.1 529 Overloaded"`, or `"429 Too Many Requests"` of older SDKs.
fn request(rest: &str) -> Option<Message<'_>> {
    let (method, rest) = rest.split_once(' ')?;
    let (url, rest) = rest.split_once(" \"")?;
    let (is_of_client, rest) = match rest.strip_prefix("HTTP/") {
        Some(rest) => (true, rest.split_once(' ')?.1),
        None => (false, rest),
    };
    let source = if is_of_client { Source::Client } else { Source::Sdk };
    is_method(method).then_some(Message::Response { source, url, status: status(rest)?, headers: "" })
}

/// Parses `POST https://host/v1/messages "429 Too Many Requests" Headers({..})`, or `POST 429`.
fn response(rest: &str) -> Option<Message<'_>> {
    let (method, rest) = rest.split_once(' ')?;
    if !is_method(method) {
        return None;
    }
    let Some((url, response)) = rest.split_once(" \"") else {
        return Some(Message::Response { source: Source::Sdk, url: "", status: status(rest)?, headers: "" });
    };
    let headers = response.split_once("Headers(").map_or("", |(_, headers)| headers);
    Some(Message::Response { source: Source::Sdk, url, status: status(response)?, headers })
}

/// Parses `POST https://host/v1/messages`, or `POST`.
fn sent(rest: &str) -> Option<Message<'_>> {
    let mut words = rest.split_whitespace();
    let method = words.next()?;
    is_method(method).then_some(Message::Sent { url: words.next().unwrap_or_default() })
}

/// Parses `to /v1/messages in 0.49 seconds`, or `in 0.49 seconds (retry 1 of 2)`.
fn retry(rest: &str) -> Option<Message<'_>> {
    let (path, rest) = match rest.strip_prefix("to ") {
        Some(rest) => rest.split_once(" in ")?,
        None => ("", rest.strip_prefix("in ")?),
    };
    let (seconds, rest) = rest.split_once(" seconds")?;
    let count = rest.split_once("(retry ").and_then(|(_, count)| {
        let (number, of) = count.split_once(" of ")?;
        Some((number.parse().ok()?, of.split(')').next()?.parse().ok()?))
    });
    let seconds = seconds.parse().ok().filter(|seconds: &f64| seconds.is_finite() && *seconds >= 0.0)?;
    Some(Message::Retry { path, seconds, count })
}

/// Parses `method=POST retries_taken=1`.
fn count(rest: &str) -> Option<Message<'_>> {
    let (_, count) = rest.split_once("retries_taken=")?;
    let digits = count.find(|c: char| !c.is_ascii_digit()).unwrap_or(count.len());
    count[..digits].parse().ok().map(Message::Count)
}

fn server_says(rest: &str) -> Option<Message<'_>> {
    Some(Message::ServerSays { retry: rest.starts_with("true") })
}

/// Parses `httpx.TimeoutException`, `a timeout exception`, `Exception` or `exception: ReadTimeout`. A traceback may
/// follow.
fn raised(rest: &str) -> Option<Message<'_>> {
    let rest = rest.trim_end();
    if let Some(exception) = rest.strip_prefix("exception: ") {
        return Some(Message::Raised { exception });
    }
    let is_timeout = rest.ends_with(".TimeoutException") || rest == "a timeout exception";
    let exception = if is_timeout { "TimeoutException" } else { "" };
    (is_timeout || rest == "Exception").then_some(Message::Raised { exception })
}

/// Parses `(b'HTTP/1.1', 429, b'Too Many Requests', [(b'Retry-After', b'20')])`.
fn connection(rest: &str) -> Option<Message<'_>> {
    let (version, rest) = rest.split_once(", ")?;
    let (code, rest) = rest.split_once(", ")?;
    let headers = rest.find('[').and_then(|at| rest.get(at..)).unwrap_or_default();
    let status = status(code)?;
    version.contains("HTTP/").then_some(Message::Response { source: Source::Connection, url: "", status, headers })
}

/// Parses `429 - {'error': {..}}`.
fn error(rest: &str) -> Option<Message<'_>> {
    let (code, body) = rest.split_once(" - ")?;
    Some(Message::Error { status: status(code)?, body })
}

fn is_method(word: &str) -> bool {
    matches!(word, "POST" | "GET" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS")
}

/// Returns the three-digit status at the start of `text`.
fn status(text: &str) -> Option<i64> {
    let digits = text.get(..3)?;
    let ends = text.as_bytes().get(3).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    digits.parse().ok().filter(|status| ends && (100..1000).contains(status))
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text != "None" && !text.contains(' ')
}

/// Returns the exception named by a line at the end of a traceback, such as `httpx.ReadTimeout: timed out`.
pub(super) fn exception_of(line: &str) -> Option<&str> {
    let name = line.split(':').next().unwrap_or_default().trim_end();
    let is_path = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let last = name.rsplit('.').next().unwrap_or_default();
    (is_path && (name.contains('.') || last.ends_with("Error") || last.ends_with("Exception"))).then_some(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(line: &str) -> Option<Message<'_>> {
        read(line).map(|(message, _)| message)
    }

    #[test]
    fn messages_of_old_and_new_sdks_are_read() {
        let response = |source, url, status| Some(Message::Response { source, url, status, headers: "" });
        let url = "https://api.example/v1/messages";
        for (line, expected) in [
            (
                r#"INFO:httpx:HTTP Request: POST https://api.example/v1/messages "HTTP/1.1 529 ""#,
                response(Source::Client, url, 529),
            ),
            (
                r#"HTTP Request: POST https://api.example/v1/messages "429 Too Many Requests""#,
                response(Source::Sdk, url, 429),
            ),
            ("HTTP Response: POST 500", response(Source::Sdk, "", 500)),
            ("x - Sending HTTP Request: POST https://api.example/v1/messages", Some(Message::Sent { url })),
            ("Sending HTTP Request: POST", Some(Message::Sent { url: "" })),
            (
                "Retrying request to /v1/messages in 0.5 seconds",
                Some(Message::Retry { path: "/v1/messages", seconds: 0.5, count: None }),
            ),
            (
                "Retrying request in 90.000000 seconds (retry 1 of 2)",
                Some(Message::Retry { path: "", seconds: 90.0, count: Some((1, 2)) }),
            ),
            ("Building HTTP request: method=POST retries_taken=1", Some(Message::Count(1))),
            ("Not retrying as header `x-should-retry` is set to `false`", Some(Message::ServerSays { retry: false })),
            ("DEBUG request_id: req_1", Some(Message::RequestId("req_1"))),
            ("request_id: None", None),
            ("Encountered httpx.TimeoutException", Some(Message::Raised { exception: "TimeoutException" })),
            ("Encountered exception: ReadTimeout", Some(Message::Raised { exception: "ReadTimeout" })),
            ("Encountered an HTTP status error: 529", None),
            ("Encountered a problem with the printer", None),
            ("RateLimitError: Error code: 429 - {'a': 1}", Some(Message::Error { status: 429, body: "{'a': 1}" })),
            ("Retrying request later", None),
            ("HTTP Request: nothing", None),
        ] {
            assert_eq!(message(line), expected, "{line}");
        }
        let with_headers = r#"HTTP Response: POST https://a/b "429 Too" Headers({'retry-after': '1'})"#;
        let headers = "{'retry-after': '1'})";
        assert_eq!(
            message(with_headers),
            Some(Message::Response { source: Source::Sdk, url: "https://a/b", status: 429, headers })
        );
        let raw = "receive_response_headers.complete return_value=(b'HTTP/1.1', 429, b'Too', [(b'A', b'1')])";
        let headers = "[(b'A', b'1')])";
        assert_eq!(message(raw), Some(Message::Response { source: Source::Connection, url: "", status: 429, headers }));
    }

    #[test]
    fn the_last_line_of_a_traceback_names_the_exception() {
        assert_eq!(exception_of("httpx.ReadTimeout: timed out"), Some("ReadTimeout"));
        assert_eq!(exception_of("ConnectionResetError: [Errno 104]"), Some("ConnectionResetError"));
        assert_eq!(exception_of("    raise exc"), None);
        assert_eq!(exception_of("Traceback (most recent call last):"), None);
    }
}
