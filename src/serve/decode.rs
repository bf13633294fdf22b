//! Decodes bodies by their `content-encoding`.

use flate2::write::{GzDecoder, ZlibDecoder};
use std::io::Write;

/// Bytes decoded at a time, which limits the memory an answer can take.
const PIECE: usize = 1024;

/// Streaming decoder of a body.
pub(crate) enum Decoder {
    /// Not encoded.
    Plain,
    /// `gzip`
    Gzip(Box<GzDecoder<Vec<u8>>>),
    /// `deflate`
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
    /// `zstd`
    Zstd(Box<zstd::stream::write::Decoder<'static, Vec<u8>>>),
    /// An unsupported encoding, or invalid data.
    Unreadable,
}

impl Decoder {
    /// Returns the decoder for the value of a `content-encoding` header.
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

    /// Decodes `bytes` and passes the result to `each`.
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
