//! Many inputs read side by side in the order of their times, for a judgement that goes along.

use super::books::{Books, Merger};
use super::reader::{self, Blocks, Bytes};
use super::{BATCH, IngestError, Ingested, Options, Progress, Source, Window, parse_block, parse_window};
use crate::attempt::{AttemptTable, Time};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Read};
use std::path::Path;

/// Bytes at the front of an input that are looked at to learn when it begins.
const PROBE: usize = 1 << 16;
/// Compressed inputs read at once: each keeps its file open.
const MOST_STREAMS: usize = 256;

/// Hears of every attempt read so far, and that what follows was logged at a time or later. It may take rows
/// out of the table.
pub type Sink<'s> = &'s mut (dyn FnMut(&mut AttemptTable, Time) + Send);

/// One input on its way.
struct Course<'s> {
    file: u32,
    source: &'s Source,
    state: State<'s>,
    /// How far it is: its first attempt, then the latest read.
    clock: Time,
    /// Log time that one piece of it covers, µs; 0 while that is not known.
    stride: i64,
}

enum State<'s> {
    Unopened,
    Plain { path: &'s Path, next: u64, length: u64 },
    Stream(Blocks<Box<dyn Read + Send>>),
    Done,
}

/// A piece of one input.
enum Piece<'s> {
    Window(Window<'s>),
    Block(u32, Vec<u8>),
}

/// Reads every source, always going on with the one that is furthest behind in time.
///
/// # Errors
/// The first input that cannot be opened or read.
pub fn read_in_time(
    sources: &[Source],
    options: &Options,
    progress: Progress<'_>,
    sink: Sink<'_>,
) -> Result<Ingested, IngestError> {
    let mut merger = Merger::default();
    sources.iter().for_each(|source| merger.open(source));
    let mut courses = Courses::open(sources, options, &merger.streams)?;
    let mut watermark = Time(i64::MIN);
    loop {
        let batch = courses.next_batch()?;
        let (streams, books) = (&merger.streams, &mut merger.books);
        let ((), chunks) = rayon::join(
            || take_in(books, watermark, sink),
            || batch.par_iter().map(|piece| piece.parse(streams, options, progress)).collect::<Result<Vec<_>, _>>(),
        );
        if batch.is_empty() {
            return Ok(merger.finish());
        }
        let read: Vec<_> =
            batch.iter().zip(chunks?).map(|(piece, chunk)| (piece.file(), piece.bytes(), chunk)).collect();
        courses.note(read.iter().map(|(file, _, chunk)| (*file, chunk.table.rows.iter().map(|row| row.sent).max())));
        watermark = courses.watermark();
        merger.books.pending.extend(read);
    }
}

/// Takes in what was read, and lets the sink look at it.
fn take_in(books: &mut Books, watermark: Time, sink: Sink<'_>) {
    if !books.pending.is_empty() {
        books.settle();
        sink(&mut books.out.table, watermark);
    }
}

impl Piece<'_> {
    fn parse(
        &self,
        streams: &[String],
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<super::Chunk, IngestError> {
        match self {
            Piece::Window(window) => parse_window(window, streams, options, progress),
            Piece::Block(file, block) => {
                progress(block.len() as u64);
                Ok(parse_block(block, *file, streams, options))
            }
        }
    }

    fn file(&self) -> u32 {
        match self {
            Piece::Window(window) => window.file,
            Piece::Block(file, _) => *file,
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Piece::Window(window) => window.end - window.start,
            Piece::Block(_, block) => block.len() as u64,
        }
    }
}

/// All inputs, by their number.
struct Courses<'s> {
    list: Vec<Course<'s>>,
    /// Bytes of a piece.
    window: u64,
}

