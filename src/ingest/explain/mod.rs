//! How the first records of an input are understood: what each field says, and the keys that it says it from.
//!
//! A key is known by what it does: its value is changed, the input is read again, and the fields that say something else
//! are those that come from it. So this holds for every format, whatever reads it.

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

/// Attempts shown, and other records.
const ATTEMPTS_SHOWN: usize = 3;
const OTHERS_SHOWN: usize = 2;

/// How an input was understood.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The input.
    pub path: String,
    /// `plain`, `gzip`, `zstd`, `UTF-16`.
    pub packing: &'static str,
    /// What was around its lines, from the outside in.
    pub envelope: Option<String>,
    /// The format it is read in.
    pub format: &'static str,
    /// What that was told by.
    pub told_by: String,
    /// What is to be said of it, in sentences.
    pub notes: Vec<String>,
    /// Lines that were looked at, and how many of them are attempts.
    pub lines: u64,
    /// See `lines`.
    pub attempts: u64,
    /// Its first records.
    pub records: Vec<ExplainedRecord>,
    /// Keys that look like fields, and are not known as such.
    pub suggestions: Vec<Suggestion>,
    /// Attempts among the lines that were looked at if those keys were mapped.
    pub attempts_with_suggestions: u64,
}

/// How a record was understood.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedRecord {
    /// The line it begins on, from 1.
    pub line: u32,
    /// Whether it is an attempt.
    pub is_attempt: bool,
    /// Why it is none.
    pub reason: Option<String>,
    /// What it says.
    pub fields: Vec<ExplainedField>,
    /// Keys by which it was told to be a record at all.
    pub told_by: Vec<String>,
    /// Keys that were not used, with their values.
    pub ignored: Vec<(String, String)>,
}

/// What a field says, and from where.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedField {
    /// Its name in native records.
    pub field: String,
    /// What it says.
    pub value: String,
    /// The keys it says it from; none where it is read from text, or from what stands around the record.
    pub keys: Vec<String>,
}

/// A key that looks like a field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suggestion {
    /// The key, with the path to it in dots.
    pub key: String,
    /// The field it seems to stand for.
    pub field: &'static str,
    /// What its spans of time are counted in.
    pub unit: Option<&'static str>,
}

/// Looks at the front of `source` as an analysis by `options` would.
///
/// # Errors
/// Where it cannot be read.
pub fn explain(source: &Source, options: &Options) -> Result<Explained, IngestError> {
    let front = front_of(source).map_err(|error| IngestError::Io { name: source.name(), source: error })?;
    let settings = options.settings();
    let plan = Plan::of(&front, &settings);
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
        told_by: plan.why.clone(),
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

/// The records that are shown: the first attempts, and others that may have been meant as some.
fn shown(seen: &[Seen]) -> Vec<usize> {
    let of = |is_attempt: bool| (0..seen.len()).filter(move |nth| seen[*nth].is_attempt() == is_attempt);
    let mut shown: Vec<usize> = of(true).take(ATTEMPTS_SHOWN).collect();
    let others = if shown.is_empty() { ATTEMPTS_SHOWN } else { OTHERS_SHOWN };
    shown.extend(of(false).take(others));
    shown.sort_unstable();
    shown
}

/// How the record of number `nth` was understood; adds what its unknown keys seem to be.
fn record(front: &Front<'_>, nth: usize, suggestions: &mut Vec<Suggestion>) -> ExplainedRecord {
    let seen = &front.seen[nth];
    let mut fields: Vec<ExplainedField> = seen
        .members
        .iter()
        .map(|(field, value)| ExplainedField { field: field.clone(), value: masked(value), keys: Vec::new() })
        .collect();
    let (mut told_by, mut ignored) = (Vec::new(), Vec::new());
    if let Some(object) = front.object_of(seen) {
        for leaf in leaves::of(&object) {
            match effect(front, seen, &object, &leaf) {
                Effect::None => ignored.push(leaf),
                Effect::Record => told_by.push(masked(&leaf.key())),
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
    ExplainedRecord { line: seen.line, is_attempt: seen.is_attempt(), reason, fields, told_by, ignored }
}

/// What a value does.
enum Effect {
    None,
    /// Without it, or with another, it is no such record.
    Record,
    /// These fields say something else.
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

/// Adds what a key that is not used seems to be, where it would be read as that.
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

/// `dialect` with the keys of `suggestions` as well.
fn with(suggestions: &[Suggestion], mut dialect: Dialect) -> Dialect {
    for Suggestion { key, field, unit } in suggestions {
        let named = SpanUnit::NAMED.into_iter().find(|(name, _)| Some(*name) == *unit);
        let conversion = Conversion { unit: named.map(|(_, unit)| unit), ..Conversion::default() };
        // The names are those of fields.
        let _ = dialect.fields.add(key, field, &conversion);
    }
    dialect
}
