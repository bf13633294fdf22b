//! Context of a record, and what becomes of it.

use super::unknown_outcome::UnknownOutcome;
use crate::ingest::conventions::Conventions;
use crate::ingest::dialect::Dialect;
use crate::ingest::filter::Filter;
use crate::ingest::position::Defaults;
use crate::model::Zone;

/// Position of a record, and the settings it is read with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordContext<'c> {
    pub(crate) file: u32,
    pub(crate) line: u32,
    /// Index of the record within that line or document, counted from 0.
    pub(crate) record: u32,
    /// Run of records that name none.
    pub(crate) default_run: &'c str,
    pub(crate) zone: Zone,
    /// Selects attempts; `None` for all.
    pub(crate) filter: Option<&'c Filter>,
    /// User-defined vocabulary of the log.
    pub(crate) dialect: &'c Dialect,
    /// Whether to keep the ids of every attempt, and a [`Detail`](crate::model::Detail) of every attempt that has
    /// anything for it.
    pub(crate) keep_ids: bool,
    /// Meaning of times and durations.
    pub(crate) conventions: Conventions,
    /// Values for fields that the record lacks.
    pub(crate) defaults: Option<&'c Defaults>,
}

impl<'c> RecordContext<'c> {
    /// Returns the context of a record that is not part of an input.
    pub(in crate::ingest) fn standalone(zone: Zone, dialect: &'c Dialect) -> RecordContext<'c> {
        let conventions = Conventions::default();
        RecordContext {
            file: 0,
            line: 0,
            record: 0,
            default_run: "",
            zone,
            filter: None,
            dialect,
            keep_ids: false,
            conventions,
            defaults: None,
        }
    }

    /// Whether the envelope or document around the record supplies a run or a call.
    pub(in crate::ingest) fn has_default_run_or_call(&self) -> bool {
        self.defaults.is_some_and(|defaults| defaults.run.is_some() || defaults.call.is_some())
    }
}

/// The start of an attempt, with what identifies its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) struct AttemptStart {
    /// Fingerprint of its call or, if the record names none, of its run.
    pub(in crate::ingest) key: [u64; 2],
    /// Its number in the call; 0 if the record has none.
    pub(in crate::ingest) number: u16,
}

/// Result of reading a record.
#[derive(Debug)]
pub(crate) enum ReadResult {
    /// An attempt, added to the table.
    Attempt,
    /// An attempt that the filter excludes.
    Filtered,
    /// Not an attempt.
    NotAnAttempt,
    /// An attempt that cannot be used, with the reason.
    Unusable(String),
    /// Looks like an attempt, but no known key gives its outcome.
    UnknownOutcome(UnknownOutcome),
    /// The start of an attempt.
    Start(AttemptStart),
}
