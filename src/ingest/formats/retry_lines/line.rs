//! Reads a failure and the announcement of its retry from a line.

use super::line_flags;
use crate::ingest::formats::text::literal::to_json;
use regex::{Captures, Match, Regex};
use std::sync::LazyLock;

/// A failure reported by a line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Failure {
    pub(super) status: Option<i64>,
    /// Class of the exception, without its module.
    pub(super) exception: Option<String>,
    /// The error body as JSON, or a text.
    pub(super) error: Option<String>,
    /// Whether the failure has the form in which SDKs print the response of a provider, or contains a sentence of one.
    pub(super) is_of_provider: bool,
    /// Total number of attempts, if the line says that this was the last of them.
    pub(super) last_of: Option<i64>,
    /// Whether the line has a status, an exception or a body, not only words such as `timeout`.
    pub(super) is_specific: bool,
}

/// A retry announced by a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Retry {
    pub(super) wait_ms: Option<f64>,
    /// Number of the attempt that failed, from 1.
    pub(super) number: Option<i64>,
    pub(super) max_attempts: Option<i64>,
    /// Whether the client gives up, so that no retry follows.
    pub(super) is_last: bool,
}

impl Retry {
    /// Returns whether the announcement has a number or a wait.
    pub(super) fn has_details(&self) -> bool {
        self.number.is_some() || self.wait_ms.is_some()
    }
}

/// Compiles a pattern with ASCII digits and word boundaries. The patterns ignore case for ASCII only, by `(?i-u:..)`.
/// Without Unicode tables, patterns are compiled faster, and lines with other characters are searched as fast as ASCII.
///
/// Patterns have groups only if their values cannot be derived from the text of the match: finding groups takes a
/// second, slower search.
fn regex(pattern: &str) -> Option<Regex> {
    Regex::new(&pattern.replace(r"\b", r"(?-u:\b)").replace(r"\d", "[0-9]")).ok()
}

