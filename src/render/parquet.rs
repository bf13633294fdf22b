//! Writes tables as Parquet.

use crate::frames::{Cells, Frame};
use crate::untrusted::mask_keys;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// Rows per row group; readers can skip row groups and read them in parallel.
const GROUP_ROWS: usize = 1 << 20;
/// Values written before the size of a page is looked at.
const BATCH_VALUES: usize = 128;

/// Writes the table, compressed with zstd.
///
/// # Errors
/// Returns an error if writing to `out` fails or the table is too large for the format.
pub fn render(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    // Written to memory first: the writer requires an output that is `Send`.
    let mut file = Vec::new();
    write(frame, &mut file, GROUP_ROWS).map_err(io::Error::other)?;
    out.write_all(&file)
}

fn write(frame: &Frame, file: &mut Vec<u8>, group_rows: usize) -> Result<()> {
    // The default level of zstd.
    let compression = Compression::ZSTD(ZstdLevel::try_new(3)?);
    // Pages end between batches of values, so that pages of long values stay small enough to be read back.
    let properties =
        WriterProperties::builder().set_compression(compression).set_write_batch_size(BATCH_VALUES).build();
    let mut writer = SerializedFileWriter::new(file, schema(frame)?, Arc::new(properties))?;
    let rows = frame.columns.first().map_or(0, |(_, cells)| height(cells));
    for start in (0..rows).step_by(group_rows) {
        let range = start..rows.min(start + group_rows);
        let mut group = writer.next_row_group()?;
        for (_, cells) in &frame.columns {
            // One writer per column, in the order of the schema.
            if let Some(mut column) = group.next_column()? {
                write_cells(&mut column, cells, range.clone())?;
                column.close()?;
            }
        }
        group.close()?;
    }
    writer.close().map(|_| ())
}

fn schema(frame: &Frame) -> Result<TypePtr> {
    let columns: Result<Vec<TypePtr>> = frame.columns.iter().map(|(name, cells)| field(name, cells)).collect();
    Ok(Arc::new(Type::group_type_builder(frame.name).with_fields(columns?).build()?))
}

fn field(name: &str, cells: &Cells) -> Result<TypePtr> {
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

fn height(cells: &Cells) -> usize {
    match cells {
        Cells::Text(list) => list.len(),
        Cells::Int(list) | Cells::Time(list) => list.len(),
        Cells::Float(list) => list.len(),
        Cells::Bool(list) => list.len(),
    }
}

fn write_cells(column: &mut SerializedColumnWriter<'_>, cells: &Cells, range: Range<usize>) -> Result<()> {
    match cells {
        Cells::Text(list) => write_column::<ByteArrayType, _>(column, &list[range], |text| {
            mask_keys(text).into_owned().into_bytes().into()
        }),
        Cells::Int(list) | Cells::Time(list) => write_column::<Int64Type, _>(column, &list[range], |number| *number),
        Cells::Float(list) => write_column::<DoubleType, _>(column, &list[range], |number| *number),
        Cells::Bool(list) => write_column::<BoolType, _>(column, &list[range], |truth| *truth),
    }
}

/// Writes the values that are present, with a definition level for every row.
fn write_column<T: DataType, C>(
    column: &mut SerializedColumnWriter<'_>,
    cells: &[Option<C>],
    value: impl Fn(&C) -> T::T,
) -> Result<()> {
    let values: Vec<T::T> = cells.iter().flatten().map(value).collect();
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    column.typed::<T>().write_batch(&values, Some(&present), None).map(|_| ())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    /// Writes a table with `group_rows` rows per group and reads it back: the number of groups, and every row as text.
    fn read_back(columns: Vec<(&'static str, Cells)>, group_rows: usize) -> (usize, Vec<String>) {
        let mut bytes = Vec::new();
        write(&Frame { name: "f", columns }, &mut bytes, group_rows).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        (reader.num_row_groups(), rows)
    }

    #[test]
    fn every_kind_of_column_reads_back() {
        let columns = vec![
            ("text", Cells::Text(vec![Some("a".to_owned()), None])),
            ("int", Cells::Int(vec![Some(1), None])),
            ("float", Cells::Float(vec![Some(0.5), None])),
            ("bool", Cells::Bool(vec![Some(true), None])),
            ("time", Cells::Time(vec![Some(1_767_607_200_000_000), None])),
        ];
        let (groups, rows) = read_back(columns, GROUP_ROWS);
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
        let numbers = (0..5).map(Some).collect();
        let (groups, rows) = read_back(vec![("n", Cells::Int(numbers))], 2);
        assert_eq!(groups, 3);
        assert_eq!(rows, ["{n: 0}", "{n: 1}", "{n: 2}", "{n: 3}", "{n: 4}"]);
    }

    #[test]
    fn keys_are_masked() {
        let key = format!("sk-ant-api03-{}", "x1Y2".repeat(12));
        let (_, rows) = read_back(vec![("text", Cells::Text(vec![Some(key.clone())]))], GROUP_ROWS);
        assert!(rows[0].contains("text") && !rows[0].contains(&key), "{rows:?}");
    }

    #[test]
    fn a_frame_without_rows_can_be_written() {
        let mut out = Vec::new();
        render(&Frame { name: "f", columns: vec![("text", Cells::Text(vec![]))] }, &mut out).unwrap();
        assert!(out.ends_with(b"PAR1"));
    }
}
