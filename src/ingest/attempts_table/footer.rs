//! The footer of a Parquet file: its columns, and the positions of their values.

use super::thrift::{BINARY, Compact, I32, LIST, STRUCT};
use super::{DISTINCTIVE_COLUMNS, PARQUET};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Largest footer that is read, in bytes. The footer of a table of a million attempts has some 10 KB.
const LARGEST_FOOTER: u64 = 8 << 20;
/// Largest number of columns; a table of attempts has 34.
const MAX_COLUMNS: usize = 128;
/// Largest number of rows per byte of a file: 34 empty columns of 20,000 rows take more than 1,000 bytes.
const MAX_ROWS_PER_BYTE: u64 = 20;
/// Number of bytes after the footer: its length in four bytes, and [`PARQUET`].
const TAIL: u64 = 8;

/// Returns the error of a file that cannot be read as Parquet.
pub(super) fn damaged(why: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it is a damaged Parquet file: {why}"))
}

/// Like [`damaged`], with the reason of an error of the `parquet` crate.
pub(super) fn damaged_by(error: ParquetError) -> io::Error {
    match error {
        ParquetError::General(why) | ParquetError::EOF(why) | ParquetError::NYI(why) => damaged(why),
        other => damaged(other),
    }
}

/// Reads the footer of a table of attempts, and checks that the values it describes can be in a file of `length` bytes.
///
/// # Errors
/// When the file is damaged, or is another table.
pub(super) fn read(file: &mut File, length: u64) -> io::Result<ParquetMetaData> {
    let footer = footer_bytes(file, length)?;
    let columns = columns(&footer).ok_or_else(|| damaged("its columns cannot be read"))?;
    let missing: Vec<&str> = ["ts"].into_iter().chain(DISTINCTIVE_COLUMNS).filter(|name| !columns.has(name)).collect();
    if !missing.is_empty() {
        let text = format!(
            "it is a Parquet file without the columns {}: of Parquet, only the table of attempts that retrylens wrote is \
             read",
            missing.join(", ")
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    if !columns.are_flat || columns.names.len() > MAX_COLUMNS {
        return Err(damaged("its columns are not those of a table of attempts"));
    }
    let metadata = ParquetMetaDataReader::decode_metadata(&footer).map_err(damaged_by)?;
    let rows =
        metadata.row_groups().iter().try_fold(0_u64, |sum, group| sum.checked_add(group.num_rows().try_into().ok()?));
    if rows.is_none_or(|rows| rows / MAX_ROWS_PER_BYTE > length) {
        return Err(damaged("it promises more rows than a file of its size can hold"));
    }
    let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    // No page begins at offset 0, where every file has [`PARQUET`].
    let is_inside = |start: i64, bytes: i64| {
        start > 0 && bytes >= 0 && start.checked_add(bytes).is_some_and(|end| end.unsigned_abs() <= length)
    };
    let mut ranges = chunks
        .map(|chunk| (chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()), chunk.compressed_size()));
    if !ranges.all(|(start, bytes)| is_inside(start, bytes)) {
        return Err(damaged("the values of a column stand outside of it"));
    }
    Ok(metadata)
}

/// Reads the bytes of the footer.
fn footer_bytes(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let incomplete = || damaged("it is cut off, or was not written to its end");
    let tail_at = length.checked_sub(TAIL).filter(|at| *at >= PARQUET.len() as u64).ok_or_else(incomplete)?;
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(tail_at))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, magic @ ..] = tail;
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    if magic != *PARQUET || footer > tail_at {
        return Err(incomplete());
    }
    if footer > LARGEST_FOOTER {
        return Err(damaged(format!("a footer of more than {} MiB", LARGEST_FOOTER >> 20)));
    }
    let mut bytes = vec![0; footer as usize];
    file.seek(SeekFrom::Start(tail_at - footer))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Names of the columns of a schema.
struct Columns<'t> {
    names: Vec<&'t [u8]>,
    /// Whether no column contains others.
    are_flat: bool,
}

impl Columns<'_> {
    fn has(&self, name: &str) -> bool {
        self.names.contains(&name.as_bytes())
    }
}

/// Reads the schema, which is field 2 of a footer: a list of elements with a name in field 4 and a number of children
/// in field 5 (`parquet.thrift`). The first element is the root.
fn columns(footer: &[u8]) -> Option<Columns<'_>> {
    let mut thrift = Compact::new(footer);
    let mut id = 0;
    loop {
        let (next, kind) = thrift.field(id)?;
        id = next;
        if (id, kind) == (2, LIST) {
            break;
        }
        thrift.skip(kind)?;
    }
    let (length, kind) = thrift.list().filter(|(_, kind)| *kind == STRUCT)?;
    let mut columns = Columns { names: Vec::new(), are_flat: true };
    for nth in 0..length {
        let (name, children) = element(&mut thrift)?;
        if nth == 0 {
            columns.are_flat = children == i64::try_from(length).ok()? - 1;
        } else {
            columns.names.push(name);
            columns.are_flat &= children == 0;
        }
    }
    Some(columns).filter(|_| kind == STRUCT)
}

/// Reads the name of an element of the schema, and the number of its children.
fn element<'t>(thrift: &mut Compact<'t>) -> Option<(&'t [u8], i64)> {
    let (mut id, mut name, mut children) = (0, None, 0);
    while let Some((next, kind)) = thrift.field(id) {
        id = next;
        match (id, kind) {
            (4, BINARY) => name = Some(thrift.binary()?),
            (5, I32) => children = thrift.int()?,
            _ => thrift.skip(kind)?,
        }
    }
    Some((name?, children))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Returns an element of a schema: its name, and its number of children as Thrift writes it.
    fn element(name: &str, children: &[u8]) -> Vec<u8> {
        let children = if children.is_empty() { Vec::new() } else { [&[0x15], children].concat() };
        [&[0x48, name.len() as u8], name.as_bytes(), &children, &[0]].concat()
    }

    /// Returns a footer whose schema has these elements.
    fn schema(elements: &[Vec<u8>]) -> Vec<u8> {
        [&[0x15, 2, 0x19, (elements.len() as u8) << 4 | STRUCT], &elements.concat()[..], &[0]].concat()
    }

    #[test]
    fn columns_are_checked_before_memory_is_allocated_for_them() {
        let footer = schema(&[element("root", &[4]), element("ts", &[]), element("call", &[])]);
        let found = columns(&footer).unwrap();
        assert!(found.are_flat && found.has("ts") && found.has("call") && !found.has("root"));
        // A column that claims to contain two billion others, and a root with fewer children than there are columns.
        let footer =
            schema(&[element("root", &[4]), element("ts", &[0xfe, 0xff, 0xff, 0xff, 0x0f]), element("a", &[])]);
        assert!(!columns(&footer).unwrap().are_flat);
        assert!(!columns(&schema(&[element("root", &[2]), element("a", &[]), element("b", &[])])).unwrap().are_flat);
        for cut in 0..9 {
            assert!(columns(&footer[..cut]).is_none(), "{cut}");
        }
    }

    #[test]
    fn a_long_footer_is_rejected_without_being_read() {
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(LARGEST_FOOTER + 100).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        let tail = [&(LARGEST_FOOTER as u32 + 1).to_le_bytes()[..], PARQUET].concat();
        std::io::Write::write_all(&mut file, &tail).unwrap();
        let length = file.metadata().unwrap().len();
        assert!(read(&mut file, length).unwrap_err().to_string().ends_with("a footer of more than 8 MiB"));
    }
}
