//! JSON that is not one object per line: arrays, objects that span lines, and records nested in a document.
//!
//! Every record is passed on as one line: in valid JSON a newline stands only between tokens, where a space means the
//! same.

use super::limits::LONGEST_LINE;
use super::position::OriginalPosition;
use super::record::json::Reader;
use super::record::scan;
use std::borrow::Cow;

/// U+FEFF in UTF-8, which some editors write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Selects which values of a document are records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every value, or every element of a top-level array.
    Values,
    /// The elements of the longest list of objects within each value, down to [`MAX_DEPTH`] levels.
    Nested,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::Values => "JSON document",
            Mode::Nested => "records inside a JSON document",
        }
    }
}

/// Largest document, in bytes, that is read as a whole in [`Mode::Nested`].
const LONGEST_DOCUMENT: usize = 1 << 30;
/// Number of levels of objects inside a value that are searched for lists of records.
const MAX_DEPTH: usize = 4;

/// Splits documents into records.
pub(super) struct Documents {
    mode: Mode,
    /// Text that was not passed on yet.
    rest: String,
    /// Number of bytes of `rest` that were scanned.
    scanned: usize,
    /// Line at which `rest` begins.
    line: u32,
    /// Line up to which `rest` was scanned.
    scanned_line: u32,
    state: State,
    /// Number of records passed on from the current value or array.
    record: u32,
}

/// State of the scanner within a document.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Number of open brackets within the current value.
    depth: usize,
    /// Whether the scanner is in an array whose elements are records.
    in_array: bool,
    in_string: bool,
    is_escaped: bool,
    /// Whether a value has begun.
    in_value: bool,
}

/// Called with a record and its position.
type Take<'t> = &'t mut dyn FnMut(&str, OriginalPosition);

impl Documents {
    pub(super) fn new(mode: Mode) -> Documents {
        Documents {
            mode,
            rest: String::new(),
            scanned: 0,
            line: 1,
            scanned_line: 1,
            state: State::default(),
            record: 0,
        }
    }

    /// Scans more text, which begins at line `first`, and passes on the records that it completes.
    pub(super) fn scan(&mut self, text: &str, first: u32, take: Take<'_>) {
        if self.rest.is_empty() {
            (self.line, self.scanned_line) = (first, first);
        }
        self.rest.push_str(text);
        self.emit_complete(take);
    }

    /// Passes on the remaining text, which is an incomplete value.
    pub(super) fn finish(&mut self, take: Take<'_>) {
        let rest = std::mem::take(&mut self.rest);
        if !rest.trim().is_empty() {
            self.emit(rest.trim_end(), take);
        }
    }

    fn position(&self) -> OriginalPosition {
        OriginalPosition { line: self.line, record: self.record, defaults: u32::MAX }
    }

    /// Returns the length in bytes up to which a value is kept until it is complete.
    fn longest(&self) -> usize {
        match self.mode {
            Mode::Values => LONGEST_LINE,
            Mode::Nested => LONGEST_DOCUMENT,
        }
    }

    /// Passes on every complete record.
    fn emit_complete(&mut self, take: Take<'_>) {
        let mut text = std::mem::take(&mut self.rest);
        let bytes = text.as_bytes();
        let (mut start, mut at) = (0, self.scanned);
        while let Some(byte) = bytes.get(at).copied() {
            at += 1;
            self.scanned_line += u32::from(byte == b'\n');
            if self.state.in_value {
                if self.state.is_plain_in_string(byte) {
                    at = scan::special(bytes, at);
                } else if self.state.ends_at(byte) {
                    self.emit(&text[start..at], take);
                    (start, self.line) = (at, self.scanned_line);
                }
                continue;
            }
            match byte {
                b'{' => {
                    (start, self.line) = (at - 1, self.scanned_line);
                    self.state = State { depth: 1, in_value: true, ..self.state };
                }
                // An array in an array starts over: its elements are records too.
                b'[' => {
                    self.state.in_array = true;
                    self.record = 0;
                    (start, self.line) = (at, self.scanned_line);
                }
                b']' if self.state.in_array => {
                    self.state.in_array = false;
                    self.record = 0;
                    (start, self.line) = (at, self.scanned_line);
                }
                // 0x1e begins each record of a JSON text sequence (RFC 7464).
                b',' | b' ' | b'\t' | b'\r' | b'\n' | 0x1e => {
                    (start, self.line) = (at, self.scanned_line);
                }
                _ if bytes[at - 1..].starts_with(BYTE_ORDER_MARK) => {
                    at += BYTE_ORDER_MARK.len() - 1;
                    (start, self.line) = (at, self.scanned_line);
                }
                // Not JSON: the line is passed on unchanged.
                _ => {
                    let Some(newline) = memchr::memchr(b'\n', &bytes[at..]) else {
                        // The line is incomplete so far.
                        self.scanned_line -= u32::from(byte == b'\n');
                        at -= 1;
                        break;
                    };
                    take(&text[text.floor_char_boundary(at - 1)..at + newline], self.position());
                    at += newline + 1;
                    self.scanned_line += 1;
                    (start, self.line) = (at, self.scanned_line);
                }
            }
        }
        // An unfinished value that is too long is passed on as it is, to be rejected.
        if at - start > self.longest() {
            take(&text[start..], self.position());
            (start, self.state) = (at, State::default());
            self.line = self.scanned_line;
        }
        self.scanned = at - start;
        // Keeps the beginning of an incomplete record.
        text.drain(..start);
        self.rest = text;
    }

