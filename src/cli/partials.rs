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
const LOGS_NAME: &str = "the logs given";

/// Whether partials are read or written.
pub(super) fn are_read_or_written(args: &AnalyzeArgs, sources: &[Source]) -> bool {
    args.partial.is_some() || sources.iter().any(is_partial_source)
}

pub(super) fn is_partial_source(source: &Source) -> bool {
    matches!(source, Source::File(path) if is_partial(path))
}

/// Partials and logs that were read.
struct PartialsAndLogs {
    /// The partials, merged.
    partials: Partial,
    /// What was read of the logs.
    from_logs: Option<Part>,
    /// What is known of the inputs of both.
    facts: Vec<Facts>,
}

/// Reads logs and partials as if all were logs, and writes the partial if requested.
pub(super) fn read(
    analysis: &Analysis<'_>,
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Ingested, CliError> {
    let PartialsAndLogs { mut partials, from_logs, .. } = read_partials_and_logs(analysis, sources, options, progress)?;
    let parts = partials.open().map_err(partial_error)?;
    write_partial(analysis, &mut partials, from_logs.as_ref())?;
    drop(partials);
    Ok(ingest::join(parts.into_iter().map(|(part, _)| part).chain(from_logs).collect())?)
}

/// Reads logs and partials and writes the partial. Returns what is known of their inputs, without attempts.
pub(super) fn write(
    analysis: &Analysis<'_>,
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
) -> Result<Ingested, CliError> {
    let PartialsAndLogs { mut partials, from_logs, facts } =
        read_partials_and_logs(analysis, sources, options, progress)?;
    write_partial(analysis, &mut partials, from_logs.as_ref())?;
    Ok(ingest::join(facts.into_iter().map(|facts| Part { facts, ..Part::default() }).collect())?)
}

fn read_partials_and_logs(
    analysis: &Analysis<'_>,
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
) -> Result<PartialsAndLogs, CliError> {
    refuse_conflicts(analysis)?;
    let (paths, logs): (Vec<Source>, Vec<Source>) = sources.iter().cloned().partition(is_partial_source);
    let anonymizer = anonymizer(analysis);
    if anonymizer.is_some() && !paths.is_empty() {
        return Err(CliError::Usage(
            "--anonymize with --partial: give it where logs are read; what a partial holds is merged as it is"
                .to_owned(),
        ));
    }
    let from_logs = (!logs.is_empty()).then(|| ingest::read_part(&logs, options, progress));
    let settings = || Settings::of(options, anonymizer.map(Anonymizer::fingerprint));
    let mut merged = from_logs.as_ref().map(|_| Partial::new(settings(), LOGS_NAME));
    for source in &paths {
        let Source::File(path) = source else { continue };
        let partial = open(path)?;
        progress(inputs::stored_bytes(source));
        match &mut merged {
            None => merged = Some(partial),
            Some(merged) => merge_into(merged, partial, path)?,
        }
    }
    let Some(partials) = merged else { return Err(CliError::NoAttempts("no input".to_owned())) };
    let mut facts = partials.facts().map_err(partial_error)?;
    facts.extend(from_logs.as_ref().map(|from_logs| (from_logs.facts.clone(), LOGS_NAME.to_owned())));
    check_overlaps(&facts).map_err(partial_error)?;
    Ok(PartialsAndLogs { partials, from_logs, facts: facts.into_iter().map(|(facts, _)| facts).collect() })
}

/// If a partial is requested, writes one that merges the partials given and what was read of logs.
fn write_partial(analysis: &Analysis<'_>, partials: &mut Partial, from_logs: Option<&Part>) -> Result<(), CliError> {
    let Some(path) = &analysis.args.partial else { return Ok(()) };
    if let Some(from_logs) = from_logs {
        let anonymized = anonymizer(analysis).map(|anonymizer| anonymizer.part(from_logs));
        partials.add(anonymized.as_ref().unwrap_or(from_logs)).map_err(CliError::Stdout)?;
    }
    output::write_file(path, |out| partials.write(out))
}

/// Returns the anonymizer of the partial to write, if one is requested.
fn anonymizer<'a>(analysis: &'a Analysis<'_>) -> Option<&'a Anonymizer> {
    analysis.anonymizer.as_ref().filter(|_| analysis.args.partial.is_some())
}

fn partial_error((name, error): (String, PartialError)) -> CliError {
    CliError::Partial { name, error }
}

/// Rejects options that conflict with partials, which contain every attempt.
fn refuse_conflicts(analysis: &Analysis<'_>) -> Result<(), CliError> {
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

fn merge_into(merged: &mut Partial, partial: Partial, path: &Path) -> Result<(), CliError> {
    let name = path.display().to_string();
    match merged.absorb(partial) {
        Ok(0) => Ok(()),
        Ok(_) => {
            message::warning(&format!("{name} holds what another partial holds too: it counts once"));
            Ok(())
        }
        Err(error) => Err(CliError::Partial { name, error }),
    }
}
