//! Brings the rows of a table together by call.

use super::{Call, Grouping, Horizon, Quiet, infer, reuse, stream};
use crate::attempt::{AttemptTable, Flags};
use rayon::prelude::*;
use smallvec::SmallVec;

/// The rows of a table, ordered so that one call's, or one stream's, stand together.
#[derive(Debug)]
pub struct Groups<'a> {
    table: &'a AttemptTable,
    order: Vec<(u64, u32)>,
}

/// Groups the rows of `table` by their keys.
#[must_use]
pub fn group(table: &AttemptTable) -> Groups<'_> {
    group_from(table, 0)
}

/// Groups the rows of `table` from number `from` on.
#[must_use]
pub(crate) fn group_from(table: &AttemptTable, from: usize) -> Groups<'_> {
    let mut order: Vec<(u64, u32)> =
        table.rows.iter().enumerate().skip(from).map(|(index, row)| (row.key[0], index as u32)).collect();
    order.par_sort_unstable();
    Groups { table, order }
}

impl<'a> Groups<'a> {
    /// The table the rows are in.
    #[must_use]
    pub fn table(&self) -> &'a AttemptTable {
        self.table
    }

    /// Cuts into at most `parts` pieces of similar size, never inside a group.
    #[must_use]
    pub fn split(&self, parts: usize) -> Vec<&[(u64, u32)]> {
        let size = self.order.len().div_ceil(parts.max(1)).max(1);
        let mut rest = self.order.as_slice();
        let mut pieces = Vec::new();
        while rest.len() > size {
            let key = rest[size].0;
            let end = size + rest[size..].iter().take_while(|entry| entry.0 == key).count();
            let (piece, tail) = rest.split_at(end);
            pieces.push(piece);
            rest = tail;
        }
        if !rest.is_empty() {
            pieces.push(rest);
        }
        pieces
    }

    /// Hands every call of one piece to `settled`.
    pub fn calls(&self, piece: &[(u64, u32)], horizon: &Horizon, mut settled: impl FnMut(&Call<'a>)) {
        for group in piece.chunk_by(|a, b| a.0 == b.0) {
            if let [(_, row)] = group {
                let rows = SmallVec::from_slice(&[*row]);
                settled(&Call::settle(self.table, rows, self.grouping_of(*row), horizon));
            } else {
                self.group(group, horizon, &mut settled);
            }
        }
    }

    fn group(&self, group: &[(u64, u32)], horizon: &Horizon, settled: &mut impl FnMut(&Call<'a>)) {
        let rows = &self.table.rows;
        let mut members: Vec<u32> = group.iter().map(|entry| entry.1).collect();
        // Two keys may share their first half: tell them apart by the second.
        members.sort_by_key(|&index| rows[index as usize].key[1]);
        for same in members.chunk_by(|&a, &b| rows[a as usize].key[1] == rows[b as usize].key[1]) {
            if self.grouping_of(same[0]) == Grouping::Explicit {
                for call in reuse::split(self.table, same) {
                    settled(&Call::settle(self.table, call, Grouping::Explicit, horizon));
                }
            } else {
                for (call, grouping) in stream::split(self.table, same) {
                    settled(&Call::settle(self.table, call, grouping, horizon));
                }
            }
        }
    }

    /// Hands every call of one piece to `found`: one that nothing can continue any more with all its rows, another
    /// as it was at that time, with none. The rows of streams, whose calls are still to be found, go to `streams`.
    pub(crate) fn quiet_calls(
        &self,
        piece: &[(u64, u32)],
        quiet: &Quiet,
        mut found: impl FnMut(&Call<'a>, Option<&[u32]>),
        streams: &mut Vec<u32>,
    ) {
        let rows = &self.table.rows;
        for group in piece.chunk_by(|a, b| a.0 == b.0) {
            let mut members: SmallVec<[u32; 8]> = group.iter().map(|entry| entry.1).collect();
            members.sort_by_key(|&index| rows[index as usize].key[1]);
            for same in members.chunk_by(|&a, &b| rows[a as usize].key[1] == rows[b as usize].key[1]) {
                if self.grouping_of(same[0]) != Grouping::Explicit {
                    streams.extend_from_slice(same);
                    continue;
                }
                // A later call of the same id begins where the one before it ended: they go in their order.
                let mut over = true;
                for mut call in reuse::split(self.table, same) {
                    over &= quiet.reached(self.table, &call);
                    let all = over.then(|| call.clone());
                    call.retain(|row| rows[*row as usize].sent < quiet.until);
                    if !call.is_empty() {
                        let call = Call::settle(self.table, call, Grouping::Explicit, &quiet.horizon);
                        found(&call, all.as_deref());
                    }
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
