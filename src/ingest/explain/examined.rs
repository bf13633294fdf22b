//! Start of an input that is read repeatedly: unchanged, with one record changed, or with another dialect.

use crate::ingest::block::Block;
use crate::ingest::dialect::Dialect;
use crate::ingest::format::Decoder;
use crate::ingest::formats::native::NativeDecoder;
use crate::ingest::head::whole_lines;
use crate::ingest::line_counts::{LineCounts, ReadSettings};
use crate::ingest::open::{InputSettings, ReadPlan};
use crate::ingest::position::{Defaults, OriginalPosition};
use crate::ingest::record::json::Reader;
use crate::ingest::record::{ReadResult, Record, RecordContext, attempt_timing, native_line};
use crate::ingest::sink::{Destination, Sink};
use crate::ingest::unwrap::Unwrapper;
use serde_json::Value;

/// Number of lines after the last examined record that are kept, because they may belong to it.
const LINES_AFTER: usize = 40;
/// Fields that only identify a record and do not describe its content.
const IDENTIFYING_FIELDS: [&str; 2] = ["record_hash", "converted_from"];

/// A record as a decoder read it.
#[derive(Clone, Debug)]
pub(super) struct ExaminedRecord {
    pub(super) line: u32,
    /// Index of the record within its line or document, counted from 0.
    record: u32,
    /// Index among the records of the same position, counted from 0: a format may make several attempts of one record.
    nth: usize,
    raw: String,
    /// Its fields by their native names, with their values.
    pub(super) members: Vec<(String, String)>,
    /// Reason why it is not an attempt.
    pub(super) reason: Option<String>,
}

impl ExaminedRecord {
    pub(super) fn is_attempt(&self) -> bool {
        self.reason.is_none()
    }

    /// Whether a field of this name has a value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(known, _)| known == name)
    }

    /// Returns the names of the fields whose values differ in `other`.
    pub(super) fn differences<'s>(&'s self, other: &'s ExaminedRecord) -> impl Iterator<Item = String> + 's {
        let lacks = |members: &[(String, String)], member: &(String, String)| !members.contains(member);
        let here = self.members.iter().filter(move |member| lacks(&other.members, member));
        let there = other.members.iter().filter(move |member| lacks(&self.members, member));
        here.chain(there).map(|(name, _)| name.clone())
    }
}

/// Start of an input, without its envelopes, and the records in it.
pub(super) struct ExaminedStart<'f> {
    pub(super) bytes: Vec<u8>,
    positions: Vec<OriginalPosition>,
    defaults: Vec<Defaults>,
    plan: &'f ReadPlan,
    default_run: &'f str,
    pub(super) settings: InputSettings<'f>,
    pub(super) records: Vec<ExaminedRecord>,
    /// Number of lines read.
    pub(super) lines: u64,
}

