//! Finds ids in logs by their bytes, before anything is parsed, and reads only what belongs to them.
//!
//! One pass at the speed of memory finds the lines that hold an id and learns when each page was written; a
//! second finds the other attempts of their calls; then the stretch of time around them is read. See
//! [`pages`] for how a pass works, [`resolve`] for what an id names, [`survey`] for what is known of a page.

mod hits;
mod inputs;
mod near;
mod needles;
mod pages;
mod quote;
mod read;
mod resolve;
mod survey;
mod token;

pub use near::Near;
pub use quote::Place;

use crate::attempt::{AttemptTable, Flags, Time, Zone};
use crate::ingest::{Dialect, Filter, IdField, IngestError, Source};
use hits::{Candidates, Fit, Hits};
use inputs::Opened;
use needles::Needles;
use pages::{Progress, Wanted, pass};
use resolve::{Resolved, narrow, resolve};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use survey::Survey;

/// Ids looked for at once, at most.
pub const MOST_IDS: usize = 32;
/// Calls whose other attempts are looked for by their ids; of more, everything is read.
const MOST_CALLS: usize = 256;
/// Bytes read around what was found, unless the user names the stretch himself.
const SURROUNDINGS: u64 = 256 << 20;
/// How far around its known ones the other attempts of a call are looked for at first, µs: an hour, beyond what a
/// server asked for. Where their numbers have holes, everything is searched.
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
    /// Attempts wanted.
    pub filter: Filter,
    /// What the logs' own words mean.
    pub dialect: Dialect,
}

/// The usual stretch before and after, µs.
const CONTEXT_US: i64 = 60_000_000;

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An attempt, by its request id.
    Request,
    /// An attempt, by the id of the platform it came through.
    Platform,
    /// A call.
    Call,
    /// A run.
    Run,
    /// A distributed trace.
    Trace,
    /// Records that mention it, in whatever field.
    Mention,
}

impl From<IdField> for Kind {
    fn from(field: IdField) -> Kind {
        match field {
            IdField::Request => Kind::Request,
            IdField::Platform => Kind::Platform,
            IdField::Call => Kind::Call,
            IdField::Run => Kind::Run,
            IdField::Trace => Kind::Trace,
        }
    }
}

/// An id that begins with what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The whole id.
    pub id: String,
    /// What it names.
    pub kind: Kind,
    /// Lines it stands on.
    pub lines: u64,
}

/// What one id led to.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Rows of the table whose line holds it; none where the filters left them all out.
    Found {
        /// What it names.
        kind: Kind,
        /// Rows, in order.
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
    /// `plain`, `gzip`, `zstd` or `UTF-16`, told by content.
    pub packing: &'static str,
    /// Bytes, after unpacking.
    pub bytes: u64,
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
    opened: Vec<Opened>,
    survey: Survey,
}

