//! The time between two attempts, and whether it is exact.

use crate::model::units::waited;

/// The time between two attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Length in µs.
    pub us: i64,
    /// Whether the wait is measured from the end of the failed attempt; otherwise from its start, which overstates it.
    pub end_to_start: bool,
}

impl Default for Wait {
    fn default() -> Wait {
        Wait::NONE
    }
}

impl Wait {
    /// A wait of length 0, the start of a sum.
    pub(crate) const NONE: Wait = Wait { us: 0, end_to_start: true };

    /// Returns the length in seconds.
    #[must_use]
    pub fn s(self) -> f64 {
        self.us as f64 / 1e6
    }

    /// Returns the sum of two waits; overstated if either is.
    #[must_use]
    pub fn and(self, other: Wait) -> Wait {
        Wait { us: self.us + other.us, end_to_start: self.end_to_start && other.end_to_start }
    }

    /// Formats the wait: "at most 4 s" if it may include the duration of an attempt.
    #[must_use]
    pub(crate) fn words(self) -> String {
        waited(self.s(), self.end_to_start)
    }
}
