//! Records rewritten as lines of JSON, which the native decoder reads with all that it supports.

use super::native::NativeDecoder;
use super::text::literal::quote;
use crate::ingest::block::Block;
use crate::ingest::format::Decoder;
use crate::ingest::position::{Defaults, OriginalPosition, Position};
use crate::ingest::record::json::Reader;
use crate::ingest::sink::Sink;

/// Batch size in bytes: small enough to stay in the processor's cache.
const BATCH: usize = 1 << 18;

/// JSON lines being built, and the decoder that reads them.
#[derive(Default)]
pub(super) struct JsonLines {
    bytes: String,
    positions: Vec<OriginalPosition>,
    defaults: Vec<Defaults>,
    native: NativeDecoder,
}

impl JsonLines {
    /// Begins the record at position `at`.
    pub(super) fn begin(&mut self, at: Position<'_>) {
        let defaults = at.defaults.map_or(u32::MAX, |defaults| {
            if self.defaults.last() != Some(defaults) {
                self.defaults.push(defaults.clone());
            }
            (self.defaults.len() - 1) as u32
        });
        self.positions.push(OriginalPosition { line: at.line, record: at.record, defaults });
        self.bytes.push('{');
    }

    /// Adds a member. A value that is a JSON object or array is kept as JSON; an empty value becomes null.
    pub(super) fn member(&mut self, key: &str, value: &str) {
        self.separate();
        quote(key, &mut self.bytes);
        self.value(value);
    }

    /// Like [`JsonLines::member`] with an already quoted key, as returned by [`quoted`].
    pub(super) fn member_with_quoted_key(&mut self, key: &str, value: &str) {
        self.separate();
        self.bytes.push_str(key);
        self.value(value);
    }

    fn separate(&mut self) {
        if !self.bytes.ends_with('{') {
            self.bytes.push(',');
        }
    }

    fn value(&mut self, value: &str) {
        self.bytes.push(':');
        if value.is_empty() {
            self.bytes.push_str("null");
        } else if is_structure(value) {
            self.bytes.extend(value.chars().map(|c| if c.is_ascii_control() { ' ' } else { c }));
        } else {
            quote(value, &mut self.bytes);
        }
    }

    /// Ends the record.
    pub(super) fn end(&mut self) {
        self.bytes.push_str("}\n");
    }

    /// Decodes all records added since the last call if there are enough for a batch.
    pub(super) fn decode_full_batch(&mut self, sink: &mut Sink<'_>) {
        if self.bytes.len() >= BATCH {
            self.decode(sink);
        }
    }

    /// Decodes all records added since the last call. The count of input lines is left unchanged.
    pub(super) fn decode(&mut self, sink: &mut Sink<'_>) {
        let counted = sink.newlines;
        self.native.decode(&Block::unwrapped(self.bytes.as_bytes(), &self.positions, &self.defaults), sink);
        sink.newlines = counted;
        self.bytes.clear();
        self.positions.clear();
        self.defaults.clear();
    }
}

/// Returns `text` as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut json = String::new();
    quote(text, &mut json);
    json
}

fn is_structure(value: &str) -> bool {
    let mut reader = Reader::new(value);
    value.starts_with(['{', '[']) && reader.skip().is_ok() && reader.end().is_ok()
}
