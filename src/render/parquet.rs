//! Writes tables as Parquet.

use crate::frames::{Cells, Frame};
use crate::untrusted::mask_keys;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// Rows per row group; readers can skip row groups and read them in parallel.
const GROUP_ROWS: usize = 1 << 20;
/// Rows of a column that are handed to the writer at once.
const BATCH_ROWS: usize = 1 << 12;
/// Values written before the size of a page is looked at.
const BATCH_VALUES: usize = 128;

/// Writes the table, compressed with zstd.
///
/// # Errors
/// Returns an error if writing to `out` fails or the table is too large for the format.
pub fn render(frame: &Frame<'_>, out: &mut dyn Write) -> io::Result<()> {
    // Written to memory first: the writer requires an output that is `Send`.
    let mut file = Vec::new();
    write(frame, &mut file, GROUP_ROWS).map_err(io::Error::other)?;
    out.write_all(&file)
}

fn write(frame: &Frame<'_>, file: &mut Vec<u8>, group_rows: usize) -> Result<()> {
    // The default level of zstd.
    let compression = Compression::ZSTD(ZstdLevel::try_new(3)?);
    // Pages end between batches of values, so that pages of long values stay small enough to be read back.
    let properties =
        WriterProperties::builder().set_compression(compression).set_write_batch_size(BATCH_VALUES).build();
    let mut writer = SerializedFileWriter::new(file, schema(frame)?, Arc::new(properties))?;
    for rows in chunks(0..frame.rows, group_rows) {
        let mut group = writer.next_row_group()?;
        for (_, cells) in &frame.columns {
            // One writer per column, in the order of the schema.
            if let Some(mut column) = group.next_column()? {
                write_cells(&mut column, cells, rows.clone())?;
                column.close()?;
            }
        }
        group.close()?;
    }
    writer.close().map(|_| ())
}

fn schema(frame: &Frame<'_>) -> Result<TypePtr> {
    let columns: Result<Vec<TypePtr>> = frame.columns.iter().map(|(name, cells)| field(name, cells)).collect();
    Ok(Arc::new(Type::group_type_builder(frame.name).with_fields(columns?).build()?))
}

fn field(name: &str, cells: &Cells<'_>) -> Result<TypePtr> {
    let (physical, logical) = match cells {
        Cells::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Cells::Int(_) => (Physical::INT64, None),
        Cells::Float(_) => (Physical::DOUBLE, None),
        Cells::Bool(_) => (Physical::BOOLEAN, None),
        Cells::Time(_) => (Physical::INT64, Some(LogicalType::timestamp(false, TimeUnit::MICROS))),
    };
    let field = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(field.with_logical_type(logical).build()?))
}

/// Cuts `rows` into ranges of `most` rows or fewer.
fn chunks(rows: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> {
    rows.clone().step_by(most).map(move |start| start..rows.end.min(start + most))
}

fn write_cells(column: &mut SerializedColumnWriter<'_>, cells: &Cells<'_>, rows: Range<usize>) -> Result<()> {
    match cells {
        Cells::Text(cell) => {
            let mut masked = Masked::default();
            write_column::<ByteArrayType>(column, rows, |row| cell(row).map(|text| masked.text(text)))
        }
        Cells::Int(cell) | Cells::Time(cell) => write_column::<Int64Type>(column, rows, cell),
        Cells::Float(cell) => write_column::<DoubleType>(column, rows, cell),
        Cells::Bool(cell) => write_column::<BoolType>(column, rows, cell),
    }
}

/// Writes the values that are present, with a definition level for every row.
fn write_column<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    rows: Range<usize>,
    mut value: impl FnMut(usize) -> Option<T::T>,
) -> Result<()> {
    let (mut values, mut present) = (Vec::new(), Vec::new());
    for rows in chunks(rows, BATCH_ROWS) {
        values.clear();
        present.clear();
        for row in rows {
            let value = value(row);
            present.push(i16::from(value.is_some()));
            values.extend(value);
        }
        column.typed::<T>().write_batch(&values, Some(&present), None)?;
    }
    Ok(())
}

