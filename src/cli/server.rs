//! Startup and shutdown of the servers, shared by `stub` and `record`.

use super::args::ListenArgs;
use super::error::{CliError, IO_FAILED};
use super::message;
use crate::model::units::{counted, thousands};
use crate::serve::{Counts, Log, Server};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

/// Default port of both servers.
const PORT: u16 = 8529;

/// Installs a signal handler; the receiver gets a message for each interrupt or request to terminate.
pub(super) fn interrupts() -> Receiver<()> {
    let (sender, receiver) = channel();
    // If no handler can be set, the default action of the signal remains.
    let _ = ctrlc::set_handler(move || _ = sender.send(()));
    receiver
}

/// Address to listen on. Under `--check` (`is_check`) the default is any free port, since the command is told the
/// address.
pub(super) fn address(listen: &ListenArgs, is_check: bool) -> SocketAddr {
    if !listen.host.is_loopback() {
        message::warning(&format!(
            "{} is not loopback: whoever reaches this address can send requests, and nothing is encrypted on the way",
            listen.host
        ));
    }
    SocketAddr::new(listen.host, listen.port.unwrap_or(if is_check { 0 } else { PORT }))
}

/// Opens the log of a server. Unless `listen` names the run, it is named after `what` and the time.
pub(super) fn open_log(
    path: Option<&Path>,
    listen: &ListenArgs,
    what: &str,
    keep_recent: bool,
) -> Result<Arc<Log>, CliError> {
    let run = listen.run.clone().unwrap_or_else(|| format!("{what}-{}", super::args::now()));
    let failed = |error: io::Error| CliError::Output {
        path: path.unwrap_or(Path::new("")).to_owned(),
        reason: error.to_string(),
    };
    Log::open(path, &run, keep_recent, message::warning).map(Arc::new).map_err(failed)
}

/// Prints the address of the server, waits for an interrupt, and stops the server.
pub(super) fn until_interrupted(server: Server, log: Option<&Path>) -> Result<u8, CliError> {
    let interrupts = interrupts();
    let said = writeln!(io::stdout(), "listening on http://{}", server.address()).and_then(|()| io::stdout().flush());
    super::output::printed(said)?;
    // An error means that no handler could be set.
    let _ = interrupts.recv();
    let counts = server.stop().counts();
    message::warning(&summary(counts, log));
    Ok(if counts.lost > 0 { IO_FAILED } else { 0 })
}

/// Summarizes the requests in a sentence.
pub(super) fn summary(counts: Counts, log: Option<&Path>) -> String {
    let Counts { requests, ended, written, lost, refused } = counts;
    let mut text = counted(requests, "request");
    if ended < requests {
        text.push_str(&format!(", {} of them ended", thousands(ended)));
    }
    if refused > 0 {
        text.push_str(&format!(", {} others turned away", thousands(refused)));
    }
    if let Some(log) = log {
        text.push_str(&format!("; {} in {}", counted(written, "record"), log.display()));
    }
    if lost > 0 {
        text.push_str(&format!("; {} records could not be written", thousands(lost)));
    }
    text
}
