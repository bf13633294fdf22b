//! Groups the rows of a table by call.

use super::{Call, Grouping, Horizon, Links, SingleSuccesses, Unsettled, Watermark, infer, join, reuse, stream};
use crate::model::{Attempt, AttemptTable, Flags, Time};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::collections::HashMap;

/// Number of pieces a table is split into: enough to use all cores, few enough that merging is cheap, and each small
/// enough that its hash table stays in the cache.
const PIECES: usize = 16;
/// Number of ranges into which the rows are split to be distributed to the pieces in parallel.
const ROW_RANGES: usize = 64;

/// Rows of a table in an order in which those of one call, or of one attempt stream, are adjacent.
#[derive(Debug)]
pub struct Groups<'a> {
    table: &'a AttemptTable,
    pieces: Vec<Piece>,
    /// Calls described by several logs, by the lowest of their row numbers; their other rows map to `None`.
    linked_calls: HashMap<u32, Option<Unsettled>>,
}

/// All rows of some of the keys: groups in order of their first rows, and the rows of each group in row order.
///
/// In this order, memory is read from front to back, and summaries over time receive calls nearly in time order.
#[derive(Debug)]
pub struct Piece(Vec<u32>);

/// Rows and calls that cannot be settled with their group: those without a call id, and those described by several
/// logs.
#[derive(Debug, Default)]
pub(crate) struct Remaining {
    /// Rows without a call id.
    pub(crate) without_call_id: Vec<u32>,
    /// Calls with attempts that another log describes too.
    pub(crate) linked: Vec<Unsettled>,
}

/// A row to be grouped: 32 bits of its key, and its row number.
type Entry = (u32, u32);

/// Groups the rows of `table` by key.
#[must_use]
pub fn group(table: &AttemptTable) -> Groups<'_> {
    group_where(table, 0, |_| true).join_linked()
}

/// Groups the rows of `table` that are not in `singles`.
#[must_use]
pub(crate) fn group_except<'t>(table: &'t AttemptTable, singles: &SingleSuccesses) -> Groups<'t> {
    group_where(table, 0, |row| !singles.has(row)).join_linked()
}

/// Groups the rows of `table` sent from `first` to `last`, both included.
#[must_use]
pub(crate) fn group_between(table: &AttemptTable, first: Time, last: Time) -> Groups<'_> {
    group_where(table, 0, |row| (first..=last).contains(&table.rows[row as usize].sent)).join_linked()
}

/// Groups the rows of `table` from row `from` on that are not in `singles`. Calls described by several logs are not
/// joined.
#[must_use]
pub(crate) fn group_from<'t>(table: &'t AttemptTable, from: usize, singles: &SingleSuccesses) -> Groups<'t> {
    group_where(table, from, |row| !singles.has(row))
}

fn group_where(table: &AttemptTable, from: usize, wanted: impl Fn(u32) -> bool + Sync) -> Groups<'_> {
    let rows = &table.rows[from..];
    let range_len = rows.len().div_ceil(ROW_RANGES).max(1);
    let distributed: Vec<[Vec<Entry>; PIECES]> = rows
        .par_chunks(range_len)
        .enumerate()
        .map(|(n, some)| distribute(some, from + n * range_len, &wanted))
        .collect();
    let pieces = (0..PIECES).into_par_iter().map(|piece| {
        let entries = distributed.iter().flat_map(|lists| &lists[piece]).copied();
        Piece(sort_by_group(table, entries))
    });
    Groups { table, pieces: pieces.collect(), linked_calls: HashMap::new() }
}

/// Distributes rows to the pieces. `from` is the number of the first row.
fn distribute(rows: &[Attempt], from: usize, wanted: impl Fn(u32) -> bool) -> [Vec<Entry>; PIECES] {
    let mut lists = [const { Vec::new() }; PIECES];
    for (row, index) in rows.iter().zip(from as u32..).filter(|(_, index)| wanted(*index)) {
        // Keys are hashes: the low bits select the piece, the high bits the slot in its hash table.
        lists[row.key[0] as usize % PIECES].push(((row.key[0] >> 32) as u32, index));
    }
    lists
}

