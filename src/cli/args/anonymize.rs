//! The `--anonymize` argument.

use clap::Args;

#[derive(Debug, Args)]
pub(in crate::cli) struct AnonymizeArgs {
    /// Replace ids, paths and private names by pseudonyms, and omit all messages of the log. The same SALT (at least 16
    /// characters; also from RETRYLENS_SALT) gives the same pseudonyms; without one, they differ each time
    #[arg(
        long,
        value_name = "SALT",
        num_args = 0..=1,
        require_equals = true,
        help_heading = "Output"
    )]
    pub(in crate::cli) anonymize: Option<Option<String>>,
}
