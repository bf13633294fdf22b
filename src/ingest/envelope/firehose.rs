//! Amazon Data Firehose and Kinesis: records in base64, often compressed with gzip.

use super::{Each, Envelope, Inner, list, members, string};
use crate::ingest::limits::LONGEST_LINE;
use crate::model::Zone;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::io::Read;

/// `{"records":[{"data":"H4sI..."}]}`, or one such record per line.
pub(super) struct Firehose;

impl Envelope for Firehose {
    fn name(&self) -> &'static str {
        "Firehose"
    }

    fn detected_by(&self) -> &'static str {
        "`data` in base64, plain or gzip, also under `records[]` or `Records[].kinesis`"
    }

    fn unwrap_line(&self, line: &str, _: Zone, each: Each<'_>) -> bool {
        let Some([data, one, many, kinesis]) = members(line, ["data", "records", "Records", "kinesis"]) else {
            return false;
        };
        if let Some(records) = one.or(many).and_then(list) {
            return records.into_iter().filter(|record| self.unwrap_line(record, Zone::UTC, each)).count() > 0;
        }
        let nested = || members(kinesis?, ["data"])?[0];
        let Some(text) = data.or_else(nested).and_then(string).and_then(|data| decoded(&data)) else { return false };
        text.lines().filter(|line| !line.trim().is_empty()).for_each(|line| each(&Inner::of(line)));
        true
    }
}

/// Decodes base64, and gzip inside it. Returns `None` if the text would exceed the longest line.
fn decoded(data: &str) -> Option<String> {
    let bytes = STANDARD.decode(data.trim()).ok().filter(|bytes| bytes.len() >= 2)?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return String::from_utf8(bytes).ok();
    }
    let mut text = String::new();
    let mut unpacked = flate2::read::MultiGzDecoder::new(bytes.as_slice()).take(LONGEST_LINE as u64 + 1);
    unpacked.read_to_string(&mut text).ok()?;
    (text.len() <= LONGEST_LINE).then_some(text)
}
