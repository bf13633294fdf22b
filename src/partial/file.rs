//! File format of a partial: a header, then the parts, each compressed and protected by a checksum.
//!
//! ```text
//! magic, 8 bytes | format, u32 | length of the header, u32 | SHA-256 of the header | header | part | part ...
//! ```
//!
//! Integers are little-endian. The header and, unpacked, every frame of a part are structures in the postcard format: first
//! the facts about its inputs, then what its attempts share, then the attempts, group by group.

use super::columns::Columns;
use super::error::PartialError;
use super::frame;
use super::group::Group;
use super::settings::Settings;
use crate::ingest::{Facts, PARTIAL, Part};
use crate::untrusted::mask_keys;
use frame::Frame;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::io::{self, Write};

/// Version of the file format.
const FORMAT: u32 = 2;
/// Bytes before the header.
const HEADER_START_BYTES: usize = PARTIAL.len() + 4 + 4 + 32;
/// SHA-256 of the compressed bytes of a part, by which the part is identified.
pub(super) type Digest = [u8; 32];

/// A part in its stored form.
#[derive(Clone, Debug)]
pub(super) struct StoredPart {
    pub(super) digest: Digest,
    pub(super) bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    made_by: String,
    settings: Settings,
    parts: Vec<(u64, Digest)>,
}

impl StoredPart {
    /// Serialises and compresses a part.
    pub(super) fn of(part: &Part) -> io::Result<StoredPart> {
        let columns = Columns::of(&part.table, part.facts.inputs.len() as u32);
        let mut bytes = Vec::new();
        frame::add(&serialized(&masked(part.facts.clone()))?, 0, &mut bytes)?;
        frame::add(&serialized(&columns)?, 0, &mut bytes)?;
        let groups: Vec<io::Result<Vec<u8>>> = columns.groups(&part.table, |group| {
            let mut bytes = Vec::new();
            // No frame of attempts takes less than a byte for each, so that their number is bounded by the bytes stored.
            frame::add(&serialized(&group)?, group.rows(), &mut bytes)?;
            Ok(bytes)
        });
        for group in groups {
            bytes.append(&mut group?);
        }
        Ok(StoredPart { digest: Sha256::digest(&bytes).into(), bytes })
    }

    /// Returns the facts about the inputs of the part.
    pub(super) fn facts(&self) -> Result<Facts, PartialError> {
        facts_of(&mut self.bytes.as_slice())
    }

    /// Decompresses and deserialises the part.
    pub(super) fn open(&self) -> Result<Part, PartialError> {
        let mut rest = self.bytes.as_slice();
        let facts = facts_of(&mut rest)?;
        let columns: Columns = deserialized(&next(&mut rest)?)?;
        let frames: Result<Vec<Frame<'_>>, _> = std::iter::from_fn(|| frame::next(&mut rest)).collect();
        let groups: Result<Vec<Group>, _> = frames?.par_iter().map(group_of).collect();
        let files = facts.inputs.len() as u32;
        let mut table = columns.table(groups?, files).ok_or(PartialError::Damaged)?;
        table.files = facts.inputs.iter().map(|input| input.name.clone()).collect();
        Ok(Part { table, facts })
    }
}

fn serialized(structure: &impl Serialize) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(structure).map_err(io::Error::other)
}

fn next<'f>(rest: &mut &'f [u8]) -> Result<Frame<'f>, PartialError> {
    frame::next(rest).unwrap_or(Err(PartialError::Damaged))
}

fn deserialized<T: DeserializeOwned>(frame: &Frame<'_>) -> Result<T, PartialError> {
    postcard::from_bytes(&frame.unpack()?).map_err(|_| PartialError::Damaged)
}

fn facts_of(rest: &mut &[u8]) -> Result<Facts, PartialError> {
    let facts: Facts = deserialized(&next(rest)?)?;
    if facts.is_sound() { Ok(facts) } else { Err(PartialError::Damaged) }
}

