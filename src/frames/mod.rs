//! Attempts, calls, runs and findings as tables, for further analysis.

mod log;
#[cfg(feature = "polars")]
mod polars;
mod report;

pub use log::LogTables;
pub use report::of_report;

use crate::model::Outcome;
use std::borrow::Cow;

/// A named table, whose cells are computed when they are read: a log has millions of attempts, and most of their cells
/// repeat text that the log holds already.
pub struct Frame<'t> {
    /// Stem of the file name, and name of the table.
    pub name: &'static str,
    /// Number of rows.
    pub rows: usize,
    /// Columns with their names.
    pub columns: Vec<(&'static str, Cells<'t>)>,
}

/// The cells of one column.
pub enum Cells<'t> {
    /// Text.
    Text(CellAt<'t, Cow<'t, str>>),
    /// Integers.
    Int(CellAt<'t, i64>),
    /// Floating-point numbers.
    Float(CellAt<'t, f64>),
    /// Booleans.
    Bool(CellAt<'t, bool>),
    /// Points in time, in microseconds since the Unix epoch, UTC.
    Time(CellAt<'t, i64>),
}

/// Returns the cell of a row, which is less than [`Frame::rows`]; `None` if the cell is empty.
pub type CellAt<'t, T> = Box<dyn Fn(usize) -> Option<T> + 't>;

fn text<'t, T>(rows: &'t [T], cell: impl Fn(&'t T) -> Option<&'t str> + 't) -> Cells<'t> {
    Cells::Text(Box::new(move |row| cell(&rows[row]).map(Cow::Borrowed)))
}

fn int<'t, T>(rows: &'t [T], cell: impl Fn(&'t T) -> Option<i64> + 't) -> Cells<'t> {
    Cells::Int(Box::new(move |row| cell(&rows[row])))
}

fn float<'t, T>(rows: &'t [T], cell: impl Fn(&'t T) -> Option<f64> + 't) -> Cells<'t> {
    Cells::Float(Box::new(move |row| cell(&rows[row])))
}

fn time<'t, T>(rows: &'t [T], cell: impl Fn(&'t T) -> Option<i64> + 't) -> Cells<'t> {
    Cells::Time(Box::new(move |row| cell(&rows[row])))
}

fn boolean<'t, T>(rows: &'t [T], cell: impl Fn(&'t T) -> bool + 't) -> Cells<'t> {
    Cells::Bool(Box::new(move |row| Some(cell(&rows[row]))))
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "ok",
        Outcome::Failed => "failed",
        Outcome::Open => "open",
    }
}
