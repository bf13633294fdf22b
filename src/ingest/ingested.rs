//! Result of reading inputs.

use super::digest::Digest;
use super::line_counts;
use super::open;
use crate::model::{AttemptTable, Input, Ledger, Reject, Unreadable};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Result of reading inputs.
#[derive(Debug, Default)]
pub struct Ingested {
    /// All attempts.
    pub table: AttemptTable,
    /// Inputs, in the order of their names.
    pub inputs: Vec<Input>,
    /// The first rejected lines.
    pub rejects: Vec<Reject>,
    /// All rejected lines with their text, if requested.
    pub rejected: Vec<(Reject, String)>,
    /// Values that could not be read, by field.
    pub unreadable: Vec<Unreadable>,
    /// Digest of the attempts of each input, by input number.
    pub digests: Vec<Digest>,
    /// How each input is read, by input number: envelope, format, and the evidence for them.
    pub how: Vec<String>,
    /// Remarks on how inputs are read, where that is not obvious, in sentences.
    pub notes: Vec<String>,
    /// Unknown keys of lines that look like attempts but give no outcome: the key that seems to give it, and the field
    /// it may correspond to.
    pub unknown_keys: Vec<(String, &'static str)>,
}

impl Ingested {
    /// Returns inputs that hold the same attempts as an earlier one: the earlier input, the later one, and the number
    /// of attempts.
    pub(crate) fn copies(&self) -> Vec<(&str, &str, u64)> {
        let path = |file: u32| self.inputs.get(file as usize).map_or("", |input| input.path.as_str());
        self.copied_files().into_iter().map(|(first, copy, attempts)| (path(first), path(copy), attempts)).collect()
    }

    /// Marks the inputs of [`Ingested::copies`] in the table, so that their attempts count once.
    pub(super) fn mark_copies(&mut self) {
        for (first, copy, _) in self.copied_files() {
            self.table.merge_copies(first, copy);
        }
    }

    /// Returns the numbers of the inputs of [`Ingested::copies`].
    fn copied_files(&self) -> Vec<(u32, u32, u64)> {
        let mut first: BTreeMap<Digest, u32> = BTreeMap::new();
        let mut copies = Vec::new();
        for (digest, input) in self.digests.iter().zip(0..) {
            let Some(attempts) = digest.shared_attempts() else { continue };
            match first.entry(*digest) {
                Entry::Occupied(known) => copies.push((*known.get(), input, attempts)),
                Entry::Vacant(free) => {
                    free.insert(input);
                }
            }
        }
        copies
    }

    /// Returns the note about an input that does not fit the format the user named, if any.
    pub(crate) fn format_mismatch(&self) -> Option<&str> {
        self.notes.iter().map(String::as_str).find(|note| note.contains(open::FORMAT_MISMATCH))
    }

    /// Returns the sum of the ledgers of all inputs, before duplicates are known.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        let mut sum = Ledger::default();
        self.inputs.iter().for_each(|input| line_counts::add(&mut sum, &input.ledger));
        sum
    }
}
