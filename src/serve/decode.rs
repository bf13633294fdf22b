//! Bodies as they were before they were packed for the way.

use flate2::write::{GzDecoder, ZlibDecoder};
use std::io::Write;

/// Packed bytes unpacked at once, so that no answer can fill the memory.
const PIECE: usize = 1024;

/// Unpacks what passes.
pub(crate) enum Decoder {
    /// Nothing to unpack.
    Plain,
    /// `gzip`
    Gzip(Box<GzDecoder<Vec<u8>>>),
    /// `deflate`
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
    /// `zstd`
    Zstd(Box<zstd::stream::write::Decoder<'static, Vec<u8>>>),
    /// A packing that is not known, or bytes that are not in it.
    Unreadable,
}

impl Decoder {
    /// By the header `content-encoding`.
    pub(crate) fn of(encoding: Option<&str>) -> Decoder {
        match encoding.map(|text| text.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Decoder::Plain,
            Some("gzip" | "x-gzip") => Decoder::Gzip(Box::new(GzDecoder::new(Vec::new()))),
            Some("deflate") => Decoder::Deflate(Box::new(ZlibDecoder::new(Vec::new()))),
            Some("zstd") => zstd::stream::write::Decoder::new(Vec::new())
                .map_or(Decoder::Unreadable, |decoder| Decoder::Zstd(Box::new(decoder))),
            Some(_) => Decoder::Unreadable,
        }
    }

    pub(crate) fn is_readable(&self) -> bool {
        !matches!(self, Decoder::Unreadable)
    }

    /// Hands on what `bytes` hold.
    pub(crate) fn push(&mut self, bytes: &[u8], each: &mut impl FnMut(&[u8])) {
        if let Decoder::Plain = self {
            return each(bytes);
        }
        for piece in bytes.chunks(PIECE) {
            if self.unpack(piece, each).is_err() {
                *self = Decoder::Unreadable;
            }
        }
    }

    fn unpack(&mut self, piece: &[u8], each: &mut impl FnMut(&[u8])) -> std::io::Result<()> {
        let unpacked = match self {
            Decoder::Gzip(decoder) => {
                decoder.write_all(piece)?;
                decoder.flush()?;
                decoder.get_mut()
            }
            Decoder::Deflate(decoder) => {
                decoder.write_all(piece)?;
                decoder.flush()?;
                decoder.get_mut()
            }
            Decoder::Zstd(decoder) => {
                decoder.write_all(piece)?;
                decoder.flush()?;
                decoder.get_mut()
            }
            Decoder::Plain | Decoder::Unreadable => return Ok(()),
        };
        each(unpacked);
        unpacked.clear();
        Ok(())
    }
}
