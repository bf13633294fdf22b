//! Arguments of `retrylens convert`.

use super::{ConfigFile, InputArgs, NameArgs, ReadingArgs, numbers};
use crate::ingest::FormatName;
use crate::model::Zone;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(in crate::cli) struct ConvertArgs {
    /// Logs: files, directories, glob patterns, or - for standard input; plain, gzip or zstd
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,

    /// Write to this file instead of standard output; compressed if its name ends in .gz or .zst
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub(in crate::cli) output: Option<PathBuf>,

    /// Exit with 4 if more than this percentage of lines could not be read
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = numbers::percent, help_heading = "Output")]
    pub(in crate::cli) max_rejected: f64,

    #[command(flatten)]
    pub(in crate::cli) config: ConfigFile,

    /// Read every input in this format instead of detecting it (`retrylens formats` lists all)
    #[arg(long, value_name = "FORMAT", help_heading = "Running")]
    input_format: Option<FormatName>,

    /// Time zone of logged times without one: +02:00, Europe/Berlin
    #[arg(long, value_name = "ZONE", default_value = "UTC", help_heading = "Running")]
    tz: Zone,

    /// Number of threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = numbers::threads, help_heading = "Running")]
    threads: Option<u16>,

    /// Print how each input was read
    #[arg(long, short, help_heading = "Running")]
    pub(in crate::cli) verbose: bool,

    /// Show no progress bar and no summary
    #[arg(long, short, help_heading = "Running")]
    pub(in crate::cli) quiet: bool,
}

impl ConvertArgs {
    /// Returns the inputs in the form that other commands use, without filters.
    pub(in crate::cli) fn input(&self) -> InputArgs {
        InputArgs {
            inputs: self.inputs.clone(),
            reading: ReadingArgs {
                since: None,
                until: None,
                input_format: self.input_format,
                tz: self.tz,
                names: NameArgs::default(),
                complete: false,
                threads: self.threads,
                quiet: self.quiet,
            },
        }
    }
}
