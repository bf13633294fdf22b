//! Judgement while a log is being read: calls that nothing can continue are judged and dropped, so that memory depends
//! on the number of open calls and distinct problems, not on the length of the log.
//!
//! The result equals that of [`super::judge`] unless records arrive far too late; see [`Rolling::finish`].

use super::{CallRules, Judgement, Options, Settled};
use crate::calls::{
    AttemptSeries, Call, Endurance, Groups, Horizon, Left, Links, Persistence, SingleSuccesses, Stream, Unsettled,
    Watermark, group_rest_from, join, order_of,
};
use crate::measure::Terms;
use crate::model::{AttemptTable, Time, Views};
use crate::rules;
use foldhash::fast::RandomState;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// How much later than its send a record may appear in the log, µs: loggers write when the answer is complete, and no
/// client waits longer for one.
const LATENESS_US: i64 = 10 * 60 * 1_000_000;
/// Number of rows above which failed calls are dropped sooner: some 200 MB with the data that belongs to them.
const MOST_ROWS: usize = 1 << 20;
/// Number of new rows after which settled calls are looked for: fewer cost more searching, more cost memory.
const WORTH_IT: usize = 1 << 16;

/// A judgement in progress.
#[derive(Debug)]
pub struct Rolling<'o> {
    options: &'o Options,
    rules: CallRules,
    terms: Terms,
    kept: Settled,
    streams: HashMap<[u64; 2], Stream, RandomState>,
    /// Calls that wait for the calls of other logs with which they share attempts.
    shared: Vec<Unsettled>,
    /// Number of rows at the front of the table that are not looked at again: examples, and rows held by streams.
    parked: usize,
    /// Number of rows when [`Rolling::advance`] last looked.
    looked_at: usize,
    /// Everything sent before this time is assumed to have been read.
    settled: Time,
    /// Attempts of open named calls sent before this time are in the summaries.
    followed: Time,
    data_end: Time,
    /// What the dropped calls show about when clients stop.
    seen: Persistence,
    late: u64,
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
            parked: 0,
            looked_at: 0,
            settled: Time(i64::MIN),
            followed: Time(i64::MIN),
            data_end: Time(0),
            seen: Persistence::default(),
            late: 0,
            step: WORTH_IT,
        }
    }

    /// Sets the number of waiting rows after which settled calls are looked for; the default is 65,536.
    #[must_use]
    pub fn looking_every(self, rows: usize) -> Rolling<'o> {
        Rolling { step: rows, ..self }
    }

    /// Registers the rows added to `table` and drops the calls that nothing can continue, given that all further
    /// records were logged at `watermark` or later.
    pub fn advance(&mut self, table: &mut AttemptTable, watermark: Time) {
        let new = table.rows[self.looked_at..].iter();
        self.data_end = new.clone().map(|row| row.ended()).fold(self.data_end, Time::max);
        self.late += new.filter(|row| row.sent < self.settled).count() as u64;
        self.looked_at = table.rows.len();
        let views_us = if table.may_have_views() { Views::REACH_US + Views::KNOWN_US } else { 0 };
        let until = watermark.plus_us(-LATENESS_US - views_us);
        if table.rows.len() - self.parked >= self.step && until > self.settled {
            self.settle(table, until, table.rows.len() > MOST_ROWS);
        }
    }

    /// Number of attempts in `table` whose calls are still open.
    #[must_use]
    pub fn open(&self, table: &AttemptTable) -> usize {
        table.rows.len() - self.parked
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
        (whole.detach(), self.late)
    }

    fn settle(&mut self, table: &mut AttemptTable, until: Time, pressed: bool) {
        self.settled = until;
        table.find_views(until.plus_us(Views::REACH_US));
        let (links, is_followed) = (Links::of(table), self.follows(table));
        let horizon =
            Horizon { data_end: self.data_end, complete: self.options.complete, endurance: Endurance::default() };
        let mut watermark = Watermark { until, pressed, horizon };
        let mut fate = vec![Fate::Live; table.rows.len()];
        fate[..self.parked].fill(Fate::Gone);
        let mut judgement = std::mem::take(&mut self.kept).attach(table);
        let (mut found, mut joined) = (Vec::new(), Vec::new());
        let singles = SingleSuccesses::of_named(table, self.parked);
        let groups = group_rest_from(table, self.parked, &singles);
        // Calls that are dropped early have been silent for long; for the remaining ones it matters when clients stop.
        let is_last = until == Time(i64::MAX);
        if is_last {
            let left = self.look_ahead(&groups, &watermark, &links);
            found = self.find_in_streams(table, &watermark, left, &links, &mut fate);
            joined = self.join(table, &watermark, &links);
            watermark.horizon.endurance = self.seen.endurance();
        }
        let live = Live { groups, singles, is_followed };
        let left = self.settle_calls(&live, &watermark, &links, &mut judgement, &mut fate);
        if !is_last {
            found = self.find_in_streams(table, &watermark, left, &links, &mut fate);
            joined = self.join(table, &watermark, &links);
        }
        self.settle_streams(table, &watermark, &mut judgement, found);
        for call in joined {
            let call = call.settle(table, &watermark.horizon);
            judgement.absorb_rest(&call, self.followed, &self.rules, self.options);
        }
        let until = self.complete_until(table, &fate);
        judgement.fleet.stats.settle(table, until, &self.terms);
        self.kept = judgement.detach();
        self.compact(table, &mut fate);
        if is_followed {
            self.followed = self.settled;
        }
    }

    /// Whether open named calls are added to the summaries as soon as they are read, so that what happened within
    /// seconds can be judged. Whether a filter accepts a call, and which of its attempts are in another log as well, is
    /// known only when the call is complete, so this is off with a filter or several logs of the same attempts.
    fn follows(&self, table: &AttemptTable) -> bool {
        self.options.filter.is_empty() && !table.may_have_views()
    }

    /// Returns the time before which everything sent is in the summaries.
    fn complete_until(&self, table: &AttemptTable, fate: &[Fate]) -> Time {
        let open = table.rows.iter().zip(fate).filter(|(_, fate)| **fate == Fate::Live).map(|(row, _)| row.sent);
        let open = if self.follows(table) { None } else { open.min() };
        let streams = self.streams.values().filter_map(|stream| stream.begun(table));
        let shared = self.shared.iter().flat_map(|call| &call.rows).map(|row| table.rows[*row as usize].sent);
        streams.chain(shared).chain(open).fold(self.settled, Time::min)
    }

    /// Observes how long the remaining calls went on, without judging them. Returns the rows that belong to streams and
    /// the calls shared by several logs, which are handled elsewhere.
    fn look_ahead(&mut self, groups: &Groups<'_>, watermark: &Watermark, links: &Links) -> Left {
        let mut left = Left::default();
        for piece in groups.pieces() {
            let see = |call: &Call<'_>, _: Option<&[u32]>| self.seen.absorb(call, &watermark.horizon);
            groups.settled_calls(piece, watermark, links, see, &mut left);
        }
        left
    }

    /// Returns the calls shared by several logs that are complete in all of them, joined.
    fn join(&mut self, table: &AttemptTable, watermark: &Watermark, links: &Links) -> Vec<Unsettled> {
        if self.shared.is_empty() {
            return Vec::new();
        }
        let joined = join(table, links, links.take_complete(&mut self.shared));
        for call in &joined {
            self.seen.absorb(&call.settle(table, &watermark.horizon), &watermark.horizon);
        }
        joined
    }

    /// Judges the named calls that are complete and, if [`Live::is_followed`], adds the open ones to the summaries.
    /// Returns the rows that belong to streams and the calls shared by several logs, which are handled elsewhere.
    fn settle_calls<'t>(
        &mut self,
        live: &Live<'t>,
        watermark: &Watermark,
        links: &Links,
        whole: &mut Judgement<'t>,
        fate: &mut [Fate],
    ) -> Left {
        let table = live.groups.table();
        let share = (table.rows.len() - self.parked).div_ceil(live.groups.pieces().len());
        let judged = live.groups.pieces().par_iter().enumerate().fold(
            || SettledCalls::new(table),
            |mut settled, (place, piece)| {
                let begin = self.parked + place * share;
                self.settle_singles(live, begin..begin + share, watermark, &mut settled);
                let SettledCalls { judgement, seen, gone, left } = &mut settled;
                let found = |call: &Call<'t>, rows: Option<&[u32]>| {
                    if let Some(rows) = rows {
                        seen.absorb(call, &watermark.horizon);
                        judgement.absorb_rest(call, self.followed, &self.rules, self.options);
                        gone.extend_from_slice(rows);
                    } else if live.is_followed {
                        judgement.fleet.stats.under_way.want(|| rules::declares_pool(&self.options.settings));
                        judgement.fleet.stats.follow(call, self.followed, self.rules.terms());
                    }
                };
                live.groups.settled_calls(piece, watermark, links, found, left);
                settled
            },
        );
        let judged = judged.reduce(|| SettledCalls::new(table), SettledCalls::and);
        whole.merge(judged.judgement);
        self.seen.merge(judged.seen);
        judged.gone.iter().for_each(|row| fate[*row as usize] = Fate::Gone);
        judged.left
    }

    /// Does the same for the single successes among some rows, of which nothing is to be learnt about when clients stop.
    fn settle_singles(
        &self,
        live: &Live<'_>,
        rows: Range<usize>,
        watermark: &Watermark,
        settled: &mut SettledCalls<'_>,
    ) {
        let table = live.groups.table();
        let rows = rows.start..rows.end.min(table.rows.len());
        let is_due = |row: &u32| table.rows[*row as usize].sent < watermark.until;
        let due = live.singles.among(rows).filter(is_due);
        let (gone, open): (Vec<u32>, Vec<u32>) = due.partition(|row| watermark.reached(table, &[*row]));
        settled.judgement.absorb_single_success(gone.iter().copied(), self.followed, self.options);
        settled.gone.extend(gone);
        if live.is_followed {
            let stats = &mut settled.judgement.fleet.stats;
            open.into_iter().for_each(|row| stats.follow_single_success(table, row, self.followed));
        }
    }

    /// Hands the rows that name no call to their streams and returns the calls that each stream finds. Calls shared by
    /// several logs are set aside until all of them are there.
    fn find_in_streams(
        &mut self,
        table: &AttemptTable,
        watermark: &Watermark,
        left: Left,
        links: &Links,
        fate: &mut [Fate],
    ) -> Vec<Vec<AttemptSeries>> {
        let Left { streams: mut rows, shared } = left;
        shared.iter().flat_map(|call| &call.rows).for_each(|row| fate[*row as usize] = Fate::Gone);
        self.shared.extend(shared);
        rows.retain(|row| table.rows[*row as usize].sent < watermark.until);
        rows.iter().for_each(|row| fate[*row as usize] = Fate::Gone);
        rows.sort_unstable_by_key(|row| (table.rows[*row as usize].key, order_of(table, *row)));
        let key = |row: &u32| table.rows[*row as usize].key;
        for rows in rows.chunk_by(|a, b| key(a) == key(b)) {
            self.streams.entry(key(&rows[0])).or_default().push(table, rows);
        }
        let found = self.streams.par_iter_mut().map(|(_, stream)| {
            let (mut calls, mut seen) = (Vec::new(), Persistence::default());
            stream.advance(table, watermark.until, &mut calls);
            let shared: Vec<AttemptSeries> =
                calls.extract_if(.., |series| series.rows.iter().any(|row| links.has(*row))).collect();
            for series in &calls {
                seen.absorb(&Call::settle_series(table, series.clone(), &watermark.horizon), &watermark.horizon);
            }
            (calls, seen, shared)
        });
        let found: Vec<_> = found.collect();
        let found = found.into_iter().map(|(calls, seen, shared)| {
            self.seen.merge(seen);
            self.shared.extend(shared.into_iter().map(Unsettled::of_series));
            calls
        });
        let found = found.collect();
        self.streams.retain(|_, stream| !stream.is_over());
        found
    }

    /// Judges the calls found in streams.
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
                judgement.absorb(&Call::settle_series(table, series, &watermark.horizon), &self.rules, self.options);
            }
            judgement
        });
        judged.collect::<Vec<_>>().into_iter().for_each(|judgement| whole.merge(judgement));
    }

    /// Removes the rows of settled calls from the table, except those that serve as examples or are held by streams.
    fn compact(&mut self, table: &mut AttemptTable, fate: &mut [Fate]) {
        self.each_row(&mut |row| {
            let fate = &mut fate[*row as usize];
            *fate = Fate::Parked.max(*fate);
        });
        let mut order: Vec<u32> = Vec::new();
        for wanted in [Fate::Parked, Fate::Live] {
            order.extend((0..table.rows.len() as u32).filter(|row| fate[*row as usize] == wanted));
            if wanted == Fate::Parked {
                self.parked = order.len();
            }
        }
        let mut places = vec![0; table.rows.len()];
        order.iter().enumerate().for_each(|(place, row)| places[*row as usize] = place as u32);
        table.retain(&order);
        self.looked_at = table.rows.len();
        self.each_row(&mut |row| *row = places[*row as usize]);
    }

    fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.kept.each_row(visit);
        self.shared.iter_mut().flat_map(|call| &mut call.rows).for_each(&mut *visit);
        self.streams.values_mut().for_each(|stream| stream.each_row(visit));
    }
}

/// Rows of the table that are not parked.
struct Live<'t> {
    singles: SingleSuccesses,
    /// All others.
    groups: Groups<'t>,
    /// Whether open calls are added to the summaries; see [`Rolling::follows`].
    is_followed: bool,
}

/// Named calls that were settled, and what is left.
struct SettledCalls<'t> {
    judgement: Judgement<'t>,
    seen: Persistence,
    /// Rows of the calls that are complete.
    gone: Vec<u32>,
    left: Left,
}

impl<'t> SettledCalls<'t> {
    fn new(table: &'t AttemptTable) -> SettledCalls<'t> {
        SettledCalls {
            judgement: Judgement::new(table),
            seen: Persistence::default(),
            gone: Vec::new(),
            left: Left::default(),
        }
    }

    fn and(mut self, other: SettledCalls<'t>) -> SettledCalls<'t> {
        self.judgement.merge(other.judgement);
        self.seen.merge(other.seen);
        self.gone.extend(other.gone);
        self.left.streams.extend(other.left.streams);
        self.left.shared.extend(other.left.shared);
        self
    }
}

/// Whether a row stays in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// The call is settled; the row is removed.
    Gone,
    /// The row stays and is not looked at again.
    Parked,
    /// The call is open.
    Live,
}
