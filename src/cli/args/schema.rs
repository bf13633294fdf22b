//! Arguments of `retrylens schema`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(in crate::cli) struct SchemaArgs {
    /// Output to describe
    #[arg(value_enum, value_name = "FORM")]
    pub(in crate::cli) of: SchemaOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SchemaOf {
    /// Output of analyze --format json
    Report,
    /// One line of the output of analyze --format ndjson
    Finding,
    /// Output of trace --format json
    Trace,
    /// Output of diff --format json
    Diff,
    /// Output of trend --format json
    Trend,
    /// Output of simulate --format json
    Simulation,
    /// Output of simulate --script --format json
    Script,
    /// Output of simulate --from-log --format json
    Replay,
    /// Output of plan --format json
    Plan,
}
