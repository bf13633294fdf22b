//! The forms a report can take as one text.

use clap::ValueEnum;

/// A report as one text: on standard output (`--format`) or in a file (`--output`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Form {
    /// For people
    Text,
    /// For a browser: one page, without a network
    Html,
    /// For programs: everything (`retrylens schema report`)
    Json,
    /// For programs: one finding a line (`retrylens schema finding`)
    Ndjson,
    /// For a pull request or a job summary
    Markdown,
    /// For code scanning: SARIF 2.1.0
    Sarif,
    /// For test reports: JUnit XML, calls as test cases
    Junit,
    /// For GitHub Actions: annotations; the Markdown goes to the job summary
    Github,
}
