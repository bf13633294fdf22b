//! One logical request, settled: what call rules see.

use super::reuse::Part;
use super::series::Series;
use super::{Endurance, Grouping, Horizon, asked_wait_us, clock_slack_us, order_of, plausible_wait_us};
use crate::model::units::waited;
use crate::model::{Attempt, AttemptTable, Detail, Flags, Origin, Outcome, Time, Usage};
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
    /// Rows that tell of an attempt of another row, in a log of another kind, each with that row.
    pub views: Vec<(u32, u32)>,
    /// The same run asked another model within seconds of its last failure, in a log that names no calls.
    pub fell_back: bool,
    /// Every attempt was sent on a whole second: the clock of the log may hide up to a second.
    pub whole_seconds: bool,
    /// Another call with the same id began before it was over.
    pub overlapped: bool,
}

/// The time between two attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// How long, in µs.
    pub us: i64,
    /// Measured from the end of the failed attempt; otherwise from its start, which overstates the wait.
    pub end_to_start: bool,
}

impl Default for Wait {
    fn default() -> Wait {
        Wait::NONE
    }
}

impl Wait {
    /// No wait, to add others to.
    pub(crate) const NONE: Wait = Wait { us: 0, end_to_start: true };

    /// How long, in seconds.
    #[must_use]
    pub fn s(self) -> f64 {
        self.us as f64 / 1e6
    }

    /// Both together; overstated where one of them is.
    #[must_use]
    pub fn and(self, other: Wait) -> Wait {
        Wait { us: self.us + other.us, end_to_start: self.end_to_start && other.end_to_start }
    }

    /// In words: "at most 4 s" where it may include the time an attempt took.
    #[must_use]
    pub(crate) fn words(self) -> String {
        waited(self.s(), self.end_to_start)
    }
}

