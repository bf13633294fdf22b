//! Reads partials among the inputs of an analysis, and writes one if requested.

use super::analysis::Analysis;
use super::args::{AnalyzeArgs, Memory};
use super::error::CliError;
use super::{inputs, message, output};
use crate::anonymize::Anonymizer;
use crate::ingest::{self, IngestError, Ingested, Options, Part, Progress, Source};
use crate::partial::{Partial, PartialError, Settings, check_overlaps, is_partial};
use std::path::Path;

/// How messages refer to the logs read along with partials.
const LOGS: &str = "the logs given";

/// Whether partials are read or written.
pub(super) fn are_used(args: &AnalyzeArgs, sources: &[Source]) -> bool {
    args.partial.is_some() || sources.iter().any(is_one)
}

pub(super) fn is_one(source: &Source) -> bool {
    matches!(source, Source::File(path) if is_partial(path))
}

/// Reads logs and partials as if all were logs, and writes the partial if requested.
pub(super) fn read(
    analysis: &Analysis<'_>,
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Ingested, CliError> {
    check(analysis)?;
    let args = analysis.args;
    let (partials, logs): (Vec<Source>, Vec<Source>) = sources.iter().cloned().partition(is_one);
    let own = (!logs.is_empty()).then(|| ingest::read_part(&logs, options, progress));
    let anonymizer = analysis.anonymizer.as_ref().filter(|_| args.partial.is_some());
    if anonymizer.is_some() && !partials.is_empty() {
        return Err(CliError::Usage(
            "--anonymize with --partial: give it where logs are read; what a partial holds is merged as it is"
                .to_owned(),
        ));
    }
    let settings = || Settings::of(options, anonymizer.map(Anonymizer::fingerprint));
    let mut whole = own.as_ref().map(|_| Partial::new(settings(), LOGS));
    for source in &partials {
        let Source::File(path) = source else { continue };
        let partial = open(path)?;
        progress(inputs::stored_bytes(source));
        match &mut whole {
            None => whole = Some(partial),
            Some(whole) => absorb(whole, partial, path)?,
        }
    }
    let Some(mut whole) = whole else { return Err(CliError::NoAttempts("no input".to_owned())) };
    let refused = |(name, error): (String, PartialError)| CliError::Partial { name, error };
    let mut parts = whole.open().map_err(refused)?;
    if let Some(own) = own {
        if args.partial.is_some() {
            let nameless = anonymizer.map(|anonymizer| anonymizer.part(&own));
            whole.add(nameless.as_ref().unwrap_or(&own)).map_err(CliError::Stdout)?;
        }
        parts.push((own, LOGS.to_owned()));
    }
    check_overlaps(&parts).map_err(refused)?;
    if let Some(path) = &args.partial {
        output::write_file(path, |out| whole.write(out))?;
    }
    drop(whole);
    let parts: Vec<Part> = parts.into_iter().map(|(part, _)| part).collect();
    Ok(ingest::join(parts)?)
}

/// Rejects options that conflict with partials, which contain every attempt.
fn check(analysis: &Analysis<'_>) -> Result<(), CliError> {
    let args = analysis.args;
    if args.memory == Memory::Bounded {
        return Err(CliError::Usage(
            "--memory bounded lets go of attempts, and partials hold all of them: leave out one of the two".to_owned(),
        ));
    }
    if args.partial.is_some() && !analysis.options.filter.is_empty() {
        return Err(CliError::Usage(
            "--partial keeps every attempt read: give --since, --until and names to `merge`, which judges".to_owned(),
        ));
    }
    Ok(())
}

fn open(path: &Path) -> Result<Partial, CliError> {
    let name = path.display().to_string();
    match Partial::read(path) {
        Ok(Ok(partial)) => Ok(partial),
        Ok(Err(error)) => Err(CliError::Partial { name, error }),
        Err(source) => Err(IngestError::Io { name, source }.into()),
    }
}

fn absorb(whole: &mut Partial, partial: Partial, path: &Path) -> Result<(), CliError> {
    let name = path.display().to_string();
    match whole.absorb(partial) {
        Ok(0) => Ok(()),
        Ok(_) => {
            message::warning(&format!("{name} holds what another partial holds too: it counts once"));
            Ok(())
        }
        Err(error) => Err(CliError::Partial { name, error }),
    }
}
