//! Reads the bytes of an input in blocks of whole lines: windows of a plain file in parallel, blocks of a stream in
//! sequence.

use super::attempts_table;
use super::limits::{LONGEST_LINE, WINDOW};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Number of bytes of a line after which the rest of it is skipped, because the line will be rejected.
pub(crate) const MAX_LINE_READ: usize = LONGEST_LINE + WINDOW as usize;

/// Access to the bytes of an input.
pub(crate) enum Bytes {
    /// A plain file of this length in bytes: any range can be read independently.
    Plain(u64),
    /// Compressed, piped or in another encoding: readable only from start to end.
    Stream(Box<dyn Read + Send>),
}

/// Opens a file and distinguishes plain from compressed by its first bytes, not by its name.
pub(crate) fn open(path: &Path) -> io::Result<Bytes> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory"));
    }
    if !metadata.is_file() {
        return stream(Box::new(file));
    }
    let mut magic = [0; MAGIC_BYTES];
    let known = read_full(&mut file, &mut magic)?;
    match encoding(&magic[..known]) {
        Encoding::Plain => Ok(Bytes::Plain(metadata.len())),
        Encoding::Parquet => attempts_table::open(file).map(Bytes::Stream),
        _ => stream(Box::new(File::open(path)?)),
    }
}

/// Returns a decoding reader for a stream, whose encoding is detected from its first bytes.
pub(crate) fn stream(input: Box<dyn Read + Send>) -> io::Result<Bytes> {
    let (magic, whole) = front_of(Box::new(BufReader::with_capacity(1 << 18, input)), MAGIC_BYTES);
    let text: Box<dyn Read + Send> = match encoding(&magic) {
        Encoding::Plain => return Ok(Bytes::Stream(whole)),
        Encoding::Gzip => Box::new(flate2::read::MultiGzDecoder::new(whole)),
        Encoding::Zstd => Box::new(zstd::stream::read::Decoder::new(whole)?),
        Encoding::Utf16 { big_endian } => Box::new(Utf16::new(whole, big_endian)),
        Encoding::Parquet => attempts_table::open_stream(whole)?,
    };
    let (magic, text) = front_of(text, MAGIC_BYTES);
    Ok(Bytes::Stream(if encoding(&magic) == Encoding::Parquet { attempts_table::open_stream(text)? } else { text }))
}

/// Returns the first `bytes` bytes of a stream, or fewer if it is shorter, and a reader that repeats the stream from
/// its beginning. If reading fails here, that reader fails with the same error after the same bytes.
pub(crate) fn front_of(mut stream: Box<dyn Read + Send>, bytes: usize) -> (Vec<u8>, Box<dyn Read + Send>) {
    let mut front = Vec::with_capacity(bytes);
    let failure = stream.by_ref().take(bytes as u64).read_to_end(&mut front).err();
    let repeated = io::Cursor::new(front.clone());
    let whole: Box<dyn Read + Send> = match failure {
        Some(error) => Box::new(repeated.chain(FailingReader(Some(error)))),
        None => Box::new(repeated.chain(stream)),
    };
    (front, whole)
}

/// A reader that fails once with the given error, and is then at its end.
struct FailingReader(Option<io::Error>);

impl Read for FailingReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Returns the first bytes of a plain file.
pub(crate) fn front_of_file(path: &Path, bytes: usize) -> io::Result<Vec<u8>> {
    let mut front = Vec::new();
    File::open(path)?.take(bytes as u64).read_to_end(&mut front)?;
    Ok(front)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Plain,
    Gzip,
    Zstd,
    Utf16 {
        big_endian: bool,
    },
    /// Only tables of attempts written by this program can be read.
    Parquet,
}

/// Number of bytes at the start of an input that show its encoding.
const MAGIC_BYTES: usize = 4;

/// Names the encoding of a file, detected from its first bytes.
pub(crate) fn packing(path: &Path) -> io::Result<&'static str> {
    let mut magic = [0; MAGIC_BYTES];
    let known = read_full(&mut File::open(path)?, &mut magic)?;
    Ok(match encoding(&magic[..known]) {
        Encoding::Plain => "plain",
        Encoding::Gzip => "gzip",
        Encoding::Zstd => "zstd",
        Encoding::Utf16 { .. } => "UTF-16",
        Encoding::Parquet => "Parquet",
    })
}

/// Detects the encoding from the first bytes; [`MAGIC_BYTES`] of them suffice.
fn encoding(magic: &[u8]) -> Encoding {
    match magic {
        [0x1f, 0x8b, ..] => Encoding::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Encoding::Zstd,
        [0xff, 0xfe, ..] => Encoding::Utf16 { big_endian: false },
        [0xfe, 0xff, ..] => Encoding::Utf16 { big_endian: true },
        magic if magic.starts_with(attempts_table::PARQUET) => Encoding::Parquet,
        _ => Encoding::Plain,
    }
}

/// Whether a file that begins with `magic` is uncompressed UTF-8 text.
pub(crate) fn is_plain(magic: &[u8]) -> bool {
    encoding(magic) == Encoding::Plain
}

/// Whether a file that begins with `magic` is compressed.
pub(crate) fn is_compressed(magic: &[u8]) -> bool {
    matches!(encoding(magic), Encoding::Gzip | Encoding::Zstd | Encoding::Parquet)
}

