//! File format of a partial: a header, then the parts, each compressed and protected by a checksum.
//!
//! ```text
//! magic, 8 bytes | format, u32 | length of the head, u32 | SHA-256 of the head | head | part | part ...
//! ```
//!
//! Integers are little-endian. The head and, unpacked, every part are structures in the postcard format.

use super::columns::Columns;
use super::error::PartialError;
use super::settings::Settings;
use crate::ingest::{Facts, PARTIAL, Part};
use crate::untrusted::mask_keys;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::io::{self, Write};

/// Version of the file format.
const FORMAT: u32 = 1;
/// Bytes before the head.
const FIXED: usize = PARTIAL.len() + 4 + 4 + 32;
/// Compression level of zstd: higher ones take much longer and gain little.
const LEVEL: i32 = 6;

/// SHA-256 of the compressed bytes of a part, by which the part is identified.
pub(super) type Digest = [u8; 32];

/// A part in its stored form.
#[derive(Clone, Debug)]
pub(super) struct Sealed {
    pub(super) digest: Digest,
    pub(super) bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    made_by: String,
    settings: Settings,
    parts: Vec<(u64, Digest)>,
}

impl Sealed {
    /// Serialises and compresses a part.
    pub(super) fn of(part: &Part) -> io::Result<Sealed> {
        let bytes = zstd::bulk::compress(&plain(part)?, LEVEL)?;
        Ok(Sealed { digest: Sha256::digest(&bytes).into(), bytes })
    }

    /// Decompresses and deserialises the part.
    pub(super) fn open(&self) -> Result<Part, PartialError> {
        open_plain(&zstd::stream::decode_all(self.bytes.as_slice()).map_err(|_| PartialError::Damaged)?)
    }
}

/// A part before it is compressed.
pub(super) fn plain(part: &Part) -> io::Result<Vec<u8>> {
    let columns = Columns::of(&part.table, part.facts.inputs.len() as u32);
    postcard::to_stdvec(&(masked(part.facts.clone()), &columns)).map_err(io::Error::other)
}

/// The facts with keys in names and quoted text masked.
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
    facts.unclear.iter_mut().filter_map(|(key, _)| key.as_mut()).for_each(|(key, _)| mask(key));
    facts
}

/// The part of which these are the bytes before compression.
pub(super) fn open_plain(bytes: &[u8]) -> Result<Part, PartialError> {
    let (facts, columns): (Facts, Columns) = postcard::from_bytes(bytes).map_err(|_| PartialError::Damaged)?;
    if !facts.is_sound() {
        return Err(PartialError::Damaged);
    }
    let mut table = columns.table(facts.inputs.len() as u32).ok_or(PartialError::Damaged)?;
    table.files = facts.inputs.iter().map(|input| input.name.clone()).collect();
    Ok(Part { table, facts })
}

/// Writes a partial.
pub(super) fn write(settings: &Settings, parts: &[Sealed], out: &mut dyn Write) -> io::Result<()> {
    let head = Head {
        made_by: env!("CARGO_PKG_VERSION").to_owned(),
        settings: settings.clone(),
        parts: parts.iter().map(|part| (part.bytes.len() as u64, part.digest)).collect(),
    };
    let head = postcard::to_stdvec(&head).map_err(io::Error::other)?;
    let length = u32::try_from(head.len()).map_err(io::Error::other)?;
    out.write_all(&PARTIAL)?;
    out.write_all(&FORMAT.to_le_bytes())?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&Sha256::digest(&head))?;
    out.write_all(&head)?;
    parts.iter().try_for_each(|part| out.write_all(&part.bytes))
}

/// Reads a partial and verifies every checksum.
pub(super) fn read(bytes: &[u8]) -> Result<(Settings, Vec<Sealed>), PartialError> {
    let cut = |wanted: u64| PartialError::Truncated { there: bytes.len() as u64, wanted };
    let rest = bytes.strip_prefix(&PARTIAL).ok_or(PartialError::Foreign)?;
    let (format, rest) = rest.split_first_chunk().ok_or(cut(FIXED as u64))?;
    if u32::from_le_bytes(*format) != FORMAT {
        return Err(PartialError::Version { made_by: "of another time".to_owned() });
    }
    let (length, rest) = rest.split_first_chunk().ok_or(cut(FIXED as u64))?;
    let length = u32::from_le_bytes(*length) as usize;
    let (digest, rest) = rest.split_first_chunk::<32>().ok_or(cut(FIXED as u64))?;
    let (head, mut rest) = rest.split_at_checked(length).ok_or(cut((FIXED + length) as u64))?;
    if Sha256::digest(head)[..] != digest[..] {
        return Err(PartialError::Damaged);
    }
    let Head { made_by, settings, parts } = postcard::from_bytes(head).map_err(|_| PartialError::Damaged)?;
    if made_by != env!("CARGO_PKG_VERSION") {
        return Err(PartialError::Version { made_by });
    }
    let wanted = parts.iter().fold((FIXED + length) as u64, |sum, (bytes, _)| sum.saturating_add(*bytes));
    if wanted > bytes.len() as u64 {
        return Err(cut(wanted));
    }
    let mut sealed = Vec::with_capacity(parts.len());
    for (length, digest) in parts {
        let (part, behind) = rest.split_at_checked(length as usize).ok_or(PartialError::Damaged)?;
        if Sha256::digest(part)[..] != digest[..] {
            return Err(PartialError::Damaged);
        }
        sealed.push(Sealed { digest, bytes: part.to_vec() });
        rest = behind;
    }
    if rest.is_empty() { Ok((settings, sealed)) } else { Err(PartialError::Damaged) }
}
