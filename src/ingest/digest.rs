//! Digest of the attempts of one input, independent of their order and spelling: inputs with equal digests hold the
//! same attempts.

use super::record::FINGERPRINT;
use crate::model::{Attempt, AttemptTable, Flags, is_undated};
use std::hash::BuildHasher;

/// Digest of the attempts of one input, or of a stretch of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest {
    /// Wrapping sum of fingerprints, so that order does not matter.
    sum: u64,
    attempts: u64,
    /// Whether the time of any attempt has a fraction of a second.
    has_fractions: bool,
}

/// Number of attempts from which equal digests are not taken for chance: with times in fractions of a second, and in
/// whole seconds.
const MIN_ATTEMPTS: u64 = 2;
const MIN_ATTEMPTS_WHOLE_SECONDS: u64 = 5;
/// Prefix of the run name given to records that name no run; it depends on the input's name and is left out.
const UNNAMED_RUN: &str = "file:";

impl Digest {
    /// Returns the digest of some rows of `table`.
    pub(super) fn of(rows: &[Attempt], table: &AttemptTable) -> Digest {
        let mut digest = Digest::default();
        // Run of the previous row, and its hash.
        let mut run = (None, 0);
        for row in rows.iter().filter(|row| !is_undated(row.sent)) {
            if run.0 != Some(row.run) {
                let named = table.names.get(row.run).filter(|name| !name.starts_with(UNNAMED_RUN));
                run = (Some(row.run), FINGERPRINT.hash_one(named));
            }
            let request_id = if row.flags.has(Flags::REQUEST_ID) { row.identity } else { 0 };
            // Logs of two layers may have the same times and differ only in their layer: they are not copies.
            let layer = table.names.get(table.origin(row).layer);
            let parts = (row.sent.0, row.duration.as_us(), row.status, row.number, request_id, run.1, layer);
            digest.sum = digest.sum.wrapping_add(FINGERPRINT.hash_one(parts));
            digest.attempts += 1;
            digest.has_fractions |= row.sent.0 % 1_000_000 != 0;
        }
        digest
    }

    /// Adds another stretch of the same input.
    pub(super) fn add(&mut self, other: Digest) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.attempts += other.attempts;
        self.has_fractions |= other.has_fractions;
    }

    /// Returns the number of attempts two inputs of this digest share; `None` if chance could explain equal digests.
    pub(crate) fn shared_attempts(self) -> Option<u64> {
        let least = if self.has_fractions { MIN_ATTEMPTS } else { MIN_ATTEMPTS_WHOLE_SECONDS };
        (self.attempts >= least).then_some(self.attempts)
    }
}
