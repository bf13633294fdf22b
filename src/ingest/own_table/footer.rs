//! The footer of a Parquet file: its columns, and where their values stand.

use super::thrift::{BINARY, Compact, I32, LIST, STRUCT};
use super::{OWN_COLUMNS, PARQUET};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Largest footer that is read, in bytes. Of a table of this program, that of a million rows takes some 10 KB.
const LARGEST_FOOTER: u64 = 8 << 20;
/// Most columns that are read; a table of this program has 34.
const MOST_COLUMNS: usize = 128;
/// Most rows for each byte of a file: the 34 columns of 20,000 rows, all of them empty, take more than 1,000 bytes.
const MOST_ROWS_A_BYTE: u64 = 20;
/// Length of what follows the footer: its length, and the mark of Parquet.
const TAIL: u64 = 8;

/// Returns the error of a file that cannot be read as Parquet.
pub(super) fn damaged(why: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it is a damaged Parquet file: {why}"))
}

/// Like [`damaged`], for an error of the `parquet` crate.
pub(super) fn undecodable(error: ParquetError) -> io::Error {
    match error {
        ParquetError::General(why) | ParquetError::EOF(why) | ParquetError::NYI(why) => damaged(why),
        other => damaged(other),
    }
}

/// Reads the footer of a table of attempts, and checks what it promises against the length of the file, in bytes.
///
/// # Errors
/// When the file is damaged, or is another table.
pub(super) fn read(file: &mut File, length: u64) -> io::Result<ParquetMetaData> {
    let footer = bytes(file, length)?;
    let columns = columns(&footer).ok_or_else(|| damaged("its columns cannot be read"))?;
    let lacks: Vec<&str> = ["ts"].into_iter().chain(OWN_COLUMNS).filter(|name| !columns.has(name)).collect();
    if !lacks.is_empty() {
        let text = format!(
            "it is a Parquet file without the columns {}: of Parquet, only the table of attempts that retrylens wrote is \
             read",
            lacks.join(", ")
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    if !columns.are_flat || columns.names.len() > MOST_COLUMNS {
        return Err(damaged("its columns are not those of a table of attempts"));
    }
    let metadata = ParquetMetaDataReader::decode_metadata(&footer).map_err(undecodable)?;
    let rows =
        metadata.row_groups().iter().try_fold(0_u64, |sum, group| sum.checked_add(group.num_rows().try_into().ok()?));
    if rows.is_none_or(|rows| rows / MOST_ROWS_A_BYTE > length) {
        return Err(damaged("it promises more rows than a file of its size can hold"));
    }
    let chunks = metadata.row_groups().iter().flat_map(|group| group.columns());
    // An offset of zero is that of no page: a file begins with its mark.
    let is_inside = |start: i64, bytes: i64| {
        start > 0 && bytes >= 0 && start.checked_add(bytes).is_some_and(|end| end.unsigned_abs() <= length)
    };
    let mut places = chunks
        .map(|chunk| (chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()), chunk.compressed_size()));
    if !places.all(|(start, bytes)| is_inside(start, bytes)) {
        return Err(damaged("the values of a column stand outside of it"));
    }
    Ok(metadata)
}

fn bytes(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let cut = || damaged("it is cut off, or was not written to its end");
    let tail_at = length.checked_sub(TAIL).filter(|at| *at >= PARQUET.len() as u64).ok_or_else(cut)?;
    let mut tail = [0; TAIL as usize];
    file.seek(SeekFrom::Start(tail_at))?;
    file.read_exact(&mut tail)?;
    let [a, b, c, d, mark @ ..] = tail;
    let footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    if mark != *PARQUET || footer > tail_at {
        return Err(cut());
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
    /// Whether no column has others inside.
    are_flat: bool,
}

impl Columns<'_> {
    fn has(&self, name: &str) -> bool {
        self.names.contains(&name.as_bytes())
    }
}

/// Reads the schema: field 2 of a footer, a list of elements with a name in field 4 and a number of children in field 5
/// (`parquet.thrift`). The first is the root.
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
    fn columns_are_named_and_counted_before_anything_makes_room_for_them() {
        let footer = schema(&[element("root", &[4]), element("ts", &[]), element("call", &[])]);
        let found = columns(&footer).unwrap();
        assert!(found.are_flat && found.has("ts") && found.has("call") && !found.has("root"));
        // A column that claims two billion others inside, and a root with fewer columns than there are.
        let footer =
            schema(&[element("root", &[4]), element("ts", &[0xfe, 0xff, 0xff, 0xff, 0x0f]), element("a", &[])]);
        assert!(!columns(&footer).unwrap().are_flat);
        assert!(!columns(&schema(&[element("root", &[2]), element("a", &[]), element("b", &[])])).unwrap().are_flat);
        for cut in 0..9 {
            assert!(columns(&footer[..cut]).is_none(), "{cut}");
        }
    }

    #[test]
    fn a_long_footer_is_refused_unread() {
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(LARGEST_FOOTER + 100).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        let tail = [&(LARGEST_FOOTER as u32 + 1).to_le_bytes()[..], PARQUET].concat();
        std::io::Write::write_all(&mut file, &tail).unwrap();
        let length = file.metadata().unwrap().len();
        assert!(read(&mut file, length).unwrap_err().to_string().ends_with("a footer of more than 8 MiB"));
    }
}