impl<'a> Call<'a> {
    /// Settles the attempts `rows` of one call.
    pub(crate) fn settle(
        table: &'a AttemptTable,
        rows: SmallVec<[u32; 8]>,
        grouping: Grouping,
        horizon: &Horizon,
    ) -> Call<'a> {
        let mut call = Call {
            table,
            rows,
            grouping,
            outcome: Outcome::Ok,
            disordered: false,
            duplicates: 0,
            views: Vec::new(),
            fell_back: false,
            whole_seconds: false,
            overlapped: false,
        };
        if call.rows.len() > 1 {
            call.order();
            call.drop_duplicates();
            call.follow_numbers();
        }
        let whole_seconds =
            call.attempts().all(|attempt| attempt.sent.0 % 1_000_000 == 0 || table.shows_whole_seconds(attempt.file));
        call.whole_seconds = whole_seconds;
        call.outcome = call.ending(horizon);
        call
    }

    /// The same for one of the calls that share an id.
    pub(super) fn settle_part(table: &'a AttemptTable, part: Part, horizon: &Horizon) -> Call<'a> {
        let grouping = if part.guessed { Grouping::Inferred } else { Grouping::Explicit };
        Call { overlapped: part.overlapped, ..Call::settle(table, part.rows, grouping, horizon) }
    }

    /// The same for one that was found in a stream.
    pub(crate) fn settle_series(table: &'a AttemptTable, series: Series, horizon: &Horizon) -> Call<'a> {
        let fell_back = series.fell_back;
        Call { fell_back, ..Call::settle(table, series.rows, series.grouping, horizon) }
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
            let known =
                kept.iter().rev().take(64).copied().find(|&other| self.same_attempt(&rows[other as usize], row));
            match known.or_else(|| self.seen_by_another(index)) {
                Some(of) if self.table.same_kind(of, index) => {}
                Some(of) => self.views.push((index, of)),
                None => kept.push(index),
            }
        }
        self.duplicates = (before - kept.len() - self.views.len()) as u32;
        self.rows = kept;
    }

    /// The row of this call that tells of the attempt of `row` in another log, unless `row` is one of several that were
    /// made within it.
    fn seen_by_another(&self, row: u32) -> Option<u32> {
        let table = self.table;
        let of = table.view_of(row).filter(|of| self.rows.contains(of) && table.agree(*of, row))?;
        let beside = |other: &u32| {
            *other != row
                && table.same_kind(*other, row)
                && table.view_of(*other).is_none_or(|around| around == of)
                && table.spans(of, *other)
                && !table.is_copy(*other, row)
        };
        let [outer, inner] = [of, row].map(|row| &table.rows[row as usize]);
        (!self.rows.iter().any(beside) && !self.is_passed_on(outer, inner)).then_some(of)
    }

    fn same_attempt(&self, a: &Attempt, b: &Attempt) -> bool {
        if a.identity != b.identity || !a.identified() {
            return false;
        }
        let same_record = a.sent == b.sent && a.number == b.number;
        let named = a.flags.has(Flags::REQUEST_ID) && b.flags.has(Flags::REQUEST_ID);
        same_record || (named && self.table.origin(a).layer != self.table.origin(b).layer && !self.is_passed_on(a, b))
    }

    /// Whether one of two layers made an attempt for the other, and passed the provider's id on with the answer: the
    /// provider or the model is another one, or the one sent more than this while the other waited.
    fn is_passed_on(&self, a: &Attempt, b: &Attempt) -> bool {
        let spans = |outer: &Attempt, inner: &Attempt| inner.sent >= outer.sent && inner.ended() <= outer.ended();
        let (outer, inner) = if spans(a, b) { (a, b) } else { (b, a) };
        let within = self.table.origin(inner);
        let more = || {
            let of_layer = self.attempts().filter(|row| self.table.origin(row).layer == within.layer);
            of_layer.filter(|row| row.identity != inner.identity && spans(outer, row)).count() > 0
        };
        spans(outer, inner) && outer.duration.as_us().is_some() && (!self.table.same_service(outer, inner) || more())
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
        let detail = self.table.detail(last);
        let (hint_us, planned_us) = (detail.and_then(|d| d.hint_us), detail.and_then(|d| d.planned_us));
        // Whatever the failure is, its client has said that it sends again.
        let is_announced = last.flags.has(Flags::DECIDED_RETRY) || planned_us.is_some();
        let is_over = spent || (last.terminal() && !is_announced);
        if horizon.complete || is_over || last.flags.has(Flags::DECIDED_FAIL) {
            return Outcome::Failed;
        }
        let Endurance { patience_us, cap } = horizon.endurance;
        let patience = match patience_us {
            Some(us) => us.max(asked_wait_us(hint_us, planned_us)).min(plausible_wait_us(hint_us, planned_us)),
            None => plausible_wait_us(hint_us, planned_us),
        };
        let silent = horizon.data_end.us_since(last.ended()) >= patience;
        if silent || cap.is_some_and(|cap| self.rows.len() >= cap as usize) { Outcome::Failed } else { Outcome::Open }
    }

    /// The table its attempts are in.
    #[must_use]
    pub fn table(&self) -> &'a AttemptTable {
        self.table
    }

    /// Its only row, where that is plain and nothing else is to be said of it: see [`Attempt::is_plain`].
    pub(crate) fn plain_row(&self) -> Option<u32> {
        let [row] = self.rows[..] else { return None };
        (self.duplicates == 0
            && self.views.is_empty()
            && !self.overlapped
            && self.table.rows[row as usize].is_single_success())
        .then_some(row)
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

    /// The same, and the rows that tell of them in other logs.
    pub(crate) fn all_rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter().copied().chain(self.views.iter().map(|(view, _)| *view))
    }

    /// Rows that tell of the attempt of `row` in other logs.
    pub(crate) fn views_of(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        self.views.iter().filter(move |(_, of)| *of == row).map(|(view, _)| *view)
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

    /// The longest time between two chunks of the attempt at `position`, where it is long; µs.
    #[must_use]
    pub fn chunk_gap_us(&self, position: usize) -> Option<i64> {
        self.detail(position)?.chunk_gap.as_us()
    }

    /// The id of the call as logged.
    #[must_use]
    pub fn id(&self) -> Option<&'a str> {
        self.attempts().find_map(|attempt| self.table.call_id(attempt))
    }

    /// Whether it is one attempt that succeeded and hides no other: no call rule speaks of that.
    #[must_use]
    pub fn succeeded_at_once(&self) -> bool {
        self.len() == 1 && !self.first().failed() && !self.was_resent_beneath() && self.chunk_gap_us(0).is_none()
    }

    /// The id of its run as logged.
    #[must_use]
    pub fn run_id(&self) -> Option<&'a str> {
        self.table.names.get(self.first().run)
    }

    /// Whether its log has no times: its attempts stand in order, and nothing else is known of when they were sent.
    #[must_use]
    pub fn is_untimed(&self) -> bool {
        self.first().is_untimed()
    }

    /// The wait before the attempt at `position`; `None` for the first, after a success, which nobody waits to
    /// retry, and where clocks make none of it.
    #[must_use]
    pub fn wait_before(&self, position: usize) -> Option<Wait> {
        if position == 0 || self.disordered {
            return None;
        }
        let (before, this) = (self.at(position - 1), self.at(position));
        if !before.failed() {
            return None;
        }
        if this.is_untimed() {
            // Without a clock, only what the client states is known.
            return self.detail(position - 1)?.planned_us.map(|us| Wait { us, end_to_start: true });
        }
        let us = this.sent.us_since(before.ended());
        let end_to_start = before.duration.as_us().is_some();
        (us >= -clock_slack_us(before, this)).then_some(Wait { us: us.max(0), end_to_start })
    }

    /// Time spent between its attempts.
    #[must_use]
    pub fn waited(&self) -> Wait {
        (1..self.len()).filter_map(|position| self.wait_before(position)).fold(Wait::NONE, Wait::and)
    }

    /// Positions of attempts that failed and were followed by another send.
    pub fn retried(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len().saturating_sub(1)).filter(|&position| self.at(position).failed())
    }

    /// Fingerprint of the request body of the attempt at `position`, 0 where it is unknown.
    #[must_use]
    pub fn request_hash(&self, position: usize) -> u64 {
        self.table.request_hash(self.at(position))
    }

    /// Whether the request is known to differ between the attempts at two positions: by the hash of its body, by
    /// the cap on output tokens it asks for, or by its model.
    #[must_use]
    pub fn body_changed(&self, a: usize, b: usize) -> bool {
        let cap = |position| self.detail(position).map_or(0, |detail: &Detail| detail.max_tokens);
        let (left_hash, right_hash) = (self.request_hash(a), self.request_hash(b));
        let (left_cap, right_cap) = (cap(a), cap(b));
        let (before, after) = (self.origin(a).model, self.origin(b).model);
        let other_body = left_hash != 0 && right_hash != 0 && left_hash != right_hash;
        let other_cap = left_cap != 0 && right_cap != 0 && left_cap != right_cap;
        other_body || other_cap || (before.is_some() && after.is_some() && before != after)
    }

    /// The last moment it is known to have been alive.
    #[must_use]
    pub fn ended(&self) -> Time {
        self.attempts().map(Attempt::ended).max().unwrap_or(Time(0))
    }
}
