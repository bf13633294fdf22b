//! Reads many inputs concurrently in the order of their timestamps, so that attempts can be judged while reading.

use super::accumulator::{Accumulator, AnalysisContext, Merger};
use super::chunk::Chunk;
use super::error::IngestError;
use super::filter::Filter;
use super::ingested::Ingested;
use super::limits::{BATCH_PIECES, BATCH_WINDOWS, DETECTION_BYTES};
use super::line_reader::LineReader;
use super::open::ReadPlan;
use super::options::{Options, Progress};
use super::piece::{self, Piece, SharedInput, Small};
use super::reader::{self, Blocks, Bytes};
use super::same_bytes::same_bytes;
use super::sequential::SequentialInput;
use super::source::Source;
use super::windows::Window;
use crate::model::{AttemptTable, Time};
use rayon::prelude::*;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of bytes at the start of an input that are searched for its first attempt.
const PROBE: usize = 1 << 16;
/// Largest number of streams read at once: each keeps its file open.
const MAX_STREAMS: usize = 256;

thread_local! {
    /// Buffer for the start of an input.
    static PROBE_BUFFER: RefCell<Window> = RefCell::default();
}

/// Called with a table of the attempts read and with the watermark: attempts still to be read were sent at that time or
/// later. May remove rows from the table.
pub type AttemptSink<'s> = &'s mut (dyn FnMut(&mut AttemptTable, Time) + Send);

/// An input being read.
struct InputCursor<'s> {
    file: u32,
    source: &'s Source,
    /// Size in bytes, if it is a small file.
    small: Option<u64>,
    state: State<'s>,
    /// Send time of its latest attempt read so far, or of its first attempt while none was read.
    latest: Time,
    /// Difference in µs between the latest send times of its last two pieces; 0 while unknown.
    piece_us: i64,
    /// How it is read, once it was opened.
    plan: Option<Arc<ReadPlan>>,
    /// Whether the plan was not given to the accumulator yet.
    has_new_plan: bool,
}

enum State<'s> {
    Unopened,
    Plain {
        path: &'s Path,
        next: u64,
        length: u64,
    },
    Stream(Blocks<Box<dyn Read + Send>>),
    /// Read in order, one piece at a time.
    Sequential(SharedInput),
    Done,
}

/// Reads every source, always continuing with the one that is furthest behind in time. A source that cannot be read, or
/// not to its end, is marked in [`Ingested::inputs`].
///
/// # Errors
/// When none of them can be read, with the reason for the first.
pub fn read_in_time(
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
    sink: AttemptSink<'_>,
) -> Result<Ingested, IngestError> {
    let mut merger = Merger::new(sources.len());
    sources.iter().for_each(|source| merger.open(source));
    same_bytes(sources).into_iter().for_each(|(original, copy)| merger.declare_copy(original, copy));
    let mut inputs = InputsByTime::open(sources, options, &merger.context);
    let mut watermark = Time(i64::MIN);
    loop {
        let batch = inputs.next_batch(options, &merger.context);
        inputs.failures.drain(..).for_each(|(file, error)| merger.accumulator.record_failure(file, error));
        inputs.hand_over_plans(&mut merger.accumulator);
        let (context, accumulator) = (&merger.context, &mut merger.accumulator);
        let ((), chunks) = rayon::join(
            || emit_pending(accumulator, watermark, sink),
            || batch.par_iter().map(|piece| piece.parse(context, options, progress)).collect::<Vec<_>>(),
        );
        if batch.is_empty() {
            return merger.finish();
        }
        inputs.note_latest(&chunks);
        watermark = inputs.watermark();
        merger.accumulator.pending.extend(chunks);
    }
}

/// Merges the pending chunks and passes their attempts to the sink.
fn emit_pending(accumulator: &mut Accumulator, watermark: Time, sink: AttemptSink<'_>) {
    if !accumulator.pending.is_empty() {
        accumulator.merge_pending();
        sink(&mut accumulator.out.table, watermark);
    }
}

/// All inputs, indexed by file number.
struct InputsByTime<'s> {
    list: Vec<InputCursor<'s>>,
    /// Size of a piece in bytes.
    window: u64,
    /// Inputs that failed, with the error, until they are given to the accumulator.
    failures: Vec<(u32, io::Error)>,
}

