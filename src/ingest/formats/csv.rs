//! CSV and TSV with a header line that names the fields.

use super::json_lines::{JsonLines, quoted};
use crate::ingest::attempts_table::{CLASS, DISTINCTIVE_COLUMNS, outcome_of_class};
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Mapping, is_field};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Format of comma-, tab- or semicolon-separated values with a header line.
pub(in crate::ingest) struct Csv;

/// Separators recognized between values.
const SEPARATORS: [u8; 3] = [b',', b'\t', b';'];

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn description(&self) -> &'static str {
        "Values between commas, tabs or semicolons, under a first line that names the fields."
    }

    fn detected_by(&self) -> &'static str {
        "a first line of names, at least three of them fields of an attempt"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match head.lines().next().and_then(|line| Header::of(line, &head.dialect.fields)) {
            Some(_) => Match::Sure,
            None => Match::No,
        }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn raw_is_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(CsvDecoder::default())
    }
}

/// Column names and the separator.
struct Header {
    separator: u8,
    names: Vec<String>,
    /// The names as quoted JSON keys.
    keys: Vec<String>,
    /// Index of the `class` column, if the table is one of attempts written by this program.
    class: Option<usize>,
}

impl Header {
    fn of(line: &str, custom: &Mapping) -> Option<Header> {
        let header = |separator: &u8| {
            let names: Vec<Cow<'_, str>> = row(line, *separator).collect();
            let is_key =
                |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | ' '));
            let known = names.iter().filter(|name| is_field(name.trim(), custom)).count();
            let is_header = known >= 3 && names.iter().all(|name| is_key(name));
            let keys = names.iter().map(|name| quoted(name.trim())).collect();
            let names: Vec<String> = names.into_iter().map(Cow::into_owned).collect();
            let is_table_of_attempts = DISTINCTIVE_COLUMNS.iter().all(|column| names.iter().any(|name| name == column));
            let class = names.iter().position(|name| is_table_of_attempts && name == CLASS);
            is_header.then_some((known, Header { separator: *separator, names, keys, class }))
        };
        let best = SEPARATORS.iter().filter_map(header).max_by_key(|(known, _)| *known);
        best.map(|(_, header)| header)
    }
}

/// Returns the values of one row.
fn row(text: &str, separator: u8) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let (value, tail) = value(rest?, separator);
        rest = tail;
        Some(value)
    })
}

/// Returns the first value of `text` and the text after its separator. In a quoted value, two quotes stand for one.
fn value(text: &str, separator: u8) -> (Cow<'_, str>, Option<&str>) {
    let Some(mut rest) = text.strip_prefix('"') else {
        let (value, tail) = up_to(text, separator);
        return (Cow::Borrowed(value), tail);
    };
    let mut value = Cow::Borrowed("");
    loop {
        let (part, tail) = up_to(rest, b'"');
        append(&mut value, part);
        // An unclosed quote ends with the row.
        let Some(tail) = tail else { return (value, None) };
        let Some(more) = tail.strip_prefix('"') else {
            rest = tail;
            break;
        };
        append(&mut value, "\"");
        rest = more;
    }
    let (part, tail) = up_to(rest, separator);
    append(&mut value, part);
    (value, tail)
}

/// Returns the text before the first `byte`, and the text after it if there is one.
fn up_to(text: &str, byte: u8) -> (&str, Option<&str>) {
    memchr::memchr(byte, text.as_bytes()).map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])))
}

/// Returns a value without the white space around it. The first check avoids the slower [`str::trim`] for most values.
fn trimmed(value: &str) -> &str {
    let is_graphic = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_graphic);
    if is_graphic(value.as_bytes().first()) && is_graphic(value.as_bytes().last()) { value } else { value.trim() }
}

fn append<'t>(value: &mut Cow<'t, str>, part: &'t str) {
    if value.is_empty() {
        *value = Cow::Borrowed(part);
    } else if !part.is_empty() {
        value.to_mut().push_str(part);
    }
}

#[derive(Default)]
struct CsvDecoder {
    header: Option<Header>,
    /// A row that continues on the next line because a value contains a newline, and the line on which it began.
    incomplete: Option<(String, u32)>,
    lines: JsonLines,
}

impl Decoder for CsvDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| self.line(sink, line.trim_start_matches('\u{feff}'), at));
        self.lines.decode(sink);
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        if let Some((text, line)) = self.incomplete.take() {
            sink.reject("a quote is left open", 0, &text, Position::line(line));
        }
    }
}

impl CsvDecoder {
    fn line(&mut self, sink: &mut Sink<'_>, line: &str, at: Position<'_>) {
        let Some(header) = self.header.as_ref() else {
            self.header = Header::of(line, &sink.dialect().fields);
            return sink.noise();
        };
        let (text, at) = match self.incomplete.take() {
            Some((text, first)) => (Cow::Owned(text + "\n" + line), Position { line: first, ..at }),
            None => (Cow::Borrowed(line), at),
        };
        if memchr::memchr_iter(b'"', text.as_bytes()).count() % 2 == 1 && text.len() < LONGEST_ROW {
            self.incomplete = Some((text.into_owned(), at.line));
            return;
        }
        let row = || row(&text, header.separator);
        if row().eq(header.names.iter().map(String::as_str)) {
            // Concatenated files repeat the header.
            return sink.noise();
        }
        self.lines.begin(at);
        header.keys.iter().zip(row()).for_each(|(key, value)| self.lines.member_with_quoted_key(key, trimmed(&value)));
        let class = header.class.and_then(|index| row().nth(index));
        if let Some((key, value)) = class.and_then(|class| outcome_of_class(&class)) {
            self.lines.member(key, value);
        }
        self.lines.end();
        self.lines.decode_full_batch(sink);
    }
}

/// Maximum length, in bytes, of a row that continues on further lines.
const LONGEST_ROW: usize = 1 << 20;
