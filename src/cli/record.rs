//! `retrylens record`: a reverse proxy on loopback that writes attempt records.

use super::args::{Bodies, RecordArgs};
use super::check::{self, CheckedServer};
use super::error::CliError;
use super::{message, server};
use crate::serve::{Hosts, Log, Recorder, Server, Upstreams};
use std::io;
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(args: &RecordArgs) -> Result<u8, CliError> {
    let table = Upstreams::parse(&args.upstream).map_err(|reason| CliError::Usage(format!("--upstream: {reason}")))?;
    if args.check.check {
        let name = table.names();
        return check::run(&args.check, Some(&args.log), &[(&name, &name)], &|_: &str, path: &Path| {
            let log = server::open_log(Some(path), &args.listen, "record", false)?;
            Ok(CheckedServer { server: start(args, table.clone(), log)?, is_stub: false })
        });
    }
    let log = server::open_log(Some(&args.log), &args.listen, "record", false)?;
    message::warning(&format!("forwarding to {}; records go to {}", table.names(), args.log.display()));
    server::until_interrupted(start(args, table, log)?, Some(&args.log))
}

fn start(args: &RecordArgs, table: Upstreams, log: Arc<Log>) -> Result<Server, CliError> {
    let address = server::address(&args.listen, args.check.check);
    let stopping = Arc::default();
    let of_recorder = (Arc::clone(&log), Arc::clone(&stopping));
    let keep_errors = args.bodies == Bodies::Errors;
    let started = Server::start(address, log, stopping, |here| {
        if let Some(upstream) = table.loops_back_to(here) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, upstream));
        }
        let hosts = Hosts::new(here.ip(), &args.listen.allow_host);
        Recorder::new(hosts, table, args.roots.as_deref(), of_recorder.0, of_recorder.1, keep_errors, args.control)
    });
    started.map_err(|reason| match &args.roots {
        _ if reason.kind() == io::ErrorKind::InvalidInput => CliError::Usage(format!(
            "--upstream {reason}: this recorder listens there itself; name the provider's address, or listen elsewhere \
             with --port"
        )),
        Some(path) if reason.kind() == io::ErrorKind::InvalidData => {
            CliError::Usage(format!("--roots {}: {reason}", path.display()))
        }
        _ => CliError::Listen { address, reason },
    })
}
