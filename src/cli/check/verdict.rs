//! Judges the records of one run.

use super::command::Ended;
use super::receipt::{Receipt, Verdict, Waits};
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

/// The fields of an attempt record that a receipt shows.
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
const NOT_RETRIED: &str = "RL201";

/// Judges the records of one run and builds its receipt. `log` is left with the records that are judged.
pub(super) fn judge(
    title: &str,
    log: &Path,
    counts: Counts,
    ended: Ended,
    args: &CheckArgs,
) -> Result<Receipt, CliError> {
    let (records, besides) = records(log)?;
    let (requests, others) = (counts.requests - besides, counts.refused + besides);
    let report = if requests == 0 { None } else { Some(report(log, &ended, args)?) };
    let (totals, problems) = report.map_or_else(Default::default, |report| (report.totals, report.problems));
    let worst = problems.iter().map(|problem| problem.severity).max();
    let is_over = worst.zip(args.fail_on.severity()).is_some_and(|(worst, limit)| worst >= limit);
    let verdict = match requests {
        // A client that sent nothing has shown nothing.
        0 => Verdict::Inconclusive,
        _ if is_over => Verdict::Wrong,
        _ => verdict(worst, totals.calls - totals.calls_ok, &ended),
    };
    Ok(Receipt {
        title: title.to_owned(),
        requests,
        others,
        waits: waits(&records),
        did: did(&totals, others, &ended),
        verdict,
        fails: is_over || verdict == Verdict::Failed || (verdict == Verdict::Wrong && ended == Ended::TimedOut),
        client: records.iter().find_map(|record| record.user_agent.clone()).unwrap_or_default(),
        problems,
        ended,
    })
}

/// Returns the verdict on a command with no finding at or above `--fail-on`, of which `lost` calls failed.
fn verdict(worst: Option<Severity>, lost: u64, ended: &Ended) -> Verdict {
    match (worst, ended) {
        (Some(Severity::Error), _) | (_, Ended::TimedOut) => Verdict::Wrong,
        (_, Ended::Interrupted) => Verdict::Inconclusive,
        (_, Ended::Killed(_)) => Verdict::Failed,
        // A command that rightly gave a call up may fail, too.
        (_, Ended::Exited(code)) if *code != 0 && lost == 0 => Verdict::Failed,
        (Some(Severity::Warning), _) => Verdict::Warned,
        _ => Verdict::Right,
    }
}

fn report(log: &Path, ended: &Ended, args: &CheckArgs) -> Result<Report, CliError> {
    let config = config::load(&args.config)?;
    let reading = ingest::Options { dialect: config.dialect(), ..ingest::Options::default() };
    let ingested = ingest::read(&[Source::File(log.to_owned())], &reading, &|_| ())?;
    let rules = config::select(&config, &[], &[])?;
    let options = Options { complete: true, ..config::judging(&config, rules) };
    let judgement = judge_table(&ingested.table, &options);
    let mut report = build(&ingested, &judgement, &options.rules);
    if matches!(ended, Ended::Exited(_)) {
        raise(&mut report.problems, &options);
    }
    Ok(report)
}

/// Gives failures that were not retried the severity of their rule. In a log without ids the retry may be somewhere
/// else; here the command has ended by itself, and the server has met every request.
fn raise(problems: &mut [Problem], options: &Options) {
    let Some(rule) = find(NOT_RETRIED) else { return };
    let severity = options.severities.get(rule.code).copied().unwrap_or(rule.severity);
    problems.iter_mut().filter(|problem| problem.rule == rule.code).for_each(|problem| problem.severity = severity);
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity));
}

/// Returns the records of requests that asked a model, sorted by time, and removes the others from the log; also returns the
/// number of those removed.
fn records(log: &Path) -> Result<(Vec<AttemptRecord>, u64), CliError> {
    let failed = |source| CliError::Ingest(ingest::IngestError::Io { name: log.display().to_string(), source });
    let text = std::fs::read_to_string(log).map_err(failed)?;
    let all = text.lines().filter_map(|line| Some((line, serde_json::from_str::<AttemptRecord>(line).ok()?)));
    let (asked, besides): (Vec<_>, Vec<_>) = all.partition(|(_, record)| record.asks_model());
    if !besides.is_empty() {
        let kept: String = asked.iter().map(|(text, _)| format!("{text}\n")).collect();
        std::fs::write(log, kept).map_err(failed)?;
    }
    let mut records: Vec<AttemptRecord> = asked.into_iter().map(|(_, record)| record).collect();
    records.sort_by_key(|record| record.ts);
    Ok((records, besides.len() as u64))
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

/// Describes what the client did, and how it ended unless that was with exit code 0. `others` counts requests to other
/// paths than those of models.
fn did(totals: &Totals, others: u64, ended: &Ended) -> String {
    if *ended == Ended::TimedOut {
        return "was still at it when its time was over".to_owned();
    }
    let did = match others {
        1.. if totals.calls == 0 => format!("asked no model, sent {}", counted(others, "other request")),
        _ => sent(totals),
    };
    match ended.remark() {
        Some(remark) => format!("{did}; {remark}"),
        None => did,
    }
}

/// Describes the calls. Requests with the same body are attempts of one call.
fn sent(totals: &Totals) -> String {
    let Totals { calls, calls_ok, sends, retries, .. } = *totals;
    let lost = calls - calls_ok;
    match (calls, lost) {
        (0, _) => "sent nothing".to_owned(),
        (_, 0) if retries == 0 => "had nothing to retry".to_owned(),
        (1, 0) => format!("got through at attempt {sends}"),
        (1, _) if retries == 0 => "gave up at once".to_owned(),
        (1, _) => format!("gave up after {sends} attempts"),
        (_, 0) => format!("got through with all {}, in {sends} attempts", counted(calls, "call")),
        _ if retries == 0 => format!("gave up on {} of {} at once", thousands(lost), counted(calls, "call")),
        _ => format!("gave up on {} of {}, in {sends} attempts", thousands(lost), counted(calls, "call")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_those_of_one_call() {
        for (calls, calls_ok, sends, said) in [
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
            assert_eq!(did(&totals, 0, &Ended::Exited(0)), said);
        }
    }

    #[test]
    fn how_a_command_ended_counts_where_it_is_not_explained_by_a_lost_call() {
        use Severity::{Error, Info, Warning};
        let killed = || Ended::Killed(String::new());
        for (worst, lost, ended, expected) in [
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
            assert_eq!(verdict(worst, lost, &ended), expected, "{worst:?} {lost} {ended:?}");
        }
    }
}
