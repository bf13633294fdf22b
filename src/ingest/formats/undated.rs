//! Times of logs that tell how much time passes and not which day it is.

/// What they count from: the first second of 2000, before any log of a model API. Order and spacing hold, the date
/// does not. In s since the epoch.
pub(super) const ORIGIN_S: f64 = 946_684_800.0;
