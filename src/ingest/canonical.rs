//! Rewrites any input as lines of native records, for searching lines by their bytes and for storing logs compactly.

use super::accumulator::Merger;
use super::chunk::{Chunk, Stretch, StretchSource};
use super::error::IngestError;
use super::format::Decoder;
use super::ingested::Ingested;
use super::limits::{DETECTION_BYTES, WINDOW};
use super::line_counts::{LineCounts, ReadSettings};
use super::open::{InputSettings, ReadPlan};
use super::options::{Options, Progress};
use super::reader::{self, Bytes};
use super::record::{ReadResult, Record, RecordContext, attempt_timing, native_line, searchable_line};
use super::sequential::{SequentialBlock, SequentialInput};
use super::sink::{Destination, RecordCallback, Sink};
use super::source::{Source, bytes_of};
use crate::untrusted::mask_keys;
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Number of bytes unwrapped at once.
const BLOCK: usize = 1 << 20;

impl ReadPlan {
    /// Whether the lines of an input already are native records.
    pub(crate) fn is_canonical(&self) -> bool {
        self.wrapping.is_none() && self.format.name() == super::formats::native::NAME
    }

    /// Returns the plan for reading what [`write()`] wrote of this input.
    pub(crate) fn canonical(&self) -> ReadPlan {
        ReadPlan { conventions: self.conventions, ..ReadPlan::native() }
    }

    /// Returns the settings for reading the input's lines; `default_run` is the run of records that name none.
    fn read_settings<'c>(&self, default_run: &'c str, settings: &InputSettings<'c>) -> ReadSettings<'c> {
        ReadSettings {
            file: 0,
            default_run,
            zone: settings.zone,
            filter: None,
            dialect: settings.dialect,
            keep_rejects: false,
            keep_ids: false,
            has_other_inputs: false,
            conventions: self.conventions,
        }
    }
}

/// Decodes a block and calls `callback` with each of its records.
fn decode(
    block: &SequentialBlock,
    reading: &ReadSettings<'_>,
    decoder: &mut dyn Decoder,
    callback: RecordCallback<'_>,
) -> LineCounts {
    let mut counts = LineCounts::default();
    let source = StretchSource::sequential(block);
    let mut sink = Sink { reading, counts: &mut counts, to: Destination::Callback(callback), newlines: None };
    decoder.decode(&source.block, &mut sink);
    if source.is_last {
        decoder.finish(&mut sink);
    }
    counts
}

/// Writes every record of `input` to `out` as one native line. Returns the input line on which each record began, and
/// the read error that ended the input early, if any.
pub(crate) fn write(
    input: Box<dyn Read + Send>,
    plan: &Arc<ReadPlan>,
    default_run: &str,
    settings: &InputSettings<'_>,
    out: &mut dyn Write,
) -> io::Result<(Vec<u32>, Option<io::Error>)> {
    let reading = plan.read_settings(default_run, settings);
    let mut input = SequentialInput::new(input, BLOCK, plan, default_run, settings.zone);
    let mut decoder_of_any_block = plan.decoder();
    let (mut lines, mut text, is_native) = (Vec::new(), Vec::new(), plan.format.raw_is_native());
    loop {
        let block = match input.next() {
            Ok(Some(block)) => block,
            Ok(None) => return Ok((lines, None)),
            Err(error) => return Ok((lines, Some(error))),
        };
        let mut take = |record: &Record<'_>, raw: &str, context: &RecordContext<'_>| {
            lines.push(context.line);
            text.extend_from_slice(searchable_line(record, raw, context, is_native).as_bytes());
            text.push(b'\n');
            ReadResult::NotAnAttempt
        };
        let decoder = input.decoder.as_deref_mut().unwrap_or(&mut *decoder_of_any_block);
        decode(&block, &reading, decoder, &mut take);
        out.write_all(&text)?;
        text.clear();
    }
}

/// Writes every attempt of `sources` as a line of a native log to `out`, in input order and with keys masked, and
/// accounts for every line. Stops at the first write error, which is returned beside what was read until then.
///
/// # Errors
/// When none of the sources can be read, with the reason for the first.
pub fn convert(
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
    out: &mut dyn Write,
) -> Result<(Ingested, io::Result<()>), IngestError> {
    let mut merger = Merger::new(sources.len());
    let mut written = Ok(());
    for (file, source) in (0..).zip(sources) {
        merger.open(source);
        let mut conversion = InputConversion { file, merger: &mut merger, options, progress, out };
        written = conversion.source(source);
        if written.is_err() {
            break;
        }
    }
    Ok((merger.finish()?, written))
}

