//! Single lines of one input, read apart from the rest.

use super::chunk::{Account, Reading};
use super::conventions::Conventions;
use super::dialect::Dialect;
use super::filter::Filter;
use super::native::Lane;
use crate::model::{AttemptTable, Zone};
use std::borrow::Cow;

/// Lines picked out of an input, as rows.
pub(crate) struct Excerpt<'c> {
    reading: Reading<'c>,
    table: AttemptTable,
    account: Account,
    lane: Lane,
}

impl<'c> Excerpt<'c> {
    /// No line yet of the input numbered `file`, whose nameless records belong to the run `stream`.
    pub(crate) fn new(
        file: u32,
        stream: &'c str,
        zone: Zone,
        filter: &'c Filter,
        dialect: &'c Dialect,
        conventions: Conventions,
    ) -> Excerpt<'c> {
        let reading = Reading {
            file,
            stream,
            zone,
            filter: Some(filter),
            dialect,
            keep_rejects: false,
            keep_ids: false,
            conventions,
        };
        let mut lane = Lane::default();
        let mut table = AttemptTable::default();
        lane.start_table(&dialect.fields, 0, &mut table);
        Excerpt { reading, table, account: Account::default(), lane }
    }

    /// Reads `line`, the one with this number of its input. `filter` decides instead of the excerpt's own, and
    /// `keep_ids` keeps its ids whatever it is. Says how many attempts it held.
    pub(crate) fn take(&mut self, line: &[u8], number: u32, filter: Option<&Filter>, keep_ids: bool) -> usize {
        let before = self.rows();
        let text = simdutf8::basic::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        let filter = filter.or(self.reading.filter);
        let reading = Reading { filter, keep_ids, ..self.reading };
        self.account.line(text.trim_ascii_end(), number, &reading, &mut self.lane, &mut self.table);
        self.rows() - before
    }

    /// Attempts so far.
    pub(crate) fn rows(&self) -> usize {
        self.table.rows.len()
    }

    /// The attempts.
    pub(crate) fn finish(mut self) -> AttemptTable {
        self.table.price(&self.reading.dialect.prices);
        self.table
    }
}
