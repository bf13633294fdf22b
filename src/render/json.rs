//! The report as JSON, a documented contract for other programs.

use crate::ingest::Diagnosis;
use crate::model::Reject;
use crate::report::Report;
use serde::Serialize;
use std::io::{self, Write};

/// Writes the report as indented JSON with a final newline.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    pretty(report, out)
}

/// Writes any value as indented JSON with a final newline.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn pretty(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let mut buffered = io::BufWriter::with_capacity(1 << 16, out);
    serde_json::to_writer_pretty(&mut buffered, value)?;
    buffered.write_all(b"\n")?;
    buffered.flush()
}

/// Writes a rejected line with its text as a line of JSON.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render_reject(reject: &Reject, text: &str, out: &mut dyn Write) -> io::Result<()> {
    #[derive(Serialize)]
    struct RejectLine<'a> {
        #[serde(flatten)]
        reject: &'a Reject,
        text: &'a str,
    }
    serde_json::to_writer(&mut *out, &RejectLine { reject, text })?;
    out.write_all(b"\n")
}

/// Writes the classification of one error as a line of JSON; the class is null for a success.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render_diagnosis(diagnosis: &Diagnosis, out: &mut dyn Write) -> io::Result<()> {
    let verdict = diagnosis.verdict;
    let line = serde_json::json!({
        "class": verdict.map(|verdict| verdict.class),
        "bucket": verdict.map(|verdict| verdict.bucket),
        "action": verdict.map(|verdict| verdict.action),
        "decided_by": verdict.map(|verdict| verdict.decided_by),
        "evidence": diagnosis.evidence,
        "low_confidence": verdict.is_some_and(|verdict| verdict.low_confidence),
        "wait_s": diagnosis.wait_s,
        "reopens_at": diagnosis.reopens,
    });
    writeln!(out, "{line}")
}
