//! Cache of verdicts: logs repeat the same failures, and classifying prose is slow.

use super::fingerprint::FINGERPRINT;
use super::scan;
use crate::classify::{self, AskedWait, Failure, Kind, Verdict};
use crate::model::Symbol;
use std::hash::BuildHasher;

/// Number of cache slots; a failure replaces another one in the same slot.
const SLOTS: usize = 64;
/// Largest total length in bytes of the texts of a cached failure; longer texts are documents returned as a response,
/// and do not repeat.
const MAX_TEXTS_BYTES: usize = 4096;

/// Cache of the verdicts on recent failures, valid for one table and one set of classification rules.
#[derive(Debug, Default)]
pub(in crate::ingest) struct VerdictCache {
    slots: Vec<Option<CachedFailure>>,
}

/// A cached failure and its verdict.
#[derive(Debug)]
pub(in crate::ingest) struct CachedFailure {
    texts: [Option<Box<str>>; TEXTS],
    facts: Facts,
    pub(in crate::ingest) verdict: Option<Verdict>,
    /// Its texts as interned in the table; `None` until they are needed.
    pub(in crate::ingest) interned: Option<InternedTexts>,
}

/// Interned texts of a failure.
#[derive(Clone, Copy, Debug)]
pub(in crate::ingest) struct InternedTexts {
    pub(in crate::ingest) error_type: Symbol,
    pub(in crate::ingest) error_code: Symbol,
    pub(in crate::ingest) message: Symbol,
    pub(in crate::ingest) exception: Symbol,
    pub(in crate::ingest) transport: Symbol,
}

impl VerdictCache {
    /// Clears the cache.
    pub(in crate::ingest) fn clear(&mut self) {
        self.slots.clear();
    }

    /// Returns the cached `failure`, classifying it first if it is new. Returns `None` if caching is not worthwhile:
    /// without prose, classification is fast.
    pub(in crate::ingest) fn of(&mut self, failure: &Failure<'_>) -> Option<&mut CachedFailure> {
        let (texts, facts) = key_of(failure);
        let prose = failure.message.or(failure.exception).or(failure.transport)?;
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, || None);
        }
        let index = FINGERPRINT.hash_one((prose, facts)) as usize % SLOTS;
        let slot = self.slots.get_mut(index)?;
        if !slot.as_ref().is_some_and(|known| known.is(&texts, facts)) {
            if texts.into_iter().flatten().map(str::len).sum::<usize>() > MAX_TEXTS_BYTES {
                return None;
            }
            let texts = texts.map(|text| text.map(Box::from));
            *slot = Some(CachedFailure { texts, facts, verdict: classify::classify(failure), interned: None });
        }
        slot.as_mut()
    }
}

impl CachedFailure {
    fn is(&self, texts: &[Option<&str>; TEXTS], facts: Facts) -> bool {
        self.facts == facts
            && self.texts.iter().zip(texts).all(|(known, text)| match (known, text) {
                (None, None) => true,
                (Some(known), Some(text)) => scan::same(known.as_bytes(), text.as_bytes()),
                _ => false,
            })
    }
}

/// Number of texts of a failure.
const TEXTS: usize = 6;

/// Everything in a failure other than text: status, kind, whether the server says to retry, the wait it asks for, and
/// the flags as bits.
type Facts = (Option<u16>, Option<Kind>, Option<bool>, AskedWait, u8);

/// Returns everything a verdict depends on, except for the user-defined rows, which are the same for the whole table.
fn key_of<'f>(failure: &Failure<'f>) -> ([Option<&'f str>; TEXTS], Facts) {
    // Every field is named, so that a new field causes a compile error here.
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
    fn failures_that_differ_in_any_field_are_classified_separately() {
        let mut cache = VerdictCache::default();
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
                let verdict = cache.of(failure).map(|known| known.verdict);
                assert_eq!(verdict, Some(classify::classify(failure)), "{failure:?}");
            }
        }
    }

    #[test]
    fn failures_with_long_texts_or_without_prose_are_not_cached() {
        let mut cache = VerdictCache::default();
        let long = "x".repeat(MAX_TEXTS_BYTES + 1);
        assert!(cache.of(&Failure { status: Some(500), message: Some(&long), ..Failure::default() }).is_none());
        assert!(cache.of(&Failure { status: Some(500), ..Failure::default() }).is_none());
    }

    #[test]
    fn clearing_the_cache_drops_interned_texts() {
        let mut cache = VerdictCache::default();
        let failure = Failure { status: Some(500), message: Some("m"), ..Failure::default() };
        let none = Symbol::NONE;
        let interned =
            InternedTexts { error_type: none, error_code: none, message: none, exception: none, transport: none };
        cache.of(&failure).into_iter().for_each(|known| known.interned = Some(interned));
        assert!(cache.of(&failure).is_some_and(|known| known.interned.is_some()));
        cache.clear();
        assert!(cache.of(&failure).is_some_and(|known| known.interned.is_none()));
    }
}
