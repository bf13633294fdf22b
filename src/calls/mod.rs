//! Attempts become calls: by the ids a log names, else by its counters, else by shape.
//!
//! The result does not depend on the order of files or lines, nor on how they were cut.

mod bodies;
mod call;
mod endurance;
mod group;
mod horizon;
mod implied;
mod infer;
mod joined;
mod relation;
mod reuse;
mod series;
mod single_successes;
mod stream;
mod watermark;

pub use call::{Call, Wait};
pub(crate) use endurance::Persistence;
pub use group::{Groups, Piece, group};
pub(crate) use group::{Left, group_between, group_from, group_rest};
pub use horizon::{Endurance, Horizon};
pub(crate) use joined::{Links, Unsettled, join};
pub(crate) use relation::{is_unsafe_to_repeat, same_account, same_scope, same_sender, shows_retry, streaks};
pub(crate) use series::Series;
pub(crate) use single_successes::SingleSuccesses;
pub(crate) use stream::Stream;
pub(crate) use watermark::Watermark;

use crate::model::{Attempt, AttemptTable, Flags};
use serde::Serialize;

/// How the attempts of a call were brought together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// The log names the call.
    Explicit,
    /// Attempt numbers continue one another.
    Counter,
    /// The same body followed a failure, and no other failure of that body was open.
    Body,
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
            Grouping::Body => "body",
            Grouping::Inferred => "inferred",
        }
    }
}

/// What the attempts of a call or a stream are ordered by: time, then the counters. Of equal ones, what ends a call
/// comes after what can be followed, and a success last: clocks that tick in seconds stamp a failure and its retry
/// alike. Only what is alike in all that bears on a verdict is ordered by its identity, so that the order of lines
/// changes nothing.
pub(crate) fn order_of(table: &AttemptTable, row: u32) -> impl Ord + use<> {
    let row = &table.rows[row as usize];
    let ends = match row.class {
        None => 2,
        Some(_) => u8::from(row.terminal() || row.flags.has(Flags::DECIDED_FAIL)),
    };
    let (content, place) = ((row.class, row.status, row.duration, row.identity), (row.file, row.line));
    ((row.sent, row.number, row.sdk_retry, ends), content, place)
}

/// How far clocks and rounding may put the start of an attempt before the end of the one it followed, µs.
pub(crate) const CLOCK_SLACK_US: i64 = 50_000;

/// A stream that shows only so much later that its requests overlap, or that its clients repeat bodies, is read in that
/// light from here on, µs.
pub(crate) const FORESIGHT_US: i64 = 10 * 60 * 1_000_000;

/// How far an attempt may start before another ended and still not be beside it, µs: rounding of clocks; a second
/// where both times are whole seconds.
pub(crate) fn clock_slack_us(before: &Attempt, next: &Attempt) -> i64 {
    const SECOND_US: i64 = 1_000_000;
    let whole = |attempt: &Attempt| attempt.sent.0 % SECOND_US == 0;
    if whole(before) && whole(next) && before.duration.as_us().is_some_and(|us| us % SECOND_US != 0) {
        SECOND_US
    } else {
        CLOCK_SLACK_US
    }
}

/// The longest wait a retry loop chooses of itself, in µs: official SDKs stop at 8 s, agents at 40 s, and
/// 60 s is the common cap of hand-written loops.
pub const LONGEST_PLAUSIBLE_WAIT_US: i64 = 60_000_000;

/// The longest wait that is likely after the attempt of a row, µs.
pub(crate) fn patience_us(table: &AttemptTable, row: &Attempt) -> i64 {
    let detail = table.detail(row);
    plausible_wait_us(detail.and_then(|d| d.hint_us), detail.and_then(|d| d.planned_us))
}

/// The same by what server and client said of it, µs.
#[must_use]
pub(crate) fn plausible_wait_us(hint_us: Option<i64>, planned_us: Option<i64>) -> i64 {
    LONGEST_PLAUSIBLE_WAIT_US.max(asked_wait_us(hint_us, planned_us))
}

/// The longest wait that a server's hint or a client's plan explains, µs; 0 without either. A client adds a tenth
/// and ten seconds at most.
pub(crate) fn asked_wait_us(hint_us: Option<i64>, planned_us: Option<i64>) -> i64 {
    let slack = |us: i64| us.saturating_add(us / 10).saturating_add(10_000_000);
    hint_us.map_or(0, slack).max(planned_us.map_or(0, slack))
}
