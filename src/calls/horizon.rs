//! The end of the data, and when clients stop retrying.

use crate::model::Time;

/// What settling a call needs beyond its attempts.
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    /// Latest time in the data.
    pub data_end: Time,
    /// Whether nothing follows the data; then no call is open.
    pub complete: bool,
    /// When clients stop retrying, as far as their calls show.
    pub endurance: Endurance,
}

/// When clients stop retrying, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endurance {
    /// Longest wait between attempts in µs, unless a server asks for more; `None` if no wait was seen.
    pub patience_us: Option<i64>,
    /// Maximum number of attempts of a call; `None` if the calls do not show it.
    pub cap: Option<u32>,
}
