//! Finds ids in logs by searching their bytes, and parses only the lines that belong to them.
//!
//! The first pass finds the lines that contain an id and, from the first hit on, other attempts of the same calls; it
//! also records the times of each page. A second pass searches earlier pages for further attempts of these calls. Then
//! the attempts sent around them are read. See [`pages`] for how a pass works, [`call_follower`] for how calls are
//! followed, [`mod@resolve`] for what an id names, and [`page_index`] for what is recorded of each page.

mod call_follower;
mod candidate;
mod hits;
mod inputs;
mod near;
mod needles;
mod ordered_results;
mod page_index;
mod pages;
mod quote;
mod read;
mod resolve;
mod token;

pub use candidate::{Candidate, Kind};
pub use near::Near;
pub use quote::Place;

use crate::ingest::{Dialect, FormatName, IdField, IngestError, InputSettings, Mapping, Source, ids_of};
use crate::model::{AttemptTable, Flags, Time, Zone};
use call_follower::CallFollower;
use hits::{Candidates, Hits};
use inputs::Opened;
use page_index::PageIndex;
use pages::{At, Progress, Wanted, pass};
use rayon::prelude::*;
use resolve::{Resolved, narrow, resolve};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

/// Maximum number of ids searched for at once.
pub const MAX_IDS: usize = 32;
/// Maximum number of calls whose other attempts are searched for by id; with more, everything is read.
const MAX_CALLS: usize = 256;
/// Maximum number of bytes read around the hits, unless the user sets the time window.
const SURROUNDINGS: u64 = 256 << 20;
/// How far before the first known attempt of a call its other attempts are searched for at first: an hour, in µs.
/// Everything after it is searched; if the attempt numbers have gaps, everything before it is too.
const ATTEMPTS_REACH_US: i64 = 60 * 60 * 1_000_000;
/// How far around a record without a call id the other attempts of its call are read: ten minutes, in µs. This exceeds
/// the waits that clients choose (60 s) and the hints they obey.
const CALL_REACH_US: i64 = 10 * 60 * 1_000_000;

/// Ids to search for, and how to read the inputs.
#[derive(Clone, Debug)]
pub struct Query {
    /// Ids or prefixes of ids, at most [`MAX_IDS`].
    pub ids: Vec<String>,
    /// Time before and after the calls within which other calls are read, in µs. `None` means a minute, skipped if that
    /// is too much to read.
    pub context_us: Option<i64>,
    /// Time zone of timestamps without one.
    pub zone: Zone,
    /// The user's own field names and values.
    pub dialect: Dialect,
    /// Format of all inputs; `None` to detect it for each input.
    pub format: Option<FormatName>,
}

impl Query {
    pub(super) fn settings(&self) -> InputSettings<'_> {
        InputSettings { dialect: &self.dialect, zone: self.zone, format: self.format.map(FormatName::format) }
    }
}

/// Default of [`Query::context_us`], in µs.
const CONTEXT_US: i64 = 60_000_000;

/// Search result for one id.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The id was found.
    Found {
        /// What the id names.
        kind: Kind,
        /// Rows of the table that contain it, in order; empty if its lines record no attempt.
        rows: Vec<u32>,
    },
    /// Several ids begin with it.
    Ambiguous {
        /// The first of them, in lexical order.
        candidates: Vec<Candidate>,
        /// Whether there are more.
        more: bool,
    },
    /// The id was not found; similar ids, if any.
    Nowhere(Vec<Near>),
}

/// One input, as far as it could be searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Searched {
    /// Name of the input, keys masked.
    pub path: String,
    /// `plain`, `gzip`, `zstd` or `UTF-16`, detected from its content.
    pub packing: &'static str,
    /// Size in bytes, after unpacking.
    pub bytes: u64,
    /// Why it could not be read, or not to its end. What was read before the failure was searched.
    pub failure: Option<String>,
}

/// Result of a search.
#[derive(Debug)]
pub struct Found {
    /// The attempts that were read: those with the ids, the others of their calls, and those sent around them.
    pub table: AttemptTable,
    /// One answer for each id, in the order asked for.
    pub answers: Vec<Answer>,
    /// Time window in which all attempts were read, as far as the log is in order; `None` if it was not read.
    pub window: Option<(Time, Time)>,
    /// Latest time found in any input.
    pub end: Option<Time>,
    /// Whether the attempts around the calls were too many to be read without being asked for.
    pub too_much: bool,
    /// The inputs.
    pub searched: Vec<Searched>,
    /// Bytes of the lines that were parsed.
    pub bytes_parsed: u64,
    /// Bytes searched for near misses of ids that were not found.
    pub bytes_compared: u64,
    opened: Vec<Opened>,
    index: PageIndex,
    /// The user's own field names.
    own: Mapping,
}

