//! Failures that have no HTTP shape: exceptions, errnos, and what the connection did.

use super::Kind;
use super::table::bare_name;

/// Node's and libuv's error codes, and undici's, which carry no telling English word.
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

/// The kind of failure an exception's class name or an errno stands for.
///
/// A class that stands for an answer with a status (`APIStatusError`, `RateLimitError`,
/// `ModelHTTPError`) is no kind: the status says more.
pub fn kind_of_exception(name: &str) -> Option<Kind> {
    let name = bare_name(name.trim());
    // "ConnectionError('...')": what was raised, printed.
    let name = name.split(['(', ' ']).next().unwrap_or(name);
    if let Some((_, kind)) = CODES.iter().find(|(code, _)| *code == name) {
        return Some(*kind);
    }
    let says = |word: &str| contains_ignoring_case(name, word);
    // "ConnectTimeout" and "UND_ERR_CONNECT_TIMEOUT" are timeouts first.
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

/// The kind of failure in the account of a connection: `server_rst_before_response`.
///
/// What happened after the answer did no harm.
pub(super) fn kind_of_transport(transport: &str) -> Option<Kind> {
    let says = |word: &str| contains_ignoring_case(transport, word);
    if is_cut_off(transport) {
        return Some(Kind::Connection);
    }
    if says("after_response") || says("after_answer") {
        return None;
    }
    // A client that hangs up has run out of patience: its own timeout.
    if says("client_closed") || says("timeout") || says("timed_out") || says("timed out") {
        return Some(Kind::Timeout);
    }
    const BROKEN: [&str; 10] =
        ["rst", "reset", "closed", "disconnect", "ended_early", "refused", "abort", "broken", "truncated", "error"];
    BROKEN.iter().any(|word| says(word)).then_some(Kind::Connection)
}

/// Whether the answer broke off on the way, whatever status it began with.
pub(super) fn is_cut_off(transport: &str) -> bool {
    contains_ignoring_case(transport, "ended_early") || contains_ignoring_case(transport, "truncated")
}

/// ASCII only: names and codes are.
fn contains_ignoring_case(text: &str, word: &str) -> bool {
    text.as_bytes().windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}
