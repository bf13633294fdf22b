//! Explains how the first records of an input are understood: the value of each field, and the keys it comes from.
//!
//! A key's effect is found by experiment: its value is changed, the input is read again, and the fields that change are
//! those read from the key. This works for every format and decoder.

mod guess;
mod leaves;
mod look;

use super::dialect::Dialect;
use super::error::IngestError;
use super::limits::FRONT;
use super::open::Plan;
use super::options::Options;
use super::reader;
use super::record::{Conversion, SpanUnit};
use super::source::{Source, bytes_of, packing};
use crate::untrusted::masked;
use guess::{Guess, guess};
use leaves::Leaf;
use look::{Front, Seen};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};

/// Largest number of attempts shown, and of other records.
const ATTEMPTS_SHOWN: usize = 3;
const OTHERS_SHOWN: usize = 2;

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
    let plan = Plan::of(&front, &settings);
    plan.refused().map_or(Ok(()), Err).map_err(failed)?;
    let stream = format!("file:{}", masked(&source.name()));
    let whole = Front::new(&front, &plan, &stream, settings);
    let shown = shown(&whole.seen);
    let front = whole.up_to(&shown);
    let mut suggestions = Vec::new();
    let records = shown.iter().map(|nth| record(&front, *nth, &mut suggestions)).collect();
    let dialect = with(&suggestions, options.dialect.clone());
    Ok(Explained {
        path: masked(&source.name()),
        packing: packing(source),
        envelope: plan.wrapping.name(),
        format: plan.format.name(),
        detected_by: plan.why.clone(),
        notes: plan.notes.iter().map(|note| masked(note)).collect(),
        lines: whole.lines,
        attempts: whole.attempts(),
        records,
        suggestions,
        attempts_with_suggestions: whole.attempts_by(&dialect),
    })
}

fn front_of(source: &Source) -> io::Result<Vec<u8>> {
    Ok(match (bytes_of(source)?, source) {
        (reader::Bytes::Plain(_), Source::File(path)) => {
            let mut front = Vec::new();
            File::open(path)?.take(FRONT as u64).read_to_end(&mut front)?;
            front
        }
        (reader::Bytes::Plain(_), Source::Stdin) => Vec::new(),
        (reader::Bytes::Stream(stream), _) => reader::front_of(stream, FRONT).0,
    })
}

/// Returns the indexes of the records to show: the first attempts, and some other records that may be meant as
/// attempts.
fn shown(seen: &[Seen]) -> Vec<usize> {
    let of = |is_attempt: bool| (0..seen.len()).filter(move |nth| seen[*nth].is_attempt() == is_attempt);
    let mut shown: Vec<usize> = of(true).take(ATTEMPTS_SHOWN).collect();
    let others = if shown.is_empty() { ATTEMPTS_SHOWN } else { OTHERS_SHOWN };
    shown.extend(of(false).take(others));
    shown.sort_unstable();
    shown
}

/// Explains record number `nth`, and adds suggestions for its unknown keys.
fn record(front: &Front<'_>, nth: usize, suggestions: &mut Vec<Suggestion>) -> ExplainedRecord {
    let seen = &front.seen[nth];
    let mut fields: Vec<ExplainedField> = seen
        .members
        .iter()
        .map(|(field, value)| ExplainedField { field: field.clone(), value: masked(value), keys: Vec::new() })
        .collect();
    let (mut recognized_by, mut ignored) = (Vec::new(), Vec::new());
    if let Some(object) = front.object_of(seen) {
        for leaf in leaves::of(&object) {
            match effect(front, seen, &object, &leaf) {
                Effect::None => ignored.push(leaf),
                Effect::Record => recognized_by.push(masked(&leaf.key())),
                Effect::Fields(names) => {
                    let of_key = fields.iter_mut().filter(|field| names.contains(&field.field));
                    of_key.for_each(|field| field.keys.push(masked(&leaf.key())));
                }
            }
        }
        ignored.iter().for_each(|leaf| suggest(front, seen, leaf, suggestions));
    }
    let ignored = ignored.iter().map(|leaf| (masked(&leaf.key()), masked(&leaf.text()))).collect();
    let reason = seen.reason.as_deref().map(masked);
    ExplainedRecord { line: seen.line, is_attempt: seen.is_attempt(), reason, fields, recognized_by, ignored }
}

/// Effect of a value on how its record is read.
enum Effect {
    None,
    /// Without the value, or with another one, there is no such record.
    Record,
    /// These fields change.
    Fields(BTreeSet<String>),
}

fn effect(front: &Front<'_>, seen: &Seen, object: &serde_json::Value, leaf: &Leaf) -> Effect {
    for other in [leaf.changed(object), leaf.removed(object)].into_iter().flatten() {
        let Some(now) = front.again(seen, &other) else { return Effect::Record };
        let names: BTreeSet<String> = seen.differences(&now).collect();
        if !names.is_empty() {
            return Effect::Fields(names);
        }
    }
    Effect::None
}

/// Adds a suggestion for an unused key, if mapping it would have an effect.
fn suggest(front: &Front<'_>, seen: &Seen, leaf: &Leaf, suggestions: &mut Vec<Suggestion>) {
    let key = leaf.key();
    let Some(Guess { field, unit }) = guess(&key, &leaf.value).filter(|_| leaf.is_mappable()) else { return };
    if masked(&key) != key || suggestions.iter().any(|known| known.key == key || known.field == field) {
        return;
    }
    let suggestion = Suggestion { key, field, unit: unit.map(SpanUnit::name) };
    let dialect = with(std::slice::from_ref(&suggestion), front.settings.dialect.clone());
    let is_read = front.by(&dialect, seen).is_some_and(|now| seen.differences(&now).any(|name| !seen.says(&name)));
    if is_read {
        suggestions.push(suggestion);
    }
}

/// Returns `dialect` extended by the keys of `suggestions`.
fn with(suggestions: &[Suggestion], mut dialect: Dialect) -> Dialect {
    for Suggestion { key, field, unit } in suggestions {
        let named = SpanUnit::NAMED.into_iter().find(|(name, _)| Some(*name) == *unit);
        let conversion = Conversion { unit: named.map(|(_, unit)| unit), ..Conversion::default() };
        // Suggested names are always those of fields, so adding them does not fail.
        let _ = dialect.fields.add(key, field, &conversion);
    }
    dialect
}
