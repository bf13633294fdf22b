//! The pages of all inputs: how many lines each has, and of which time.

use super::hits::PageInfo;
use super::pages::At;
use crate::model::Time;
use std::collections::BTreeSet;

/// How far a log may be out of order and still be read in full around a moment, µs: a record is written when
/// its attempt ends, and names the time it began; a minute covers nearly all of them.
const DISORDER_US: i64 = 60_000_000;

/// Every page of every input.
#[derive(Debug, Default)]
pub(super) struct PageIndex {
    inputs: Vec<Vec<PageInfo>>,
    /// Lines before each page.
    lines: Vec<Vec<u64>>,
}

impl PageIndex {
    pub(super) fn new(inputs: usize) -> PageIndex {
        PageIndex { inputs: vec![Vec::new(); inputs], lines: vec![Vec::new(); inputs] }
    }

    /// Takes in the next page of its input.
    pub(super) fn take(&mut self, at: At, info: PageInfo) {
        let before = match (self.lines[at.input].last(), self.inputs[at.input].last()) {
            (Some(lines), Some(page)) => lines + u64::from(page.newlines),
            _ => 0,
        };
        self.lines[at.input].push(before);
        self.inputs[at.input].push(info);
    }

    /// Lines of the input before a page.
    pub(super) fn lines_before(&self, at: At) -> u32 {
        self.lines[at.input].get(at.page).map_or(0, |lines| u32::try_from(*lines).unwrap_or(u32::MAX))
    }

    /// The page that holds a line of an input, by its number from 1.
    pub(super) fn page_of(&self, input: usize, line: u32) -> At {
        let before = |lines: &u64| *lines < u64::from(line);
        At { input, page: self.lines[input].partition_point(before).saturating_sub(1) }
    }

    /// Bytes of an input, after unpacking.
    pub(super) fn bytes(&self, input: usize) -> u64 {
        self.inputs[input].iter().map(|page| u64::from(page.bytes)).sum()
    }

    /// The latest time that was met.
    pub(super) fn end(&self) -> Option<Time> {
        self.inputs.iter().flatten().filter_map(|page| page.times).map(|(_, last)| Time(last)).max()
    }

    /// All pages.
    pub(super) fn pages(&self) -> impl Iterator<Item = At> + '_ {
        let of = |(input, infos): (usize, &Vec<PageInfo>)| (0..infos.len()).map(move |page| At { input, page });
        self.inputs.iter().enumerate().flat_map(of)
    }

    /// Whether a page was searched for the first `needed` of the calls followed.
    pub(super) fn was_searched(&self, at: At, needed: Option<usize>) -> bool {
        needed.is_some_and(|needed| usize::from(self.inputs[at.input][at.page].followed) >= needed)
    }

    /// The pages written last, as many as fit into `bytes`, and their bytes.
    pub(super) fn latest(&self, bytes: u64) -> (BTreeSet<At>, u64) {
        let info = |at: At| self.inputs[at.input][at.page];
        let mut pages: Vec<At> = self.pages().collect();
        pages.sort_by_key(|at| std::cmp::Reverse((info(*at).times.map(|(_, last)| last), *at)));
        let (mut chosen, mut sum) = (BTreeSet::new(), 0);
        for at in pages {
            let size = u64::from(info(at).bytes);
            if sum + size > bytes && !chosen.is_empty() {
                break;
            }
            sum += size;
            chosen.insert(at);
        }
        (chosen, sum)
    }

    /// Pages that may hold attempts sent between two moments, and their bytes. A page without a time of its
    /// own lies between its neighbours.
    pub(super) fn around(&self, from: Time, until: Time) -> (BTreeSet<At>, u64) {
        let (from, until) = (from.0.saturating_sub(DISORDER_US), until.0.saturating_add(DISORDER_US));
        let mut pages = BTreeSet::new();
        let mut bytes = 0;
        for (input, infos) in self.inputs.iter().enumerate() {
            let mut before = i64::MIN;
            for (page, info) in infos.iter().enumerate() {
                let next = || infos[page..].iter().find_map(|info| info.times).map_or(i64::MAX, |(first, _)| first);
                let (first, last) = info.times.unwrap_or_else(|| (before.min(next()), before.max(next())));
                before = info.times.map_or(before, |(_, last)| last);
                if first <= until && last >= from {
                    pages.insert(At { input, page });
                    bytes += u64::from(info.bytes);
                }
            }
        }
        (pages, bytes)
    }
}
