//! Positions of records in their input, and defaults from the envelope or document around them.

use crate::model::Time;

/// Position in the file of a line that was taken out of an envelope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OriginalPosition {
    /// Line of the file, counted from 1.
    pub(crate) line: u32,
    /// Index of the record within that line or document, counted from 0.
    pub(crate) record: u32,
    /// Index of the [`Defaults`] from its envelope.
    pub(crate) defaults: u32,
}

/// Values from the envelope or document around a record, used for fields that the record lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Defaults {
    /// Time of writing.
    pub(crate) time: Option<Time>,
    /// What wrote the record; records from the same source that name no run are taken to be of one run.
    pub(crate) source: Option<Box<str>>,
    pub(crate) run: Option<Box<str>>,
    pub(crate) call: Option<Box<str>>,
}

/// Position of a record in its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position<'d> {
    /// Line on which it begins, counted from 1.
    pub(crate) line: u32,
    /// Index of the record within that line or document, counted from 0.
    pub(crate) record: u32,
    /// Values for fields that it lacks.
    pub(crate) defaults: Option<&'d Defaults>,
}

impl Position<'_> {
    /// Returns the position of a record that is a whole line.
    pub(crate) fn line(line: u32) -> Position<'static> {
        Position { line, record: 0, defaults: None }
    }
}
