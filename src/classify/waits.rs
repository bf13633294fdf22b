//! Waits stated in messages: the words by which providers introduce them, as a table.
//!
//! "Please try again in 12.77s" comes from the server; "Retrying in 2 s" and "will retry in 2 s" come from the client.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::row::Origin;

/// Position of the duration relative to the words, and its unit.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum DurationPosition {
    /// After the words, with a unit: `in 7m12s`, `after 86400 seconds`.
    Spelled,
    /// After a key or header name and a colon, an equals sign or a brace: a number of seconds, or a duration with a
    /// unit.
    Seconds,
    /// Like `Seconds`, but in milliseconds.
    Milliseconds,
    /// Like `Seconds`, but only an estimate of the server.
    Estimate,
    /// Before the words, with a unit: `30 秒后重试`.
    Before,
}

/// Words that introduce a wait.
#[derive(Copy, Clone, Debug)]
pub struct WaitRow {
    /// The words; case is ignored.
    pub text: &'static str,
    /// Where the duration is.
    pub reads: DurationPosition,
    /// Where it is documented.
    pub origin: Origin,
}

impl WaitRow {
    /// Returns whether the words describe a retry, which may also be one that the client plans.
    fn is_retry(&self) -> bool {
        self.text.contains("try") || self.text.contains("wait")
    }
}

const fn row(text: &'static str, reads: DurationPosition, provider: &'static str, source: &'static str) -> WaitRow {
    WaitRow { text, reads, origin: Origin { provider, source } }
}

use DurationPosition::{Before, Estimate, Milliseconds, Seconds, Spelled};

/// All known words.
#[rustfmt::skip]
pub const ROWS: &[WaitRow] = &[
    row("try again in", Spelled, "openai", "OpenAI API docs, Rate limits; Groq API docs, Rate limits; elizaOS/eliza#4040"),
    row("try again after", Spelled, "azure", "Azure OpenAI docs, Quotas and limits"),
    row("retry in", Spelled, "gemini", "Gemini API docs, Troubleshooting: \"Please retry in 36.9s\""),
    row("retry after", Spelled, "azure", "microsoft/semantic-kernel#2192"),
    row("retry again in", Spelled, "azure", "Azure OpenAI docs, Quotas and limits"),
    row("please wait", Spelled, "github", "GitHub Models: \"Please wait 42 seconds before retrying\""),
    row("wait for", Spelled, "github", "GitHub Models, rate limit responses"),
    row("available in", Spelled, "gateway", "Django REST framework: \"Expected available in 32 seconds\""),
    row("available again in", Spelled, "openai", "openai/codex#43892"),
    row("reset in", Spelled, "gemini", "Gemini CLI, quota notices"),
    row("resets in", Spelled, "replicate", "Replicate HTTP API docs, Rate limits: \"resets in ~30s\""),
    row("reset after", Spelled, "gemini", "Gemini CLI: \"Your quota will reset after 18h30m0s\""),
    row("resets after", Spelled, "gemini", "Gemini CLI, quota notices"),
    row("retry-after", Seconds, "http", "RFC 9110, 10.2.3, where a message quotes headers"),
    row("retry-after-ms", Milliseconds, "azure", "Azure OpenAI docs, Quotas and limits"),
    row("retryDelay", Seconds, "gemini", "google.rpc.RetryInfo"),
    row("retry_delay", Seconds, "gemini", "google.rpc.RetryInfo as google-api-core prints it"),
    row("retry_after", Seconds, "http", "error bodies of OpenAI-compatible gateways"),
    row("retryAfter", Seconds, "http", "error bodies of OpenAI-compatible gateways"),
    row("retry_after_seconds", Seconds, "http", "error bodies of OpenAI-compatible gateways"),
    row("retryAfterSeconds", Seconds, "http", "error bodies of OpenAI-compatible gateways"),
    row("retry_after_ms", Milliseconds, "http", "error bodies of OpenAI-compatible gateways"),
    row("retryAfterMs", Milliseconds, "http", "error bodies of OpenAI-compatible gateways"),
    row("resets_in_seconds", Seconds, "openai", "openai/codex#43892"),
    row("estimated_time", Estimate, "huggingface", "Hugging Face Inference API docs, model loading"),
    row("后重试", Before, "dashscope", "Alibaba Model Studio docs, Error messages"),
    row("后再试", Before, "zhipu", "Zhipu API docs, error codes"),
];

/// A wait stated in a message.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StatedWait {
    /// Duration in µs, from the end of the answer.
    pub us: i64,
    /// Whether the server calls it an estimate.
    pub is_estimate: bool,
}

/// Built when the first message is searched; see [`super::phrases`].
static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let kind = Some(AhoCorasickKind::ContiguousNFA);
    let texts = ROWS.iter().map(|row| row.text);
    AhoCorasick::builder().ascii_case_insensitive(true).prefilter(false).kind(kind).build(texts).ok()
});

