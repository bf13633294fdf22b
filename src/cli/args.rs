//! Command-line arguments.

// Doc comments are help here, and [policy] in them is a table of retrylens.toml.
#![allow(rustdoc::broken_intra_doc_links)]

mod anonymize;
mod classify;
mod compare;
mod config;
mod convert;
mod follow;
mod form;
mod names;
mod numbers;
mod page;
mod plan;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod severity;
mod shell;
mod simulate;
mod times;
mod trace;

pub(super) use anonymize::AnonymizeArgs;
pub(super) use classify::ClassifyArgs;
pub(super) use compare::{DiffArgs, TrendArgs};
pub(super) use config::{ConfigArgs, ConfigCommand, ConfigFile, InitArgs};
pub(super) use convert::ConvertArgs;
pub(super) use form::Form;
pub(super) use names::NameArgs;
pub(super) use page::{PageForm, PageForms};
pub(super) use plan::PlanArgs;
pub(super) use schema::{SchemaArgs, SchemaOf};
#[cfg(feature = "serve")]
pub(super) use serve::{Bodies, CheckArgs, ListenArgs, RecordArgs, StubArgs};
pub(super) use severity::{FailOn, Level};
pub(super) use shell::{CompletionsArgs, ManArgs};
pub(super) use simulate::SimulateArgs;
pub(super) use times::{age_us, now, time};
pub(super) use trace::{TraceArgs, TraceFormat};

use crate::ingest::FormatName;
use crate::model::Zone;
use clap::{Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Reads per-attempt logs of model API clients and tells which retries helped, which could not, and what to change.
#[derive(Debug, Parser)]
#[command(name = "retrylens", version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

impl Cli {
    /// Parses the arguments. Exits the process if they are wrong, or if help or the version is asked for.
    #[must_use]
    pub fn read() -> Cli {
        let mut command = with_negative_numbers(Cli::command());
        let read = Cli::from_arg_matches(&command.get_matches_mut());
        read.unwrap_or_else(|error| error.format(&mut command).exit())
    }
}

/// Lets options with values accept negative numbers, so that the option's own parser rejects them with a message about
/// the valid range.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let takes_value = !arg.is_positional() && arg.get_action().takes_values();
        if takes_value { arg.allow_negative_numbers(true) } else { arg }
    });
    command.mut_subcommands(with_negative_numbers)
}

const EXIT_CODES: &str = "\
Exit codes:
  0   no finding at or above --fail-on
  1   findings at or above it
  2   wrong usage or configuration
  3   no input, or no attempt in it
  4   too many lines could not be read (--max-rejected), or too few rules had evidence (--min-evidence)
  74  reading or writing failed
  130 interrupted";

const IDS_AND_INPUTS: &str = "\
Ids (of requests, calls, runs, traces; whole or their beginning; several, or joined by commas), then inputs: files, \
directories, patterns, or - for standard input; plain, gzip or zstd";

/// Adapts the arguments of `analyze` to `merge`: hides those about reading logs.
fn as_for_partials(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "inputs" => arg.value_name("PARTIAL").help("Partials: files or patterns"),
        "partial" => arg.help("Write all partials as one; without another output nothing is judged"),
        "explain_input" | "memory" | "follow" | "rejects" | "input_format" | "state" | "keep" => arg.hide(true),
        _ => arg,
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Judge logs: print a summary and write the reports asked for
    #[command(
        after_help = EXIT_CODES,
        mut_arg("inputs", |arg| arg.required(false).required_unless_present("explain_input")),
    )]
    Analyze(AnalyzeArgs),
    /// Judge the logs behind partials (`analyze --partial`) as if they had been read here, at once
    #[command(after_help = EXIT_CODES, mut_args(as_for_partials))]
    Merge(AnalyzeArgs),
    /// Show everything about a request, call, run or trace, from its id or the beginning of it
    #[command(after_help = EXIT_CODES, mut_arg("inputs", |arg| arg.value_name("ID|INPUT").help(IDS_AND_INPUTS)))]
    Trace(TraceArgs),
    /// Write the attempts of logs in any format as one native log: parsed once, and small
    #[command(after_help = EXIT_CODES)]
    Convert(ConvertArgs),
    /// Compare two reports or logs: what is new, worse, better or fixed
    #[command(after_help = EXIT_CODES)]
    Diff(DiffArgs),
    /// Compare many reports in the order of their time: measures, jumps, problems that come and go
    #[command(after_help = EXIT_CODES)]
    Trend(TrendArgs),
    /// Simulate what retry policies do to an endpoint of limited capacity
    #[command(after_help = EXIT_CODES)]
    Simulate(Box<SimulateArgs>),
    /// Work out what a retry policy costs: waits, recovery, layers, deadlines, load, and the settings that follow
    #[command(after_help = EXIT_CODES)]
    Plan(Box<PlanArgs>),
    /// List the rules logs are judged by
    Rules(RulesArgs),
    /// Explain rules: what they mean, why, what they need, examples, what to do
    Explain(ExplainArgs),
    /// List the formats of logs that are read, and what each is told by
    Formats(FormatsArgs),
    /// Say what one error is and what a client should do about it
    #[command(after_help = EXIT_CODES)]
    Classify(ClassifyArgs),
    /// Play a provider that fails on a schedule, on loopback, and count what clients send
    #[cfg(feature = "serve")]
    #[command(after_help = EXIT_CODES)]
    Stub(StubArgs),
    /// Stand in front of a provider, change nothing, and write a record of each attempt
    #[cfg(feature = "serve")]
    #[command(after_help = EXIT_CODES)]
    Record(RecordArgs),
    /// Show the configuration in force, the schema of retrylens.toml, or write one for a log
    #[command(after_help = EXIT_CODES)]
    Config(ConfigArgs),
    /// Print the JSON Schema of a form of the report
    Schema(SchemaArgs),
    /// Print a script that completes commands and options in a shell
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them
    Man(ManArgs),
}

