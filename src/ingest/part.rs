//! Results of reading some inputs, before they are summarized. Joining parts gives the result of reading all of their
//! inputs at once.

use super::accumulator::{Accumulator, Merger};
use super::digest::Digest;
use super::error::IngestError;
use super::formats::FormatName;
use super::ingested::Ingested;
use super::line_counts;
use super::non_log;
use super::record::{FINGERPRINT, field_names};
use super::source::{Source, sort_key};
use super::unended_attempts::{OpenStart, StartsNeverEnded};
use crate::model::{Attempt, AttemptTable, Ledger, Reject, Time};
use serde::{Deserialize, Serialize};
use std::hash::BuildHasher;
use std::io;
use std::path::PathBuf;

/// Result of reading some inputs, or a stretch of each.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The attempts. Their file numbers are indexes into [`Facts::inputs`].
    pub(crate) table: AttemptTable,
    pub(crate) facts: Facts,
}

/// Facts about inputs other than their attempts. Inputs are referred to by number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) inputs: Vec<InputFacts>,
    /// The first rejected lines: input, line, column and reason.
    pub(crate) rejects: Vec<(u32, u64, u64, String)>,
    /// Values that could not be read as their field: the field, the count, and the input, line and text of the first.
    pub(crate) unreadable: Vec<(String, u64, (u32, u64, String))>,
    /// Number of lines that look like attempts, by the unknown key that seems to give the outcome and its probable
    /// field.
    pub(crate) unknown_outcomes: Vec<(Option<(String, String)>, u64)>,
    /// Logged starts of attempts whose end may still follow, and those whose end is certainly not logged.
    pub(crate) open: Vec<OpenStart>,
    pub(crate) never_ended: Vec<StartsNeverEnded>,
}

/// Facts about one input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InputFacts {
    pub(crate) name: String,
    pub(crate) format: String,
    pub(crate) envelope: Option<String>,
    /// Description of how it is read, and remarks on that.
    pub(crate) how_read: String,
    pub(crate) notes: Vec<String>,
    /// Bytes and lines of the input before what was read.
    pub(crate) start: (u64, u64),
    /// Bytes read, after decompression, and the number of line ends in them.
    pub(crate) read: (u64, u64),
    /// Fingerprint of the start of the input and of its first attempt, since logs of the same name on several hosts may
    /// start with the same long banner.
    pub(crate) fingerprint: u64,
    /// Number of lines, and of attempts, skipped, rejected and blank lines among them.
    pub(crate) ledger: [u64; 5],
    /// Error that kept it from being read to its end, and whether that is [`io::ErrorKind::NotFound`].
    pub(crate) failure: Option<(String, bool)>,
}

impl Part {
    /// Removes the attempts sent before `oldest`, with their lines and the rate limits read until then. Attempts
    /// without a date stay.
    pub(crate) fn forget(&mut self, oldest: Time) {
        let is_kept = |row: &Attempt| row.sent >= oldest || row.is_undated();
        for row in self.table.rows.iter().filter(|row| !is_kept(row)) {
            let [lines, attempts, ..] = &mut self.facts.inputs[row.file as usize].ledger;
            (*lines, *attempts) = (lines.saturating_sub(1), attempts.saturating_sub(1));
        }
        let kept = (0..).zip(&self.table.rows).filter(|(_, row)| is_kept(row)).map(|(nth, _)| nth);
        let kept: Vec<u32> = kept.collect();
        self.table.retain(&kept);
        self.table.headroom.forget(oldest);
    }
}

impl Facts {
    /// Whether every file number is that of an input, and every format and field is known.
    pub(crate) fn is_sound(&self) -> bool {
        let files = (self.rejects.iter().map(|(file, ..)| file))
            .chain(self.unreadable.iter().map(|(_, _, (file, ..))| file))
            .chain(self.open.iter().map(|(_, file, ..)| file))
            .chain(self.never_ended.iter().map(|(file, ..)| file));
        let fields = (self.unreadable.iter().map(|(field, ..)| field))
            .chain(self.unknown_outcomes.iter().filter_map(|(key, _)| Some(&key.as_ref()?.1)));
        let mut formats = self.inputs.iter().map(|input| format_named(&input.format));
        files.copied().all(|file| (file as usize) < self.inputs.len())
            && fields.map(String::as_str).all(|field| field_named(field).is_some())
            && formats.all(|format| format.is_some())
    }
}

