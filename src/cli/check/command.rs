//! Runs the command under `--check`: its environment, timeout and exit.

use crate::cli::error::CliError;
use std::ffi::OsString;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How the command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It exited by itself, with this code.
    Exited(i32),
    /// A signal from elsewhere ended it; described for messages.
    Killed(String),
    /// It was killed at the timeout.
    TimedOut,
    /// It was killed because the user interrupted the check.
    Interrupted,
}

/// Interval at which the command is polled for its exit.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Environment variables from which clients read the base URL of an API, and the path they expect it to have.
const BASE_URLS: [(&str, &str); 10] = [
    ("ANTHROPIC_BASE_URL", ""),
    ("ANTHROPIC_API_BASE", ""),
    ("OPENAI_BASE_URL", "/v1"),
    ("OPENAI_API_BASE", "/v1"),
    ("GOOGLE_GEMINI_BASE_URL", ""),
    ("GEMINI_API_BASE", ""),
    ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", ""),
    ("ANTHROPIC_BEDROCK_BASE_URL", ""),
    ("LITELLM_PROXY_API_BASE", ""),
    ("RETRYLENS_URL", ""),
];

/// API keys without which clients do not start. The stub checks none.
const KEYS: [&str; 4] = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"];

/// Returns the environment variables to set for the command.
pub(super) fn variables(url: &str, is_stub: bool, more: &[String]) -> Result<Vec<(String, String)>, CliError> {
    let mut variables: Vec<(String, String)> =
        BASE_URLS.iter().map(|(name, path)| ((*name).to_owned(), format!("{url}{path}"))).collect();
    // A proxy named in the environment must not be used for loopback.
    for name in ["NO_PROXY", "no_proxy"] {
        let before = std::env::var(name).unwrap_or_default();
        let before = if before.is_empty() { before } else { format!("{before},") };
        variables.push((name.to_owned(), format!("{before}127.0.0.1,localhost")));
    }
    if is_stub {
        let missing = KEYS.iter().filter(|name| std::env::var_os(name).is_none());
        variables.extend(missing.map(|name| ((*name).to_owned(), "stub".to_owned())));
    }
    for text in more {
        let (name, value) = text.split_once('=').unwrap_or((text, "{url}"));
        if name.is_empty() {
            return Err(CliError::Usage(format!("--env {text}: give NAME or NAME=TEXT")));
        }
        variables.push((name.to_owned(), value.replace("{url}", url)));
    }
    Ok(variables)
}

/// Runs the command until it ends, is interrupted, or reaches `timeout`.
pub(super) fn run(
    command: &[OsString],
    variables: &[(String, String)],
    timeout: Duration,
    interrupts: &Receiver<()>,
) -> Result<Ended, CliError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(CliError::Usage("--check needs a command after --".to_owned()));
    };
    let failed = |reason| CliError::Command { command: program.to_string_lossy().into_owned(), reason };
    let variables = variables.iter().map(|(name, value)| (name, value));
    let mut child = Command::new(program).args(arguments).envs(variables).spawn().map_err(failed)?;
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(Ended::of(status));
        }
        match interrupts.recv_timeout(POLL_INTERVAL) {
            Ok(()) => return Ok(stop(&mut child, Ended::Interrupted)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(POLL_INTERVAL),
        }
        if Instant::now() >= deadline {
            return Ok(stop(&mut child, Ended::TimedOut));
        }
    }
}

fn stop(child: &mut Child, ended: Ended) -> Ended {
    // The command may have ended in the meantime.
    let _ = child.kill();
    let _ = child.wait();
    ended
}

/// Shells report a program that a signal ended by the exit code 128 plus the number of the signal (POSIX). Programs
/// that handle the signal often exit with the same code.
const SIGNAL_EXIT_BASE: i32 = 128;
/// Highest number of a signal with a name of its own (POSIX; real-time signals follow).
const LAST_SIGNAL: i32 = 31;

impl Ended {
    fn of(status: std::process::ExitStatus) -> Ended {
        match status.code() {
            Some(code) if (SIGNAL_EXIT_BASE + 1..=SIGNAL_EXIT_BASE + LAST_SIGNAL).contains(&code) => {
                Ended::Killed(format!("exit code {code}, which stands for signal {}", code - SIGNAL_EXIT_BASE))
            }
            Some(code) => Ended::Exited(code),
            None => Ended::Killed(status.to_string()),
        }
    }

    /// Describes how the command ended; `None` for exit code 0, which needs no mention.
    pub(super) fn description(&self) -> Option<String> {
        match self {
            Ended::Exited(0) => None,
            Ended::Exited(code) => Some(format!("exit code {code}")),
            Ended::Killed(how) => Some(format!("killed ({how})")),
            Ended::TimedOut => Some("stopped when its time was over".to_owned()),
            Ended::Interrupted => Some("interrupted".to_owned()),
        }
    }
}
