//! Arguments of `retrylens stub` and `retrylens record`.

use super::{ConfigFile, FailOn, numbers};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct StubArgs {
    /// What is answered: steps such as `529x3,ok`, a TOML file of rules, or `all` (with --check): every documented
    /// failure, one run each [default: ok; with --check an overload and a spend cap]
    #[arg(long, value_name = "STEPS|FILE", help_heading = "Answers")]
    pub(in crate::cli) scenario: Option<String>,

    /// Play the scenario anew for each request body, not once for all requests
    #[arg(long, help_heading = "Answers")]
    pub(in crate::cli) each: bool,

    /// Refuse more than this many requests a minute, by a token bucket that fills steadily
    #[arg(long, value_name = "N", value_parser = numbers::whole, help_heading = "Answers")]
    pub(in crate::cli) rate: Option<u64>,

    /// List the answers there are
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
    /// Where requests are forwarded to: one URL, or anthropic=URL, openai=URL, gemini=URL (repeatable)
    /// [default: the providers' own addresses, by path]
    #[arg(long, value_name = "URL", help_heading = "Forwarding")]
    pub(in crate::cli) upstream: Vec<String>,

    /// Trust the certificates of this PEM file, and not the system's
    #[arg(long, value_name = "FILE", help_heading = "Forwarding")]
    pub(in crate::cli) roots: Option<PathBuf>,

    /// Write an attempt record for each request to this file
    #[arg(long, value_name = "FILE", default_value = "attempts.jsonl", help_heading = "Listening")]
    pub(in crate::cli) log: PathBuf,

    /// What records keep of bodies; keys are masked
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
    /// Nothing
    None,
    /// Bodies of errors
    Errors,
}

/// Where a server listens.
#[derive(Debug, Args)]
pub(in crate::cli) struct ListenArgs {
    /// Address to listen on; others than loopback let everybody in who reaches it
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_parser = numbers::address,
          help_heading = "Listening")]
    pub(in crate::cli) host: IpAddr,

    /// Answer requests for this host, too, beside loopback and the address listened on (repeatable)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), help_heading = "Listening")]
    pub(in crate::cli) allow_host: Vec<String>,

    /// Port to listen on, 0 for any that is free [default: 8529; with --check 0]
    #[arg(long, value_name = "PORT", value_parser = numbers::port, help_heading = "Listening")]
    pub(in crate::cli) port: Option<u16>,

    /// Name of the run that records are of [default: the program and the time]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(), help_heading = "Listening")]
    pub(in crate::cli) run: Option<String>,
}

/// A command that is run against the server, and judged.
#[derive(Debug, Args)]
pub(in crate::cli) struct CheckArgs {
    /// Run COMMAND with the usual base-URL variables set, judge its retries, and exit with 1 where they are wrong
    #[arg(long, help_heading = "Checking", requires = "command")]
    pub(in crate::cli) check: bool,

    /// Set this variable, too: NAME, or NAME=TEXT with {url} for the server's address (repeatable)
    #[arg(long, value_name = "NAME[=TEXT]", help_heading = "Checking", requires = "check")]
    pub(in crate::cli) env: Vec<String>,

    /// Print what was played, what the client did and whether that was right, as a table
    #[arg(long, help_heading = "Checking", requires = "check")]
    pub(in crate::cli) table: bool,

    /// Stop a command that takes longer than this, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, help_heading = "Checking",
          value_parser = numbers::seconds_of_a_day)]
    pub(in crate::cli) timeout: u64,

    /// Exit with 1 when a finding is at or above this severity
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY", help_heading = "Checking")]
    pub(in crate::cli) fail_on: FailOn,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    /// The command to check, after --
    #[arg(last = true, value_name = "COMMAND", requires = "check")]
    pub(in crate::cli) command: Vec<std::ffi::OsString>,
}
