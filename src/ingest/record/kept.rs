//! How much is kept of a text and of a number, and what they are compared by.

use foldhash::fast::FixedState;
use std::hash::BuildHasher;

/// Longest name of a provider, a model, a client kept, in bytes.
pub(in crate::ingest) const LONGEST_NAME: usize = 120;

/// At most `most` bytes of `text`, cut between characters.
pub(in crate::ingest) fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most { text } else { &text[..text.floor_char_boundary(most)] }
}

/// Seeds are fixed so that the order of findings is the same in every run of the program.
pub(in crate::ingest) const FINGERPRINT: FixedState = FixedState::with_seed(0x7265_7472);

/// Fingerprint of run and call, or of the stream calls are looked for in.
pub(crate) fn fingerprint(run: Option<&str>, call: Option<&str>, stream: &str) -> [u64; 2] {
    let run = match call {
        // A call named without its run is taken to be named apart from all others.
        Some(_) => run.unwrap_or_default(),
        None => run.unwrap_or(stream),
    };
    [FINGERPRINT.hash_one((run, call)), CHECK.hash_one((run, call))]
}

/// Fingerprint of what identifies an attempt: its request id, else the whole record.
pub(crate) fn identity(text: &str) -> u32 {
    (FINGERPRINT.hash_one(text) >> 32) as u32
}

/// A number beyond 65,535 is no attempt's: 0, not known.
pub(in crate::ingest) fn number_in_call(number: Option<i64>) -> u16 {
    number.and_then(|number| u16::try_from(number).ok()).unwrap_or(0)
}

const CHECK: FixedState = FixedState::with_seed(0x796c_656e);
