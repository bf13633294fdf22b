//! logfmt: `ts=2026-01-05T10:00:00Z status=429 msg="rate limited"`, optionally after other words of the logger.

use super::json_lines::JsonLines;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::record::{Mapping, is_field};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Format of lines of key-value pairs.
pub(in crate::ingest) struct Logfmt;

/// Minimum number of pairs in a line.
const MIN_PAIRS: usize = 3;

impl Format for Logfmt {
    fn name(&self) -> &'static str {
        "logfmt"
    }

    fn description(&self) -> &'static str {
        "key=value pairs on each line, values in double quotes where they hold spaces."
    }

    fn detected_by(&self) -> &'static str {
        "lines with three pairs or more, two of whose keys are fields of an attempt"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        Match::weak(head.lines().filter(|line| fits(line, &head.dialect.fields)).count(), head.lines().count())
    }

    fn raw_is_native(&self) -> bool {
        true
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(LogfmtDecoder::default())
    }
}

#[derive(Default)]
struct LogfmtDecoder {
    lines: JsonLines,
}

impl Decoder for LogfmtDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            if pairs(line).take(MIN_PAIRS).count() < MIN_PAIRS {
                return sink.noise();
            }
            self.lines.begin(at);
            pairs(line).for_each(|(key, value)| self.lines.member(key, &value));
            self.lines.end();
            self.lines.decode_full_batch(sink);
        });
        self.lines.decode(sink);
    }
}

/// Whether a line has enough pairs, at least two of which are fields of an attempt.
fn fits(line: &str, custom: &Mapping) -> bool {
    if line.starts_with(['{', '[']) {
        return false;
    }
    let (mut all, mut known) = (0, 0);
    for (key, _) in pairs(line) {
        all += 1;
        known += usize::from(is_field(key, custom));
    }
    all >= MIN_PAIRS && known >= 2
}

/// Returns the pairs of a line, skipping words that are not pairs.
fn pairs(line: &str) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start();
            if rest.is_empty() {
                return None;
            }
            let end = end_before(rest, |c| c.is_whitespace() || matches!(c, '=' | '"'));
            let (key, tail) = rest.split_at(end);
            let Some(value) = tail.strip_prefix('=').filter(|_| is_key(key)) else {
                // A plain or quoted word, or a single punctuation character.
                rest = if tail.starts_with('"') { quoted_value(tail).1 } else { &tail[first_char_len(tail)..] };
                continue;
            };
            let (value, after) = if value.starts_with('"') { quoted_value(value) } else { unquoted_value(value) };
            rest = after;
            return Some((key, value));
        }
    })
}

/// Returns the index of the first character for which `ends` is true. ASCII characters, nearly all, are compared
/// without decoding UTF-8.
fn end_before(text: &str, ends: impl Fn(char) -> bool) -> usize {
    let is_stop = |byte: u8| !byte.is_ascii() || ends(char::from(byte));
    match text.bytes().position(is_stop) {
        Some(at) if text.is_char_boundary(at + 1) => at,
        Some(at) => text[at..].find(&ends).map_or(text.len(), |more| at + more),
        None => text.len(),
    }
}

/// Length of the first character in bytes.
fn first_char_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

fn is_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '/'))
}

/// Splits off a value: up to the next space, or to the end of a JSON object or array.
fn unquoted_value(text: &str) -> (Cow<'_, str>, &str) {
    let mut reader = crate::ingest::record::json::Reader::new(text);
    let end = if text.starts_with(['{', '[']) && reader.skip().is_ok() {
        reader.offset()
    } else {
        end_before(text, char::is_whitespace)
    };
    (Cow::Borrowed(&text[..end]), &text[end..])
}

/// Splits off a value in double quotes. Without a closing quote, it extends to the end of the text.
fn quoted_value(text: &str) -> (Cow<'_, str>, &str) {
    let inside = &text[1..];
    match memchr::memchr2(b'"', b'\\', inside.as_bytes()) {
        Some(end) if inside[end..].starts_with('"') => return (Cow::Borrowed(&inside[..end]), &inside[end + 1..]),
        None => return (Cow::Borrowed(inside), ""),
        Some(_) => {}
    }
    let mut value = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (Cow::Owned(value), &inside[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, 'r')) => value.push('\r'),
                Some((_, escaped)) => value.push(escaped),
                None => value.push('\\'),
            },
            c => value.push(c),
        }
    }
    (Cow::Owned(value), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_with_and_without_quotes() {
        let line = r#"INFO a=1 b="x \"y\" z" c= d={"e": [1, 2]} odd =f "g=h" é=ü i.j-k=l=m ö="ä b" n="open"#;
        let all: Vec<(&str, String)> = pairs(line).map(|(key, value)| (key, value.into_owned())).collect();
        let expected = [
            ("a", "1"),
            ("b", r#"x "y" z"#),
            ("c", ""),
            ("d", r#"{"e": [1, 2]}"#),
            ("é", "ü"),
            ("i.j-k", "l=m"),
            ("ö", "ä b"),
            ("n", "open"),
        ];
        assert_eq!(all, expected.map(|(key, value)| (key, value.to_owned())));
    }
}
