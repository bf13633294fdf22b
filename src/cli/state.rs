//! `analyze --state`: reads only new data, and reports on everything read so far.

use super::analysis::Analysis;
use super::args::{Memory, now};
use super::error::CliError;
use super::partials;
use crate::ingest::{self, Ingested, Options, Progress, Source};
use crate::partial::{Settings, State};
use std::path::Path;

/// Reads new data of the logs into the state in `folder`, and returns all attempts of the state.
pub(super) fn read(
    analysis: &Analysis<'_>,
    folder: &Path,
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Ingested, CliError> {
    let refused = |reason: &str| Err(CliError::Usage(format!("--state {}: {reason}", folder.display())));
    if analysis.args.memory == Memory::Bounded {
        return refused("it keeps every attempt, and --memory bounded lets go of them: leave out one of the two");
    }
    if sources.contains(&Source::Stdin) {
        return refused("what came through standard input cannot be known again: give files");
    }
    if sources.iter().any(partials::is_one) {
        return refused("partials do not grow: give them to `merge`");
    }
    let mut state = State::open(folder, &Settings::of(options, None))?;
    let now = now().0;
    let oldest = analysis.args.keep.map(|age| now.saturating_sub(age));
    let parts = state.read(sources, options, progress, now, oldest)?;
    Ok(ingest::join(parts)?)
}
