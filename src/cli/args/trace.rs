//! Arguments of `retrylens trace`.

use super::{AnonymizeArgs, Color, ConfigFile, InputArgs};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(
    override_usage = "retrylens trace [OPTIONS] <ID>... <INPUT>...\n       retrylens trace [OPTIONS] --id <ID>... <INPUT>..."
)]
pub(in crate::cli) struct TraceArgs {
    /// An id, for ids that contain commas or equal the name of a file (repeatable); all arguments are then inputs
    #[arg(long, value_name = "ID", help_heading = "What to look for")]
    pub(in crate::cli) id: Vec<String>,

    // The positional arguments are ids and inputs; `cli::trace::ids` separates them.
    #[command(flatten)]
    pub(in crate::cli) input: InputArgs,

    /// Also show other traffic in this time before and after: 30s, 5m, 1h (default: 1m, unless that is too much)
    #[arg(long, value_name = "DURATION", help_heading = "What to look for")]
    pub(in crate::cli) context: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    /// Output format
    #[arg(long, value_enum, default_value_t = TraceFormat::Text, help_heading = "Output")]
    pub(in crate::cli) format: TraceFormat,

    /// Also write text=FILE, json=FILE, markdown=FILE or html=FILE (repeatable)
    #[arg(long, short, value_name = "FORMAT=PATH", help_heading = "Output")]
    pub(in crate::cli) output: Vec<String>,

    #[command(flatten)]
    pub(in crate::cli) anonymize: AnonymizeArgs,

    /// Show the records as they are in the log, with keys masked
    #[arg(long, help_heading = "Output")]
    pub(in crate::cli) raw: bool,

    /// Show every attempt and every call, and complete messages
    #[arg(long, short, help_heading = "Output")]
    pub(in crate::cli) verbose: bool,

    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN", help_heading = "Output")]
    pub(in crate::cli) color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TraceFormat {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
    /// Markdown for a chat or ticket
    #[value(alias = "md")]
    Markdown,
    /// One page for a browser, with a chart of the timeline
    Html,
}
