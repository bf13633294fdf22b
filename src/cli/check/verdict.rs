//! Judges the records of one run.

use super::command::Ended;
use super::run_result::{RunResult, Verdict, Waits};
use crate::cli::args::CheckArgs;
use crate::cli::config;
use crate::cli::error::CliError;
use crate::ingest::{self, Source};
use crate::judge::{Options, judge as judge_table};
use crate::model::Severity;
use crate::model::units::{counted, thousands};
use crate::report::{Problem, Report, Totals, build};
use crate::rules::find;
use crate::serve::Counts;
use serde::Deserialize;
use std::path::Path;

/// The fields of an attempt record that the result of a run shows.
#[derive(Deserialize)]
struct AttemptRecord {
    ts: crate::model::Time,
    #[serde(default)]
    duration_ms: f64,
    #[serde(default)]
    outcome: String,
    user_agent: Option<String>,
    request_hash: Option<String>,
    method: Option<String>,
}

impl AttemptRecord {
    /// Returns whether the request asked a model, which takes a body: a list of models, say, is fetched without one.
    fn asks_model(&self) -> bool {
        self.method.as_deref().is_none_or(|method| method == "POST")
    }
}

/// Code of the rule on transient failures that ended a call at once.
const UNRETRIED_RULE: &str = "RL201";

/// Judges the records of one run. Records of requests that did not ask a model are removed from `log`.
pub(super) fn judge(
    title: &str,
    log: &Path,
    counts: Counts,
    ended: Ended,
    args: &CheckArgs,
) -> Result<RunResult, CliError> {
    let (records, removed) = records(log)?;
    let (requests, other_requests) = (counts.requests - removed, counts.refused + removed);
    let report = if requests == 0 { None } else { Some(report(log, &ended, args)?) };
    let (totals, problems) = report.map_or_else(Default::default, |report| (report.totals, report.problems));
    let worst = problems.iter().map(|problem| problem.severity).max();
    let is_over = worst.zip(args.fail_on.severity()).is_some_and(|(worst, limit)| worst >= limit);
    let verdict = match requests {
        0 => Verdict::Inconclusive,
        _ if is_over => Verdict::Wrong,
        _ => verdict(worst, totals.calls - totals.calls_ok, &ended),
    };
    Ok(RunResult {
        title: title.to_owned(),
        requests,
        other_requests,
        waits: waits(&records),
        behaviour: behaviour(&totals, other_requests, &ended),
        verdict,
        fails: is_over || verdict == Verdict::Failed || (verdict == Verdict::Wrong && ended == Ended::TimedOut),
        client: records.iter().find_map(|record| record.user_agent.clone()).unwrap_or_default(),
        problems,
        ended,
    })
}

/// Returns the verdict on a command with no finding at or above `--fail-on`, of which `failed_calls` calls failed.
fn verdict(worst: Option<Severity>, failed_calls: u64, ended: &Ended) -> Verdict {
    match (worst, ended) {
        (Some(Severity::Error), _) | (_, Ended::TimedOut) => Verdict::Wrong,
        (_, Ended::Interrupted) => Verdict::Inconclusive,
        (_, Ended::Killed(_)) => Verdict::Failed,
        // If a call failed, the command may exit with an error although its retries are right.
        (_, Ended::Exited(code)) if *code != 0 && failed_calls == 0 => Verdict::Failed,
        (Some(Severity::Warning), _) => Verdict::Warned,
        _ => Verdict::Right,
    }
}

fn report(log: &Path, ended: &Ended, args: &CheckArgs) -> Result<Report, CliError> {
    let config = config::load(&args.config)?;
    let reading = ingest::Options { dialect: config.dialect(), ..ingest::Options::default() };
    let ingested = ingest::read(&[Source::File(log.to_owned())], &reading, &|_| ())?;
    let rules = config::select(&config, &[], &[])?;
    let options = Options { complete: true, ..config::options_without_filter(&config, rules) };
    let judgement = judge_table(&ingested.table, &options);
    let mut report = build(&ingested, &judgement, &options.rules);
    if matches!(ended, Ended::Exited(_)) {
        restore_severity(&mut report.problems, &options);
    }
    Ok(report)
}

/// Restores the severity of findings on failures that were not retried. The rule lowers it for logs without ids, since
/// the retry may be recorded elsewhere. Here every request is recorded, and the command has ended by itself.
fn restore_severity(problems: &mut [Problem], options: &Options) {
    let Some(rule) = find(UNRETRIED_RULE) else { return };
    let severity = options.severities.get(rule.code).copied().unwrap_or(rule.severity);
    problems.iter_mut().filter(|problem| problem.rule == rule.code).for_each(|problem| problem.severity = severity);
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
}

