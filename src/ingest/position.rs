//! Where records stand, and what their surroundings say for them.

use crate::model::Time;

/// Where a line that an envelope held stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The line of the file, from 1.
    pub(crate) line: u32,
    /// Which of several records of that line or document, from 0.
    pub(crate) record: u32,
    /// What its envelope says for it: the number of a [`Given`].
    pub(crate) given: u32,
}

/// What stands in for what a record does not say itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    /// When it was written.
    pub(crate) time: Option<Time>,
    /// Where it comes from: nameless records of one source belong together.
    pub(crate) source: Option<Box<str>>,
    pub(crate) run: Option<Box<str>>,
    pub(crate) call: Option<Box<str>>,
}

/// Where a record stands in its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position<'g> {
    /// The line it begins on, from 1.
    pub(crate) line: u32,
    /// Which of several records of that line or document, from 0.
    pub(crate) record: u32,
    /// What its surroundings say for it.
    pub(crate) given: Option<&'g Given>,
}

impl Position<'_> {
    /// A whole line.
    pub(crate) fn line(line: u32) -> Position<'static> {
        Position { line, record: 0, given: None }
    }
}
