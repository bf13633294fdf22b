//! Judgement while a log is being read: calls to which no later attempt can belong are judged and their rows dropped,
//! so that memory depends on the number of open calls and distinct problems, not on the length of the log.
//!
//! The result equals that of [`super::judge`] unless records arrive after everything of their time was assumed to have
//! been read; see [`Rolling::finish`].

#[cfg(test)]
mod tests;

use super::settled_calls::{OpenRows, RowUse, SettledCalls};
use super::{CallRules, Judgement, Options, Settled};
use crate::calls::{
    AttemptSeries, AttemptStream, Call, GiveUpLimits, GiveUpObservations, Groups, Horizon, Links, Remaining,
    SingleSuccesses, Unsettled, Watermark, group_from, join, sort_key,
};
use crate::measure::Terms;
use crate::model::{AttemptTable, Time, Views};
use crate::rules;
use foldhash::fast::RandomState;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// How much later than its send a record may appear in the log, in µs: loggers write when the response is complete, and
/// the default timeout of the official SDKs is ten minutes.
const LATENESS_US: i64 = 10 * 60 * 1_000_000;
/// Number of rows above which memory is considered short and failed calls are dropped sooner: some 200 MB with the data
/// that belongs to them.
const MAX_ROWS: usize = 1 << 20;
/// Number of new rows after which calls are settled: smaller batches cost more time, larger ones more memory.
const DEFAULT_STEP: usize = 1 << 16;

/// A judgement in progress.
#[derive(Debug)]
pub struct Rolling<'o> {
    options: &'o Options,
    rules: CallRules,
    terms: Terms,
    kept: Settled,
    streams: HashMap<[u64; 2], AttemptStream, RandomState>,
    /// Calls that are kept until the calls of other logs with which they share attempts are read.
    shared: Vec<Unsettled>,
    /// Number of rows at the front of the table that are kept only as examples of findings or for attempt streams.
    kept_rows: usize,
    /// Number of rows that stayed when calls were last settled.
    compacted_rows: usize,
    /// Number of rows that [`Rolling::advance`] has seen.
    rows_seen: usize,
    /// Attempts sent before this time are assumed to have been read.
    settled_until: Time,
    /// Attempts of open calls with an id sent before this time are in the summaries.
    followed_until: Time,
    data_end: Time,
    /// Rows of open calls that are in the summaries although other logs may describe their attempts: their calls had no
    /// attempt for so long that a retry is unlikely.
    followed_rows: HashSet<u32, RandomState>,
    /// What the dropped calls show about when clients give up.
    give_up: GiveUpObservations,
    late_rows: u64,
    step: usize,
}

impl<'o> Rolling<'o> {
    /// Creates a judgement of no calls.
    #[must_use]
    pub fn new(options: &'o Options) -> Rolling<'o> {
        Rolling {
            options,
            rules: CallRules::of(options),
            terms: rules::terms(&options.settings),
            kept: Settled::default(),
            streams: HashMap::default(),
            shared: Vec::new(),
            kept_rows: 0,
            compacted_rows: 0,
            rows_seen: 0,
            settled_until: Time(i64::MIN),
            followed_until: Time(i64::MIN),
            data_end: Time(0),
            followed_rows: HashSet::default(),
            give_up: GiveUpObservations::default(),
            late_rows: 0,
            step: DEFAULT_STEP,
        }
    }

    /// Sets the number of new rows after which calls are settled; the default is 65,536.
    #[must_use]
    pub fn settling_every(self, rows: usize) -> Rolling<'o> {
        Rolling { step: rows, ..self }
    }

    /// Registers the rows added to `table` and drops the calls to which no later attempt can belong, given that all
    /// further records were logged at `watermark` or later.
    pub fn advance(&mut self, table: &mut AttemptTable, watermark: Time) {
        let new = table.rows[self.rows_seen..].iter();
        self.data_end = new.clone().map(|row| row.ended()).fold(self.data_end, Time::max);
        self.late_rows += new.filter(|row| row.sent < self.settled_until).count() as u64;
        self.rows_seen = table.rows.len();
        let views_us = if table.may_have_views() { Views::MAX_SEND_DISTANCE_US + Views::LOOKAHEAD_US } else { 0 };
        let until = watermark.plus_us(-LATENESS_US - views_us);
        if table.rows.len() - self.compacted_rows >= self.step && until > self.settled_until {
            self.settle(table, until, table.rows.len() > MAX_ROWS);
        }
    }