/// What an analysis holds in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Memory {
    /// Bounded for logs of 4 GiB and more, unless tables of attempts are asked for
    Auto,
    /// Every attempt, until the end
    Whole,
    /// Open calls: those that nothing can continue are judged and let go while the logs are read
    Bounded,
}

/// Inputs, and which of their calls count.
#[derive(Debug, Args)]
pub(super) struct InputArgs {
    /// Logs: files, directories, patterns, or - for standard input; plain, gzip or zstd
    #[arg(required = true, value_name = "INPUT")]
    pub(super) inputs: Vec<String>,

    #[command(flatten)]
    pub(super) reading: ReadingArgs,
}

impl std::ops::Deref for InputArgs {
    type Target = ReadingArgs;

    fn deref(&self) -> &ReadingArgs {
        &self.reading
    }
}

/// Which attempts of the inputs count, and how they are read.
#[derive(Clone, Debug, Args)]
pub(super) struct ReadingArgs {
    /// Judge only calls first sent at or after this time (RFC 3339, a date, or an age such as 2h, 7d)
    #[arg(long, value_name = "TIME", help_heading = "Which calls")]
    pub(super) since: Option<String>,

    /// Judge only calls first sent before this time
    #[arg(long, value_name = "TIME", help_heading = "Which calls")]
    pub(super) until: Option<String>,

    /// Read every input in this format, whatever it looks like (`retrylens formats` lists them)
    #[arg(long, value_name = "FORMAT", help_heading = "Running")]
    pub(super) input_format: Option<FormatName>,

    /// Zone of times that name none, and of the times shown: +02:00, Europe/Berlin
    #[arg(long, value_name = "ZONE", default_value = "UTC", help_heading = "Which calls")]
    pub(super) tz: Zone,

    #[command(flatten)]
    pub(super) names: NameArgs,

    /// Nothing follows this data: a call whose last attempt failed was given up, not cut off
    #[arg(long, help_heading = "Judging")]
    pub(super) complete: bool,

    /// Use this many threads (default: one a core)
    #[arg(long, value_name = "N", value_parser = numbers::threads, help_heading = "Running")]
    pub(super) threads: Option<u16>,

    /// Show no progress bar
    #[arg(long, short, help_heading = "Running")]
    pub(super) quiet: bool,
}

impl ReadingArgs {
    /// Returns the options given that filter the calls of a log.
    pub(super) fn choices(&self) -> Vec<String> {
        let times = [("--since", self.since.is_some()), ("--until", self.until.is_some())];
        let times = times.into_iter().filter(|(_, given)| *given).map(|(option, _)| option.to_owned());
        times.chain(self.names.names().iter().map(|names| format!("--{}", names.of.name()))).collect()
    }
}

