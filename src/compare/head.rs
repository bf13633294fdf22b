//! What comparisons of reports have in common.

use crate::model::Severity;
use serde::Serialize;

/// The first fields of the JSON form.
#[derive(Clone, Debug, Serialize)]
pub struct Head {
    /// `diff` or `trend`.
    pub kind: &'static str,
    /// Version of this form.
    pub schema_version: u32,
    /// The program and version that made it.
    pub generator: String,
    /// What the comparison is about, as `--title` says it.
    pub title: Option<String>,
    /// What matters most, in sentences.
    pub verdict: String,
}

impl Head {
    pub(super) fn new(kind: &'static str, schema_version: u32, verdict: String) -> Head {
        let generator = format!("retrylens {}", env!("CARGO_PKG_VERSION"));
        Head { kind, schema_version, generator, title: None, verdict }
    }
}

/// Removes the problems below `least`, and returns how many those were.
pub(super) fn remove_below<T>(problems: &mut Vec<T>, least: Severity, severity: impl Fn(&T) -> Severity) -> u64 {
    let all = problems.len();
    problems.retain(|problem| severity(problem) >= least);
    (all - problems.len()) as u64
}
