//! Records of the start of an attempt: some loggers write one line when it starts and another when it ends.

use super::fingerprint::{fingerprint, number_in_call};
use super::normalized_key::NormalizedKey;
use super::record_context::{AttemptStart, RecordContext};
use super::typed::Record;
use serde_json::Value;

/// Keys whose value may name the event that a record reports.
const EVENT_KEYS: [&str; 14] = [
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
/// Words for the start of something.
const START_WORDS: [&str; 11] = [
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
const MAX_TEXT: usize = 48;

/// Returns the attempt whose start is logged by a record without an outcome, if it is one.
pub(super) fn of(record: &Record<'_>, line: &str, context: &RecordContext<'_>) -> Option<AttemptStart> {
    let names_a_call = record.number.is_some() || record.call_id.is_some() || record.sdk_retry_count.is_some();
    let has_time = record.ts.is_some() || record.started_at.is_some();
    // With a filter, starts are ignored: whether an attempt is selected is known only at its end.
    if !has_time || !(names_a_call || record.model.is_some()) || context.filter.is_some() || !reports_start(line) {
        return None;
    }
    let run = record.run().or_else(|| context.defaults?.run.as_deref());
    let call = record.call().or_else(|| context.defaults?.call.as_deref());
    Some(AttemptStart {
        key: fingerprint(run, call.filter(|id| !id.is_empty()), context.default_run),
        number: number_in_call(record.number),
    })
}

/// Whether the record names its event with a word for a start.
fn reports_start(line: &str) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_str(line) else { return false };
    members.iter().any(|(key, value)| {
        let is_event_key = NormalizedKey::of(key).is_some_and(|key| EVENT_KEYS.contains(&key.as_str()));
        is_event_key && value.as_str().is_some_and(contains_start_word)
    })
}

fn contains_start_word(text: &str) -> bool {
    let is_word = |word: &str| START_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word));
    text.len() <= MAX_TEXT && text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_start_are_recognized() {
        for text in ["request_start", "started", "llm.request.started", "attempt start", "sending request"] {
            assert!(contains_start_word(text), "{text}");
        }
        for text in
            ["retry", "restarted", "done", "request", "the worker that was started last night is slow to answer us"]
        {
            assert!(!contains_start_word(text), "{text}");
        }
    }
}
