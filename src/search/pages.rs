//! Passes over the bytes of all inputs, page by page, on every core; what the pages gave is taken in order.

use super::inputs::Opened;
use crate::ingest::IngestError;
use crate::ingest::reader::{self, Blocks, Bytes};
use rayon::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;

/// Bytes of a page, the unit of work: small enough to stay in a core's own cache between the copy out of the
/// system's and the search, large enough that opening and aligning cost nothing (half a usual L2 of 1 MiB).
pub(super) const PAGE: u64 = 512 << 10;
/// Pages between two hand-overs, whatever the threads: what one gave may change what the next is searched for.
const BATCH: usize = 32;

/// Where a page stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// The input, by its place among the inputs.
    pub(super) input: usize,
    /// The page, from 0.
    pub(super) page: usize,
}

/// Which pages a pass is for.
#[derive(Debug)]
pub(super) enum Wanted {
    All,
    These(BTreeSet<At>),
}

impl Wanted {
    fn has(&self, at: At) -> bool {
        match self {
            Wanted::All => true,
            Wanted::These(pages) => pages.contains(&at),
        }
    }

    /// Whether anything is wanted at `at` or behind it in the same input.
    fn goes_on(&self, at: At) -> bool {
        match self {
            Wanted::All => true,
            Wanted::These(pages) => pages.range(at..).next().is_some_and(|next| next.input == at.input),
        }
    }
}

/// Hears how many bytes were read since the last call.
pub(super) type Progress<'p> = &'p (dyn Fn(u64) + Sync);

/// Hands the whole lines of every page `wanted` to `work`, in parallel, and what that gives to
/// `take`, in order. Says how many bytes were handed out.
pub(super) fn pass<T: Send>(
    inputs: &[Opened],
    wanted: &Wanted,
    work: &(dyn Fn(At, &[u8]) -> T + Sync),
    take: &mut dyn FnMut(At, T),
    progress: Progress<'_>,
) -> Result<u64, IngestError> {
    let mut handed = 0;
    let mut plain = Vec::new();
    for (input, opened) in inputs.iter().enumerate() {
        match opened.length {
            Some(length) => {
                let pages =
                    (0..usize::try_from(length.div_ceil(PAGE)).unwrap_or(usize::MAX)).map(|page| At { input, page });
                for at in pages.filter(|at| wanted.has(*at)) {
                    plain.push(at);
                    if plain.len() == BATCH {
                        handed += side_by_side(inputs, &mut plain, work, take, progress)?;
                    }
                }
            }
            None => {
                handed += side_by_side(inputs, &mut plain, work, take, progress)?;
                handed += front_to_back(opened, input, wanted, work, take, progress)
                    .map_err(|source| IngestError::Io { name: opened.name.clone(), source })?;
            }
        }
    }
    Ok(handed + side_by_side(inputs, &mut plain, work, take, progress)?)
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The file a worker reads pages of, by the place of its input: pages of one file come one after the other.
type Current = Option<(usize, File)>;

fn side_by_side<T: Send>(
    inputs: &[Opened],
    pages: &mut Vec<At>,
    work: &(dyn Fn(At, &[u8]) -> T + Sync),
    take: &mut dyn FnMut(At, T),
    progress: Progress<'_>,
) -> Result<u64, IngestError> {
    let one = |current: &mut Current, at: &At| {
        let opened = &inputs[at.input];
        let named = |source| IngestError::Io { name: opened.name.clone(), source };
        let start = at.page as u64 * PAGE;
        let end = (start + PAGE).min(opened.length.unwrap_or(u64::MAX));
        BUFFER.with_borrow_mut(|buffer| {
            let file = file_of(current, at.input, opened).map_err(named)?;
            let lines = reader::window_of(file, start, end, buffer).map_err(named)?;
            progress(end - start);
            Ok((lines.len() as u64, work(*at, &buffer[lines])))
        })
    };
    let done: Vec<(u64, T)> = pages.par_iter().map_init(|| None, one).collect::<Result<_, IngestError>>()?;
    let mut bytes = 0;
    for (at, (size, done)) in pages.drain(..).zip(done) {
        bytes += size;
        take(at, done);
    }
    Ok(bytes)
}

fn file_of<'c>(current: &'c mut Current, input: usize, opened: &Opened) -> io::Result<&'c mut File> {
    let file = match current.take() {
        Some((known, file)) if known == input => file,
        _ => File::open(opened.path())?,
    };
    Ok(&mut current.insert((input, file)).1)
}

/// A packed input is unpacked from its front, as far as the last page wanted.
fn front_to_back<T: Send>(
    opened: &Opened,
    input: usize,
    wanted: &Wanted,
    work: &(dyn Fn(At, &[u8]) -> T + Sync),
    take: &mut dyn FnMut(At, T),
    progress: Progress<'_>,
) -> io::Result<u64> {
    let Bytes::Stream(stream) = opened.bytes()? else { return Ok(0) };
    let mut blocks = Blocks::new(stream, PAGE as usize);
    let (mut page, mut bytes) = (0, 0);
    loop {
        let mut batch = Vec::new();
        let mut is_over = false;
        while batch.len() < BATCH {
            let at = At { input, page };
            let block = if wanted.goes_on(at) { blocks.next_block()? } else { None };
            let Some(block) = block else {
                is_over = true;
                break;
            };
            progress(block.len() as u64);
            page += 1;
            if wanted.has(at) {
                bytes += block.len() as u64;
                batch.push((at, block));
            }
        }
        let done: Vec<(At, T)> = batch.par_iter().map(|(at, block)| (*at, work(*at, block))).collect();
        done.into_iter().for_each(|(at, done)| take(at, done));
        if is_over {
            return Ok(bytes);
        }
    }
}
