//! Pages of columns, checked before they are unpacked and decoded.

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
/// Number of bytes at the start of a page header that hold its sizes.
const SIZES: usize = 32;

/// A file whose pages are read only if their headers state sizes that are allowed.
pub(super) struct Pages {
    pub(super) file: File,
    pub(super) length: u64,
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Pages {
    type T = BufReader<File>;

    /// Returns a reader of the page whose header begins at `start`.
    fn get_read(&self, start: u64) -> Result<BufReader<File>> {
        let mut header = [0; SIZES];
        let known = read_full(&mut self.file.get_read(start)?, &mut header)?;
        match sizes(&header[..known]) {
            Some(sizes) if sizes.iter().all(|size| (0..=LARGEST_PAGE).contains(size)) => self.file.get_read(start),
            Some(_) => Err(refused(&format!("a page of more than {} MiB", LARGEST_PAGE >> 20))),
            None => Err(refused("a page without a size")),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.file.get_bytes(start, length)
    }
}

fn refused(why: &str) -> ParquetError {
    ParquetError::General(why.to_owned())
}

/// Returns the sizes that a page header states, in bytes: unpacked in field 2, packed in field 3 (`parquet.thrift`).
fn sizes(header: &[u8]) -> Option<[i64; 2]> {
    let mut thrift = Compact::new(header);
    let (mut id, mut unpacked) = (0, None);
    loop {
        let (next, kind) = thrift.field(id)?;
        id = next;
        match (id, kind) {
            (2, I32) => unpacked = Some(thrift.int()?),
            (3, I32) => return Some([unpacked?, thrift.int()?]),
            _ => thrift.skip(kind)?,
        }
    }
}

/// Reads the pages of a column of one row group, and refuses those that this program does not write.
pub(super) struct Checked {
    pages: SerializedPageReader<Pages>,
    /// Whether the dictionary that data pages may refer to was read.
    has_dictionary: bool,
}

impl Checked {
    pub(super) fn new(pages: SerializedPageReader<Pages>) -> Checked {
        Checked { pages, has_dictionary: false }
    }

    /// Whether this program writes such a page, at this place of a column.
    fn is_own(&mut self, page: &Page) -> bool {
        match page {
            // Every entry takes at least a byte; the decoder makes room for as many as are stated.
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

impl Iterator for Checked {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Checked {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        match page {
            Some(page) if !self.is_own(&page) => Err(refused("a page of a kind that retrylens does not write")),
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
    fn a_page_is_refused_by_the_size_it_states() {
        for (header, fault) in [
            (&[0x15, 0, 0x15, 0x80, 0x02, 0x15, 0x20, 0x2c][..], None),
            // A page of 2 GiB in a few bytes.
            (&[0x15, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0x20], Some("a page of more than 4 MiB")),
            (&[0x15, 0, 0x15, 0x80, 0x02, 0x15, 0x01], Some("a page of more than 4 MiB")),
            (&[0x15, 0, 0x00], Some("a page without a size")),
            (&[0x15, 0, 0x25, 0x80, 0x02], Some("a page without a size")),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(header).unwrap();
            let pages = Pages { file, length: header.len() as u64 };
            let told = pages.get_read(0).err().map(|error| error.to_string());
            assert_eq!(told.as_deref().map(|told| told.trim_start_matches("Parquet error: ")), fault, "{header:?}");
        }
    }
}
