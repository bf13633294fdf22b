//! `analyze --state`: reads only new data, and reports on everything read so far.

use super::analysis::Analysis;
use super::args::{Memory, now};
use super::error::CliError;
use super::{inputs, message, partials};
use crate::ingest::{self, IngestError, Ingested, Options, Progress, Source};
use crate::partial::{Settings, State};
use std::io;
use std::path::Path;

/// Returns the logs that the arguments match. If there are none, they may be gone or not written yet, while the state
/// holds what was read of them: files that do not exist are returned as they were named, since reading them says so, and
/// for a folder or pattern without logs there is an error to be shown.
pub(super) fn sources(arguments: &[String]) -> Result<(Vec<Source>, Option<CliError>), CliError> {
    match inputs::logs(arguments) {
        Ok(sources) => Ok((sources, None)),
        Err(CliError::Ingest(IngestError::Io { source, .. })) if source.kind() == io::ErrorKind::NotFound => {
            Ok((arguments.iter().map(|argument| Source::File(argument.into())).collect(), None))
        }
        Err(error @ CliError::Ingest(IngestError::NoLogs { .. } | IngestError::Pattern { .. })) => {
            Ok((Vec::new(), Some(error)))
        }
        Err(error) => Err(error),
    }
}

/// Reads new data of the logs into the state in `folder`, and returns all attempts of the state. `missing` is the reason
/// why there are no logs; it is returned if the state is empty, too.
pub(super) fn read(
    analysis: &Analysis<'_>,
    folder: &Path,
    sources: &[Source],
    missing: Option<CliError>,
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
    if sources.iter().any(partials::is_partial_source) {
        return refused("partials do not grow: give them to `merge`");
    }
    let mut state = State::open(folder, &Settings::of(options, None))?;
    let now = now().0;
    let oldest = analysis.args.keep.map(|age| now.saturating_sub(age));
    let parts = state.read(sources, options, progress, now, oldest)?;
    let mut ingested = ingest::join(parts)?;
    if let Some(missing) = missing {
        if ingested.inputs.is_empty() {
            return Err(missing);
        }
        let notice = format!("{missing}. Nothing new was read: the report is about what the state holds");
        message::warning(&notice);
        ingested.notes.push(notice);
    }
    Ok(ingested)
}
