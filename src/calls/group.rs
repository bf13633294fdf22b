//! Brings the rows of a table together by call.

use super::{Call, Grouping, Horizon, Links, SingleSuccesses, Unsettled, Watermark, infer, join, reuse, stream};
use crate::model::{Attempt, AttemptTable, Flags, Time};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Pieces a table is cut into: enough to keep any machine busy, few enough that merging costs nothing, each small
/// enough that what finds its groups stays in a processor's cache.
const PIECES: usize = 16;
/// Stretches of rows that are shared out at once.
const STRETCHES: usize = 64;

/// The rows of a table, ordered so that one call's, or one stream's, stand together.
#[derive(Debug)]
pub struct Groups<'a> {
    table: &'a AttemptTable,
    pieces: Vec<Piece>,
    /// Calls that several logs tell of, by the first of their rows; every other row of them has none.
    joined: HashMap<u32, Option<Unsettled>>,
}

/// Rows of some keys, all of each: group by group in the order of their first rows, each in the order of its rows.
///
/// Memory is so read from front to back, and summaries over time meet calls nearly in the order of time.
#[derive(Debug)]
pub struct Piece(Vec<u32>);

/// What is not settled along with calls that one log names.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Rows that name no call.
    pub(crate) streams: Vec<u32>,
    /// Calls that other logs tell of as well.
    pub(crate) shared: Vec<Unsettled>,
}

/// A row on its way into a group: part of its key, and its number.
type Entry = (u32, u32);

/// Groups the rows of `table` by their keys.
#[must_use]
pub fn group(table: &AttemptTable) -> Groups<'_> {
    group_from(table, 0).joined()
}

/// Groups the rows of `table` that are no singles calls.
#[must_use]
pub(crate) fn group_rest<'t>(table: &'t AttemptTable, singles: &SingleSuccesses) -> Groups<'t> {
    group_where(table, 0, |row| !singles.has(row)).joined()
}

/// Groups the rows of `table` that were sent between two points in time.
#[must_use]
pub(crate) fn group_between(table: &AttemptTable, first: Time, last: Time) -> Groups<'_> {
    group_where(table, 0, |row| (first..=last).contains(&table.rows[row as usize].sent)).joined()
}

/// Groups the rows of `table` from number `from` on. Calls that several logs tell of are not joined.
#[must_use]
pub(crate) fn group_from(table: &AttemptTable, from: usize) -> Groups<'_> {
    group_where(table, from, |_| true)
}

fn group_where(table: &AttemptTable, from: usize, wanted: impl Fn(u32) -> bool + Sync) -> Groups<'_> {
    let rows = &table.rows[from..];
    let stretch = rows.len().div_ceil(STRETCHES).max(1);
    let shared: Vec<[Vec<Entry>; PIECES]> =
        rows.par_chunks(stretch).enumerate().map(|(n, some)| share_out(some, from + n * stretch, &wanted)).collect();
    let pieces = (0..PIECES).into_par_iter().map(|piece| {
        let entries = shared.iter().flat_map(|lists| &lists[piece]).copied();
        Piece(grouped(table, entries))
    });
    Groups { table, pieces: pieces.collect(), joined: HashMap::new() }
}

/// Shares rows out among the pieces. The first is number `from`.
fn share_out(rows: &[Attempt], from: usize, wanted: impl Fn(u32) -> bool) -> [Vec<Entry>; PIECES] {
    let mut lists = [const { Vec::new() }; PIECES];
    for (row, index) in rows.iter().zip(from as u32..).filter(|(_, index)| wanted(*index)) {
        // The last bits choose the piece, others the place in it: keys are hashes.
        lists[row.key[0] as usize % PIECES].push(((row.key[0] >> 32) as u32, index));
    }
    lists
}

/// Brings rows with the same key together.
fn grouped(table: &AttemptTable, entries: impl Iterator<Item = Entry> + Clone) -> Vec<u32> {
    let same = |a: u32, b: u32| table.rows[a as usize].key == table.rows[b as usize].key;
    let count = entries.clone().count();
    // Open addressing, at most half full: the last member of a group, from 1.
    let mut places: Vec<u32> = vec![0; (count * 2).next_power_of_two()];
    // The members of a group in a circle: that after the last is the first.
    let mut members: Vec<(Entry, u32)> = Vec::with_capacity(count);
    let mut firsts: Vec<u32> = Vec::with_capacity(count);
    for ((hash, row), index) in entries.zip(0..) {
        let mut place = hash as usize & (places.len() - 1);
        let last = loop {
            let Some(last) = places[place].checked_sub(1) else { break None };
            let (known, _) = members[last as usize];
            if known.0 == hash && same(known.1, row) {
                break Some(last);
            }
            place = (place + 1) & (places.len() - 1);
        };
        let first = last.map_or(index, |last| std::mem::replace(&mut members[last as usize].1, index));
        if first == index {
            firsts.push(index);
        }
        members.push(((hash, row), first));
        places[place] = index + 1;
    }
    let mut order = Vec::with_capacity(count);
    for first in firsts {
        let mut member = first;
        loop {
            let ((_, row), next) = members[member as usize];
            order.push(row);
            member = next;
            if member == first {
                break;
            }
        }
    }
    order
}

