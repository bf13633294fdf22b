//! Prototypes: the row of one line as a pattern for others. Most lines of a log differ from an earlier one only in
//! times, ids and amounts.

use super::per_line::{PerLine, Varying};
use super::plan::{Plan, Role, Target};
use super::slot::{is_of_failures, varies};
use super::trie::{Entry, ScalarSpan, Step};
use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names::Header;
use crate::ingest::record::origins::{NAMES, Origins};
use crate::ingest::record::scan::Kind;
use crate::ingest::record::{FINGERPRINT, Place, Record, body_hash, fingerprint, keep_ids, kept_id};
use crate::model::{
    Attempt, AttemptTable, CompactDuration, Detail, DetailId, Flags, LimitKind, Origin, OriginId, Reading,
};
use std::hash::BuildHasher;

/// Flags derived from varying values.
const VARYING_FLAGS: u32 =
    Flags::REQUEST_ID | Flags::AWS_ID | Flags::NO_CALL_ID | Flags::CHUNK_GAP | Flags::HEADROOM | Flags::COST;

/// Row and context shared by all lines with the same constant bytes.
#[derive(Debug)]
pub(super) struct Prototype {
    /// Row of the line it was learned from.
    row: Attempt,
    /// Detail of that row, for retries; its ids are replaced for each line.
    detail: Option<Detail>,
    /// Whether attempts are numbered, so that a group is a call.
    is_numbered: bool,
    /// Limits per interval.
    limits: Vec<(LimitKind, i64)>,
    names: [Box<str>; NAMES],
    /// Origin of these names in the current table, set on first use.
    pub(super) origin: Option<(Origin, OriginId)>,
}

/// A line with its row already made, and everything it was made from.
pub(super) struct Made<'l, 'a> {
    pub(super) line: &'l str,
    pub(super) scalars: &'a [ScalarSpan],
    pub(super) plan: &'a Plan,
    pub(super) record: &'a Record<'l>,
    pub(super) place: &'a Place<'a>,
    pub(super) table: &'a AttemptTable,
}

impl Prototype {
    /// Returns whether a record's row may become a prototype: a success without error, nested outcome, times in whole
    /// seconds or misread values.
    pub(super) fn is_possible(record: &Record<'_>, row: &Attempt) -> bool {
        row.class.is_none()
            && (200..300).contains(&row.status)
            && !record.outcome_is_nested
            && !record.error.present
            && !record.whole_seconds
            && record.misread.is_empty()
    }

    /// Returns the prototype of a line; `None` if its row depends on values that lines like it need not share.
    pub(super) fn learn(made: &Made<'_, '_>) -> Option<Entry<Varying, Prototype>> {
        let Made { line, scalars, plan, record, place, table } = *made;
        let row = *table.rows.last()?;
        let detail = table.detail(&row).copied();
        let roles = plan.roles();
        let stands_in = |(scalar, role): (&ScalarSpan, &Role)| scalar.kind != Kind::Null && stands_in(*role);
        if scalars.iter().zip(&roles).any(stands_in) || detail.is_some_and(|detail| !is_of_a_success(&detail)) {
            return None;
        }
        let is_bare = detail.is_none() && !place.keep_ids;
        let differs = |role: Role| match role {
            Role::Free => true,
            Role::Is(target) => varies(target) || is_of_failures(target) || (is_bare && is_of_retries(target)),
            Role::Part => false,
        };
        let differing: Vec<(ScalarSpan, Role)> =
            scalars.iter().copied().zip(roles).filter(|(_, role)| differs(*role)).collect();
        let limit = |kind: LimitKind| Some((kind, record.headers.limits[kind as usize].limit?));
        let prototype = Prototype {
            row: Attempt { flags: Flags(row.flags.0 & !VARYING_FLAGS), ..row },
            detail,
            is_numbered: record.is_numbered(),
            limits: LimitKind::ALL.into_iter().filter_map(limit).collect(),
            names: record.origin_names().map(Box::from),
            origin: None,
        };
        let cuts = Varying::of(&differing)?;
        prototype.makes_same(made, &row, &cuts).then(|| Entry::cut(line, cuts, prototype))
    }

    /// Returns whether the prototype reproduces the row of the line it was learned from.
    fn makes_same(&self, made: &Made<'_, '_>, row: &Attempt, cuts: &[((usize, usize), Varying)]) -> bool {
        let Made { line, record, place, table, .. } = *made;
        let mut said = PerLine::new(place.zone);
        let mut is_read = |((start, end), step): &((usize, usize), Varying)| {
            step.read(line, *start, &mut said).is_some_and(|read| read == *end)
        };
        if !cuts.iter().all(&mut is_read) {
            return false;
        }
        let remaining = record.headers.limits.map(|reading| reading.remaining);
        let usage = said.usage().flatten().unwrap_or_default();
        self.row_of(&said, line, place).is_some_and(|mine| Attempt { run: row.run, detail: row.detail, ..mine } == *row)
            && usage == table.usage(table.rows.len() - 1)
            && remaining == said.remaining
    }