/// Text with masked keys, as the writer takes it. Most columns repeat a few names, which the log keeps once: where the
/// address is the same, the text is the same and is not searched for keys again.
struct Masked<'t> {
    recent: [Option<(&'t str, ByteArray)>; 64],
}

impl Default for Masked<'_> {
    fn default() -> Self {
        Masked { recent: [const { None }; 64] }
    }
}

impl<'t> Masked<'t> {
    fn text(&mut self, text: Cow<'t, str>) -> ByteArray {
        let masked = |text: &str| ByteArray::from(mask_keys(text).into_owned().into_bytes());
        let Cow::Borrowed(text) = text else { return masked(&text) };
        let slot = &mut self.recent[text.as_ptr().addr() / 8 % 64];
        match slot {
            Some((same, bytes)) if std::ptr::eq(*same, text) => bytes.clone(),
            _ => slot.insert((text, masked(text))).1.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    /// Writes a table with `group_rows` rows per group and reads it back: the number of groups, and every row as text.
    fn read_back(rows: usize, columns: Vec<(&'static str, Cells<'_>)>, group_rows: usize) -> (usize, Vec<String>) {
        let mut bytes = Vec::new();
        write(&Frame { name: "f", rows, columns }, &mut bytes, group_rows).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        (reader.num_row_groups(), rows)
    }

    #[test]
    fn every_kind_of_column_reads_back() {
        let columns = vec![
            ("text", Cells::Text(Box::new(|row| (row == 0).then_some("a".into())))),
            ("int", Cells::Int(Box::new(|row| (row == 0).then_some(1)))),
            ("float", Cells::Float(Box::new(|row| (row == 0).then_some(0.5)))),
            ("bool", Cells::Bool(Box::new(|row| (row == 0).then_some(true)))),
            ("time", Cells::Time(Box::new(|row| (row == 0).then_some(1_767_607_200_000_000)))),
        ];
        let (groups, rows) = read_back(2, columns, GROUP_ROWS);
        assert_eq!(groups, 1);
        assert_eq!(
            rows,
            [
                "{text: \"a\", int: 1, float: 0.5, bool: true, time: 2026-01-05 10:00:00.000000 +00:00}",
                "{text: null, int: null, float: null, bool: null, time: null}",
            ]
        );
    }

    #[test]
    fn rows_keep_their_order_across_groups() {
        let (groups, rows) = read_back(5, vec![("n", Cells::Int(Box::new(|row| Some(row as i64))))], 2);
        assert_eq!(groups, 3);
        assert_eq!(rows, ["{n: 0}", "{n: 1}", "{n: 2}", "{n: 3}", "{n: 4}"]);
    }

    #[test]
    fn keys_are_masked() {
        let key = format!("sk-ant-api03-{}", "x1Y2".repeat(12));
        let text = Cells::Text(Box::new(|_| Some(Cow::Borrowed(&key))));
        let (_, rows) = read_back(1, vec![("text", text)], GROUP_ROWS);
        assert!(rows[0].contains("text") && !rows[0].contains(&key), "{rows:?}");
    }

    #[test]
    fn texts_keep_their_rows_where_more_of_them_vary_than_are_remembered() {
        let names: Vec<String> = (0..1000).map(|n| format!("name-{n}")).collect();
        let row_of = |row: usize| row * 7 % 1000;
        let text = Cells::Text(Box::new(|row| Some(Cow::Borrowed(names[row_of(row)].as_str()))));
        let (_, rows) = read_back(3000, vec![("t", text)], GROUP_ROWS);
        let expected: Vec<String> = (0..3000).map(|row| format!("{{t: \"name-{}\"}}", row_of(row))).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_frame_without_rows_can_be_written() {
        let mut out = Vec::new();
        let columns = vec![("text", Cells::Text(Box::new(|_| None)))];
        render(&Frame { name: "f", rows: 0, columns }, &mut out).unwrap();
        assert!(out.ends_with(b"PAR1"));
    }
}