/// One input that is being converted.
struct InputConversion<'c> {
    file: u32,
    merger: &'c mut Merger,
    options: &'c Options,
    progress: Progress<'c>,
    out: &'c mut dyn Write,
}

/// A converted block: its counts, and its native lines.
type Converted = (Stretch, String);

impl InputConversion<'_> {
    /// Converts one source. Returns only write errors; a read error is recorded in the accumulator.
    fn source(&mut self, source: &Source) -> io::Result<()> {
        let input: io::Result<Box<dyn Read + Send>> = bytes_of(source).and_then(|bytes| match (bytes, source) {
            (Bytes::Stream(stream), _) => Ok(stream),
            (Bytes::Plain(_), Source::File(path)) => Ok(Box::new(File::open(path)?) as Box<dyn Read + Send>),
            (Bytes::Plain(_), Source::Stdin) => Ok(Box::new(io::empty()) as Box<dyn Read + Send>),
        });
        match input {
            Ok(input) => self.input(input),
            Err(error) => {
                self.merger.accumulator.record_failure(self.file, error);
                Ok(())
            }
        }
    }

    fn input(&mut self, input: Box<dyn Read + Send>) -> io::Result<()> {
        let settings = self.options.settings();
        let (front, input) = reader::front_of(input, DETECTION_BYTES);
        let plan = Arc::new(ReadPlan::of(&front, &settings));
        self.merger.accumulator.set_plan(self.file, &plan);
        let default_run = self.merger.context.default_runs[self.file as usize].clone();
        let reading = ReadSettings { file: self.file, ..plan.read_settings(&default_run, &settings) };
        let mut input = SequentialInput::new(input, WINDOW as usize, &plan, &default_run, settings.zone);
        loop {
            let (blocks, failure) = match &mut input.decoder {
                Some(_) => convert_next_block(&mut input, &reading),
                None => convert_blocks_in_parallel(&mut input, &plan, &reading),
            };
            let is_finished = blocks.is_empty();
            for (stretch, text) in blocks {
                (self.progress)(stretch.bytes);
                let stretches = vec![stretch];
                self.merger.accumulator.pending.push(Chunk { stretches, ..Chunk::default() });
                self.out.write_all(text.as_bytes())?;
            }
            self.merger.accumulator.merge_pending();
            if let Some(error) = failure {
                self.merger.accumulator.record_failure(self.file, error);
                return Ok(());
            }
            if is_finished {
                return Ok(());
            }
        }
    }
}

/// Converts the next block of an input that is read in order.
fn convert_next_block(input: &mut SequentialInput, reading: &ReadSettings<'_>) -> (Vec<Converted>, Option<io::Error>) {
    match input.next() {
        Ok(Some(block)) => {
            let decoder = input.decoder.as_deref_mut();
            (decoder.map(|decoder| convert_block(&block, reading, decoder)).into_iter().collect(), None)
        }
        Ok(None) => (Vec::new(), None),
        Err(error) => (Vec::new(), Some(error)),
    }
}

/// Converts the next blocks of an input whose blocks may be read in any order.
fn convert_blocks_in_parallel(
    input: &mut SequentialInput,
    plan: &ReadPlan,
    reading: &ReadSettings<'_>,
) -> (Vec<Converted>, Option<io::Error>) {
    let (mut blocks, mut failure) = (Vec::new(), None);
    while blocks.len() < rayon::current_num_threads() * 2 && failure.is_none() {
        match input.next() {
            Ok(Some(block)) => blocks.push(block),
            Ok(None) => break,
            Err(error) => failure = Some(error),
        }
    }
    let converted =
        blocks.par_iter().map_init(|| plan.decoder(), |decoder, block| convert_block(block, reading, &mut **decoder));
    (converted.collect(), failure)
}

fn convert_block(block: &SequentialBlock, reading: &ReadSettings<'_>, decoder: &mut dyn Decoder) -> Converted {
    let mut text = String::new();
    let mut take =
        |record: &Record<'_>, raw: &str, context: &RecordContext<'_>| match attempt_timing(record, raw, context) {
            Ok(_) => {
                text.push_str(&mask_keys(&native_line(record, raw, context)));
                text.push('\n');
                ReadResult::Attempt
            }
            Err(result) => result,
        };
    let counts = decode(block, reading, decoder, &mut take);
    let stretch = Stretch {
        file: reading.file,
        bytes: block.bytes,
        counts,
        newlines: block.newlines,
        has_input_lines: true,
        ..Stretch::default()
    };
    (stretch, text)
}