impl<'a> Groups<'a> {
    /// The table the rows are in.
    #[must_use]
    pub fn table(&self) -> &'a AttemptTable {
        self.table
    }

    /// Pieces of similar size; no group is in two of them.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Rows with the same key, one key after the other.
    fn groups<'p>(&self, members: &'p [u32]) -> impl Iterator<Item = &'p [u32]> {
        let rows = &self.table.rows;
        members.chunk_by(|&a, &b| rows[a as usize].key == rows[b as usize].key)
    }

    /// Hands every call of one piece whose key `wanted` accepts to `settled`.
    pub fn calls(
        &self,
        piece: &Piece,
        horizon: &Horizon,
        wanted: impl Fn(u64) -> bool,
        mut settled: impl FnMut(&Call<'a>),
    ) {
        for group in self.groups(&piece.0).filter(|group| wanted(self.table.rows[group[0] as usize].key[0])) {
            self.calls_of(group, horizon, &mut settled);
        }
    }

    /// Hands the calls of one piece to `settled` whose groups begin before the row `until`, from `place` on. Says at
    /// what place those begin that are left.
    pub(crate) fn calls_until(
        &self,
        piece: &Piece,
        place: usize,
        until: u32,
        horizon: &Horizon,
        mut settled: impl FnMut(&Call<'a>),
    ) -> usize {
        let mut done = place;
        for group in self.groups(&piece.0[place..]).take_while(|group| group[0] < until) {
            self.calls_of(group, horizon, &mut settled);
            done += group.len();
        }
        done
    }

    /// The same with calls joined that several logs tell of.
    fn joined(self) -> Groups<'a> {
        let links = Links::of(self.table);
        if links.is_empty() {
            return self;
        }
        let linked = self.pieces.iter().flat_map(|piece| self.groups(&piece.0));
        let linked = linked.filter(|group| group.iter().any(|row| links.has(*row)));
        let mut calls: Vec<Unsettled> = linked.flat_map(|group| self.unsettled(group)).collect();
        calls.retain(|call| call.is_linked(&links));
        let mut joined: HashMap<u32, Option<Unsettled>> =
            calls.iter().flat_map(|call| &call.rows).map(|row| (*row, None)).collect();
        for call in join(self.table, &links, calls) {
            let first = call.rows.iter().min().copied();
            joined.extend(first.map(|first| (first, Some(call))));
        }
        Groups { joined, ..self }
    }

    /// The calls of one group.
    fn unsettled(&self, group: &[u32]) -> Vec<Unsettled> {
        match (self.grouping_of(group[0]), group) {
            (grouping, [row]) => vec![Unsettled::of_row(*row, grouping)],
            (Grouping::Explicit, _) => reuse::split(self.table, group).into_iter().map(Unsettled::of_part).collect(),
            _ => stream::split(self.table, group).into_iter().map(Unsettled::of_series).collect(),
        }
    }

    fn calls_of(&self, group: &[u32], horizon: &Horizon, settled: &mut impl FnMut(&Call<'a>)) {
        if self.joined.is_empty() {
            return self.calls_apart(group, horizon, settled);
        }
        for row in group {
            if let Some(Some(call)) = self.joined.get(row) {
                settled(&call.settle(self.table, horizon));
            }
        }
        self.calls_apart(group, horizon, &mut |call: &Call<'a>| {
            if !self.joined.contains_key(&call.rows()[0]) {
                settled(call);
            }
        });
    }

    fn calls_apart(&self, group: &[u32], horizon: &Horizon, settled: &mut impl FnMut(&Call<'a>)) {
        let grouping = self.grouping_of(group[0]);
        if let [row] = group {
            let rows = SmallVec::from_slice(&[*row]);
            settled(&Call::settle(self.table, rows, grouping, horizon));
        } else if grouping == Grouping::Explicit {
            for part in reuse::split(self.table, group) {
                settled(&Call::settle_part(self.table, part, horizon));
            }
        } else {
            for series in stream::split(self.table, group) {
                settled(&Call::settle_series(self.table, series, horizon));
            }
        }
    }

    /// Hands every call of one piece to `found`: one that nothing can continue any more with all its rows, another
    /// as it was at that time, with none. The rows of streams, whose calls are still to be found, go to `left`, and so do
    /// the calls that another log tells of as well, once nothing can continue them.
    pub(crate) fn settled_calls(
        &self,
        piece: &Piece,
        watermark: &Watermark,
        links: &Links,
        mut found: impl FnMut(&Call<'a>, Option<&[u32]>),
        left: &mut Left,
    ) {
        let rows = &self.table.rows;
        for group in self.groups(&piece.0) {
            if self.grouping_of(group[0]) != Grouping::Explicit {
                left.streams.extend_from_slice(group);
                continue;
            }
            if let [row] = group {
                if links.has(*row) {
                    let is_over = watermark.reached(self.table, group);
                    left.shared.extend(is_over.then(|| Unsettled::of_row(*row, Grouping::Explicit)));
                } else if rows[*row as usize].sent < watermark.until {
                    let call = SmallVec::from_slice(group);
                    let call = Call::settle(self.table, call, Grouping::Explicit, &watermark.horizon);
                    found(&call, watermark.reached(self.table, group).then_some(group));
                }
                continue;
            }
            // Which call of an id an attempt belongs to depends on those that began before: they go in their order.
            let mut over = true;
            for mut part in reuse::split(self.table, group) {
                over &= watermark.reached(self.table, &part.rows);
                if part.rows.iter().any(|row| links.has(*row)) {
                    left.shared.extend(over.then(|| Unsettled::of_part(part)));
                    continue;
                }
                let all = over.then(|| part.rows.clone());
                part.rows.retain(|row| rows[*row as usize].sent < watermark.until);
                if !part.rows.is_empty() {
                    let call = Call::settle_part(self.table, part, &watermark.horizon);
                    found(&call, all.as_deref());
                }
            }
        }
    }

    /// How a call of this row alone is grouped.
    fn grouping_of(&self, row: u32) -> Grouping {
        let row = &self.table.rows[row as usize];
        if row.flags.has(Flags::NO_CALL_ID) { infer::alone(row) } else { Grouping::Explicit }
    }
}
