//! What is remembered of the lines before in the same table: logs repeat themselves.

use super::failures::Failures;
use super::origins::Origins;

/// Models and clients, failures and what they were judged to be.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) origins: Origins,
    pub(super) failures: Failures,
}

impl Memory {
    /// Forgets everything: another table begins.
    pub(super) fn clear(&mut self) {
        self.origins.clear();
        self.failures.clear();
    }
}
