//! `--check`: runs a command against a server and judges its retries; the exit code is the verdict.

mod command;
mod run_result;
mod verdict;

use super::args::CheckArgs;
use super::error::{CliError, IO_FAILED};
use super::{message, output, server};
use crate::model::units::counted;
use crate::serve::Server;
use command::Ended;
use run_result::{RunResult, Verdict};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Exit code of an interrupted check: 128 + SIGINT.
const INTERRUPTED: u8 = 130;

/// A running server for one check.
pub(super) struct CheckedServer {
    pub(super) server: Server,
    /// Whether it is the stub, which needs no real API key because nothing leaves the machine.
    pub(super) is_stub: bool,
}

/// Starts a server for a scenario. It writes its records to the given file.
pub(super) type Start<'s> = &'s dyn Fn(&str, &Path) -> Result<CheckedServer, CliError>;

/// Runs the command once for each of `scenarios`, which are pairs of a title and the scenario to pass to `start`.
pub(super) fn run(
    args: &CheckArgs,
    log: Option<&Path>,
    scenarios: &[(&str, &str)],
    start: Start<'_>,
) -> Result<u8, CliError> {
    let interrupts = server::interrupts();
    let mut results = Vec::new();
    for (title, scenario) in scenarios {
        let file = tempfile::NamedTempFile::new()
            .map_err(|error| CliError::Output { path: std::env::temp_dir(), reason: error.to_string() })?;
        let CheckedServer { server, is_stub } = start(scenario, file.path())?;
        let variables = command::variables(&format!("http://{}", server.address()), is_stub, &args.env)?;
        let ended = command::run(&args.command, &variables, Duration::from_secs(args.timeout), &interrupts);
        let counts = server.stop().counts();
        let ended = ended?;
        if let Some(log) = log {
            append_to_log(file.path(), log)?;
        }
        if counts.lost > 0 {
            message::warning(&server::summary(counts, Some(file.path())));
            return Ok(IO_FAILED);
        }
        let is_interrupted = ended == Ended::Interrupted;
        results.push(verdict::judge(title, file.path(), counts, ended, args)?);
        if is_interrupted {
            print(args, &results)?;
            return Ok(INTERRUPTED);
        }
    }
    print(args, &results)?;
    let inconclusive: Vec<&RunResult> =
        results.iter().filter(|result| result.verdict == Verdict::Inconclusive).collect();
    match (results.iter().any(|result| result.fails), inconclusive.is_empty()) {
        (true, _) => Ok(1),
        (false, true) => Ok(0),
        (false, false) => Err(CliError::NoAttempts(nothing_sent(&inconclusive, results.len()))),
    }
}

/// Error message for runs in which no request reached a model endpoint of the server.
fn nothing_sent(inconclusive: &[&RunResult], runs: usize) -> String {
    let which = if runs == 1 { String::new() } else { format!(" in {} of {runs} runs", inconclusive.len()) };
    match inconclusive.iter().map(|result| result.other_requests).sum() {
        0 => format!(
            "no request reached the server{which}, so nothing was checked: does the command read ANTHROPIC_BASE_URL, \
             OPENAI_BASE_URL, or what --env sets?"
        ),
        other_requests => format!(
            "no request to a model endpoint reached the server{which}, and {} did, so nothing was checked: does the \
             command ask a model, at a path of its API?",
            counted(other_requests, "other")
        ),
    }
}

/// Appends the records of one run to the log named by the user.
fn append_to_log(from: &Path, log: &Path) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::Output { path: log.to_owned(), reason: error.to_string() };
    let records = std::fs::read(from).map_err(failed)?;
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(log).map_err(failed)?;
    file.write_all(&records).map_err(failed)
}

fn print(args: &CheckArgs, results: &[RunResult]) -> Result<(), CliError> {
    let mut out = output::stdout(super::args::Color::Auto);
    let written = if args.table || results.len() > 1 {
        run_result::write_table(results, &mut out)
    } else {
        results.iter().try_for_each(|result| run_result::write_findings(result, &mut out))
    };
    output::printed(written.and_then(|()| out.flush()))
}
