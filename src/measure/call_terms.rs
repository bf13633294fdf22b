//! By what single calls are counted.

/// Thresholds of what is counted call by call. Each is a setting of a rule.
#[derive(Clone, Copy, Debug)]
pub struct CallTerms {
    /// A wait shorter than what the server asked for by no more than this share of it is as long as asked.
    pub tolerance_share: f64,
    /// The same in µs.
    pub tolerance_us: i64,
    /// Shorter than this a wait is none, µs.
    pub no_wait_us: i64,
    /// From this attempt on a success counts as late.
    pub late_attempt: usize,
    /// A hint beyond this is a reason to end the call so that it can resume later, µs.
    pub worth_us: i64,
}

impl CallTerms {
    /// By how much a wait may fall short of a hint, µs.
    #[must_use]
    pub fn tolerated_us(&self, hint_us: i64) -> i64 {
        ((hint_us as f64 * self.tolerance_share).round() as i64).max(self.tolerance_us)
    }
}