/// Words that announce a wait: `retrying`, `Backing off f(..)`, `Retry 1/10`.
static WAIT_WORDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex(r"\b(?i-u:retry|retrying|retries|backing off|reconnecting|sleeping)\b"));
/// The wait after such words: `in 1.9s`, `in 4.0 seconds as it raised`, `for 0.6s`, `in 2 min`,
/// `after delay of: 0.51`
static WAIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(r"\s(?i-u:in|for|after|of:?)\s+\d+(?:\.\d+)?\s*(?i-u:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?)?\b")
});
/// Maximum number of characters between the words and the wait.
const MAX_GAP: usize = 200;
/// `Sleeping 2 before retrying`
static SLEEP: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex(r"\b(?i-u:sleeping (?:for )?)\d+(?:\.\d+)?\s*(?i-u:ms|s|secs?|seconds?)?\b"));
/// `backoff attempt=1 max=10 delay_secs=4.4`, `delay=500ms`
static DELAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"\b(?i-u:delay|backoff|wait|sleep|retry_in)(?:_((?i-u:ms|secs?|seconds|s)))?[=:]\s*(\d+(?:\.\d+)?)\s*((?i-u:ms|s|secs?|seconds?))?\b",
    )
});
/// `attempt 3/10`, `attempt=1/3`, `retry 1 of 7`, `Reconnecting... 1/5`, `Retry count:4`, `Attempt #2`,
/// `attempt=1 max=10`
static COUNT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"\b(?i-u:attempt|retry|retrying|reconnecting|try)(?i-u: count| number| no)?[\s.:=#(…]{0,6}\d{1,5}\b(?:\s*(?i-u:/|of|max=)\s*\d{1,5}\b)?",
    )
});
/// Words that announce another attempt.
static ANNOUNCES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"\b(?i-u:retrying|will retry|will be retried|retry error|reconnecting|backing off|requeu[a-z]+|before retry[a-z]*|attempt #[0-9]+ \||retry [0-9]+(?:/| of )[0-9]+)",
    )
});
static GIVES_UP: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex(r"\b(?i-u:giving up|gave up|no more retries|retries exhausted|dead-letter(?:ed|ing)?)\b"));
/// `Failed after 3 attempts. Last error: ` of the AI SDK, and similar messages.
static TOTAL: LazyLock<Option<Regex>> = LazyLock::new(|| regex(r"\b(?i-u:failed after ([0-9]{1,5}) attempts)\b"));
/// Sentences that occur only in error messages of model APIs. Sources: OpenAI API docs, Error codes; Anthropic API
/// docs, Errors; Claude Code notices; Amazon Bedrock User Guide, API error codes; vLLM server, serving_engine.py.
static API_SENTENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"(?i-u:rate limit reached for|request too large for) .{1,200} (?i-u:on) [0-9A-Za-z_ -]{1,30} (?i-u:per) [0-9A-Za-z_]+ \((?i-u:[a-z]{3})\)|(?i-u:this|the) (?i-u:model).(?i-u:s maximum context length is )\d|(?i-u:prompt is too long: )\d|(?i-u:you).(?i-u:ve hit your (?:[a-z0-9]+ )?limit)\b.{1,6}(?i-u:resets )|(?i-u:you exceeded your current quota, please check|your credit balance is too low to access|you have reached your specified api usage limits|too many tokens, please wait)",
    )
});
/// A status, identified as one by the text around it.
static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r#"(?i-u:error code|status code|status_code|statuscode|http status|status|http|error|exception)["']?[\s:=('"]{1,3}[45]\d\d\b|\([45]\d\d\)|\b[45]\d\d (?i-u:Too Many Requests|Bad Request|Unauthorized|Forbidden|Payment Required|Not Found|Request Timeout|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout|RESOURCE_EXHAUSTED|UNAVAILABLE)"#,
    )
});
/// The name of an exception, without its module, before its message.
static EXCEPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"\b(?:[A-Z](?-u:\w)*(?:Error|Exception|Timeout)|[Ee]rror|stream disconnected(?: before completion)?)\b\]?\s*[:(=\-]\s*",
    )
});
/// Words that identify a failure if nothing else does.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"(?i-u:rate[-_ ]?limit|overloaded|too many requests|throttl|quota|timed out|timeout|service unavailable|bad gateway|connection (?:error|reset|refused|closed|lost|failed)|stream (?:error|disconnected)|transient error|disconnected)",
    )
});

/// A line, and the patterns it can match.
#[derive(Clone, Copy)]
struct FlaggedLine<'l> {
    line: &'l str,
    flags: u16,
}

impl<'l> FlaggedLine<'l> {
    fn captures(self, flag: u16, pattern: &Option<Regex>) -> Option<Captures<'l>> {
        if self.flags & flag == 0 { None } else { pattern.as_ref()?.captures(self.line) }
    }

    fn find(self, flag: u16, pattern: &Option<Regex>) -> Option<Match<'l>> {
        if self.flags & flag == 0 { None } else { pattern.as_ref()?.find(self.line) }
    }
}

/// Returns the retry announced and the failure reported by a line, or `None` if it cannot contain either.
pub(super) fn read(line: &str) -> Option<(Option<Retry>, Option<Failure>)> {
    let text = FlaggedLine { line, flags: line_flags::of(line) };
    if text.flags & line_flags::RELEVANT == 0 {
        return None;
    }
    let retry = retry_in(text);
    Some((retry, failure_in(text, retry.is_some())))
}

