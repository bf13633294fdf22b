//! Arguments of `retrylens schema`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(in crate::cli) struct SchemaArgs {
    /// Whose schema
    #[arg(value_enum, value_name = "FORM")]
    pub(in crate::cli) of: SchemaOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SchemaOf {
    /// What analyze --format json writes
    Report,
    /// One line of what analyze --format ndjson writes
    Finding,
    /// What trace --format json writes
    Trace,
    /// What diff --format json writes
    Diff,
    /// What trend --format json writes
    Trend,
    /// What simulate --format json writes
    Simulation,
    /// What simulate --script --format json writes
    Script,
    /// What simulate --from-log --format json writes
    Replay,
    /// What plan --format json writes
    Plan,
}
