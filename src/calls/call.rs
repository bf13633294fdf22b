//! One logical request, settled: what call rules see.

use super::{Grouping, Horizon, order_of, plausible_wait_us};
use crate::attempt::{Attempt, AttemptTable, Detail, Flags, Origin, Time, Usage};
use crate::report::Outcome;
use smallvec::SmallVec;
use std::borrow::Cow;

/// All attempts of one logical request, in order, each counted once.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    table: &'a AttemptTable,
    rows: SmallVec<[u32; 8]>,
    /// How the attempts were brought together.
    pub grouping: Grouping,
    /// How it ended.
    pub outcome: Outcome,
    /// The clock contradicts the attempt numbers: no rule may judge waits.
    pub disordered: bool,
    /// Deliveries of an attempt beyond its first.
    pub duplicates: u32,
}

/// The time between two attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How long, in µs.
    pub us: i64,
    /// Measured from the end of the failed attempt; otherwise from its start, which overstates the wait.
    pub end_to_start: bool,
}

impl Wait {
    /// How long, in seconds.
    #[must_use]
    pub fn s(self) -> f64 {
        self.us as f64 / 1e6
    }
}

/// How far an attempt may start before its predecessor ended and still count as "no wait": rounding of clocks.
const CLOCK_SLACK_US: i64 = 50_000;

