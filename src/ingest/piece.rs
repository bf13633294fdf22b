//! Pieces of work: what one worker reads at a time, and how it is read.

use super::accumulator::AnalysisContext;
use super::chunk::{Chunk, StretchSource};
use super::format::Decoder;
use super::limits::DETECTION_BYTES;
use super::line_counts::ReadSettings;
use super::open::ReadPlan;
use super::options::{Options, Progress};
use super::reader::{self, Blocks, Bytes};
use super::record::RecordCaches;
use super::sequential::SequentialInput;
use super::source::Source;
use super::unwrap::Unwrapper;
use super::windows::{Lines, Window};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Files of up to this fraction of a window are small: read whole, several of them as one piece.
const SMALL_FILE_FRACTION: u64 = 16;
/// Largest total size of the small files of one piece, as a fraction of a window: large enough that the cost of a
/// separate table is negligible, small enough that every thread gets some.
const GROUP_FRACTION: u64 = 4;
/// Cost of opening a file, expressed as the number of bytes that could be read in the same time.
const OPENING_COST_BYTES: u64 = 4 << 10;

/// Number of bytes of a small compressed file that are decompressed at once.
const SMALL_BLOCK: usize = 256 << 10;

/// A piece of work.
pub(super) enum Piece<'s> {
    /// A range of bytes of a plain file.
    Window { path: &'s Path, file: u32, start: u64, end: u64, plan: Arc<ReadPlan> },
    /// Whole small files that were not opened yet. The weight is the sum of their sizes, but at least
    /// [`OPENING_COST_BYTES`] for each.
    Files { files: Vec<Small<'s>>, weight: u64 },
    /// Whole lines of a stream.
    Block(u32, Vec<u8>, Arc<ReadPlan>),
    /// The next block of an input that is read in order, and its approximate size in bytes.
    Next(u32, SharedInput, u64),
    /// All remaining blocks of an input that is read in order.
    Rest(u32, SharedInput),
}

/// An input that is read in order; `None` once it has been read to its end.
pub(super) type SharedInput = Arc<Mutex<Option<SequentialInput>>>;

/// A small file, its number, and its size on disk in bytes.
pub(super) struct Small<'s> {
    pub(super) path: &'s Path,
    pub(super) file: u32,
    pub(super) length: u64,
}

/// Returns the size of a small file in bytes; `None` for any other source.
pub(super) fn small_size(source: &Source, window: u64) -> Option<u64> {
    let Source::File(path) = source else { return None };
    // If the metadata cannot be read, opening the file later reports the error.
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    (metadata.len() <= window / SMALL_FILE_FRACTION).then_some(metadata.len())
}

/// Adds a small file to the last of `pieces` if there is room, else as a new piece.
pub(super) fn add_small<'s>(pieces: &mut Vec<Piece<'s>>, small: Small<'s>, window: u64) {
    let weight = small.length.max(OPENING_COST_BYTES);
    match pieces.last_mut() {
        Some(Piece::Files { files, weight: known }) if *known + weight <= window / GROUP_FRACTION => {
            files.push(small);
            *known += weight;
        }
        _ => pieces.push(Piece::Files { files: vec![small], weight }),
    }
}

thread_local! {
    static WORKER: RefCell<Worker> = RefCell::default();
}

/// State that a worker keeps between pieces: a buffer, values seen in earlier records, and the decoders of formats
/// whose blocks are read in any order, with their state.
#[derive(Default)]
struct Worker {
    buffer: Window,
    caches: RecordCaches,
    decoders: Decoders,
}

/// Decoders by the name of their format.
#[derive(Default)]
struct Decoders(Vec<(&'static str, Box<dyn Decoder>)>);

impl Decoders {
    /// Returns the decoder for `plan`.
    fn of(&mut self, plan: &ReadPlan) -> &mut (dyn Decoder + 'static) {
        let name = plan.format.name();
        let index = self.0.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.0.push((name, plan.decoder()));
            self.0.len() - 1
        });
        &mut *self.0[index].1
    }
}

impl Piece<'_> {
    /// Returns the number of bytes of the inputs that the piece covers; 0 if unknown.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Piece::Window { start, end, .. } => end - start,
            Piece::Files { files, .. } => files.iter().map(|small| small.length).sum(),
            Piece::Block(_, block, _) => block.len() as u64,
            Piece::Next(_, _, bytes) => *bytes,
            Piece::Rest(..) => 0,
        }
    }

    /// Reads the piece. An input that cannot be read is recorded as a failure of the chunk.
    pub(super) fn parse(&self, context: &AnalysisContext, options: &Options, progress: Progress<'_>) -> Chunk {
        WORKER.with_borrow_mut(|Worker { buffer, caches, decoders }| {
            let chunk = Chunk::new(context.number, caches);
            let mut reader = PieceReader { chunk, caches, decoders, context, options, progress };
            match self {
                Piece::Window { path, file, start, end, plan } => {
                    let read = reader.window(path, *file, *start..*end, plan, buffer);
                    reader.record_failure(*file, read);
                }
                Piece::Files { files, .. } => {
                    for small in files {
                        let read = reader.small(small, buffer);
                        reader.record_failure(small.file, read);
                    }
                }
                Piece::Block(file, block, plan) => reader.lines(*file, block, block.len() as u64, plan),
                Piece::Next(file, input, _) => reader.sequential(*file, input, false),
                Piece::Rest(file, input) => reader.sequential(*file, input, true),
            }
            reader.finish()
        })
    }
}

/// One piece being read.
struct PieceReader<'w> {
    chunk: Chunk,
    caches: &'w mut RecordCaches,
    decoders: &'w mut Decoders,
    context: &'w AnalysisContext,
    options: &'w Options,
    progress: Progress<'w>,
}

