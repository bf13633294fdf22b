//! `--check`: runs a command against a server and judges its retries; the exit code is the verdict.

mod command;
mod receipt;
mod verdict;

use super::args::CheckArgs;
use super::error::{CliError, IO_FAILED};
use super::{message, output, server};
use crate::model::units::counted;
use crate::serve::Server;
use command::Ended;
use receipt::{Receipt, Verdict};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Exit code of an interrupted check: 128 + SIGINT.
const INTERRUPTED: u8 = 130;

/// A running server for one check.
pub(super) struct Played {
    pub(super) server: Server,
    /// Whether it is the stub, which needs no real API key because nothing leaves the machine.
    pub(super) is_stub: bool,
}

/// Starts a server for a scenario; its records are written to the given file.
pub(super) type Start<'s> = &'s dyn Fn(&str, &Path) -> Result<Played, CliError>;

/// Runs the command once for each of `played`, pairs of a title and the scenario passed to `start`.
pub(super) fn run(
    args: &CheckArgs,
    log: Option<&Path>,
    played: &[(&str, &str)],
    start: Start<'_>,
) -> Result<u8, CliError> {
    let interrupts = server::interrupts();
    let mut receipts = Vec::new();
    for (title, text) in played {
        let file = tempfile::NamedTempFile::new()
            .map_err(|error| CliError::Output { path: std::env::temp_dir(), reason: error.to_string() })?;
        let server = start(text, file.path())?;
        let variables = command::variables(&format!("http://{}", server.server.address()), server.is_stub, &args.env)?;
        let ended = command::run(&args.command, &variables, Duration::from_secs(args.timeout), &interrupts);
        let counts = server.server.stop().counts();
        let ended = ended?;
        if let Some(log) = log {
            keep(file.path(), log)?;
        }
        if counts.lost > 0 {
            message::warning(&server::summary(counts, Some(file.path())));
            return Ok(IO_FAILED);
        }
        let is_interrupted = ended == Ended::Interrupted;
        receipts.push(verdict::judge(title, file.path(), counts, ended, args)?);
        if is_interrupted {
            print(args, &receipts)?;
            return Ok(INTERRUPTED);
        }
    }
    print(args, &receipts)?;
    let silent: Vec<&Receipt> = receipts.iter().filter(|receipt| receipt.verdict == Verdict::Inconclusive).collect();
    match (receipts.iter().any(|receipt| receipt.fails), silent.is_empty()) {
        (true, _) => Ok(1),
        (false, true) => Ok(0),
        (false, false) => Err(CliError::NoAttempts(nothing_sent(&silent, receipts.len()))),
    }
}

/// Error message for runs in which no request reached a model endpoint of the server.
fn nothing_sent(silent: &[&Receipt], runs: usize) -> String {
    let which = if runs == 1 { String::new() } else { format!(" in {} of {runs} runs", silent.len()) };
    match silent.iter().map(|receipt| receipt.others).sum() {
        0 => format!(
            "no request reached the server{which}, so nothing was checked: does the command read ANTHROPIC_BASE_URL, \
             OPENAI_BASE_URL, or what --env sets?"
        ),
        others => format!(
            "no request to a model endpoint reached the server{which}, and {} did, so nothing was checked: does the \
             command ask a model, at a path of its API?",
            counted(others, "other")
        ),
    }
}

/// Appends the records of one run to the log named by the user.
fn keep(from: &Path, log: &Path) -> Result<(), CliError> {
    let failed = |error: std::io::Error| CliError::Output { path: log.to_owned(), reason: error.to_string() };
    let records = std::fs::read(from).map_err(failed)?;
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(log).map_err(failed)?;
    file.write_all(&records).map_err(failed)
}

fn print(args: &CheckArgs, receipts: &[Receipt]) -> Result<(), CliError> {
    let mut out = output::stdout(super::args::Color::Auto);
    let written = if args.table || receipts.len() > 1 {
        receipt::table(receipts, &mut out)
    } else {
        receipts.iter().try_for_each(|receipt| receipt::findings(receipt, &mut out))
    };
    output::printed(written.and_then(|()| out.flush()))
}
