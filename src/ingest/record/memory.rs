//! What a worker remembers of the records before: logs repeat themselves.

use super::failures::Failures;
use super::origins::Origins;
use super::stated_waits::StatedWaits;
use crate::model::{AttemptTable, Widths};
use std::sync::atomic::{AtomicU64, Ordering};

/// Models and clients, failures and what they were judged to be, of the table at hand.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Memory {
    pub(in crate::ingest) origins: Origins,
    pub(in crate::ingest) failures: Failures,
    pub(in crate::ingest) waits: StatedWaits,
    widths: Widths,
    /// The analysis whose widths they are.
    analysis: u64,
    table: u64,
}

impl Memory {
    /// Begins `table`, a part of the analysis of this number, and forgets what belonged to another table or to another
    /// analysis.
    pub(in crate::ingest) fn start_table(&mut self, analysis: u64, table: &mut AttemptTable) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.table = NEXT.fetch_add(1, Ordering::Relaxed);
        if self.analysis != analysis {
            self.analysis = analysis;
            self.widths = Widths::default();
        }
        table.gauges.start(std::mem::take(&mut self.widths));
        self.origins.clear();
        self.failures.clear();
    }

    /// Remembers of `table`, which is complete, what helps with the next one.
    pub(in crate::ingest) fn end_table(&mut self, table: &mut AttemptTable) {
        self.widths = table.gauges.widths(&table.names);
    }

    /// Number of the table at hand: no other of this process has it.
    pub(in crate::ingest) fn table(&self) -> u64 {
        self.table
    }
}
