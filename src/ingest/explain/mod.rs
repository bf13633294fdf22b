//! Explains how the first records of an input are understood: the value of each field, and the keys it comes from.
//!
//! A key's effect is found by experiment: its value is changed, the input is read again, and the fields that change are
//! those read from the key. This works for every format and decoder.

mod examined;
mod guess;
mod leaves;

use super::dialect::Dialect;
use super::error::IngestError;
use super::limits::DETECTION_BYTES;
use super::open::ReadPlan;
use super::options::Options;
use super::reader;
use super::record::{Conversion, SpanUnit};
use super::source::{Source, bytes_of, packing};
use crate::untrusted::masked;
use examined::{ExaminedRecord, ExaminedStart};
use guess::{Guess, guess};
use leaves::Leaf;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};

/// Largest number of attempts that are explained.
const MAX_ATTEMPTS: usize = 3;
/// Largest number of other records that are explained.
const MAX_OTHERS: usize = 2;

/// Explanation of how an input is read.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// Path of the input.
    pub path: String,
    /// `plain`, `gzip`, `zstd` or `UTF-16`; `piped` for standard input, `unread` if it cannot be read.
    pub packing: &'static str,
    /// Envelopes of its lines, from the outside in.
    pub envelope: Option<String>,
    /// Name of the format it is read in.
    pub format: &'static str,
    /// Evidence for the format.
    pub detected_by: String,
    /// Remarks on how it is read, in sentences.
    pub notes: Vec<String>,
    /// Number of lines examined.
    pub lines: u64,
    /// Number of attempts in the lines examined.
    pub attempts: u64,
    /// Its first records.
    pub records: Vec<ExplainedRecord>,
    /// Unknown keys that look like fields.
    pub suggestions: Vec<Suggestion>,
    /// Number of attempts in the lines examined if the suggested keys were mapped.
    pub attempts_with_suggestions: u64,
}

/// Explanation of how a record is understood.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedRecord {
    /// Line on which it begins, counted from 1.
    pub line: u32,
    /// Whether it is an attempt.
    pub is_attempt: bool,
    /// Reason why it is not an attempt.
    pub reason: Option<String>,
    /// Its fields, in native spelling.
    pub fields: Vec<ExplainedField>,
    /// Keys without which it would not be such a record.
    pub recognized_by: Vec<String>,
    /// Keys that were not used, with their values.
    pub ignored: Vec<(String, String)>,
}

/// Value of a field, and its origin.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedField {
    /// Name of the field in native records.
    pub field: String,
    /// Value of the field.
    pub value: String,
    /// Keys the value comes from; empty if it comes from text, or from what encloses the record.
    pub keys: Vec<String>,
}

/// An unknown key that looks like a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// The key, as a dotted path.
    pub key: String,
    /// The field it seems to correspond to.
    pub field: &'static str,
    /// Unit in which its durations are counted.
    pub unit: Option<&'static str>,
}

/// Reads the start of `source` as an analysis with `options` would, and explains how.
///
/// # Errors
/// When it cannot be read.
pub fn explain(source: &Source, options: &Options) -> Result<Explained, IngestError> {
    let failed = |error| IngestError::Io { name: source.name(), source: error };
    let front = front_of(source).map_err(failed)?;
    let settings = options.settings();
    let plan = ReadPlan::of(&front, &settings);
    plan.refusal_error().map_or(Ok(()), Err).map_err(failed)?;
    let default_run = format!("file:{}", masked(&source.name()));
    let whole = ExaminedStart::new(&front, &plan, &default_run, settings);
    let chosen = choose(&whole.records);
    let start = whole.up_to(&chosen);
    let mut suggestions = Vec::new();
    let records = chosen.iter().map(|nth| explain_record(&start, *nth, &mut suggestions)).collect();
    let dialect = with_suggestions(&suggestions, options.dialect.clone());
    Ok(Explained {
        path: masked(&source.name()),
        packing: packing(source),
        envelope: plan.wrapping.name(),
        format: plan.format.name(),
        detected_by: plan.evidence.clone(),
        notes: plan.notes.iter().map(|note| masked(note)).collect(),
        lines: whole.lines,
        attempts: whole.attempts(),
        records,
        suggestions,
        attempts_with_suggestions: whole.attempts_with(&dialect),
    })
}

/// Returns the first bytes of a source, after decompression.
fn front_of(source: &Source) -> io::Result<Vec<u8>> {
    Ok(match (bytes_of(source)?, source) {
        (reader::Bytes::Plain(_), Source::File(path)) => {
            let mut front = Vec::new();
            File::open(path)?.take(DETECTION_BYTES as u64).read_to_end(&mut front)?;
            front
        }
        (reader::Bytes::Plain(_), Source::Stdin) => Vec::new(),
        (reader::Bytes::Stream(stream), _) => reader::front_of(stream, DETECTION_BYTES).0,
    })
}

