//! SARIF 2.1.0, for code scanning and editors.
//!
//! Each problem is one result, because an alert is what a person closes. Its findings are counted in `occurrenceCount`;
//! the attempts of the earliest ones are its related locations. Fingerprints contain no time, id or line, so that the
//! same problem in the next report is the same alert.

use crate::model::{Confidence, Severity};
use crate::report::{AttemptRef, Finding, Problem, Report};
use crate::rules::{CATALOGUE, Rule};
use crate::untrusted::safe;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Maximum number of results: GitHub shows 5,000 of a run and accepts 25,000.
const MAX_RESULTS: usize = 5000;
/// Maximum number of related locations of a result; GitHub shows 100, but people read fewer.
const MAX_RELATED: usize = 20;
/// Maximum length of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 2000;
/// The fingerprint that GitHub uses; without it, GitHub computes a hash of the line, which differs in every log.
const GITHUB_FINGERPRINT: &str = "primaryLocationLineHash";
/// Characters to encode in the path of a URI: all but the unreserved characters of RFC 3986 and `/`.
const ENCODED_IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Writes `report` as one run of a tool that ended with `exit_code`.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render(report: &Report, exit_code: u8, out: &mut dyn Write) -> io::Result<()> {
    let findings = report.findings_by_problem();
    let problems = report.problems.iter().take(MAX_RESULTS);
    let results: Vec<Value> = problems
        .map(|problem| result(report, problem, findings.get(&problem.key()).map_or(&[], Vec::as_slice)))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver() },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "exitCode": exit_code,
                "toolExecutionNotifications": notifications(report),
            }],
            "results": results,
            "properties": {
                "verdict": safe(&report.verdict),
                "ledger": report.ledger,
                "suppressedFindings": report.totals.suppressed,
                "window": report.window,
            },
        }],
    });
    super::json::pretty(&log, out)
}

fn driver() -> Value {
    json!({
        "name": "retrylens",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "shortDescription": { "text": env!("CARGO_PKG_DESCRIPTION") },
        "rules": CATALOGUE.iter().map(descriptor).collect::<Vec<_>>(),
    })
}

fn descriptor(rule: &Rule) -> Value {
    let scope = super::catalogue::scope_name(rule.scope);
    let family = super::rules_page::family_of(rule);
    let mut exceptions: String = rule.exceptions().map(|exception| format!("\n- {exception}")).collect();
    if !exceptions.is_empty() {
        exceptions.insert_str(0, "\n\nExceptions:\n");
    }
    let help = format!("Why: {}\n\nFix: {}\n\nSource: {}{exceptions}", rule.why, rule.fix, rule.source);
    let [why, fix, source] = [rule.why, rule.fix, rule.source].map(super::rules_page::text);
    let markdown = format!("**Why:** {why}\n\n**Fix:** {fix}\n\n**Source:** {source}{exceptions}");
    json!({
        "id": rule.code,
        "name": pascal(rule.name),
        "shortDescription": { "text": rule.name },
        "fullDescription": { "text": rule.summary },
        "help": { "text": help, "markdown": markdown },
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": {
            "scope": scope,
            "tags": ["retries", scope, family],
            "problem.severity": problem_severity(rule.severity),
        },
    })
}

/// Converts `spend-cap-retried` to `SpendCapRetried`, the form SARIF requires for the name of a rule.
fn pascal(name: &str) -> String {
    let capitalized = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    name.split('-').map(capitalized).collect()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// Returns the word that GitHub's code scanning uses for a severity.
fn problem_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "recommendation",
    }
}

/// Returns notifications: notices, what is not listed, and what could not be read or judged.
fn notifications(report: &Report) -> Vec<Value> {
    let note = |level: &str, text: String| json!({ "level": level, "message": { "text": text } });
    let mut notes: Vec<Value> = report.notices.iter().map(|notice| note("note", shortened(notice))).collect();
    let omitted = report.problems.len().saturating_sub(MAX_RESULTS);
    if omitted > 0 {
        notes.push(note("warning", format!("{omitted} more problems stand in the JSON report only")));
    }
    if report.problems_hidden > 0 {
        notes.push(note("note", format!("{} problems are below --min-severity", report.problems_hidden)));
    }
    if report.ledger.rejected > 0 {
        let (rejected, lines) = (report.ledger.rejected, report.ledger.lines);
        notes.push(note("warning", format!("{rejected} of {lines} lines could not be read")));
    }
    notes.extend(super::not_judged::sentences(report).iter().map(|sentence| note("note", shortened(sentence))));
    notes
}

