//! Words for the outcome of an attempt.

use super::words::Words;
use crate::classify::Kind;
use std::sync::LazyLock;

/// Words for a success, including the ends of streams: a stream that was completed is a success.
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

/// Words for a failure, besides the names of kinds of failures.
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

static OUTCOMES: LazyLock<Words<bool>> = LazyLock::new(|| {
    let successes = SUCCESS.map(|word| (word.into(), true));
    Words::new(successes.into_iter().chain(FAILURE.map(|word| (word.into(), false))).collect())
});

/// Whether a word means success or failure; `None` if it means neither.
pub(in crate::ingest) fn words_of(text: &str) -> Option<bool> {
    let word = text.trim();
    OUTCOMES.get_in_any_case(word).or_else(|| kind_named(word).map(|_| false))
}

pub(in crate::ingest) fn kind_named(word: &str) -> Option<Kind> {
    Kind::from_name(word).or(match word {
        "timed_out" | "timeout_error" => Some(Kind::Timeout),
        "connection" | "connection_reset" | "network_error" => Some(Kind::Connection),
        "canceled" | "aborted" => Some(Kind::Cancelled),
        _ => None,
    })
}
