//! Limits on kept texts and numbers, and the fingerprints by which they are compared.

use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hasher};

/// Longest name of a provider, a model or a client that is kept, in bytes.
pub(in crate::ingest) const LONGEST_NAME: usize = 120;

/// Truncates `text` to at most `most` bytes, at a character boundary.
#[inline]
pub(in crate::ingest) fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most { text } else { &text[..text.floor_char_boundary(most)] }
}

/// Hasher with a fixed seed, so that the order of findings is the same in every run of the program.
pub(in crate::ingest) const FINGERPRINT: FixedState = FixedState::with_seed(0x7265_7472);

/// Returns the fingerprint of run and call, or, if neither is named, of the stream in which calls are inferred.
#[inline]
pub(crate) fn fingerprint(run: Option<&str>, call: Option<&str>, stream: &str) -> [u64; 2] {
    let run = match call {
        // A call id without a run is taken to be unique on its own.
        Some(_) => run.unwrap_or_default(),
        None => run.unwrap_or(stream),
    };
    // A call without an id needs no mark, since an empty id counts as none.
    let of = |hasher: FixedState| {
        let mut hasher = hasher.build_hasher();
        hasher.write(run.as_bytes());
        hasher.write(call.unwrap_or_default().as_bytes());
        hasher.finish()
    };
    [of(FINGERPRINT), of(CHECK)]
}

/// Returns the fingerprint of the text that identifies an attempt: its request id, else the whole record.
pub(crate) fn identity(text: &str) -> u32 {
    (FINGERPRINT.hash_one(text) >> 32) as u32
}

/// Returns an attempt number as rows store it; 0, unknown, if it is negative or above 65,535.
pub(in crate::ingest) fn number_in_call(number: Option<i64>) -> u16 {
    number.and_then(|number| u16::try_from(number).ok()).unwrap_or(0)
}

const CHECK: FixedState = FixedState::with_seed(0x796c_656e);
