//! Anonymized tables of attempts and calls; those of runs and findings are made from an anonymized report.

use super::{Anonymizer, Kind};
use crate::frames::{Cells, Frame};
use std::borrow::Cow;

impl Anonymizer {
    /// Returns `frame` anonymized.
    #[must_use]
    pub fn frame<'t>(&'t self, frame: Frame<'t>) -> Frame<'t> {
        let columns = frame.columns.into_iter().map(|(name, cells)| (name, self.cells(name, cells)));
        Frame { columns: columns.collect(), ..frame }
    }

    fn cells<'t>(&'t self, column: &str, cells: Cells<'t>) -> Cells<'t> {
        match (cells, name_kind(column)) {
            (Cells::Text(cell), Some(kind)) => {
                Cells::Text(Box::new(move |row| cell(row).map(|text| Cow::Owned(self.name(kind, &text)))))
            }
            (cells, _) => cells,
        }
    }
}

/// Returns the kind of name in a text column; `None` if it contains only fixed words of retrylens.
fn name_kind(column: &str) -> Option<Kind> {
    match column {
        "class" | "cost_source" | "bucket" | "outcome" | "grouping" | "first_class" | "last_class" => None,
        "run_id" => Some(Kind::Run),
        "call_id" => Some(Kind::Call),
        "request_id" => Some(Kind::Request),
        "provider" => Some(Kind::Provider),
        "model" => Some(Kind::Model),
        "layer" => Some(Kind::Layer),
        "client" => Some(Kind::Client),
        "client_version" => Some(Kind::Version),
        "error_type" | "error_code" => Some(Kind::Error),
        "file" => Some(Kind::File),
        // Columns without an entry here are replaced by default.
        _ => Some(Kind::Word),
    }
}