/// Returns the indexes of the records to explain: the first attempts, and the first other records, which may be meant
/// as attempts.
fn choose(records: &[ExaminedRecord]) -> Vec<usize> {
    let indexes = |is_attempt: bool| (0..records.len()).filter(move |nth| records[*nth].is_attempt() == is_attempt);
    let mut chosen: Vec<usize> = indexes(true).take(MAX_ATTEMPTS).collect();
    let others = if chosen.is_empty() { MAX_ATTEMPTS } else { MAX_OTHERS };
    chosen.extend(indexes(false).take(others));
    chosen.sort_unstable();
    chosen
}

/// Explains record number `nth`, and adds suggestions for its unknown keys.
fn explain_record(start: &ExaminedStart<'_>, nth: usize, suggestions: &mut Vec<Suggestion>) -> ExplainedRecord {
    let record = &start.records[nth];
    let mut fields: Vec<ExplainedField> = record
        .members
        .iter()
        .map(|(field, value)| ExplainedField { field: field.clone(), value: masked(value), keys: Vec::new() })
        .collect();
    let (mut recognized_by, mut ignored) = (Vec::new(), Vec::new());
    if let Some(object) = start.object_of(record) {
        for leaf in leaves::of(&object) {
            match effect(start, record, &object, &leaf) {
                Effect::None => ignored.push(leaf),
                Effect::Record => recognized_by.push(masked(&leaf.key())),
                Effect::Fields(names) => {
                    let of_key = fields.iter_mut().filter(|field| names.contains(&field.field));
                    of_key.for_each(|field| field.keys.push(masked(&leaf.key())));
                }
            }
        }
        ignored.iter().for_each(|leaf| suggest(start, record, leaf, suggestions));
    }
    let ignored = ignored.iter().map(|leaf| (masked(&leaf.key()), masked(&leaf.text()))).collect();
    let reason = record.reason.as_deref().map(masked);
    ExplainedRecord { line: record.line, is_attempt: record.is_attempt(), reason, fields, recognized_by, ignored }
}

/// Effect of a value on how its record is read.
enum Effect {
    None,
    /// Without the value, or with another one, there is no such record.
    Record,
    /// These fields change.
    Fields(BTreeSet<String>),
}

/// Finds the effect of a value by changing and by removing it.
fn effect(start: &ExaminedStart<'_>, record: &ExaminedRecord, object: &serde_json::Value, leaf: &Leaf) -> Effect {
    for other in [leaf.changed(object), leaf.removed(object)].into_iter().flatten() {
        let Some(changed) = start.with_object(record, &other) else { return Effect::Record };
        let names: BTreeSet<String> = record.differences(&changed).collect();
        if !names.is_empty() {
            return Effect::Fields(names);
        }
    }
    Effect::None
}

/// Adds a suggestion for an unused key, if mapping it would have an effect.
fn suggest(start: &ExaminedStart<'_>, record: &ExaminedRecord, leaf: &Leaf, suggestions: &mut Vec<Suggestion>) {
    let key = leaf.key();
    let Some(Guess { field, unit }) = guess(&key, &leaf.value).filter(|_| leaf.is_mappable()) else { return };
    // A key that is itself a secret must not be shown.
    if masked(&key) != key || suggestions.iter().any(|known| known.key == key || known.field == field) {
        return;
    }
    let suggestion = Suggestion { key, field, unit: unit.map(SpanUnit::name) };
    let dialect = with_suggestions(std::slice::from_ref(&suggestion), start.settings.dialect.clone());
    let adds_field = |mapped: ExaminedRecord| record.differences(&mapped).any(|name| !record.has(&name));
    if start.with_dialect(record, &dialect).is_some_and(adds_field) {
        suggestions.push(suggestion);
    }
}

/// Returns `dialect` extended by the keys of `suggestions`.
fn with_suggestions(suggestions: &[Suggestion], mut dialect: Dialect) -> Dialect {
    for Suggestion { key, field, unit } in suggestions {
        let named = SpanUnit::NAMED.into_iter().find(|(name, _)| Some(*name) == *unit);
        let conversion = Conversion { unit: named.map(|(_, unit)| unit), ..Conversion::default() };
        // Suggested names are always those of fields, so adding them does not fail.
        let _ = dialect.fields.add(key, field, &conversion);
    }
    dialect
}
