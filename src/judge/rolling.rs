//! Judgement while a log is being read: calls that nothing can continue are judged and dropped, so that memory depends
//! on the number of open calls and distinct problems, not on the length of the log.
//!
//! The result equals that of [`super::judge`] unless records arrive far too late; see [`Rolling::finish`].

use super::settled_calls::{Fate, Live, SettledCalls};
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
use std::collections::{HashMap, HashSet};
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
    /// Number of rows that stayed when settled calls were last removed.
    compacted: usize,
    /// Number of rows when [`Rolling::advance`] last looked.
    looked_at: usize,
    /// Everything sent before this time is assumed to have been read.
    settled: Time,
    /// Attempts of open named calls sent before this time are in the summaries.
    followed: Time,
    data_end: Time,
    /// Rows of open calls that are in the summaries although other logs may describe their attempts: their calls have
    /// been silent for long.
    silent: HashSet<u32, RandomState>,
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
            compacted: 0,
            looked_at: 0,
            settled: Time(i64::MIN),
            followed: Time(i64::MIN),
            data_end: Time(0),
            silent: HashSet::default(),
            seen: Persistence::default(),
            late: 0,
            step: WORTH_IT,
        }
    }

    /// Sets the number of new rows after which settled calls are looked for; the default is 65,536.
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
        if table.rows.len() - self.compacted >= self.step && until > self.settled {
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
            judgement.absorb_rest(&call, self.since(&call), &self.rules, self.options);
        }
        let until = self.complete_until(table, &fate);
        judgement.fleet.stats.settle(table, until, &self.terms);
        self.kept = judgement.detach();
        self.compact(table, &mut fate);
        if is_followed {
            self.followed = self.settled;
        }
    }

    /// Returns the time before which the attempts of a call are in the summaries.
    fn since(&self, call: &Call<'_>) -> Time {
        let silent = call.rows().iter().filter(|row| self.silent.contains(row));
        let last = silent.map(|row| call.table().rows[*row as usize].sent.plus_us(1)).max();
        last.map_or(self.followed, |last| last.max(self.followed))
    }

    /// Whether open named calls are added to the summaries as soon as they are read, so that what happened within
    /// seconds can be judged. Whether a filter accepts a call, and which of its attempts are in another log as well, is
    /// known only when the call is complete, so this is off with a filter or several logs of the same attempts.
    fn follows(&self, table: &AttemptTable) -> bool {
        self.options.filter.is_empty() && !table.may_have_views()
    }

    /// Returns the time before which everything sent is in the summaries.
    fn complete_until(&self, table: &AttemptTable, fate: &[Fate]) -> Time {
        let is_open = |row: &u32| fate[*row as usize] == Fate::Live && !self.silent.contains(row);
        let open = (0..fate.len() as u32).filter(is_open).map(|row| table.rows[row as usize].sent);
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
            let see = |call: &Call<'_>, _: &[u32], _: bool| self.seen.absorb(call, &watermark.horizon);
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
        let workers = rayon::current_num_threads();
        let share = (table.rows.len() - self.parked).div_ceil(workers);
        let short = Watermark { pressed: true, ..*watermark };
        let settled = (0..workers).into_par_iter().map(|worker| {
            let mut settled = SettledCalls::new(table);
            // First what is in the order of time: entries far too early are costly.
            let begin = self.parked + worker * share;
            self.settle_singles(live, begin..begin + share, watermark, &mut settled);
            let SettledCalls { judgement, seen, gone, silent, left } = &mut settled;
            let mut found = |call: &Call<'t>, rows: &[u32], is_over: bool| {
                if is_over {
                    seen.absorb(call, &watermark.horizon);
                    judgement.absorb_rest(call, self.since(call), &self.rules, self.options);
                    gone.extend_from_slice(rows);
                } else if live.is_followed || (self.options.filter.is_empty() && short.reached(table, call.rows())) {
                    judgement.fleet.stats.under_way.want(|| rules::declares_pool(&self.options.settings));
                    judgement.fleet.stats.follow(call, self.since(call), self.rules.terms());
                    if !live.is_followed {
                        silent.extend(rows.iter().filter(|row| table.rows[**row as usize].sent < watermark.until));
                    }
                }
            };
            for piece in live.groups.pieces().iter().skip(worker).step_by(workers) {
                live.groups.settled_calls(piece, watermark, links, &mut found, left);
            }
            settled
        });
        let mut all = Left::default();
        for SettledCalls { judgement, seen, gone, silent, left } in settled.collect::<Vec<_>>() {
            whole.merge(judgement);
            self.seen.merge(seen);
            gone.iter().for_each(|row| fate[*row as usize] = Fate::Gone);
            self.silent.extend(silent);
            all.streams.extend(left.streams);
            all.shared.extend(left.shared);
        }
        all
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
        (self.looked_at, self.compacted) = (table.rows.len(), table.rows.len());
        self.each_row(&mut |row| *row = places[*row as usize]);
        let stays = |row: &u32| fate[*row as usize] != Fate::Gone;
        self.silent = self.silent.drain().filter(stays).map(|row| places[row as usize]).collect();
    }

    fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.kept.each_row(visit);
        self.shared.iter_mut().flat_map(|call| &mut call.rows).for_each(&mut *visit);
        self.streams.values_mut().for_each(|stream| stream.each_row(visit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read_str;
    use std::fmt::Write;

    /// Six hours of two layers, with one call that fails and is never given up.
    #[test]
    fn a_call_without_an_end_holds_nothing_back() {
        const BEGIN_S: u64 = 1_767_600_000;
        let options = Options::default();
        let (mut rolling, mut table) = (Rolling::new(&options).looking_every(1), AttemptTable::default());
        let mut kept = Vec::new();
        for hour in 0..6 {
            let mut lines = String::new();
            for call in hour * 600..(hour + 1) * 600 {
                let (sent, layer) = (BEGIN_S + call * 6, call % 2);
                let status = if call == 3 { 529 } else { 200 };
                writeln!(
                    lines,
                    r#"{{"ts":{sent},"run_id":"r","call_id":"c{call}","attempt":1,"layer":"l{layer}","status":{status},"duration_ms":900}}"#
                )
                .unwrap();
            }
            table.absorb(read_str(&lines));
            rolling.advance(&mut table, Time((BEGIN_S + (hour + 1) * 3_600) as i64 * 1_000_000));
            kept.push(rolling.kept.stats.instants());
        }
        assert!(kept[5] <= kept[1] * 2, "{kept:?}");
    }
}
