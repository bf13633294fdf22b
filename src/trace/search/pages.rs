//! Passes over the bytes of all inputs, page by page and on all cores, with results consumed in order.

use super::inputs::Opened;
use super::ordered_results::OrderedResults;
use crate::ingest::reader::{Blocks, Bytes};
use crate::ingest::windows::Window;
use rayon::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Size of a page, the unit of work, in bytes: small enough to stay in a core's own cache between copying and searching
/// (half a typical L2 of 1 MiB), large enough to make the cost of opening and aligning negligible.
pub(super) const PAGE: u64 = 512 << 10;
/// Number of blocks of a packed input unpacked before they are processed together.
const BATCH: usize = 32;

/// Position of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// Index of the input.
    pub(super) input: usize,
    /// Index of the page within the input.
    pub(super) page: usize,
}

/// The pages a pass covers.
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

    /// Whether `at` or any later page of the same input is wanted.
    fn goes_on(&self, at: At) -> bool {
        match self {
            Wanted::All => true,
            Wanted::These(pages) => pages.range(at..).next().is_some_and(|next| next.input == at.input),
        }
    }
}

/// Called with the number of bytes read since the last call.
pub(super) type Progress<'p> = &'p (dyn Fn(u64) + Sync);

/// Called with the result of each page, in page order.
pub(super) type Take<'t, T> = &'t mut (dyn FnMut(At, T) + Send);

/// Calls `work` in parallel with the whole lines of every page in `wanted`, and `take` with the results in order.
/// Returns the number of bytes passed to `work`. A page that cannot be read is treated as empty, and the failure is
/// recorded on its input.
pub(super) fn pass<T: Send>(
    inputs: &[Opened],
    wanted: &Wanted,
    work: &(dyn Fn(At, &[u8]) -> T + Sync),
    take: Take<'_, T>,
    progress: Progress<'_>,
) -> u64 {
    let mut handed = 0;
    let mut plain = Vec::new();
    for (input, opened) in inputs.iter().enumerate() {
        match opened.length {
            Some(length) => {
                let pages = 0..usize::try_from(length.div_ceil(PAGE)).unwrap_or(usize::MAX);
                plain.extend(pages.map(|page| At { input, page }).filter(|at| wanted.has(*at)));
            }
            None => {
                handed += read_in_parallel(inputs, &std::mem::take(&mut plain), work, take, progress);
                handed += front_to_back(opened, input, wanted, work, take, progress);
            }
        }
    }
    handed + read_in_parallel(inputs, &plain, work, take, progress)
}

thread_local! {
    static WINDOW: RefCell<Window> = RefCell::default();
}

/// Processes pages of plain files. Each worker takes the next page as soon as it is done, so none waits for the slowest
/// of a batch.
fn read_in_parallel<T: Send>(
    inputs: &[Opened],
    pages: &[At],
    work: &(dyn Fn(At, &[u8]) -> T + Sync),
    take: Take<'_, T>,
    progress: Progress<'_>,
) -> u64 {
    let files = Files::default();
    let one = |at: At| {
        let opened = &inputs[at.input];
        let start = at.page as u64 * PAGE;
        let length = opened.length.unwrap_or(u64::MAX);
        let end = (start + PAGE).min(length);
        WINDOW.with_borrow_mut(|window| {
            let read = files.of(at.input, opened).and_then(|file| window.read(&file, start, end, length));
            let lines = read.map_or_else(
                |error| {
                    opened.fail(error);
                    &[][..]
                },
                |lines| lines.text,
            );
            progress(end - start);
            (lines.len() as u64, work(at, lines))
        })
    };
    let mut handed = 0;
    let mut take = |nth: usize, (bytes, done): (u64, T)| {
        handed += bytes;
        take(pages[nth], done);
    };
    let (next, results) = (AtomicUsize::new(0), OrderedResults::new(&mut take));
    let work_on = || {
        let worker = results.worker();
        while let nth = next.fetch_add(1, Ordering::Relaxed)
            && let Some(at) = pages.get(nth)
            && worker.give(nth, one(*at))
        {}
    };
    match pages {
        [] | [_] => work_on(),
        _ => drop(rayon::broadcast(|_| work_on())),
    }
    drop(results);
    handed
}

/// The file being read, with the index of its input; opened once for all workers.
#[derive(Default)]
struct Files(Mutex<Option<(usize, Arc<File>)>>);

impl Files {
    fn of(&self, input: usize, opened: &Opened) -> io::Result<Arc<File>> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, file)) = &*current
            && *known == input
        {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(File::open(opened.path())?);
        *current = Some((input, Arc::clone(&file)));
        Ok(file)
    }
}

/// Processes a packed input, unpacked from its front up to the last page wanted.
fn front_to_back<T: Send>(
    opened: &Opened,
    input: usize,
    wanted: &Wanted,
    work: &(dyn Fn(At, &[u8]) -> T + Sync),
    take: Take<'_, T>,
    progress: Progress<'_>,
) -> u64 {
    let stream = match opened.bytes() {
        Ok(Bytes::Stream(stream)) => stream,
        Ok(Bytes::Plain(_)) => return 0,
        Err(error) => {
            opened.fail(error);
            return 0;
        }
    };
    let mut blocks = Blocks::new(stream, PAGE as usize);
    let (mut page, mut bytes) = (0, 0);
    loop {
        let mut batch = Vec::new();
        let mut is_over = false;
        while batch.len() < BATCH {
            let at = At { input, page };
            let block = if wanted.goes_on(at) { blocks.next_block() } else { Ok(None) };
            let block = block.unwrap_or_else(|error| {
                opened.fail(error);
                None
            });
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
            return bytes;
        }
    }
}
