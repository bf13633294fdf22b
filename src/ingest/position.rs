//! Positions of records in their input, and values given by what encloses them.

use crate::model::Time;

/// Position of a line that was taken out of an envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Line of the file, counted from 1.
    pub(crate) line: u32,
    /// Index of the record within that line or document, counted from 0.
    pub(crate) record: u32,
    /// Index of the [`Given`] of its envelope.
    pub(crate) given: u32,
}

/// Values used for what a record does not say itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// Time of writing.
    pub(crate) time: Option<Time>,
    /// Origin: records of one source that name no run belong together.
    pub(crate) source: Option<Box<str>>,
    pub(crate) run: Option<Box<str>>,
    pub(crate) call: Option<Box<str>>,
}

/// Position of a record in its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position<'g> {
    /// Line on which it begins, counted from 1.
    pub(crate) line: u32,
    /// Index of the record within that line or document, counted from 0.
    pub(crate) record: u32,
    /// Values given by what encloses it.
    pub(crate) given: Option<&'g Given>,
}

impl Position<'_> {
    /// Returns the position of a record that is a whole line.
    pub(crate) fn line(line: u32) -> Position<'static> {
        Position { line, record: 0, given: None }
    }
}