/// Searches `sources` for the ids of `query` and reads the calls that belong to them.
///
/// An input that cannot be read, or not to its end, has its failure noted in [`Found::searched`].
///
/// # Errors
/// Fails if no input can be read, with the error of the first.
pub fn search(sources: &[Source], query: &Query, progress: Progress<'_>) -> Result<Found, IngestError> {
    let opened: Vec<Opened> = sources.par_iter().map(|source| Opened::new(source, &query.settings())).collect();
    let mut index = PageIndex::new(opened.len());
    let First { mut hits, begun, followed, calls } = first_pass(&opened, query, &mut index, progress);
    if opened.iter().enumerate().all(|(nth, opened)| opened.failure().is_some() && index.bytes(nth) == 0)
        && let Some(error) = opened.iter().find_map(Opened::error)
    {
        return Err(error);
    }
    let of = |nth: usize| resolve((nth, &query.ids[nth]), &hits, &begun[nth], &query.dialect.fields);
    let resolved: Vec<Resolved> = (0..query.ids.len()).map(of).collect();
    let (mut near, bytes_compared) = near::misses(&opened, &index, query, &resolved, progress);
    narrow(&mut hits, &resolved);
    let bytes = opened.iter().enumerate().map(|(nth, opened)| Searched {
        path: opened.name.clone(),
        packing: opened.packing,
        bytes: index.bytes(nth),
        failure: opened.failure().map(ToString::to_string),
    });
    let mut found = Found {
        table: AttemptTable::default(),
        answers: Vec::new(),
        window: None,
        end: index.end(),
        too_much: false,
        searched: bytes.collect(),
        bytes_parsed: 0,
        bytes_compared,
        opened,
        index,
        own: query.dialect.fields.clone(),
    };
    let first = First { hits, begun, followed, calls };
    let rows =
        if first.hits.pages.is_empty() { BTreeMap::new() } else { found.gather(first, query, &resolved, progress) };
    found.answers = resolved
        .into_iter()
        .enumerate()
        .map(|(nth, resolved)| match resolved {
            Resolved::Id { kind, .. } => Answer::Found { kind, rows: rows.get(&nth).cloned().unwrap_or_default() },
            Resolved::Ambiguous { candidates, more } => Answer::Ambiguous { candidates, more },
            Resolved::Nowhere => Answer::Nowhere(std::mem::take(&mut near[nth])),
        })
        .collect();
    Ok(found)
}

/// Result of the first pass.
struct First {
    /// Lines that contain one of the ids.
    hits: Hits,
    /// For each text asked for, the ids that begin with it.
    begun: Vec<Candidates>,
    /// Lines of the followed calls.
    followed: Hits,
    /// Ids of the followed calls.
    calls: Vec<String>,
}

fn first_pass(opened: &[Opened], query: &Query, index: &mut PageIndex, progress: Progress<'_>) -> First {
    let own = &query.dialect.fields;
    let ids = query.ids.len();
    let mut follower = CallFollower::new(&query.ids);
    let aim = RwLock::new(Arc::clone(&follower.aim));
    let (mut hits, mut followed) = (Hits::default(), Hits::default());
    let mut begun = vec![Candidates::default(); ids];
    pass(
        opened,
        &Wanted::All,
        &|_, bytes| {
            let aim = Arc::clone(&aim.read().unwrap_or_else(PoisonError::into_inner));
            let info = hits::index(bytes, query.zone, &query.dialect, aim.texts.len() - ids);
            (info, hits::find(bytes, &aim.needles, &aim.texts, own))
        },
        &mut |at, (info, (lines, candidates))| {
            index.take(at, info);
            begun.iter_mut().zip(&candidates).for_each(|(all, some)| all.merge(some));
            if !lines.is_empty() {
                if follower.follow(&lines, own) {
                    *aim.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&follower.aim);
                }
                let (asked, others) = follower.part(lines);
                hits.take(at, asked);
                followed.take(at, others);
            }
        },
        progress,
    );
    First { hits, begun, followed, calls: follower.calls().to_vec() }
}

impl Found {
    /// Describes how each input was read.
    #[must_use]
    pub fn how(&self) -> Vec<String> {
        self.opened.iter().map(|opened| opened.how.clone()).collect()
    }

