//! Finds ids in logs by their bytes, before anything is parsed, and reads only what belongs to them.
//!
//! One pass at the speed of memory finds the lines that hold an id, and from there on the other attempts of their
//! calls, and learns when each page was written; a second looks for attempts before; then the stretch of time
//! around them is read. See [`pages`] for how a pass works, [`follower`] for how calls are followed, [`resolve`] for
//! what an id names, [`index`] for what is known of a page.

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

/// Ids looked for at once, at most.
pub const MOST_IDS: usize = 32;
/// Calls whose other attempts are looked for by their ids; of more, everything is read.
const MOST_CALLS: usize = 256;
/// Bytes read around what was found, unless the user names the stretch himself.
const SURROUNDINGS: u64 = 256 << 20;
/// How far before its known ones the other attempts of a call are looked for at first, µs: an hour. What comes
/// after them is searched to the end, and where their numbers have holes, everything is.
const ATTEMPTS_REACH_US: i64 = 60 * 60 * 1_000_000;
/// How far around a record without a call id its other attempts are looked for, µs: longer than the waits that
/// clients choose (60 s) and than the hints they obey.
const CALL_REACH_US: i64 = 10 * 60 * 1_000_000;

/// What to look for, and how to read it.
#[derive(Clone, Debug)]
pub struct Query {
    /// Ids or their beginnings, at most [`MOST_IDS`].
    pub ids: Vec<String>,
    /// How far before and after the calls to look at others, µs; `None`: a minute, where that is not too much.
    pub context_us: Option<i64>,
    /// Zone of times that name none.
    pub zone: Zone,
    /// What the logs' own words mean.
    pub dialect: Dialect,
    /// The format that all inputs are read in; `None`: each in the one its front fits.
    pub format: Option<FormatName>,
}

impl Query {
    pub(super) fn settings(&self) -> InputSettings<'_> {
        InputSettings { dialect: &self.dialect, zone: self.zone, format: self.format.map(FormatName::format) }
    }
}

/// The usual stretch before and after, µs.
const CONTEXT_US: i64 = 60_000_000;

/// What one id led to.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Rows of the table whose line holds it.
    Found {
        /// What it names.
        kind: Kind,
        /// Rows, in order; none where the lines hold no attempt.
        rows: Vec<u32>,
    },
    /// The beginning of several ids.
    Ambiguous {
        /// The first of them, in the order of their letters.
        candidates: Vec<Candidate>,
        /// There are more.
        more: bool,
    },
    /// Nowhere; ids that look like it.
    Nowhere(Vec<Near>),
}

/// One input, as far as it was searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Searched {
    /// As it was named.
    pub path: String,
    /// `plain`, `gzip`, `zstd` or `UTF-16`, recognized by content.
    pub packing: &'static str,
    /// Bytes, after unpacking.
    pub bytes: u64,
    /// Why it could not be read, or not to its end; what was read before that was searched.
    pub failure: Option<String>,
}

/// What a search found.
#[derive(Debug)]
pub struct Found {
    /// The attempts that were read: those that carry the ids, the others of their calls, and those around.
    pub table: AttemptTable,
    /// One for each id asked for.
    pub answers: Vec<Answer>,
    /// Where the attempts around were read: all that were sent between the two, as the log's order allows.
    pub window: Option<(Time, Time)>,
    /// The latest time in any input.
    pub end: Option<Time>,
    /// The stretch around was too large to be read unasked.
    pub too_much: bool,
    /// The inputs.
    pub searched: Vec<Searched>,
    /// Bytes of the lines that were parsed.
    pub bytes_parsed: u64,
    /// Bytes looked through for ids that look like one that is nowhere.
    pub bytes_compared: u64,
    opened: Vec<Opened>,
    index: PageIndex,
    /// The logger's own keys.
    own: Mapping,
}

/// Looks for the ids of `query` in `sources`, and reads what belongs to them.
///
/// An input that cannot be read, or not to its end, is marked in [`Found::searched`].
///
/// # Errors
/// When none of them can be read: why the first cannot.
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

/// What the first pass gives.
struct First {
    /// Every line that holds one of the ids.
    hits: Hits,
    /// The ids that begin with them.
    begun: Vec<Candidates>,
    /// Lines of the calls that were followed.
    followed: Hits,
    /// Those calls.
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
    /// How each input was read, in words, as far as it was.
    #[must_use]
    pub fn how(&self) -> Vec<String> {
        self.opened.iter().map(|opened| opened.how.clone()).collect()
    }

    /// Every id in a line of the inputs, with what it names.
    pub(crate) fn ids_of(&self, line: &str) -> Vec<(IdField, String)> {
        ids_of(line, &self.own)
    }

    /// Reads the lines with hits, the other attempts of their calls, and what was sent around them. Gives the
    /// rows that each id names.
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
                let call = read.table.detail(row).and_then(|detail| read.table.text(detail.call_id));
                wanted.extend(call.map(str::to_owned));
                is_nameless |= row.flags.has(Flags::NO_CALL_ID);
            }
        }
        let everything = wanted.len() > MOST_CALLS;
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

    /// Adds the lines of `pages` that are of `calls` to the hits: those met already, and the others. Whether there
    /// were any but those that are hits anyway.
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

/// Whether the numbers of a call's attempts say that some are missing.
fn has_holes(table: &AttemptTable) -> bool {
    let mut numbers: BTreeMap<[u64; 2], BTreeSet<u16>> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| row.number > 0) {
        numbers.entry(row.key).or_default().insert(row.number);
    }
    numbers.values().any(|known| known.last().is_some_and(|last| usize::from(*last) > known.len()))
}
