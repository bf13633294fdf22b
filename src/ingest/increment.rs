//! Reads what was appended to a file since an earlier read, as a part of its own.

use super::accumulator::Merger;
use super::following::{Following, Growth, Mark};
use super::in_order::read_part;
use super::limits::FRONT;
use super::open::{HEAD, Plan, head};
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
    /// The incomplete line after it, which will be read again.
    pub(crate) tail: Option<Part>,
    /// How far the file was read; `None` if it can only be read as a whole.
    pub(crate) mark: Option<Mark>,
    /// Whether this includes what was read before, which no longer counts.
    pub(crate) replaces: bool,
}

/// Reads what follows `before` in a file, or the whole file if that is not possible.
pub(crate) fn read_on(
    path: &Path,
    before: Option<&Mark>,
    options: &Options,
    progress: Progress<'_>,
) -> io::Result<Increment> {
    let source = Source::File(path.to_owned());
    let Some(mut following) = Following::new(std::slice::from_ref(&source), options)? else {
        return packed(path, before, options, progress);
    };
    before.into_iter().for_each(|mark| following.resume(mark));
    let mut replaces = false;
    let mut growth = following.read_on(false, progress)?;
    if growth == Growth::Replaced {
        // The file was replaced, or is now detected as another format.
        replaces = before.is_some();
        let Some(anew) = Following::new(std::slice::from_ref(&source), options)? else {
            return packed(path, None, options, progress).map(|packed| Increment { replaces, ..packed });
        };
        following = anew;
        growth = following.read_on(false, progress)?;
    }
    if growth == Growth::Replaced {
        return Err(io::Error::new(io::ErrorKind::Interrupted, "it was replaced while it was read"));
    }
    let mark = following.mark().or_else(|| before.filter(|_| !replaces).cloned());
    let part = (growth == Growth::Appended).then(|| following.into_part());
    let tail = tail(&source, mark.as_ref(), options, progress)?;
    Ok(Increment { part, tail, mark, replaces })
}

/// Reads the text after the last whole line.
fn tail(source: &Source, mark: Option<&Mark>, options: &Options, progress: Progress<'_>) -> io::Result<Option<Part>> {
    let Some(mut following) = Following::new(std::slice::from_ref(source), options)? else { return Ok(None) };
    mark.into_iter().for_each(|mark| following.resume(mark));
    let growth = following.read_on(true, progress)?;
    Ok((growth == Growth::Appended).then(|| following.into_part()))
}

/// Like [`read_on`], for a file that is compressed or read from start to end.
fn packed(path: &Path, before: Option<&Mark>, options: &Options, progress: Progress<'_>) -> io::Result<Increment> {
    if let (Some(before), Bytes::Stream(stream)) = (before, reader::open(path)?) {
        let (front, stream) = reader::front_of(stream, FRONT);
        let plan = Arc::new(Plan::of(&front, &options.settings()));
        if plan.reads_in_parallel() && plan.fingerprint() == before.how {
            return unpacked_rest(path, stream, &plan, before, options, progress);
        }
    }
    let part = read_part(&[Source::File(path.to_owned())], options, progress);
    Ok(Increment { part: Some(part), tail: None, mark: None, replaces: before.is_some() })
}

/// Reads what follows `before` in a compressed file. It has no tail: compressed files are not written to any more.
fn unpacked_rest(
    path: &Path,
    mut stream: Box<dyn Read + Send>,
    plan: &Arc<Plan>,
    before: &Mark,
    options: &Options,
    progress: Progress<'_>,
) -> io::Result<Increment> {
    let skipped = io::copy(&mut stream.by_ref().take(before.bytes), &mut io::sink())?;
    if skipped < before.bytes {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than what was read of it before"));
    }
    let mut merger = Merger::new(1);
    merger.open(&Source::File(path.to_owned()));
    merger.accumulator.read_by(0, plan);
    merger.accumulator.lines[0] = before.lines;
    let mut blocks = Blocks::new(stream, options.window.max(1) as usize);
    let mut bytes = before.bytes;
    while let Some(block) = blocks.next_block()? {
        bytes += block.len() as u64;
        let piece = Piece::Block(0, block, Arc::clone(plan));
        merger.accumulator.pending.push(piece.parse(&merger.streams, options, progress));
        merger.accumulator.settle();
    }
    let mark = Mark { bytes, lines: merger.accumulator.lines[0], how: before.how.clone() };
    let mut part = merger.accumulator.into_part();
    for input in &mut part.facts.inputs {
        input.start = (before.bytes, before.lines);
        input.read.1 -= before.lines;
    }
    let part = (bytes > before.bytes).then_some(part);
    Ok(Increment { part, tail: None, mark: Some(mark), replaces: false })
}

/// Returns the fingerprint of the first bytes of a file, after decompression, and their number: at most 4 KiB and at
/// most `most`.
pub(crate) fn head_of(path: &Path, most: u64) -> io::Result<(u64, u64)> {
    let most = most.min(HEAD as u64);
    let mut front = Vec::new();
    match reader::open(path)? {
        Bytes::Plain(_) => front = reader::front_of_file(path, most as usize)?,
        Bytes::Stream(stream) => {
            stream.take(most).read_to_end(&mut front)?;
        }
    }
    Ok((head(&front), front.len() as u64))
}

/// Returns the number of bytes of a file after decompression, at most `most`, and the fingerprint of the last 4 KiB of
/// those.
pub(crate) fn tail_of(path: &Path, most: u64) -> io::Result<(u64, u64)> {
    let mut last = Vec::new();
    let end = match reader::open(path)? {
        Bytes::Plain(length) => {
            let end = length.min(most);
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start(end.saturating_sub(HEAD as u64)))?;
            file.take(end.min(HEAD as u64)).read_to_end(&mut last)?;
            end
        }
        Bytes::Stream(stream) => {
            let mut stream = stream.take(most);
            let (mut block, mut end) = (vec![0; 1 << 16], 0);
            while let read @ 1.. = stream.read(&mut block)? {
                end += read as u64;
                last.extend_from_slice(&block[..read]);
                last.drain(..last.len().saturating_sub(HEAD));
            }
            end
        }
    };
    Ok((end, FINGERPRINT.hash_one(&last)))
}