impl<'s> InputsByTime<'s> {
    fn open(sources: &'s [Source], options: &Options, context: &AnalysisContext) -> InputsByTime<'s> {
        let (is_only_input, window) = (sources.len() == 1, options.window.max(1));
        let open = |(file, source): (usize, &'s Source)| {
            let small = piece::small_size(source, window);
            let mut cursor = InputCursor {
                file: file as u32,
                source,
                small,
                state: State::Unopened,
                latest: Time(i64::MIN),
                piece_us: 0,
                plan: None,
                has_new_plan: false,
            };
            if !is_only_input && let Source::File(path) = source {
                // If probing fails, opening the file later reports the error.
                cursor.latest = cursor.probe(path, options, context).unwrap_or(Time(i64::MIN));
            }
            cursor
        };
        let list = sources.par_iter().enumerate().map(open).collect();
        InputsByTime { list, window, failures: Vec::new() }
    }

    /// Returns the pieces to read next, in the order of their times as far as known. A batch is half as large as when
    /// every attempt is kept, because here the batches make up most of the memory used.
    fn next_batch(&mut self, options: &Options, context: &AnalysisContext) -> Vec<Piece<'s>> {
        let mut streams =
            self.list.iter().filter(|cursor| matches!(cursor.state, State::Stream(_) | State::Sequential(_))).count();
        let unfinished = self.list.iter().filter(|cursor| !matches!(cursor.state, State::Done));
        let mut queue: BinaryHeap<_> = unfinished.map(|cursor| Reverse((cursor.latest, cursor.file))).collect();
        let is_only_one = queue.len() == 1;
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH_WINDOWS / 2 * self.window
            && pieces.len() < BATCH_PIECES
            && let Some(Reverse((time, file))) = queue.pop()
        {
            let cursor = &mut self.list[file as usize];
            if let (Source::File(path), Some(length), State::Unopened) = (cursor.source, cursor.small, &cursor.state) {
                piece::add_small(&mut pieces, Small { path, file, length }, self.window);
                cursor.state = State::Done;
                bytes += length;
                continue;
            }
            if matches!(cursor.state, State::Unopened) {
                if streams >= MAX_STREAMS {
                    continue;
                }
                if let Err(error) = cursor.begin(self.window, options, &context.default_runs[file as usize]) {
                    cursor.state = State::Done;
                    self.failures.push((file, error));
                    continue;
                }
                streams += usize::from(matches!(cursor.state, State::Stream(_) | State::Sequential(_)));
            }
            let piece = match cursor.next_piece(self.window) {
                Ok(Some(piece)) => piece,
                Ok(None) => continue,
                Err(error) => {
                    cursor.state = State::Done;
                    self.failures.push((file, error));
                    continue;
                }
            };
            bytes += piece.bytes();
            pieces.push(piece);
            // A further piece of the same input is read in this batch only if its time can be estimated from earlier
            // pieces. An input that is read in order has one piece at a time.
            let in_order = matches!(cursor.state, State::Sequential(_));
            if !in_order && (cursor.piece_us > 0 || is_only_one) {
                queue.push(Reverse((time.plus_us(cursor.piece_us), file)));
            }
        }
        pieces
    }

    /// Gives the plans of newly opened inputs to the accumulator.
    fn hand_over_plans(&mut self, accumulator: &mut Accumulator) {
        for cursor in &mut self.list {
            if std::mem::take(&mut cursor.has_new_plan) {
                cursor.plan.iter().for_each(|plan| accumulator.set_plan(cursor.file, plan));
            }
        }
    }

    /// Updates the latest send time of each input that was read.
    fn note_latest(&mut self, read: &[Chunk]) {
        for (chunk, stretch) in
            read.iter().flat_map(|chunk| chunk.stretches.iter().map(move |stretch| (chunk, stretch)))
        {
            let cursor = &mut self.list[stretch.file as usize];
            let sent = chunk.table.rows[stretch.rows.clone()].iter().map(|row| row.sent);
            let Some(latest) = sent.max() else { continue };
            if cursor.latest.0 != i64::MIN {
                cursor.piece_us = latest.us_since(cursor.latest).max(0);
            }
            cursor.latest = cursor.latest.max(latest);
        }
    }

    /// Returns the time at or after which all attempts still to be read were sent, if each input is in the order of
    /// time.
    fn watermark(&self) -> Time {
        let unfinished = self.list.iter().filter(|cursor| !matches!(cursor.state, State::Done));
        unfinished.map(|cursor| cursor.latest).min().unwrap_or(Time(i64::MAX))
    }
}