/// Returns the wait stated in a message. Of several it returns the shortest, so that no client is wrongly reported for
/// not waiting long enough.
pub fn stated_wait(text: &str) -> Option<StatedWait> {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let found = WORDS.as_ref()?.find_overlapping_iter(text);
    let waits = found.filter_map(|it| read(text, ROWS.get(it.pattern().as_usize())?, it.start(), it.end()));
    waits.min_by_key(|wait| wait.us)
}

fn read(text: &str, row: &WaitRow, start: usize, end: usize) -> Option<StatedWait> {
    let (before, after) = (text.get(..start)?, text.get(end..)?);
    let us = match row.reads {
        Spelled if !begins_word(before) || (row.is_retry() && is_planned_by_client(before)) => None,
        Spelled => spelled_us(skip_hedge(after)).map(|(us, _)| us),
        Seconds | Estimate => value_of_key(before, after, 1e6),
        Milliseconds => value_of_key(before, after, 1e3),
        Before => last_spelled_us(before),
    }?;
    Some(StatedWait { us, is_estimate: row.reads == Estimate })
}

fn begins_word(before: &str) -> bool {
    !before.ends_with(|last: char| last.is_alphanumeric() || last == '_')
}

/// Returns whether the text announces a retry planned by the client, as "will retry in" and "going to try again in" do.
fn is_planned_by_client(before: &str) -> bool {
    const PLANS: [&str; 5] = ["will", "'ll", "\u{2019}ll", "going to", "waiting to"];
    let before = before.trim_end();
    PLANS.iter().any(|plan| {
        let start = before.len().saturating_sub(plan.len());
        before.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(plan))
    })
}

/// Skips words such as in "in ~30s", "in about 5 minutes" and "after approximately 3 hours".
fn skip_hedge(text: &str) -> &str {
    const HEDGES: [&str; 6] = ["about", "around", "approximately", "approx.", "at least", "another"];
    let text = text.trim_start_matches([' ', '\n', ':', '~', '`', '"', '\'', '*']);
    let hedged = HEDGES.iter().find_map(|hedge| strip_word(text, hedge));
    hedged.unwrap_or(text).trim_start_matches([' ', '~'])
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let start = text.get(..word.len())?;
    start.eq_ignore_ascii_case(word).then(|| &text[word.len()..])
}

/// Parses the value of a key: `"retry_after": 30`, `retryDelay\":\"27s\"`, `retry_delay {\n seconds: 36`.
fn value_of_key(before: &str, after: &str, unit_us: f64) -> Option<i64> {
    // `retry_after` must not match in `retry_after_ms` or `max_retry_after`.
    let is_whole_key =
        begins_word(before) && !after.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '_' | '-'));
    if !is_whole_key {
        return None;
    }
    let value = after.trim_start_matches([' ', '\n', '\\', '"', '\'', ':', '=', '{', '[', '(', ',']);
    let gap = &after[..after.len() - value.len()];
    if !gap.contains([':', '=', '{', ',']) {
        return None;
    }
    let value = strip_word(value, "seconds").map_or(value, |rest| rest.trim_start_matches([' ', ':', '"', '\\']));
    if let Some((us, _)) = spelled_us(value) {
        return Some(us);
    }
    let (number, rest) = number(value)?;
    // A number with further characters is a time, an id or a version.
    let ends = !rest.starts_with(|next: char| next.is_alphanumeric() || matches!(next, ':' | '-' | '.'));
    let us = number * unit_us;
    (ends && us < MAX_WAIT_US).then_some(us.round() as i64)
}

/// Longest wait accepted, in µs: ten years.
const MAX_WAIT_US: f64 = 10.0 * 365.0 * 86_400e6;

/// Returns the duration at the end of `text`, such as `请在 30 秒`.
fn last_spelled_us(text: &str) -> Option<i64> {
    let text = text.trim_end();
    let unit = UNITS.iter().find(|(unit, _)| !unit.is_ascii() && text.ends_with(unit))?;
    let digits = text.strip_suffix(unit.0)?.trim_end();
    let start = digits.rfind(|c: char| !c.is_ascii_digit() && c != '.').map_or(0, |at| at + 1);
    let start = digits.ceil_char_boundary(start);
    let us = digits.get(start..)?.parse::<f64>().ok()? * unit.1;
    (0.0..MAX_WAIT_US).contains(&us).then_some(us.round() as i64)
}

/// Units in µs. A unit must come before its own prefixes.
const UNITS: [(&str, f64); 28] = [
    ("milliseconds", 1e3),
    ("millisecond", 1e3),
    ("msecs", 1e3),
    ("ms", 1e3),
    ("seconds", 1e6),
    ("second", 1e6),
    ("secs", 1e6),
    ("sec", 1e6),
    ("s", 1e6),
    ("minutes", 60e6),
    ("minute", 60e6),
    ("mins", 60e6),
    ("min", 60e6),
    ("m", 60e6),
    ("hours", 3_600e6),
    ("hour", 3_600e6),
    ("hrs", 3_600e6),
    ("hr", 3_600e6),
    ("h", 3_600e6),
    ("days", 86_400e6),
    ("day", 86_400e6),
    ("d", 86_400e6),
    ("weeks", 7.0 * 86_400e6),
    ("week", 7.0 * 86_400e6),
    ("毫秒", 1e3),
    ("秒", 1e6),
    ("分钟", 60e6),
    ("小时", 3_600e6),
];

