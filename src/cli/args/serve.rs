//! Arguments of `retrylens stub` and `retrylens record`.

mod listening;

use super::{ConfigFile, FailOn, numbers};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct StubArgs {
    /// Responses: steps such as `529x3,ok`, a TOML file of rules, or, with --check, `all` for every documented
    /// failure in a run of its own [default: ok; with --check an overload and a spend cap]
    #[arg(long, value_name = "STEPS|FILE", help_heading = "Answers")]
    pub(in crate::cli) scenario: Option<String>,

    /// Start the scenario anew for each distinct request body, instead of once for all requests
    #[arg(long, help_heading = "Answers")]
    pub(in crate::cli) each: bool,

    /// Limit requests per minute, with a token bucket that refills continuously
    #[arg(long, value_name = "N", value_parser = numbers::whole, help_heading = "Answers")]
    pub(in crate::cli) rate: Option<u64>,

    /// List all possible responses
    #[arg(long, help_heading = "Answers", conflicts_with_all = ["check", "log", "scenario"])]
    pub(in crate::cli) list: bool,

    /// Write an attempt record for each request to this file
    #[arg(long, value_name = "FILE", help_heading = "Listening")]
    pub(in crate::cli) log: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) listen: ListenArgs,

    #[command(flatten)]
    pub(in crate::cli) check: CheckArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct RecordArgs {
    /// Where to forward requests: one URL, or anthropic=URL, openai=URL, gemini=URL (repeatable)
    /// [default: the address of the provider, recognized by the request path]
    #[arg(long, value_name = "URL", help_heading = "Forwarding")]
    pub(in crate::cli) upstream: Vec<String>,

    /// Trust the certificates in this PEM file instead of those of the system
    #[arg(long, value_name = "FILE", help_heading = "Forwarding")]
    pub(in crate::cli) roots: Option<PathBuf>,

    /// Write an attempt record for each request to this file
    #[arg(long, value_name = "FILE", default_value = "attempts.jsonl", help_heading = "Listening")]
    pub(in crate::cli) log: PathBuf,

    /// Which bodies to record; keys are masked
    #[arg(long, value_enum, default_value_t = Bodies::None, value_name = "WHICH", help_heading = "Listening")]
    pub(in crate::cli) bodies: Bodies,

    /// Answer GET /_retrylens/requests with the number of requests
    #[arg(long, help_heading = "Listening")]
    pub(in crate::cli) control: bool,

    #[command(flatten)]
    pub(in crate::cli) listen: ListenArgs,

    #[command(flatten)]
    pub(in crate::cli) check: CheckArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Bodies {
    /// No bodies
    None,
    /// Bodies of error responses
    Errors,
}

/// Address a server listens on.
#[derive(Debug, Args)]
pub(in crate::cli) struct ListenArgs {
    /// Address to listen on; any other than loopback admits everyone who can reach it
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_parser = listening::address,
          help_heading = "Listening")]
    pub(in crate::cli) host: IpAddr,

    /// Also accept requests for this host, in addition to loopback and the listening address (repeatable)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), help_heading = "Listening")]
    pub(in crate::cli) allow_host: Vec<String>,

    /// Port to listen on, 0 for any free port [default: 8529; with --check 0]
    #[arg(long, value_name = "PORT", value_parser = listening::port, help_heading = "Listening")]
    pub(in crate::cli) port: Option<u16>,

    /// Run name of the records [default: the program and the time]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), help_heading = "Listening")]
    pub(in crate::cli) run: Option<String>,
}

/// A command to run against the server, whose retries are judged.
#[derive(Debug, Args)]
pub(in crate::cli) struct CheckArgs {
    /// Run COMMAND with the usual base-URL variables set, judge its retries, and exit with 1 if they are wrong
    #[arg(long, help_heading = "Checking", requires = "command")]
    pub(in crate::cli) check: bool,

    /// Also set this environment variable: NAME, or NAME=TEXT with {url} for the address of the server (repeatable)
    #[arg(long, value_name = "NAME[=TEXT]", help_heading = "Checking", requires = "check")]
    pub(in crate::cli) env: Vec<String>,

    /// Print a table of the scenario, what the client did, and whether that was right
    #[arg(long, help_heading = "Checking", requires = "check")]
    pub(in crate::cli) table: bool,

    /// Stop the command after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, help_heading = "Checking",
          value_parser = listening::seconds_up_to_a_day)]
    pub(in crate::cli) timeout: u64,

    /// Exit with 1 if a finding is at or above this severity
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY", help_heading = "Checking")]
    pub(in crate::cli) fail_on: FailOn,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    /// The command to check, after --
    #[arg(last = true, value_name = "COMMAND", requires = "check")]
    pub(in crate::cli) command: Vec<std::ffi::OsString>,
}
