//! Finds rows that describe the same attempt: in a client's and a gateway's log, or in a log and its traces.
//!
//! Two rows are views of one attempt if two kinds of log have the same request id, or the same trace or idempotency key
//! at the same time, and the match is unambiguous. All other rows stay separate; those that share an id are counted.

mod clusters;
mod complete;
mod key;

use super::{Attempt, AttemptTable, Flags, Symbol, Time, Views};
use clusters::clusters;
use key::{Key, Stretch};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Largest difference allowed between the clocks of two machines, in µs: more than NTP leaves.
const CLOCKS_US: i64 = 2_000_000;
/// Maximum number of attempts with one key within [`Views::REACH_US`] of each other; with more, a match would be
/// ambiguous.
const MOST_NEAR: usize = 64;

/// Kind of log: its format, and the layer that wrote it.
type Kind = (&'static str, Symbol);

/// Result of one search: links from a view to its attempt, and rows whose match is ambiguous.
#[derive(Default)]
struct Found {
    links: BTreeMap<u32, u32>,
    unclear: BTreeSet<u32>,
}

impl AttemptTable {
    /// Returns the row that `row` is a view of, if any.
    #[must_use]
    pub fn view_of(&self, row: u32) -> Option<u32> {
        self.views.links.get(&row).copied()
    }

    /// Returns the number of attempts that share an id with one of another log but are not known to be the same.
    #[must_use]
    pub fn unclear_views(&self) -> u64 {
        self.views.unclear
    }

    /// Returns whether the table has logs of more than one kind.
    pub(crate) fn may_have_views(&self) -> bool {
        let mut formats = self.formats.iter().filter(|format| !format.is_empty());
        let first = formats.next();
        let mut layers = self.all_origins().iter().map(|origin| origin.layer);
        let layer = layers.next();
        formats.any(|format| Some(format) != first) || layers.any(|other| Some(other) != layer)
    }

    /// Searches all rows for views, discarding earlier results.
    pub(crate) fn find_all_views(&mut self) {
        self.views = Views::default();
        self.find_views(Time(i64::MAX));
    }

    /// Searches the rows sent before `until` for views, and fills in what an attempt lacks from its views. The table
    /// must already have the rows sent up to [`Views::KNOWN_US`] after `until`, unless there are none.
    pub(crate) fn find_views(&mut self, until: Time) {
        if !self.may_have_views() {
            return;
        }
        let from = self.views.until.replace(until);
        let stretch = Stretch { from: from.unwrap_or(Time(i64::MIN)), until };
        let mut found = Found::default();
        let clusters = clusters(self, stretch);
        for (key, rows) in &clusters {
            match key {
                Key::Request(_) => self.by_request_id(rows, stretch, &mut found),
                Key::ShortRequest(_) => {}
                Key::Idempotency(_) | Key::Trace(_) => self.by_time(rows, stretch, &mut found),
            }
        }
        let linked: HashSet<u32> = found.links.iter().flat_map(|(view, of)| [*view, *of]).collect();
        // A trace has other attempts than those that both logs hold.
        for (_, rows) in clusters.iter().filter(|(key, _)| !matches!(key, Key::Trace(_))) {
            let free: Vec<u32> = rows.iter().copied().filter(|row| !linked.contains(row)).collect();
            self.note_unlinked(&free, stretch, &mut found);
        }
        self.views.unclear += found.unclear.len() as u64;
        for (view, of) in self.alone_within(&found.links) {
            if self.same_service(&self.rows[of as usize], &self.rows[view as usize]) {
                self.complete(of, view);
            }
        }
        self.views.links.append(&mut found.links);
    }

    /// Links rows with one request id: either one of each kind, or several of one kind within an attempt of another.
    fn by_request_id(&self, rows: &[u32], stretch: Stretch, found: &mut Found) {
        let sent = |row: &u32| self.rows[*row as usize].sent;
        for near in rows.chunk_by(|a, b| sent(b).us_since(sent(a)) <= Views::REACH_US) {
            let (Some(first), Some(last)) = (near.first().map(sent), near.last().map(sent)) else { continue };
            if !stretch.has(first) || !self.are_of_kinds(near) {
                continue;
            }
            if last.us_since(first) > Views::REACH_US || !self.are_one_of_each(near) {
                self.by_time(near, Stretch { from: Time(i64::MIN), until: Time(i64::MAX) }, found);
                continue;
            }
            let Some(of) = near.iter().copied().min_by_key(|row| self.rank(*row)) else { continue };
            for view in near.iter().copied().filter(|row| self.kind(*row) != self.kind(of)) {
                if self.agree(of, view) && self.may_overlap(of, view) {
                    found.links.entry(view).or_insert(of);
                } else {
                    found.unclear.insert(view);
                }
            }
        }
    }

    /// Links rows with one key and several of each kind: each is a view of the only attempt of an outer layer that was
    /// in flight at that time, or of the one with the same number.
    fn by_time(&self, rows: &[u32], stretch: Stretch, found: &mut Found) {
        let sent = |row: u32| self.rows[row as usize].sent;
        for (place, view) in rows.iter().copied().enumerate().filter(|(_, row)| stretch.has(sent(*row))) {
            if found.links.contains_key(&view) {
                continue;
            }
            let before =
                rows[..place].iter().rev().take_while(|row| sent(view).us_since(sent(**row)) <= Views::REACH_US);
            let after = rows[place + 1..].iter().take_while(|row| sent(**row).us_since(sent(view)) <= Views::REACH_US);
            let near: Vec<u32> = before.chain(after).copied().take(MOST_NEAR + 1).collect();
            let rank = self.rank(view);
            let may_be =
                |row: &u32| self.kind(*row) != self.kind(view) && self.overlap(*row, view) && self.rank(*row) < rank;
            let around: Vec<u32> = near.iter().copied().filter(may_be).collect();
            let same_number = || around.iter().copied().filter(|row| self.same_number(*row, view)).collect::<Vec<_>>();
            let of = match around.as_slice() {
                [] => continue,
                _ if near.len() > MOST_NEAR => None,
                [one] => Some(*one),
                _ => match same_number().as_slice() {
                    [one] => Some(*one),
                    _ => None,
                },
            };
            match of.filter(|of| self.is_told(*of, view, &near)) {
                Some(of) => _ = found.links.insert(view, of),
                None => _ = found.unclear.insert(view),
            }
        }
    }

    /// Counts as unclear the rows with one id, none of them linked, that may be the attempt of a row of another kind: the
    /// id is too short, or the clocks differ too much.
    fn note_unlinked(&self, free: &[u32], stretch: Stretch, found: &mut Found) {
        let sent = |row: u32| self.rows[row as usize].sent;
        for (place, row) in free.iter().copied().enumerate().filter(|(_, row)| stretch.has(sent(*row))) {
            let near = free[place + 1..].iter().copied().take(MOST_NEAR);
            let mut near = near.take_while(|other| sent(*other).us_since(sent(row)) <= Views::KNOWN_US);
            if let Some(other) = near.find(|other| self.kind(*other) != self.kind(row) && self.agree(row, *other)) {
                found.unclear.insert(if self.rank(other) > self.rank(row) { other } else { row });
            }
        }
    }

    /// Returns whether `view` is the only one of its kind that can be `of`, or all that can be were made within `of`,
    /// one after the other.
    fn is_told(&self, of: u32, view: u32, near: &[u32]) -> bool {
        let alike =
            |row: &u32| self.kind(*row) == self.kind(view) && self.overlap(of, *row) && !self.is_copy(*row, view);
        let mut beside: Vec<u32> = near.iter().copied().filter(alike).collect();
        if beside.is_empty() {
            return self.agree(of, view);
        }
        beside.push(view);
        beside.sort_by_key(|row| self.rows[*row as usize].sent);
        let numbered = beside.iter().all(|row| self.number(*row).is_some()) && self.number(of).is_some();
        if numbered && self.same_number(of, view) && self.agree(of, view) {
            return true;
        }
        let in_turn = |pair: &[u32]| {
            let [before, next] = [pair[0], pair[1]].map(|row| &self.rows[row as usize]);
            next.sent >= before.ended()
        };
        beside.iter().all(|row| self.spans(of, *row)) && beside.windows(2).all(in_turn)
    }

    /// Keeps the links whose view is the only attempt of its kind and call within the other row.
    fn alone_within(&self, links: &BTreeMap<u32, u32>) -> Vec<(u32, u32)> {
        if links.is_empty() {
            return Vec::new();
        }
        let key = |row: u32| self.rows[row as usize].key;
        let mut calls: HashMap<[u64; 2], Vec<u32>> = links.keys().map(|view| (key(*view), Vec::new())).collect();
        for row in 0..self.rows.len() as u32 {
            if let Some(call) = calls.get_mut(&key(row)) {
                call.push(row);
            }
        }
        let is_alone = |view: u32, of: u32| {
            let beside = |row: &u32| {
                *row != view
                    && self.kind(*row) == self.kind(view)
                    && links.get(row).is_none_or(|other| *other == of)
                    && self.spans(of, *row)
                    && !self.is_copy(*row, view)
            };
            !calls.get(&key(view)).is_some_and(|call| call.iter().any(beside))
        };
        links.iter().map(|(view, of)| (*view, *of)).filter(|(view, of)| is_alone(*view, *of)).collect()
    }

    fn kind(&self, row: u32) -> Kind {
        let row = &self.rows[row as usize];
        (self.format(row.file), self.origin(row).layer)
    }

    fn are_of_kinds(&self, rows: &[u32]) -> bool {
        rows.iter().any(|row| self.kind(*row) != self.kind(rows[0]))
    }

    /// Returns whether `rows` has one attempt of each kind, not counting repeated deliveries.
    fn are_one_of_each(&self, rows: &[u32]) -> bool {
        let others = |row: &u32, other: &u32| self.kind(*row) == self.kind(*other) && !self.is_copy(*row, *other);
        rows.len() <= MOST_NEAR && !rows.iter().any(|row| rows.iter().any(|other| others(row, other)))
    }

    /// Returns whether two rows are deliveries of the same record.
    pub(crate) fn is_copy(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|row| &self.rows[row as usize]);
        (a.sent, a.number, a.identity) == (b.sent, b.number, b.identity)
    }

    /// Sort key that chooses the row to represent an attempt; the smallest wins. It prefers the client to a gateway, a
    /// record of one attempt to one of several, a record that names its call, and the longest duration.
    fn rank(&self, row: u32) -> impl Ord + use<'_> {
        let attempt = &self.rows[row as usize];
        let (format, layer) = self.kind(row);
        let layer = self.names.text(layer);
        let several = self.detail(attempt).is_some_and(|detail| detail.resends > 0);
        let is_stream = attempt.flags.has(Flags::NO_CALL_ID);
        let duration = Reverse(attempt.duration.as_us());
        (
            (is_gateway(layer), several, is_stream, duration),
            attempt.sent,
            (attempt.number, attempt.identity),
            format,
            layer,
        )
    }

    fn number(&self, row: u32) -> Option<u16> {
        let row = &self.rows[row as usize];
        let counted = || row.sdk_count().map(|count| u16::from(count) + 1);
        Some(row.number).filter(|number| *number > 0).or_else(counted)
    }

    fn same_number(&self, a: u32, b: u32) -> bool {
        self.number(a).is_some() && self.number(a) == self.number(b)
    }

    /// Returns whether the rows do not contradict each other on the success of the attempt.
    pub(crate) fn agree(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|row| &self.rows[row as usize]);
        let unknown = a.status == 0 || b.status == 0 || (a.flags.0 | b.flags.0) & Flags::MID_STREAM != 0;
        unknown || a.failed() == b.failed()
    }

    fn overlap(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|row| &self.rows[row as usize]);
        a.sent.us_since(b.ended()) <= CLOCKS_US && b.sent.us_since(a.ended()) <= CLOCKS_US
    }

    /// Like `overlap`, but also true if a duration needed to decide is missing.
    fn may_overlap(&self, a: u32, b: u32) -> bool {
        let known = [a, b].iter().all(|row| self.rows[*row as usize].duration.as_us().is_some());
        !known || self.overlap(a, b)
    }

    /// Returns whether the attempt `inner` was made while `outer` was in flight.
    pub(crate) fn spans(&self, outer: u32, inner: u32) -> bool {
        let [outer, inner] = [outer, inner].map(|row| &self.rows[row as usize]);
        outer.duration.as_us().is_some()
            && outer.sent.us_since(inner.sent) <= CLOCKS_US
            && inner.ended().us_since(outer.ended()) <= CLOCKS_US
    }

    /// Returns whether the layer of a row forwards requests of others.
    pub(crate) fn is_of_gateway(&self, row: &Attempt) -> bool {
        is_gateway(self.names.text(self.origin(row).layer))
    }

    /// Returns whether nothing shows that two attempts went to different models or providers.
    pub(crate) fn same_service(&self, a: &Attempt, b: &Attempt) -> bool {
        let (a, b) = (self.origin(a), self.origin(b));
        let differ = |a: Symbol, b: Symbol| a.is_some() && b.is_some() && a != b;
        !differ(a.provider, b.provider) && !differ(a.model, b.model)
    }

    /// Returns whether two rows come from the same kind of log.
    pub(crate) fn same_kind(&self, a: u32, b: u32) -> bool {
        self.kind(a) == self.kind(b)
    }
}

/// Returns whether a layer forwards requests of others, judged by its name.
fn is_gateway(layer: &str) -> bool {
    let layer = layer.to_ascii_lowercase();
    ["gateway", "proxy", "router"].iter().any(|name| layer.contains(name))
}
