//! Detection of inputs that are not logs: output of this program, which mentions attempts but contains none, and binary
//! files.

use super::block::Block;
use super::format::{Decoder, Format, Match};
use super::head::Head;
use super::sink::Sink;

/// Kind of an input that is not a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NonLog {
    /// Output of this program, or a report in one of its formats; the text describes it in messages.
    Output(&'static str),
    /// A partial, which contains attempts already read.
    Partial,
    /// Binary data; the text describes it in messages.
    Binary(&'static str),
}

impl NonLog {
    /// Classifies the input whose decompressed content begins with `front`; `None` if it may be a log.
    pub(crate) fn of(front: &[u8]) -> Option<NonLog> {
        if front.starts_with(&PARTIAL) {
            return Some(NonLog::Partial);
        }
        binary(front).map(NonLog::Binary).or_else(|| program_output(front).map(NonLog::Output))
    }
}

/// Describes an output of this program that begins with `head`, or a report in one of its formats by another program;
/// `None` if it is neither.
#[must_use]
pub fn program_output(head: &[u8]) -> Option<&'static str> {
    /// Number of bytes examined: more than the members that identify a report take.
    const EXAMINED: usize = 2048;
    let head = String::from_utf8_lossy(&head[..head.len().min(EXAMINED)]);
    let head = head.trim_start_matches('\u{feff}').trim_start();
    if head.starts_with('{') {
        let is_sarif = head.contains("\"$schema\"") && head.contains("sarif") && head.contains("\"runs\"");
        let reports = [
            (is_report(head), "a report of retrylens"),
            (is_finding(head), "a list of findings of retrylens"),
            (is_sarif, "a SARIF report"),
        ];
        return reports.into_iter().find(|(is_it, _)| *is_it).map(|(_, description)| description);
    }
    if head.starts_with('<') {
        return head.contains("<testsuites").then_some("a JUnit report");
    }
    TABLES.iter().find(|(columns, _)| head.starts_with(columns)).map(|(_, name)| *name)
}

/// Starts of the tables this program writes that hold no attempts, with a description.
const TABLES: [(&str, &str); 3] = [
    ("rule,name,severity,confidence,", "a table of findings of retrylens"),
    ("run_id,calls,attempts,retries,", "a table of runs of retrylens"),
    ("first_sent,ended,run_id,call_id,", "a table of calls of retrylens"),
];

/// Whether this is a report, or a comparison of reports.
fn is_report(head: &str) -> bool {
    let generator = head.split_once("\"generator\"").filter(|(before, _)| before.contains("\"schema_version\""));
    generator.is_some_and(|(_, rest)| rest.trim_start_matches([':', ' ', '\n']).starts_with("\"retrylens"))
}

/// Whether this begins with a line that is a finding as JSON.
fn is_finding(head: &str) -> bool {
    let is_rule_number = |rest: &str| rest.len() > 3 && rest.as_bytes()[..3].iter().all(u8::is_ascii_digit);
    head.strip_prefix("{\"rule\":\"RL").is_some_and(is_rule_number)
        && ["\"severity\":", "\"confidence\":"].iter().all(|key| head.contains(key))
}

/// First bytes of a partial. As in the signature of PNG, a byte above 127 distinguishes it from ASCII text, and the
/// line ends reveal a transfer that converted them.
pub(crate) const PARTIAL: [u8; 8] = [0x89, b'R', b'L', b'P', b'\r', b'\n', 0x1a, b'\n'];
/// Error message for a partial given as a log.
pub(crate) const IS_PARTIAL: &str =
    "it is a partial of retrylens, not a log: `retrylens merge` and `retrylens analyze` read it";

