//! Reads single lines of one input independently of the rest.

use super::block::Block;
use super::filter::Filter;
use super::format::Decoder;
use super::line_counts::{LineCounts, ReadSettings};
use super::open::{InputSettings, ReadPlan};
use super::record::RecordCaches;
use super::sink::{Destination, Sink};
use super::unwrap::{Unwrapper, Wrapping};
use crate::model::AttemptTable;

/// Reads selected lines of an input into rows.
pub(crate) struct LineReader<'c> {
    reading: ReadSettings<'c>,
    table: AttemptTable,
    counts: LineCounts,
    caches: RecordCaches,
    decoder: Box<dyn Decoder>,
    wrapping: Wrapping,
}

impl<'c> LineReader<'c> {
    /// Creates a reader for the input numbered `file`, which is read by `plan`; `default_run` is the run of records
    /// that name none.
    pub(crate) fn new(
        file: u32,
        default_run: &'c str,
        settings: &InputSettings<'c>,
        filter: &'c Filter,
        plan: &ReadPlan,
    ) -> LineReader<'c> {
        let reading = ReadSettings {
            file,
            default_run,
            zone: settings.zone,
            filter: Some(filter),
            dialect: settings.dialect,
            keep_rejects: false,
            keep_ids: false,
            has_other_inputs: false,
            conventions: plan.conventions,
        };
        let (mut caches, mut table) = (RecordCaches::default(), AttemptTable::default());
        caches.start_table(0, &mut table);
        LineReader {
            reading,
            table,
            counts: LineCounts::default(),
            caches,
            decoder: plan.decoder(),
            wrapping: plan.wrapping.clone(),
        }
    }

    /// Reads `line`, whose number in the input is `number`, and returns how many attempts it held. `filter` replaces
    /// the reader's own filter; `keep_ids` keeps the ids of the line's attempts.
    pub(crate) fn read_line(&mut self, line: &[u8], number: u32, filter: Option<&Filter>, keep_ids: bool) -> usize {
        let before = self.rows();
        let filter = filter.or(self.reading.filter);
        let reading = ReadSettings { filter, keep_ids, ..self.reading };
        self.decode(&Block::plain(line, number), reading);
        self.rows() - before
    }

    /// Reads the start of an input.
    pub(crate) fn read_front(&mut self, front: &[u8]) {
        let mut unwrapper = Unwrapper::new(&self.wrapping, self.reading.default_run, self.reading.zone);
        unwrapper.add_lines(front, 1);
        unwrapper.finish();
        let lines = unwrapper.take_lines();
        self.decode(&lines.block(), self.reading);
    }

    fn decode(&mut self, block: &Block<'_>, reading: ReadSettings<'_>) {
        let to = Destination::Rows { table: &mut self.table, caches: &mut self.caches };
        let mut sink = Sink { reading: &reading, counts: &mut self.counts, to, newlines: None };
        self.decoder.decode(block, &mut sink);
        self.decoder.finish(&mut sink);
    }

    /// Returns the number of attempts so far.
    pub(crate) fn rows(&self) -> usize {
        self.table.rows.len()
    }

    /// Returns the attempts.
    pub(crate) fn finish(mut self) -> AttemptTable {
        self.table.fill_costs(&self.reading.dialect.prices);
        self.table
    }
}