/// Looks for the ids of `query` in `sources`, and reads what belongs to them.
///
/// # Errors
/// The first input that cannot be opened or read.
pub fn search(sources: &[Source], query: &Query, progress: Progress<'_>) -> Result<Found, IngestError> {
    let opened = sources.iter().map(Opened::new).collect::<Result<Vec<_>, _>>()?;
    let mut survey = Survey::new(opened.len());
    let (mut hits, begun) = first_pass(&opened, query, &mut survey, progress)?;
    let resolved: Vec<Resolved> = (0..query.ids.len()).map(|nth| resolve(nth, &hits, &begun[nth])).collect();
    let mut near = near::misses(&opened, query, &resolved, progress)?;
    narrow(&mut hits, &resolved);
    let bytes = opened.iter().enumerate().map(|(nth, opened)| Searched {
        path: opened.name.clone(),
        packing: opened.packing,
        bytes: survey.bytes(nth),
    });
    let mut found = Found {
        table: AttemptTable::default(),
        answers: Vec::new(),
        window: None,
        end: survey.end(),
        too_much: false,
        searched: bytes.collect(),
        bytes_parsed: 0,
        opened,
        survey,
    };
    let rows =
        if hits.pages.is_empty() { BTreeMap::new() } else { found.gather(&mut hits, query, &resolved, progress)? };
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

/// Every line that holds one of the ids, the ids that begin so, and what the pages are.
fn first_pass(
    opened: &[Opened],
    query: &Query,
    survey: &mut Survey,
    progress: Progress<'_>,
) -> Result<(Hits, Vec<Candidates>), IngestError> {
    let needles = Needles::new(query.ids.iter().map(String::as_str));
    let mut hits = Hits::default();
    let mut begun = vec![Candidates::default(); query.ids.len()];
    pass(
        opened,
        &Wanted::All,
        &|_, bytes| (hits::survey(bytes, query.zone, &query.dialect.fields), hits::find(bytes, &needles, &query.ids)),
        &mut |at, (info, (lines, candidates))| {
            survey.take(at, info);
            hits.take(at, lines);
            begun.iter_mut().zip(&candidates).for_each(|(all, some)| all.merge(some));
        },
        progress,
    )?;
    Ok((hits, begun))
}

impl Found {
    /// Reads the lines with hits, the other attempts of their calls, and what was sent around them. Gives the
    /// rows that each id names.
    fn gather(
        &mut self,
        hits: &mut Hits,
        query: &Query,
        resolved: &[Resolved],
        progress: Progress<'_>,
    ) -> Result<BTreeMap<usize, Vec<u32>>, IngestError> {
        let mut read = self.read(hits, &BTreeSet::new(), query, None, progress)?;
        let named = |nth: &usize| matches!(resolved[*nth], Resolved::Id { kind: Kind::Call | Kind::Run, .. });
        let mut wanted = BTreeSet::new();
        let mut is_nameless = false;
        for (nth, rows) in read.rows.iter().filter(|(nth, _)| !named(nth)) {
            debug_assert!(*nth < resolved.len());
            for row in rows.iter().map(|row| &read.table.rows[*row as usize]) {
                let call = read.table.detail(row).and_then(|detail| read.table.text(detail.call_id));
                wanted.extend(call.map(str::to_owned));
                is_nameless |= row.flags.has(Flags::NO_CALL_ID);
            }
        }
        let everything = wanted.len() > MOST_CALLS;
        if !wanted.is_empty() && !everything {
            let calls: Vec<String> = wanted.into_iter().collect();
            let near = self.survey.around_rows(&read.table, ATTEMPTS_REACH_US);
            self.other_attempts(hits, &calls, &Wanted::These(near), query, progress)?;
            read = self.read(hits, &BTreeSet::new(), query, None, progress)?;
            if has_holes(&read.table) {
                self.other_attempts(hits, &calls, &Wanted::All, query, progress)?;
                read = self.read(hits, &BTreeSet::new(), query, None, progress)?;
            }
        }
        let spans = read.table.rows.iter().map(|row| (row.sent, row.ended()));
        let Some((first, last)) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else { return Ok(read.rows) };
        let context = query.context_us.unwrap_or(CONTEXT_US);
        let reach = if is_nameless { context.max(CALL_REACH_US) } else { context };
        let window =
            if everything { (Time(i64::MIN), Time(i64::MAX)) } else { (first.plus_us(-reach), last.plus_us(reach)) };
        let (pages, bytes) = self.survey.around(window.0, window.1);
        self.too_much = bytes > SURROUNDINGS && query.context_us.is_none() && !everything && !is_nameless;
        if !self.too_much {
            self.window = Some((first.plus_us(-context), last.plus_us(context)));
            read = self.read(hits, &pages, query, Some(window), progress)?;
        }
        self.table = read.table;
        self.bytes_parsed = read.bytes;
        Ok(read.rows)
    }

    /// Adds the lines of the calls named `calls` to the hits.
    fn other_attempts(
        &self,
        hits: &mut Hits,
        calls: &[String],
        wanted: &Wanted,
        query: &Query,
        progress: Progress<'_>,
    ) -> Result<(), IngestError> {
        let needles = Needles::new(calls.iter().map(String::as_str));
        let none = query.ids.len();
        pass(
            &self.opened,
            wanted,
            &|_, bytes| {
                let (mut lines, _) = hits::find(bytes, &needles, calls);
                for line in &mut lines {
                    line.marks.retain(|mark| mark.fit == Fit::Whole && mark.field == Some(IdField::Call));
                    line.marks.iter_mut().for_each(|mark| mark.needle = none);
                }
                lines.retain(|line| !line.marks.is_empty());
                lines
            },
            &mut |at, lines| hits.take(at, lines),
            progress,
        )?;
        Ok(())
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
