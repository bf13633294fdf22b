//! How official SDKs treat a wait requested by the server, by client and version, and the backoff of several clients.
//!
//! The facts were read in the sources of the versions named and, where stated, measured.
//!
//! Behaviour that these clients share and that is not in the table: they obey `x-should-retry` first, then retry 408,
//! 409, 429, 500 and above, lost connections and timeouts, twice by default. None of them looks into the body, so an
//! exhausted quota is retried as well (RL107), and a stream that fails after its 200 is not. `retry-after-ms` takes
//! precedence over `retry-after`, which may be seconds, fractions of them, or an HTTP date: that is parsed where logs
//! are read. A hint of 0 is obeyed by the TypeScript clients and ignored by the Python ones. Other kinds of retries
//! involve no hint: one 401 after a new token (anthropic for TypeScript), a truncated body (openai for Node 7).

use crate::model::{Interner, Jitter, Origin, Schedule};
use crate::policy::{SDK, SDK_ATTEMPTS};

/// What a client does with a long `retry-after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LongHint {
    /// A hint over this many seconds is discarded in favour of the client's own short backoff.
    Discarded(u32),
    /// A hint of at least this many seconds is discarded likewise.
    DiscardedFrom(u32),
    /// A hint over this many seconds ends the call.
    Refused(u32),
    /// A hint is obeyed, however long.
    Obeyed,
}

impl LongHint {
    /// Describes which hints are discarded, if a hint of `hint_us` µs is among them.
    pub(super) fn discards(self, hint_us: i64) -> Option<String> {
        let us = |seconds: u32| i64::from(seconds) * 1_000_000;
        match self {
            LongHint::Discarded(over) if hint_us > us(over) => Some(format!("over {over} s")),
            LongHint::DiscardedFrom(least) if hint_us >= us(least) => Some(format!("of {least} s or more")),
            _ => None,
        }
    }
}

type Version = (u32, u32, u32);

struct Row {
    /// Text that the client's name contains.
    family: &'static str,
    /// Texts, any of which in the client's name identifies its language.
    language: &'static [&'static str],
    from: Version,
    below: Version,
    behaviour: LongHint,
}

const PYTHON: &[&str] = &["python", "-py"];
const NODE: &[&str] = &["/js", "node", "typescript", "javascript", "-ts", "-js"];
const OLDEST: Version = (0, 0, 0);
const LATEST: Version = (u32::MAX, 0, 0);

const fn row(
    family: &'static str,
    language: &'static [&'static str],
    from: Version,
    below: Version,
    behaviour: LongHint,
) -> Row {
    Row { family, language, from, below, behaviour }
}

/// Behaviour by client and version. Versions between two rows were not examined.
const ROWS: &[Row] = &[
    // _base_client.py up to 0.121.0: `0 < retry_after <= 60`; the same measured with 0.125.0
    row("anthropic", PYTHON, OLDEST, (0, 126, 0), LongHint::Discarded(60)),
    // measured with 2.14.0: a hint of 150 s was obeyed; its own limit of 4294967 s is 49 days, longer than any hint
    row("anthropic", PYTHON, (2, 14, 0), LATEST, LongHint::Obeyed),
    // client.ts before 0.79.0: `0 <= timeoutMillis < 60 * 1000`
    row("anthropic", NODE, OLDEST, (0, 79, 0), LongHint::DiscardedFrom(60)),
    // client.ts since commit af66c809: its own backoff only where the header is absent
    row("anthropic", NODE, (0, 79, 0), LATEST, LongHint::Obeyed),
    // _base_client.py before 2.52.0; the same measured with 1.109.1
    row("openai", PYTHON, OLDEST, (2, 52, 0), LongHint::Discarded(60)),
    // _base_client.py since 2.52.0: no retry at all over 120 s, whatever x-should-retry says
    row("openai", PYTHON, (2, 52, 0), LATEST, LongHint::Refused(120)),
    // client.ts of 7.5.0: `0 <= timeoutMillis <= 60 * 1000`
    row("openai", NODE, (7, 5, 0), (7, 6, 0), LongHint::Discarded(60)),
];

/// Returns what the client of this name and version does with a long hint, if known.
pub(super) fn long_hint(client: &str, version: &str) -> Option<LongHint> {
    let client = client.to_ascii_lowercase();
    let version = parse(version)?;
    ROWS.iter()
        .find(|row| {
            client.contains(row.family)
                && row.language.iter().any(|word| client.contains(word))
                && (row.from..row.below).contains(&version)
        })
        .map(|row| row.behaviour)
}

/// Returns name and version of the SDK that sent the attempts of `origin`: the one beneath the client if logged, else
/// the client.
pub(super) fn of<'n>(origin: &Origin, names: &'n Interner) -> (&'n str, &'n str) {
    if origin.sdk.is_some() {
        return (names.text(origin.sdk), names.text(origin.sdk_version));
    }
    (names.text(origin.client), names.text(origin.client_version))
}

fn parse(version: &str) -> Option<Version> {
    let mut parts = version.trim_start_matches('v').split(['.', '-', '+']).map(|part| part.parse().ok());
    Some((parts.next()??, parts.next().flatten().unwrap_or(0), parts.next().flatten().unwrap_or(0)))
}

/// Backoff of a client's own retries: the first wait, doubling up to a cap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DefaultBackoff {
    /// Name of the client for messages.
    pub(super) client_name: &'static str,
    waits: Schedule,
    /// Attempts per call by default.
    pub(super) attempts: u16,
    /// Option that raises that number.
    pub(super) option: &'static str,
}

