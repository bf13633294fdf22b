//! Merges what was read from several inputs, in order.

use super::chunk::{Chunk, Stretch};
use super::digest::Digest;
use super::error::IngestError;
use super::ingested::Ingested;
use super::line_counts;
use super::open::ReadPlan;
use super::source::Source;
use super::unended_attempts::UnendedAttempts;
use super::unreadable_values::UnreadableValues;
use crate::model::{Input, Ledger, Reject};
use crate::untrusted::mask_keys;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of rejected lines kept for a report.
const MAX_REJECTS: usize = 10;

/// Merges the chunks of an analysis, and knows what the readers of further chunks need.
pub(super) struct Merger {
    pub(super) context: AnalysisContext,
    pub(super) accumulator: Accumulator,
}

/// Properties of an analysis that the readers of its inputs need.
pub(super) struct AnalysisContext {
    /// Number of the analysis, unique within the process.
    pub(super) number: u64,
    /// Run of records that name none, by file.
    pub(super) default_runs: Vec<String>,
    /// Whether there are, or will be, several inputs.
    pub(super) has_several_inputs: bool,
}

/// Everything merged so far.
#[derive(Default)]
pub(super) struct Accumulator {
    pub(super) out: Ingested,
    /// Number of lines seen so far, by file.
    pub(super) lines: Vec<u64>,
    /// Fingerprint of the start of each file; see [`ReadPlan::start_fingerprint`].
    pub(super) start_fingerprints: Vec<u64>,
    /// The first rejected lines, each with its file.
    pub(super) rejects: Vec<(u32, Reject)>,
    /// All rejected lines with their text, if requested, each with its file.
    rejected: Vec<(u32, Reject, String)>,
    pub(super) misread: UnreadableValues,
    /// The first read error of each input that has one, by file.
    pub(super) failures: BTreeMap<u32, io::Error>,
    /// Number of lines that look like attempts but have no known outcome key, by the unknown key that seems to give the
    /// outcome.
    pub(super) unknown_outcomes: BTreeMap<Option<(String, &'static str)>, u64>,
    /// Attempts whose end is not logged.
    pub(super) unended: UnendedAttempts,
    /// Remarks on how inputs are read, in sentences, each with its file.
    pub(super) notes: Vec<(u32, String)>,
    /// Chunks that were read but not merged yet.
    pub(super) pending: Vec<Chunk>,
}

impl Merger {
    /// Returns a merger for the given number of inputs.
    pub(super) fn new(inputs: usize) -> Merger {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let context = AnalysisContext { number, default_runs: Vec::new(), has_several_inputs: inputs > 1 };
        Merger { context, accumulator: Accumulator::default() }
    }

    /// Adds an input, with nothing read from it yet.
    pub(super) fn open(&mut self, source: &Source) {
        let name = mask_keys(&source.name()).into_owned();
        let file_name =
            Path::new(&name).file_name().map_or_else(|| name.clone(), |name| name.to_string_lossy().into_owned());
        self.context.default_runs.push(format!("file:{file_name}"));
        self.accumulator.open(name);
    }

    /// Declares that an input is a copy of an earlier one: records that name no run get the run of that one.
    pub(super) fn declare_copy(&mut self, original: u32, copy: u32) {
        self.context.default_runs[copy as usize] = self.context.default_runs[original as usize].clone();
        self.accumulator.out.table.declare_copy(original, copy);
    }

    /// Merges the pending chunks and returns the result, or an error if no input could be read at all.
    pub(super) fn finish(mut self) -> Result<Ingested, IngestError> {
        self.accumulator.summarize()?;
        let mut accumulator = self.accumulator;
        accumulator.rejected.sort_by_key(|(file, reject, _)| (*file, reject.line, reject.column));
        accumulator.out.rejected = accumulator.rejected.into_iter().map(|(_, reject, text)| (reject, text)).collect();
        Ok(accumulator.out)
    }

    /// Like [`Merger::finish`], for a table that still holds every attempt: also marks the inputs that hold the
    /// attempts of another, and the attempts that several logs report.
    pub(super) fn finish_whole(self) -> Result<Ingested, IngestError> {
        let mut ingested = self.finish()?;
        ingested.mark_copies();
        ingested.table.find_all_views();
        Ok(ingested)
    }
}

impl Accumulator {
    /// Adds an input of this name, with nothing read from it yet.
    pub(super) fn open(&mut self, name: String) {
        self.lines.push(0);
        self.start_fingerprints.push(0);
        self.out.how.push(String::new());
        self.out.digests.push(Digest::default());
        self.out.table.files.push(name.clone());
        self.out.inputs.push(Input {
            path: name,
            format: "native",
            envelope: None,
            bytes: 0,
            ledger: Ledger::default(),
            failure: None,
        });
    }

    /// Merges the pending chunks.
    pub(super) fn merge_pending(&mut self) {
        for mut chunk in std::mem::take(&mut self.pending) {
            chunk.plans.drain(..).for_each(|(file, plan)| self.set_plan(file, &plan));
            for mut stretch in chunk.stretches {
                let before = self.lines[stretch.file as usize];
                if before > 0 && !stretch.has_input_lines {
                    stretch.shift_lines(&mut chunk.table.rows[stretch.rows.clone()], before);
                }
                self.add_stretch(stretch);
            }
            self.unended.remove_ended(&chunk.table.rows);
            self.out.table.absorb(chunk.table);
            chunk.failures.into_iter().for_each(|(file, error)| self.record_failure(file, error));
        }
    }