/// Magic of a tar archive (POSIX.1-1988 ustar and GNU tar) and its offset, in bytes.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// Leading bytes of file types that are not text, with a description.
const MAGICS: [(&[u8], &str); 8] = [
    (b"\x7fELF", "an ELF program or library"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\xfd7zXZ\0", "packed by xz: unpack it first"),
    (b"BZh", "packed by bzip2: unpack it first"),
    (b"\x04\x22\x4d\x18", "packed by lz4: unpack it first"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG", "a PNG image"),
];

/// Valid UTF-8 counts as text if fewer than one byte in this many is zero.
const BYTES_PER_ZERO: usize = 32;

/// Describes binary data; `None` if it may be text.
///
/// A few lines of a log may contain zero bytes if the file was cut off while it was written, or if a disk lost a block.
/// In a binary file, at least half of the pieces between newlines contain some.
fn binary(front: &[u8]) -> Option<&'static str> {
    if let Some((_, what)) = MAGICS.iter().find(|(magic, _)| front.starts_with(magic)) {
        return Some(what);
    }
    if front.get(TAR.0..).is_some_and(|rest| rest.starts_with(TAR.1)) && front[..TAR.0].contains(&0) {
        return Some("a tar archive: unpack it first");
    }
    memchr::memchr(0, front)?;
    let (mut lines, mut lines_with_zeros) = (0_usize, 0_usize);
    for line in front.split(|byte| *byte == b'\n') {
        // Zero bytes around a line are what a file that was being written ends or begins with.
        let from = line.iter().position(|byte| !matches!(byte, 0 | b'\r')).unwrap_or(line.len());
        let to = line.iter().rposition(|byte| !matches!(byte, 0 | b'\r')).map_or(from, |last| last + 1);
        lines += usize::from(from < to);
        lines_with_zeros += usize::from(memchr::memchr(0, &line[from..to]).is_some());
    }
    let zeros = memchr::memchr_iter(0, front).count();
    let is_text =
        || front.utf8_chunks().all(|chunk| chunk.invalid().is_empty()) && zeros * BYTES_PER_ZERO < front.len();
    (lines_with_zeros > 0 && lines_with_zeros * 2 >= lines && !is_text())
        .then_some("a binary file, or text in UTF-16 without a byte order mark")
}

/// Format of inputs that are not logs: it yields no attempts.
pub(super) struct NonLogFormat {
    /// Whether its lines are counted.
    pub(super) is_text: bool,
}

/// Format names in reports for inputs that are not logs: output of this program, and binary files.
pub(super) const FORMAT_NAMES: [&str; 2] = ["retrylens-output", "binary"];

impl Format for NonLogFormat {
    fn name(&self) -> &'static str {
        if self.is_text { FORMAT_NAMES[0] } else { FORMAT_NAMES[1] }
    }

    fn description(&self) -> &'static str {
        "No log."
    }

    fn detected_by(&self) -> &'static str {
        "how it begins"
    }

    fn detect(&self, _: &Head<'_>) -> Match {
        Match::No
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(NonLogDecoder { is_text: self.is_text })
    }
}

/// Counts the lines of text, and ignores binary data.
struct NonLogDecoder {
    is_text: bool,
}

impl Decoder for NonLogDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        if self.is_text {
            block.each_line(sink, |sink, _, _| sink.noise());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_this_program_is_recognized_by_its_start() {
        for (head, what) in [
            ("{\n  \"schema_version\": 1,\n  \"generator\": \"retrylens 0.1.0\",", "a report of retrylens"),
            (r#"{"kind":"diff","schema_version":1,"generator":"retrylens 0.1.0","#, "a report of retrylens"),
            (
                r#"{"rule":"RL301","name":"n","severity":"error","confidence":"high","message":"m"}"#,
                "a list of findings of retrylens",
            ),
            ("{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"runs\": [", "a SARIF report"),
            ("<?xml version=\"1.0\"?>\n<testsuites name=\"t\">", "a JUnit report"),
            ("rule,name,severity,confidence,run_id\nRL301,", "a table of findings of retrylens"),
        ] {
            assert_eq!(NonLog::of(head.as_bytes()), Some(NonLog::Output(what)), "{head}");
        }
        for head in [
            r#"{"ts":1,"status":429,"generator":"retrylens"}"#,
            r#"{"rule":"RL301","ts":1767607200,"status":429}"#,
            r#"{"rule":"RLXYZ","severity":"error","confidence":"high","status":500}"#,
            "rule,ts,status\n",
            "<34>1 2026-03-04T05:06:07Z host app - - - x",
            "",
        ] {
            assert_eq!(NonLog::of(head.as_bytes()), None, "{head}");
        }
    }

    #[test]
    fn tar_archives_are_recognized_by_their_first_header() {
        let mut header = [&b"logs/a.jsonl"[..], &[0; 245], b"ustar\x0000"].concat();
        header.resize(512, 0);
        let archive = Some(NonLog::Binary("a tar archive: unpack it first"));
        assert_eq!(NonLog::of(&[&header[..], b"{\"ts\":1}\n".repeat(900).as_slice()].concat()), archive);
        // A text with the same word at the same offset.
        assert_eq!(NonLog::of(&[b" ".repeat(257).as_slice(), b"ustar\n"].concat()), None);
    }

    #[test]
    fn files_with_zero_bytes_in_most_lines_are_binary() {
        let is_binary = |front: &[u8]| matches!(NonLog::of(front), Some(NonLog::Binary(_)));
        assert!(is_binary(b"\x7fELF\x02\x01\x01\0\0"));
        assert!(is_binary(b"MZ\x90\0\x03\0\0\0\x04\nabc\0\x01"));
        assert!(is_binary(b"{\0\"\0a\0\"\0:\x001\0}\0\n\0"));
        let one_zero = [&[b'a'; 40][..], b"\0", &[b'b'; 40]].concat();
        // A log that was cut off while it was written, and one that lost a block.
        for log in [
            &b"\0\0\0\0{\"ts\":1}\n{\"ts\":2}\n"[..],
            b"{\"ts\":1}\n\0\0\0\0",
            b"{\"a\n\0\0ts\0\":1}\n{}\n{}\n",
            b"",
            &one_zero,
        ] {
            assert!(!is_binary(log), "{log:?}");
        }
    }
}