    /// Returns the number of attempts in `table` whose calls are still open.
    #[must_use]
    pub fn open(&self, table: &AttemptTable) -> usize {
        table.rows.len() - self.kept_rows
    }

    /// Judges the remaining calls, then the fleet. Also returns the number of attempts that arrived too late, after
    /// everything of their time was assumed to have been read: their calls may be split.
    #[must_use]
    pub fn finish(mut self, table: &mut AttemptTable) -> (Settled, u64) {
        let end = Time(i64::MAX);
        self.advance(table, end);
        self.settle(table, end, true);
        let mut whole = self.kept.attach(table);
        whole.judge_fleet(self.options);
        (whole.detach(), self.late_rows)
    }

    fn settle(&mut self, table: &mut AttemptTable, until: Time, memory_is_short: bool) {
        self.settled_until = until;
        table.find_views(until.plus_us(Views::MAX_SEND_DISTANCE_US));
        let (links, follows_open) = (Links::of(table), self.follows_open_calls(table));
        let horizon = Horizon {
            data_end: self.data_end,
            complete: self.options.complete,
            give_up_limits: GiveUpLimits::default(),
        };
        let mut watermark = Watermark { until, memory_is_short, horizon };
        let mut uses = vec![RowUse::Open; table.rows.len()];
        uses[..self.kept_rows].fill(RowUse::Dropped);
        let mut judgement = std::mem::take(&mut self.kept).attach(table);
        let (mut found, mut joined) = (Vec::new(), Vec::new());
        let singles = SingleSuccesses::with_call_id(table, self.kept_rows);
        let groups = group_from(table, self.kept_rows, &singles);
        let open_rows = OpenRows { singles, groups, follows_open };
        // Calls dropped earlier had no attempt for a long time. For the calls that remain at the end, the outcome
        // depends on when clients give up, so all calls are observed before any is settled.
        let is_last = until == Time(i64::MAX);
        if is_last {
            let remaining = self.observe(&open_rows.groups, &watermark, &links);
            found = self.find_in_streams(table, &watermark, remaining, &links, &mut uses);
            joined = self.join(table, &watermark, &links);
            watermark.horizon.give_up_limits = self.give_up.limits();
        }
        let remaining = self.settle_calls(&open_rows, &watermark, &links, &mut judgement, &mut uses);
        if !is_last {
            found = self.find_in_streams(table, &watermark, remaining, &links, &mut uses);
            joined = self.join(table, &watermark, &links);
        }
        self.settle_streams(table, &watermark, &mut judgement, found);
        for call in joined {
            let call = call.settle(table, &watermark.horizon);
            judgement.absorb_since(&call, self.since(&call), &self.rules, self.options);
        }
        let until = self.summarized_until(table, &uses);
        judgement.fleet.stats.settle(table, until, &self.terms);
        self.kept = judgement.detach();
        self.compact(table, &mut uses);
        if follows_open {
            self.followed_until = self.settled_until;
        }
    }

    /// Returns the time before which the attempts of a call are in the summaries.
    fn since(&self, call: &Call<'_>) -> Time {
        let followed = call.rows().iter().filter(|row| self.followed_rows.contains(row));
        let last = followed.map(|row| call.table().rows[*row as usize].sent.plus_us(1)).max();
        last.map_or(self.followed_until, |last| last.max(self.followed_until))
    }

    /// Returns whether attempts of open calls with an id are added to the summaries as soon as they are read, so that
    /// events within seconds can be judged. Whether a filter accepts a call, and which of its attempts are in another
    /// log as well, is known only when the call is complete, so this is off with a filter or several logs of the same
    /// attempts.
    fn follows_open_calls(&self, table: &AttemptTable) -> bool {
        self.options.filter.is_empty() && !table.may_have_views()
    }

    /// Returns the time before which everything sent is in the summaries.
    fn summarized_until(&self, table: &AttemptTable, uses: &[RowUse]) -> Time {
        let is_open = |row: &u32| uses[*row as usize] == RowUse::Open && !self.followed_rows.contains(row);
        let open = (0..uses.len() as u32).filter(is_open).map(|row| table.rows[row as usize].sent);
        let open = if self.follows_open_calls(table) { None } else { open.min() };
        let streams = self.streams.values().filter_map(|stream| stream.earliest_send(table));
        let shared = self.shared.iter().flat_map(|call| &call.rows).map(|row| table.rows[*row as usize].sent);
        streams.chain(shared).chain(open).fold(self.settled_until, Time::min)
    }