/// Backoff of the official SDKs, from [`SDK`].
pub(super) const OFFICIAL_SDKS: DefaultBackoff = DefaultBackoff {
    client_name: "the official SDKs",
    waits: SDK,
    attempts: SDK_ATTEMPTS as u16,
    option: "max_retries",
};
/// Measured with versions 6 and 7: exactly 2 s and 4 s.
const AI_SDK: DefaultBackoff =
    DefaultBackoff { client_name: "the AI SDK", waits: doubling_from(2.0), attempts: 3, option: "maxRetries" };
/// Measured with version 3.4: 1, 2 and 4 s.
const DSPY: DefaultBackoff =
    DefaultBackoff { client_name: "dspy", waits: doubling_from(1.0), attempts: 4, option: "num_retries" };

const fn doubling_from(base_s: f64) -> Schedule {
    Schedule { base_s, factor: 2.0, cap_s: f64::INFINITY, jitter: Jitter::None }
}

/// Returns the backoff of the client of that name, or that of the official SDKs if the log names no client. `None` if
/// the client's waits are unknown.
pub(super) fn default_backoff(client: &str) -> Option<DefaultBackoff> {
    let client = client.to_ascii_lowercase();
    let official = client.is_empty() || client.contains("anthropic") || client.contains("openai");
    if client == "ai" || client.starts_with("ai-sdk") {
        Some(AI_SDK)
    } else if client.starts_with("lm15") || client.contains("dspy") {
        Some(DSPY)
    } else {
        official.then_some(OFFICIAL_SDKS)
    }
}

impl DefaultBackoff {
    /// Returns the total nominal seconds waited over this many retries.
    pub(super) fn waits_s(&self, retries: usize) -> f64 {
        self.waits.total_s(u32::try_from(retries).unwrap_or(u32::MAX))
    }

    /// Returns the smallest number of retries whose waits total at least `seconds`; at most 100.
    pub(super) fn retries_for(&self, seconds: f64) -> usize {
        (1..100).find(|&retries| self.waits_s(retries) >= seconds).unwrap_or(100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_waits_follow_from_the_schedule() {
        let nominal = [0.5, 1.5, 3.5, 7.5, 15.5, 23.5, 31.5, 39.5, 47.5];
        for (retries, seconds) in nominal.into_iter().enumerate() {
            assert_eq!(OFFICIAL_SDKS.waits_s(retries + 1), seconds);
        }
        assert_eq!((AI_SDK.waits_s(5), DSPY.waits_s(5)), (62.0, 31.0));
        assert_eq!([OFFICIAL_SDKS, AI_SDK, DSPY].map(|default_backoff| default_backoff.retries_for(10.0)), [5, 3, 4]);
    }

    #[test]
    fn default_backoff_depends_on_the_client() {
        for (client, client_name) in [
            ("", Some("the official SDKs")),
            ("AsyncOpenAI/Python", Some("the official SDKs")),
            ("ai-sdk-anthropic", Some("the AI SDK")),
            ("ai", Some("the AI SDK")),
            ("lm15/stdlib", Some("dspy")),
            ("airflow", None),
            ("my-agent", None),
        ] {
            assert_eq!(
                default_backoff(client).map(|default_backoff| default_backoff.client_name),
                client_name,
                "{client}"
            );
        }
    }

    #[test]
    fn long_hints_depend_on_client_and_version() {
        assert_eq!(long_hint("Anthropic/Python", "0.40.1"), Some(LongHint::Discarded(60)));
        assert_eq!(long_hint("AsyncAnthropic/Python", "2.14.0"), Some(LongHint::Obeyed));
        assert_eq!(long_hint("Anthropic/Python", "1.0.0"), None);
        assert_eq!(long_hint("litellm", "1.2.3"), None);
        assert_eq!(long_hint("Anthropic/Python", "latest"), None);
    }

    #[test]
    fn each_row_applies_from_its_first_to_its_last_version() {
        for (client, last_before, first, expected) in [
            ("Anthropic/Python", "0.125.0", "0.126.0", (Some(LongHint::Discarded(60)), None)),
            ("Anthropic/Python", "2.13.9", "2.14.0", (None, Some(LongHint::Obeyed))),
            ("Anthropic/JS", "0.78.9", "0.79.0", (Some(LongHint::DiscardedFrom(60)), Some(LongHint::Obeyed))),
            ("OpenAI/Python", "2.51.9", "2.52.0", (Some(LongHint::Discarded(60)), Some(LongHint::Refused(120)))),
            ("OpenAI/JS", "7.4.9", "7.5.0", (None, Some(LongHint::Discarded(60)))),
            ("OpenAI/JS", "7.5.9", "7.6.0", (Some(LongHint::Discarded(60)), None)),
        ] {
            let found = (long_hint(client, last_before), long_hint(client, first));
            assert_eq!(found, expected, "{client} {last_before} and {first}");
        }
    }

    #[test]
    fn only_some_clients_discard_a_hint_of_exactly_a_minute() {
        const MINUTE_US: i64 = 60_000_000;
        assert_eq!(LongHint::Discarded(60).discards(MINUTE_US), None);
        assert_eq!(LongHint::Discarded(60).discards(MINUTE_US + 1).as_deref(), Some("over 60 s"));
        assert_eq!(LongHint::DiscardedFrom(60).discards(MINUTE_US - 1), None);
        assert_eq!(LongHint::DiscardedFrom(60).discards(MINUTE_US).as_deref(), Some("of 60 s or more"));
        assert_eq!(LongHint::Refused(120).discards(i64::MAX), None);
        assert_eq!(LongHint::Obeyed.discards(i64::MAX), None);
    }
}
