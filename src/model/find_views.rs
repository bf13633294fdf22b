//! Finds rows that describe the same attempt: in a client's and a gateway's log, or in a log and its traces.
//!
//! Two rows of different kinds of log are views of one attempt if they have the same request id, or the same trace id
//! or idempotency key at the same time, and if no other row matches as well. All other rows stay separate; those
//! that share an id are counted.

mod clusters;
mod complete;
mod key;

use super::{Attempt, AttemptTable, Flags, Symbol, Time, Views};
use clusters::clusters;
use key::{SendTimeRange, SharedId};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Largest difference allowed between the clocks of two machines, in µs: clocks synchronized by NTP differ by less.
const MAX_CLOCK_SKEW_US: i64 = 2_000_000;
/// Maximum number of attempts with the same id within [`Views::MAX_SEND_DISTANCE_US`] of each other; with more, a match
/// would be ambiguous.
const MAX_CANDIDATES: usize = 64;

/// Kind of log: its format, and the layer that wrote it.
type LogKind = (&'static str, Symbol);

/// Result of one search: for each view the row of its attempt, and the rows whose match is ambiguous.
#[derive(Default)]
struct Matches {
    links: BTreeMap<u32, u32>,
    ambiguous: BTreeSet<u32>,
}

impl AttemptTable {
    /// Returns the row that `row` is a view of, if any.
    #[must_use]
    pub fn view_of(&self, row: u32) -> Option<u32> {
        self.views.links.get(&row).copied()
    }

    /// Returns the number of attempts that share an id with an attempt of another log but may be different ones.
    #[must_use]
    pub fn ambiguous_views(&self) -> u64 {
        self.views.ambiguous
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
    /// must already have the rows sent up to [`Views::LOOKAHEAD_US`] after `until`, unless there are none.
    pub(crate) fn find_views(&mut self, until: Time) {
        if !self.may_have_views() {
            return;
        }
        let from = self.views.until.replace(until);
        let range = SendTimeRange { from: from.unwrap_or(Time(i64::MIN)), until };
        let mut found = Matches::default();
        let clusters = clusters(self, range);
        for (id, rows) in &clusters {
            match id {
                SharedId::Request(_) => self.link_by_request_id(rows, range, &mut found),
                SharedId::ShortRequest(_) => {}
                SharedId::Idempotency(_) | SharedId::Trace(_) => self.link_by_time(rows, range, &mut found),
            }
        }
        let linked: HashSet<u32> = found.links.iter().flat_map(|(view, of)| [*view, *of]).collect();
        // A trace has other attempts than those that both logs hold.
        for (_, rows) in clusters.iter().filter(|(id, _)| !matches!(id, SharedId::Trace(_))) {
            let unlinked: Vec<u32> = rows.iter().copied().filter(|row| !linked.contains(row)).collect();
            self.note_unlinked(&unlinked, range, &mut found);
        }
        self.views.ambiguous += found.ambiguous.len() as u64;
        for (view, of) in self.links_of_only_views(&found.links) {
            if self.same_service(&self.rows[of as usize], &self.rows[view as usize]) {
                self.fill_from_view(of, view);
            }
        }
        self.views.links.append(&mut found.links);
    }

    /// Links rows with the same request id: one of each kind of log, or several of one kind that were made within an
    /// attempt of another.
    fn link_by_request_id(&self, rows: &[u32], range: SendTimeRange, found: &mut Matches) {
        let sent = |row: &u32| self.rows[*row as usize].sent;
        for near in rows.chunk_by(|a, b| sent(b).us_since(sent(a)) <= Views::MAX_SEND_DISTANCE_US) {
            let (Some(first), Some(last)) = (near.first().map(sent), near.last().map(sent)) else { continue };
            if !range.contains(first) || !self.are_of_several_kinds(near) {
                continue;
            }
            if last.us_since(first) > Views::MAX_SEND_DISTANCE_US || !self.are_one_of_each_kind(near) {
                self.link_by_time(near, SendTimeRange { from: Time(i64::MIN), until: Time(i64::MAX) }, found);
                continue;
            }
            let Some(of) = near.iter().copied().min_by_key(|row| self.rank(*row)) else { continue };
            for view in near.iter().copied().filter(|row| self.kind(*row) != self.kind(of)) {
                if self.outcomes_agree(of, view) && self.may_overlap(of, view) {
                    found.links.entry(view).or_insert(of);
                } else {
                    found.ambiguous.insert(view);
                }
            }
        }
    }

    /// Links rows of which each kind of log has several: each is a view of the only attempt of an outer layer that was
    /// in flight at that time or, among several, of the one with the same attempt number.
    fn link_by_time(&self, rows: &[u32], range: SendTimeRange, found: &mut Matches) {
        let sent = |row: u32| self.rows[row as usize].sent;
        for (index, view) in rows.iter().copied().enumerate().filter(|(_, row)| range.contains(sent(*row))) {
            if found.links.contains_key(&view) {
                continue;
            }
            let before = rows[..index]
                .iter()
                .rev()
                .take_while(|row| sent(view).us_since(sent(**row)) <= Views::MAX_SEND_DISTANCE_US);
            let after = rows[index + 1..]
                .iter()
                .take_while(|row| sent(**row).us_since(sent(view)) <= Views::MAX_SEND_DISTANCE_US);
            let near: Vec<u32> = before.chain(after).copied().take(MAX_CANDIDATES + 1).collect();
            let rank = self.rank(view);
            let is_candidate =
                |row: &u32| self.kind(*row) != self.kind(view) && self.overlap(*row, view) && self.rank(*row) < rank;
            let candidates: Vec<u32> = near.iter().copied().filter(is_candidate).collect();
            let same_number =
                || candidates.iter().copied().filter(|row| self.same_number(*row, view)).collect::<Vec<_>>();
            let of = match candidates.as_slice() {
                [] => continue,
                _ if near.len() > MAX_CANDIDATES => None,
                [one] => Some(*one),
                _ => match same_number().as_slice() {
                    [one] => Some(*one),
                    _ => None,
                },
            };
            match of.filter(|of| self.is_unambiguous(*of, view, &near)) {
                Some(of) => _ = found.links.insert(view, of),
                None => _ = found.ambiguous.insert(view),
            }
        }
    }

    /// Counts as ambiguous the rows with one id, none of them linked, that may be the attempt of a row of another kind: the
    /// id is too short, or the clocks differ too much.
    fn note_unlinked(&self, unlinked: &[u32], range: SendTimeRange, found: &mut Matches) {
        let sent = |row: u32| self.rows[row as usize].sent;
        for (index, row) in unlinked.iter().copied().enumerate().filter(|(_, row)| range.contains(sent(*row))) {
            let near = unlinked[index + 1..].iter().copied().take(MAX_CANDIDATES);
            let mut near = near.take_while(|other| sent(*other).us_since(sent(row)) <= Views::LOOKAHEAD_US);
            if let Some(other) =
                near.find(|other| self.kind(*other) != self.kind(row) && self.outcomes_agree(row, *other))
            {
                found.ambiguous.insert(if self.rank(other) > self.rank(row) { other } else { row });
            }
        }
    }

    /// Returns whether `view` is certainly a view of `of`: no other row of its kind of log overlaps `of`, or the
    /// attempt numbers agree, or all rows of its kind that overlap `of` were made within `of`, one after the other.
    fn is_unambiguous(&self, of: u32, view: u32, near: &[u32]) -> bool {
        let is_sibling = |row: &u32| {
            self.kind(*row) == self.kind(view) && self.overlap(of, *row) && !self.are_equal_records(*row, view)
        };
        let mut siblings: Vec<u32> = near.iter().copied().filter(is_sibling).collect();
        if siblings.is_empty() {
            return self.outcomes_agree(of, view);
        }
        siblings.push(view);
        siblings.sort_by_key(|row| self.rows[*row as usize].sent);
        let numbered = siblings.iter().all(|row| self.number(*row).is_some()) && self.number(of).is_some();
        if numbered && self.same_number(of, view) && self.outcomes_agree(of, view) {
            return true;
        }
        let is_sequential = |pair: &[u32]| {
            let [before, next] = [pair[0], pair[1]].map(|row| &self.rows[row as usize]);
            next.sent >= before.ended()
        };
        siblings.iter().all(|row| self.encloses(of, *row)) && siblings.windows(2).all(is_sequential)
    }

    /// Returns the links whose view is the only attempt of its call and kind of log that was made within the linked
    /// attempt.
    fn links_of_only_views(&self, links: &BTreeMap<u32, u32>) -> Vec<(u32, u32)> {
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
        let is_only_view = |view: u32, of: u32| {
            let siblings = |row: &u32| {
                *row != view
                    && self.kind(*row) == self.kind(view)
                    && links.get(row).is_none_or(|other| *other == of)
                    && self.encloses(of, *row)
                    && !self.are_equal_records(*row, view)
            };
            !calls.get(&key(view)).is_some_and(|call| call.iter().any(siblings))
        };
        links.iter().map(|(view, of)| (*view, *of)).filter(|(view, of)| is_only_view(*view, *of)).collect()
    }

    fn kind(&self, row: u32) -> LogKind {
        let row = &self.rows[row as usize];
        (self.format(row.file), self.origin(row).layer)
    }

    fn are_of_several_kinds(&self, rows: &[u32]) -> bool {
        rows.iter().any(|row| self.kind(*row) != self.kind(rows[0]))
    }

    /// Returns whether `rows` has one attempt of each kind of log, not counting repeated deliveries.
    fn are_one_of_each_kind(&self, rows: &[u32]) -> bool {
        let is_sibling =
            |row: &u32, other: &u32| self.kind(*row) == self.kind(*other) && !self.are_equal_records(*row, *other);
        rows.len() <= MAX_CANDIDATES && !rows.iter().any(|row| rows.iter().any(|other| is_sibling(row, other)))
    }

    /// Returns whether two rows have the same send time, attempt number and identity, as repeated deliveries of one
    /// record have.
    pub(crate) fn are_equal_records(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|row| &self.rows[row as usize]);
        (a.sent, a.number, a.identity) == (b.sent, b.number, b.identity)
    }

    /// Sort key by which one of several rows is chosen to represent an attempt; the smallest is. Clients come before
    /// gateways, then records of one attempt before those that count several, records with a call id before those
    /// without, and longer durations before shorter.
    fn rank(&self, row: u32) -> impl Ord + use<'_> {
        let attempt = &self.rows[row as usize];
        let (format, layer) = self.kind(row);
        let layer = self.names.text(layer);
        let counts_several = self.detail(attempt).is_some_and(|detail| detail.resends > 0);
        let is_stream = attempt.flags.has(Flags::NO_CALL_ID);
        let duration = Reverse(attempt.duration.as_us());
        (
            (is_gateway(layer), counts_several, is_stream, duration),
            attempt.sent,
            (attempt.number, attempt.identity),
            format,
            layer,
        )
    }

    fn number(&self, row: u32) -> Option<u16> {
        let row = &self.rows[row as usize];
        let from_sdk_count = || row.sdk_count().map(|count| u16::from(count) + 1);
        Some(row.number).filter(|number| *number > 0).or_else(from_sdk_count)
    }

    fn same_number(&self, a: u32, b: u32) -> bool {
        self.number(a).is_some() && self.number(a) == self.number(b)
    }

    /// Returns whether the rows do not contradict each other on the success of the attempt.
    pub(crate) fn outcomes_agree(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|row| &self.rows[row as usize]);
        let unknown = a.status == 0 || b.status == 0 || (a.flags.0 | b.flags.0) & Flags::MID_STREAM != 0;
        unknown || a.failed() == b.failed()
    }

    fn overlap(&self, a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|row| &self.rows[row as usize]);
        a.sent.us_since(b.ended()) <= MAX_CLOCK_SKEW_US && b.sent.us_since(a.ended()) <= MAX_CLOCK_SKEW_US
    }

    /// Like `overlap`, but also true if the duration of either is unknown.
    fn may_overlap(&self, a: u32, b: u32) -> bool {
        let known = [a, b].iter().all(|row| self.rows[*row as usize].duration.as_us().is_some());
        !known || self.overlap(a, b)
    }

    /// Returns whether the attempt `inner` was made while `outer` was in flight.
    pub(crate) fn encloses(&self, outer: u32, inner: u32) -> bool {
        let [outer, inner] = [outer, inner].map(|row| &self.rows[row as usize]);
        outer.duration.as_us().is_some()
            && outer.sent.us_since(inner.sent) <= MAX_CLOCK_SKEW_US
            && inner.ended().us_since(outer.ended()) <= MAX_CLOCK_SKEW_US
    }

    /// Returns whether the layer of a row forwards requests of other programs.
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

/// Returns whether a layer forwards requests of other programs, according to its name.
fn is_gateway(layer: &str) -> bool {
    let layer = layer.to_ascii_lowercase();
    ["gateway", "proxy", "router"].iter().any(|name| layer.contains(name))
}