    /// Appends the attempt of `line`, given what varies in it. Returns `None` if the full record is needed.
    #[inline]
    pub(super) fn take(
        &mut self,
        line: &str,
        said: &PerLine<'_>,
        place: &Place<'_>,
        origins: &mut Origins,
        table: &mut AttemptTable,
    ) -> Option<()> {
        let (mut row, usage) = (self.row_of(said, line, place)?, said.usage()?);
        let names = &self.names;
        let origin = &*self.origin.get_or_insert_with(|| origins.of(&names.each_ref().map(|name| &**name), table));
        row.origin = origin.1;
        let answered = row.ended();
        for reading in readings(&self.limits, said) {
            table.headroom.add(&table.names, origin, answered, reading);
        }
        let (run, call) = self.names_of(said);
        let (request_id, request_hash) = (said.request_id(), body_hash(said.request_hash()));
        row.run = table.names.intern(run.unwrap_or(place.stream));
        match self.detail {
            None => {
                row.detail = keep_ids(table, (request_id, call), request_hash, place, row.number);
                table.push(row, None, usage);
            }
            Some(detail) => {
                let (request_id, call_id) =
                    (table.store_text(request_id.map(kept_id)), table.store_text(call.map(kept_id)));
                table.push(row, Some(Detail { request_id, call_id, request_hash, ..detail }), usage);
            }
        }
        Some(())
    }

    /// Returns the row of a line, except for what requires the table.
    #[inline(always)] // Moving the returned row costs as much as the rest.
    fn row_of(&self, said: &PerLine<'_>, line: &str, place: &Place<'_>) -> Option<Attempt> {
        let (sent, duration_ms) = place.conventions.sent(&said.moments()?)?;
        let (run, call) = self.names_of(said);
        let request_id = said.request_id();
        let mut flags = self.row.flags;
        flags.set(Flags::REQUEST_ID, request_id.is_some());
        flags.set(Flags::AWS_ID, said.aws_id);
        flags.set(Flags::NO_CALL_ID, call.is_none());
        flags.set(Flags::CHUNK_GAP, said.has_chunk_gap()?);
        flags.set(Flags::HEADROOM, readings(&self.limits, said).next().is_some());
        flags.set(Flags::COST, said.has_cost());
        Some(Attempt {
            sent,
            key: fingerprint(run, call, place.stream),
            file: place.file,
            line: place.line,
            identity: (FINGERPRINT.hash_one(request_id.unwrap_or(line)) >> 32) as u32,
            duration: duration_ms.map_or(CompactDuration::UNKNOWN, CompactDuration::from_ms),
            detail: DetailId::NONE,
            flags,
            ..self.row
        })
    }

    /// Returns the run and the call.
    #[inline]
    fn names_of<'l>(&self, said: &PerLine<'l>) -> (Option<&'l str>, Option<&'l str>) {
        let [run, call, group] = said.names();
        if self.is_numbered { (run, call.or(group)) } else { (run.or(group), call) }
    }
}

/// Returns the readings of the limits that a line has.
#[inline]
fn readings(limits: &[(LimitKind, i64)], said: &PerLine<'_>) -> impl Iterator<Item = Reading> {
    let remaining = said.remaining;
    limits.iter().filter_map(move |(kind, limit)| {
        Some(Reading { kind: *kind, limit: *limit, remaining: remaining[*kind as usize]? })
    })
}

/// Returns whether a value may substitute for a varying one that is missing, or decides what that one means.
fn stands_in(role: Role) -> bool {
    let Role::Is(target) = role else { return false };
    match target {
        Target::Headers | Target::RequestHeaders => true,
        Target::Field(field, _) => matches!(
            field,
            Field::TtftS
                | Field::ChunkGapS
                | Field::IdempotencyKey
                | Field::RecordHash
                | Field::ConvertedFrom
                | Field::RetryAfter
                | Field::RetryAfterMs
        ),
        Target::Header(header) => {
            matches!(header, Header::IdempotencyKey | Header::RetryAfter | Header::RetryAfterMs(_))
        }
        _ => false,
    }
}

/// Returns whether a value is stored for retries only.
fn is_of_retries(target: Target) -> bool {
    matches!(target, Target::Field(Field::MaxTokens | Field::TimeoutS | Field::TimeoutMs, _))
}

/// Returns whether a detail contains only ids and request parameters.
fn is_of_a_success(detail: &Detail) -> bool {
    let Detail { request_id, call_id, request_hash, max_tokens, timeout, .. } = *detail;
    *detail == Detail { request_id, call_id, request_hash, max_tokens, timeout, ..Detail::default() }
}

/// Limits the effort of learning prototypes in a log where nothing repeats.
#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    misses: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget { left: Self::MOST, misses: 0 }
    }
}

impl Budget {
    /// Cost of learning a prototype, in units of what one fitting line saves.
    const COST: u32 = 4;
    const MOST: u32 = 64 * Self::COST;
    /// Number of lines without a fit that grant the budget for one more prototype.
    const PATIENCE: u32 = 64;

    /// Records that a line fitted.
    pub(super) fn earn(&mut self) {
        self.left = (self.left + 1).min(Self::MOST);
    }

    /// Records that a line fitted none. Returns whether to learn from it.
    pub(super) fn spend(&mut self) -> bool {
        self.misses += 1;
        if self.misses.is_multiple_of(Self::PATIENCE) {
            self.left += Self::COST;
        }
        let enough = self.left >= Self::COST;
        if enough {
            self.left -= Self::COST;
        }
        enough
    }
}
