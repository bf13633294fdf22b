//! Lines of text in user-defined formats.

use super::json_lines::JsonLines;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::line_pattern::LinePattern;
use crate::ingest::sink::Sink;

/// Format of lines that match patterns in the configuration.
pub(in crate::ingest) struct CustomLines;

/// Detection is certain if at least one in this many lines matches a pattern.
const LINES_PER_MATCH: usize = 10;

impl Format for CustomLines {
    fn name(&self) -> &'static str {
        "own-lines"
    }

    fn description(&self) -> &'static str {
        "Lines of text that patterns of your own describe: [[lines]] of retrylens.toml."
    }

    fn detected_by(&self) -> &'static str {
        "lines that match a pattern of [[lines]]"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let patterns = &head.dialect.lines;
        if patterns.is_empty() {
            return Match::No;
        }
        let fit = head.lines().filter(|line| patterns.iter().any(|pattern| pattern.is_match(line))).count();
        let of = head.lines().count();
        if fit > 0 && fit * LINES_PER_MATCH >= of { Match::Sure } else { Match::weak(fit, of) }
    }

    fn raw_is_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(CustomLinesDecoder::default())
    }
}

#[derive(Default)]
struct CustomLinesDecoder {
    lines: JsonLines,
}

impl Decoder for CustomLinesDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        let patterns = &sink.dialect().lines;
        let mut buffers: Vec<_> = patterns.iter().map(LinePattern::capture_buffer).collect();
        block.each_line(sink, |sink, line, at| {
            let mut tried = patterns.iter().zip(&mut buffers);
            let matching =
                tried.find_map(|(pattern, buffer)| pattern.find(line, buffer).then_some((pattern, &*buffer)));
            let Some((pattern, captures)) = matching else { return sink.noise() };
            self.lines.begin(at);
            pattern.each(line, captures, |key, value| self.lines.member(key, value));
            self.lines.end();
            self.lines.decode_full_batch(sink);
        });
        self.lines.decode(sink);
    }
}
