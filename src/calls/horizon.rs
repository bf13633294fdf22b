//! Where the data ends, and when clients stop.

use crate::model::Time;

/// What settling a call needs to know beyond its attempts.
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    /// The last moment the data speaks of.
    pub data_end: Time,
    /// Whether nothing follows the data: then no call is open.
    pub complete: bool,
    /// When clients stop, as far as their calls show.
    pub endurance: Endurance,
}

/// What is known of when clients stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endurance {
    /// Nobody waits longer between attempts, unless a server asks for it, µs; `None` where no wait was seen.
    pub patience_us: Option<i64>,
    /// Nobody makes more attempts; `None` where the calls do not show it.
    pub cap: Option<u32>,
}
