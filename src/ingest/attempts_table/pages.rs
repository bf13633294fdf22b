//! Pages of columns, which are checked before they are decompressed and decoded.

use super::thrift::{Compact, I32};
use crate::ingest::reader::read_full;
use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use std::fs::File;
use std::io::BufReader;

/// Largest page, in bytes, before and after compression. This program ends a page at 1 MiB.
const LARGEST_PAGE: i64 = 4 << 20;
/// Number of bytes at the start of a page header that contain its sizes.
const SIZES_END: usize = 32;

/// A file of which a page is read only if its header states allowed sizes.
pub(super) struct CheckedFile {
    pub(super) file: File,
    pub(super) length: u64,
}

impl Length for CheckedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for CheckedFile {
    type T = BufReader<File>;

    /// Returns a reader of the page whose header begins at `start`.
    fn get_read(&self, start: u64) -> Result<BufReader<File>> {
        let mut header = [0; SIZES_END];
        let known = read_full(&mut self.file.get_read(start)?, &mut header)?;
        match sizes(&header[..known]) {
            Some(sizes) if sizes.iter().all(|size| (0..=LARGEST_PAGE).contains(size)) => self.file.get_read(start),
            Some(_) => Err(invalid(&format!("a page of more than {} MiB", LARGEST_PAGE >> 20))),
            None => Err(invalid("a page without a size")),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.file.get_bytes(start, length)
    }
}

fn invalid(why: &str) -> ParquetError {
    ParquetError::General(why.to_owned())
}

/// Returns the sizes in bytes that a page header states: uncompressed in field 2, compressed in field 3
/// (`parquet.thrift`).
fn sizes(header: &[u8]) -> Option<[i64; 2]> {
    let mut thrift = Compact::new(header);
    let (mut id, mut uncompressed) = (0, None);
    loop {
        let (next, kind) = thrift.field(id)?;
        id = next;
        match (id, kind) {
            (2, I32) => uncompressed = Some(thrift.int()?),
            (3, I32) => return Some([uncompressed?, thrift.int()?]),
            _ => thrift.skip(kind)?,
        }
    }
}

/// Reads the pages of a column of one row group, and rejects those of kinds that this program does not write.
pub(super) struct CheckedPages {
    pages: SerializedPageReader<CheckedFile>,
    /// Whether the dictionary that data pages may refer to was read.
    has_dictionary: bool,
}

impl CheckedPages {
    pub(super) fn new(pages: SerializedPageReader<CheckedFile>) -> CheckedPages {
        CheckedPages { pages, has_dictionary: false }
    }

    /// Whether this program writes such a page, after the pages read so far.
    fn is_expected(&mut self, page: &Page) -> bool {
        match page {
            // The decoder allocates memory for the stated number of entries, each of which takes at least a byte.
            Page::DictionaryPage { buf, num_values, .. } => {
                !std::mem::replace(&mut self.has_dictionary, true) && *num_values as usize <= buf.len()
            }
            Page::DataPage { encoding, def_level_encoding, .. } => {
                let is_readable = match encoding {
                    Encoding::PLAIN => true,
                    Encoding::RLE_DICTIONARY => self.has_dictionary,
                    _ => false,
                };
                is_readable && *def_level_encoding == Encoding::RLE
            }
            Page::DataPageV2 { .. } => false,
        }
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        match page {
            Some(page) if !self.is_expected(&page) => Err(invalid("a page of a kind that retrylens does not write")),
            page => Ok(page),
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;

    #[test]
    fn pages_that_state_invalid_sizes_are_rejected() {
        for (header, expected) in [
            (&[0x15, 0, 0x15, 0x80, 0x02, 0x15, 0x20, 0x2c][..], None),
            // A page of 2 GiB in a few bytes.
            (&[0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0x20], Some("a page of more than 4 MiB")),
            (&[0x15, 0, 0x15, 0x80, 0x02, 0x15, 0x01], Some("a page of more than 4 MiB")),
            (&[0x15, 0, 0x00], Some("a page without a size")),
            (&[0x15, 0, 0x25, 0x80, 0x02], Some("a page without a size")),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(header).unwrap();
            let pages = CheckedFile { file, length: header.len() as u64 };
            let error = pages.get_read(0).err().map(|error| error.to_string());
            assert_eq!(
                error.as_deref().map(|error| error.trim_start_matches("Parquet error: ")),
                expected,
                "{header:?}"
            );
        }
    }
}