/// Removes the records of requests that did not ask a model from the log. Returns the other records, sorted by time, and
/// the number of those removed.
fn records(log: &Path) -> Result<(Vec<AttemptRecord>, u64), CliError> {
    let failed = |source| CliError::Ingest(ingest::IngestError::Io { name: log.display().to_string(), source });
    let text = std::fs::read_to_string(log).map_err(failed)?;
    let all = text.lines().filter_map(|line| Some((line, serde_json::from_str::<AttemptRecord>(line).ok()?)));
    let (kept, removed): (Vec<_>, Vec<_>) = all.partition(|(_, record)| record.asks_model());
    if !removed.is_empty() {
        let lines: String = kept.iter().map(|(text, _)| format!("{text}\n")).collect();
        std::fs::write(log, lines).map_err(failed)?;
    }
    let mut records: Vec<AttemptRecord> = kept.into_iter().map(|(_, record)| record).collect();
    records.sort_by_key(|record| record.ts);
    Ok((records, removed.len() as u64))
}

/// Returns the waits in seconds from the end of each failed request to the next with the same body.
fn waits(records: &[AttemptRecord]) -> Waits {
    let mut waits = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let before = records[..at].iter().rev().find(|before| before.request_hash == record.request_hash);
        let failed = before.filter(|before| before.outcome != "ok");
        let wait = failed.map(|before| record.ts.s_since(before.ts) - before.duration_ms / 1e3);
        waits.extend(wait.filter(|wait| *wait >= 0.0));
    }
    Waits(waits)
}

/// Describes what the client did, and how it ended unless that was with exit code 0. `other_requests` counts requests to other
/// paths than those of models.
fn behaviour(totals: &Totals, other_requests: u64, ended: &Ended) -> String {
    if *ended == Ended::TimedOut {
        return "was still at it when its time was over".to_owned();
    }
    let behaviour = match other_requests {
        1.. if totals.calls == 0 => format!("asked no model, sent {}", counted(other_requests, "other request")),
        _ => describe_calls(totals),
    };
    match ended.description() {
        Some(description) => format!("{behaviour}; {description}"),
        None => behaviour,
    }
}

/// Describes the outcome of the calls. Requests with the same body are attempts of one call.
fn describe_calls(totals: &Totals) -> String {
    let Totals { calls, calls_ok, sends, retries, .. } = *totals;
    let failed_calls = calls - calls_ok;
    match (calls, failed_calls) {
        (0, _) => "sent nothing".to_owned(),
        (_, 0) if retries == 0 => "had nothing to retry".to_owned(),
        (1, 0) => format!("got through at attempt {sends}"),
        (1, _) if retries == 0 => "gave up at once".to_owned(),
        (1, _) => format!("gave up after {sends} attempts"),
        (_, 0) => format!("got through with all {}, in {sends} attempts", counted(calls, "call")),
        _ if retries == 0 => format!("gave up on {} of {} at once", thousands(failed_calls), counted(calls, "call")),
        _ => format!("gave up on {} of {}, in {sends} attempts", thousands(failed_calls), counted(calls, "call")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_of_calls_are_described() {
        for (calls, calls_ok, sends, expected) in [
            (0, 0, 0, "sent nothing"),
            (1, 1, 1, "had nothing to retry"),
            (4, 4, 4, "had nothing to retry"),
            (1, 1, 4, "got through at attempt 4"),
            (1, 0, 1, "gave up at once"),
            (1, 0, 3, "gave up after 3 attempts"),
            (3, 3, 5, "got through with all 3 calls, in 5 attempts"),
            (4, 1, 4, "gave up on 3 of 4 calls at once"),
            (4, 1, 9, "gave up on 3 of 4 calls, in 9 attempts"),
        ] {
            let totals = Totals { calls, calls_ok, sends, retries: sends - calls, ..Totals::default() };
            assert_eq!(behaviour(&totals, 0, &Ended::Exited(0)), expected);
        }
    }

    #[test]
    fn a_failing_exit_is_wrong_unless_a_call_failed() {
        use Severity::{Error, Info, Warning};
        let killed = || Ended::Killed(String::new());
        for (worst, failed_calls, ended, expected) in [
            (None, 0, Ended::Exited(0), Verdict::Right),
            (Some(Info), 1, Ended::Exited(0), Verdict::Right),
            (None, 1, Ended::Exited(3), Verdict::Right),
            (None, 0, Ended::Exited(3), Verdict::Failed),
            (Some(Warning), 0, Ended::Exited(3), Verdict::Failed),
            (Some(Warning), 1, Ended::Exited(3), Verdict::Warned),
            (None, 1, killed(), Verdict::Failed),
            (Some(Error), 0, killed(), Verdict::Wrong),
            (None, 0, Ended::TimedOut, Verdict::Wrong),
            (None, 0, Ended::Interrupted, Verdict::Inconclusive),
        ] {
            assert_eq!(verdict(worst, failed_calls, &ended), expected, "{worst:?} {failed_calls} {ended:?}");
        }
    }
}
