//! `retrylens stub`: a provider on loopback that fails on a schedule.

use super::args::StubArgs;
use super::check::{self, CheckedServer};
use super::error::CliError;
use super::{output, server};
use crate::serve::scenario::buckets::Limits;
use crate::serve::scenario::shapes::{Does, SHAPES, Shape};
use crate::serve::scenario::{Scenario, read};
use crate::serve::{Hosts, Log, Server, Stub};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Default scenario of a check: the first request body is answered with overloads, the second with a spend cap, all others
/// with success.
const DEFAULT_CHECK: &str = "529x12,ok|spend-cap|ok";

/// Every documented failure: a title and its scenario.
const DOCUMENTED_FAILURES: [(&str, &str); 26] = [
    ("overload, then well", "529x2,ok"),
    ("overload without end", "529"),
    ("rate limit, 2 s", "429(retry-after=2),ok"),
    ("rate limit, HTTP-date", "429(retry-after=date+3),ok"),
    ("rate limit, 1500 ms", "429(retry-after=none;retry-after-ms=1500),ok"),
    ("rate limit, 90 s", "429(retry-after=90)"),
    ("429 without a word", "429-bare"),
    ("spend cap", "spend-cap"),
    ("limit of one's own", "spend-limit"),
    ("no credit", "credit"),
    ("quota", "quota"),
    ("invalid request", "400"),
    ("prompt too long", "context"),
    ("refused key", "401"),
    ("no permission", "403"),
    ("unknown model", "404"),
    ("request too large", "413"),
    ("internal error", "500,ok"),
    ("bad gateway", "502,ok"),
    ("vLLM busy", "vllm-busyx2,ok"),
    ("timeout", "504,ok"),
    ("Cloudflare 520", "520,ok"),
    ("must not be retried", "529(should-retry=false)"),
    ("overload inside a stream", "mid,ok"),
    ("stream cut short", "cut,ok"),
    ("connection reset", "reset,ok"),
];

pub(super) fn run(args: &StubArgs) -> Result<u8, CliError> {
    if args.list {
        return list();
    }
    if !args.check.check {
        if args.scenario.as_deref() == Some("all") {
            return Err(CliError::Usage(
                "--scenario all plays one failure after the other, and needs --check".to_owned(),
            ));
        }
        let scenario = scenario(args, args.scenario.as_deref().unwrap_or("ok"))?;
        let log = server::open_log(args.log.as_deref(), &args.listen, "stub", true)?;
        return server::until_interrupted(start(args, scenario, log)?, args.log.as_deref());
    }
    let scenarios: Vec<(&str, &str)> = match args.scenario.as_deref() {
        Some("all") => DOCUMENTED_FAILURES.to_vec(),
        Some(text) => vec![(text, text)],
        None => vec![(DEFAULT_CHECK, DEFAULT_CHECK)],
    };
    // Scenarios are validated before anything runs.
    scenarios.iter().try_for_each(|(_, text)| scenario(args, text).map(drop))?;
    check::run(&args.check, args.log.as_deref(), &scenarios, &|text: &str, path: &Path| {
        let log = server::open_log(Some(path), &args.listen, "stub", false)?;
        Ok(CheckedServer { server: start(args, scenario(args, text)?, log)?, is_stub: true })
    })
}

fn start(args: &StubArgs, scenario: Scenario, log: Arc<Log>) -> Result<Server, CliError> {
    let address = server::address(&args.listen, args.check.check);
    let stopping = Arc::default();
    let of_stub = (Arc::clone(&log), Arc::clone(&stopping));
    let started = Server::start(address, log, stopping, |address| {
        let hosts = Hosts::new(address.ip(), &args.listen.allow_host);
        Ok(Stub::new(hosts, scenario, of_stub.0, of_stub.1, address.to_string()))
    });
    started.map_err(|reason| CliError::Listen { address, reason })
}

/// Parses the scenario: steps, or the name of a TOML file.
fn scenario(args: &StubArgs, text: &str) -> Result<Scenario, CliError> {
    let usage = |reason: String| CliError::Usage(format!("--scenario: {reason}"));
    let limits =
        args.rate.map_or_else(Limits::default, |requests| Limits { requests, is_enforced: true, ..Limits::default() });
    if Path::new(text).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
        return read(Path::new(text)).map_err(usage);
    }
    Scenario::of_scripts(text, args.each, limits).map_err(usage)
}

fn list() -> Result<u8, CliError> {
    let mut out = output::stdout(super::args::Color::Never);
    output::printed(write_list(&mut out).and_then(|()| out.flush()))?;
    Ok(0)
}

fn write_list(out: &mut dyn Write) -> std::io::Result<()> {
    for shape in SHAPES {
        writeln!(out, "{:<17} {:<7} {}", shape.name, status(shape), shape.about)?;
    }
    out.write_all(
        b"
A scenario is a list of these, played in order; the last one is repeated for ever:
  529x3,ok                             three overloads, then well
  mid,529,429(retry-after=2),ok        with options
  529x12,ok|spend-cap|ok               side by side: each new request body gets the next
Options, in parentheses and joined by `;`:
  retry-after=2, =1.5, =date+3, =date-5, =none, =any text; retry-after-ms=1500; should-retry=true or false
  delay=2s (before the answer), first-token=3s (before its first piece), gap=50ms (between pieces), pieces=4
  for=60s (how long `stall` lasts), message=text of the error
",
    )
}

/// Returns the status of a response, or `breaks` if the connection is broken instead.
fn status(shape: &Shape) -> String {
    match &shape.does {
        Does::Succeed => "200".to_owned(),
        Does::Fail(failure) => failure.status.to_string(),
        Does::Foreign(foreign) => foreign.status.to_string(),
        Does::Break(_) => "breaks".to_owned(),
    }
}
