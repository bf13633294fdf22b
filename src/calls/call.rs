//! A logical request whose attempts are known and whose outcome is determined ("settled").

use super::reuse::SplitCall;
use super::series::AttemptSeries;
use super::wait::Wait;
use super::{GiveUpLimits, Grouping, Horizon, clock_slack_us, plausible_wait_us, requested_wait_us, sort_key};
use crate::model::{Attempt, AttemptTable, Detail, Flags, Origin, Outcome, Time, Usage};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Number of preceding attempts of a call among which a duplicate is searched, so that the time taken by a call of many
/// attempts is linear. Duplicates have nearly the same send time.
const DUPLICATE_REACH: usize = 64;

/// All attempts of one logical request, in order and without duplicates.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    table: &'a AttemptTable,
    rows: SmallVec<[u32; 8]>,
    /// How the attempts were grouped.
    pub grouping: Grouping,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether send times contradict the attempt numbers, so that waits are unknown.
    pub disordered: bool,
    /// Number of repeated deliveries of attempts.
    pub duplicates: u32,
    /// Rows of another kind of log that describe an attempt of this call, each with the row of that attempt.
    pub views: Vec<(u32, u32)>,
    /// Whether the same run sent a request to another model within seconds of the last failure, in a log without call
    /// ids.
    pub fell_back: bool,
    /// Whether every attempt was sent on a whole second, so that times may be off by up to a second.
    pub whole_seconds: bool,
    /// Whether another call with the same id began before this one ended.
    pub overlapped: bool,
    /// Whether the log does not tell which of several concurrent calls some of its attempts belong to.
    pub ambiguous: bool,
}

