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
use clap::builder::NonEmptyStringValueParser;
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
  1   findings at or above --fail-on
  2   invalid usage or configuration
  3   no input, or no attempt in the input
  4   too many lines could not be read (--max-rejected), or too few rules had evidence (--min-evidence)
  74  reading or writing failed
  130 interrupted";

const IDS_AND_INPUTS: &str = "\
Ids of requests, calls, runs or traces, complete or as prefixes; several are separated by spaces or commas. Then \
the inputs: files, directories, glob patterns, or - for standard input; plain, gzip or zstd";

/// Adapts the arguments of `analyze` to `merge`: hides those about reading logs.
fn as_for_partials(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "inputs" => arg.value_name("PARTIAL").help("Partials: files or glob patterns"),
        "partial" => arg.help("Combine all partials into this file; without other outputs, no report is made"),
        "explain_input" | "memory" | "follow" | "rejects" | "input_format" | "state" | "keep" => arg.hide(true),
        _ => arg,
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Analyze logs: print a summary and write reports
    #[command(
        after_help = EXIT_CODES,
        mut_arg("inputs", |arg| arg.required(false).required_unless_present("explain_input")),
    )]
    Analyze(AnalyzeArgs),
    /// Analyze partials, written by `analyze --partial`, as if their logs were read together
    #[command(after_help = EXIT_CODES, mut_args(as_for_partials))]
    Merge(AnalyzeArgs),
    /// Show everything about a request, call, run or trace, given its id or a prefix of it
    #[command(after_help = EXIT_CODES, mut_arg("inputs", |arg| arg.value_name("ID|INPUT").help(IDS_AND_INPUTS)))]
    Trace(TraceArgs),
    /// Convert logs of any format to one compact log in the native format
    #[command(after_help = EXIT_CODES)]
    Convert(ConvertArgs),
    /// Compare two reports or logs: which problems are new, worse, better or fixed
    #[command(after_help = EXIT_CODES)]
    Diff(DiffArgs),
    /// Compare many reports over time: trends, sudden changes, problems that appear and disappear
    #[command(after_help = EXIT_CODES)]
    Trend(TrendArgs),
    /// Simulate the effect of retry policies on an endpoint with limited capacity
    #[command(after_help = EXIT_CODES)]
    Simulate(Box<SimulateArgs>),
    /// Compute the cost of a retry policy, and settings for it: waits, recovery, layers, timeouts, load
    #[command(after_help = EXIT_CODES)]
    Plan(Box<PlanArgs>),
    /// List all rules
    Rules(RulesArgs),
    /// Explain rules: meaning, reasons, required fields, examples, fixes
    Explain(ExplainArgs),
    /// List the supported log formats, and how each is detected
    Formats(FormatsArgs),
    /// Classify one error, and tell what a client should do about it
    #[command(after_help = EXIT_CODES)]
    Classify(ClassifyArgs),
    /// Run a mock provider on loopback that fails on a schedule, and count the requests of clients
    #[cfg(feature = "serve")]
    #[command(after_help = EXIT_CODES)]
    Stub(StubArgs),
    /// Run a transparent proxy in front of a provider that writes a record of each attempt
    #[cfg(feature = "serve")]
    #[command(after_help = EXIT_CODES)]
    Record(RecordArgs),
    /// Show the effective configuration or the schema of retrylens.toml, or write a configuration for a log
    #[command(after_help = EXIT_CODES)]
    Config(ConfigArgs),
    /// Print the JSON Schema of an output
    Schema(SchemaArgs),
    /// Print a shell completion script
    Completions(CompletionsArgs),
    /// Print a manual page, or write all manual pages to a directory
    Man(ManArgs),
}

/// Which attempts an analysis keeps in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Memory {
    /// Bounded for logs of 4 GiB or more, unless tables of attempts are requested
    Auto,
    /// Every attempt, until the end of the analysis
    Whole,
    /// Open calls only: calls that have ended are judged and released while the logs are read
    Bounded,
}

/// Inputs, and the selection of their calls.
#[derive(Debug, Args)]
pub(super) struct InputArgs {
    /// Logs: files, directories, glob patterns, or - for standard input; plain, gzip or zstd
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

/// Selection of calls, and how the inputs are read.
#[derive(Clone, Debug, Args)]
pub(super) struct ReadingArgs {
    /// Only calls whose first attempt was sent at or after this time (RFC 3339, a date, or an age such as 2h or 7d)
    #[arg(long, value_name = "TIME", value_parser = NonEmptyStringValueParser::new(), help_heading = "Which calls")]
    pub(super) since: Option<String>,

    /// Only calls whose first attempt was sent before this time
    #[arg(long, value_name = "TIME", value_parser = NonEmptyStringValueParser::new(), help_heading = "Which calls")]
    pub(super) until: Option<String>,

    /// Read every input in this format instead of detecting it (`retrylens formats` lists all)
    #[arg(long, value_name = "FORMAT", help_heading = "Running")]
    pub(super) input_format: Option<FormatName>,

    /// Time zone of displayed times, and of logged times without one: +02:00, Europe/Berlin
    #[arg(long, value_name = "ZONE", default_value = "UTC", help_heading = "Which calls")]
    pub(super) tz: Zone,

    #[command(flatten)]
    pub(super) names: NameArgs,

    /// Treat the log as complete: a call whose last attempt failed counts as failed, not as open
    #[arg(long, help_heading = "Judging")]
    pub(super) complete: bool,

    /// Number of threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = numbers::threads, help_heading = "Running")]
    pub(super) threads: Option<u16>,

