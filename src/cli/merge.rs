//! `retrylens merge`: partials judged as the logs behind them would be.

use super::analyze;
use super::args::AnalyzeArgs;
use super::error::CliError;
use crate::ingest::{self, Source};
use crate::partial::{PartialError, is_partial};

pub(super) fn run(args: &AnalyzeArgs) -> Result<u8, CliError> {
    for source in ingest::resolve(&args.input.inputs)? {
        let is_readable = matches!(&source, Source::File(path) if is_partial(path));
        if !is_readable {
            // What cannot be opened says so itself.
            if let Source::File(path) = &source {
                std::fs::File::open(path)
                    .map_err(|error| ingest::IngestError::Io { name: source.name(), source: error })?;
            }
            return Err(CliError::Partial { name: source.name(), error: PartialError::Foreign });
        }
    }
    if args.rejects.is_some() {
        return Err(CliError::Usage(
            "--rejects writes lines of logs, and a partial holds none: give it to `analyze`, which reads them"
                .to_owned(),
        ));
    }
    analyze::run(args)
}