fn group_of(frame: &Frame<'_>) -> Result<Group, PartialError> {
    let group: Group = deserialized(frame)?;
    if group.rows() <= frame.stored.len() { Ok(group) } else { Err(PartialError::Damaged) }
}

/// Masks keys in the names and the quoted text of the facts.
fn masked(mut facts: Facts) -> Facts {
    let mask = |text: &mut String| {
        if let Cow::Owned(masked) = mask_keys(text) {
            *text = masked;
        }
    };
    for input in &mut facts.inputs {
        mask(&mut input.name);
        input.notes.iter_mut().for_each(mask);
        input.failure.iter_mut().for_each(|(text, _)| mask(text));
    }
    facts.rejects.iter_mut().for_each(|(.., reason)| mask(reason));
    facts.misread.iter_mut().for_each(|(.., (_, _, text))| mask(text));
    facts.unknown_outcomes.iter_mut().filter_map(|(key, _)| key.as_mut()).for_each(|(key, _)| mask(key));
    facts
}

/// Writes a partial.
pub(super) fn write(settings: &Settings, parts: &[StoredPart], out: &mut dyn Write) -> io::Result<()> {
    let header = Header {
        made_by: env!("CARGO_PKG_VERSION").to_owned(),
        settings: settings.clone(),
        parts: parts.iter().map(|part| (part.bytes.len() as u64, part.digest)).collect(),
    };
    let header = postcard::to_stdvec(&header).map_err(io::Error::other)?;
    let length = u32::try_from(header.len()).map_err(io::Error::other)?;
    out.write_all(&PARTIAL)?;
    out.write_all(&FORMAT.to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&Sha256::digest(&header))?;
    out.write_all(&header)?;
    parts.iter().try_for_each(|part| out.write_all(&part.bytes))
}

/// Reads a partial and verifies every checksum.
pub(super) fn read(bytes: &[u8]) -> Result<(Settings, Vec<StoredPart>), PartialError> {
    let truncated = |wanted: u64| PartialError::Truncated { there: bytes.len() as u64, wanted };
    let rest = bytes.strip_prefix(&PARTIAL).ok_or(PartialError::Foreign)?;
    let (format, rest) = rest.split_first_chunk().ok_or(truncated(HEADER_START_BYTES as u64))?;
    if u32::from_le_bytes(*format) != FORMAT {
        return Err(PartialError::Version { made_by: "of another time".to_owned() });
    }
    let (length, rest) = rest.split_first_chunk().ok_or(truncated(HEADER_START_BYTES as u64))?;
    let length = u32::from_le_bytes(*length) as usize;
    let (digest, rest) = rest.split_first_chunk::<32>().ok_or(truncated(HEADER_START_BYTES as u64))?;
    let (header, mut rest) = rest.split_at_checked(length).ok_or(truncated((HEADER_START_BYTES + length) as u64))?;
    if Sha256::digest(header)[..] != digest[..] {
        return Err(PartialError::Damaged);
    }
    let Header { made_by, settings, parts } = postcard::from_bytes(header).map_err(|_| PartialError::Damaged)?;
    if made_by != env!("CARGO_PKG_VERSION") {
        return Err(PartialError::Version { made_by });
    }
    let wanted = parts.iter().fold((HEADER_START_BYTES + length) as u64, |sum, (bytes, _)| sum.saturating_add(*bytes));
    if wanted > bytes.len() as u64 {
        return Err(truncated(wanted));
    }
    let mut stored = Vec::with_capacity(parts.len());
    for (length, digest) in parts {
        let (part, after) = rest.split_at_checked(length as usize).ok_or(PartialError::Damaged)?;
        if Sha256::digest(part)[..] != digest[..] {
            return Err(PartialError::Damaged);
        }
        stored.push(StoredPart { digest, bytes: part.to_vec() });
        rest = after;
    }
    if rest.is_empty() { Ok((settings, stored)) } else { Err(PartialError::Damaged) }
}
