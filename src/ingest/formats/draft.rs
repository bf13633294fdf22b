//! Attempts that are put together from several records, and told once it is known what they belong to.

use super::json_lines::JsonLines;
use crate::ingest::position::{Given, Position};
use crate::ingest::sink::Sink;
use std::borrow::Cow;
use std::ops::Range;

/// An attempt in native words, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    line: u32,
    record: u32,
    given: Option<Given>,
    /// Each with where its value stands in `values`.
    members: Vec<(Cow<'static, str>, Range<usize>)>,
    values: String,
}

/// Members of most drafts.
const USUAL: usize = 16;

impl Draft {
    pub(super) fn at(at: Position<'_>) -> Draft {
        Draft {
            line: at.line,
            record: at.record,
            given: at.given.cloned(),
            members: Vec::with_capacity(USUAL),
            values: String::new(),
        }
    }

    /// The line of the input it stands on.
    pub(super) fn place(&self) -> (u32, u32) {
        (self.line, self.record)
    }

    /// What its surroundings say for it.
    pub(super) fn given(&self) -> Option<&Given> {
        self.given.as_ref()
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| &self.values[value.clone()])
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets a member, in place of what it was; nothing where there is no value.
    pub(super) fn set(&mut self, key: impl Into<Cow<'static, str>>, value: impl IntoValue) {
        let (key, Some(value)) = (key.into(), value.into_value()) else { return };
        let start = self.values.len();
        self.values.push_str(&value);
        let place = start..self.values.len();
        match self.members.iter_mut().find(|(name, _)| *name == key) {
            Some((_, known)) => *known = place,
            None => self.members.push((key, place)),
        }
    }

    /// Sets a member that is not set so far.
    pub(super) fn fill(&mut self, key: &'static str, value: impl IntoValue) {
        if !self.has(key) {
            self.set(key, value);
        }
    }

    /// Writes it as a line.
    pub(super) fn write(&self, lines: &mut JsonLines) {
        lines.begin(Position { line: self.line, record: self.record, given: self.given.as_ref() });
        self.members.iter().for_each(|(key, value)| lines.member(key, &self.values[value.clone()]));
        lines.end();
    }
}

/// Has every draft read, few of them at once.
pub(super) fn read_all(drafts: impl IntoIterator<Item = Draft>, lines: &mut JsonLines, sink: &mut Sink<'_>) {
    for draft in drafts {
        draft.write(lines);
        lines.decode_enough(sink);
    }
    lines.decode(sink);
}

/// What a member may be set to.
pub(super) trait IntoValue {
    fn into_value(self) -> Option<String>;
}

impl IntoValue for &str {
    fn into_value(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl IntoValue for String {
    fn into_value(self) -> Option<String> {
        Some(self)
    }
}

impl IntoValue for i64 {
    fn into_value(self) -> Option<String> {
        Some(self.to_string())
    }
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Option<String> {
        self.and_then(IntoValue::into_value)
    }
}
