//! Judges the records of one run.

use super::command::Ended;
use super::receipt::{Receipt, Verdict, Waits};
use crate::cli::args::CheckArgs;
use crate::cli::config;
use crate::cli::error::CliError;
use crate::ingest::{self, Source};
use crate::judge::{Options, judge as judge_table};
use crate::model::units::{counted, thousands};
use crate::report::{Report, Totals, build};
use serde::Deserialize;
use std::path::Path;

/// The fields of an attempt record that a receipt shows.
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

/// Judges the records of one run and builds its receipt.
pub(super) fn judge(
    title: &str,
    log: &Path,
    requests: u64,
    ended: Ended,
    args: &CheckArgs,
) -> Result<Receipt, CliError> {
    let report = if requests == 0 { None } else { Some(report(log, args)?) };
    let lines = lines(log)?;
    let (totals, problems) = report.map_or_else(Default::default, |report| (report.totals, report.problems));
    let worst = problems.iter().map(|problem| problem.severity).max();
    let fails = worst.zip(args.fail_on.severity()).is_some_and(|(worst, limit)| worst >= limit);
    Ok(Receipt {
        title: title.to_owned(),
        requests,
        waits: waits(&lines),
        did: did(&totals, &ended),
        verdict: match requests {
            // A client that sent nothing has shown nothing.
            0 => Verdict::Inconclusive,
            _ if fails || ended == Ended::TimedOut => Verdict::Wrong,
            _ => Verdict::Right,
        },
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

/// Returns the waits in seconds from the end of each failed request to the next with the same body.
fn waits(lines: &[Line]) -> Waits {
    let mut waits = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let before = lines[..at].iter().rev().find(|before| before.request_hash == line.request_hash);
        let failed = before.filter(|before| before.outcome != "ok");
        let wait = failed.map(|before| line.ts.s_since(before.ts) - before.duration_ms / 1e3);
        waits.extend(wait.filter(|wait| *wait >= 0.0));
    }
    Waits(waits)
}

/// Describes what the client did. Requests with the same body are attempts of one call.
fn did(totals: &Totals, ended: &Ended) -> String {
    if *ended == Ended::TimedOut {
        return "was still at it when its time was over".to_owned();
    }
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
            assert_eq!(did(&totals, &Ended::Itself(String::new())), said);
        }
    }
}
