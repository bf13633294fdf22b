//! What a line says of a failure, and of the retry that follows it.

use crate::ingest::formats::text::literal::to_json;
use aho_corasick::AhoCorasick;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// A failure that a line tells of.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Failure {
    pub(super) status: Option<i64>,
    /// Class of an exception, without its module.
    pub(super) exception: Option<String>,
    /// The body as JSON, or words.
    pub(super) error: Option<String>,
    /// It has the form in which SDKs print what a provider answered, or its words.
    pub(super) is_sdks: bool,
    /// It was the last of so many attempts.
    pub(super) last_of: Option<i64>,
    /// It is more than words that a retry is announced with.
    pub(super) is_told: bool,
}

/// A retry that a line announces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Retry {
    pub(super) wait_ms: Option<f64>,
    /// The attempt that failed, from 1.
    pub(super) number: Option<i64>,
    pub(super) max_attempts: Option<i64>,
    /// There is none: the client gives up.
    pub(super) is_last: bool,
}

impl Retry {
    /// Whether it says more than that there is one.
    pub(super) fn says_how(&self) -> bool {
        self.number.is_some() || self.wait_ms.is_some()
    }
}

/// Words without one of which a line says nothing here, in lower case.
const MARKS: [&str; 11] = [
    "retr",
    "backing off",
    "reconnecting",
    "giving up",
    "attempt",
    "error",
    "exception",
    "status",
    "sleeping",
    "http",
    "disconnected",
];

static SCAN: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(MARKS).ok());

/// Whether a line may say anything.
pub(super) fn may_tell(line: &str) -> bool {
    SCAN.as_ref().is_some_and(|scan| scan.is_match(line))
}

/// Case is that of ASCII letters: `(?i-u:..)` needs no tables.
fn regex(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

/// `retrying in 1.9s`, `Retrying f in 4.0 seconds as it raised`, `Backing off f(..) for 0.6s`, `Retry 1/10 in 2 min`,
/// `Retry needed, retrying request after delay of: 0.51`
static WAIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"\b(?i-u:retry|retrying|retries|backing off|reconnecting|sleeping)\b[^:{]{0,200}?\s(?i-u:in|for|after|of:?)\s+(\d+(?:\.\d+)?)\s*((?i-u:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?))?\b",
    )
});
/// `Sleeping 2 before retrying`
static SLEEP: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex(r"\b(?i-u:sleeping (?:for )?)(\d+(?:\.\d+)?)\s*((?i-u:ms|s|secs?|seconds?))?\b"));
/// `backoff attempt=1 max=10 delay_secs=4.4`, `delay=500ms`
static DELAY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"\b(?i-u:delay|backoff|wait|sleep|retry_in)(?:_((?i-u:ms|secs?|seconds|s)))?[=:]\s*(\d+(?:\.\d+)?)\s*((?i-u:ms|s|secs?|seconds?))?\b",
    )
});
/// `attempt 3/10`, `attempt=1/3`, `retry 1 of 7`, `Reconnecting... 1/5`, `Retry count:4`, `Attempt #2`, `attempt=1 max=10`
static COUNT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"\b((?i-u:attempt|retry|retrying|reconnecting|try))(?i-u: count| number| no)?[\s.:=#(…]{0,6}(\d{1,5})\b(?:\s*(?i-u:/|of|max=)\s*(\d{1,5})\b)?",
    )
});
/// Says that another attempt follows.
static ANNOUNCES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"\b(?i-u:retrying|will retry|will be retried|retry error|reconnecting|backing off|requeu[a-z]+|before retry[a-z]*|attempt #[0-9]+ \||retry [0-9]+(?:/| of )[0-9]+)",
    )
});
static GIVES_UP: LazyLock<Option<Regex>> =
    LazyLock::new(|| regex(r"\b(?i-u:giving up|gave up|no more retries|retries exhausted|dead-letter(?:ed|ing)?)\b"));