fn result(report: &Report, problem: &Problem, findings: &[&Finding]) -> Value {
    let mut places = findings.iter().flat_map(|finding| &finding.attempts);
    let first = places.next();
    let related: Vec<Value> = places.take(MAX_RELATED).enumerate().map(|(nth, at)| related(nth + 1, at)).collect();
    let index = CATALOGUE.iter().position(|rule| rule.code == problem.rule);
    let place = [problem.provider.as_deref(), problem.model.as_deref(), problem.class];
    let place: Vec<&str> = place.into_iter().map(Option::unwrap_or_default).collect();
    let fingerprint = fingerprint(problem.rule, &place);
    let mut result = json!({
        "ruleId": problem.rule,
        "level": level(problem.severity),
        "kind": "fail",
        "message": { "text": shortened(&message(problem)) },
        "locations": [location(report, first)],
        "relatedLocations": related,
        "occurrenceCount": problem.count.max(1),
        "partialFingerprints": { GITHUB_FINGERPRINT: fingerprint, "problem/v1": fingerprint },
        "properties": {
            "provider": problem.provider.as_deref().map(safe),
            "model": problem.model.as_deref().map(safe),
            "class": problem.class,
            "runs": problem.runs,
            "cost": problem.cost,
            "requestIds": problem.request_ids.iter().map(|id| safe(id)).collect::<Vec<_>>(),
            "confidence": findings.iter().map(|finding| finding.confidence).max().map(Confidence::name),
        },
    });
    if let Some(index) = index {
        result["ruleIndex"] = json!(index);
    }
    if report.baseline.is_some() {
        result["baselineState"] = json!(if problem.known { "unchanged" } else { "new" });
    }
    result
}

fn message(problem: &Problem) -> String {
    let occurrences = if problem.count == 1 { "once".to_owned() } else { format!("{} times", problem.count) };
    format!("{} (found {occurrences})\nFix: {}", safe(&problem.example), problem.fix)
}

/// Returns at most [`MAX_MESSAGE_CHARS`] characters, with line breaks kept.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_MESSAGE_CHARS).collect()
}

/// Returns the location of a result, which code scanning requires: without an attempt, the start of the log.
fn location(report: &Report, at: Option<&AttemptRef>) -> Value {
    match at {
        Some(at) => physical(&at.file, at.line),
        None => physical(report.inputs.first().map_or("-", |input| input.path.as_str()), 1),
    }
}

fn physical(file: &str, line: u32) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(file) },
        "region": { "startLine": line.max(1) },
    } })
}

fn related(id: usize, at: &AttemptRef) -> Value {
    let mut place = physical(&at.file, at.line);
    let request_id = at.request_id.as_deref().map(|id| format!(", {}", safe(id))).unwrap_or_default();
    let outcome = at.class.map_or_else(|| "succeeded".to_owned(), |class| format!("failed: {class}"));
    let status = at.status.map(|status| format!(", status {status}")).unwrap_or_default();
    place["id"] = json!(id);
    place["message"] = json!({ "text": format!("attempt {} {outcome}{status}{request_id}", at.attempt) });
    place
}

/// Converts a path to a URI reference; relative paths stay relative to the working directory of the program.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = super::words::path(&path);
    let encoded = utf8_percent_encode(path, ENCODED_IN_PATH).to_string();
    if path.starts_with('/') { format!("file://{encoded}") } else { encoded }
}

/// Returns a fingerprint that is the same for a problem in every report: rule, provider, model and class.
fn fingerprint(rule: &str, place: &[&str]) -> String {
    [&[rule][..], place].concat().iter().map(|part| safe(part).replace('/', "%2F")).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        for (path, expected) in [
            ("logs/night 1.jsonl", "logs/night%201.jsonl"),
            ("./a#b?.jsonl", "a%23b%3F.jsonl"),
            ("/var/log/x%.jsonl", "file:///var/log/x%25.jsonl"),
            ("<stdin>", "%3Cstdin%3E"),
            ("a:b/ü", "a%3Ab/%C3%BC"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }

    #[test]
    fn findings_without_attempts_have_a_location() {
        let report = crate::render::text::sample::clean();
        let place = location(&report, None);
        assert_eq!(place, physical("logs/night.jsonl", 1));
    }

    #[test]
    fn names_of_rules_are_pascal_case() {
        assert_eq!(pascal("spend-cap-retried"), "SpendCapRetried");
    }
}
