//! Reads many inputs concurrently in the order of their timestamps, so that attempts can be judged while reading.

use super::accumulator::{Accumulator, Merger, Streams};
use super::chunk::Chunk;
use super::error::IngestError;
use super::feed::Feed;
use super::filter::Filter;
use super::ingested::Ingested;
use super::limits::BATCH;
use super::limits::FRONT;
use super::line_reader::LineReader;
use super::open::Plan;
use super::options::{Options, Progress};
use super::piece::{self, Piece, SharedFeed, Small};
use super::reader::{self, Blocks, Bytes};
use super::same_bytes::same_bytes;
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
const MOST_STREAMS: usize = 256;

thread_local! {
    /// Buffer for the start of an input.
    static PROBED: RefCell<Window> = RefCell::default();
}

/// Called with every attempt read so far and with a time at or after which everything that follows was logged. May
/// remove rows from the table.
pub type Sink<'s> = &'s mut (dyn FnMut(&mut AttemptTable, Time) + Send);

/// An input being read.
struct InputCursor<'s> {
    file: u32,
    source: &'s Source,
    /// Size in bytes, if it is a small file.
    small: Option<u64>,
    state: State<'s>,
    /// Time of its latest attempt read so far, or of its first one while none is read.
    clock: Time,
    /// Log time covered by one of its pieces, in µs; 0 while unknown.
    stride: i64,
    /// How it is read, once it was opened.
    plan: Option<Arc<Plan>>,
    /// Whether its plan was not yet given to the accumulator.
    is_unreported: bool,
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
    Fed(SharedFeed),
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
    sink: Sink<'_>,
) -> Result<Ingested, IngestError> {
    let mut merger = Merger::new(sources.len());
    sources.iter().for_each(|source| merger.open(source));
    same_bytes(sources).into_iter().for_each(|(original, copy)| merger.declare_copy(original, copy));
    let mut inputs = InputsByTime::open(sources, options, &merger.streams);
    let mut watermark = Time(i64::MIN);
    loop {
        let batch = inputs.next_batch(options, &merger.streams);
        inputs.failures.drain(..).for_each(|(file, error)| merger.accumulator.fail(file, error));
        inputs.hand_over_plans(&mut merger.accumulator);
        let (streams, accumulator) = (&merger.streams, &mut merger.accumulator);
        let ((), chunks) = rayon::join(
            || emit_pending(accumulator, watermark, sink),
            || batch.par_iter().map(|piece| piece.parse(streams, options, progress)).collect::<Vec<_>>(),
        );
        if batch.is_empty() {
            return merger.finish();
        }
        inputs.note(&chunks);
        watermark = inputs.watermark();
        merger.accumulator.pending.extend(chunks);
    }
}

/// Merges what was read and passes it to the sink.
fn emit_pending(accumulator: &mut Accumulator, watermark: Time, sink: Sink<'_>) {
    if !accumulator.pending.is_empty() {
        accumulator.settle();
        sink(&mut accumulator.out.table, watermark);
    }
}

/// All inputs, indexed by their number.
struct InputsByTime<'s> {
    list: Vec<InputCursor<'s>>,
    /// Size of a piece in bytes.
    window: u64,
    /// Inputs that failed, with the error, until the accumulator is told.
    failures: Vec<(u32, io::Error)>,
}

