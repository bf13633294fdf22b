//! Partials: files with the attempts read from some logs, to be combined with others and judged later.
//!
//! A partial holds attempts and what became of every line, and no judgement: however logs are divided, their partials
//! together give the same result as reading all logs at once. Names are stored as strings; no numbering of one process
//! is written.

#[doc(hidden)]
pub mod bench;
mod columns;
mod details;
mod error;
mod file;
mod frame;
mod group;
mod ids;
mod names;
mod numbers;
mod readings;
mod settings;
mod state;

pub use error::PartialError;
pub use settings::Settings;
pub use state::{State, StateError};

use crate::ingest::{Facts, InputFacts, PARTIAL, Part};
use file::StoredPart;
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// The content of one partial, or of several combined.
#[derive(Debug)]
pub struct Partial {
    settings: Settings,
    /// Name that errors about the settings give for this partial.
    name: String,
    /// Parts without repetition, sorted by checksum, each with the name of the partial it came from.
    parts: Vec<(StoredPart, String)>,
}

impl Partial {
    /// Creates a partial without parts, for lines read with `settings`. Errors refer to it as `name`.
    #[must_use]
    pub fn new(settings: Settings, name: &str) -> Partial {
        Partial { settings, name: name.to_owned(), parts: Vec::new() }
    }

    /// Reads a partial from a file.
    ///
    /// # Errors
    /// When the file cannot be read, or its content cannot be used.
    pub fn read(path: &Path) -> io::Result<Result<Partial, PartialError>> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path)?;
        Ok(file::read(&bytes).map(|(settings, parts)| {
            let mut partial = Partial::new(settings, &name);
            parts.into_iter().for_each(|part| {
                partial.insert(part, &name);
            });
            partial
        }))
    }

    /// Writes the partial.
    ///
    /// # Errors
    /// When writing to `out` fails.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let parts: Vec<StoredPart> = self.parts.iter().map(|(part, _)| part.clone()).collect();
        file::write(&self.settings, &parts, out)
    }

    /// Adds a part, unless it is there already.
    pub(crate) fn add(&mut self, part: &Part) -> io::Result<()> {
        let name = self.name.clone();
        self.insert(StoredPart::of(part)?, &name);
        Ok(())
    }

    /// Adds the parts of another partial. Returns the number of parts that were there already; those count once.
    ///
    /// # Errors
    /// When the lines of `other` were read with other settings.
    pub fn absorb(&mut self, other: Partial) -> Result<usize, PartialError> {
        if let Some(setting) = self.settings.difference(&other.settings) {
            return Err(PartialError::Settings { setting: setting.to_owned(), other: self.name.clone() });
        }
        let inserted = other.parts.into_iter().map(|(part, name)| self.insert(part, &name));
        Ok(inserted.filter(|is_new| !is_new).count())
    }

    fn insert(&mut self, part: StoredPart, name: &str) -> bool {
        match self.parts.binary_search_by_key(&part.digest, |(known, _)| known.digest) {
            Ok(_) => false,
            Err(place) => {
                self.parts.insert(place, (part, name.to_owned()));
                true
            }
        }
    }

    /// Returns the facts about the inputs of each part, with the name of the partial it came from. An error carries the
    /// name of the partial that cannot be used.
    pub(crate) fn facts(&self) -> Result<Vec<(Facts, String)>, (String, PartialError)> {
        self.each(StoredPart::facts)
    }

    /// Decompresses the parts, each with the name of the partial it came from. An error carries the name of the partial
    /// that cannot be used.
    pub(crate) fn open(&self) -> Result<Vec<(Part, String)>, (String, PartialError)> {
        self.each(StoredPart::open)
    }

    fn each<T: Send>(
        &self,
        open: impl Fn(&StoredPart) -> Result<T, PartialError> + Sync,
    ) -> Result<Vec<(T, String)>, (String, PartialError)> {
        let open = |(part, name): &(StoredPart, String)| match open(part) {
            Ok(opened) => Ok((opened, name.clone())),
            Err(error) => Err((name.clone(), error)),
        };
        self.parts.par_iter().map(open).collect()
    }
}

/// Whether a file begins with the magic bytes of a partial.
#[must_use]
pub fn is_partial(path: &Path) -> bool {
    let mut magic = [0; PARTIAL.len()];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == PARTIAL
}

/// Checks that no bytes of an input are in two partials, since they would count twice.
///
/// # Errors
/// When some are: the name of one partial, and the input and the other partial it shares it with.
pub(crate) fn check_overlaps(parts: &[(Facts, String)]) -> Result<(), (String, PartialError)> {
    let mut inputs: Vec<(&InputFacts, usize)> = Vec::new();
    for (nth, (facts, _)) in parts.iter().enumerate() {
        inputs.extend(facts.inputs.iter().map(|input| (input, nth)));
    }
    inputs.sort_by_key(|(input, _)| (&input.name, input.fingerprint, input.start, input.read));
    let twice = inputs.windows(2).find(|pair| pair[0].1 != pair[1].1 && pair[0].0.overlaps(pair[1].0));
    match twice {
        Some([(input, one), (_, two)]) => {
            let other = parts[*one].1.clone();
            Err((parts[*two].1.clone(), PartialError::Overlap { input: input.name.clone(), other }))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