/// `Failed after 3 attempts. Last error: ` of the AI SDK, and its like.
static LAST_OF: LazyLock<Option<Regex>> = LazyLock::new(|| regex(r"\b(?i-u:failed after ([0-9]{1,5}) attempts)\b"));
/// Sentences that only model APIs answer with. Sources: OpenAI API docs, Error codes; Anthropic API docs, Errors; Claude
/// Code notices; Amazon Bedrock User Guide, API error codes; vLLM server, serving_engine.py.
static ANSWERS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"(?i-u:rate limit reached for|request too large for) .{1,200} (?i-u:on) [\w -]{1,30} (?i-u:per) \w+ \((?i-u:[a-z]{3})\)|(?i-u:this|the) (?i-u:model).(?i-u:s maximum context length is )\d|(?i-u:prompt is too long: )\d|(?i-u:you).(?i-u:ve hit your (?:[a-z0-9]+ )?limit)\b.{1,6}(?i-u:resets )|(?i-u:you exceeded your current quota, please check|your credit balance is too low to access|you have reached your specified api usage limits|too many tokens, please wait)",
    )
});
/// A status where a text says that it is one.
static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r#"(?i-u:error code|status code|status_code|statuscode|http status|status|http|error|exception)["']?[\s:=('"]{1,3}([45]\d\d)\b|\(([45]\d\d)\)|\b([45]\d\d) (?i-u:Too Many Requests|Bad Request|Unauthorized|Forbidden|Payment Required|Not Found|Request Timeout|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Timeout|RESOURCE_EXHAUSTED|UNAVAILABLE)"#,
    )
});
/// The name of an exception, and the rest of its text.
static EXCEPTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"\b(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Timeout)|[Ee]rror|stream disconnected(?: before completion)?)\b\]?\s*[:(=\-]\s*(.*)",
    )
});
/// Words that name a failure where nothing else does.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    regex(
        r"(?i-u:rate[-_ ]?limit|overloaded|too many requests|throttl|quota|timed out|timeout|service unavailable|bad gateway|connection (?:error|reset|refused|closed|lost|failed)|stream (?:error|disconnected)|transient error|disconnected)",
    )
});

fn captures<'l>(pattern: &Option<Regex>, line: &'l str) -> Option<Captures<'l>> {
    pattern.as_ref()?.captures(line)
}

fn is(pattern: &Option<Regex>, line: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
}

/// The retry that a line announces.
pub(super) fn retry_in(line: &str) -> Option<Retry> {
    let is_last = is(&GIVES_UP, line);
    if !is_last && !is(&ANNOUNCES, line) {
        return None;
    }
    let wait = captures(&WAIT, line).or_else(|| captures(&SLEEP, line));
    let in_pairs = || {
        let found = captures(&DELAY, line)?;
        let unit = found.get(1).or(found.get(3)).map(|unit| unit.as_str());
        in_ms(found.get(2)?.as_str(), unit)
    };
    let wait_ms =
        wait.and_then(|found| in_ms(found.get(1)?.as_str(), found.get(2).map(|unit| unit.as_str()))).or_else(in_pairs);
    let mut retry = Retry { wait_ms: wait_ms.filter(|_| !is_last), is_last, ..Retry::default() };
    if let Some(found) = captures(&COUNT, line) {
        let number = |at: usize| found.get(at).and_then(|digits| digits.as_str().parse::<i64>().ok());
        // Retries are one less than attempts.
        let is_attempt = found.get(1).is_some_and(|word| matches!(word.as_str().as_bytes()[0], b'a' | b'A'));
        retry.number = number(2).filter(|number| *number > 0);
        retry.max_attempts = number(3).map(|most| if is_attempt { most } else { most + 1 });
    }
    Some(retry)
}

fn in_ms(number: &str, unit: Option<&str>) -> Option<f64> {
    let value: f64 = number.parse().ok()?;
    let unit = unit.unwrap_or("s").to_ascii_lowercase();
    Some(match unit.as_str() {
        unit if unit == "ms" || unit.starts_with("milli") => value,
        unit if unit.starts_with('m') => value * 60_000.0,
        _ => value * 1_000.0,
    })
}

