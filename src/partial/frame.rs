//! Frames: the compressed pieces of a part.
//!
//! ```text
//! length when unpacked, u32 | length as stored, u32 | bytes
//! ```
//!
//! Where both lengths are the same, the bytes are not compressed. No frame packs better than 1 : [`MAX_RATIO`], so what a
//! file may unpack to is bounded by its size.

use super::error::PartialError;
use std::io;

/// Compression level of zstd. Higher levels take much longer and gain little on these columns.
const COMPRESSION_LEVEL: i32 = 1;
/// Largest ratio of unpacked to stored bytes.
const MAX_RATIO: usize = 50;
/// Bytes of the two lengths before the stored bytes.
const LENGTHS_BYTES: usize = 8;

/// Appends a frame of `plain` to `out`. It will take at least `min_stored` bytes, if there are as many in `plain`.
pub(super) fn add(plain: &[u8], min_stored: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let packed = zstd::bulk::compress(plain, COMPRESSION_LEVEL)?;
    let min_stored = min_stored.max(plain.len().div_ceil(MAX_RATIO));
    let stored = if (min_stored..plain.len()).contains(&packed.len()) { packed.as_slice() } else { plain };
    for length in [plain.len(), stored.len()] {
        out.extend(u32::try_from(length).map_err(io::Error::other)?.to_le_bytes());
    }
    out.extend_from_slice(stored);
    Ok(())
}

/// A frame as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'f> {
    unpacked: usize,
    pub(super) stored: &'f [u8],
}

/// Takes the next frame off `bytes`; `None` at their end.
pub(super) fn next<'f>(bytes: &mut &'f [u8]) -> Option<Result<Frame<'f>, PartialError>> {
    if bytes.is_empty() {
        return None;
    }
    let mut take = |count: usize| {
        let (taken, rest) = bytes.split_at_checked(count).ok_or(PartialError::Damaged)?;
        *bytes = rest;
        Ok(taken)
    };
    let mut frame = || {
        let lengths = take(LENGTHS_BYTES)?;
        let length = |at: usize| {
            lengths.iter().skip(at).take(4).rev().fold(0_usize, |length, byte| length << 8 | usize::from(*byte))
        };
        Ok(Frame { unpacked: length(0), stored: take(length(4))? })
    };
    Some(frame())
}

impl Frame<'_> {
    pub(super) fn unpack(&self) -> Result<Vec<u8>, PartialError> {
        if self.unpacked == self.stored.len() {
            return Ok(self.stored.to_vec());
        }
        if self.unpacked / MAX_RATIO > self.stored.len() {
            return Err(PartialError::Bloated { max_ratio: MAX_RATIO });
        }
        let plain = zstd::bulk::decompress(self.stored, self.unpacked).map_err(|_| PartialError::Damaged)?;
        if plain.len() == self.unpacked { Ok(plain) } else { Err(PartialError::Damaged) }
    }
}