impl<'s> Courses<'s> {
    fn open(sources: &'s [Source], options: &Options, streams: &[String]) -> Result<Courses<'s>, IngestError> {
        let alone = sources.len() == 1;
        let open = |(file, source): (usize, &'s Source)| {
            let mut course =
                Course { file: file as u32, source, state: State::Unopened, clock: Time(i64::MIN), stride: 0 };
            if !alone && *source != Source::Stdin {
                course.clock = course.probe(options, streams).map_err(|error| failed(source, error))?;
            }
            Ok(course)
        };
        sources
            .par_iter()
            .enumerate()
            .map(open)
            .collect::<Result<_, _>>()
            .map(|list| Courses { list, window: options.window.max(1) })
    }

    /// Pieces to read next, in the order of their times as far as that can be told. Half as many as where every
    /// attempt is kept: here they are most of what is in memory.
    fn next_batch(&mut self) -> Result<Vec<Piece<'s>>, IngestError> {
        let mut streams = self.list.iter().filter(|course| matches!(course.state, State::Stream(_))).count();
        let undone = self.list.iter().filter(|course| !matches!(course.state, State::Done));
        let mut queue: BinaryHeap<_> = undone.map(|course| Reverse((course.clock, course.file))).collect();
        let alone = queue.len() == 1;
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH.0 / 2 * self.window
            && pieces.len() < BATCH.1
            && let Some(Reverse((clock, file))) = queue.pop()
        {
            let course = &mut self.list[file as usize];
            if matches!(course.state, State::Unopened) {
                if streams >= MOST_STREAMS {
                    continue;
                }
                course.begin(self.window).map_err(|error| failed(course.source, error))?;
                streams += usize::from(matches!(course.state, State::Stream(_)));
            }
            let Some(piece) = course.next_piece(self.window).map_err(|error| failed(course.source, error))? else {
                continue;
            };
            bytes += piece.bytes();
            pieces.push(piece);
            // How much time an input's piece covers shows only once one of them was read.
            if course.stride > 0 || alone {
                queue.push(Reverse((clock.plus_us(course.stride), file)));
            }
        }
        Ok(pieces)
    }

    /// Takes note of what was read: the latest send of each piece.
    fn note(&mut self, read: impl Iterator<Item = (u32, Option<Time>)>) {
        for (file, latest) in read {
            let course = &mut self.list[file as usize];
            let Some(latest) = latest else { continue };
            if course.clock.0 != i64::MIN {
                course.stride = latest.us_since(course.clock).max(0);
            }
            course.clock = course.clock.max(latest);
        }
    }

    /// What is still to come was logged then or later.
    fn watermark(&self) -> Time {
        let undone = self.list.iter().filter(|course| !matches!(course.state, State::Done));
        undone.map(|course| course.clock).min().unwrap_or(Time(i64::MAX))
    }
}

fn failed(source: &Source, error: io::Error) -> IngestError {
    IngestError::Io { name: source.name(), source: error }
}

impl<'s> Course<'s> {
    /// When its first attempt was sent; the beginning of time where that does not show.
    fn probe(&self, options: &Options, streams: &[String]) -> io::Result<Time> {
        let block = match (self.source, super::open(self.source)?) {
            (Source::File(path), Bytes::Plain(length)) => {
                let mut buffer = Vec::new();
                let lines = reader::window(path, 0, length.min(PROBE as u64), &mut buffer)?;
                buffer[lines].to_vec()
            }
            (_, Bytes::Stream(stream)) => Blocks::new(stream, PROBE).next_block()?.unwrap_or_default(),
            (Source::Stdin, Bytes::Plain(_)) => Vec::new(),
        };
        let chunk = parse_block(&block, self.file, streams, options);
        Ok(chunk.table.rows.first().map_or(Time(i64::MIN), |row| row.sent))
    }

    fn begin(&mut self, window: u64) -> io::Result<()> {
        self.state = match (self.source, super::open(self.source)?) {
            (Source::File(path), Bytes::Plain(length)) => State::Plain { path, next: 0, length },
            (_, Bytes::Stream(stream)) => State::Stream(Blocks::new(stream, window as usize)),
            (Source::Stdin, Bytes::Plain(_)) => State::Done,
        };
        Ok(())
    }

    fn next_piece(&mut self, window: u64) -> io::Result<Option<Piece<'s>>> {
        let (piece, done) = match &mut self.state {
            State::Plain { path, next, length } if *next < *length => {
                let (start, end) = (*next, (*next + window).min(*length));
                *next = end;
                (Some(Piece::Window(Window { path, file: self.file, start, end })), end == *length)
            }
            State::Stream(blocks) => {
                let block = blocks.next_block()?;
                let done = block.is_none();
                (block.map(|block| Piece::Block(self.file, block)), done)
            }
            _ => (None, true),
        };
        if done {
            self.state = State::Done;
        }
        Ok(piece)
    }
}
