//! Output of a check: three lines for each finding, or a table with a row for each run.

use super::command::Ended;
use crate::model::{
    Severity,
    units::{counted, thousands},
};
use crate::report::Problem;
use crate::untrusted::{safe, terminal};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// Maximum number of waits shown for one run.
const MAX_WAITS: usize = 5;

/// Result of one run of the command.
pub(super) struct RunResult {
    pub(super) title: String,
    /// Requests to a model endpoint.
    pub(super) requests: u64,
    /// Other requests, which are not judged.
    pub(super) other_requests: u64,
    pub(super) waits: Waits,
    /// What the client did, such as "gave up after 3 attempts".
    pub(super) behaviour: String,
    pub(super) verdict: Verdict,
    /// Whether the exit code is 1.
    pub(super) fails: bool,
    /// Client and version, from the user agent.
    pub(super) client: String,
    pub(super) problems: Vec<Problem>,
    pub(super) ended: Ended,
}

/// Verdict on one run of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// There is no finding above info, and the command did not fail on its own.
    Right,
    /// There are warnings, below `--fail-on`.
    Warned,
    /// There is an error or a finding at or above `--fail-on`, or the command was killed at the timeout.
    Wrong,
    /// There is no error, and the command was killed by a signal, or failed although the server had answered every call.
    Failed,
    /// The command sent no request or was interrupted, so it has shown nothing.
    Inconclusive,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::Warned => "warning",
            Verdict::Wrong => "WRONG",
            Verdict::Failed => "FAILED",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}

/// Waits between requests, in seconds.
pub(super) struct Waits(pub(super) Vec<f64>);

impl Waits {
    fn to_text(&self) -> String {
        let shown: Vec<String> = self.0.iter().take(MAX_WAITS).map(|wait| format!("{wait:.2}")).collect();
        let more = self.0.len().saturating_sub(MAX_WAITS);
        match (shown.as_slice(), more) {
            ([], _) => "-".to_owned(),
            (_, 0) => format!("{} s", shown.join(", ")),
            _ => format!("{} s and {more} more", shown.join(", ")),
        }
    }
}

impl RunResult {
    /// Returns the codes of the rules with findings, worst first.
    fn rule_codes(&self) -> String {
        let mut codes: Vec<&str> = self.problems.iter().map(|problem| problem.rule).collect();
        codes.dedup();
        codes.join(" ")
    }
}

/// Writes the findings of one run as text.
pub(super) fn write_findings(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    let ended = match &result.ended {
        Ended::Exited(code) => format!("the command ended with exit code {code}"),
        Ended::Killed(how) => format!("the command was killed ({how})"),
        Ended::TimedOut => "the command was stopped when its time was over".to_owned(),
        Ended::Interrupted => "the command was interrupted".to_owned(),
    };
    let (word, requests) = (result.verdict.word(), counted(result.requests, "request"));
    let other_requests = if result.other_requests == 0 {
        String::new()
    } else {
        format!(" and {} to other paths", thousands(result.other_requests))
    };
    writeln!(out, "\n{word}: {requests}{other_requests}, waits {}; {ended}", result.waits.to_text())?;
    result.problems.iter().try_for_each(|problem| write_finding(problem, out))
}

/// Writes a finding as three lines: severity, rule and service; the figures; the fix.
fn write_finding(problem: &Problem, out: &mut dyn Write) -> io::Result<()> {
    let mark = match problem.severity {
        Severity::Error => "✗ error",
        Severity::Warning => "! warning",
        Severity::Info => "· info",
    };
    let named = [problem.provider.as_deref(), problem.model.as_deref(), problem.class];
    let of: Vec<&str> = named.into_iter().flatten().collect();
    let of = of.join(" · ");
    writeln!(out, "\n  {mark} {} {}  {}", problem.rule, problem.name, terminal(&safe(&of)))?;
    writeln!(out, "    {}", terminal(&safe(&problem.example)))?;
    writeln!(out, "    fix: {}", terminal(&safe(&problem.fix)))
}

/// Writes a table with a row for each run.
pub(super) fn write_table(results: &[RunResult], out: &mut dyn Write) -> io::Result<()> {
    const HEAD: [&str; 7] = ["scenario", "requests", "waits", "the client", "verdict", "found", "client and version"];
    let row = |result: &RunResult| {
        let cells = [
            result.title.clone(),
            result.requests.to_string(),
            result.waits.to_text(),
            result.behaviour.clone(),
            result.verdict.word().to_owned(),
            result.rule_codes(),
            result.client.clone(),
        ];
        cells.map(|cell| terminal(&safe(&cell)).into_owned())
    };
    let rows: Vec<[String; 7]> = std::iter::once(HEAD.map(str::to_owned)).chain(results.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    writeln!(out)?;
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
