//! Groups attempts into calls: by call id, otherwise by counters, otherwise by similarity.
//!
//! The result does not depend on the order of files or lines, nor on how the input was split.

mod bodies;
mod call;
mod callers;
mod give_up;
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
mod wait;
mod watermark;

pub use call::Call;
pub(crate) use give_up::GiveUpObservations;
pub use group::{Groups, Piece, group};
pub(crate) use group::{Remaining, group_between, group_except, group_from};
pub use horizon::{GiveUpLimits, Horizon};
pub(crate) use joined::{Links, Unsettled, join};
pub(crate) use relation::{is_unsafe_to_repeat, retry_sequences, same_account, same_scope, same_sender, shows_retry};
pub(crate) use series::AttemptSeries;
pub(crate) use single_successes::SingleSuccesses;
pub(crate) use stream::AttemptStream;
pub use wait::Wait;
pub(crate) use watermark::Watermark;

use crate::model::{Attempt, AttemptTable, Flags};
use serde::Serialize;

/// How the attempts of a call were grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// By the call id in the log.
    Explicit,
    /// By consecutive attempt numbers.
    Counter,
    /// The same body followed a failure, and no other failed request with that body could have been retried.
    Body,
    /// A similar request followed a failure within a plausible wait.
    Inferred,
}

impl Grouping {
    /// Returns the name used in reports.
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

/// Sort key of the attempts of a call or an attempt stream: send time, then the counters. A clock with whole seconds
/// may give a failure and its retry the same time, so failures that can be retried come first, then those that end a
/// call, then successes. Identity and position come last and only make the order unique.
pub(crate) fn sort_key(table: &AttemptTable, row: u32) -> impl Ord + use<> {
    let row = &table.rows[row as usize];
    let finality = match row.class {
        None => 2,
        Some(_) => u8::from(row.terminal() || row.flags.has(Flags::DECIDED_FAIL)),
    };
    let (content, position) = ((row.class, row.status, row.duration, row.identity), (row.file, row.line));
    ((row.sent, row.number, row.sdk_retry, finality), content, position)
}

/// How far clock errors and rounding may put the start of an attempt before the end of its predecessor, in µs.
pub(crate) const CLOCK_SLACK_US: i64 = 50_000;

/// How far ahead an attempt stream is read before an attempt is assigned to a call, in µs. Overlapping requests and
/// repeated bodies within this time are taken into account.
pub(crate) const LOOKAHEAD_US: i64 = 10 * 60 * 1_000_000;

/// Returns how far before the end of `before` an attempt may start and still be sequential, in µs: the rounding of
/// clocks, or a second if both times are whole seconds.
pub(crate) fn clock_slack_us(before: &Attempt, next: &Attempt) -> i64 {
    const SECOND_US: i64 = 1_000_000;
    let whole = |attempt: &Attempt| attempt.sent.0 % SECOND_US == 0;
    if whole(before) && whole(next) && before.duration.as_us().is_some_and(|us| us % SECOND_US != 0) {
        SECOND_US
    } else {
        CLOCK_SLACK_US
    }
}

/// Longest wait a retry loop chooses by itself, in µs: official SDKs stop at 8 s, agents at 40 s, and 60 s is the usual
/// cap of hand-written loops.
pub const LONGEST_PLAUSIBLE_WAIT_US: i64 = 60_000_000;

/// Returns the longest plausible wait after the attempt of a row, in µs.
pub(crate) fn longest_plausible_wait_us(table: &AttemptTable, row: &Attempt) -> i64 {
    let detail = table.detail(row);
    plausible_wait_us(detail.and_then(|d| d.hint_us), detail.and_then(|d| d.planned_us))
}

/// Returns the longest plausible wait given a server's hint and a client's plan, in µs.
#[must_use]
pub(crate) fn plausible_wait_us(hint_us: Option<i64>, planned_us: Option<i64>) -> i64 {
    LONGEST_PLAUSIBLE_WAIT_US.max(requested_wait_us(hint_us, planned_us))
}

/// Returns the longest wait explained by a server's hint or a client's plan, in µs; 0 without either. Adds a tenth and
/// ten seconds, for jitter and scheduling delays of the client.
pub(crate) fn requested_wait_us(hint_us: Option<i64>, planned_us: Option<i64>) -> i64 {
    let slack = |us: i64| us.saturating_add(us / 10).saturating_add(10_000_000);
    hint_us.map_or(0, slack).max(planned_us.map_or(0, slack))
}
