//! Failures without an HTTP response: exceptions, errnos and connection events.

use super::Kind;
use super::table::bare_name;

/// Error codes of Node.js, libuv and undici, and names of exceptions, whose kind no general rule below recognizes.
/// Sources: Node.js docs, "Common system errors"; undici docs, "Errors".
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
    // Removes the arguments of a printed exception such as "ConnectionError('...')".
    let name = name.split(['(', ' ']).next().unwrap_or(name);
    if let Some((_, kind)) = CODES.iter().find(|(code, _)| *code == name) {
        return Some(*kind);
    }
    let contains = |word: &str| contains_ignoring_case(name, word);
    // Timeouts come first, since "ConnectTimeout" and "UND_ERR_CONNECT_TIMEOUT" contain both words.
    if contains("timeout") || contains("timedout") || contains("deadlineexceeded") {
        Some(Kind::Timeout)
    } else if name == "UND_ERR_ABORTED" || contains("cancelled") || contains("canceled") {
        Some(Kind::Cancelled)
    } else if contains("connection") || contains("disconnected") || name.starts_with("UND_ERR_") {
        Some(Kind::Connection)
    } else {
        None
    }
}

/// Returns the kind of failure that a description of the connection indicates, such as `server_rst_before_response`.
///
/// Events after the end of the response are not failures.
pub(super) fn kind_of_transport(transport: &str) -> Option<Kind> {
    let text = words_in_lower_case(transport);
    let contains = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if cuts_off_response(transport) {
        return Some(Kind::Connection);
    }
    if contains(&AFTER_RESPONSE) {
        return None;
    }
    // A client that closes the connection has reached its own timeout.
    if contains(&["client closed", "timeout", "timed out"]) {
        return Some(Kind::Timeout);
    }
    (contains(&CONNECTION_BROKEN) || contains(&["refused", "error"])).then_some(Kind::Connection)
}

/// Returns whether a connection event shows that the response was cut off, whatever its status.
pub(crate) fn cuts_off_response(transport: &str) -> bool {
    let text = words_in_lower_case(transport);
    let contains = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if contains(&AFTER_RESPONSE) || contains(&BEFORE_RESPONSE) || text.contains("client") {
        return false;
    }
    contains(&INCOMPLETE_RESPONSE)
        || (contains(&CONNECTION_BROKEN) && (contains(&DURING_RESPONSE) || contains(&CLOSED_BY_SERVER)))
}

const AFTER_RESPONSE: [&str; 9] = [
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
const BEFORE_RESPONSE: [&str; 5] =
    ["before response", "before the response", "before answer", "before the answer", "before headers"];
/// Events that break a connection.
const CONNECTION_BROKEN: [&str; 12] = [
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
/// Descriptions of an incomplete response.
const INCOMPLETE_RESPONSE: [&str; 16] = [
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
/// Descriptions of a time during the response.
const DURING_RESPONSE: [&str; 11] = [
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
const CLOSED_BY_SERVER: [&str; 9] = [
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
fn words_in_lower_case(text: &str) -> String {
    let letter = |c: char| if matches!(c, '_' | '-' | '.' | ':') { ' ' } else { c.to_ascii_lowercase() };
    text.chars().map(letter).collect()
}

/// Ignores case only of ASCII letters, of which names and codes consist.
fn contains_ignoring_case(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}