    /// Show no progress bar
    #[arg(long, short, help_heading = "Running")]
    pub(super) quiet: bool,
}

impl ReadingArgs {
    /// Returns the options in use that select calls.
    pub(super) fn filter_options(&self) -> Vec<String> {
        let times = [("--since", self.since.is_some()), ("--until", self.until.is_some())];
        let times = times.into_iter().filter(|(_, given)| *given).map(|(option, _)| option.to_owned());
        times.chain(self.names.names().iter().map(|names| format!("--{}", names.dimension.name()))).collect()
    }
}

#[derive(Debug, Args)]
pub(super) struct AnalyzeArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,

    #[command(flatten)]
    pub(super) config: ConfigFile,

    /// Show how the first records of this file are read, the key of each field, and the ignored keys
    #[arg(long, value_name = "FILE", conflicts_with = "inputs", help_heading = "Running")]
    pub(super) explain_input: Option<PathBuf>,

    /// What is kept in memory: every attempt, or open calls only; auto: open calls only for logs of 4 GiB or more
    #[arg(long, value_enum, default_value_t = Memory::Auto, value_name = "HOW", help_heading = "Running")]
    pub(super) memory: Memory,

    /// Keep reading as the logs grow: every SECONDS (default: 2), update the files of --output and print new findings
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "2",
          value_parser = follow::interval, help_heading = "Running")]
    pub(super) follow: Option<Duration>,

    /// Apply only these rules: codes, prefixes or names, comma-separated (RL101,RL3)
    #[arg(long, value_name = "RULES", value_delimiter = ',', help_heading = "Judging")]
    pub(super) select: Vec<String>,

    /// Do not apply these rules
    #[arg(long, value_name = "RULES", value_delimiter = ',', help_heading = "Judging")]
    pub(super) ignore: Vec<String>,

    /// Accept the problems of this earlier JSON report: they are marked as known and do not affect the exit code
    #[arg(long, value_name = "FILE", help_heading = "Judging")]
    pub(super) baseline: Option<PathBuf>,

    /// Format of the report on standard output [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    pub(super) format: Option<Form>,

    /// Also write the report in a format to a file, - for standard output, as in json=report.json (repeatable);
    /// csv=DIR and parquet=DIR write tables of attempts, calls, runs and findings
    #[arg(long, short, value_name = "FORMAT=PATH", help_heading = "Output")]
    pub(super) output: Vec<String>,

    /// Write the attempts that were read to this file, for `retrylens merge`; without other outputs, no report is made
    #[arg(long, value_name = "FILE", conflicts_with_all = ["follow", "explain_input"], help_heading = "Output")]
    pub(super) partial: Option<PathBuf>,

    /// Keep attempts in this directory between runs: read only what is new, and report on everything in it (or --since)
    #[arg(long, value_name = "DIR", conflicts_with_all = ["follow", "explain_input", "partial", "rejects"],
          help_heading = "Running")]
    pub(super) state: Option<PathBuf>,

    /// Delete attempts older than this, in days, from the --state directory: 30d
    #[arg(long, value_name = "AGE", requires = "state", value_parser = times::age, help_heading = "Running")]
    pub(super) keep: Option<i64>,

    /// Title of the report (default: the names of the logs)
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub(super) title: Option<String>,

    #[command(flatten)]
    pub(super) anonymize: AnonymizeArgs,

    /// Write the charts as SVG and PNG to this directory
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(super) charts: Option<PathBuf>,

    /// Write every line that could not be read to this file, with the reason
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(super) rejects: Option<PathBuf>,

    /// Show only problems at or above this severity
    #[arg(long, value_enum, default_value_t = Level::Info, value_name = "SEVERITY", help_heading = "Output")]
    pub(super) min_severity: Level,

    /// Show all problems and runs
    #[arg(long, short, help_heading = "Output")]
    pub(super) verbose: bool,

    /// Simulate the worst incident under these policies (as in simulate; default: the usual ones, and a gate)
    #[arg(long, value_name = "POLICIES", value_delimiter = ',', help_heading = "Output")]
    pub(super) what_if: Vec<String>,

    /// When to colour the report
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(super) color: Color,

    /// Exit with 1 if a finding is at or above this severity
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY", help_heading = "Judging")]
    pub(super) fail_on: FailOn,

    /// Exit with 4 if more than this percentage of lines could not be read
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = numbers::percent, help_heading = "Judging")]
    pub(super) max_rejected: f64,

    /// Exit with 4 if the log has the required fields for less than this percentage of rules
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = numbers::percent, help_heading = "Judging")]
    pub(super) min_evidence: f64,
}

#[derive(Debug, Args)]
pub(super) struct RulesArgs {
    /// Only these rules: codes, names, or prefixes of codes such as RL3 (default: all)
    #[arg(value_name = "RULE")]
    pub(super) rules: Vec<String>,
    /// Format of the list
    #[arg(long, value_enum, default_value_t = RulesFormat::Text)]
    pub(super) format: RulesFormat,

    /// Complete documentation of every rule (with --format markdown)
    #[arg(long)]
    pub(super) long: bool,

    /// When to colour the list
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

#[derive(Debug, Args)]
pub(super) struct FormatsArgs {
    /// Format of the list
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// Codes or names of rules, case-insensitive: RL101, spend-cap-retried
    #[arg(required = true, value_name = "CODE")]
    pub(super) rules: Vec<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,

    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(super) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RulesFormat {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
    /// Markdown for documents
    Markdown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Text for a terminal
    Text,
    /// JSON for programs
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
