//! A frame as Parquet, through polars.

use crate::frames::{Cells, Frame};
use crate::untrusted::mask_keys;
use polars::prelude::{
    Column, DataFrame, DataType, IntoColumn, NamedFrom, ParquetCompression, ParquetWriter, PolarsResult, Series,
    TimeUnit,
};
use std::io::{self, Write};

/// Writes the frame, zstd-compressed.
///
/// # Errors
/// When `out` fails, or the frame is too large for the format.
pub fn render(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let columns: PolarsResult<Vec<Column>> = frame.columns.iter().map(|(name, cells)| column(name, cells)).collect();
    columns
        .and_then(DataFrame::new_infer_height)
        .and_then(|mut data| ParquetWriter::new(out).with_compression(ParquetCompression::Zstd(None)).finish(&mut data))
        .map(|_| ())
        .map_err(io::Error::other)
}

fn column(name: &str, cells: &Cells) -> PolarsResult<Column> {
    let name = name.into();
    let series = match cells {
        Cells::Text(list) => {
            let masked: Vec<_> = list.iter().map(|text| text.as_deref().map(mask_keys)).collect();
            let texts: Vec<Option<&str>> = masked.iter().map(|text| text.as_deref()).collect();
            Series::new(name, texts)
        }
        Cells::Int(list) => Series::new(name, list.as_slice()),
        Cells::Float(list) => Series::new(name, list.as_slice()),
        Cells::Bool(list) => Series::new(name, list.as_slice()),
        Cells::Time(list) => {
            Series::new(name, list.as_slice()).cast(&DataType::Datetime(TimeUnit::Microseconds, None))?
        }
    };
    Ok(series.into_column())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_kind_of_column_can_be_written() {
        let columns = vec![
            ("text", Cells::Text(vec![Some("a".to_owned()), None])),
            ("int", Cells::Int(vec![Some(1), None])),
            ("float", Cells::Float(vec![Some(0.5), None])),
            ("bool", Cells::Bool(vec![Some(true), None])),
            ("time", Cells::Time(vec![Some(1_767_607_200_000_000), None])),
        ];
        let mut out = Vec::new();
        render(&Frame { name: "f", columns }, &mut out).unwrap();
        assert!(out.starts_with(b"PAR1") && out.ends_with(b"PAR1"));
    }

    #[test]
    fn a_frame_without_rows_can_be_written() {
        let mut out = Vec::new();
        render(&Frame { name: "f", columns: vec![("text", Cells::Text(vec![]))] }, &mut out).unwrap();
        assert!(out.ends_with(b"PAR1"));
    }
}
