//! Reads partials among the inputs of an analysis, and writes one if requested.

use super::analysis::Analysis;
use super::args::{AnalyzeArgs, Memory};
use super::error::CliError;
use super::{inputs, message, output};
use crate::anonymize::Anonymizer;
use crate::ingest::{self, Facts, IngestError, Ingested, Options, Part, Progress, Source};
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

/// Partials and logs that were read.
struct Gathered {
    /// The partials together.
    partials: Partial,
    /// What was read of the logs.
    own: Option<Part>,
    /// Facts about the inputs of both.
    facts: Vec<Facts>,
}

/// Reads logs and partials as if all were logs, and writes the partial if requested.
pub(super) fn read(
    analysis: &Analysis<'_>,
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Ingested, CliError> {
    let Gathered { mut partials, own, .. } = gathered(analysis, sources, options, progress)?;
    let parts = partials.open().map_err(refused)?;
    save(analysis, &mut partials, own.as_ref())?;
    drop(partials);
    Ok(ingest::join(parts.into_iter().map(|(part, _)| part).chain(own).collect())?)
}

/// Reads logs and partials and writes the partial. Returns what is known of their inputs, without attempts.
pub(super) fn write(
    analysis: &Analysis<'_>,
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Ingested, CliError> {
    let Gathered { mut partials, own, facts } = gathered(analysis, sources, options, progress)?;
    save(analysis, &mut partials, own.as_ref())?;
    Ok(ingest::join(facts.into_iter().map(|facts| Part { facts, ..Part::default() }).collect())?)
}

fn gathered(
    analysis: &Analysis<'_>,
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Gathered, CliError> {
    check(analysis)?;
    let (paths, logs): (Vec<Source>, Vec<Source>) = sources.iter().cloned().partition(is_one);
    let anonymizer = anonymizer(analysis);
    if anonymizer.is_some() && !paths.is_empty() {
        return Err(CliError::Usage(
            "--anonymize with --partial: give it where logs are read; what a partial holds is merged as it is"
                .to_owned(),
        ));
    }
    let own = (!logs.is_empty()).then(|| ingest::read_part(&logs, options, progress));
    let settings = || Settings::of(options, anonymizer.map(Anonymizer::fingerprint));
    let mut whole = own.as_ref().map(|_| Partial::new(settings(), LOGS));
    for source in &paths {
        let Source::File(path) = source else { continue };
        let partial = open(path)?;
        progress(inputs::stored_bytes(source));
        match &mut whole {
            None => whole = Some(partial),
            Some(whole) => absorb(whole, partial, path)?,
        }
    }
    let Some(partials) = whole else { return Err(CliError::NoAttempts("no input".to_owned())) };
    let mut facts = partials.facts().map_err(refused)?;
    facts.extend(own.as_ref().map(|own| (own.facts.clone(), LOGS.to_owned())));
    check_overlaps(&facts).map_err(refused)?;
    Ok(Gathered { partials, own, facts: facts.into_iter().map(|(facts, _)| facts).collect() })
}

/// Writes the partial, if requested, of the partials given and of what was read of logs.
fn save(analysis: &Analysis<'_>, partials: &mut Partial, own: Option<&Part>) -> Result<(), CliError> {
    let Some(path) = &analysis.args.partial else { return Ok(()) };
    if let Some(own) = own {
        let nameless = anonymizer(analysis).map(|anonymizer| anonymizer.part(own));
        partials.add(nameless.as_ref().unwrap_or(own)).map_err(CliError::Stdout)?;
    }
    output::write_file(path, |out| partials.write(out))
}

/// Returns the anonymizer of the partial that is written.
fn anonymizer<'a>(analysis: &'a Analysis<'_>) -> Option<&'a Anonymizer> {
    analysis.anonymizer.as_ref().filter(|_| analysis.args.partial.is_some())
}

fn refused((name, error): (String, PartialError)) -> CliError {
    CliError::Partial { name, error }
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
