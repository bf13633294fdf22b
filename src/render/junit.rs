//! JUnit XML, in the dialect of Maven Surefire and nextest: a run is a suite, a call is a test case.
//!
//! A report does not list all calls, so these are written: every call with a finding; for each run one case for its
//! other calls, which fails if any of them failed; one such case for all runs beyond the limit; findings about a run in
//! its suite, findings about the fleet in the suite `retrylens`. A failed call is a `failure` with its class, and its
//! earlier attempts are `rerunFailure`; those of a call that succeeded are `flakyFailure`. A finding that fails the
//! program fails its case.

mod case;

use super::words;
use crate::model::{Outcome, Severity};
use crate::report::{Finding, Problem, Report, Run};
use crate::untrusted::safe;
use case::Subject;
use quick_junit::{Report as Junit, TestCase, TestSuite};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::{self, Write};
use std::time::Duration;

/// Maximum number of suites: readers of JUnit XML keep all of it in memory.
const MAX_SUITES: usize = 500;
/// Maximum number of cases with findings. With the limits in [`case`] the file stays below GitLab's maximum of 30 MB.
const MAX_CASES: usize = 2000;
/// Suite of everything that belongs to no run.
const FLEET: &str = "retrylens";

/// Writes `report`; findings at or above `fail_on` fail their case unless a baseline knows them.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn render(report: &Report, fail_on: Option<Severity>, out: &mut dyn Write) -> io::Result<()> {
    let (mut by_run, fleet, omitted) = group_findings(report);
    let known: HashSet<_> = report.problems.iter().filter(|problem| problem.known).map(Problem::key).collect();
    let fails = |finding: &Finding| {
        fail_on.is_some_and(|limit| finding.severity >= limit) && !known.contains(&finding.problem_key())
    };
    let mut junit = Junit::new(FLEET);
    let shown = report.runs.len().min(MAX_SUITES);
    for run in &report.runs[..shown] {
        let subjects = by_run.remove(run.run_id.as_str()).unwrap_or_default();
        junit.add_test_suite(suite(run, &subjects, &fails));
    }
    let mut last = TestSuite::new(FLEET);
    for (name, findings) in fleet {
        last.add_test_case(case::of_findings(&name, FLEET, &findings, &fails));
    }
    if let further @ [_, ..] = &report.runs[shown..] {
        let failed = further.iter().map(|run| run.calls_failed).sum();
        let calls = further.iter().map(|run| run.calls).sum();
        let name = format!("{}, not listed", words::counted(further.len() as u64, "further run"));
        last.add_test_case(case::of_failed_calls(&name, FLEET, failed, calls));
    }
    last.set_system_out(final_output(report, omitted));
    junit.add_test_suite(last);
    let text = junit.to_string().map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

/// The findings of one run by subject, in time order.
type Subjects<'r> = BTreeMap<Subject<'r>, Vec<&'r Finding>>;

/// Returns the findings by run, the findings about the fleet by name, and the number of findings beyond the limits.
fn group_findings(report: &Report) -> (HashMap<&str, Subjects<'_>>, BTreeMap<String, Vec<&Finding>>, usize) {
    let mut by_run: HashMap<&str, Subjects<'_>> = HashMap::new();
    let mut fleet: BTreeMap<String, Vec<&Finding>> = BTreeMap::new();
    let (mut cases, mut omitted) = (0, 0);
    let listed: BTreeSet<&str> = report.runs.iter().take(MAX_SUITES).map(|run| run.run_id.as_str()).collect();
    for finding in &report.findings {
        match finding.run_id.as_deref() {
            None => fleet.entry(case::problem_name(finding)).or_default().push(finding),
            Some(run) if listed.contains(run) => {
                let subjects = by_run.entry(run).or_default();
                let subject = Subject::of(finding);
                if let Some(known) = subjects.get_mut(&subject) {
                    known.push(finding);
                } else if cases < MAX_CASES {
                    cases += 1;
                    subjects.insert(subject, vec![finding]);
                } else {
                    omitted += 1;
                }
            }
            Some(_) => omitted += 1,
        }
    }
    (by_run, fleet, omitted)
}

fn suite(run: &Run, subjects: &Subjects<'_>, fails: &dyn Fn(&Finding) -> bool) -> TestSuite {
    let name = safe(&run.run_id).into_owned();
    let mut suite = TestSuite::new(name.as_str());
    suite.set_timestamp(run.first.utc().fixed_offset());
    suite.set_time(Duration::from_secs_f64(run.last.s_since(run.first).max(0.0)));
    for (key, value) in [
        ("calls", run.calls.to_string()),
        ("attempts", run.attempts.to_string()),
        ("retries", run.retries.to_string()),
        ("wasted_sends", run.wasted_sends.to_string()),
        ("wait_s", run.wait_s.to_string()),
    ] {
        suite.add_property((key, value.as_str()));
    }
    let (mut calls, mut failed) = (0, 0);
    let mut cases: Vec<TestCase> = Vec::new();
    for (subject, findings) in subjects {
        if let Some(facts) = subject.call(findings) {
            calls += 1;
            failed += u64::from(facts.outcome == Outcome::Failed);
        }
        cases.push(subject.case(&name, findings, fails));
    }
    let rest = run.calls.saturating_sub(calls);
    if rest > 0 {
        let name_of_rest = format!("{} without a finding listed here", words::counted(rest, "call"));
        cases.push(case::of_failed_calls(&name_of_rest, &name, run.calls_failed.saturating_sub(failed), rest));
    }
    suite.add_test_cases(cases);
    suite
}

/// Returns the output of the last suite: the verdict, what is not listed, and notices.
fn final_output(report: &Report, omitted: usize) -> String {
    let mut lines = vec![safe(&report.verdict).into_owned()];
    if omitted as u64 + report.findings_omitted > 0 {
        let more = words::counted(omitted as u64 + report.findings_omitted, "more finding");
        lines.push(format!("{more} not listed here; the JSON report counts them by problem."));
    }
    if report.problems_hidden > 0 {
        lines.push(format!("{} below --min-severity.", words::counted(report.problems_hidden, "problem")));
    }
    lines.extend(super::not_judged::sentences(report));
    lines.extend(report.notices.iter().map(|notice| safe(notice).into_owned()));
    lines.join("\n")
}