fn retry_in(text: FlaggedLine<'_>) -> Option<Retry> {
    let is_last = text.find(line_flags::GIVES_UP, &GIVES_UP).is_some();
    if !is_last && text.find(line_flags::ANNOUNCES, &ANNOUNCES).is_none() {
        return None;
    }
    let wait = wait_in(text).or_else(|| text.find(line_flags::KEYED_WAIT, &SLEEP));
    let keyed_ms = || {
        let found = text.captures(line_flags::KEYED_WAIT, &DELAY)?;
        let unit = found.get(1).or(found.get(3)).map(|unit| unit.as_str());
        in_ms(found.get(2)?.as_str(), unit)
    };
    let wait_ms = wait.and_then(|found| amount_ms(found.as_str())).or_else(keyed_ms);
    let mut retry = Retry { wait_ms: wait_ms.filter(|_| !is_last), is_last, ..Retry::default() };
    if let Some(found) = text.find(line_flags::ATTEMPT_NUMBER, &COUNT) {
        let is_digit = |c: char| c.is_ascii_digit();
        let mut numbers = found.as_str().split(|c| !is_digit(c)).filter_map(|digits| digits.parse::<i64>().ok());
        // `retry 1 of 7` counts retries, of which there is one less than attempts.
        let counts_attempts = found.as_str().starts_with(['a', 'A']);
        retry.number = numbers.next().filter(|number| *number > 0);
        retry.max_attempts = numbers.next().map(|most| if counts_attempts { most } else { most + 1 });
    }
    Some(retry)
}