impl<'a> Call<'a> {
    /// Creates a call from its rows: sorts them, removes duplicates and determines the outcome.
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
            ambiguous: false,
        };
        if call.rows.len() > 1 {
            call.sort_by_time();
            call.drop_duplicates();
            call.sort_by_number();
        }
        if (0..call.len()).any(|position| call.detail(position).is_some_and(|detail| detail.call_guessed)) {
            (call.ambiguous, call.grouping) = (true, Grouping::Inferred);
        }
        let whole_seconds =
            call.attempts().all(|attempt| attempt.sent.0 % 1_000_000 == 0 || table.shows_whole_seconds(attempt.file));
        call.whole_seconds = whole_seconds;
        call.outcome = call.determine_outcome(horizon);
        call
    }

    /// Like [`Call::settle`], for one of several calls that share an id.
    pub(super) fn settle_split(table: &'a AttemptTable, part: SplitCall, horizon: &Horizon) -> Call<'a> {
        let grouping = if part.guessed { Grouping::Inferred } else { Grouping::Explicit };
        Call { overlapped: part.overlapped, ..Call::settle(table, part.rows, grouping, horizon) }
    }

    /// Like [`Call::settle`], for a call inferred from an attempt stream.
    pub(crate) fn settle_inferred(table: &'a AttemptTable, series: AttemptSeries, horizon: &Horizon) -> Call<'a> {
        let fell_back = series.fell_back;
        Call { fell_back, ..Call::settle(table, series.rows, series.grouping, horizon) }
    }

    fn sort_by_time(&mut self) {
        let table = self.table;
        self.rows.sort_unstable_by_key(|index| sort_key(table, *index));
    }

    /// Removes repeated deliveries of a record, and further records of an attempt that another layer logged too.
    fn drop_duplicates(&mut self) {
        let rows = &self.table.rows;
        let before = self.rows.len();
        let mut kept: SmallVec<[u32; 8]> = SmallVec::new();
        for &index in &self.rows {
            let row = &rows[index as usize];
            let known = kept
                .iter()
                .rev()
                .take(DUPLICATE_REACH)
                .copied()
                .find(|&other| self.same_attempt(&rows[other as usize], row));
            match known.or_else(|| self.attempt_viewed_by(index)) {
                Some(of) if self.table.same_kind(of, index) => {}
                Some(of) => self.views.push((index, of)),
                None => kept.push(index),
            }
        }
        self.duplicates = (before - kept.len() - self.views.len()) as u32;
        self.rows = kept;
    }

    /// Returns the row of this call of which `row` is a view in another log, unless `row` is one of several attempts
    /// made on behalf of that one.
    fn attempt_viewed_by(&self, row: u32) -> Option<u32> {
        let table = self.table;
        let of = table.view_of(row).filter(|of| self.rows.contains(of) && table.outcomes_agree(*of, row))?;
        let is_sibling = |other: &u32| {
            *other != row
                && table.same_kind(*other, row)
                && table.view_of(*other).is_none_or(|around| around == of)
                && table.encloses(of, *other)
                && !table.are_equal_records(*other, row)
        };
        let [outer, inner] = [of, row].map(|row| &table.rows[row as usize]);
        (!self.rows.iter().any(is_sibling) && !self.is_forwarded(outer, inner)).then_some(of)
    }

    fn same_attempt(&self, a: &Attempt, b: &Attempt) -> bool {
        if a.identity != b.identity {
            return false;
        }
        let same_record = self.table.is_same_record(a, b);
        let named = a.flags.has(Flags::REQUEST_ID) && b.flags.has(Flags::REQUEST_ID);
        same_record || (named && self.table.origin(a).layer != self.table.origin(b).layer && !self.is_forwarded(a, b))
    }

    /// Returns whether two rows with one request id are an attempt of an outer layer and the attempt an inner layer
    /// made on its behalf, whose request id it returned. That is so if provider or model differ, or if the inner layer
    /// made further attempts during the outer one.
    fn is_forwarded(&self, a: &Attempt, b: &Attempt) -> bool {
        let encloses = |outer: &Attempt, inner: &Attempt| inner.sent >= outer.sent && inner.ended() <= outer.ended();
        let (outer, inner) = if encloses(a, b) { (a, b) } else { (b, a) };
        let inner_origin = self.table.origin(inner);
        let made_others = || {
            let of_layer = self.attempts().filter(|row| self.table.origin(row).layer == inner_origin.layer);
            of_layer.filter(|row| row.identity != inner.identity && encloses(outer, row)).count() > 0
        };
        encloses(outer, inner)
            && outer.duration.as_us().is_some()
            && (!self.table.same_service(outer, inner) || made_others())
    }

    /// Sorts by attempt number if all numbers are distinct and send times disagree: the numbers are more reliable.
    fn sort_by_number(&mut self) {
        let rows = &self.table.rows;
        let number = |index: &u32| rows[*index as usize].number;
        if self.rows.iter().any(|index| number(index) == 0) || self.rows.is_sorted_by_key(number) {
            return;
        }
        let mut numbers: SmallVec<[u16; 8]> = self.rows.iter().map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        // A repeated number shows the counter of another loop, not a wrong clock.
        if numbers.len() == self.rows.len() {
            self.disordered = true;
            self.rows.sort_unstable_by_key(number);
        }
    }

    fn determine_outcome(&self, horizon: &Horizon) -> Outcome {
        if self.attempts().any(|row| !row.failed()) {
            return Outcome::Ok;
        }
        let last = self.last();
        let is_last_allowed = last.max_attempts > 0 && last.number >= last.max_attempts;
        let detail = self.table.detail(last);
        let (hint_us, planned_us) = (detail.and_then(|d| d.hint_us), detail.and_then(|d| d.planned_us));
        // The client has stated that it will send again, even if the failure is terminal.
        let is_announced = last.flags.has(Flags::DECIDED_RETRY) || planned_us.is_some();
        let is_over = is_last_allowed || (last.terminal() && !is_announced);
        if horizon.complete || is_over || last.flags.has(Flags::DECIDED_FAIL) {
            return Outcome::Failed;
        }
        let GiveUpLimits { max_wait_us, max_attempts } = horizon.give_up_limits;
        let longest_wait_us = match max_wait_us {
            Some(us) => us.max(requested_wait_us(hint_us, planned_us)).min(plausible_wait_us(hint_us, planned_us)),
            None => plausible_wait_us(hint_us, planned_us),
        };
        let is_silent_too_long = horizon.data_end.us_since(last.ended()) >= longest_wait_us;
        if is_silent_too_long || max_attempts.is_some_and(|max_attempts| self.rows.len() >= max_attempts as usize) {
            Outcome::Failed
        } else {
            Outcome::Open
        }
    }

    /// Returns the table that holds the attempts.
    #[must_use]
    pub fn table(&self) -> &'a AttemptTable {
        self.table
    }

    /// Returns the only row of the call, if [`Attempt::is_single_success`] holds for it and it describes the call
    /// completely.
    pub(crate) fn single_success_row(&self) -> Option<u32> {
        let [row] = self.rows[..] else { return None };
        (self.duplicates == 0
            && self.views.is_empty()
            && !self.overlapped
            && self.table.rows[row as usize].is_single_success())
        .then_some(row)
    }

    /// Returns the number of sends.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a call has at least one attempt")]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the call with its attempts in order of send time, regardless of their numbers. In that order, an attempt
    /// that arrives later never changes the position of earlier ones.
    pub(crate) fn in_send_order(&self) -> Cow<'_, Call<'a>> {
        if !self.disordered {
            return Cow::Borrowed(self);
        }
        let mut call = Call { disordered: false, ..self.clone() };
        call.sort_by_time();
        Cow::Owned(call)
    }

    /// Returns the row numbers of the attempts in the table.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Iterates over the rows of the attempts and their views in other logs.
    pub(crate) fn all_rows(&self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter().copied().chain(self.views.iter().map(|(view, _)| *view))
    }

    /// Iterates over the views of the attempt at `row` in other logs.
    pub(crate) fn views_of(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        self.views.iter().filter(move |(_, of)| *of == row).map(|(view, _)| *view)
    }

    /// Iterates over the attempts, first to last.
    pub fn attempts(&self) -> impl DoubleEndedIterator<Item = &'a Attempt> + ExactSizeIterator + '_ {
        self.rows.iter().map(|&index| &self.table.rows[index as usize])
    }

    /// Returns the attempt at `position`, from 0.
    #[must_use]
    pub fn at(&self, position: usize) -> &'a Attempt {
        &self.table.rows[self.rows[position] as usize]
    }

    /// Returns the first attempt.
    #[must_use]
    pub fn first(&self) -> &'a Attempt {
        self.at(0)
    }

    /// Returns the last attempt.
    #[must_use]
    pub fn last(&self) -> &'a Attempt {
        self.at(self.rows.len() - 1)
    }

    /// Returns the [`Detail`] of the attempt at `position`, if it has one.
    #[must_use]
    pub fn detail(&self, position: usize) -> Option<&'a Detail> {
        self.table.detail(self.at(position))
    }

    /// Returns tokens and cost of the attempt at `position`.
    #[must_use]
    pub fn usage(&self, position: usize) -> Usage {
        self.table.usage(self.rows[position] as usize)
    }

    /// Returns the origin of the attempt at `position`: provider, model, layer, client and scope.
    #[must_use]
    pub fn origin(&self, position: usize) -> &'a Origin {
        self.table.origin(self.at(position))
    }

    /// Returns whether the gateway or the client's instrumentation logged that a layer beneath the client sent one of
    /// the attempts again.
    #[must_use]
    pub fn was_resent_beneath(&self) -> bool {
        let counts = |detail: &Detail| detail.gateway_retries > 0 || detail.resends > 0;
        (0..self.len()).any(|position| self.detail(position).is_some_and(counts))
    }

    /// Returns the wait the server asked for after the attempt at `position`, in µs.
    #[must_use]
    pub fn hint_us(&self, position: usize) -> Option<i64> {
        self.detail(position)?.hint_us
    }

    /// Like [`Call::hint_us`], but `None` if the hint is only an estimate or the reset time of a limit.
    #[must_use]
    pub fn explicit_hint_us(&self, position: usize) -> Option<i64> {
        self.detail(position).filter(|detail| detail.hint_source.is_explicit())?.hint_us
    }

    /// Returns the longest gap between two chunks of the attempt at `position`, in µs, if it is long enough to be kept.
    #[must_use]
    pub fn chunk_gap_us(&self, position: usize) -> Option<i64> {
        self.detail(position)?.chunk_gap.as_us()
    }

    /// Returns the id of the call as logged.
    #[must_use]
    pub fn id(&self) -> Option<&'a str> {
        self.attempts().find_map(|attempt| self.table.call_id(attempt))
    }

    /// Returns whether the call is one success without hidden resends or long gaps: no rule on calls applies to it.
    #[must_use]
    pub fn succeeded_at_once(&self) -> bool {
        self.len() == 1 && !self.first().failed() && !self.was_resent_beneath() && self.chunk_gap_us(0).is_none()
    }

    /// Returns the id of the run as logged.
    #[must_use]
    pub fn run_id(&self) -> Option<&'a str> {
        self.table.names.get(self.first().run)
    }

    /// Returns whether the log has no times, so that only the order of the attempts is known.
    #[must_use]
    pub fn is_untimed(&self) -> bool {
        self.first().is_untimed()
    }

    /// Returns the wait before the attempt at `position`. Returns `None` for the first attempt, for one that follows a
    /// success and therefore is no retry, and if send times are inconsistent.
    #[must_use]
    pub fn wait_before(&self, position: usize) -> Option<Wait> {
        if position == 0 || self.disordered {
            return None;
        }
        let (before, after) = (self.at(position - 1), self.at(position));
        if !before.failed() {
            return None;
        }
        if after.is_untimed() {
            // Without a clock, only a wait stated by the client is known.
            return self.detail(position - 1)?.planned_us.map(|us| Wait { us, is_exact: true });
        }
        let us = after.sent.us_since(before.ended());
        let is_exact = before.duration.as_us().is_some();
        (us >= -clock_slack_us(before, after)).then_some(Wait { us: us.max(0), is_exact })
    }

    /// Returns the total wait between attempts.
    #[must_use]
    pub fn waited(&self) -> Wait {
        (1..self.len()).filter_map(|position| self.wait_before(position)).fold(Wait::NONE, Wait::and)
    }

    /// Iterates over the positions of failed attempts that were followed by another send.
    pub fn retried(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len().saturating_sub(1)).filter(|&position| self.at(position).failed())
    }

    /// Returns the fingerprint of the request body of the attempt at `position`, 0 if unknown.
    #[must_use]
    pub fn request_hash(&self, position: usize) -> u64 {
        self.table.request_hash(self.at(position))
    }

    /// Returns whether the requests of two attempts are known to differ in body hash, limit on output tokens, or model.
    #[must_use]
    pub fn body_changed(&self, a: usize, b: usize) -> bool {
        let max_attempts = |position| self.detail(position).map_or(0, |detail: &Detail| detail.max_tokens);
        let (left_hash, right_hash) = (self.request_hash(a), self.request_hash(b));
        let (left_cap, right_cap) = (max_attempts(a), max_attempts(b));
        let (before, after) = (self.origin(a).model, self.origin(b).model);
        let other_body = left_hash != 0 && right_hash != 0 && left_hash != right_hash;
        let other_cap = left_cap != 0 && right_cap != 0 && left_cap != right_cap;
        other_body || other_cap || (before.is_some() && after.is_some() && before != after)
    }

    /// Returns the latest end of any attempt.
    #[must_use]
    pub fn ended(&self) -> Time {
        self.attempts().map(Attempt::ended).max().unwrap_or(Time(0))
    }
}