/// Parses a duration at the start of `text` into µs, and returns the rest: `7m12s`, `1h3m`, `12.77s`, `86,400 seconds`,
/// `3 hours and 5 minutes`. Each number needs a unit that is a whole word: "3 months" is not a duration.
pub(crate) fn spelled_us(text: &str) -> Option<(i64, &str)> {
    let mut total = 0.0;
    let mut rest = text;
    let mut left = None;
    while let Some((number, after)) = number(rest) {
        let after = after.trim_start_matches([' ', '-']);
        let letters = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let word = &after[..letters];
        let known = UNITS.iter().find(|(unit, _)| {
            if unit.is_ascii() { unit.eq_ignore_ascii_case(word) } else { word.is_empty() && after.starts_with(unit) }
        });
        let Some((unit, us)) = known else { break };
        total += number * us;
        rest = &after[unit.len()..];
        left = Some(rest);
        let next = rest.trim_start_matches([' ', ',']);
        rest = strip_word(next, "and ").map_or(next, str::trim_start);
    }
    left.filter(|_| total < MAX_WAIT_US).map(|left| (total.round() as i64, left))
}

/// Parses digits, optionally with a fraction or with commas between thousands, and returns the rest.
fn number(text: &str) -> Option<(f64, &str)> {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_digit()).count());
    let mut end = digits(0);
    if end == 0 {
        return None;
    }
    while bytes.get(end) == Some(&b',') && digits(end + 1) == 3 {
        end += 4;
    }
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let (number, rest) = text.split_at(end);
    Some((number.replace(',', "").parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(text: &str) -> Option<f64> {
        stated_wait(text).map(|wait| wait.us as f64 / 1e6)
    }

    #[test]
    fn finds_waits_in_prose_and_in_quoted_bodies() {
        for (text, seconds) in [
            ("Limit 6000, Used 5034, Requested 1443. Please try again in 12.77s. Need more tokens?", 12.77),
            ("Please try again in 7m12s.", 432.0),
            ("Please try again in 120ms.", 0.12),
            ("Please try again in 1h3m", 3_780.0),
            ("exceeded call rate limit. Please retry after 86400 seconds.", 86_400.0),
            ("Please retry after 86,400 seconds", 86_400.0),
            ("No deployments available for selected model, Try again in 60 seconds. Passed model=x", 60.0),
            ("Please retry in 36.962849995s.", 36.962_85),
            ("Rate limit of 10 per 60s exceeded. Please wait 42 seconds before retrying.", 42.0),
            ("Request was throttled. Expected available in 32 seconds.", 32.0),
            ("Your rate limit resets in ~30s.", 30.0),
            ("Your quota will reset after 18h30m0s.", 66_600.0),
            ("You have to try again in 2 minutes", 120.0),
            ("try again in 1 day and 2 hours", 93_600.0),
            ("Resets in 16 days.", 1_382_400.0),
            (r#"{"error":"Rate limited","retry_after":30}"#, 30.0),
            (r#"{\"retry_after_seconds\": 2.5}"#, 2.5),
            ("{'retry_after_ms': 1500}", 1.5),
            (r#"{\"retryDelay\": \"27s\"}"#, 27.0),
            ("retry_delay {\n  seconds: 36\n}", 36.0),
            ("Headers({'retry-after': '7', 'date': 'x'})", 7.0),
            (r#"{"error":"Model x is currently loading","estimated_time":20.0}"#, 20.0),
            ("请求过于频繁，请在 30 秒后重试", 30.0),
            ("请 5 分钟后再试", 300.0),
            // the shorter of two
            ("Please retry in 36.9s. {'retryDelay': '37s'}", 36.9),
        ] {
            assert_eq!(s(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn ignores_text_that_is_no_wait() {
        for text in [
            "Retrying in 2 seconds",
            "will retry in 4 seconds",
            "We'll try again in 5 minutes",
            "going to retry in 3s",
            "retry after 3 attempts",
            "try again in 3 months",
            "try again in a while",
            "try again in 5",
            "see https://x.test/retry-after-30",
            "max_retry_after: 60",
            "Please wait before trying again. You have sent 20 requests",
            "retry_after: null, status: 429",
            r#"{"retry_after":"2026-01-01T00:00:00Z"}"#,
            "",
        ] {
            assert_eq!(s(text), None, "{text}");
        }
    }

    #[test]
    fn every_row_is_found_and_names_its_source() {
        for row in ROWS {
            let said = match row.reads {
                Spelled => format!("x {} 3s", row.text),
                Before => format!("3 秒{}", row.text),
                _ => format!("x {}: 3", row.text),
            };
            let us = if row.reads == Milliseconds { 3_000 } else { 3_000_000 };
            assert_eq!(stated_wait(&said).map(|wait| wait.us), Some(us), "{said}");
            assert!(!row.origin.provider.is_empty() && !row.origin.source.is_empty());
        }
    }
}
