//! What the attempts of one input come to, whatever their order and their spelling: two inputs that come to the same hold
//! the same attempts.

use super::record::FINGERPRINT;
use crate::model::{Attempt, Flags, Interner, is_undated};
use std::hash::BuildHasher;

/// The attempts of one input, or of a stretch of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest {
    /// Sum of fingerprints: it does not depend on the order.
    sum: u64,
    attempts: u64,
    /// Times of some of them are finer than whole seconds.
    is_fine: bool,
}

/// So few attempts may be alike by chance, where their times are whole seconds.
const FEW: u64 = 5;
/// What the run of records is called that name none: other inputs call it otherwise.
const UNNAMED_RUN: &str = "file:";

impl Digest {
    /// Of rows with these names.
    pub(super) fn of(rows: &[Attempt], names: &Interner) -> Digest {
        let mut digest = Digest::default();
        // The run of the row before.
        let mut run = (None, 0);
        for row in rows.iter().filter(|row| !is_undated(row.sent)) {
            if run.0 != Some(row.run) {
                let named = names.get(row.run).filter(|name| !name.starts_with(UNNAMED_RUN));
                run = (Some(row.run), FINGERPRINT.hash_one(named));
            }
            let request_id = if row.flags.has(Flags::REQUEST_ID) { row.identity } else { 0 };
            let parts = (row.sent.0, row.duration.as_us(), row.status, row.number, request_id, run.1);
            digest.sum = digest.sum.wrapping_add(FINGERPRINT.hash_one(parts));
            digest.attempts += 1;
            digest.is_fine |= row.sent.0 % 1_000_000 != 0;
        }
        digest
    }

    /// Takes in another stretch of the input.
    pub(super) fn add(&mut self, other: Digest) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.attempts += other.attempts;
        self.is_fine |= other.is_fine;
    }

    /// How many attempts are the same where another input comes to the same; `None` where chance would explain it.
    pub(crate) fn telling(self) -> Option<u64> {
        let least = if self.is_fine { 2 } else { FEW };
        (self.attempts >= least).then_some(self.attempts)
    }
}
