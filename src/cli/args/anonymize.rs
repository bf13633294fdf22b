//! The `--anonymize` argument.

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct AnonymizeArgs {
    /// Replace ids, paths and private names, and leave out every message of the log. A name stays the same under the
    /// same SALT (16 characters or more; also from RETRYLENS_SALT); without one, names are new each time
    #[arg(
        long,
        value_name = "SALT",
        num_args = 0..=1,
        require_equals = true,
        help_heading = "Output"
    )]
    pub(in crate::cli) anonymize: Option<Option<String>>,
}
