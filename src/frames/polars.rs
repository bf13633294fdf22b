//! Tables as data frames of polars.

use super::{Cells, Frame};
use crate::untrusted::mask_keys;
use polars::prelude::{
    BooleanChunked, Column, DataFrame, Float64Chunked, Int64Chunked, IntoColumn, IntoSeries, NewChunkedArray,
    PolarsResult, StringChunked, TimeUnit, TimeZone,
};

impl Frame<'_> {
    /// Converts the table to polars: the same columns, nulls for empty cells, times as `Datetime` in microseconds and
    /// UTC. Keys are masked, as in CSV and Parquet.
    ///
    /// # Errors
    /// Returns an error if columns share a name.
    pub fn to_polars(&self) -> PolarsResult<DataFrame> {
        DataFrame::new_infer_height(self.columns.iter().map(|(name, cells)| column(name, self.rows, cells)).collect())
    }
}

fn column(name: &str, rows: usize, cells: &Cells<'_>) -> Column {
    let name = name.into();
    let rows = 0..rows;
    let series = match cells {
        Cells::Text(cell) => {
            let masked = rows.map(|row| cell(row).map(|text| mask_keys(&text).into_owned()));
            StringChunked::from_iter_options(name, masked).into_series()
        }
        Cells::Int(cell) => Int64Chunked::from_iter_options(name, rows.map(cell)).into_series(),
        Cells::Float(cell) => Float64Chunked::from_iter_options(name, rows.map(cell)).into_series(),
        Cells::Bool(cell) => BooleanChunked::from_iter_options(name, rows.map(cell)).into_series(),
        Cells::Time(cell) => Int64Chunked::from_iter_options(name, rows.map(cell))
            .into_datetime(TimeUnit::Microseconds, Some(TimeZone::UTC))
            .into_series(),
    };
    series.into_column()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::frames::{LogTables, of_report};
    use crate::ingest::{Ingested, read_str};
    use crate::{judge, report};
    use polars::prelude::DataType;
    use std::borrow::Cow;

    const UTC: DataType = DataType::Datetime(TimeUnit::Microseconds, Some(TimeZone::UTC));

    fn data(rows: usize, columns: Vec<(&'static str, Cells<'_>)>) -> PolarsResult<DataFrame> {
        Frame { name: "f", rows, columns }.to_polars()
    }

    fn text(cells: &[Option<&'static str>]) -> Cells<'_> {
        Cells::Text(Box::new(|row| cells[row].map(Cow::Borrowed)))
    }

    #[test]
    fn every_kind_of_cell_keeps_its_values_and_nulls() {
        let time = 1_767_607_200_000_000;
        let columns = vec![
            ("text", text(&[Some("a"), None])),
            ("int", Cells::Int(Box::new(|row| [None, Some(-1)][row]))),
            ("float", Cells::Float(Box::new(|row| [Some(0.5), None][row]))),
            ("bool", Cells::Bool(Box::new(|row| [None, Some(false)][row]))),
            ("time", Cells::Time(Box::new(|row| [Some(time), None][row]))),
        ];
        let data = data(2, columns).unwrap();
        let column = |name| data.column(name).unwrap();
        let types = [DataType::String, DataType::Int64, DataType::Float64, DataType::Boolean, UTC];
        assert_eq!(data.dtypes(), types);
        assert_eq!(column("text").str().unwrap().iter().collect::<Vec<_>>(), [Some("a"), None]);
        assert_eq!(column("int").i64().unwrap().iter().collect::<Vec<_>>(), [None, Some(-1)]);
        assert_eq!(column("float").f64().unwrap().iter().collect::<Vec<_>>(), [Some(0.5), None]);
        assert_eq!(column("bool").bool().unwrap().iter().collect::<Vec<_>>(), [None, Some(false)]);
        let times = column("time").datetime().unwrap();
        assert_eq!(times.physical().iter().collect::<Vec<_>>(), [Some(time), None]);
        let first = times.as_datetime_iter().next().unwrap().unwrap();
        assert_eq!(first.to_string(), "2026-01-05 10:00:00");
    }

    #[test]
    fn all_four_tables_keep_names_rows_and_types() {
        let log = r#"{"ts":"2026-01-05T10:00:00Z","run_id":"r","call_id":"c","provider":"anthropic","model":"m","attempt":1,"status":401,"error":{"type":"authentication_error"}}
{"ts":"2026-01-05T10:00:01Z","run_id":"r","call_id":"c","provider":"anthropic","model":"m","attempt":2,"status":401,"error":{"type":"authentication_error"}}
"#;
        let ingested = Ingested { table: read_str(log), ..Ingested::default() };
        let options = judge::Options { complete: true, ..judge::Options::default() };
        let judgement = judge::judge(&ingested.table, &options);
        let report = report::build(&ingested, &judgement, &options.rules);
        let log = LogTables::new(&ingested.table, &options);
        let frames: Vec<Frame<'_>> = log.frames().into_iter().chain(of_report(&report)).collect();
        let rows: Vec<(&str, usize)> =
            frames.iter().map(|frame| (frame.name, frame.to_polars().unwrap().height())).collect();
        assert_eq!(rows, [("attempts", 2), ("calls", 1), ("runs", 1), ("findings", report.findings.len())]);
        assert!(!report.findings.is_empty());
        for frame in &frames {
            let data = frame.to_polars().unwrap();
            let names = frame.columns.iter().map(|(name, _)| *name);
            assert!(data.get_column_names().into_iter().map(|name| name.as_str()).eq(names), "{}", frame.name);
        }
        let calls = frames[1].to_polars().unwrap();
        assert_eq!(calls.column("model").unwrap().str().unwrap().get(0), Some("m"));
        assert_eq!(calls.column("attempts").unwrap().i64().unwrap().get(0), Some(2));
        assert_eq!(calls.column("first_sent").unwrap().dtype(), &UTC);
    }

    #[test]
    fn keys_are_masked() {
        let key = format!("sk-ant-api03-{}", "x1Y2".repeat(12));
        let data = data(1, vec![("text", Cells::Text(Box::new(|_| Some(format!("key {key}").into()))))]).unwrap();
        let text = data.column("text").unwrap().str().unwrap().get(0).unwrap();
        assert!(text.starts_with("key ") && !text.contains(&key), "{text}");
    }

    #[test]
    fn a_table_without_rows_keeps_its_columns() {
        let data = data(0, vec![("text", text(&[])), ("time", Cells::Time(Box::new(|_| None)))]).unwrap();
        assert_eq!(data.shape(), (0, 2));
        assert_eq!(data.dtypes(), [DataType::String, UTC]);
    }

    #[test]
    fn columns_of_one_name_are_an_error() {
        assert!(data(1, vec![("a", text(&[None])), ("a", text(&[None]))]).is_err());
    }
}
