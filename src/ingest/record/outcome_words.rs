//! Words for the outcome of an attempt.

use crate::classify::Kind;

/// Whether a word means success or failure; `None` if it means neither.
pub(in crate::ingest) fn words_of(text: &str) -> Option<bool> {
    /// Includes the ends of streams: a stream that was completed is a success.
    const SUCCESS: [&str; 19] = [
        "ok",
        "success",
        "succeeded",
        "successful",
        "completed",
        "complete",
        "done",
        "finished",
        "stop",
        "end_turn",
        "passed",
        "none",
        "no_error",
        "noerror",
        "no error",
        "fulfilled",
        "true",
        "status_code_ok",
        "2xx",
    ];
    const FAILURE: [&str; 22] = [
        "error",
        "errored",
        "failed",
        "failure",
        "fail",
        "unsuccessful",
        "timeout",
        "timed_out",
        "exception",
        "cancelled",
        "canceled",
        "aborted",
        "rejected",
        "refused",
        "throttled",
        "rate_limited",
        "overloaded",
        "crashed",
        "ko",
        "nok",
        "false",
        "status_code_error",
    ];
    let word = text.trim();
    let is = |list: &[&str]| list.iter().any(|known| known.eq_ignore_ascii_case(word));
    if is(&SUCCESS) {
        return Some(true);
    }
    (is(&FAILURE) || kind_named(word).is_some()).then_some(false)
}

pub(in crate::ingest) fn kind_named(word: &str) -> Option<Kind> {
    Kind::from_name(word).or(match word {
        "timed_out" | "timeout_error" => Some(Kind::Timeout),
        "connection" | "connection_reset" | "network_error" => Some(Kind::Connection),
        "canceled" | "aborted" => Some(Kind::Cancelled),
        _ => None,
    })
}