#[derive(Debug, Args)]
pub(super) struct AnalyzeArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,

    #[command(flatten)]
    pub(super) config: ConfigFile,

    /// Judge nothing: show how the first records of this file are read, from which keys, and which were ignored
    #[arg(long, value_name = "FILE", conflicts_with = "inputs", help_heading = "Running")]
    pub(super) explain_input: Option<PathBuf>,

    /// What is held in memory: every attempt, or open calls only; auto: open calls from 4 GiB of logs on
    #[arg(long, value_enum, default_value_t = Memory::Auto, value_name = "HOW", help_heading = "Running")]
    pub(super) memory: Memory,

    /// Go on while the logs grow: rewrite the files of --output every SECONDS (2), print findings on standard error as
    /// they settle; an interrupt ends it with the report and the exit code of the whole
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "2",
          value_parser = follow::interval, help_heading = "Running")]
    pub(super) follow: Option<Duration>,

    /// Judge only by these rules: codes, prefixes or names, comma-separated (RL101, RL3)
    #[arg(long, value_name = "RULES", value_delimiter = ',', help_heading = "Judging")]
    pub(super) select: Vec<String>,

    /// Leave these rules out
    #[arg(long, value_name = "RULES", value_delimiter = ',', help_heading = "Judging")]
    pub(super) ignore: Vec<String>,

    /// Let problems pass that this former JSON report has: they are marked, and do not fail
    #[arg(long, value_name = "FILE", help_heading = "Judging")]
    pub(super) baseline: Option<PathBuf>,

    /// Form of the report on standard output [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub(super) format: Option<Form>,

    /// Also write a form of the report to a file, - for standard output, as in json=report.json (repeatable);
    /// csv=DIR and parquet=DIR write tables of attempts, calls, runs and findings
    #[arg(long, short, value_name = "FORMAT=PATH", help_heading = "Output")]
    pub(super) output: Vec<String>,

    /// Write what was read of the logs to this file, for `retrylens merge`; without another output nothing is judged
    #[arg(long, value_name = "FILE", conflicts_with_all = ["follow", "explain_input"], help_heading = "Output")]
    pub(super) partial: Option<PathBuf>,

    /// Read only what is new since this folder was given last, and report on all that was ever read into it (or --since)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["follow", "explain_input", "partial", "rejects"],
          help_heading = "Running")]
    pub(super) state: Option<PathBuf>,

    /// Forget what is older, by days: 30d (with --state)
    #[arg(long, value_name = "AGE", requires = "state", value_parser = times::age, help_heading = "Running")]
    pub(super) keep: Option<i64>,

    /// What the report is about, on top of it: a job, a night; otherwise the names of the logs
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub(super) title: Option<String>,

    #[command(flatten)]
    pub(super) anonymize: AnonymizeArgs,

    /// Write the charts as SVG and PNG into this directory
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(super) charts: Option<PathBuf>,

    /// Write every line that could not be read, and why, to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) rejects: Option<PathBuf>,

    /// Show only problems at or above this severity
    #[arg(long, value_enum, default_value_t = Level::Info, value_name = "SEVERITY", help_heading = "Output")]
    pub(super) min_severity: Level,

    /// Show every problem and run, however small
    #[arg(long, short, help_heading = "Output")]
    pub(super) verbose: bool,

    /// Say what the worst incident would have been under these policies (names as for simulate), and whether the model
    /// says so reliably; by default none, fixed, exponential and full-jitter, more attempts, a gate
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', help_heading = "Output")]
    pub(super) what_if: Vec<String>,

    /// Colour the report
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(super) color: Color,

    /// Exit with 1 when a finding is at or above this severity
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY", help_heading = "Judging")]
    pub(super) fail_on: FailOn,

    /// Exit with 4 when more than this share of the lines could not be read, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = numbers::percent, help_heading = "Judging")]
    pub(super) max_rejected: f64,

    /// Exit with 4 when fewer of the rules than this, in percent, find the fields they need in the log
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = numbers::percent, help_heading = "Judging")]
    pub(super) min_evidence: f64,
}

#[derive(Debug, Args)]
pub(super) struct RulesArgs {
    /// Codes, names or beginnings of codes: only these rules, such as RL3 for a family; all without
    #[arg(value_name = "RULE")]
    pub(super) rules: Vec<String>,
    /// Form of the list
    #[arg(long, value_enum, default_value_t = RulesFormat::Text)]
    pub(super) format: RulesFormat,

    /// Everything about every rule, as a document of its own (with --format markdown)
    #[arg(long)]
    pub(super) long: bool,

    /// Colour the list
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

#[derive(Debug, Args)]
pub(super) struct FormatsArgs {
    /// Form of the list
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// Codes or names of rules, in any case: RL101, spend-cap-retried
    #[arg(required = true, value_name = "CODE")]
    pub(super) rules: Vec<String>,

    /// Form of the answer
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,

    /// Colour the answer
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RulesFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For documents
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
