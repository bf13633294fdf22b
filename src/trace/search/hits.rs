//! Lines that contain a text searched for, page by page, and the index data a pass collects of each page.

use super::needles::{Needles, Stand};
use super::pages::At;
use super::token;
use crate::ingest::windows as lines;
use crate::ingest::{Dialect, IdField, Mapping, time_of};
use crate::model::{Time, Zone};
use foldhash::fast::FixedState;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;

/// Bytes of hit lines kept in memory; pages with further hits are read again.
const KEPT: usize = 32 << 20;
/// Longest hit line kept, in bytes.
const KEPT_LINE: usize = 8 << 20;
/// Lines tried at either end of a page to find a timestamp.
const TRIES: usize = 8;
/// Longest line parsed for a timestamp, in bytes; others nearby serve as well.
const TRIED: usize = 64 << 10;

/// How well a line matches an id asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// The text occurs somewhere in the line.
    Mentioned,
    /// An id in the line begins with the text.
    Begun,
    /// The text is an id in full.
    Whole,
}

/// One match of a text in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Index of the text.
    pub(super) needle: usize,
    pub(super) fit: Fit,
    /// What the value names, if its key is that of an id.
    pub(super) field: Option<IdField>,
    /// Fingerprint of the value that contains the match.
    pub(super) value: u64,
}

/// A line with at least one match.
#[derive(Clone, Debug)]
pub(super) struct HitLine {
    /// Line number within its page, from 1.
    pub(super) line: u32,
    pub(super) marks: SmallVec<[Mark; 2]>,
    /// Text of the line; `None` if the line is too long or too many were found.
    pub(super) text: Option<Box<[u8]>>,
}

/// Index data of one page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageInfo {
    pub(super) newlines: u32,
    pub(super) bytes: u32,
    /// Earliest and latest of two times: those of the first and the last line with a timestamp.
    pub(super) times: Option<(i64, i64)>,
    /// Number of followed calls, counted from the first, that it was searched for.
    pub(super) followed: u8,
}

/// Ids that begin with a text. If there are too many, the first in lexical order are kept, so that the result does not
/// depend on the order in which threads find them.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    /// For each id, what it names and the number of lines it occurs on.
    pub(super) ids: BTreeMap<String, (IdField, u64)>,
    /// Whether any were dropped.
    pub(super) more: bool,
}

impl Candidates {
    /// Maximum number of candidates kept.
    const MOST: usize = 64;

