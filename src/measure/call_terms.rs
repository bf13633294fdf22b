//! Thresholds by which single calls are counted.

/// Thresholds for counts of single calls; each is a setting of a rule.
#[derive(Clone, Copy, Debug)]
pub struct CallTerms {
    /// Share of a requested wait by which an actual wait may fall short and still count as long enough.
    pub tolerance_share: f64,
    /// Minimum of the tolerance, in µs.
    pub tolerance_us: i64,
    /// Waits shorter than this count as no wait, in µs.
    pub no_wait_us: i64,
    /// Attempt number from which a success counts as late.
    pub late_attempt: usize,
    /// Hint above which it is reasonable to end the call and resume later, in µs.
    pub resume_later_us: i64,
}

impl CallTerms {
    /// Returns how far a wait may fall short of a hint, in µs.
    #[must_use]
    pub fn tolerated_us(&self, hint_us: i64) -> i64 {
        ((hint_us as f64 * self.tolerance_share).round() as i64).max(self.tolerance_us)
    }
}
