//! Rewrites any input as lines of native records, for searching lines by their bytes and for storing logs compactly.

use super::accumulator::Merger;
use super::chunk::{Chunk, Part, Stretch};
use super::error::IngestError;
use super::feed::{Fed, Feed};
use super::format::Decoder;
use super::ingested::Ingested;
use super::limits::{FRONT, WINDOW};
use super::line_counts::{LineCounts, ReadSettings};
use super::open::{InputSettings, Plan};
use super::options::{Options, Progress};
use super::reader::{self, Bytes};
use super::record::{Place, Record, Taken, native_line, searchable_line, sent_of};
use super::sink::{Look, Sink, To};
use super::source::{Source, bytes_of};
use crate::untrusted::mask_keys;
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Number of bytes unwrapped at once.
const BLOCK: usize = 1 << 20;

impl Plan {
    /// Whether the lines of an input already are native records.
    pub(crate) fn is_canonical(&self) -> bool {
        self.wrapping.is_none() && self.format.name() == super::formats::native::NAME
    }

    /// Returns the plan for reading what [`write()`] wrote of this input.
    pub(crate) fn canonical(&self) -> Plan {
        Plan { conventions: self.conventions, ..Plan::plain() }
    }

    /// Returns the settings for reading the input's lines; `stream` is the run of records that name none.
    fn reading<'c>(&self, stream: &'c str, settings: &InputSettings<'c>) -> ReadSettings<'c> {
        ReadSettings {
            file: 0,
            stream,
            zone: settings.zone,
            filter: None,
            dialect: settings.dialect,
            keep_rejects: false,
            keep_ids: false,
            beside_others: false,
            conventions: self.conventions,
        }
    }
}

/// Decodes a block and calls `look` with each of its records.
fn read(fed: &Fed, reading: &ReadSettings<'_>, decoder: &mut dyn Decoder, look: Look<'_>) -> LineCounts {
    let mut counts = LineCounts::default();
    let part = Part::fed(fed);
    let mut sink = Sink { reading, counts: &mut counts, to: To::Look(look), newlines: None };
    decoder.decode(&part.block, &mut sink);
    if part.is_last {
        decoder.finish(&mut sink);
    }
    counts
}

/// Writes every record of `input` to `out` as one native line. Returns the input line on which each record began, and
/// the read error that ended the input early, if any.
pub(crate) fn write(
    input: Box<dyn Read + Send>,
    plan: &Arc<Plan>,
    stream: &str,
    settings: &InputSettings<'_>,
    out: &mut dyn Write,
) -> io::Result<(Vec<u32>, Option<io::Error>)> {
    let reading = plan.reading(stream, settings);
    let mut feed = Feed::new(input, BLOCK, plan, stream, settings.zone);
    let mut side_by_side = plan.decoder();
    let (mut lines, mut text, is_native) = (Vec::new(), Vec::new(), plan.format.gives_native());
    loop {
        let fed = match feed.next() {
            Ok(Some(fed)) => fed,
            Ok(None) => return Ok((lines, None)),
            Err(error) => return Ok((lines, Some(error))),
        };
        let mut take = |record: &Record<'_>, raw: &str, place: &Place<'_>| {
            lines.push(place.line);
            text.extend_from_slice(searchable_line(record, raw, place, is_native).as_bytes());
            text.push(b'\n');
            Taken::NotAnAttempt
        };
        let decoder = feed.decoder.as_deref_mut().unwrap_or(&mut *side_by_side);
        read(&fed, &reading, decoder, &mut take);
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
        let mut one = Conversion { file, merger: &mut merger, options, progress, out };
        written = one.source(source);
        if written.is_err() {
            break;
        }
    }
    Ok((merger.finish()?, written))
}

/// One input that is being converted.
struct Conversion<'c> {
    file: u32,
    merger: &'c mut Merger,
    options: &'c Options,
    progress: Progress<'c>,
    out: &'c mut dyn Write,
}

/// A converted block: its counts, and its native lines.
type Block = (Stretch, String);

impl Conversion<'_> {
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
                self.merger.accumulator.fail(self.file, error);
                Ok(())
            }
        }
    }

    fn input(&mut self, input: Box<dyn Read + Send>) -> io::Result<()> {
        let settings = self.options.settings();
        let (front, input) = reader::front_of(input, FRONT);
        let plan = Arc::new(Plan::of(&front, &settings));
        self.merger.accumulator.read_by(self.file, &plan);
        let stream = self.merger.streams.names[self.file as usize].clone();
        let reading = ReadSettings { file: self.file, ..plan.reading(&stream, &settings) };
        let mut feed = Feed::new(input, WINDOW as usize, &plan, &stream, settings.zone);
        loop {
            let (blocks, failure) = match &mut feed.decoder {
                Some(_) => one_block(&mut feed, &reading),
                None => blocks_in_parallel(&mut feed, &plan, &reading),
            };
            let is_over = blocks.is_empty();
            for (stretch, text) in blocks {
                (self.progress)(stretch.bytes);
                let stretches = vec![stretch];
                self.merger.accumulator.pending.push(Chunk { stretches, ..Chunk::default() });
                self.out.write_all(text.as_bytes())?;
            }
            self.merger.accumulator.settle();
            if let Some(error) = failure {
                self.merger.accumulator.fail(self.file, error);
                return Ok(());
            }
            if is_over {
                return Ok(());
            }
        }
    }
}

/// Converts the next block of an input that is read in order.
fn one_block(feed: &mut Feed, reading: &ReadSettings<'_>) -> (Vec<Block>, Option<io::Error>) {
    match feed.next() {
        Ok(Some(fed)) => {
            let decoder = feed.decoder.as_deref_mut();
            (decoder.map(|decoder| convert_block(&fed, reading, decoder)).into_iter().collect(), None)
        }
        Ok(None) => (Vec::new(), None),
        Err(error) => (Vec::new(), Some(error)),
    }
}

/// Converts the next blocks of an input whose blocks may be read in any order.
fn blocks_in_parallel(feed: &mut Feed, plan: &Plan, reading: &ReadSettings<'_>) -> (Vec<Block>, Option<io::Error>) {
    let (mut blocks, mut failure) = (Vec::new(), None);
    while blocks.len() < rayon::current_num_threads() * 2 && failure.is_none() {
        match feed.next() {
            Ok(Some(fed)) => blocks.push(fed),
            Ok(None) => break,
            Err(error) => failure = Some(error),
        }
    }
    let converted =
        blocks.par_iter().map_init(|| plan.decoder(), |decoder, fed| convert_block(fed, reading, &mut **decoder));
    (converted.collect(), failure)
}

fn convert_block(fed: &Fed, reading: &ReadSettings<'_>, decoder: &mut dyn Decoder) -> Block {
    let mut text = String::new();
    let mut take = |record: &Record<'_>, raw: &str, place: &Place<'_>| match sent_of(record, raw, place) {
        Ok(_) => {
            text.push_str(&mask_keys(&native_line(record, raw, place)));
            text.push('\n');
            Taken::Attempt
        }
        Err(taken) => taken,
    };
    let counts = read(fed, reading, decoder, &mut take);
    let stretch = Stretch {
        file: reading.file,
        bytes: fed.bytes,
        counts,
        newlines: fed.newlines,
        is_placed: true,
        ..Stretch::default()
    };
    (stretch, text)
}
