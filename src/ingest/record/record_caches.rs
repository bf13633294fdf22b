//! State that a worker keeps between records: caches, since logs repeat the same values.

use super::origins::OriginCache;
use super::stated_waits::StatedWaitCache;
use super::verdict_cache::VerdictCache;
use crate::model::{AttemptTable, BucketWidths};
use std::sync::atomic::{AtomicU64, Ordering};

/// Caches of origins, verdicts and stated waits, and state of the current table.
#[derive(Debug, Default)]
pub(in crate::ingest) struct RecordCaches {
    pub(in crate::ingest) origins: OriginCache,
    pub(in crate::ingest) verdicts: VerdictCache,
    pub(in crate::ingest) waits: StatedWaitCache,
    /// Bucket widths of the rate limit readings of the previous table, with which the next one begins.
    widths: BucketWidths,
    /// The analysis that `widths` belongs to.
    analysis: u64,
    /// Number of the current table, unique within the process.
    table: u64,
}

impl RecordCaches {
    /// Starts `table`, a part of the analysis of this number, and clears what belonged to another table or analysis.
    pub(in crate::ingest) fn start_table(&mut self, analysis: u64, table: &mut AttemptTable) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.table = NEXT.fetch_add(1, Ordering::Relaxed);
        if self.analysis != analysis {
            self.analysis = analysis;
            self.widths = BucketWidths::default();
        }
        table.headroom.start(std::mem::take(&mut self.widths));
        self.origins.clear();
        self.verdicts.clear();
    }

    /// Keeps the widths of `table`, which is complete, for the next table.
    pub(in crate::ingest) fn end_table(&mut self, table: &mut AttemptTable) {
        self.widths = table.headroom.widths(&table.names);
    }

    /// Returns the number of the current table, unique within the process.
    pub(in crate::ingest) fn table(&self) -> u64 {
        self.table
    }
}
