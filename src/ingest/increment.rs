//! Reads what was appended to a file since an earlier read, as a part of its own.

use super::accumulator::Merger;
use super::following::{Checkpoint, Following, Growth};
use super::in_order::read_part;
use super::limits::DETECTION_BYTES;
use super::open::{FINGERPRINTED_BYTES, ReadPlan, start_fingerprint};
use super::options::{Options, Progress};
use super::part::Part;
use super::piece::Piece;
use super::reader::{self, Blocks, Bytes};
use super::record::FINGERPRINT;
use super::source::Source;
use std::fs::File;
use std::hash::BuildHasher;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// Result of checking a file for new content.
#[derive(Debug)]
pub(crate) struct Increment {
    /// New content up to the end of the last whole line; `None` if there is none.
    pub(crate) part: Option<Part>,
    /// The incomplete line after it, which will be read again with the rest of the line.
    pub(crate) tail: Option<Part>,
    /// How far the file was read; `None` if it can only be read as a whole.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// Whether this is all of the file, so that the result of earlier reads must be dropped.
    pub(crate) replaces: bool,
}

/// Reads what follows `before` in a file, or the whole file if that is not possible.
pub(crate) fn read_on(
    path: &Path,
    before: Option<&Checkpoint>,
    options: &Options,
    progress: Progress<'_>,
) -> io::Result<Increment> {
    let source = Source::File(path.to_owned());
    let Some(mut following) = Following::new(std::slice::from_ref(&source), options)? else {
        return read_sequential(path, before, options, progress);
    };
    before.into_iter().for_each(|checkpoint| following.resume(checkpoint));
    let mut replaces = false;
    let mut growth = following.read_on(false, progress)?;
    if growth == Growth::Replaced {
        // The file was replaced, or is now detected as another format.
        replaces = before.is_some();
        let Some(restarted) = Following::new(std::slice::from_ref(&source), options)? else {
            return read_sequential(path, None, options, progress).map(|whole| Increment { replaces, ..whole });
        };
        following = restarted;
        growth = following.read_on(false, progress)?;
    }
    if growth == Growth::Replaced {
        return Err(io::Error::new(io::ErrorKind::Interrupted, "it was replaced while it was read"));
    }
    let checkpoint = following.checkpoint().or_else(|| before.filter(|_| !replaces).cloned());
    let part = (growth == Growth::Appended).then(|| following.into_part());
    let tail = read_tail(&source, checkpoint.as_ref(), options, progress)?;
    Ok(Increment { part, tail, checkpoint, replaces })
}

/// Reads the text after the last whole line.
fn read_tail(
    source: &Source,
    checkpoint: Option<&Checkpoint>,
    options: &Options,
    progress: Progress<'_>,
) -> io::Result<Option<Part>> {
    let Some(mut following) = Following::new(std::slice::from_ref(source), options)? else { return Ok(None) };
    checkpoint.into_iter().for_each(|checkpoint| following.resume(checkpoint));
    let growth = following.read_on(true, progress)?;
    Ok((growth == Growth::Appended).then(|| following.into_part()))
}

/// Like [`read_on`], for a file that can only be read from start to end.
fn read_sequential(
    path: &Path,
    before: Option<&Checkpoint>,
    options: &Options,
    progress: Progress<'_>,
) -> io::Result<Increment> {
    if let (Some(before), Bytes::Stream(stream)) = (before, reader::open(path)?) {
        let (front, stream) = reader::front_of(stream, DETECTION_BYTES);
        let plan = Arc::new(ReadPlan::of(&front, &options.settings()));
        if plan.reads_in_parallel() && plan.fingerprint() == before.how {
            return read_rest_of_stream(path, stream, &plan, before, options, progress);
        }
    }
    let part = read_part(&[Source::File(path.to_owned())], options, progress);
    Ok(Increment { part: Some(part), tail: None, checkpoint: None, replaces: before.is_some() })
}

/// Reads what follows `before` in a compressed file. Its last line is taken to be complete: a file is compressed once
/// nothing is written to it any more.
fn read_rest_of_stream(
    path: &Path,
    mut stream: Box<dyn Read + Send>,
    plan: &Arc<ReadPlan>,
    before: &Checkpoint,
    options: &Options,
    progress: Progress<'_>,
) -> io::Result<Increment> {
    let skipped = io::copy(&mut stream.by_ref().take(before.bytes), &mut io::sink())?;
    if skipped < before.bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than what was read of it before"));
    }
    let mut merger = Merger::new(1);
    merger.open(&Source::File(path.to_owned()));
    merger.accumulator.set_plan(0, plan);
    merger.accumulator.lines[0] = before.lines;
    let mut blocks = Blocks::new(stream, options.window.max(1) as usize);
    let mut bytes = before.bytes;
    while let Some(block) = blocks.next_block()? {
        bytes += block.len() as u64;
        let piece = Piece::Block(0, block, Arc::clone(plan));
        merger.accumulator.pending.push(piece.parse(&merger.context, options, progress));
        merger.accumulator.merge_pending();
    }
    let checkpoint = Checkpoint { bytes, lines: merger.accumulator.lines[0], how: before.how.clone() };
    let mut part = merger.accumulator.into_part();
    for input in &mut part.facts.inputs {
        input.start = (before.bytes, before.lines);
        input.read.1 -= before.lines;
    }
    let part = (bytes > before.bytes).then_some(part);
    Ok(Increment { part, tail: None, checkpoint: Some(checkpoint), replaces: false })
}

/// Returns the fingerprint of the first bytes of a file, after decompression, and their number: at most 4 KiB and at
/// most `most`.
pub(crate) fn start_fingerprint_of(path: &Path, most: u64) -> io::Result<(u64, u64)> {
    let most = most.min(FINGERPRINTED_BYTES as u64);
    let mut front = Vec::new();
    match reader::open(path)? {
        Bytes::Plain(_) => front = reader::front_of_file(path, most as usize)?,
        Bytes::Stream(stream) => {
            stream.take(most).read_to_end(&mut front)?;
        }
    }
    Ok((start_fingerprint(&front), front.len() as u64))
}

/// Returns the number of bytes of a file after decompression, at most `most`, and the fingerprint of the last 4 KiB of
/// those.
pub(crate) fn end_fingerprint_of(path: &Path, most: u64) -> io::Result<(u64, u64)> {
    let mut last = Vec::new();
    let end = match reader::open(path)? {
        Bytes::Plain(length) => {
            let end = length.min(most);
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(end.saturating_sub(FINGERPRINTED_BYTES as u64)))?;
            file.take(end.min(FINGERPRINTED_BYTES as u64)).read_to_end(&mut last)?;
            end
        }
        Bytes::Stream(stream) => {
            let mut stream = stream.take(most);
            let (mut block, mut end) = (vec![0; 1 << 16], 0);
            while let read @ 1.. = stream.read(&mut block)? {
                end += read as u64;
                last.extend_from_slice(&block[..read]);
                last.drain(..last.len().saturating_sub(FINGERPRINTED_BYTES));
            }
            end
        }
    };
    Ok((end, FINGERPRINT.hash_one(&last)))
}
