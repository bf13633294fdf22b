//! What the records of one run say, by the rules.

use super::command::Ended;
use super::receipt::{Receipt, Waits};
use crate::cli::args::CheckArgs;
use crate::cli::config;
use crate::cli::error::CliError;
use crate::ingest::{self, Source};
use crate::judge::{Options, judge as judge_table};
use crate::report::{Report, build};
use serde::Deserialize;
use std::path::Path;

/// What a receipt needs of a record.
#[derive(Deserialize)]
struct Line {
    ts: crate::model::Time,
    #[serde(default)]
    duration_ms: f64,
    #[serde(default)]
    outcome: String,
    user_agent: Option<String>,
    request_hash: Option<String>,
}

/// Judges the records of one run.
pub(super) fn judge(
    title: &str,
    log: &Path,
    requests: u64,
    ended: Ended,
    args: &CheckArgs,
) -> Result<Receipt, CliError> {
    let report = if requests == 0 { None } else { Some(report(log, args)?) };
    let lines = lines(log)?;
    let problems = report.map_or_else(Vec::new, |report| report.problems);
    let worst = problems.iter().map(|problem| problem.severity).max();
    let fails = worst.zip(args.fail_on.severity()).is_some_and(|(worst, limit)| worst >= limit);
    Ok(Receipt {
        title: title.to_owned(),
        requests,
        waits: waits(&lines),
        did: did(&lines, &ended),
        is_wrong: fails || ended == Ended::TimedOut,
        client: lines.iter().find_map(|line| line.user_agent.clone()).unwrap_or_default(),
        problems,
        ended,
    })
}

fn report(log: &Path, args: &CheckArgs) -> Result<Report, CliError> {
    let config = config::load(&args.config)?;
    let reading = ingest::Options { dialect: config.dialect(), ..ingest::Options::default() };
    let ingested = ingest::read(&[Source::File(log.to_owned())], &reading, &|_| ())?;
    let rules = config::select(&config, &[], &[])?;
    let options = Options { complete: true, ..config::judging(&config, rules) };
    let judgement = judge_table(&ingested.table, &options);
    Ok(build(&ingested, &judgement, &options.rules))
}

fn lines(log: &Path) -> Result<Vec<Line>, CliError> {
    let failed = |source| CliError::Ingest(ingest::IngestError::Io { name: log.display().to_string(), source });
    let text = std::fs::read_to_string(log).map_err(failed)?;
    let mut lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    lines.sort_by_key(|line| line.ts);
    Ok(lines)
}

/// Seconds between the end of a request and the next with the same body.
fn waits(lines: &[Line]) -> Waits {
    let mut waits = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let before = lines[..at].iter().rev().find(|before| before.request_hash == line.request_hash);
        let wait = before.map(|before| line.ts.s_since(before.ts) - before.duration_ms / 1e3);
        waits.extend(wait.filter(|wait| *wait >= 0.0));
    }
    Waits(waits)
}

/// What the client did, in words.
fn did(lines: &[Line], ended: &Ended) -> String {
    if *ended == Ended::TimedOut {
        return "was still at it when its time was over".to_owned();
    }
    let failed = lines.iter().filter(|line| line.outcome != "ok").count();
    match (lines.len(), failed, lines.last().is_some_and(|line| line.outcome == "ok")) {
        (0, ..) => "sent nothing".to_owned(),
        (1, 1, _) => "gave up at once".to_owned(),
        (_, 0, _) => "had nothing to retry".to_owned(),
        (all, _, true) => format!("got through at attempt {all}"),
        (all, _, false) => format!("gave up after {all} attempts"),
    }
}