    fn add(&mut self, value: &str, field: IdField, lines: u64) {
        match self.ids.get_mut(value) {
            Some((known, sum)) => {
                *known = field.min(*known);
                *sum += lines;
            }
            None => {
                self.ids.insert(value.to_owned(), (field, lines));
                while self.ids.len() > Self::MOST {
                    self.ids.pop_last();
                    self.more = true;
                }
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Candidates) {
        other.ids.iter().for_each(|(value, (field, lines))| self.add(value, *field, *lines));
        self.more |= other.more;
    }
}

/// Hash of a value, to compare it without storing it.
pub(super) fn fingerprint(value: &str) -> u64 {
    FixedState::with_seed(0).hash_one(value)
}

/// Counts the lines of a page and reads the times at its ends.
pub(super) fn index(bytes: &[u8], zone: Zone, dialect: &Dialect, followed: usize) -> PageInfo {
    let time = |line: &[u8]| {
        let line = line.trim_ascii();
        (!line.is_empty() && line.len() <= TRIED).then(|| time_of(std::str::from_utf8(line).ok()?, zone, dialect))?
    };
    let first: Option<Time> = lines::each(bytes).take(TRIES).find_map(time);
    let last: Option<Time> = lines::each_from_back(bytes).take(TRIES + 1).find_map(time);
    PageInfo {
        newlines: u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u32::MAX),
        bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        times: first.zip(last).map(|(first, last)| (first.min(last).0, first.max(last).0)),
        followed: u8::try_from(followed).unwrap_or(u8::MAX),
    }
}

/// Finds the lines of a page that contain one of `texts`, which `needles` searches for, and the ids that begin with
/// each.
pub(super) fn find(
    bytes: &[u8],
    needles: &Needles,
    texts: &[String],
    own: &Mapping,
) -> (Vec<HitLine>, Vec<Candidates>) {
    let mut hits = Vec::new();
    let mut begun = vec![Candidates::default(); texts.len()];
    let (mut counted, mut line) = (0, 1);
    let stands = needles.stands(bytes);
    let mut stands = stands.as_slice();
    while let Some(first) = stands.first() {
        let start = memchr::memrchr(b'\n', &bytes[counted..first.start]).map_or(counted, |it| counted + it + 1);
        let end = memchr::memchr(b'\n', &bytes[first.start..]).map_or(bytes.len(), |it| first.start + it);
        line += memchr::memchr_iter(b'\n', &bytes[counted..start]).count() as u32;
        counted = start;
        let inside = stands.partition_point(|stand| stand.start < end);
        let text = &bytes[start..end];
        let marks = stands[..inside].iter().map(|stand| mark(text, start, stand, texts, own, &mut begun));
        hits.push(HitLine { line, marks: marks.collect(), text: (text.len() <= KEPT_LINE).then(|| text.into()) });
        stands = &stands[inside..];
    }
    (hits, begun)
}

/// Describes the match `stand` in the line that begins at offset `start` of the page.
fn mark(line: &[u8], start: usize, stand: &Stand, texts: &[String], own: &Mapping, begun: &mut [Candidates]) -> Mark {
    let needle = stand.needle;
    let token = token::around(line, stand.start - start, stand.end - start, own);
    let asked = texts[needle].as_str();
    let fit = match token.field {
        Some(_) if token.value == asked => Fit::Whole,
        Some(field) if token.value.starts_with(asked) => {
            begun[needle].add(&token.value, field, 1);
            Fit::Begun
        }
        _ => Fit::Mentioned,
    };
    Mark { needle, fit, field: token.field, value: fingerprint(&token.value) }
}

/// All hits, in page order.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) pages: BTreeMap<At, Vec<HitLine>>,
    kept: usize,
}

impl Hits {
    /// Adds the hits of a page.
    pub(super) fn take(&mut self, at: At, mut lines: Vec<HitLine>) {
        if lines.is_empty() {
            return;
        }
        let size: usize = lines.iter().filter_map(|hit| hit.text.as_ref()).map(|text| text.len()).sum();
        if self.kept + size > KEPT {
            lines.iter_mut().for_each(|hit| hit.text = None);
        } else {
            self.kept += size;
        }
        let page = self.pages.entry(at).or_default();
        page.append(&mut lines);
        page.sort_by_key(|hit| hit.line);
        page.dedup_by(|later, earlier| {
            let same = later.line == earlier.line;
            if same {
                earlier.marks.append(&mut later.marks);
                earlier.text = earlier.text.take().or(later.text.take());
            }
            same
        });
    }

    /// Adds the lines of `others` that are on one of `pages` and fulfil `wants`.
    pub(super) fn adopt(&mut self, others: &Hits, pages: &BTreeSet<At>, wants: impl Fn(&HitLine) -> bool) {
        for (at, lines) in others.pages.iter().filter(|(at, _)| pages.contains(at)) {
            self.take(*at, lines.iter().filter(|line| wants(line)).cloned().collect());
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (At, &HitLine)> {
        self.pages.iter().flat_map(|(at, lines)| lines.iter().map(|line| (*at, line)))
    }

    /// Removes lines, and pages left without any.
    pub(super) fn retain(&mut self, keep: impl Fn(&HitLine) -> bool) {
        self.pages.retain(|_, lines| {
            lines.retain(&keep);
            !lines.is_empty()
        });
    }
}
