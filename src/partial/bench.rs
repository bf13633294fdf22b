//! Entry points for fuzz targets; not part of the crate's public API.

use super::file::{self, StoredPart};
use super::{Partial, PartialError, Settings, frame};
use crate::ingest::{Ingested, Options, Source, join, read_part};
use sha2::{Digest as _, Sha256};
use std::io;
use std::path::Path;

/// Reads a log and returns the frames of its part, before compression.
///
/// # Errors
/// When the part cannot be stored.
pub fn frames_of(log: &Path, options: &Options) -> io::Result<Vec<Vec<u8>>> {
    let stored = StoredPart::of(&read_part(&[Source::File(log.to_owned())], options, &|_| {}))?;
    let mut rest = stored.bytes.as_slice();
    let frames = std::iter::from_fn(|| frame::next(&mut rest));
    frames.map(|frame| frame.and_then(|frame| frame.unpack()).map_err(io::Error::other)).collect()
}

/// Returns a partial of one part with these frames and valid checksums. The frames may have any content.
///
/// # Errors
/// When it cannot be compressed.
pub fn partial_of(frames: &[Vec<u8>], options: &Options) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    frames.iter().try_for_each(|plain| frame::add(plain, 0, &mut bytes))?;
    let stored = StoredPart { digest: Sha256::digest(&bytes).into(), bytes };
    let mut out = Vec::new();
    file::write(&Settings::of(options, None), &[stored], &mut out)?;
    Ok(out)
}

/// Converts a partial to what reading its logs would give.
///
/// # Errors
/// The reason why it cannot be used, in a sentence.
pub fn ingested(partial: &Partial) -> Result<Ingested, String> {
    let parts = partial.open().map_err(|(_, error): (String, PartialError)| error.to_string())?;
    join(parts.into_iter().map(|(part, _)| part).collect()).map_err(|error| error.to_string())
}