impl<'w> PieceReader<'w> {
    fn finish(mut self) -> Chunk {
        self.chunk.table.fill_costs(&self.options.dialect.prices);
        self.caches.end_table(&mut self.chunk.table);
        self.chunk
    }

    fn record_failure(&mut self, file: u32, read: io::Result<()>) {
        self.chunk.failures.extend(read.err().map(|error| (file, error)));
    }

    fn read_settings(&self, file: u32, plan: &ReadPlan) -> ReadSettings<'w> {
        ReadSettings {
            file,
            default_run: self.default_run(file),
            zone: self.options.zone,
            filter: None,
            dialect: &self.options.dialect,
            keep_rejects: self.options.keep_rejects,
            keep_ids: self.options.keep_ids,
            has_other_inputs: self.context.has_several_inputs,
            conventions: plan.conventions,
        }
    }

    fn default_run(&self, file: u32) -> &'w str {
        &self.context.default_runs[file as usize]
    }

    fn window(
        &mut self,
        path: &Path,
        file: u32,
        range: std::ops::Range<u64>,
        plan: &ReadPlan,
        buffer: &mut Window,
    ) -> io::Result<()> {
        let bytes = range.end - range.start;
        let lines = buffer.read(&File::open(path)?, range.start, range.end, u64::MAX)?;
        self.lines(file, lines.text, bytes, plan);
        check_not_truncated(&lines, bytes)
    }

    /// Reads whole lines that cover `bytes` bytes of an input whose blocks can be read in any order.
    fn lines(&mut self, file: u32, text: &[u8], bytes: u64, plan: &ReadPlan) {
        (self.progress)(bytes);
        let settings = self.read_settings(file, plan);
        let decoder = self.decoders.of(plan);
        if plan.wrapping.is_none() {
            return self.chunk.read(&StretchSource::plain(text, bytes), &settings, self.caches, decoder);
        }
        let mut unwrapper = Unwrapper::new(&plan.wrapping, settings.default_run, self.options.zone);
        unwrapper.add_lines(text, 1);
        unwrapper.finish();
        let lines = unwrapper.take_lines();
        self.chunk.read(&StretchSource::unwrapped(&lines, text, bytes), &settings, self.caches, decoder);
    }

    /// Reads the next block of an input that is read in order, or all remaining blocks with `to_end`.
    fn sequential(&mut self, file: u32, shared: &SharedInput, to_end: bool) {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(input) = shared.as_mut() {
            match self.next_block(file, input) {
                Ok(true) => {}
                Ok(false) => *shared = None,
                Err(error) => {
                    *shared = None;
                    self.record_failure(file, Err(error));
                }
            }
            if !to_end {
                return;
            }
        }
    }

    /// Reads the next block of an input that is read in order, and returns whether there may be another.
    fn next_block(&mut self, file: u32, input: &mut SequentialInput) -> io::Result<bool> {
        let Some(block) = input.next()? else { return Ok(false) };
        (self.progress)(block.bytes);
        let settings = self.read_settings(file, &input.plan);
        let decoder = match &mut input.decoder {
            Some(decoder) => &mut **decoder,
            None => self.decoders.of(&input.plan),
        };
        self.chunk.read(&StretchSource::sequential(&block), &settings, self.caches, decoder);
        Ok(true)
    }

    /// Opens a small file and reads it whole.
    fn small(&mut self, small: &Small<'_>, buffer: &mut Window) -> io::Result<()> {
        let lines = buffer.read(&File::open(small.path)?, 0, small.length, u64::MAX)?;
        let text = lines.text;
        if reader::is_plain(text) {
            let plan = self.plan(small.file, &text[..text.len().min(DETECTION_BYTES)]);
            if plan.reads_in_parallel() {
                self.lines(small.file, text, small.length, &plan);
            } else {
                self.read_to_end(small.file, Box::new(Cursor::new(text.to_vec())), &plan)?;
            }
            return check_not_truncated(&lines, small.length);
        }
        let Bytes::Stream(stream) = reader::stream(Box::new(Cursor::new(text.to_vec())))? else { return Ok(()) };
        let (front, stream) = reader::front_of(stream, DETECTION_BYTES);
        let plan = self.plan(small.file, &front);
        if !plan.reads_in_parallel() {
            return self.read_to_end(small.file, stream, &plan);
        }
        let mut blocks = Blocks::new(stream, SMALL_BLOCK);
        while let Some(block) = blocks.next_block()? {
            self.lines(small.file, &block, block.len() as u64, &plan);
        }
        Ok(())
    }

    /// Detects and records how the input with this front is read.
    fn plan(&mut self, file: u32, front: &[u8]) -> Arc<ReadPlan> {
        let plan = Arc::new(ReadPlan::of(front, &self.options.settings()));
        self.chunk.plans.push((file, Arc::clone(&plan)));
        plan
    }

    /// Reads an input in order, to its end.
    fn read_to_end(&mut self, file: u32, input: Box<dyn Read + Send>, plan: &Arc<ReadPlan>) -> io::Result<()> {
        let mut input = SequentialInput::new(input, SMALL_BLOCK, plan, self.default_run(file), self.options.zone);
        while self.next_block(file, &mut input)? {}
        Ok(())
    }
}

/// Returns an error if fewer bytes were read than the `bytes` the file had when reading began.
fn check_not_truncated(lines: &Lines<'_>, bytes: u64) -> io::Result<()> {
    if lines.bytes < bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file was truncated while it was read"));
    }
    Ok(())
}