impl<'s> InputsByTime<'s> {
    fn open(sources: &'s [Source], options: &Options, streams: &Streams) -> InputsByTime<'s> {
        let (alone, window) = (sources.len() == 1, options.window.max(1));
        let open = |(file, source): (usize, &'s Source)| {
            let small = piece::small(source, window);
            let mut cursor = InputCursor {
                file: file as u32,
                source,
                small,
                state: State::Unopened,
                clock: Time(i64::MIN),
                stride: 0,
                plan: None,
                is_unreported: false,
            };
            if !alone && let Source::File(path) = source {
                // If probing fails, opening the file later reports the error.
                cursor.clock = cursor.probe(path, options, streams).unwrap_or(Time(i64::MIN));
            }
            cursor
        };
        let list = sources.par_iter().enumerate().map(open).collect();
        InputsByTime { list, window, failures: Vec::new() }
    }

    /// Returns the pieces to read next, in the order of their times as far as known. A batch is half as large as when
    /// every attempt is kept, because here the batches make up most of the memory used.
    fn next_batch(&mut self, options: &Options, streams_of: &Streams) -> Vec<Piece<'s>> {
        let mut streams =
            self.list.iter().filter(|cursor| matches!(cursor.state, State::Stream(_) | State::Fed(_))).count();
        let undone = self.list.iter().filter(|cursor| !matches!(cursor.state, State::Done));
        let mut queue: BinaryHeap<_> = undone.map(|cursor| Reverse((cursor.clock, cursor.file))).collect();
        let alone = queue.len() == 1;
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH.0 / 2 * self.window
            && pieces.len() < BATCH.1
            && let Some(Reverse((clock, file))) = queue.pop()
        {
            let cursor = &mut self.list[file as usize];
            if let (Source::File(path), Some(length), State::Unopened) = (cursor.source, cursor.small, &cursor.state) {
                piece::add_small(&mut pieces, Small { path, file, length }, self.window);
                cursor.state = State::Done;
                bytes += length;
                continue;
            }
            if matches!(cursor.state, State::Unopened) {
                if streams >= MOST_STREAMS {
                    continue;
                }
                if let Err(error) = cursor.begin(self.window, options, &streams_of.names[file as usize]) {
                    cursor.state = State::Done;
                    self.failures.push((file, error));
                    continue;
                }
                streams += usize::from(matches!(cursor.state, State::Stream(_) | State::Fed(_)));
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
            // The time that a piece covers is known only after one piece of the input was read. An input that is read
            // in order has one piece at a time.
            let in_order = matches!(cursor.state, State::Fed(_));
            if !in_order && (cursor.stride > 0 || alone) {
                queue.push(Reverse((clock.plus_us(cursor.stride), file)));
            }
        }
        pieces
    }

    /// Gives the plans of newly opened inputs to the accumulator.
    fn hand_over_plans(&mut self, accumulator: &mut Accumulator) {
        for cursor in &mut self.list {
            if std::mem::take(&mut cursor.is_unreported) {
                cursor.plan.iter().for_each(|plan| accumulator.read_by(cursor.file, plan));
            }
        }
    }

    /// Updates the clocks from what was read: the latest send time of each stretch.
    fn note(&mut self, read: &[Chunk]) {
        for (chunk, stretch) in
            read.iter().flat_map(|chunk| chunk.stretches.iter().map(move |stretch| (chunk, stretch)))
        {
            let cursor = &mut self.list[stretch.file as usize];
            let sent = chunk.table.rows[stretch.rows.clone()].iter().map(|row| row.sent);
            let Some(latest) = sent.max() else { continue };
            if cursor.clock.0 != i64::MIN {
                cursor.stride = latest.us_since(cursor.clock).max(0);
            }
            cursor.clock = cursor.clock.max(latest);
        }
    }

    /// Returns a time at or after which everything still unread was logged.
    fn watermark(&self) -> Time {
        let undone = self.list.iter().filter(|cursor| !matches!(cursor.state, State::Done));
        undone.map(|cursor| cursor.clock).min().unwrap_or(Time(i64::MAX))
    }
}

impl<'s> InputCursor<'s> {
    /// Returns when its first attempt was sent, or the minimum time if that cannot be determined.
    fn probe(&self, path: &Path, options: &Options, streams: &Streams) -> io::Result<Time> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        // Anything but a regular file, such as a pipe, can be read only once.
        if !metadata.is_file() {
            return Ok(Time(i64::MIN));
        }
        PROBED.with_borrow_mut(|buffer| {
            let lines = buffer.read(&file, 0, metadata.len().min(PROBE as u64), u64::MAX)?.text;
            if reader::is_plain(lines) {
                return Ok(self.first_sent(lines, options, streams));
            }
            let Bytes::Stream(stream) = reader::open(path)? else { return Ok(Time(i64::MIN)) };
            let block = Blocks::new(stream, PROBE).next_block()?.unwrap_or_default();
            Ok(self.first_sent(&block, options, streams))
        })
    }

    fn first_sent(&self, lines: &[u8], options: &Options, streams: &Streams) -> Time {
        let stream = &streams.names[self.file as usize];
        let plan = Plan::of(&lines[..lines.len().min(FRONT)], &options.settings());
        let mut line_reader = LineReader::new(self.file, stream, &options.settings(), Filter::EVERYTHING, &plan);
        if plan.is_canonical() {
            // Stops at the first attempt; nothing else is needed.
            let _ = lines.split(|byte| *byte == b'\n').any(|line| line_reader.take(line, 1, None, false) > 0);
        } else {
            line_reader.take_front(lines);
        }
        let table = line_reader.finish();
        table.rows.first().map_or(Time(i64::MIN), |row| row.sent)
    }

    fn begin(&mut self, window: u64, options: &Options, stream: &str) -> io::Result<()> {
        let (source, bytes) = (self.source, super::source::bytes_of(self.source)?);
        let (front, input): (Vec<u8>, Option<Box<dyn Read + Send>>) = match (source, bytes) {
            (Source::File(path), Bytes::Plain(length)) => {
                self.state = State::Plain { path, next: 0, length };
                (reader::front_of_file(path, FRONT)?, None)
            }
            (_, Bytes::Stream(input)) => {
                let (front, input) = reader::front_of(input, FRONT);
                (front, Some(input))
            }
            (Source::Stdin, Bytes::Plain(_)) => return self.end(),
        };
        let plan = Arc::new(Plan::of(&front, &options.settings()));
        let input = match (input, source) {
            (None, Source::File(path)) if !plan.reads_in_parallel() => Some(Box::new(File::open(path)?) as _),
            (input, _) => input,
        };
        if let Some(input) = input {
            self.state = if plan.reads_in_parallel() {
                State::Stream(Blocks::new(input, window as usize))
            } else {
                let feed = Feed::new(input, window as usize, &plan, stream, options.zone);
                State::Fed(Arc::new(Mutex::new(Some(feed))))
            };
        }
        (self.plan, self.is_unreported) = (Some(plan), true);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.state = State::Done;
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
            State::Fed(feed) => {
                let is_over = feed.lock().unwrap_or_else(PoisonError::into_inner).is_none();
                ((!is_over).then(|| Piece::Next(file, Arc::clone(feed), window)), is_over)
            }
            _ => (None, true),
        };
        if done {
            self.state = State::Done;
        }
        Ok(piece)
    }
}