    /// Observes when the clients of the remaining calls gave up, without judging the calls. Returns the rows of attempt
    /// streams and the calls shared by several logs, which are settled separately.
    fn observe(&mut self, groups: &Groups<'_>, watermark: &Watermark, links: &Links) -> Remaining {
        let mut remaining = Remaining::default();
        for piece in groups.pieces() {
            let observe = |call: &Call<'_>, _: &[u32], _: bool| self.give_up.absorb(call, &watermark.horizon);
            groups.settle_calls(piece, watermark, links, observe, &mut remaining);
        }
        remaining
    }

    /// Returns the calls shared by several logs that are complete in all of them, joined.
    fn join(&mut self, table: &AttemptTable, watermark: &Watermark, links: &Links) -> Vec<Unsettled> {
        if self.shared.is_empty() {
            return Vec::new();
        }
        let joined = join(table, links, links.take_complete(&mut self.shared));
        for call in &joined {
            self.give_up.absorb(&call.settle(table, &watermark.horizon), &watermark.horizon);
        }
        joined
    }

    /// Judges the calls with an id that are complete and, if [`OpenRows::follows_open`], adds the open ones to the
    /// summaries. Returns the rows of attempt streams and the calls shared by several logs, which are settled separately.
    fn settle_calls<'t>(
        &mut self,
        open_rows: &OpenRows<'t>,
        watermark: &Watermark,
        links: &Links,
        whole: &mut Judgement<'t>,
        uses: &mut [RowUse],
    ) -> Remaining {
        let OpenRows { groups, follows_open, .. } = open_rows;
        let table = groups.table();
        let workers = rayon::current_num_threads();
        let share = (table.rows.len() - self.kept_rows).div_ceil(workers);
        let early = Watermark { memory_is_short: true, ..*watermark };
        let settled = (0..workers).into_par_iter().map(|worker| {
            let mut settled = SettledCalls::new(table);
            // First what is in time order: summaries are slower for events much earlier than the last.
            let begin = self.kept_rows + worker * share;
            self.settle_singles(open_rows, begin..begin + share, watermark, &mut settled);
            let SettledCalls { judgement, give_up, dropped, followed, remaining } = &mut settled;
            let mut found = |call: &Call<'t>, rows: &[u32], is_complete: bool| {
                if is_complete {
                    give_up.absorb(call, &watermark.horizon);
                    judgement.absorb_since(call, self.since(call), &self.rules, self.options);
                    dropped.extend_from_slice(rows);
                } else if *follows_open || (self.options.filter.is_empty() && early.reached(table, call.rows())) {
                    judgement.fleet.stats.under_way.enable_if(|| rules::declares_pool(&self.options.settings));
                    judgement.fleet.stats.follow(call, self.since(call), self.rules.terms());
                    if !follows_open {
                        followed.extend(rows.iter().filter(|row| table.rows[**row as usize].sent < watermark.until));
                    }
                }
            };
            for piece in groups.pieces().iter().skip(worker).step_by(workers) {
                groups.settle_calls(piece, watermark, links, &mut found, remaining);
            }
            settled
        });
        let mut all = Remaining::default();
        for SettledCalls { judgement, give_up, dropped, followed, remaining } in settled.collect::<Vec<_>>() {
            whole.merge(judgement);
            self.give_up.merge(give_up);
            dropped.iter().for_each(|row| uses[*row as usize] = RowUse::Dropped);
            self.followed_rows.extend(followed);
            all.without_call_id.extend(remaining.without_call_id);
            all.linked.extend(remaining.linked);
        }
        all
    }

    /// Does the same for the single successes among some rows. They show nothing about when clients give up.
    fn settle_singles(
        &self,
        open_rows: &OpenRows<'_>,
        rows: Range<usize>,
        watermark: &Watermark,
        settled: &mut SettledCalls<'_>,
    ) {
        let table = open_rows.groups.table();
        let rows = rows.start..rows.end.min(table.rows.len());
        let is_sent = |row: &u32| table.rows[*row as usize].sent < watermark.until;
        let sent = open_rows.singles.among(rows).filter(is_sent);
        let (complete, open): (Vec<u32>, Vec<u32>) = sent.partition(|row| watermark.reached(table, &[*row]));
        settled.judgement.absorb_single_success(complete.iter().copied(), self.followed_until, self.options);
        settled.dropped.extend(complete);
        if open_rows.follows_open {
            let stats = &mut settled.judgement.fleet.stats;
            open.into_iter().for_each(|row| stats.follow_single_success(table, row, self.followed_until));
        }
    }

    /// Adds the rows without a call id to their attempt streams and returns the complete calls of each stream. Calls
    /// shared by several logs are kept until all of them are read.
    fn find_in_streams(
        &mut self,
        table: &AttemptTable,
        watermark: &Watermark,
        remaining: Remaining,
        links: &Links,
        uses: &mut [RowUse],
    ) -> Vec<Vec<AttemptSeries>> {
        let Remaining { without_call_id: mut rows, linked: shared } = remaining;
        shared.iter().flat_map(|call| &call.rows).for_each(|row| uses[*row as usize] = RowUse::Dropped);
        self.shared.extend(shared);
        rows.retain(|row| table.rows[*row as usize].sent < watermark.until);
        rows.iter().for_each(|row| uses[*row as usize] = RowUse::Dropped);
        rows.sort_unstable_by_key(|row| (table.rows[*row as usize].key, sort_key(table, *row)));
        let key = |row: &u32| table.rows[*row as usize].key;
        for rows in rows.chunk_by(|a, b| key(a) == key(b)) {
            self.streams.entry(key(&rows[0])).or_default().push(table, rows);
        }
        let found = self.streams.par_iter_mut().map(|(_, stream)| {
            let (mut calls, mut give_up) = (Vec::new(), GiveUpObservations::default());
            stream.advance(table, watermark.until, &mut calls);
            let shared: Vec<AttemptSeries> =
                calls.extract_if(.., |series| series.rows.iter().any(|row| links.contains(*row))).collect();
            for series in &calls {
                give_up.absorb(&Call::settle_inferred(table, series.clone(), &watermark.horizon), &watermark.horizon);
            }
            (calls, give_up, shared)
        });
        let found: Vec<_> = found.collect();
        let found = found.into_iter().map(|(calls, give_up, shared)| {
            self.give_up.merge(give_up);
            self.shared.extend(shared.into_iter().map(Unsettled::of_series));
            calls
        });
        let found = found.collect();
        self.streams.retain(|_, stream| !stream.is_finished());
        found
    }

    /// Judges the calls found in attempt streams.
    fn settle_streams<'t>(
        &self,
        table: &'t AttemptTable,
        watermark: &Watermark,
        whole: &mut Judgement<'t>,
        found: Vec<Vec<AttemptSeries>>,
    ) {
        let judged = found.into_par_iter().map(|calls| {
            let mut judgement = Judgement::new(table);
            for series in calls {
                judgement.absorb(&Call::settle_inferred(table, series, &watermark.horizon), &self.rules, self.options);
            }
            judgement
        });
        judged.collect::<Vec<_>>().into_iter().for_each(|judgement| whole.merge(judgement));
    }

    /// Removes the rows of settled calls from the table, except those that serve as examples or belong to attempt
    /// streams.
    fn compact(&mut self, table: &mut AttemptTable, uses: &mut [RowUse]) {
        self.each_row(&mut |row| {
            let uses = &mut uses[*row as usize];
            *uses = RowUse::Kept.max(*uses);
        });
        let mut order: Vec<u32> = Vec::new();
        for wanted in [RowUse::Kept, RowUse::Open] {
            order.extend((0..table.rows.len() as u32).filter(|row| uses[*row as usize] == wanted));
            if wanted == RowUse::Kept {
                self.kept_rows = order.len();
            }
        }
        let mut new_index = vec![0; table.rows.len()];
        order.iter().enumerate().for_each(|(index, row)| new_index[*row as usize] = index as u32);
        table.retain(&order);
        (self.rows_seen, self.compacted_rows) = (table.rows.len(), table.rows.len());
        self.each_row(&mut |row| *row = new_index[*row as usize]);
        let stays = |row: &u32| uses[*row as usize] != RowUse::Dropped;
        self.followed_rows = self.followed_rows.drain().filter(stays).map(|row| new_index[row as usize]).collect();
    }

    fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.kept.each_row(visit);
        self.shared.iter_mut().flat_map(|call| &mut call.rows).for_each(&mut *visit);
        self.streams.values_mut().for_each(|stream| stream.each_row(visit));
    }
}
