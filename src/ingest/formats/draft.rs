//! Attempts assembled from several records, emitted once the call they belong to is known.

use super::json_lines::JsonLines;
use crate::ingest::position::{Defaults, Position};
use crate::ingest::sink::Sink;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// An attempt as native fields, with its position in the input.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    line: u32,
    record: u32,
    defaults: Option<Defaults>,
    /// Each key, with the range of its value in `values`.
    members: Vec<(Cow<'static, str>, Range<usize>)>,
    values: String,
}

/// Initial capacity: number of members of a typical draft.
const TYPICAL_MEMBERS: usize = 16;

impl Draft {
    /// Creates a draft without fields.
    pub(super) fn at(at: Position<'_>) -> Draft {
        Draft {
            line: at.line,
            record: at.record,
            defaults: at.defaults.cloned(),
            members: Vec::with_capacity(TYPICAL_MEMBERS),
            values: String::new(),
        }
    }

    /// Returns the line of the input, from 1, and the index of the record on that line, from 0.
    pub(super) fn position(&self) -> (u32, u32) {
        (self.line, self.record)
    }

    /// Returns the values for fields that the record lacks.
    pub(super) fn defaults(&self) -> Option<&Defaults> {
        self.defaults.as_ref()
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| &self.values[value.clone()])
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a member, replacing an earlier value. Does nothing if `value` is `None`.
    pub(super) fn set(&mut self, key: impl Into<Cow<'static, str>>, value: impl IntoValue) {
        let (key, start) = (key.into(), self.values.len());
        if !value.append(&mut self.values) {
            return;
        }
        let range = start..self.values.len();
        match self.members.iter_mut().find(|(name, _)| *name == key) {
            Some((_, known)) => *known = range,
            None => self.members.push((key, range)),
        }
    }

    /// Sets a member unless it is already set.
    pub(super) fn set_if_missing(&mut self, key: &'static str, value: impl IntoValue) {
        if !self.has(key) {
            self.set(key, value);
        }
    }

    /// Writes the draft as a line of JSON.
    pub(super) fn write(&self, lines: &mut JsonLines) {
        lines.begin(Position { line: self.line, record: self.record, defaults: self.defaults.as_ref() });
        self.members.iter().for_each(|(key, value)| lines.member(key, &self.values[value.clone()]));
        lines.end();
    }
}

/// Decodes all drafts, in batches to bound the memory used.
pub(super) fn decode_all(drafts: impl IntoIterator<Item = Draft>, lines: &mut JsonLines, sink: &mut Sink<'_>) {
    for draft in drafts {
        draft.write(lines);
        lines.decode_full_batch(sink);
    }
    lines.decode(sink);
}

/// Types a member can be set to.
pub(super) trait IntoValue {
    /// Appends the value; `false` if there is none.
    fn append(self, values: &mut String) -> bool;
}

impl IntoValue for &str {
    fn append(self, values: &mut String) -> bool {
        values.push_str(self);
        true
    }
}

impl IntoValue for String {
    fn append(self, values: &mut String) -> bool {
        self.as_str().append(values)
    }
}

impl IntoValue for i64 {
    fn append(self, values: &mut String) -> bool {
        // Writing to a string does not fail.
        write!(values, "{self}").is_ok()
    }
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn append(self, values: &mut String) -> bool {
        self.is_some_and(|value| value.append(values))
    }
}
