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

/// Size of logs in bytes from which on only open calls are kept; in full, they would take some 1.3 GB.
const MANY_BYTES: u64 = 4 << 30;
/// Approximate expansion factor of compressed logs.
const EXPANSION: u64 = 10;

/// Attempts that were read, and their judgement.
pub(super) struct Judged {
    pub(super) ingested: Ingested,
    pub(super) settled: Settled,
    pub(super) notice: Option<String>,
    /// Whether every attempt is in memory.
    pub(super) is_whole: bool,
}

/// Reads the inputs of an analysis and judges them with `options`. If `aloud`, warnings about the inputs are printed.
pub(super) fn judged(analysis: &Analysis<'_>, options: &Options, aloud: bool) -> Result<Judged, CliError> {
    let (args, outputs) = (analysis.args, &analysis.outputs);
    if let Some(folder) = &args.state {
        let (sources, missing) = state::sources(&args.input.inputs)?;
        let reading = inputs::open_sources(&args.input, sources, args.verbose, |reading| how(analysis, reading))?;
        let reading = if aloud { reading } else { reading.silent() };
        let ingested =
            reading.read(|sources, how, progress| state::read(analysis, folder, sources, missing, how, progress))?;
        let settled = judge(&ingested.table, options).detach();
        return Ok(Judged { ingested, settled, notice: None, is_whole: true });
    }
    let reading = inputs::open(&args.input, args.verbose, |reading| how(analysis, reading))?;
    let reading = if aloud { reading } else { reading.silent() };
    if partials::are_used(args, &reading.sources) {
        let ingested = reading.read(|sources, how, progress| partials::read(analysis, sources, how, progress))?;
        let settled = judge(&ingested.table, options).detach();
        return Ok(Judged { ingested, settled, notice: None, is_whole: true });
    }
    if !is_bounded(args, outputs, &reading.sources)? {
        let ingested = reading.read(ingest::read)?;
        let settled = judge(&ingested.table, options).detach();
        return Ok(Judged { ingested, settled, notice: None, is_whole: true });
    }
    let mut rolling = Rolling::new(options);
    let mut ingested = reading.read(|sources, how, progress| {
        ingest::read_in_time(sources, how, progress, &mut |table, watermark| rolling.advance(table, watermark))
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

/// Adds to the reading options what the analysis and its outputs require.
pub(super) fn how(analysis: &Analysis<'_>, reading: &mut ingest::Options) {
    reading.dialect = analysis.dialect();
    reading.keep_rejects = analysis.args.rejects.is_some();
    let args = analysis.args;
    reading.keep_ids = analysis.outputs.have_tables() || args.partial.is_some() || args.state.is_some();
}

fn is_bounded(args: &AnalyzeArgs, outputs: &Outputs, sources: &[Source]) -> Result<bool, CliError> {
    match args.memory {
        Memory::Bounded if outputs.have_tables() => Err(CliError::Usage(
            "--memory bounded lets go of attempts, and tables of attempts (--output csv, parquet) need them all: \
             leave out one of the two"
                .to_owned(),
        )),
        Memory::Bounded => Ok(true),
        Memory::Whole => Ok(false),
        Memory::Auto => Ok(!outputs.have_tables() && are_many_bytes(sources)),
    }
}

/// Whether the logs are too large to keep in full, as far as their sizes are known.
fn are_many_bytes(sources: &[Source]) -> bool {
    let stored: Vec<u64> = sources.iter().map(inputs::stored_bytes).collect();
    // Files are opened to detect compression only if it decides the question.
    match stored.iter().sum::<u64>() {
        MANY_BYTES.. => true,
        sum if sum * EXPANSION < MANY_BYTES => false,
        _ => sources.iter().zip(stored).map(|(source, stored)| log_bytes(source, stored)).sum::<u64>() >= MANY_BYTES,
    }
}

/// Estimates the size of a log in bytes, of which `stored` bytes are on disk.
fn log_bytes(source: &Source, stored: u64) -> u64 {
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