    /// Passes on a value, or the records inside it.
    fn emit(&mut self, value: &str, take: Take<'_>) {
        if self.mode == Mode::Nested
            && let Some(records) = records_in(value)
        {
            let (mut line, mut counted) = (self.line, 0);
            for record in records {
                // The record is a slice of the value, so their addresses give its offset.
                let before = record.as_ptr() as usize - value.as_ptr() as usize;
                line += memchr::memchr_iter(b'\n', &value.as_bytes()[counted..before]).count() as u32;
                counted = before;
                take(&one_line(record), OriginalPosition { line, ..self.position() });
                self.record += 1;
            }
            return;
        }
        let position = self.position();
        take(&one_line(value), position);
        if self.state.in_array {
            self.record += 1;
        }
    }
}

impl State {
    /// Whether `byte` is an ordinary byte inside a string, so that the scanner can skip to the next special byte.
    #[inline]
    fn is_plain_in_string(self, byte: u8) -> bool {
        self.in_string && !self.is_escaped && !matches!(byte, b'"' | b'\\')
    }

    /// Advances by one byte of a value and returns whether the value ends there.
    #[inline]
    fn ends_at(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth -= 1;
                self.in_value = self.depth > 0;
                return !self.in_value;
            }
            _ => {}
        }
        false
    }
}

/// Returns a JSON value with its line breaks replaced by spaces.
fn one_line(value: &str) -> Cow<'_, str> {
    let (mut line, mut from) = (String::new(), 0);
    for end in memchr::memchr2_iter(b'\n', b'\r', value.as_bytes()) {
        line.reserve(value.len() - from);
        line.push_str(&value[from..end]);
        line.push(' ');
        from = end + 1;
    }
    if from == 0 {
        return Cow::Borrowed(value);
    }
    line.push_str(&value[from..]);
    Cow::Owned(line)
}

/// Returns the elements of the longest list of objects within `value`, if any.
fn records_in(value: &str) -> Option<Vec<&str>> {
    let mut longest = Vec::new();
    find_longest_list(value, MAX_DEPTH, &mut longest);
    (!longest.is_empty()).then_some(longest)
}

/// Replaces `longest` by the longest list of objects within `value`, if that is longer; `depth` levels of nested
/// objects are searched.
fn find_longest_list<'v>(value: &'v str, depth: usize, longest: &mut Vec<&'v str>) {
    let mut reader = Reader::new(value);
    // An incomplete value is searched as far as it goes.
    let _ = reader.object(|reader, _| {
        let first = reader.peek();
        let start = reader.offset();
        let whole = reader.skip();
        let member = if whole.is_ok() { &value[start..reader.offset()] } else { &value[start..] };
        match first {
            Some(b'[') => {
                let list = objects(member);
                if list.len() > longest.len() {
                    *longest = list;
                }
            }
            Some(b'{') if depth > 0 => find_longest_list(member, depth - 1, longest),
            _ => {}
        }
        whole
    });
}

/// Returns the elements of `list`, as far as it goes, if all of them are objects; else an empty vector.
fn objects(list: &str) -> Vec<&str> {
    let (mut objects, mut others) = (Vec::new(), false);
    let _ = Reader::new(list).list(|reader| {
        others |= reader.peek() != Some(b'{');
        let start = reader.offset();
        reader.skip()?;
        objects.push(&list[start..reader.offset()]);
        Ok(())
    });
    if others { Vec::new() } else { objects }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scans `text`, `step` lines at a time, and returns the records with their line and index.
    fn records(text: &str, mode: Mode, step: usize) -> Vec<(String, u32, u32)> {
        let mut documents = Documents::new(mode);
        let mut records = Vec::new();
        let mut take =
            |text: &str, position: OriginalPosition| records.push((text.to_owned(), position.line, position.record));
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for (nth, piece) in lines.chunks(step).enumerate() {
            documents.scan(&piece.concat(), (nth * step) as u32 + 1, &mut take);
        }
        documents.finish(&mut take);
        records
    }

    #[test]
    fn characters_that_share_bytes_with_a_byte_order_mark_are_text() {
        for text in ["{}\u{fffd}", "\u{feff}{\"a\": 1}\u{ff1a}", "\u{feff}"] {
            assert_eq!(
                records(text, Mode::Values, 1).len(),
                text.matches(['{', '\u{fffd}', '\u{ff1a}']).count(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn records_do_not_depend_on_how_much_is_scanned_at_once() {
        let text =
            "[\n {\"a\": 1,\n  \"b\": \"}]\\\"\"},\n {\"a\": 2}, {\"a\": 3}\n]\n{\n \"a\": [4]\n}\nwords\n{\"a\"";
        for step in 1..9 {
            let records = records(text, Mode::Values, step);
            let expected = [
                (r#"{"a": 1,   "b": "}]\""}"#, 2, 0),
                (r#"{"a": 2}"#, 4, 1),
                (r#"{"a": 3}"#, 4, 2),
                (r#"{  "a": [4] }"#, 6, 0),
                ("words", 9, 0),
                (r#"{"a""#, 10, 0),
            ];
            let expected = expected.map(|(text, line, record)| (text.to_owned(), line, record));
            assert_eq!(records, expected, "{step}");
        }
    }

    #[test]
    fn records_are_found_in_nested_objects() {
        let text = "{\"n\": [1], \"log\": {\"few\": [{}],\n\"entries\": [{\"a\": 1},\n{\"a\": 2}]}}\n";
        let expected = [("{\"a\": 1}".to_owned(), 2, 0), ("{\"a\": 2}".to_owned(), 3, 1)];
        assert_eq!(records(text, Mode::Nested, 1), expected);
    }
}
