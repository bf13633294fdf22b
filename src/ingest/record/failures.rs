//! Cache of verdicts: logs repeat the same failures, and classifying prose is slow.

use super::kept::FINGERPRINT;
use super::scan;
use crate::classify::{self, AskedWait, Failure, Kind, Verdict};
use crate::model::Symbol;
use std::hash::BuildHasher;

/// Number of cache slots; a failure replaces another one in the same slot.
const PLACES: usize = 64;
/// Largest total length in bytes of the texts of a cached failure; longer ones are documents returned as a response.
const LONGEST: usize = 4096;

/// Cache of recent failures, valid for one table and one set of classification rules.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Failures {
    places: Vec<Option<Known>>,
}

/// A cached failure and its verdict.
#[derive(Debug)]
pub(in crate::ingest) struct Known {
    texts: [Option<Box<str>>; TEXTS],
    circumstances: Circumstances,
    pub(in crate::ingest) verdict: Option<Verdict>,
    /// Its texts as interned in the table; `None` until they are needed.
    pub(in crate::ingest) wording: Option<Wording>,
}

/// Interned texts of a failure.
#[derive(Clone, Copy, Debug)]
pub(in crate::ingest) struct Wording {
    pub(in crate::ingest) error_type: Symbol,
    pub(in crate::ingest) error_code: Symbol,
    pub(in crate::ingest) message: Symbol,
    pub(in crate::ingest) exception: Symbol,
    pub(in crate::ingest) transport: Symbol,
}

impl Failures {
    /// Clears the cache.
    pub(in crate::ingest) fn clear(&mut self) {
        self.places.clear();
    }

    /// Returns the cached `failure`, classifying it first if it is new. Returns `None` if caching is not worthwhile:
    /// without prose, classification is fast.
    pub(in crate::ingest) fn of(&mut self, failure: &Failure<'_>) -> Option<&mut Known> {
        let (texts, circumstances) = parts(failure);
        let prose = failure.message.or(failure.exception).or(failure.transport)?;
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        let place = FINGERPRINT.hash_one((prose, circumstances)) as usize % PLACES;
        let known = self.places.get_mut(place)?;
        if !known.as_ref().is_some_and(|known| known.is(&texts, circumstances)) {
            if texts.into_iter().flatten().map(str::len).sum::<usize>() > LONGEST {
                return None;
            }
            let texts = texts.map(|text| text.map(Box::from));
            *known = Some(Known { texts, circumstances, verdict: classify::classify(failure), wording: None });
        }
        known.as_mut()
    }
}

impl Known {
    fn is(&self, texts: &[Option<&str>; TEXTS], circumstances: Circumstances) -> bool {
        self.circumstances == circumstances
            && self.texts.iter().zip(texts).all(|(known, text)| match (known, text) {
                (None, None) => true,
                (Some(known), Some(text)) => scan::same(known.as_bytes(), text.as_bytes()),
                _ => false,
            })
    }
}

/// Number of texts of a failure.
const TEXTS: usize = 6;

/// Everything in a failure other than text: status, kind, the server's hints on retrying and waiting, and the flags as
/// bits.
type Circumstances = (Option<u16>, Option<Kind>, Option<bool>, AskedWait, u8);

/// Returns everything a verdict depends on, except for the user's own rows.
fn parts<'f>(failure: &Failure<'f>) -> ([Option<&'f str>; TEXTS], Circumstances) {
    // Destructured in full, so that no field can be forgotten.
    let Failure {
        status,
        error_type,
        error_code,
        message,
        kind,
        exception,
        transport,
        mid_stream,
        truncated,
        logged_as_error,
        logged_as_ok,
        hint,
        has_rate_limit_headers,
        window_rejected,
        should_retry,
        side_effect,
        provider,
        custom_rows: _,
    } = *failure;
    let bits =
        [mid_stream, truncated, logged_as_error, logged_as_ok, has_rate_limit_headers, window_rejected, side_effect];
    let bits = bits.into_iter().fold(0, |bits, bit| bits << 1 | u8::from(bit));
    ([error_type, error_code, message, exception, transport, provider], (status, kind, should_retry, hint, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_in_anything_is_judged_anew() {
        let mut failures = Failures::default();
        let plain = Failure { status: Some(429), message: Some("rate limit exceeded"), ..Failure::default() };
        let others = [
            plain,
            Failure { status: Some(400), ..plain },
            Failure { error_type: Some("insufficient_quota"), ..plain },
            Failure { error_code: Some("insufficient_quota"), ..plain },
            Failure { message: Some("your credit balance is too low"), ..plain },
            Failure { kind: Some(Kind::Cancelled), ..plain },
            Failure { exception: Some("ConnectTimeout"), ..plain },
            Failure { transport: Some("ended_early"), ..plain },
            Failure { mid_stream: true, ..plain },
            Failure { truncated: true, ..plain },
            Failure { logged_as_error: true, ..plain },
            Failure { logged_as_ok: true, status: None, ..plain },
            Failure { hint: AskedWait::Short, ..plain },
            Failure { hint: AskedWait::Long, ..plain },
            Failure { has_rate_limit_headers: true, ..plain },
            Failure { window_rejected: true, ..plain },
            Failure { should_retry: Some(false), ..plain },
            Failure { side_effect: true, ..plain },
            Failure { provider: Some("gemini"), ..plain },
        ];
        for _ in 0..2 {
            for failure in &others {
                let verdict = failures.of(failure).map(|known| known.verdict);
                assert_eq!(verdict, Some(classify::classify(failure)), "{failure:?}");
            }
        }
    }

    #[test]
    fn what_is_long_or_wordless_is_not_kept() {
        let mut failures = Failures::default();
        let long = "x".repeat(LONGEST + 1);
        assert!(failures.of(&Failure { status: Some(500), message: Some(&long), ..Failure::default() }).is_none());
        assert!(failures.of(&Failure { status: Some(500), ..Failure::default() }).is_none());
    }

    #[test]
    fn another_table_begins_with_nothing() {
        let mut failures = Failures::default();
        let failure = Failure { status: Some(500), message: Some("m"), ..Failure::default() };
        let word = Symbol::NONE;
        let wording = Wording { error_type: word, error_code: word, message: word, exception: word, transport: word };
        failures.of(&failure).into_iter().for_each(|known| known.wording = Some(wording));
        assert!(failures.of(&failure).is_some_and(|known| known.wording.is_some()));
        failures.clear();
        assert!(failures.of(&failure).is_some_and(|known| known.wording.is_none()));
    }
}
