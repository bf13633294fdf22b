//! The time between two attempts, and whether it is exact.

use crate::model::units::waited;

/// The time between two attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Length in µs.
    pub us: i64,
    /// Whether the wait is measured from the end of the failed attempt to the start of the next. Otherwise it is
    /// measured from start to start, because the log has no duration, and is too long.
    pub is_exact: bool,
}

impl Default for Wait {
    fn default() -> Wait {
        Wait::NONE
    }
}

impl Wait {
    /// A wait of length 0, the start of a sum.
    pub(crate) const NONE: Wait = Wait { us: 0, is_exact: true };

    /// Returns the length in seconds.
    #[must_use]
    pub fn s(self) -> f64 {
        self.us as f64 / 1e6
    }

    /// Returns the sum of two waits, which is exact if both are.
    #[must_use]
    pub fn and(self, other: Wait) -> Wait {
        Wait { us: self.us + other.us, is_exact: self.is_exact && other.is_exact }
    }

    /// Formats the wait: "at most 4 s" if it may include the duration of an attempt.
    #[must_use]
    pub(crate) fn words(self) -> String {
        waited(self.s(), self.is_exact)
    }
}
