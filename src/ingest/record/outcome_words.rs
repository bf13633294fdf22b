//! Words for the outcome of an attempt.

use super::word_table::WordTable;
use crate::classify::Kind;
use std::sync::LazyLock;

/// Words for a success. Stop reasons are among them: some loggers write them as the outcome.
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

static OUTCOMES: LazyLock<WordTable<bool>> = LazyLock::new(|| {
    let successes = SUCCESS.map(|word| (word.into(), true));
    WordTable::new(successes.into_iter().chain(FAILURE.map(|word| (word.into(), false))).collect())
});

/// Whether a word means success; `None` if it means neither success nor failure.
pub(in crate::ingest) fn is_success(text: &str) -> Option<bool> {
    let word = text.trim();
    OUTCOMES.get_in_any_case(word).or_else(|| kind_named(word).map(|_| false))
}

/// Returns the kind of failure of this name.
pub(in crate::ingest) fn kind_named(word: &str) -> Option<Kind> {
    Kind::from_name(word).or(match word {
        "timed_out" | "timeout_error" => Some(Kind::Timeout),
        "connection" | "connection_reset" | "network_error" => Some(Kind::Connection),
        "canceled" | "aborted" => Some(Kind::Cancelled),
        _ => None,
    })
}
