//! Where a record stands, and what becomes of it.

use super::unclear::Unclear;
use crate::ingest::conventions::Conventions;
use crate::ingest::dialect::Dialect;
use crate::ingest::filter::Filter;
use crate::ingest::position::Given;
use crate::model::Zone;

/// Where a record stands, and what it is read by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'c> {
    pub(crate) file: u32,
    pub(crate) line: u32,
    /// Which of several records of that line or document, from 0.
    pub(crate) record: u32,
    /// Stands for the run where a record names none.
    pub(crate) stream: &'c str,
    pub(crate) zone: Zone,
    /// Attempts wanted; `None` for all.
    pub(crate) filter: Option<&'c Filter>,
    /// What the log's own words mean.
    pub(crate) dialect: &'c Dialect,
    /// Give every attempt a [`Detail`], for its ids.
    pub(crate) keep_ids: bool,
    /// What times and durations mean.
    pub(crate) conventions: Conventions,
    /// What stands in for what a record does not say.
    pub(crate) given: Option<&'c Given>,
}

impl<'c> Place<'c> {
    /// Of a record on its own.
    pub(in crate::ingest) fn anywhere(zone: Zone, dialect: &'c Dialect) -> Place<'c> {
        let conventions = Conventions::default();
        Place {
            file: 0,
            line: 0,
            record: 0,
            stream: "",
            zone,
            filter: None,
            dialect,
            keep_ids: false,
            conventions,
            given: None,
        }
    }

    /// Whether a record's run or call may come from elsewhere.
    pub(in crate::ingest) fn names_for_others(&self) -> bool {
        self.given.is_some_and(|given| given.run.is_some() || given.call.is_some())
    }
}

/// An attempt that began, as what its end will look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ingest) struct Begun {
    /// Fingerprint of its call or, where the record names none, of its stream.
    pub(in crate::ingest) key: [u64; 2],
    /// Its number in the call, 0 where the record has none.
    pub(in crate::ingest) number: u16,
}

/// What became of a record.
#[derive(Debug)]
pub(crate) enum Taken {
    /// It is an attempt, and in the table.
    Attempt,
    /// It is an attempt the user did not ask for.
    Filtered,
    /// It is no attempt.
    NotAnAttempt,
    /// It is one, and cannot be used.
    Unusable(String),
    /// It looks like one, and nothing that is understood says how it went.
    Unclear(Unclear),
    /// It says that an attempt begins.
    Begun(Begun),
}
