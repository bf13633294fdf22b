//! A test case: a call, or a finding that is not about a call.

use crate::model::{CallFacts, Outcome};
use crate::render::words;
use crate::report::{AttemptRef, Finding};
use crate::untrusted::safe;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestRerun};
use std::time::Duration;

/// Maximum length of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 500;
/// Maximum number of findings listed in one case.
const MAX_FINDINGS: usize = 10;

/// Subject of findings of one run, in time order: calls, then the run itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject<'r> {
    /// A call: its id, or the file and line of the first attempt named if the log has no call ids.
    Call(Option<&'r str>, &'r str, u32),
    /// The run, for one rule: code and name of the rule.
    Rule(&'r str, &'r str),
}

impl<'r> Subject<'r> {
    pub(super) fn of(finding: &'r Finding) -> Subject<'r> {
        match (finding.call, finding.call_id.as_deref(), finding.attempts.first()) {
            (Some(_), Some(id), _) => Subject::Call(Some(id), "", 0),
            (Some(_), None, Some(first)) => Subject::Call(None, &first.file, first.line),
            _ => Subject::Rule(finding.rule, finding.name),
        }
    }

    /// Returns the facts of the call; `None` if the subject is a run.
    pub(super) fn call(&self, findings: &[&Finding]) -> Option<CallFacts> {
        match self {
            Subject::Call(..) => findings.iter().find_map(|finding| finding.call),
            Subject::Rule(..) => None,
        }
    }

    pub(super) fn case(&self, suite: &str, findings: &[&Finding], fails: &dyn Fn(&Finding) -> bool) -> TestCase {
        let name = match self {
            Subject::Call(Some(id), ..) => short(id),
            Subject::Call(None, file, line) => short(&format!("call at {file}:{line}")),
            Subject::Rule(rule, name) => format!("{rule} {name}"),
        };
        match self.call(findings) {
            Some(facts) => of_call(&name, suite, facts, findings, fails),
            None => of_findings(&name, suite, findings, fails),
        }
    }
}

/// Returns rule, provider, model and class as a name, for findings about the fleet.
pub(super) fn problem_name(finding: &Finding) -> String {
    let location = [finding.provider.as_deref(), finding.model.as_deref(), finding.class];
    let location = location.into_iter().flatten().map(|part| format!(" {part}")).collect::<String>();
    short(&format!("{} {}{location}", finding.rule, finding.name))
}

/// Returns a case for `calls` without details, which fails if any of them failed.
pub(super) fn of_failed_calls(name: &str, suite: &str, failed: u64, calls: u64) -> TestCase {
    let mut status = TestCaseStatus::success();
    if failed > 0 {
        let message = format!("{} of {} failed", words::number(failed), words::counted(calls, "call"));
        status = failure("failed calls", &message, "");
    }
    case(name, suite, status)
}

pub(super) fn of_findings(
    name: &str,
    suite: &str,
    findings: &[&Finding],
    fails: &dyn Fn(&Finding) -> bool,
) -> TestCase {
    let worst = findings.iter().find(|finding| fails(finding));
    let status = worst.map_or_else(TestCaseStatus::success, |worst| failure(&rule_name(worst), &worst.message, ""));
    with_findings(case(name, suite, status), findings)
}

fn of_call(
    name: &str,
    suite: &str,
    facts: CallFacts,
    findings: &[&Finding],
    fails: &dyn Fn(&Finding) -> bool,
) -> TestCase {
    let attempt_refs = attempt_refs(findings);
    let mut failures: Vec<&AttemptRef> = attempt_refs.into_iter().filter(|at| at.class.is_some()).collect();
    let worst = findings.iter().find(|finding| fails(finding));
    let mut status = match (facts.outcome, worst) {
        (Outcome::Failed, _) => {
            // The last attempt is the failure itself; the earlier ones are reruns.
            let last = failures.pop();
            let attempts = words::counted(u64::from(facts.attempts), "attempt");
            let why = last.map_or_else(String::new, |last| format!(": {}", describe(last)));
            let class = last.and_then(|last| last.class).unwrap_or("failed");
            failure(class, &format!("the call failed after {attempts}{why}"), &last.map(location).unwrap_or_default())
        }
        (_, Some(worst)) => failure(&rule_name(worst), &worst.message, ""),
        (Outcome::Ok, None) => TestCaseStatus::success(),
        (Outcome::Open, None) => {
            let mut open = TestCaseStatus::skipped();
            open.set_message("the call may go on beyond the data");
            open
        }
    };
    if !matches!(status, TestCaseStatus::Skipped { .. }) {
        status.add_reruns(failures.into_iter().map(rerun));
    }
    let mut case = case(name, suite, status);
    case.set_time(Duration::from_secs_f64(facts.elapsed_s.max(0.0)));
    with_findings(case, findings)
}

/// Returns all attempts that the findings name, each once, in time order.
fn attempt_refs<'r>(findings: &[&'r Finding]) -> Vec<&'r AttemptRef> {
    let mut all: Vec<&AttemptRef> = findings.iter().flat_map(|finding| &finding.attempts).collect();
    all.sort_by(|a, b| (a.ts, a.attempt, &a.file, a.line).cmp(&(b.ts, b.attempt, &b.file, b.line)));
    all.dedup_by(|a, b| (&a.file, a.line) == (&b.file, b.line));
    all
}

fn rerun(at: &AttemptRef) -> TestRerun {
    let mut rerun = TestRerun::new(NonSuccessKind::Failure);
    rerun.set_timestamp(at.ts.utc().fixed_offset());
    rerun.set_type(at.class.unwrap_or_default());
    rerun.set_message(describe(at));
    rerun.set_stack_trace(location(at));
    rerun
}

fn describe(at: &AttemptRef) -> String {
    let status = at.status.map(|status| format!(", status {status}")).unwrap_or_default();
    format!("attempt {}{status}, {}", at.attempt, at.class.unwrap_or("ok"))
}

fn location(at: &AttemptRef) -> String {
    let id = at.request_id.as_deref().map(|id| format!(" {id}")).unwrap_or_default();
    short(&format!("{}:{}{id}", at.file, at.line))
}

fn rule_name(finding: &Finding) -> String {
    format!("{} {}", finding.rule, finding.name)
}

fn failure(kind: &str, message: &str, description: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(kind).set_message(short(message));
    if !description.is_empty() {
        status.set_description(description);
    }
    status
}

fn case(name: &str, suite: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(suite);
    case
}

/// Adds the findings to the output of a case.
fn with_findings(mut case: TestCase, findings: &[&Finding]) -> TestCase {
    let describe_finding = |finding: &&&Finding| {
        let cost = Some(words::cost(&finding.cost)).filter(|cost| !cost.is_empty());
        let cost = cost.map(|cost| format!(" (cost: {cost})")).unwrap_or_default();
        let (severity, message) = (finding.severity.name(), short(&finding.message));
        format!("{severity} {}: {message}{cost}\nfix: {}", rule_name(finding), short(&finding.fix))
    };
    let mut lines: Vec<String> = findings.iter().take(MAX_FINDINGS).map(|finding| describe_finding(&finding)).collect();
    if findings.len() > MAX_FINDINGS {
        lines.push(format!("and {} more", findings.len() - MAX_FINDINGS));
    }
    case.set_system_out(lines.join("\n"));
    case
}

fn short(text: &str) -> String {
    let text = safe(text);
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
