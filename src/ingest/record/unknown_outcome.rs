//! Records that look like attempts, but whose outcome no known key gives.

use super::normalized_key::NormalizedKey;
use super::outcome_words::is_success;
use super::spellings::lookup;
use super::typed::Record;
use serde_json::Value;

/// Reason why such a record cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownOutcome {
    pub(crate) reason: String,
    /// The key that seems to give the outcome, and the field it may correspond to.
    pub(crate) key: Option<(String, &'static str)>,
}

/// Number of levels of nested objects that are searched for such a key.
const MAX_DEPTH: usize = 3;
/// Longest word that may be an outcome, in bytes.
const MAX_WORD: usize = 24;

/// Examines a record without an outcome; `None` if it does not look like an attempt that has ended.
pub(in crate::ingest) fn of(record: &Record<'_>, line: &str) -> Option<UnknownOutcome> {
    let has_time = record.ts.is_some() || record.started_at.is_some() || record.ended_at.is_some();
    let names_a_call = record.number.is_some() || record.call_id.is_some() || record.sdk_retry_count.is_some();
    if !has_time || !(names_a_call || record.model.is_some()) {
        return None;
    }
    // An attempt that has only started has no duration and no output.
    let has_duration = record.duration_ms.is_some() || record.unitless_duration.is_some();
    let ended = has_duration || record.ended_at.is_some() || (names_a_call && record.usage.is_some());
    if let Some(word) = record.outcome.as_deref().filter(|word| ended && is_success(word).is_none() && is_word(word)) {
        let reason = format!("looks like an attempt, and its outcome \"{word}\" is no word for success or failure");
        return Some(UnknownOutcome { reason, key: None });
    }
    let mut found = None;
    if let Ok(value) = serde_json::from_str(line) {
        find_outcome_key(&value, "", 0, &mut found);
    }
    let reason = match &found {
        Some((key, field)) => format!(
            "looks like an attempt, and no known key says how it went; `{key}` may: under [fields], \"{key}\" = \
             \"{field}\""
        ),
        None if ended => "looks like an attempt, and no known key says how it went".to_owned(),
        None => return None,
    };
    Some(UnknownOutcome { reason, key: found })
}

fn is_word(text: &str) -> bool {
    text.len() <= MAX_WORD && !text.trim().is_empty() && !text.trim().contains(' ')
}

/// Finds the first key of a record that seems to give the outcome, with the path to it.
fn find_outcome_key(value: &Value, path: &str, depth: usize, found: &mut Option<(String, &'static str)>) {
    let Value::Object(members) = value else { return };
    for (key, value) in members {
        if found.is_some() {
            return;
        }
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if value.is_object() && depth < MAX_DEPTH {
            find_outcome_key(value, &path, depth + 1, found);
        } else if depth > 0 || lookup(key).is_none() {
            *found = outcome_field(key, value).map(|field| (path, field));
        }
    }
}

/// Returns the field of an outcome that a key and its value seem to correspond to.
fn outcome_field(key: &str, value: &Value) -> Option<&'static str> {
    const STATUS: [&str; 5] = ["status", "code", "http", "resp", "rc"];
    const OUTCOME: [&str; 5] = ["status", "outcome", "result", "state", "verdict"];
    const SUCCESS: [&str; 2] = ["success", "succeed"];
    /// Words that are not outcomes: words for what has only started, and levels of loggers.
    const OTHER_WORDS: [&str; 18] = [
        "started",
        "start",
        "begin",
        "began",
        "pending",
        "running",
        "queued",
        "in_progress",
        "created",
        "info",
        "debug",
        "warn",
        "warning",
        "trace",
        "notice",
        "fatal",
        "critical",
        "unset",
    ];
    let key = NormalizedKey::of(key)?;
    let has = |list: &[&str]| list.iter().any(|part| key.as_str().contains(part));
    let status = value.as_i64().or_else(|| value.as_str()?.parse().ok());
    match value {
        _ if status.is_some_and(|status| (100..600).contains(&status)) => has(&STATUS).then_some("status"),
        Value::Bool(_) => has(&SUCCESS).then_some("success"),
        Value::String(word) if is_word(word) && !OTHER_WORDS.iter().any(|other| other.eq_ignore_ascii_case(word)) => {
            has(&OUTCOME).then_some("outcome")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Mapping, whole_record};
    use super::*;

    fn unknown_outcome(members: &str) -> Option<UnknownOutcome> {
        let line = format!(r#"{{"ts":"2026-01-05T10:00:00Z",{members}}}"#);
        of(&whole_record(&line, &Mapping::NONE).unwrap(), &line)
    }

    #[test]
    fn the_key_that_may_give_the_outcome_is_found() {
        for (members, key) in [
            (r#""call_id":"c","resp_rc":529"#, Some(("resp_rc", "status"))),
            (r#""attempt":1,"llm_reply":{"meta":{"http":503}}"#, Some(("llm_reply.meta.http", "status"))),
            (r#""model":"m","call_state":"delivered""#, Some(("call_state", "outcome"))),
            (r#""call_id":"c","was_successful":true"#, Some(("was_successful", "success"))),
            (r#""model":"m","duration_ms":8"#, None),
            (r#""call_id":"c","outcome":"odd","duration_ms":8"#, None),
        ] {
            let found = unknown_outcome(members).unwrap();
            assert_eq!(found.key, key.map(|(key, field)| (key.to_owned(), field)), "{members}");
        }
    }

    #[test]
    fn other_records_and_starts_are_ignored() {
        for members in [
            r#""level":"info","msg":"started""#,
            r#""call_id":"c","model":"m","event":"request""#,
            r#""call_id":"c","state":"started""#,
            r#""request_id":"r","duration_ms":5,"path":"/health""#,
            r#""run_id":"r","duration_ms":5,"span":"db""#,
            r#""call_id":"c","tokens":512,"severity":"warn""#,
        ] {
            assert_eq!(unknown_outcome(members), None, "{members}");
        }
    }
}