impl<'f> ExaminedStart<'f> {
    /// Reads the input that begins with `front`.
    pub(super) fn new(
        front: &[u8],
        plan: &'f ReadPlan,
        default_run: &'f str,
        settings: InputSettings<'f>,
    ) -> ExaminedStart<'f> {
        let mut unwrapper = Unwrapper::new(&plan.wrapping, default_run, settings.zone);
        unwrapper.add_lines(whole_lines(front), 1);
        unwrapper.finish();
        let lines = unwrapper.take_lines();
        let (bytes, positions, defaults) = (lines.bytes, lines.positions, lines.defaults);
        let records = Vec::new();
        let mut start = ExaminedStart { bytes, positions, defaults, plan, default_run, settings, records, lines: 0 };
        (start.records, start.lines) =
            start.read(&start.bytes, &start.positions, &mut *plan.decoder(), settings.dialect);
        start
    }

    pub(super) fn attempts(&self) -> u64 {
        self.records.iter().filter(|record| record.is_attempt()).count() as u64
    }

    /// Returns how many attempts there would be with another dialect.
    pub(super) fn attempts_with(&self, dialect: &Dialect) -> u64 {
        let plan = ReadPlan::of(&self.bytes, &InputSettings { dialect, ..self.settings });
        let records = self.read(&self.bytes, &self.positions, &mut *plan.decoder(), dialect).0;
        records.iter().filter(|record| record.is_attempt()).count() as u64
    }

    /// Returns a copy that ends a little after the given records.
    pub(super) fn up_to(&self, records: &[usize]) -> ExaminedStart<'f> {
        let last = records.last().and_then(|nth| self.records.get(*nth)).map_or(0, |record| record.line);
        let nth = self.positions.iter().rposition(|position| position.line <= last).map_or(0, |nth| nth + 1);
        let lines = nth.saturating_add(LINES_AFTER).min(self.positions.len());
        let end =
            memchr::memchr_iter(b'\n', &self.bytes).nth(lines.saturating_sub(1)).map_or(self.bytes.len(), |at| at + 1);
        ExaminedStart {
            bytes: self.bytes[..end].to_vec(),
            positions: self.positions[..lines].to_vec(),
            defaults: self.defaults.clone(),
            plan: self.plan,
            default_run: self.default_run,
            settings: self.settings,
            records: self.records.clone(),
            lines: self.lines,
        }
    }

    /// Returns the object a record was read from: its line, or the JSON that a text format made of it.
    pub(super) fn object_of(&self, record: &ExaminedRecord) -> Option<Value> {
        let object = |text: &str| serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
        self.line_of(record).and_then(|(text, _)| object(&text)).or_else(|| object(&record.raw))
    }

    /// Returns the line of a record, and its index among the lines.
    fn line_of(&self, record: &ExaminedRecord) -> Option<(String, usize)> {
        let is_same = |position: &OriginalPosition| (position.line, position.record) == (record.line, record.record);
        let nth = self.positions.iter().position(is_same)?;
        let line = self.bytes.split(|byte| *byte == b'\n').nth(nth)?;
        Some((String::from_utf8_lossy(line).into_owned(), nth))
    }

    /// Returns the record as it would be read if its object were `object`; `None` if it would not be a record.
    pub(super) fn with_object(&self, record: &ExaminedRecord, object: &Value) -> Option<ExaminedRecord> {
        let text = object.to_string();
        match self.line_of(record) {
            Some((line, nth)) if line.trim_start().starts_with('{') => {
                let lines: Vec<&[u8]> = self.bytes.split(|byte| *byte == b'\n').collect();
                let lines: Vec<&[u8]> = lines
                    .iter()
                    .enumerate()
                    .map(|(at, line)| if at == nth { text.as_bytes() } else { *line })
                    .collect();
                let bytes = lines.join(&b'\n');
                let records = self.read(&bytes, &self.positions, &mut *self.plan.decoder(), self.settings.dialect).0;
                find_same(record, records)
            }
            _ => self.read_alone(record, &text, self.settings.dialect),
        }
    }

    /// Returns the record as it would be read with another dialect.
    pub(super) fn with_dialect(&self, record: &ExaminedRecord, dialect: &Dialect) -> Option<ExaminedRecord> {
        match self.line_of(record) {
            Some((line, _)) if line.trim_start().starts_with('{') => {
                let records = self.read(&self.bytes, &self.positions, &mut *self.plan.decoder(), dialect).0;
                find_same(record, records)
            }
            _ => self.read_alone(record, &record.raw, dialect),
        }
    }

    /// Reads `text`, the line of JSON that a text format produced for the record, on its own.
    fn read_alone(&self, record: &ExaminedRecord, text: &str, dialect: &Dialect) -> Option<ExaminedRecord> {
        let position = self
            .positions
            .iter()
            .find(|position| (position.line, position.record) == (record.line, record.record))
            .copied()?;
        let line = format!("{text}\n");
        self.read(line.as_bytes(), &[position], &mut NativeDecoder::default(), dialect).0.into_iter().next()
    }

    /// Returns the records of lines at these positions, and the number of lines.
    fn read(
        &self,
        bytes: &[u8],
        positions: &[OriginalPosition],
        decoder: &mut dyn Decoder,
        dialect: &Dialect,
    ) -> (Vec<ExaminedRecord>, u64) {
        let reading = ReadSettings {
            file: 0,
            default_run: self.default_run,
            zone: self.settings.zone,
            filter: None,
            dialect,
            keep_rejects: false,
            keep_ids: false,
            has_other_inputs: false,
            conventions: self.plan.conventions,
        };
        let mut records: Vec<ExaminedRecord> = Vec::new();
        let mut counts = LineCounts::default();
        let mut take = |record: &Record<'_>, raw: &str, context: &RecordContext<'_>| {
            let nth =
                records.iter().filter(|known| (known.line, known.record) == (context.line, context.record)).count();
            let (result, reason) = match attempt_timing(record, raw, context) {
                Ok(_) => (ReadResult::Attempt, None),
                Err(result) => {
                    let reason = reason_of(&result, record);
                    (result, Some(reason))
                }
            };
            let members = members(&native_line(record, raw, context));
            let raw = raw.to_owned();
            records.push(ExaminedRecord { line: context.line, record: context.record, nth, raw, members, reason });
            result
        };
        let mut sink =
            Sink { reading: &reading, counts: &mut counts, to: Destination::Callback(&mut take), newlines: None };
        decoder.decode(&Block::unwrapped(bytes, positions, &self.defaults), &mut sink);
        decoder.finish(&mut sink);
        (records, counts.ledger.lines)
    }
}

/// Finds the record of the same position among records that were read again.
fn find_same(record: &ExaminedRecord, records: Vec<ExaminedRecord>) -> Option<ExaminedRecord> {
    let position = |record: &ExaminedRecord| (record.line, record.record, record.nth);
    records.into_iter().find(|other| position(other) == position(record))
}

/// Returns why a record is not an attempt.
fn reason_of(result: &ReadResult, record: &Record<'_>) -> String {
    match result {
        ReadResult::Unusable(reason) => reason.clone(),
        ReadResult::UnknownOutcome(unknown) => unknown.reason.clone(),
        _ if !record.has_outcome() => {
            "nothing that is understood says how it went, such as `status`, `error_type` or `outcome`".to_owned()
        }
        _ => "nothing that is understood says when it was, such as `ts`".to_owned(),
    }
}

/// Returns the members of a native line and of the objects in it, in order.
fn members(line: &str) -> Vec<(String, String)> {
    let mut members = Vec::new();
    // The line was written by this program and is valid JSON.
    let _ = read_members(&mut Reader::new(line), "", &mut members);
    members.retain(|(name, _)| !IDENTIFYING_FIELDS.contains(&name.as_str()));
    members
}

fn read_members(
    reader: &mut Reader<'_>,
    path: &str,
    members: &mut Vec<(String, String)>,
) -> Result<(), crate::ingest::record::json::Fault> {
    reader.object(|reader, key| {
        let name = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        match reader.peek() {
            Some(b'{') => read_members(reader, &name, members),
            Some(b't' | b'f') => {
                let truth = matches!(reader.peek(), Some(b't')).to_string();
                members.push((name, truth));
                reader.skip()
            }
            _ => {
                members.extend(reader.scalar()?.into_text().map(|text| (name, text.into_owned())));
                Ok(())
            }
        }
    })
}
