//! Arguments of `retrylens diff` and `retrylens trend`.

use super::{AnonymizeArgs, ConfigFile, FailOn, Level, PageForms, ReadingArgs};
use crate::model::Zone;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct DiffArgs {
    /// Baseline: a report (analyze --output json=FILE), or logs: a file, directory or glob pattern, or -
    #[arg(value_name = "OLD")]
    pub(in crate::cli) old: String,

    /// The report or logs to compare with the baseline
    #[arg(value_name = "NEW")]
    pub(in crate::cli) new: String,

    #[command(flatten)]
    pub(in crate::cli) reading: ReadingArgs,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    #[command(flatten)]
    pub(in crate::cli) page: PageOutput,

    /// Exit with 1 if a problem at or above this severity is new or worse
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "SEVERITY", help_heading = "Judging")]
    pub(in crate::cli) fail_on: FailOn,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct TrendArgs {
    /// Reports (analyze --output json=FILE), in any order
    #[arg(required = true, value_name = "REPORT")]
    pub(in crate::cli) reports: Vec<PathBuf>,

    /// Time zone of displayed times, and of the dates by which reports are labelled: +02:00, Europe/Berlin
    #[arg(long, value_name = "ZONE", default_value = "UTC", help_heading = "Output")]
    pub(in crate::cli) tz: Zone,

    #[command(flatten)]
    pub(in crate::cli) page: PageOutput,

    /// Write the chart as SVG and PNG to this directory
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(in crate::cli) charts: Option<PathBuf>,
}

/// Output of a comparison.
#[derive(Debug, Args)]
pub(in crate::cli) struct PageOutput {
    #[command(flatten)]
    pub(in crate::cli) forms: PageForms,

    /// Title of the comparison
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub(in crate::cli) title: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) anonymize: AnonymizeArgs,

    /// Show only problems at or above this severity
    #[arg(long, value_enum, default_value_t = Level::Info, value_name = "SEVERITY", help_heading = "Output")]
    pub(in crate::cli) min_severity: Level,
}
