//! Guesses which field an unknown key corresponds to, from the words of its name and the form of its value.

use crate::ingest::record::SpanUnit;
use crate::ingest::timestamp;
use crate::model::Zone;
use serde_json::Value;

/// The field a key seems to correspond to, and the unit in its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guess {
    pub(super) field: &'static str,
    pub(super) unit: Option<SpanUnit>,
}

/// Largest number accepted as a count of attempts.
const MAX_ATTEMPTS: i64 = 100;
/// Length in bytes up to which a text counts as a word.
const MAX_WORD: usize = 40;

/// Splits a key into lowercase words: at characters that are not alphanumeric, and at changes from lower to upper case.
fn split(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in key.chars() {
        let begins = c.is_uppercase() && before.is_lowercase();
        if (begins || !c.is_alphanumeric()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().into_iter().for_each(|word| word.extend(c.to_lowercase()));
        }
        before = c;
    }
    words
}

/// The lowercase words of a key.
struct KeyWords(Vec<String>);

impl KeyWords {
    fn has(&self, list: &[&str]) -> bool {
        self.0.iter().any(|word| list.contains(&word.as_str()))
    }

    /// Returns the unit named by the last word.
    fn unit(&self) -> Option<SpanUnit> {
        match self.0.last()?.as_str() {
            "ns" | "nanos" | "nanoseconds" => Some(SpanUnit::Ns),
            "us" | "micros" | "microseconds" | "usec" => Some(SpanUnit::Us),
            "ms" | "millis" | "milliseconds" | "msec" | "msecs" => Some(SpanUnit::Ms),
            "s" | "sec" | "secs" | "second" | "seconds" => Some(SpanUnit::S),
            "min" | "mins" | "minutes" => Some(SpanUnit::Min),
            _ => None,
        }
    }
}

/// Returns the field that `key`, a dotted path, seems to correspond to if its value is `value`.
pub(super) fn guess(key: &str, value: &Value) -> Option<Guess> {
    let words = KeyWords(split(key));
    let without_unit = |field| Some(Guess { field, unit: None });
    match value {
        _ if is_time(value) => without_unit(time_field(&words)),
        Value::Bool(_) => without_unit(boolean_field(&words)?),
        Value::Number(_) => number_field(&words, value),
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(x) => number_field(&words, &Value::from(x)),
            Err(_) if is_duration(text) => duration_field(&words, None),
            Err(_) => without_unit(text_field(&words, text.trim())?),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_time(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() >= 10 && timestamp::from_text(text, Zone::UTC).is_some(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => timestamp::from_integer(whole).is_some(),
            None => number.as_f64().and_then(timestamp::from_number).is_some(),
        },
        _ => false,
    }
}

fn time_field(words: &KeyWords) -> &'static str {
    const ENDS: [&str; 10] =
        ["end", "ended", "finish", "finished", "done", "complete", "completed", "closed", "received", "responded"];
    const STARTS: [&str; 8] = ["start", "started", "begin", "began", "begun", "sent", "requested", "issued"];
    if words.has(&ENDS) {
        "ended_at"
    } else if words.has(&STARTS) {
        "started_at"
    } else {
        "ts"
    }
}

fn boolean_field(words: &KeyWords) -> Option<&'static str> {
    if words.has(&["success", "successful", "succeeded", "ok", "passed"]) {
        Some("success")
    } else if words.has(&["fail", "failed", "failure", "error", "err"]) {
        Some("failed")
    } else {
        words.has(&["stream", "streaming", "streamed"]).then_some("stream")
    }
}

fn number_field(words: &KeyWords, value: &Value) -> Option<Guess> {
    let without_unit = |field| Some(Guess { field, unit: None });
    let whole = value.as_i64().or_else(|| value.as_f64().filter(|x| x.fract() == 0.0).map(|x| x as i64));
    let counts_attempts = words.has(&["attempt", "attempts", "try", "tries", "retry", "retries"]);
    if counts_attempts
        && whole.is_some_and(|n| (0..=MAX_ATTEMPTS).contains(&n))
        && !words.has(&["after", "in", "delay", "wait"])
    {
        let counts_retries = words.has(&["retry", "retries"]);
        return without_unit(match (words.has(&["max", "limit", "cap", "most"]), counts_retries) {
            (true, true) => "max_retries",
            (true, false) => "max_attempts",
            (false, true) => "retry_attempt",
            (false, false) => "attempt",
        });
    }
    let status_words = ["status", "code", "http", "rc", "resp", "response", "reply", "result", "answer", "sc"];
    if words.has(&status_words) && whole.is_some_and(|n| (100..600).contains(&n)) {
        return without_unit("status");
    }
    if words.has(&["token", "tokens", "tok", "toks"]) {
        return if words.has(&["in", "input", "prompt"]) {
            without_unit("input_tokens")
        } else if words.has(&["out", "output", "completion", "generated"]) {
            without_unit("output_tokens")
        } else {
            None
        };
    }
    if words.has(&["usd", "dollars"]) {
        return without_unit("cost_usd");
    }
    duration_field(words, words.unit())
}