/// Orders rows so that those with the same key are together.
fn sort_by_group(table: &AttemptTable, entries: impl Iterator<Item = Entry> + Clone) -> Vec<u32> {
    let same = |a: u32, b: u32| table.rows[a as usize].key == table.rows[b as usize].key;
    let count = entries.clone().count();
    // Hash table with open addressing, at most half full: index of the last member of each group, plus 1.
    let mut slots: Vec<u32> = vec![0; (count * 2).next_power_of_two()];
    // Members of each group as a circular list, in which the last links to the first.
    let mut members: Vec<(Entry, u32)> = Vec::with_capacity(count);
    let mut firsts: Vec<u32> = Vec::with_capacity(count);
    for ((hash, row), index) in entries.zip(0..) {
        let mut slot = hash as usize & (slots.len() - 1);
        let last = loop {
            let Some(last) = slots[slot].checked_sub(1) else { break None };
            let (other, _) = members[last as usize];
            if other.0 == hash && same(other.1, row) {
                break Some(last);
            }
            slot = (slot + 1) & (slots.len() - 1);
        };
        let first = last.map_or(index, |last| std::mem::replace(&mut members[last as usize].1, index));
        if first == index {
            firsts.push(index);
        }
        members.push(((hash, row), first));
        slots[slot] = index + 1;
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
    /// Returns the table that holds the rows.
    #[must_use]
    pub fn table(&self) -> &'a AttemptTable {
        self.table
    }

    /// Returns pieces of similar size; no group is split between them.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Iterates over the groups of rows with the same key.
    fn groups<'p>(&self, members: &'p [u32]) -> impl Iterator<Item = &'p [u32]> {
        let rows = &self.table.rows;
        members.chunk_by(|&a, &b| rows[a as usize].key == rows[b as usize].key)
    }

    /// Calls `settled` with every call of a piece whose key `wanted` accepts.
    pub fn calls(
        &self,
        piece: &Piece,
        horizon: &Horizon,
        wanted: impl Fn(u64) -> bool,
        mut settled: impl FnMut(&Call<'a>),
    ) {
        for group in self.groups(&piece.0).filter(|group| wanted(self.table.rows[group[0] as usize].key[0])) {
            self.calls_of_group_or_joined(group, horizon, &mut settled);
        }
    }

    /// Calls `settled` with the calls of a piece, from `slot` on, whose groups begin before the row `until`. Returns
    /// the place of the first remaining group.
    pub(crate) fn calls_until(
        &self,
        piece: &Piece,

        from: usize,
        until: u32,
        horizon: &Horizon,
        mut settled: impl FnMut(&Call<'a>),
    ) -> usize {
        let mut offset = from;
        for group in self.groups(&piece.0[from..]).take_while(|group| group[0] < until) {
            self.calls_of_group_or_joined(group, horizon, &mut settled);
            offset += group.len();
        }
        offset
    }

    /// Joins the calls described by several logs.
    fn join_linked(self) -> Groups<'a> {
        let links = Links::of(self.table);
        if links.is_empty() {
            return self;
        }
        let linked = self.pieces.iter().flat_map(|piece| self.groups(&piece.0));
        let linked = linked.filter(|group| group.iter().any(|row| links.contains(*row)));
        let mut calls: Vec<Unsettled> = linked.flat_map(|group| self.unsettled(group)).collect();
        calls.retain(|call| call.is_linked(&links));
        let mut linked_calls: HashMap<u32, Option<Unsettled>> =
            calls.iter().flat_map(|call| &call.rows).map(|row| (*row, None)).collect();
        for call in join(self.table, &links, calls) {
            let first = call.rows.iter().min().copied();
            linked_calls.extend(first.map(|first| (first, Some(call))));
        }
        Groups { linked_calls, ..self }
    }

    /// Returns the calls of one group.
    fn unsettled(&self, group: &[u32]) -> Vec<Unsettled> {
        match (self.grouping_of(group[0]), group) {
            (grouping, [row]) => vec![Unsettled::of_row(*row, grouping)],
            (Grouping::Explicit, _) => reuse::split(self.table, group).into_iter().map(Unsettled::of_part).collect(),
            _ => stream::split(self.table, group).into_iter().map(Unsettled::of_series).collect(),
        }
    }

    fn calls_of_group_or_joined(&self, group: &[u32], horizon: &Horizon, settled: &mut impl FnMut(&Call<'a>)) {
        if self.linked_calls.is_empty() {
            return self.calls_of_group(group, horizon, settled);
        }
        for row in group {
            if let Some(Some(call)) = self.linked_calls.get(row) {
                settled(&call.settle(self.table, horizon));
            }
        }
        self.calls_of_group(group, horizon, &mut |call: &Call<'a>| {
            if !self.linked_calls.contains_key(&call.rows()[0]) {
                settled(call);
            }
        });
    }

    fn calls_of_group(&self, group: &[u32], horizon: &Horizon, settled: &mut impl FnMut(&Call<'a>)) {
        let grouping = self.grouping_of(group[0]);
        if let [row] = group {
            let rows = SmallVec::from_slice(&[*row]);
            settled(&Call::settle(self.table, rows, grouping, horizon));
        } else if grouping == Grouping::Explicit {
            for part in reuse::split(self.table, group) {
                settled(&Call::settle_split(self.table, part, horizon));
            }
        } else {
            for series in stream::split(self.table, group) {
                settled(&Call::settle_inferred(self.table, series, horizon));
            }
        }
    }

    /// Calls `found` with every call of a piece, all its rows, and whether no later attempt can belong to it; otherwise
    /// the call has only its attempts before the watermark. Adds to `remaining` the rows without a call id, whose calls
    /// are inferred later, and the calls that another log describes too, once no later attempt can belong to them.
    pub(crate) fn settle_calls(
        &self,
        piece: &Piece,
        watermark: &Watermark,
        links: &Links,
        mut found: impl FnMut(&Call<'a>, &[u32], bool),
        remaining: &mut Remaining,
    ) {
        let rows = &self.table.rows;
        for group in self.groups(&piece.0) {
            if self.grouping_of(group[0]) != Grouping::Explicit {
                remaining.without_call_id.extend_from_slice(group);
                continue;
            }
            if let [row] = group {
                if links.contains(*row) {
                    let is_over = watermark.reached(self.table, group);
                    remaining.linked.extend(is_over.then(|| Unsettled::of_row(*row, Grouping::Explicit)));
                } else if rows[*row as usize].sent < watermark.until {
                    let call = SmallVec::from_slice(group);
                    let call = Call::settle(self.table, call, Grouping::Explicit, &watermark.horizon);
                    found(&call, group, watermark.reached(self.table, group));
                }
                continue;
            }
            // Which call of an id an attempt belongs to depends on the earlier calls, so calls are released in order.
            let mut all_earlier_over = true;
            for mut part in reuse::split(self.table, group) {
                all_earlier_over &= watermark.reached(self.table, &part.rows);
                if part.rows.iter().any(|row| links.contains(*row)) {
                    remaining.linked.extend(all_earlier_over.then(|| Unsettled::of_part(part)));
                    continue;
                }
                let all = part.rows.clone();
                part.rows.retain(|row| rows[*row as usize].sent < watermark.until);
                if !part.rows.is_empty() {
                    let call = Call::settle_split(self.table, part, &watermark.horizon);
                    found(&call, &all, all_earlier_over);
                }
            }
        }
    }

    /// Returns the grouping of a call that consists of this row alone.
    fn grouping_of(&self, row: u32) -> Grouping {
        let row = &self.table.rows[row as usize];
        if row.flags.has(Flags::NO_CALL_ID) { infer::grouping_alone(row) } else { Grouping::Explicit }
    }
}
