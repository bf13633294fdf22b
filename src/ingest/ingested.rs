//! What inputs held.

use super::digest::Digest;
use super::line_counts;
use super::open;
use crate::model::{AttemptTable, Input, Ledger, Reject, Unreadable};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// What the inputs held.
#[derive(Debug, Default)]
pub struct Ingested {
    /// Every attempt.
    pub table: AttemptTable,
    /// Input by input, in the order of their names.
    pub inputs: Vec<Input>,
    /// The first rejected lines.
    pub rejects: Vec<Reject>,
    /// All of them with their text, when asked for.
    pub rejected: Vec<(Reject, String)>,
    /// Values that mean nothing to their field.
    pub unreadable: Vec<Unreadable>,
    /// What the attempts of each input come to, by its number.
    pub digests: Vec<Digest>,
    /// How each input is read, by its number: what was around its lines, the format, and what it was told by.
    pub how: Vec<String>,
    /// How inputs are read where that does not go without saying, in sentences.
    pub notes: Vec<String>,
    /// Keys of lines that look like attempts and say in no known key how they went: the key that seems to, and the
    /// field it may stand for.
    pub unknown_keys: Vec<(String, &'static str)>,
}

impl Ingested {
    /// Inputs that hold the same attempts as one before them, each with that one, and how many attempts those are.
    pub(crate) fn copies(&self) -> Vec<(&str, &str, u64)> {
        let mut first: BTreeMap<Digest, &str> = BTreeMap::new();
        let inputs = self.digests.iter().zip(&self.inputs);
        let mut copies = Vec::new();
        for (digest, input) in inputs {
            let Some(attempts) = digest.telling() else { continue };
            match first.entry(*digest) {
                Entry::Occupied(known) => copies.push((*known.get(), input.path.as_str(), attempts)),
                Entry::Vacant(free) => {
                    free.insert(&input.path);
                }
            }
        }
        copies
    }

    /// Whether a note tells of an input that does not fit the format the user named.
    pub(crate) fn misfit(&self) -> Option<&str> {
        self.notes.iter().map(String::as_str).find(|note| note.contains(open::MISFIT))
    }

    /// What became of all lines together, duplicates not yet known.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        let mut sum = Ledger::default();
        self.inputs.iter().for_each(|input| line_counts::add(&mut sum, &input.ledger));
        sum
    }
}
