//! The forms a report can take as one text.

use clap::ValueEnum;

/// A report as one text, on standard output (`--format`) or in a file (`--output`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Form {
    /// Text for a terminal
    Text,
    /// One self-contained page for a browser
    Html,
    /// The complete report as JSON (`retrylens schema report`)
    Json,
    /// One finding per line as JSON (`retrylens schema finding`)
    Ndjson,
    /// Markdown for a pull request or job summary
    Markdown,
    /// SARIF 2.1.0 for code scanning
    Sarif,
    /// JUnit XML for test reports, with calls as test cases
    Junit,
    /// Annotations for GitHub Actions; Markdown is written to the job summary
    Github,
}
