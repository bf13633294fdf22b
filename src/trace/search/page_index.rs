//! Index of the pages of all inputs: line counts and times.

use super::hits::PageInfo;
use super::pages::At;
use crate::model::Time;
use std::collections::BTreeSet;

/// How far out of order a log may be and still be read in full around a given time, in µs. A record is written when its
/// attempt ends but carries the time it began; a minute covers nearly all attempts.
const DISORDER_US: i64 = 60_000_000;

/// Every page of every input.
#[derive(Debug, Default)]
pub(super) struct PageIndex {
    inputs: Vec<Vec<PageInfo>>,
    /// Number of lines before each page, by input.
    lines: Vec<Vec<u64>>,
}

impl PageIndex {
    pub(super) fn new(inputs: usize) -> PageIndex {
        PageIndex { inputs: vec![Vec::new(); inputs], lines: vec![Vec::new(); inputs] }
    }

    /// Adds the next page of its input.
    pub(super) fn take(&mut self, at: At, info: PageInfo) {
        let before = match (self.lines[at.input].last(), self.inputs[at.input].last()) {
            (Some(lines), Some(page)) => lines + u64::from(page.newlines),
            _ => 0,
        };
        self.lines[at.input].push(before);
        self.inputs[at.input].push(info);
    }

    /// Number of lines of the input before a page.
    pub(super) fn lines_before(&self, at: At) -> u32 {
        self.lines[at.input].get(at.page).map_or(0, |lines| u32::try_from(*lines).unwrap_or(u32::MAX))
    }

    /// Returns the page that contains a line of an input; `line` counts from 1.
    pub(super) fn page_of(&self, input: usize, line: u32) -> At {
        let before = |lines: &u64| *lines < u64::from(line);
        At { input, page: self.lines[input].partition_point(before).saturating_sub(1) }
    }

    /// Size of an input in bytes, after unpacking.
    pub(super) fn bytes(&self, input: usize) -> u64 {
        self.inputs[input].iter().map(|page| u64::from(page.bytes)).sum()
    }

    /// Latest time of any page.
    pub(super) fn end(&self) -> Option<Time> {
        self.inputs.iter().flatten().filter_map(|page| page.times).map(|(_, last)| Time(last)).max()
    }

    pub(super) fn pages(&self) -> impl Iterator<Item = At> + '_ {
        let of = |(input, infos): (usize, &Vec<PageInfo>)| (0..infos.len()).map(move |page| At { input, page });
        self.inputs.iter().enumerate().flat_map(of)
    }

    /// Whether a page was searched for the first `needed` followed calls; `None` never is.
    pub(super) fn was_searched(&self, at: At, needed: Option<usize>) -> bool {
        needed.is_some_and(|needed| usize::from(self.inputs[at.input][at.page].followed) >= needed)
    }

    /// Returns the most recent pages that fit into `bytes` (at least one), and their total size in bytes.
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

    /// Returns the pages that may contain attempts sent between two times, and their total size in bytes. A page
    /// without times is taken to lie between its neighbours.
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