impl<'s> InputCursor<'s> {
    /// Returns when its first attempt was sent, or the minimum time if that cannot be determined.
    fn probe(&self, path: &Path, options: &Options, context: &AnalysisContext) -> io::Result<Time> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        // Anything but a regular file, such as a pipe, can be read only once.
        if !metadata.is_file() {
            return Ok(Time(i64::MIN));
        }
        PROBE_BUFFER.with_borrow_mut(|buffer| {
            let lines = buffer.read(&file, 0, metadata.len().min(PROBE as u64), u64::MAX)?.text;
            if reader::is_plain(lines) {
                return Ok(self.first_sent(lines, options, context));
            }
            let Bytes::Stream(stream) = reader::open(path)? else { return Ok(Time(i64::MIN)) };
            let block = Blocks::new(stream, PROBE).next_block()?.unwrap_or_default();
            Ok(self.first_sent(&block, options, context))
        })
    }

    fn first_sent(&self, lines: &[u8], options: &Options, context: &AnalysisContext) -> Time {
        let default_run = &context.default_runs[self.file as usize];
        let plan = ReadPlan::of(&lines[..lines.len().min(DETECTION_BYTES)], &options.settings());
        let mut line_reader = LineReader::new(self.file, default_run, &options.settings(), Filter::EVERYTHING, &plan);
        if plan.is_canonical() {
            // Reading stops at the first attempt.
            let _ = lines.split(|byte| *byte == b'\n').any(|line| line_reader.read_line(line, 1, None, false) > 0);
        } else {
            line_reader.read_front(lines);
        }
        let table = line_reader.finish();
        table.rows.first().map_or(Time(i64::MIN), |row| row.sent)
    }

    /// Opens the input and decides how it is read.
    fn begin(&mut self, window: u64, options: &Options, default_run: &str) -> io::Result<()> {
        let (source, bytes) = (self.source, super::source::bytes_of(self.source)?);
        let (front, input): (Vec<u8>, Option<Box<dyn Read + Send>>) = match (source, bytes) {
            (Source::File(path), Bytes::Plain(length)) => {
                self.state = State::Plain { path, next: 0, length };
                (reader::front_of_file(path, DETECTION_BYTES)?, None)
            }
            (_, Bytes::Stream(input)) => {
                let (front, input) = reader::front_of(input, DETECTION_BYTES);
                (front, Some(input))
            }
            (Source::Stdin, Bytes::Plain(_)) => {
                self.state = State::Done;
                return Ok(());
            }
        };
        let plan = Arc::new(ReadPlan::of(&front, &options.settings()));
        let input = match (input, source) {
            (None, Source::File(path)) if !plan.reads_in_parallel() => Some(Box::new(File::open(path)?) as _),
            (input, _) => input,
        };
        if let Some(input) = input {
            self.state = if plan.reads_in_parallel() {
                State::Stream(Blocks::new(input, window as usize))
            } else {
                let input = SequentialInput::new(input, window as usize, &plan, default_run, options.zone);
                State::Sequential(Arc::new(Mutex::new(Some(input))))
            };
        }
        (self.plan, self.has_new_plan) = (Some(plan), true);
        Ok(())
    }

    fn next_piece(&mut self, window: u64) -> io::Result<Option<Piece<'s>>> {
        let Some(plan) = &self.plan else {
            self.state = State::Done;
            return Ok(None);
        };
        let (file, plan) = (self.file, Arc::clone(plan));
        let (piece, done) = match &mut self.state {
            State::Plain { path, next, length } if *next < *length => {
                let (start, end) = (*next, (*next + window).min(*length));
                *next = end;
                (Some(Piece::Window { path, file, start, end, plan }), end == *length)
            }
            State::Stream(blocks) => {
                let block = blocks.next_block()?;
                let done = block.is_none();
                (block.map(|block| Piece::Block(file, block, plan)), done)
            }
            State::Sequential(input) => {
                let is_finished = input.lock().unwrap_or_else(PoisonError::into_inner).is_none();
                ((!is_finished).then(|| Piece::Next(file, Arc::clone(input), window)), is_finished)
            }
            _ => (None, true),
        };
        if done {
            self.state = State::Done;
        }
        Ok(piece)
    }
}
