//! JSON Schemas of the JSON formats.

use super::json;
use serde_json::{Map, Value};
use std::io::{self, Write};

/// Schema of a report.
pub const REPORT: &str = include_str!("../../docs/report.schema.json");
/// Schema of a trace.
pub const TRACE: &str = include_str!("../../docs/trace.schema.json");
/// Schema of a comparison of two reports.
pub const DIFF: &str = include_str!("../../docs/diff.schema.json");
/// Schema of a trend, a series of reports.
pub const TREND: &str = include_str!("../../docs/trend.schema.json");
/// Schema of a simulation.
pub const SIMULATION: &str = include_str!("../../docs/simulation.schema.json");
/// Schema of one client against a scripted server.
pub const SCRIPT: &str = include_str!("../../docs/script.schema.json");
/// Schema of a replayed incident.
pub const REPLAY: &str = include_str!("../../docs/replay.schema.json");
/// Schema of a plan.
pub const PLAN: &str = include_str!("../../docs/plan.schema.json");

/// Writes the schema of one line of NDJSON: a finding as in a report.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn finding(out: &mut dyn Write) -> io::Result<()> {
    let report: Value = serde_json::from_str(REPORT)?;
    let defs = report.get("$defs").cloned().unwrap_or_default();
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), report.get("$schema").cloned().unwrap_or_default());
    schema.insert("title".to_owned(), "retrylens finding, schema version 1".into());
    schema.insert("description".to_owned(), "One line of what `retrylens analyze --format ndjson` writes.".into());
    schema.insert("$ref".to_owned(), "#/$defs/finding".into());
    schema.insert("$defs".to_owned(), defs);
    json::pretty(&schema, out)
}