/// Reads until `buffer` is full or the input ends, and returns the number of bytes read.
pub(crate) fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Splits a stream into blocks of whole lines.
pub(crate) struct Blocks<R> {
    input: R,
    rest: Vec<u8>,
    size: usize,
    done: bool,
    /// Read error that ended the stream early, until it has been returned.
    failed: Option<io::Error>,
}

impl<R: Read> Blocks<R> {
    pub(crate) fn new(input: R, size: usize) -> Self {
        Blocks { input, rest: Vec::new(), size, done: false, failed: None }
    }

    /// Returns the next block, or `None` at the end. If reading fails, everything before the failure is returned first.
    ///
    /// # Errors
    /// Once, after the last block that could be read.
    pub(crate) fn next_block(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.done {
            return self.failed.take().map_or(Ok(None), Err);
        }
        let mut block = std::mem::take(&mut self.rest);
        loop {
            let known = block.len();
            if self.fill(&mut block) < self.size {
                self.done = true;
                return if block.is_empty() { self.next_block() } else { Ok(Some(block)) };
            }
            if let Some(newline) = memchr::memrchr(b'\n', &block[known..]) {
                self.rest = block.split_off(known + newline + 1);
                return Ok(Some(block));
            }
            // A line longer than a block is read further. Beyond the longest line allowed, it is returned truncated, to
            // be rejected.
            if block.len() > LONGEST_LINE {
                self.skip_line();
                block.push(b'\n');
                return Ok(Some(block));
            }
        }
    }

    /// Makes the stream end here with `error`, unless it already failed.
    pub(crate) fn fail(&mut self, error: io::Error) {
        self.done = true;
        self.failed.get_or_insert(error);
    }

    /// Skips the rest of a line that is too long.
    fn skip_line(&mut self) {
        let mut piece = Vec::new();
        loop {
            piece.clear();
            let got = self.fill(&mut piece);
            if let Some(newline) = memchr::memchr(b'\n', &piece) {
                self.rest = piece[newline + 1..].to_vec();
                return;
            }
            if got < self.size {
                self.done = true;
                return;
            }
        }
    }

    /// Appends up to `size` bytes to `buffer` and returns how many were read. The buffer is not zeroed first: most
    /// inputs are much smaller than `size`.
    fn fill(&mut self, buffer: &mut Vec<u8>) -> usize {
        let known = buffer.len();
        let failed = self.input.by_ref().take(self.size as u64).read_to_end(buffer).err();
        self.failed = self.failed.take().or(failed);
        buffer.len() - known
    }
}

/// Converts UTF-16 with a byte order mark to UTF-8.
struct Utf16<R> {
    input: R,
    big_endian: bool,
    /// First byte of a code unit that was split at the end of the previous block.
    odd_byte: Option<u8>,
    /// High surrogate whose low surrogate follows in the next block.
    high_surrogate: Option<u16>,
    /// Converted text, and the number of bytes of it that were returned.
    converted: Vec<u8>,
    returned: usize,
}

impl<R: Read> Utf16<R> {
    fn new(input: R, big_endian: bool) -> Self {
        Utf16 { input, big_endian, odd_byte: None, high_surrogate: None, converted: Vec::new(), returned: 0 }
    }

    /// Converts the next block, and returns whether there is any text.
    fn refill(&mut self) -> io::Result<bool> {
        let mut raw = vec![0; 1 << 16];
        let mut from = 0;
        if let Some(byte) = self.odd_byte.take() {
            raw[0] = byte;
            from = 1;
        }
        let got = from + read_full(&mut self.input, &mut raw[from..])?;
        if got % 2 == 1 {
            self.odd_byte = Some(raw[got - 1]);
        }
        let units = raw[..got - got % 2].chunks_exact(2).map(|pair| {
            if self.big_endian {
                u16::from_be_bytes([pair[0], pair[1]])
            } else {
                u16::from_le_bytes([pair[0], pair[1]])
            }
        });
        let mut units: Vec<u16> = self.high_surrogate.take().into_iter().chain(units).collect();
        // A surrogate pair may be split at the end of the block.
        if got == raw.len() && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.high_surrogate = units.pop();
        }
        self.converted = String::from_utf16_lossy(&units).into_bytes();
        self.returned = 0;
        Ok(!self.converted.is_empty())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.returned == self.converted.len() && !self.refill()? {
            return Ok(0);
        }
        let n = buffer.len().min(self.converted.len() - self.returned);
        buffer[..n].copy_from_slice(&self.converted[self.returned..self.returned + n]);
        self.returned += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn blocks_end_at_newlines() {
        let text = "aaaa\nbb\nccccccccccccccccccc\nd";
        for size in 1..40 {
            let mut blocks = Blocks::new(text.as_bytes(), size);
            let mut joined = Vec::new();
            while let Some(block) = blocks.next_block().unwrap() {
                assert!(block.last() == Some(&b'\n') || blocks.done);
                joined.extend(block);
            }
            assert_eq!(joined, text.as_bytes());
        }
    }

    #[test]
    fn utf16_becomes_utf8() {
        let text = "{\"a\":\"é😀\"}\n".repeat(9000);
        let bytes: Vec<u8> = std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        let Bytes::Stream(mut stream) = stream(Box::new(io::Cursor::new(bytes))).unwrap() else { panic!("a stream") };
        let mut out = String::new();
        stream.read_to_string(&mut out).unwrap();
        assert_eq!(out.trim_start_matches('\u{feff}'), text);
    }
}
