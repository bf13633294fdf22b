//! Records of the start of an attempt: some loggers write one line when it starts and another when it ends.

use super::kept::{fingerprint, number_in_call};
use super::letters::Letters;
use super::place::{Begun, Place};
use super::typed::Record;
use serde_json::Value;

/// Keys whose value may be the kind of event a record describes.
const KEYS: [&str; 14] = [
    "event",
    "eventname",
    "eventtype",
    "msg",
    "message",
    "type",
    "kind",
    "phase",
    "stage",
    "state",
    "status",
    "outcome",
    "action",
    "name",
];
/// Words for something that has only started.
const WORDS: [&str; 11] = [
    "start",
    "started",
    "starting",
    "begin",
    "began",
    "begins",
    "sending",
    "pending",
    "dispatched",
    "issued",
    "inflight",
];
/// Longest text examined for such a word, in bytes.
const LONGEST: usize = 48;

/// Returns the attempt whose start is logged by a record without an outcome, if it is one.
pub(super) fn of(record: &Record<'_>, line: &str, place: &Place<'_>) -> Option<Begun> {
    let placed = record.number.is_some() || record.call_id.is_some() || record.sdk_retry_count.is_some();
    let timed = record.ts.is_some() || record.started_at.is_some();
    // With a filter, starts are ignored: whether an attempt is selected is known only at its end.
    if !timed || !(placed || record.model.is_some()) || place.filter.is_some() || !begins(line) {
        return None;
    }
    let run = record.run().or_else(|| place.defaults?.run.as_deref());
    let call = record.call().or_else(|| place.defaults?.call.as_deref());
    Some(Begun {
        key: fingerprint(run, call.filter(|id| !id.is_empty()), place.stream),
        number: number_in_call(record.number),
    })
}

/// Whether a value of the record is a word for a start.
fn begins(line: &str) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_str(line) else { return false };
    members.iter().any(|(key, value)| {
        let is_about = Letters::of(key).is_some_and(|letters| KEYS.contains(&letters.as_str()));
        is_about && value.as_str().is_some_and(is_of_a_start)
    })
}

fn is_of_a_start(text: &str) -> bool {
    let is_word = |word: &str| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word));
    text.len() <= LONGEST && text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_start() {
        for text in ["request_start", "started", "llm.request.started", "attempt start", "sending request"] {
            assert!(is_of_a_start(text), "{text}");
        }
        for text in
            ["retry", "restarted", "done", "request", "the worker that was started last night is slow to answer us"]
        {
            assert!(!is_of_a_start(text), "{text}");
        }
    }
}