impl<'a> Call<'a> {
    /// Settles the attempts `rows` of one call.
    pub(crate) fn settle(
        table: &'a AttemptTable,
        rows: SmallVec<[u32; 8]>,
        grouping: Grouping,
        horizon: &Horizon,
    ) -> Call<'a> {
        let mut call = Call { table, rows, grouping, outcome: Outcome::Ok, disordered: false, duplicates: 0 };
        if call.rows.len() > 1 {
            call.order();
            call.drop_duplicates();
            call.follow_numbers();
        }
        call.outcome = call.ending(horizon);
        call
    }

    fn order(&mut self) {
        let table = self.table;
        self.rows.sort_unstable_by_key(|index| order_of(table, *index));
    }

    /// The same record delivered again, or one send logged by two layers, counts once.
    fn drop_duplicates(&mut self) {
        let rows = &self.table.rows;
        let before = self.rows.len();
        let mut kept: SmallVec<[u32; 8]> = SmallVec::new();
        for &index in &self.rows {
            let row = &rows[index as usize];
            let known = kept.iter().rev().take(64).any(|&other| self.same_send(&rows[other as usize], row));
            if !known {
                kept.push(index);
            }
        }
        self.duplicates = (before - kept.len()) as u32;
        self.rows = kept;
    }

    fn same_send(&self, a: &Attempt, b: &Attempt) -> bool {
        if a.identity != b.identity || !a.identified() {
            return false;
        }
        let same_record = a.sent == b.sent && a.number == b.number;
        let named = a.flags.has(Flags::REQUEST_ID) && b.flags.has(Flags::REQUEST_ID);
        same_record || (named && self.table.origin(a).layer != self.table.origin(b).layer)
    }

    /// Where every attempt has a number of its own and the clock disagrees, the numbers are right.
    fn follow_numbers(&mut self) {
        let rows = &self.table.rows;
        let number = |index: &u32| rows[*index as usize].number;
        if self.rows.iter().any(|index| number(index) == 0) || self.rows.is_sorted_by_key(number) {
            return;
        }
        let mut numbers: SmallVec<[u16; 8]> = self.rows.iter().map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        // A number that returns is another loop's counter, not a clock's mistake.
        if numbers.len() == self.rows.len() {
            self.disordered = true;
            self.rows.sort_unstable_by_key(number);
        }
    }

    fn ending(&self, horizon: &Horizon) -> Outcome {
        if self.attempts().any(|row| !row.failed()) {
            return Outcome::Ok;
        }
        let last = self.last();
        let spent = last.max_attempts > 0 && last.number >= last.max_attempts;
        if horizon.complete || spent || last.terminal() || last.flags.has(Flags::DECIDED_FAIL) {
            return Outcome::Failed;
        }
        let detail = self.table.detail(last);
        let patience = plausible_wait_us(detail.and_then(|d| d.hint_us), detail.and_then(|d| d.planned_us));
        if horizon.data_end.us_since(last.ended()) < patience { Outcome::Open } else { Outcome::Failed }
    }

    /// The table its attempts are in.
    #[must_use]
    pub fn table(&self) -> &'a AttemptTable {
        self.table
    }

    /// Its only row, where that is plain: see [`Attempt::is_plain`].
    pub(crate) fn plain_row(&self) -> Option<u32> {
        let [row] = self.rows[..] else { return None };
        (self.duplicates == 0 && self.table.rows[row as usize].is_plain()).then_some(row)
    }

    /// How many sends it took.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a call has at least one attempt")]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The call with its attempts in the order in which they were sent, whatever their numbers say. What is read
    /// from the front of that does not change when further attempts come.
    pub(crate) fn as_sent(&self) -> Cow<'_, Call<'a>> {
        if !self.disordered {
            return Cow::Borrowed(self);
        }
        let mut call = Call { disordered: false, ..self.clone() };
        call.order();
        Cow::Owned(call)
    }

    /// Row numbers of its attempts in the table.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Its attempts, first to last.
    pub fn attempts(&self) -> impl DoubleEndedIterator<Item = &'a Attempt> + ExactSizeIterator + '_ {
        self.rows.iter().map(|&index| &self.table.rows[index as usize])
    }

    /// The attempt at `position`, from 0.
    #[must_use]
    pub fn at(&self, position: usize) -> &'a Attempt {
        &self.table.rows[self.rows[position] as usize]
    }

    /// Its first attempt.
    #[must_use]
    pub fn first(&self) -> &'a Attempt {
        self.at(0)
    }

    /// Its last attempt.
    #[must_use]
    pub fn last(&self) -> &'a Attempt {
        self.at(self.rows.len() - 1)
    }

    /// What only failures and retries carry, of the attempt at `position`.
    #[must_use]
    pub fn detail(&self, position: usize) -> Option<&'a Detail> {
        self.table.detail(self.at(position))
    }

    /// Tokens and money of the attempt at `position`.
    #[must_use]
    pub fn usage(&self, position: usize) -> Usage {
        self.table.usage(self.rows[position] as usize)
    }

    /// Provider, model, layer, client and scope of the attempt at `position`.
    #[must_use]
    pub fn origin(&self, position: usize) -> &'a Origin {
        self.table.origin(self.at(position))
    }

    /// Whether a gateway or the instrumentation counts more sends than the log shows for one of its attempts.
    #[must_use]
    pub fn was_resent_beneath(&self) -> bool {
        let counts = |detail: &Detail| detail.gateway_retries > 0 || detail.resends > 0;
        (0..self.len()).any(|position| self.detail(position).is_some_and(counts))
    }

    /// The server's wait after the attempt at `position`, in µs.
    #[must_use]
    pub fn hint_us(&self, position: usize) -> Option<i64> {
        self.detail(position)?.hint_us
    }

    /// The same, where the server named it for this request: no estimate, and no reset of a whole limit.
    #[must_use]
    pub fn promised_us(&self, position: usize) -> Option<i64> {
        self.detail(position).filter(|detail| detail.hint_source.is_promise())?.hint_us
    }

    /// The id of the call as logged.
    #[must_use]
    pub fn id(&self) -> Option<&'a str> {
        (0..self.len()).find_map(|position| self.table.text(self.detail(position)?.call_id))
    }

    /// Whether it is one attempt that succeeded and hides no other: no call rule speaks of that.
    #[must_use]
    pub fn succeeded_at_once(&self) -> bool {
        self.len() == 1 && !self.first().failed() && !self.was_resent_beneath()
    }

    /// The id of its run as logged.
    #[must_use]
    pub fn run_id(&self) -> Option<&'a str> {
        self.table.names.get(self.first().run)
    }

    /// The wait before the attempt at `position`; `None` for the first, and where clocks make none of it.
    #[must_use]
    pub fn wait_before(&self, position: usize) -> Option<Wait> {
        if position == 0 || self.disordered {
            return None;
        }
        let (before, this) = (self.at(position - 1), self.at(position));
        let us = this.sent.us_since(before.ended());
        let end_to_start = before.duration.as_us().is_some();
        (us >= -CLOCK_SLACK_US).then_some(Wait { us: us.max(0), end_to_start })
    }

    /// Time spent between its attempts, in µs.
    #[must_use]
    pub fn waited_us(&self) -> i64 {
        (1..self.len()).filter_map(|position| self.wait_before(position)).map(|wait| wait.us).sum()
    }

    /// Positions of attempts that failed and were followed by another send.
    pub fn retried(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len().saturating_sub(1)).filter(|&position| self.at(position).failed())
    }

    /// Whether the request body is known to differ between the attempts at two positions.
    #[must_use]
    pub fn body_changed(&self, a: usize, b: usize) -> bool {
        let hash = |position| self.detail(position).map_or(0, |detail: &Detail| detail.request_hash);
        let (left, right) = (hash(a), hash(b));
        let (before, after) = (self.origin(a).model, self.origin(b).model);
        let other_model = before.is_some() && after.is_some() && before != after;
        (left != 0 && right != 0 && left != right) || other_model
    }

    /// The last moment it is known to have been alive.
    #[must_use]
    pub fn ended(&self) -> Time {
        self.attempts().map(Attempt::ended).max().unwrap_or(Time(0))
    }
}