/// Returns the wait after the first words that announce one.
fn wait_in(text: FlaggedLine<'_>) -> Option<Match<'_>> {
    let (words, wait) = (WAIT_WORDS.as_ref()?, WAIT.as_ref()?);
    // The wait belongs to the words if no other clause begins between them.
    let is_near = |from: usize, to: usize| {
        let gap = &text.line[from..to];
        !gap.contains([':', '{']) && (gap.len() <= MAX_GAP || gap.chars().count() <= MAX_GAP)
    };
    for announcement in words.find_iter(text.line) {
        let found = wait.find_at(text.line, announcement.end())?;
        if is_near(announcement.end(), found.start()) {
            return Some(found);
        }
    }
    None
}

/// Returns the only number of a text, in the unit after it, in ms.
fn amount_ms(text: &str) -> Option<f64> {
    let amount = &text[text.find(|c: char| c.is_ascii_digit())?..];
    let end = amount.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(amount.len());
    let (number, unit) = amount.split_at(end);
    in_ms(number, Some(unit.trim()))
}

fn in_ms(number: &str, unit: Option<&str>) -> Option<f64> {
    let value: f64 = number.parse().ok()?;
    let begins =
        |with: &str| unit.and_then(|unit| unit.get(..with.len())).is_some_and(|it| it.eq_ignore_ascii_case(with));
    let ms = if begins("ms") || begins("milli") {
        1.0
    } else if begins("m") {
        60_000.0
    } else {
        1_000.0
    };
    Some(value * ms)
}

/// Returns the failure reported by a line. With `announces_retry`, the line also announces a retry, so words that name
/// a failure are enough.
fn failure_in(text: FlaggedLine<'_>, announces_retry: bool) -> Option<Failure> {
    let line = text.line;
    let status = status_in(line);
    let raised = text.find(line_flags::EXCEPTION, &EXCEPTION);
    let name = raised.map(|found| name_of(found.as_str()));
    let is_class = |name: &&str| *name != "Error" && name.starts_with(|first: char| first.is_ascii_uppercase());
    let exception = name.filter(is_class).map(str::to_owned);
    let rest = raised.map(|found| found.end());
    let body = body_in(line, status.map_or(0, |(_, end)| end).min(rest.unwrap_or(usize::MAX)));
    let found_sentence = text.find(line_flags::API_SENTENCE, &API_SENTENCE);
    let api_sentence = found_sentence.and_then(|found| line.get(found.start()..));
    let has_response = api_sentence.is_some() && (status.is_some() || name.is_some());
    let is_of_provider = has_response || (body.is_some() && (status.is_some() || exception.is_some()));
    let message = || api_sentence.or_else(|| line.get(rest?..)).filter(|text| !text.is_empty());
    let words = || if announces_retry { line.get(WORDS.as_ref()?.find(line)?.start()..) } else { None };
    if status.is_none() && name.is_none() && body.is_none() && words().is_none() {
        return None;
    }
    let error = body.or_else(|| message().or_else(words).map(|text| text.trim().to_owned()));
    let is_specific = status.is_some() || name.is_some() || is_of_provider;
    let counted = if is_of_provider { text.captures(line_flags::TOTAL, &TOTAL) } else { None };
    let last_of = counted.and_then(|found| found.get(1)?.as_str().parse().ok());
    Some(Failure { status: status.map(|(status, _)| status), exception, error, is_of_provider, last_of, is_specific })
}

/// Number of digits of a status.
const STATUS_DIGITS: usize = 3;

/// Returns the status in a line, and the end of its digits.
fn status_in(line: &str) -> Option<(i64, usize)> {
    let bytes = line.as_bytes();
    let is_status = |at: usize| bytes.get(at + 1..at + 3).is_some_and(|rest| rest.iter().all(u8::is_ascii_digit));
    if !memchr::memchr2_iter(b'4', b'5', bytes).any(is_status) {
        return None;
    }
    let found = STATUS.as_ref()?.find(line)?;
    let text = found.as_str();
    // `(529)`, `529 Service Unavailable`, or a word before the status.
    let start = match text.as_bytes().first()? {
        b'(' => 1,
        b'0'..=b'9' => 0,
        _ => text.len() - STATUS_DIGITS,
    };
    let digits = text.get(start..start + STATUS_DIGITS)?;
    Some((digits.parse().ok()?, found.start() + start + STATUS_DIGITS))
}

/// Returns the name in a match of [`EXCEPTION`]: without the bracket, the space and the mark after it.
fn name_of(found: &str) -> &str {
    let name = found.trim_end().trim_end_matches([':', '(', '=', '-']).trim_end();
    name.strip_suffix(']').unwrap_or(name)
}

/// Returns as JSON the error body in a line, from byte `from` on: a Python literal, JSON, or JSON in a bytes literal.
fn body_in(line: &str, from: usize) -> Option<String> {
    let rest = line.get(from..)?;
    let bytes = rest.as_bytes();
    let start = |brace: usize| {
        let is_bytes_literal = bytes[..brace].ends_with(b"b'") || bytes[..brace].ends_with(b"b\"");
        let has_key = matches!(bytes.get(brace + 1), Some(b'\'' | b'"'));
        if is_bytes_literal { Some(brace - 2) } else { Some(brace).filter(|_| has_key) }
    };
    let at = memchr::memchr_iter(b'{', bytes).find_map(start)?;
    let json = to_json(&rest[at..]).0;
    if json.starts_with('"') {
        // The text inside the bytes literal.
        return serde_json::from_str::<String>(&json).ok().filter(|inner| inner.starts_with('{'));
    }
    Some(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retry_in(line: &str) -> Option<Retry> {
        read(line)?.0
    }

    fn failure_in(line: &str, announces_retry: bool) -> Option<Failure> {
        super::failure_in(FlaggedLine { line, flags: line_flags::of(line) }, announces_retry)
    }

    #[test]
    fn retry_announcements_of_many_loggers_are_read() {
        for (line, wait_ms, number, max_attempts) in [
            ("Retrying a.b.<locals>._c in 4.0 seconds as it raised RateLimitError: x.", Some(4000.0), None, None),
            ("Backing off ask(...) for 0.6s (openai.RateLimitError: x)", Some(600.0), None, None),
            ("API Error (Request timed out.) · Retrying in 5 seconds… (attempt 4/10)", Some(5000.0), Some(4), Some(10)),
            (
                "Server rate limited (429) detected. Retry 2/10 in 4 min (session preserved)...",
                Some(240_000.0),
                Some(2),
                Some(11),
            ),
            ("LLM transient error (model=m attempt=1/3) — retrying in 1.9s: x", Some(1900.0), Some(1), Some(3)),
            (" Retrying in 3.97 seconds (retry 1 of 7)", Some(3970.0), Some(1), Some(8)),
            ("Reconnecting... 1/5", None, Some(1), Some(6)),
            ("stream error: x; retrying 2/5 in 400ms…", Some(400.0), Some(2), Some(6)),
            ("requeueing failed batch with backoff attempt=1 max=10 delay_secs=4.4", Some(4400.0), Some(1), Some(10)),
            ("Sleeping 2 before retrying to call openai API...", Some(2000.0), None, None),
            ("Retry needed, retrying request after delay of: 0.51", Some(510.0), None, None),
            ("Hit request rate limit; retrying...", None, None, None),
        ] {
            let expected = Retry { wait_ms, number, max_attempts, is_last: false };
            assert_eq!(retry_in(line), Some(expected), "{line}");
        }
        assert!(retry_in("Giving up ask(...) after 3 tries (x)").is_some_and(|retry| retry.is_last));
        for other in
            ["Retry policy loaded", "max_retries=3", "the error code is 5", "attempted a login", "No retry needed."]
        {
            assert_eq!(retry_in(other), None, "{other}");
        }
    }

    #[test]
    fn a_wait_is_read_only_near_the_words_that_announce_it() {
        let waits = |line: &str| retry_in(line).and_then(|retry| retry.wait_ms);
        assert_eq!(waits("⚠️Retrying « größere Anfrage » in 3 s…"), Some(3000.0));
        assert_eq!(waits(&format!("Retrying {} in 3 s", "ü".repeat(190))), Some(3000.0));
        assert_eq!(waits(&format!("Retrying {} in 3 s", "ü".repeat(200))), None);
        // Another clause begins between the announcement and the wait; the second announcement has its own wait.
        assert_eq!(waits("Retrying as it failed: slept for 3 s"), None);
        assert_eq!(waits("Retrying (a: b), will retry in 2 min"), Some(120_000.0));
    }

    #[test]
    fn failures_are_read_from_lines_of_many_loggers() {
        let failure = |line| failure_in(line, true).unwrap_or_default();
        let found = failure("raised x.RateLimitError: Error code: 429 - {'error': {'code': 'a', 'param': None}}");
        assert_eq!((found.status, found.exception.as_deref()), (Some(429), Some("RateLimitError")));
        assert_eq!(found.error.as_deref(), Some(r#"{"error":{"code":"a","param":null}}"#));
        assert!(found.is_of_provider);
        let found = failure(r#"litellm.RateLimitError: RateLimitError: P - b'{"error":{"code":"a"}}\n'"#);
        assert_eq!(found.error.as_deref().map(str::trim), Some(r#"{"error":{"code":"a"}}"#));
        assert_eq!(failure("Request failed with status code 400: {'message': 'x'}").status, Some(400));
        assert_eq!(failure("API Error (529 {\"type\":\"error\"}) · Retrying").status, Some(529));
        assert_eq!(failure("Hit request rate limit; retrying...").error.as_deref(), Some("rate limit; retrying..."));
        assert_eq!(failure_in("Hit request rate limit", false), None);
        let found = failure(
            "RetryError [AI_RetryError]: Failed after 4 attempts. Last error: Rate limit reached for model `m` on tokens per minute (TPM): Limit 9, Used 9, Requested 1.",
        );
        assert!(found.is_of_provider && found.last_of == Some(4), "{found:?}");
        assert!(found.error.is_some_and(|error| error.starts_with("Rate limit reached")));
        assert!(
            failure("e [Error]: Request too large for m on tokens per min (TPM): Limit 1, Requested 2.").is_of_provider
        );
        assert!(
            failure("stream disconnected before completion: Rate limit reached for m on requests per min (RPM)")
                .is_of_provider
        );
        for other in
            ["error: Rate limit reached for user 5: 100 requests per minute", "Error: You've hit your limit of 3 seats"]
        {
            assert!(!failure(other).is_of_provider, "{other}");
        }
        assert!(!failure("upload error: failed after 3 attempts").is_of_provider);
        assert_eq!(failure("upload error: failed after 3 attempts").last_of, None);
        assert_eq!(failure_in("listening on port 4290, 512 items", true), None);
    }
}