/// The failure that a line tells of. `beside_retry`: the line announces a retry, so that words are enough.
pub(super) fn failure_in(line: &str, beside_retry: bool) -> Option<Failure> {
    let status = captures(&STATUS, line).and_then(|found| {
        let digits = (1..4).find_map(|at| found.get(at))?;
        Some((digits.as_str().parse::<i64>().ok()?, digits.end()))
    });
    let raised = captures(&EXCEPTION, line);
    let name = raised.as_ref().and_then(|found| found.get(1)).map(|name| name.as_str());
    let is_class = |name: &&str| *name != "Error" && name.starts_with(|first: char| first.is_ascii_uppercase());
    let exception = name.filter(is_class).map(str::to_owned);
    let rest = raised.as_ref().and_then(|found| found.get(2));
    let body = body_in(line, status.map_or(0, |(_, end)| end).min(rest.map_or(usize::MAX, |rest| rest.start())));
    let answer = ANSWERS.as_ref().and_then(|answers| line.get(answers.find(line)?.start()..));
    let is_answered = answer.is_some() && (status.is_some() || name.is_some());
    let is_sdks = is_answered || (body.is_some() && (status.is_some() || exception.is_some()));
    let words = || answer.or_else(|| rest.map(|rest| rest.as_str())).filter(|words| !words.is_empty());
    let only_words = || line.get(WORDS.as_ref()?.find(line)?.start()..).filter(|_| beside_retry);
    if status.is_none() && name.is_none() && body.is_none() && only_words().is_none() {
        return None;
    }
    let error = body.or_else(|| words().or_else(only_words).map(|words| words.trim().to_owned()));
    let is_told = status.is_some() || name.is_some() || is_sdks;
    let counted = captures(&LAST_OF, line).filter(|_| is_sdks);
    let last_of = counted.and_then(|found| found.get(1)?.as_str().parse().ok());
    Some(Failure { status: status.map(|(status, _)| status), exception, error, is_sdks, last_of, is_told })
}

/// The body of an error from byte `from` of a line on, as JSON: a literal of Python, JSON, or JSON in a literal of bytes.
fn body_in(line: &str, from: usize) -> Option<String> {
    let rest = line.get(from..)?;
    let starts = ["{'", "{\"", "b'{", "b\"{"];
    let at = starts.iter().filter_map(|start| rest.find(start)).min()?;
    let json = to_json(&rest[at..]).0;
    if json.starts_with('"') {
        // What the bytes hold.
        return serde_json::from_str::<String>(&json).ok().filter(|inner| inner.starts_with('{'));
    }
    Some(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_in_the_words_of_many_loggers() {
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
    fn failures_in_the_words_of_many_loggers() {
        let failure = |line| failure_in(line, true).unwrap_or_default();
        let found = failure("raised x.RateLimitError: Error code: 429 - {'error': {'code': 'a', 'param': None}}");
        assert_eq!((found.status, found.exception.as_deref()), (Some(429), Some("RateLimitError")));
        assert_eq!(found.error.as_deref(), Some(r#"{"error":{"code":"a","param":null}}"#));
        assert!(found.is_sdks);
        let found = failure(r#"litellm.RateLimitError: RateLimitError: P - b'{"error":{"code":"a"}}\n'"#);
        assert_eq!(found.error.as_deref().map(str::trim), Some(r#"{"error":{"code":"a"}}"#));
        assert_eq!(failure("Request failed with status code 400: {'message': 'x'}").status, Some(400));
        assert_eq!(failure("API Error (529 {\"type\":\"error\"}) · Retrying").status, Some(529));
        assert_eq!(failure("Hit request rate limit; retrying...").error.as_deref(), Some("rate limit; retrying..."));
        assert_eq!(failure_in("Hit request rate limit", false), None);
        let found = failure(
            "RetryError [AI_RetryError]: Failed after 4 attempts. Last error: Rate limit reached for model `m` on tokens per minute (TPM): Limit 9, Used 9, Requested 1.",
        );
        assert!(found.is_sdks && found.last_of == Some(4), "{found:?}");
        assert!(found.error.is_some_and(|error| error.starts_with("Rate limit reached")));
        assert!(failure("e [Error]: Request too large for m on tokens per min (TPM): Limit 1, Requested 2.").is_sdks);
        assert!(
            failure("stream disconnected before completion: Rate limit reached for m on requests per min (RPM)")
                .is_sdks
        );
        for other in
            ["error: Rate limit reached for user 5: 100 requests per minute", "Error: You've hit your limit of 3 seats"]
        {
            assert!(!failure(other).is_sdks, "{other}");
        }
        assert!(!failure("upload error: failed after 3 attempts").is_sdks);
        assert_eq!(failure("upload error: failed after 3 attempts").last_of, None);
        assert_eq!(failure_in("listening on port 4290, 512 items", true), None);
    }
}
