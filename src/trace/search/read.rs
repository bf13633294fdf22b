//! Parses lines into rows: those with hits, and those sent within a time window.

use super::hits::{HitLine, Hits};
use super::inputs::Opened;
use super::pages::{At, Progress, Wanted, pass};
use super::{Found, Query};
use crate::ingest::windows as lines;
use crate::ingest::{Filter, LineReader};
use crate::model::{AttemptTable, Time};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Parsed rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) table: AttemptTable,
    /// Rows whose line contains a text, by index of the text.
    pub(super) rows: BTreeMap<usize, Vec<u32>>,
    /// Bytes of the lines that were parsed.
    pub(super) bytes: u64,
}

/// Parses the lines of one page.
struct PageParser<'a> {
    query: &'a Query,
    opened: &'a [Opened],
    /// Filter for lines without a hit; `None` skips them all.
    window: Option<&'a Filter>,
}

impl Found {
    /// Parses all lines of `hits`, and the lines of `pages` sent within `window`.
    pub(super) fn read(
        &self,
        hits: &Hits,
        pages: &BTreeSet<At>,
        query: &Query,
        window: Option<(Time, Time)>,
        progress: Progress<'_>,
    ) -> Rows {
        let window = window.map(within);
        let parser = PageParser { query, opened: &self.opened, window: window.as_ref() };
        let unkept = |lines: &[HitLine]| lines.iter().any(|line| line.text.is_none());
        let again = hits.pages.iter().filter(|(_, lines)| unkept(lines)).map(|(at, _)| *at);
        let wanted: BTreeSet<At> = pages.iter().copied().chain(again).collect();
        let mut parts: BTreeMap<At, Rows> = BTreeMap::new();
        let known: Vec<(&At, &Vec<HitLine>)> = hits.pages.iter().filter(|(at, _)| !wanted.contains(at)).collect();
        let read = |(at, lines): &(&At, &Vec<HitLine>)| {
            let texts = lines.iter().filter_map(|hit| Some((hit.text.as_deref()?, hit.line)));
            (**at, parser.lines(**at, self.index.lines_before(**at), texts, lines))
        };
        parts.extend(known.par_iter().map(read).collect::<Vec<_>>());
        let none = Vec::new();
        pass(
            &self.opened,
            &Wanted::These(wanted),
            &|at, bytes| {
                let lines = lines::each(bytes).zip(1u32..);
                parser.lines(at, self.index.lines_before(at), lines, hits.pages.get(&at).unwrap_or(&none))
            },
            &mut |at, rows| {
                parts.insert(at, rows);
            },
            progress,
        );
        let mut whole = Rows::default();
        whole.table.files = self.opened.iter().map(|opened| opened.name.clone()).collect();
        for (file, opened) in (0..).zip(&self.opened) {
            opened.lines.iter().for_each(|lines| whole.table.number_records(file, Arc::clone(lines)));
            whole.table.note_format(file, opened.format);
        }
        parts.into_values().for_each(|part| whole.absorb(part));
        whole.table.find_all_views();
        whole
    }
}

impl PageParser<'_> {
    /// Parses `lines`, numbered within their page: all with hits, and those of the others that are within the window.
    fn lines<'l>(&self, at: At, before: u32, lines: impl Iterator<Item = (&'l [u8], u32)>, hits: &[HitLine]) -> Rows {
        let file = u32::try_from(at.input).unwrap_or(u32::MAX);
        let (opened, settings) = (&self.opened[at.input], self.query.settings());
        let mut line_reader = LineReader::new(file, &opened.stream, &settings, Filter::EVERYTHING, opened.plan());
        let mut hits = hits.iter().peekable();
        let mut part = Rows::default();
        for (line, number) in lines {
            let hit = hits.next_if(|hit| hit.line == number);
            if line.is_empty() || (hit.is_none() && self.window.is_none()) {
                continue;
            }
            part.bytes += line.len() as u64 + 1;
            let first = line_reader.rows();
            let filter = if hit.is_some() { None } else { self.window };
            let taken = line_reader.read_line(line, before.saturating_add(number), filter, hit.is_some());
            let needles: BTreeSet<usize> = hit.iter().flat_map(|hit| &hit.marks).map(|mark| mark.needle).collect();
            for needle in needles {
                part.rows.entry(needle).or_default().extend((first..first + taken).map(|row| row as u32));
            }
        }
        part.table = line_reader.finish();
        part
    }
}

impl Rows {
    fn absorb(&mut self, part: Rows) {
        let base = self.table.rows.len() as u32;
        for (needle, rows) in part.rows {
            self.rows.entry(needle).or_default().extend(rows.into_iter().map(|row| row + base));
        }
        self.bytes += part.bytes;
        self.table.absorb(part.table);
    }
}

/// Filter for attempts sent from `from` to `until`, both inclusive.
fn within((from, until): (Time, Time)) -> Filter {
    // A filter excludes its end.
    Filter { since: Some(from), until: Some(until.plus_us(1)), ..Filter::default() }
}
