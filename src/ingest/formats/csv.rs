//! CSV and TSV with a header line that names the fields.

use super::json_lines::JsonLines;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Mapping, is_field};
use crate::ingest::sink::Sink;
use ::csv::{ReaderBuilder, StringRecord};

/// Values between commas, tabs or semicolons, under a line of names.
pub(in crate::ingest) struct Csv;

/// What may stand between values.
const SEPARATORS: [u8; 3] = [b',', b'\t', b';'];

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn description(&self) -> &'static str {
        "Values between commas, tabs or semicolons, under a first line that names the fields."
    }

    fn told_by(&self) -> &'static str {
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

    fn gives_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(CsvDecoder::default())
    }
}

/// The names of the columns, and what stands between them.
struct Header {
    separator: u8,
    names: StringRecord,
}

impl Header {
    fn of(line: &str, own: &Mapping) -> Option<Header> {
        let header = |separator: &u8| {
            let names = row(line, *separator)?;
            let is_key =
                |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | ' '));
            let known = names.iter().filter(|name| is_field(name.trim(), own)).count();
            (known >= 3 && names.iter().all(is_key)).then_some((known, Header { separator: *separator, names }))
        };
        let best = SEPARATORS.iter().filter_map(header).max_by_key(|(known, _)| *known);
        best.map(|(_, header)| header)
    }
}

/// One row; `None` where a quote is left open.
fn row(text: &str, separator: u8) -> Option<StringRecord> {
    let mut reader =
        ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut row = StringRecord::new();
    reader.read_record(&mut row).ok().filter(|read| *read).map(|_| row)
}

#[derive(Default)]
struct CsvDecoder {
    header: Option<Header>,
    /// A row that goes on in the next line: a value holds a newline.
    open: Option<(String, u32)>,
    lines: JsonLines,
}

impl Decoder for CsvDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| self.line(sink, line.trim_start_matches('\u{feff}'), at));
        self.lines.decode(sink);
    }

    fn finish(&mut self, sink: &mut Sink<'_>) {
        if let Some((text, line)) = self.open.take() {
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
        let (text, at) = match self.open.take() {
            Some((text, first)) => (text + "\n" + line, Position { line: first, ..at }),
            None => (line.to_owned(), at),
        };
        if text.bytes().filter(|byte| *byte == b'"').count() % 2 == 1 && text.len() < LONGEST_ROW {
            self.open = Some((text, at.line));
            return;
        }
        let Some(row) = row(&text, header.separator) else {
            return sink.reject("no row of values", 0, &text, at);
        };
        if row == header.names {
            // Files put together bring theirs along.
            return sink.noise();
        }
        self.lines.begin(at);
        header.names.iter().zip(&row).for_each(|(name, value)| self.lines.member(name.trim(), value.trim()));
        self.lines.end();
    }
}

/// Longest row, in bytes.
const LONGEST_ROW: usize = 1 << 20;
