//! The end of the data, and when clients give up.

use crate::model::Time;

/// What settling a call needs beyond its attempts.
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    /// Latest time in the data.
    pub data_end: Time,
    /// Whether nothing follows the data; then no call is open.
    pub complete: bool,
    /// When clients give up, as far as their calls show.
    pub give_up_limits: GiveUpLimits,
}

/// When clients give up, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GiveUpLimits {
    /// Longest wait between attempts in µs, unless a server asks for more; `None` if no wait was seen.
    pub max_wait_us: Option<i64>,
    /// Maximum number of attempts of a call; `None` if the calls do not show it.
    pub max_attempts: Option<u32>,
}
