//! Reads and judges logs within the memory limits the user sets.

use super::analysis::Analysis;
use super::args::{AnalyzeArgs, Memory};
use super::error::CliError;
use super::outputs::Outputs;
use super::{inputs, partials, state};
use crate::ingest::{self, Ingested, Source};
use crate::judge::{Options, Rolling, Settled, judge};
use crate::model::units::counted;
use std::io::Read;
use std::path::Path;

/// Size of logs, in bytes, from which only open calls are kept in memory. All attempts of such a log take some 1.3 GB.
const BOUNDED_FROM_BYTES: u64 = 4 << 30;
/// Approximate ratio of the size of a log to its compressed size.
const EXPANSION: u64 = 10;

/// Attempts that were read, and their judgement.
pub(super) struct Judged {
    pub(super) ingested: Ingested,
    pub(super) settled: Settled,
    pub(super) notice: Option<String>,
    /// Whether every attempt is in memory.
    pub(super) is_whole: bool,
}

/// Reads the inputs of an analysis and judges them with `options`. Warnings about the inputs are printed if
/// `prints_warnings` is set.
pub(super) fn read_and_judge(
    analysis: &Analysis<'_>,
    options: &Options,
    prints_warnings: bool,
) -> Result<Judged, CliError> {
    let (args, outputs) = (analysis.args, &analysis.outputs);
    if let Some(folder) = &args.state {
        let (sources, missing) = state::sources(&args.input.inputs)?;
        let found =
            inputs::open_sources(&args.input, sources, args.verbose, |options| adjust_reading(analysis, options))?;
        let found = if prints_warnings { found } else { found.silent() };
        let ingested = found
            .read(|sources, options, progress| state::read(analysis, folder, sources, missing, options, progress))?;
        let settled = judge(&ingested.table, options).detach();
        return Ok(Judged { ingested, settled, notice: None, is_whole: true });
    }
    let found = inputs::open(&args.input, args.verbose, |options| adjust_reading(analysis, options))?;
    let found = if prints_warnings { found } else { found.silent() };
    if partials::are_read_or_written(args, &found.sources) {
        let ingested = found.read(|sources, options, progress| partials::read(analysis, sources, options, progress))?;
        let settled = judge(&ingested.table, options).detach();
        return Ok(Judged { ingested, settled, notice: None, is_whole: true });
    }
    if !is_bounded(args, outputs, &found.sources)? {
        let ingested = found.read(ingest::read)?;
        let settled = judge(&ingested.table, options).detach();
        return Ok(Judged { ingested, settled, notice: None, is_whole: true });
    }
    let mut rolling = Rolling::new(options);
    let mut ingested = found.read(|sources, options, progress| {
        ingest::read_in_time(sources, options, progress, &mut |table, watermark| rolling.advance(table, watermark))
    })?;
    let (settled, late) = rolling.finish(&mut ingested.table);
    let notice = (late > 0).then(|| {
        format!(
            "{} more than 10 minutes too late in the log: with open calls alone in memory, calls may be cut apart. Sort \
             the log by time, or use --memory whole.",
            counted(late, "attempt")
        )
    });
    Ok(Judged { ingested, settled, notice, is_whole: false })
}

/// Sets the options for reading that the analysis and its outputs require.
pub(super) fn adjust_reading(analysis: &Analysis<'_>, options: &mut ingest::Options) {
    options.dialect = analysis.dialect();
    options.keep_rejects = analysis.args.rejects.is_some();
    let args = analysis.args;
    options.keep_ids = analysis.outputs.include_tables() || args.partial.is_some() || args.state.is_some();
}

fn is_bounded(args: &AnalyzeArgs, outputs: &Outputs, sources: &[Source]) -> Result<bool, CliError> {
    match args.memory {
        Memory::Bounded if outputs.include_tables() => Err(CliError::Usage(
            "--memory bounded lets go of attempts, and tables of attempts (--output csv, parquet) need them all: \
             leave out one of the two"
                .to_owned(),
        )),
        Memory::Bounded => Ok(true),
        Memory::Whole => Ok(false),
        Memory::Auto => Ok(!outputs.include_tables() && are_too_large(sources)),
    }
}

/// Whether the logs are too large to keep in full, as far as their sizes are known.
fn are_too_large(sources: &[Source]) -> bool {
    let stored: Vec<u64> = sources.iter().map(inputs::stored_bytes).collect();
    // Files are opened to detect compression only if it decides the question.
    match stored.iter().sum::<u64>() {
        BOUNDED_FROM_BYTES.. => true,
        sum if sum * EXPANSION < BOUNDED_FROM_BYTES => false,
        _ => {
            sources.iter().zip(stored).map(|(source, stored)| estimated_bytes(source, stored)).sum::<u64>()
                >= BOUNDED_FROM_BYTES
        }
    }
}

/// Estimates the size of a log in bytes, of which `stored` bytes are on disk.
fn estimated_bytes(source: &Source, stored: u64) -> u64 {
    match source {
        Source::File(path) if is_compressed(path) => stored * EXPANSION,
        _ => stored,
    }
}

fn is_compressed(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && crate::ingest::is_compressed(&magic)
}
