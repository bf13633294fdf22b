//! Reads the columns of a table, a batch of rows at a time, and writes their values as members of JSON objects.

use crate::ingest::formats::quote;
use crate::model::Time;
use parquet::basic::{LogicalType, TimeUnit};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError::General;
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;
use std::fmt::Write;

/// One column.
pub(super) struct Column {
    pub(super) name: String,
    /// The name as a JSON key, with the colon.
    key: String,
    cells: Box<dyn Cells + Send>,
}

impl Column {
    /// Returns a column without rows; `None` if its values are of a type that this program does not write.
    pub(super) fn of(column: &ColumnDescPtr) -> Option<Column> {
        use parquet::basic::Type;
        let is_time =
            matches!(column.logical_type_ref(), Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::MICROS);
        let cells: Box<dyn Cells + Send> = match column.physical_type() {
            Type::BYTE_ARRAY => Box::new(TypedCells::<ByteArrayType>::of(column, text)),
            Type::INT64 if is_time => Box::new(TypedCells::<Int64Type>::of(column, time)),
            Type::INT64 => Box::new(TypedCells::<Int64Type>::of(column, |number, out| _ = write!(out, "{number}"))),
            Type::DOUBLE => Box::new(TypedCells::<DoubleType>::of(column, float)),
            Type::BOOLEAN => Box::new(TypedCells::<BoolType>::of(column, |truth, out| _ = write!(out, "{truth}"))),
            _ => return None,
        };
        let name = column.name().to_owned();
        let mut key = String::new();
        quote(&name, &mut key);
        key.push(':');
        Some(Column { name, key, cells })
    }

    /// Begins a row group, whose values `reader` returns.
    pub(super) fn begin(&mut self, reader: ColumnReader) {
        self.cells.begin(reader);
    }

    /// Reads the next batch, of this number of rows.
    pub(super) fn read(&mut self, rows: usize) -> Result<()> {
        self.cells.read(rows)
    }

    /// Appends the member of the next row to an object, and returns where its value begins; `None` if the value is
    /// null.
    pub(super) fn write(&mut self, out: &mut String) -> Option<usize> {
        if !self.cells.next_has_value() {
            return None;
        }
        if !out.ends_with('{') {
            out.push(',');
        }
        out.push_str(&self.key);
        let start = out.len();
        self.cells.write(out);
        Some(start)
    }
}

/// Cells of a column, of any type.
trait Cells {
    fn begin(&mut self, reader: ColumnReader);
    fn read(&mut self, rows: usize) -> Result<()>;
    /// Goes to the next row, and returns whether it has a value.
    fn next_has_value(&mut self) -> bool;
    /// Appends the next value.
    fn write(&mut self, out: &mut String);
}

/// Cells of one physical type.
struct TypedCells<T: DataType> {
    column: ColumnDescPtr,
    reader: Option<ColumnReaderImpl<T>>,
    /// Definition level of each row of the batch: it has a value if the level is the maximum of the column.
    levels: std::vec::IntoIter<i16>,
    values: std::vec::IntoIter<T::T>,
    write: fn(&T::T, &mut String),
}

impl<T: DataType> TypedCells<T> {
    fn of(column: &ColumnDescPtr, write: fn(&T::T, &mut String)) -> TypedCells<T> {
        let (levels, values) = (Vec::new().into_iter(), Vec::new().into_iter());
        TypedCells { column: ColumnDescPtr::clone(column), reader: None, levels, values, write }
    }
}

impl<T: DataType> Cells for TypedCells<T>
where
    ColumnReaderImpl<T>: Send,
{
    fn begin(&mut self, reader: ColumnReader) {
        self.reader = T::get_column_reader(reader);
    }

    fn read(&mut self, rows: usize) -> Result<()> {
        let (mut levels, mut values) = (Vec::with_capacity(rows), Vec::new());
        let reader = self.reader.as_mut().ok_or_else(|| General("a column without values".to_owned()))?;
        let (read, ..) = reader.read_records(rows, Some(&mut levels), None, &mut values)?;
        if read < rows {
            return Err(General(format!("column {} ends before the others", self.column.name())));
        }
        if self.column.max_def_level() == 0 {
            levels = vec![0; rows];
        }
        (self.levels, self.values) = (levels.into_iter(), values.into_iter());
        Ok(())
    }

    fn next_has_value(&mut self) -> bool {
        self.levels.next() == Some(self.column.max_def_level())
    }

    fn write(&mut self, out: &mut String) {
        self.values.next().iter().for_each(|value| (self.write)(value, out));
    }
}

fn text(value: &ByteArray, out: &mut String) {
    quote(&String::from_utf8_lossy(value.data()), out);
}

/// Appends microseconds since the Unix epoch as a time.
fn time(us: &i64, out: &mut String) {
    // Writing to a string does not fail.
    _ = write!(out, "\"{}\"", Time(*us));
}

fn float(value: &f64, out: &mut String) {
    // JSON has neither infinity nor NaN.
    _ = if value.is_finite() { write!(out, "{value}") } else { write!(out, "null") };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_json() {
        let mut out = String::new();
        text(&ByteArray::from("a\"b\n\u{1}"), &mut out);
        time(&1_767_607_200_000_001, &mut out);
        [0.5, f64::NAN, -1e300].iter().for_each(|value| float(value, &mut out));
        assert!(out.starts_with(r#""a\"b\n\u0001""2026-01-05T10:00:00.000001Z"0.5null-1"#), "{out}");
    }
}
