//! Parts shared by the comparisons of reports.

use crate::model::Severity;
use serde::Serialize;

/// The first fields of the JSON output.
#[derive(Clone, Debug, Serialize)]
pub struct Head {
    /// `diff` or `trend`.
    pub kind: &'static str,
    /// Version of the format.
    pub schema_version: u32,
    /// Name and version of the program.
    pub generator: String,
    /// Title, as given by `--title`.
    pub title: Option<String>,
    /// The result in sentences.
    pub verdict: String,
}

impl Head {
    pub(super) fn new(kind: &'static str, schema_version: u32, verdict: String) -> Head {
        let generator = format!("retrylens {}", env!("CARGO_PKG_VERSION"));
        Head { kind, schema_version, generator, title: None, verdict }
    }
}

/// Removes the problems below `min` and returns their number.
pub(super) fn remove_below<T>(problems: &mut Vec<T>, min: Severity, severity: impl Fn(&T) -> Severity) -> u64 {
    let all = problems.len();
    problems.retain(|problem| severity(problem) >= min);
    (all - problems.len()) as u64
}
