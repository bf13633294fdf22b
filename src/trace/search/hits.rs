//! Lines that hold what is looked for, page by page, and what else a pass learns of a page.

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

/// Bytes of lines with hits that are kept in memory; the pages of further ones are read again.
const KEPT: usize = 32 << 20;
/// Longest line of them, in bytes.
const KEPT_LINE: usize = 8 << 20;
/// Lines tried at either end of a page for one that has a time.
const TRIES: usize = 8;
/// Longest line whose time is asked for, in bytes: a long one is no loss, there are others.
const TRIED: usize = 64 << 10;

/// How well a line fits an id asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// It stands somewhere in it.
    Mentioned,
    /// It begins an id.
    Begun,
    /// It is a whole value.
    Whole,
}

/// One way in which a line fits a text looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Number of the text.
    pub(super) needle: usize,
    pub(super) fit: Fit,
    /// What the value names, where its key tells.
    pub(super) field: Option<IdField>,
    /// Fingerprint of the value.
    pub(super) value: u64,
}

/// A line with a hit.
#[derive(Clone, Debug)]
pub(super) struct HitLine {
    /// Number within its page, from 1.
    pub(super) line: u32,
    pub(super) marks: SmallVec<[Mark; 2]>,
    /// Its text, unless it is long or too many were found.
    pub(super) text: Option<Box<[u8]>>,
}

/// What a pass learns of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageInfo {
    pub(super) newlines: u32,
    pub(super) bytes: u32,
    /// Times of the first and of the last line that tell one, the earlier first.
    pub(super) times: Option<(i64, i64)>,
    /// How many of the calls followed it was searched for, counted from the first.
    pub(super) followed: u8,
}

/// Ids that begin with a text: the first ones in the order of their letters, so that the choice does not
/// depend on who found what first.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    /// What each names, and on how many lines it stands.
    pub(super) ids: BTreeMap<String, (IdField, u64)>,
    /// There are more than these.
    pub(super) more: bool,
}

impl Candidates {
    /// Candidates kept.
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

/// Fingerprint of a value, to compare without keeping it.
pub(super) fn fingerprint(value: &str) -> u64 {
    FixedState::with_seed(0).hash_one(value)
}

/// Counts the lines of a page and asks its ends for their times.
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

/// The lines of a page that hold one of `texts`, which are what `needles` looks for, and the ids they begin.
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

/// How the line that begins at `start` fits the text that stands in it.
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

/// All hits so far, in the order of the pages.
#[derive(Debug, Default)]
pub(super) struct Hits {
    pub(super) pages: BTreeMap<At, Vec<HitLine>>,
    kept: usize,
}

impl Hits {
    /// Takes in the hits of a page; pages come in order.
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

    /// Takes in the lines of `others` that stand on one of `pages` and that `wants` wants.
    pub(super) fn adopt(&mut self, others: &Hits, pages: &BTreeSet<At>, wants: impl Fn(&HitLine) -> bool) {
        for (at, lines) in others.pages.iter().filter(|(at, _)| pages.contains(at)) {
            self.take(*at, lines.iter().filter(|line| wants(line)).cloned().collect());
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (At, &HitLine)> {
        self.pages.iter().flat_map(|(at, lines)| lines.iter().map(|line| (*at, line)))
    }

    /// Forgets lines, and pages without any.
    pub(super) fn retain(&mut self, keep: impl Fn(&HitLine) -> bool) {
        self.pages.retain(|_, lines| {
            lines.retain(&keep);
            !lines.is_empty()
        });
    }
}
