//! Failures without an HTTP response: exceptions, errnos and connection events.

use super::Kind;
use super::table::bare_name;

/// Error codes of Node.js, libuv and undici, and exception names, that contain no indicative English word. Sources:
/// Node.js docs, "Common system errors"; undici docs, "Errors".
const CODES: [(&str, Kind); 20] = [
    ("ECONNRESET", Kind::Connection),
    ("ECONNREFUSED", Kind::Connection),
    ("ECONNABORTED", Kind::Connection),
    ("EPIPE", Kind::Connection),
    ("ENOTFOUND", Kind::Connection),
    ("EAI_AGAIN", Kind::Connection),
    ("EHOSTUNREACH", Kind::Connection),
    ("ENETUNREACH", Kind::Connection),
    ("ENETDOWN", Kind::Connection),
    ("FailedToOpenSocket", Kind::Connection),
    ("ETIMEDOUT", Kind::Timeout),
    ("ESOCKETTIMEDOUT", Kind::Timeout),
    // httpx and httpcore name the phase in which the connection broke.
    ("RemoteProtocolError", Kind::Connection),
    ("ReadError", Kind::Connection),
    ("WriteError", Kind::Connection),
    ("ConnectError", Kind::Connection),
    ("IncompleteRead", Kind::Connection),
    ("ClientPayloadError", Kind::Connection),
    ("BrokenPipeError", Kind::Connection),
    ("AbortError", Kind::Cancelled),
];

/// Returns the kind of failure that an exception's class name or an errno indicates.
///
/// Returns `None` for a class that stands for a response with a status (`APIStatusError`, `RateLimitError`,
/// `ModelHTTPError`): the status is more specific.
pub fn kind_of_exception(name: &str) -> Option<Kind> {
    let name = bare_name(name.trim());
    // "ConnectionError('...')" is a printed exception.
    let name = name.split(['(', ' ']).next().unwrap_or(name);
    if let Some((_, kind)) = CODES.iter().find(|(code, _)| *code == name) {
        return Some(*kind);
    }
    let says = |word: &str| contains_ignoring_case(name, word);
    // Checked first: "ConnectTimeout" and "UND_ERR_CONNECT_TIMEOUT" are timeouts.
    if says("timeout") || says("timedout") || says("deadlineexceeded") {
        Some(Kind::Timeout)
    } else if name == "UND_ERR_ABORTED" || says("cancelled") || says("canceled") {
        Some(Kind::Cancelled)
    } else if says("connection") || says("disconnected") || name.starts_with("UND_ERR_") {
        Some(Kind::Connection)
    } else {
        None
    }
}

/// Returns the kind of failure that a description of the connection indicates, such as `server_rst_before_response`.
///
/// Events after the answer are not failures.
pub(super) fn kind_of_transport(transport: &str) -> Option<Kind> {
    let text = spaced(transport);
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if breaks_off(transport) {
        return Some(Kind::Connection);
    }
    if says(&AFTER_THE_ANSWER) {
        return None;
    }
    // A client that closes the connection has reached its own timeout.
    if says(&["client closed", "timeout", "timed out"]) {
        return Some(Kind::Timeout);
    }
    (says(&BROKEN) || says(&["refused", "error"])).then_some(Kind::Connection)
}

/// Whether the answer was cut off, whatever its status.
pub(crate) fn breaks_off(transport: &str) -> bool {
    let text = spaced(transport);
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&AFTER_THE_ANSWER) || says(&BEFORE_THE_ANSWER) || text.contains("client") {
        return false;
    }
    says(&UNFINISHED) || (says(&BROKEN) && (says(&MIDWAY) || says(&BY_THE_SERVER)))
}

const AFTER_THE_ANSWER: [&str; 9] = [
    "after response",
    "after the response",
    "after answer",
    "after the answer",
    "after message stop",
    "after done",
    "after complet",
    "after the end",
    "after idle",
];
const BEFORE_THE_ANSWER: [&str; 5] =
    ["before response", "before the response", "before answer", "before the answer", "before headers"];
/// Events that break a connection.
const BROKEN: [&str; 12] = [
    "rst",
    "reset",
    "closed",
    "disconnect",
    "abort",
    "broken",
    "dropped",
    "lost",
    "hung up",
    "hang up",
    "terminated",
    "eof",
];
/// Descriptions of an incomplete answer.
const UNFINISHED: [&str; 16] = [
    "ended early",
    "truncated",
    "incomplete",
    "premature",
    "interrupted",
    "stall",
    "cut off",
    "unexpected eof",
    "unexpected end",
    "partial",
    "before end",
    "before the end",
    "before complet",
    "before message stop",
    "before done",
    "without ",
];
/// Descriptions of a time during the answer.
const MIDWAY: [&str; 11] = [
    "during",
    "mid ",
    "midstream",
    "midway",
    "while streaming",
    "while reading",
    "in stream",
    "after header",
    "after status",
    "chunk",
    "after first",
];
/// Descriptions of the server closing the connection. A reset is never an orderly close.
const BY_THE_SERVER: [&str; 9] = [
    "reset",
    "rst",
    "by peer",
    "by server",
    "by remote",
    "peer closed",
    "server closed",
    "remote closed",
    "server disconnect",
];

/// Converts to lower case, with spaces instead of punctuation.
fn spaced(text: &str) -> String {
    let letter = |c: char| if matches!(c, '_' | '-' | '.' | ':') { ' ' } else { c.to_ascii_lowercase() };
    text.chars().map(letter).collect()
}

/// ASCII only, as names and codes are.
fn contains_ignoring_case(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}
