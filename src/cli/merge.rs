//! `retrylens merge`: judges partials as if the logs they were made from had been read.

use super::analyze;
use super::args::{AnalyzeArgs, Memory};
use super::error::CliError;
use crate::ingest::{self, Source};
use crate::partial::{PartialError, is_partial};

pub(super) fn run(args: &AnalyzeArgs) -> Result<u8, CliError> {
    let of_logs = [
        ("--explain-input", args.explain_input.is_some()),
        ("--follow", args.follow.is_some()),
        ("--input-format", args.input.input_format.is_some()),
        ("--memory", args.memory != Memory::Auto),
        ("--rejects", args.rejects.is_some()),
        ("--state", args.state.is_some()),
    ];
    if let Some((option, _)) = of_logs.into_iter().find(|(_, is_given)| *is_given) {
        return Err(CliError::Usage(format!("{option} is about reading logs, which `analyze` does: give it there")));
    }
    for source in ingest::resolve(&args.input.inputs)? {
        let is_readable = matches!(&source, Source::File(path) if is_partial(path));
        if !is_readable {
            // A file that cannot be opened is reported with its own error.
            if let Source::File(path) = &source {
                std::fs::File::open(path)
                    .map_err(|error| ingest::IngestError::Io { name: source.name(), source: error })?;
            }
            return Err(CliError::Partial { name: source.name(), error: PartialError::Foreign });
        }
    }
    analyze::run(args)
}