    /// Merges the pending chunks and updates the fields of [`Ingested`] that summarize all inputs; more may be read
    /// afterwards. Returns an error if no input could be read at all.
    pub(super) fn summarize(&mut self) -> Result<(), IngestError> {
        self.merge_pending();
        self.name_failures()?;
        self.unended.remove_ended(&self.out.table.rows);
        self.out.unreadable = self.misread.clone().finish(&self.out.inputs);
        self.out.notes = self.unknown_outcomes.iter().map(unknown_outcome_note).collect();
        let notes: Vec<(u32, String)> = self.notes.iter().cloned().chain(self.unended.notes()).collect();
        self.out.notes.extend(notes_with_inputs(&notes, &self.out.inputs));
        self.out.unknown_keys = self.unknown_outcomes.keys().flatten().cloned().collect();
        self.out.rejects = self.rejects.iter().map(|(_, reject)| reject.clone()).collect();
        Ok(())
    }

    /// Records that an input could not be read, or not to its end.
    pub(super) fn record_failure(&mut self, file: u32, error: io::Error) {
        self.failures.entry(file).or_insert(error);
    }

    /// Marks the inputs that could not be read; returns an error if none could.
    fn name_failures(&mut self) -> Result<(), IngestError> {
        let nothing_read = self.out.inputs.iter().all(|input| input.ledger.lines == 0);
        if nothing_read && self.failures.len() == self.out.inputs.len() {
            let Some((file, source)) = self.failures.pop_first() else { return Ok(()) };
            return Err(IngestError::Io { name: self.out.inputs[file as usize].path.clone(), source });
        }
        for (file, error) in &self.failures {
            self.out.inputs[*file as usize].failure = Some(error.to_string());
        }
        Ok(())
    }

    /// Records how input `file` is read.
    pub(super) fn set_plan(&mut self, file: u32, plan: &ReadPlan) {
        self.notes.extend(plan.notes.iter().map(|note| (file, note.clone())));
        if let Some(error) = plan.refusal_error() {
            self.record_failure(file, error);
        }
        let input = &mut self.out.inputs[file as usize];
        input.format = plan.format.name();
        input.envelope = plan.wrapping.name();
        self.out.table.note_format(file, plan.format.name());
        self.out.how[file as usize] = plan.description();
        self.start_fingerprints[file as usize] = plan.start_fingerprint;
    }

    /// Removes the remarks on how input `file` is read.
    pub(super) fn remove_notes(&mut self, file: u32) {
        self.notes.retain(|(of, _)| *of != file);
    }

    /// Adds the counts of a stretch.
    fn add_stretch(&mut self, stretch: Stretch) {
        let Stretch { file, bytes, counts, newlines, digest, .. } = stretch;
        let index = file as usize;
        self.out.digests[index].add(digest);
        self.lines[index] += newlines;
        let input = &mut self.out.inputs[index];
        input.bytes += bytes;
        line_counts::add(&mut input.ledger, &counts.ledger);
        self.misread.merge(counts.misread, file);
        self.unended.add_starts(file, counts.starts);
        for (key, count) in counts.unknown_outcomes {
            *self.unknown_outcomes.entry(key).or_default() += count;
        }
        for rejected in counts.rejects {
            let reject = Reject {
                file: input.path.clone(),
                line: rejected.line,
                column: rejected.column,
                reason: rejected.reason,
            };
            if !rejected.text.is_empty() {
                self.rejected.push((file, reject.clone(), rejected.text));
            }
            self.rejects.push((file, reject));
        }
        self.keep_first_rejects();
    }

    /// Keeps only the first rejected lines by file, line and column. They have to be sorted, since stretches of several
    /// inputs may be merged alternately.
    pub(super) fn keep_first_rejects(&mut self) {
        self.rejects.sort_by_key(|(file, reject)| (*file, reject.line, reject.column));
        self.rejects.truncate(MAX_REJECTS);
    }
}

/// Returns the note about lines that look like attempts but have no known outcome, by the unknown key that may give it.
fn unknown_outcome_note((key, count): (&Option<(String, &'static str)>, &u64)) -> String {
    let lines = if *count == 1 {
        "1 line looks like an attempt, and no known key says how it went".to_owned()
    } else {
        format!("{count} lines look like attempts, and no known key says how they went")
    };
    let mapping = match key {
        Some((key, field)) => {
            let key = mask_keys(key);
            format!("map `{key}` in retrylens.toml: [fields] \"{key}\" = \"{field}\"")
        }
        None => "map the key that does to `status` or `outcome` in retrylens.toml, under [fields]".to_owned(),
    };
    format!("{lines}: {mapping}. Until then, calls that went on may look as if they had failed.")
}

/// Returns each distinct note once, with the inputs it applies to.
fn notes_with_inputs(notes: &[(u32, String)], inputs: &[Input]) -> Vec<String> {
    let mut by_note: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (file, note) in notes {
        by_note.entry(note).or_default().insert(*file);
    }
    let sentence = |(note, files): (&str, BTreeSet<u32>)| {
        let first = files.first().and_then(|file| inputs.get(*file as usize)).map_or("", |input| input.path.as_str());
        match files.len() {
            0 | 1 => format!("{first}: {note}"),
            2 => format!("{first} and 1 more input: {note}"),
            more => format!("{first} and {} more inputs: {note}", more - 1),
        }
    };
    by_note.into_iter().map(sentence).collect()
}
