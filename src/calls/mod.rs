//! Attempts become calls: by the ids a log names, else by its counters, else by shape.
//!
//! The result does not depend on the order of files or lines, nor on how they were cut.

mod call;
mod group;
mod infer;
mod plain;
mod quiet;
mod relation;
mod reuse;
mod stream;

pub use call::{Call, Wait};
pub use group::{Groups, Piece, group};
pub(crate) use group::{group_from, group_rest};
pub(crate) use plain::Plain;
pub(crate) use quiet::Quiet;
pub(crate) use relation::{
    is_unsafe_to_repeat, same_account, same_scope, same_sender, shows_retry, streaks,
};
pub(crate) use stream::Stream;

use crate::attempt::{AttemptTable, Time};
use serde::Serialize;

/// How the attempts of a call were brought together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// The log names the call.
    Explicit,
    /// Attempt numbers continue one another.
    Counter,
    /// A failure was followed by a like request within a plausible wait.
    Inferred,
}

impl Grouping {
    /// As written in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Grouping::Explicit => "explicit",
            Grouping::Counter => "counter",
            Grouping::Inferred => "inferred",
        }
    }
}

/// What the attempts of a call or a stream are ordered by: time, then what tells equal times apart.
pub(crate) fn order_of(table: &AttemptTable, row: u32) -> impl Ord + use<> {
    let row = &table.rows[row as usize];
    (row.sent, row.number, row.sdk_retry, row.identity, row.file, row.line)
}

/// What settling a call needs to know beyond its attempts.
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    /// The last moment the data speaks of.
    pub data_end: Time,
    /// Whether nothing follows the data: then no call is open.
    pub complete: bool,
}

/// The longest wait a retry loop chooses of itself, in µs: official SDKs stop at 8 s, agents at 40 s, and
/// 60 s is the common cap of hand-written loops.
pub const LONGEST_PLAUSIBLE_WAIT_US: i64 = 60_000_000;

/// What a client adds to a server's hint at most: a tenth of it, and ten seconds.
#[must_use]
pub(crate) fn plausible_wait_us(hint_us: Option<i64>, planned_us: Option<i64>) -> i64 {
    let slack = |us: i64| us.saturating_add(us / 10).saturating_add(10_000_000);
    let hinted = hint_us.map_or(0, slack);
    let planned = planned_us.map_or(0, slack);
    LONGEST_PLAUSIBLE_WAIT_US.max(hinted).max(planned)
}
