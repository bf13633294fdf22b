//! Problems as annotations of GitHub Actions, one per line: workflow commands on standard output.
//!
//! GitHub shows ten annotations per kind and step and drops further ones silently; if there are more than ten, the
//! tenth says how many more there are. Escaping follows `@actions/core`: `%`, CR and LF everywhere, `:` and `,` in
//! properties too.

use super::words;
use crate::model::Severity;
use crate::report::{Finding, Problem, Report};
use crate::untrusted::safe;
use std::io::{self, Write};

/// Maximum number of annotations that GitHub shows of one step.
const MAX_ANNOTATIONS: usize = 10;
/// Maximum length of one message, in characters.
const MAX_MESSAGE_CHARS: usize = 1000;

/// Writes the verdict and the annotations in the order of the report; problems known from a baseline come last.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "retrylens: {}", safe(&report.verdict))?;
    let (known, new): (Vec<&Problem>, Vec<&Problem>) = report.problems.iter().partition(|problem| problem.known);
    let problems: Vec<&Problem> = new.into_iter().chain(known).collect();
    let shown = if problems.len() > MAX_ANNOTATIONS { MAX_ANNOTATIONS - 1 } else { problems.len() };
    let findings = report.findings_by_problem();
    for problem in &problems[..shown] {
        let first = findings.get(&problem.key()).and_then(|findings| findings.first().copied());
        writeln!(out, "{}", annotation(problem, first))?;
    }
    match problems.len() - shown {
        0 => Ok(()),
        more => {
            let more = words::counted(more as u64, "more problem");
            writeln!(out, "::notice title=retrylens::{more} in the job summary and in the report")
        }
    }
}

fn annotation(problem: &Problem, finding: Option<&Finding>) -> String {
    let level = match problem.severity {
        _ if problem.known => "notice",
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let place = finding.and_then(|finding| finding.attempts.first());
    let place = place
        .map(|at| format!("file={},line={},", escape_property(words::path(&at.file)), at.line))
        .unwrap_or_default();
    let title = escape_property(&format!("{} {}", problem.rule, problem.name));
    format!("::{level} {place}title={title}::{}", escape_data(&message(problem)))
}

fn message(problem: &Problem) -> String {
    let parts = [problem.provider.as_deref(), problem.model.as_deref(), problem.class];
    let place = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let place = if place.is_empty() { place } else { format!(" ({place})") };
    let occurrences = words::times(problem.count);
    let known = if problem.known { ", known from the baseline" } else { "" };
    let cost = Some(words::cost(&problem.cost)).filter(|cost| !cost.is_empty());
    let cost = cost.map(|cost| format!(" Cost: {cost}.")).unwrap_or_default();
    format!("{}{place}, {occurrences}{known}.{cost} Fix: {}", problem.example, problem.fix)
}

/// Escapes the text after `::`.
fn escape_data(text: &str) -> String {
    let text = safe(text);
    let end = text.char_indices().nth(MAX_MESSAGE_CHARS).map_or(text.len(), |(end, _)| end);
    text[..end].replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_command_or_a_property_early() {
        assert_eq!(escape_property("a:b,c%d"), "a%3Ab%2Cc%25d");
        assert_eq!(escape_data("100%: a, b"), "100%25: a, b");
        assert_eq!(escape_data("x\r\n::error::y"), "x ⏎ ::error::y");
    }
}
