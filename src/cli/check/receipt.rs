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
const WAITS: usize = 5;

/// Result of one run of the command.
pub(super) struct Receipt {
    pub(super) title: String,
    /// Requests to a model endpoint.
    pub(super) requests: u64,
    /// Other requests, which are not judged.
    pub(super) others: u64,
    pub(super) waits: Waits,
    pub(super) did: String,
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
    fn shown(&self) -> String {
        let shown: Vec<String> = self.0.iter().take(WAITS).map(|wait| format!("{wait:.2}")).collect();
        let more = self.0.len().saturating_sub(WAITS);
        match (shown.as_slice(), more) {
            ([], _) => "-".to_owned(),
            (_, 0) => format!("{} s", shown.join(", ")),
            _ => format!("{} s and {more} more", shown.join(", ")),
        }
    }
}

impl Receipt {
    /// Returns the codes of the rules with findings, worst first.
    fn found(&self) -> String {
        let mut codes: Vec<&str> = self.problems.iter().map(|problem| problem.rule).collect();
        codes.dedup();
        codes.join(" ")
    }
}

/// Writes the findings of one run as text.
pub(super) fn findings(receipt: &Receipt, out: &mut dyn Write) -> io::Result<()> {
    let ended = match &receipt.ended {
        Ended::Exited(code) => format!("the command ended with exit code {code}"),
        Ended::Killed(how) => format!("the command was killed ({how})"),
        Ended::TimedOut => "the command was stopped when its time was over".to_owned(),
        Ended::Interrupted => "the command was interrupted".to_owned(),
    };
    let (word, requests) = (receipt.verdict.word(), counted(receipt.requests, "request"));
    let others =
        if receipt.others == 0 { String::new() } else { format!(" and {} to other paths", thousands(receipt.others)) };
    writeln!(out, "\n{word}: {requests}{others}, waits {}; {ended}", receipt.waits.shown())?;
    receipt.problems.iter().try_for_each(|problem| three_lines(problem, out))
}

/// Writes a finding as three lines: severity, rule and service; the figures; the fix.
fn three_lines(problem: &Problem, out: &mut dyn Write) -> io::Result<()> {
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
pub(super) fn table(receipts: &[Receipt], out: &mut dyn Write) -> io::Result<()> {
    const HEAD: [&str; 7] = ["scenario", "requests", "waits", "the client", "verdict", "found", "client and version"];
    let row = |receipt: &Receipt| {
        let cells = [
            receipt.title.clone(),
            receipt.requests.to_string(),
            receipt.waits.shown(),
            receipt.did.clone(),
            receipt.verdict.word().to_owned(),
            receipt.found(),
            receipt.client.clone(),
        ];
        cells.map(|cell| terminal(&safe(&cell)).into_owned())
    };
    let rows: Vec<[String; 7]> = std::iter::once(HEAD.map(str::to_owned)).chain(receipts.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    writeln!(out)?;
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