    /// Returns every id in a line, with what it names.
    pub(crate) fn ids_of(&self, line: &str) -> Vec<(IdField, String)> {
        ids_of(line, &self.own)
    }

    /// Reads the lines with hits, the other attempts of their calls and the attempts sent around them. Returns the rows
    /// that each id names, by index of the id.
    fn gather(
        &mut self,
        mut first: First,
        query: &Query,
        resolved: &[Resolved],
        progress: Progress<'_>,
    ) -> BTreeMap<usize, Vec<u32>> {
        let mut read = self.read(&first.hits, &BTreeSet::new(), query, None, progress);
        let named = |nth: &usize| matches!(resolved[*nth], Resolved::Id { kind: Kind::Call | Kind::Run, .. });
        let mut wanted = BTreeSet::new();
        let mut is_nameless = false;
        for (_, rows) in read.rows.iter().filter(|(nth, _)| !named(nth)) {
            for row in rows.iter().map(|row| &read.table.rows[*row as usize]) {
                let call = read.table.call_id(row);
                wanted.extend(call.map(str::to_owned));
                is_nameless |= row.flags.has(Flags::NO_CALL_ID);
            }
        }
        let everything = wanted.len() > MAX_CALLS;
        if let Some(sent) = read.table.rows.iter().map(|row| row.sent).min()
            && !wanted.is_empty()
            && !everything
        {
            let calls: Vec<String> = wanted.into_iter().collect();
            let (pages, _) = self.index.around(sent.plus_us(-ATTEMPTS_REACH_US), Time(i64::MAX));
            if self.other_attempts(&mut first, &calls, &pages, query, progress) {
                read = self.read(&first.hits, &BTreeSet::new(), query, None, progress);
            }
            if has_holes(&read.table) {
                let rest = self.index.pages().filter(|at| !pages.contains(at)).collect();
                if self.other_attempts(&mut first, &calls, &rest, query, progress) {
                    read = self.read(&first.hits, &BTreeSet::new(), query, None, progress);
                }
            }
        }
        let spans = read.table.rows.iter().map(|row| (row.sent, row.ended()));
        let Some((start, end)) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else { return read.rows };
        let context = query.context_us.unwrap_or(CONTEXT_US);
        let reach = if is_nameless { context.max(CALL_REACH_US) } else { context };
        let window =
            if everything { (Time(i64::MIN), Time(i64::MAX)) } else { (start.plus_us(-reach), end.plus_us(reach)) };
        let (pages, bytes) = self.index.around(window.0, window.1);
        self.too_much = bytes > SURROUNDINGS && query.context_us.is_none() && !everything && !is_nameless;
        if !self.too_much {
            self.window = Some((start.plus_us(-context), end.plus_us(context)));
            read = self.read(&first.hits, &pages, query, Some(window), progress);
        }
        self.table = read.table;
        self.bytes_parsed = read.bytes;
        read.rows
    }

    /// Adds the lines of `calls` on `pages` to the hits, searching pages not yet searched for these calls. Returns
    /// whether any line was added.
    fn other_attempts(
        &self,
        first: &mut First,
        calls: &[String],
        pages: &BTreeSet<At>,
        query: &Query,
        progress: Progress<'_>,
    ) -> bool {
        let known = first.hits.lines().count();
        let fingerprints = CallFollower::fingerprints(calls);
        first.hits.adopt(&first.followed, pages, |line| CallFollower::is_of(line, &fingerprints));
        let needed = CallFollower::needed(calls, &first.calls);
        let unread = pages.iter().copied().filter(|at| !self.index.was_searched(*at, needed)).collect();
        let mut follower = CallFollower::new(&[]);
        follower.add(calls);
        pass(
            &self.opened,
            &Wanted::These(unread),
            &|_, bytes| {
                follower.part(hits::find(bytes, &follower.aim.needles, &follower.aim.texts, &query.dialect.fields).0).1
            },
            &mut |at, mut lines| {
                lines.iter_mut().flat_map(|line| &mut line.marks).for_each(|mark| mark.needle = query.ids.len());
                first.hits.take(at, lines);
            },
            progress,
        );
        first.hits.lines().count() > known
    }
}

/// Whether gaps in the attempt numbers show that attempts of a call are missing.
fn has_holes(table: &AttemptTable) -> bool {
    let mut numbers: BTreeMap<[u64; 2], BTreeSet<u16>> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| row.number > 0) {
        numbers.entry(row.key).or_default().insert(row.number);
    }
    numbers.values().any(|known| known.last().is_some_and(|last| usize::from(*last) > known.len()))
}