fn format_named(name: &str) -> Option<&'static str> {
    let format = name.parse().ok().map(|format: FormatName| format.format().name());
    format.or_else(|| non_log::FORMAT_NAMES.into_iter().find(|known| *known == name))
}

fn field_named(name: &str) -> Option<&'static str> {
    field_names().chain(["header"]).find(|field| *field == name)
}

impl InputFacts {
    /// Returns a key that distinguishes inputs, ordered as sources are ordered when read at once.
    fn identity(&self) -> (Vec<u8>, &str, u64) {
        let source = match self.name.as_str() {
            "<stdin>" => Source::Stdin,
            name => Source::File(PathBuf::from(name)),
        };
        (sort_key(&source), &self.name, self.fingerprint)
    }

    /// Whether `other` holds bytes of the same input that this holds too.
    pub(crate) fn overlaps(&self, other: &InputFacts) -> bool {
        let ends = |facts: &InputFacts| facts.start.0.saturating_add(facts.read.0);
        self.name == other.name
            && self.fingerprint == other.fingerprint
            && self.start.0.max(other.start.0) < ends(self).min(ends(other))
    }
}

impl Accumulator {
    /// Returns what was read, as a part.
    pub(super) fn into_part(mut self) -> Part {
        self.merge_pending();
        let mut inputs: Vec<InputFacts> = (0..self.out.inputs.len()).map(|file| self.input_facts(file)).collect();
        let mut seen = vec![false; inputs.len()];
        for row in self.out.table.rows.iter().filter(|row| !std::mem::replace(&mut seen[row.file as usize], true)) {
            let input = &mut inputs[row.file as usize];
            input.fingerprint = FINGERPRINT.hash_one((input.fingerprint, row.sent.0, row.line, row.identity)).max(1);
        }
        for (file, note) in self.notes {
            inputs[file as usize].notes.push(note);
        }
        let rejects = self.rejects.into_iter().map(|(file, reject)| (file, reject.line, reject.column, reject.reason));
        let owned = |(key, field): (String, &'static str)| (key, field.to_owned());
        let (open, never_ended) = self.unended.into_lists();
        let facts = Facts {
            inputs,
            rejects: rejects.collect(),
            unreadable: self
                .unreadable
                .into_counts()
                .map(|(field, count, first)| (field.to_owned(), count, first))
                .collect(),
            unknown_outcomes: self.unknown_outcomes.into_iter().map(|(key, count)| (key.map(owned), count)).collect(),
            open,
            never_ended,
        };
        Part { table: self.out.table, facts }
    }

    fn input_facts(&self, file: usize) -> InputFacts {
        let input = &self.out.inputs[file];
        let Ledger { lines, attempts, skipped, rejected, blank, .. } = input.ledger;
        let failure = self.failures.get(&(file as u32));
        InputFacts {
            name: input.path.clone(),
            format: input.format.to_owned(),
            envelope: input.envelope.clone(),
            how_read: self.out.how[file].clone(),
            notes: Vec::new(),
            start: (0, 0),
            read: (input.bytes, self.lines[file]),
            fingerprint: self.start_fingerprints[file],
            ledger: [lines, attempts, skipped, rejected, blank],
            failure: failure.map(|error| (error.to_string(), error.kind() == io::ErrorKind::NotFound)),
        }
    }

    /// Adds the facts of a stretch of input `file`. Stretches come in order; the plan of the latest one is used,
    /// because it was made when most of the input was known.
    fn add_input(&mut self, file: u32, facts: InputFacts) {
        let index = file as usize;
        self.remove_notes(file);
        self.notes.extend(facts.notes.into_iter().map(|note| (file, note)));
        self.out.how[index] = facts.how_read;
        let input = &mut self.out.inputs[index];
        input.format = format_named(&facts.format).unwrap_or(input.format);
        input.envelope = facts.envelope;
        self.out.table.note_format(file, input.format);
        input.bytes += facts.read.0;
        let [lines, attempts, skipped, rejected, blank] = facts.ledger;
        let ledger = Ledger { lines, attempts, skipped, rejected, blank, ..Ledger::default() };
        line_counts::add(&mut input.ledger, &ledger);
        if let Some((text, is_missing)) = facts.failure {
            let kind = if is_missing { io::ErrorKind::NotFound } else { io::ErrorKind::Other };
            self.record_failure(file, io::Error::new(kind, text));
        }
    }

    /// Adds the remaining facts of a part, whose inputs have these numbers here. Parts may come in any order.
    fn add_facts(&mut self, facts: Facts, numbers: &[u32]) {
        let renumbered = |file: u32| numbers[file as usize];
        for (file, line, column, reason) in facts.rejects {
            let name = self.out.inputs[renumbered(file) as usize].path.clone();
            self.rejects.push((renumbered(file), Reject { file: name, line, column, reason }));
        }
        self.keep_first_rejects();
        for (field, count, (file, line, text)) in facts.unreadable {
            field_named(&field)
                .into_iter()
                .for_each(|field| self.unreadable.add(field, count, (renumbered(file), line, text.clone())));
        }
        for (key, count) in facts.unknown_outcomes {
            let key = key.and_then(|(key, field)| Some((key, field_named(&field)?)));
            *self.unknown_outcomes.entry(key).or_default() += count;
        }
        let open = facts.open.into_iter().map(|(key, file, line, number)| (key, renumbered(file), line, number));
        let never_ended = facts.never_ended.into_iter().map(|(file, count, first)| (renumbered(file), count, first));
        self.unended.add_lists(open.collect(), never_ended.collect());
    }
}

/// Joins parts, in any order, into the result of reading all of their inputs at once.
///
/// # Errors
/// When no input could be read.
pub(crate) fn join(parts: Vec<Part>) -> Result<Ingested, IngestError> {
    let mut merger = Merger::new(parts.len());
    let accumulator = &mut merger.accumulator;
    let numbers = open_inputs(&parts, accumulator);
    let order = row_order(&parts, &numbers);
    let mut inputs = Vec::new();
    for (Part { mut table, mut facts }, numbers) in parts.into_iter().zip(&numbers) {
        table.renumber_files(numbers);
        accumulator.out.table.absorb(table);
        inputs.extend(numbers.iter().copied().zip(std::mem::take(&mut facts.inputs)));
        accumulator.add_facts(facts, numbers);
    }
    inputs.sort_by_key(|(file, input)| (*file, input.start));
    inputs.into_iter().for_each(|(file, input)| accumulator.add_input(file, input));
    if let Some(order) = order {
        accumulator.out.table.retain(&order);
    }
    let table = &accumulator.out.table;
    for rows in table.rows.chunk_by(|a, b| a.file == b.file) {
        accumulator.out.digests[rows[0].file as usize].add(Digest::of(rows, table));
    }
    merger.finish_whole()
}

/// Opens every input of `parts` once, in the order of their names, and returns their numbers, part by part.
fn open_inputs(parts: &[Part], accumulator: &mut Accumulator) -> Vec<Vec<u32>> {
    let mut numbers: Vec<Vec<u32>> = parts.iter().map(|part| vec![0; part.facts.inputs.len()]).collect();
    let mut inputs = Vec::new();
    for (part, Part { facts, .. }) in parts.iter().enumerate() {
        inputs.extend(facts.inputs.iter().enumerate().map(|(index, input)| (input.identity(), part, index)));
    }
    inputs.sort_unstable();
    for (nth, same) in (0..).zip(inputs.chunk_by(|(a, ..), (b, ..)| a == b)) {
        for ((_, name, _), part, index) in same {
            numbers[*part][*index] = nth;
            if accumulator.out.inputs.len() == nth as usize {
                accumulator.open((*name).to_owned());
            }
        }
    }
    numbers
}

/// Returns the order of all rows by input and position; `None` if they already are in that order.
fn row_order(parts: &[Part], numbers: &[Vec<u32>]) -> Option<Vec<u32>> {
    let mut stretches = Vec::new();
    let mut next = 0;
    for (Part { table, facts }, numbers) in parts.iter().zip(numbers) {
        for rows in table.rows.chunk_by(|a, b| a.file == b.file) {
            let file = rows[0].file as usize;
            let end = next + rows.len() as u32;
            stretches.push((numbers[file], facts.inputs[file].start, next..end));
            next = end;
        }
    }
    if stretches.is_sorted_by_key(|(file, start, _)| (*file, *start)) {
        return None;
    }
    stretches.sort_by_key(|(file, start, _)| (*file, *start));
    Some(stretches.into_iter().flat_map(|(.., rows)| rows).collect())
}
