//! Fingerprints by which attempts and calls are compared, and limits on stored texts and numbers.

use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hasher};

/// Longest name of a provider, a model or a client that is stored, in bytes.
pub(in crate::ingest) const LONGEST_NAME: usize = 120;

/// Truncates `text` to at most `most` bytes, at a character boundary.
#[inline]
pub(in crate::ingest) fn truncate(text: &str, most: usize) -> &str {
    if text.len() <= most { text } else { &text[..text.floor_char_boundary(most)] }
}

/// Hasher with a fixed seed, so that results are the same in every run of the program.
pub(in crate::ingest) const FINGERPRINT: FixedState = FixedState::with_seed(0x7265_7472);

/// Returns the fingerprint of run and call. Without a call id, it is that of the run, within which calls are inferred;
/// `default_run` is the run of records that name none.
#[inline]
pub(crate) fn fingerprint(run: Option<&str>, call: Option<&str>, default_run: &str) -> [u64; 2] {
    let run = match call {
        // A call id without a run is taken to be unique in all inputs.
        Some(_) => run.unwrap_or_default(),
        None => run.unwrap_or(default_run),
    };
    // A call without an id is hashed like an empty id, which counts as none.
    let hash = |hasher: FixedState| {
        let mut hasher = hasher.build_hasher();
        hasher.write(run.as_bytes());
        hasher.write(call.unwrap_or_default().as_bytes());
        hasher.finish()
    };
    [hash(FINGERPRINT), hash(SECOND_HASHER)]
}

/// Returns the fingerprint of the text that identifies an attempt: its request id, else the whole record.
pub(crate) fn identity(text: &str) -> u32 {
    (FINGERPRINT.hash_one(text) >> 32) as u32
}

/// Returns an attempt number as rows store it; 0, unknown, if it is negative or above 65,535.
pub(in crate::ingest) fn number_in_call(number: Option<i64>) -> u16 {
    number.and_then(|number| u16::try_from(number).ok()).unwrap_or(0)
}

/// Hasher of the second half of 128-bit fingerprints, whose collisions are negligible.
const SECOND_HASHER: FixedState = FixedState::with_seed(0x796c_656e);