/// Returns the field that a duration seems to belong to. Without a unit in the key, it is the field of durations in the
/// unit that keys of this name usually have.
fn duration_field(words: &KeyWords, unit: Option<SpanUnit>) -> Option<Guess> {
    let choose = |in_ms, without_unit| Some(Guess { field: if unit.is_some() { in_ms } else { without_unit }, unit });
    if words.has(&["retry"]) && words.has(&["after"]) {
        choose("retry_after_ms", "retry_after")
    } else if words.has(&["wait", "waited", "sleep", "slept", "backoff", "delay", "pause"]) {
        choose("planned_wait_ms", "planned_wait_s")
    } else if words.has(&["first"]) && words.has(&["token", "byte", "chunk"]) {
        choose("ttft_ms", "ttft_s")
    } else if words.has(&["timeout", "deadline"]) {
        choose("timeout_ms", "timeout_s")
    } else if words.has(&["took", "taken", "spent", "dur", "duration", "elapsed", "latency", "rtt", "wall", "runtime"])
    {
        choose("duration_ms", "duration")
    } else {
        None
    }
}

/// Whether a text is a duration with its unit: `1.5s`, `80 ms`.
fn is_duration(text: &str) -> bool {
    text.len() < MAX_WORD && crate::ingest::hint::go_duration(&text.replace(' ', "")).is_some()
}

fn text_field(words: &KeyWords, text: &str) -> Option<&'static str> {
    let is_word = !text.is_empty() && text.len() <= MAX_WORD && !text.contains(char::is_whitespace);
    let is_id = !text.is_empty() && text.len() <= 3 * MAX_WORD && !text.contains(char::is_whitespace);
    let names_id = words.has(&["id", "uuid", "guid", "uid", "ref", "key", "nr", "name"]);
    let is_id_of =
        |list: &[&str]| words.has(list) && is_id && (names_id || text.bytes().any(|byte| byte.is_ascii_digit()));
    if words.has(&["rid", "reqid"]) && is_id || is_id_of(&["req", "request", "requests"]) {
        Some("request_id")
    } else if words.has(&["model", "llm", "engine", "deployment"]) && is_id {
        Some("model")
    } else if is_id_of(&["call", "turn", "step", "op", "operation", "invocation", "logical"]) {
        Some("call_id")
    } else if is_id_of(&["run", "session", "job", "task", "batch", "workflow", "conversation", "pipeline", "trace"]) {
        Some("run_id")
    } else if words.has(&["provider", "vendor", "supplier"]) && is_word {
        Some("provider")
    } else if words.has(&["err", "error", "exc", "exception", "fault", "why", "cause", "reason", "problem", "failure"])
    {
        Some(if is_word { "error_type" } else { "error_message" })
    } else if words.has(&["outcome", "status", "result", "state", "verdict"]) && is_word {
        Some("outcome")
    } else if words.has(&["host", "node", "pod", "machine", "worker"]) && is_word {
        Some("host")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_guessed_from_key_and_value() {
        for (key, value, field) in [
            ("when", json!("2026-01-05T10:00:00Z"), Some("ts")),
            ("meta.doneAt", json!(1_767_607_200_123_i64), Some("ended_at")),
            ("reply_code", json!(529), Some("status")),
            ("reply_code", json!(7), None),
            ("upstream.request", json!("req_1"), Some("request_id")),
            ("try_nr", json!(2), Some("attempt")),
            ("retriesDone", json!(2), Some("retry_attempt")),
            ("vendor", json!("house"), Some("provider")),
            ("llm", json!("m-7"), Some("model")),
            ("jobId", json!("n-12"), Some("run_id")),
            ("why", json!("pool is drained"), Some("error_message")),
            ("why", json!("pool_drained"), Some("error_type")),
            ("wasSuccessful", json!(true), Some("success")),
            ("call_failed", json!(true), Some("failed")),
            ("tokensIn", json!(12), Some("input_tokens")),
            ("note", json!("hello there"), None),
            ("count", json!(3), None),
        ] {
            assert_eq!(guess(key, &value).map(|guess| guess.field), field, "{key}");
        }
    }

    #[test]
    fn units_are_read_from_keys() {
        let of = |key: &str, value: Value| guess(key, &value).map(|guess| (guess.field, guess.unit));
        assert_eq!(of("spent_secs", json!(1.5)), Some(("duration_ms", Some(SpanUnit::S))));
        assert_eq!(of("spent", json!("1.5s")), Some(("duration", None)));
        assert_eq!(of("pauseMillis", json!(20)), Some(("planned_wait_ms", Some(SpanUnit::Ms))));
        assert_eq!(of("first_chunk_us", json!(20)), Some(("ttft_ms", Some(SpanUnit::Us))));
    }
}
