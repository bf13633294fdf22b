//! The row of a line as a pattern for others: most lines of a log differ from one before only in times, ids and amounts.

use super::per_line::{PerLine, VaryingTargets, is_of_failures, varies};
use super::plan::{Plan, Role, Target};
use super::trie::{Entry, ScalarSpan};
use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names::Header;
use crate::ingest::record::origins::{NAMES, Origins};
use crate::ingest::record::scan::Kind;
use crate::ingest::record::{FINGERPRINT, Place, Record, body_hash, fingerprint, keep_ids, kept_id};
use crate::model::{Attempt, AttemptTable, Detail, DetailId, Flags, LimitKind, Origin, OriginId, Reading, Span};
use std::hash::BuildHasher;

/// Flags that follow from what varies.
const VARYING_FLAGS: u32 =
    Flags::REQUEST_ID | Flags::AWS_ID | Flags::NO_CALL_ID | Flags::CHUNK_GAP | Flags::HEADROOM | Flags::COST;

/// What is known of all lines with the same constant bytes.
#[derive(Debug)]
pub(super) struct Prototype {
    /// The row of the line it was learnt from.
    row: Attempt,
    /// The detail of that row: of a retry, without its ids.
    detail: Option<Detail>,
    /// Attempts are numbered, so that a group is a call.
    is_numbered: bool,
    /// What is allowed per interval, by [`LimitKind`].
    limits: [Option<i64>; LimitKind::ALL.len()],
    names: [Box<str>; NAMES],
    /// The origin they make in the table at hand, once it was asked for.
    pub(super) origin: Option<(Origin, OriginId)>,
    targets: VaryingTargets,
}

/// A line whose row was made, and all that it was made of.
pub(super) struct Made<'l, 'a> {
    pub(super) line: &'l str,
    pub(super) scalars: &'a [ScalarSpan],
    pub(super) plan: &'a Plan,
    pub(super) record: &'a Record<'l>,
    pub(super) place: &'a Place<'a>,
    pub(super) table: &'a AttemptTable,
}

impl Prototype {
    /// Whether the row of a record may be a prototype: it succeeded, and nothing but its own values was made use of.
    pub(super) fn is_possible(record: &Record<'_>, row: &Attempt) -> bool {
        row.class.is_none()
            && (200..300).contains(&row.status)
            && !record.outcome_is_nested
            && !record.error.present
            && !record.whole_seconds
            && record.misread.is_empty()
    }

    /// The prototype that a line makes; `None` where its row says something that others like it need not say.
    pub(super) fn learn(made: &Made<'_, '_>) -> Option<Entry<Prototype>> {
        let Made { line, scalars, plan, record, table, .. } = *made;
        let row = *table.rows.last()?;
        let detail = table.detail(&row).copied();
        let roles = plan.roles();
        let stands_in = |(scalar, role): (&ScalarSpan, &Role)| scalar.kind != Kind::Null && stands_in(*role);
        if scalars.iter().zip(&roles).any(stands_in) || detail.is_some_and(|detail| !is_of_a_success(&detail)) {
            return None;
        }
        let differs = |role: Role| match role {
            Role::Free => true,
            Role::Is(target) => varies(target) || is_of_failures(target) || (detail.is_none() && is_of_retries(target)),
            Role::Part => false,
        };
        let (cuts, roles): (Vec<_>, Vec<Role>) = scalars
            .iter()
            .zip(roles)
            .filter(|(_, role)| differs(*role))
            .map(|(scalar, role)| (scalar.with_quotes(), role))
            .unzip();
        let prototype = Prototype {
            row: Attempt { flags: Flags(row.flags.0 & !VARYING_FLAGS), ..row },
            detail,
            is_numbered: record.is_numbered(),
            limits: record.headers.limits.map(|reading| reading.limit),
            names: record.origin_names().map(Box::from),
            origin: None,
            targets: VaryingTargets::new(&roles)?,
        };
        prototype.makes_same(made, &row, &cuts).then(|| Entry::cut(line, cuts, prototype))
    }

    /// Whether it makes of the line it was learnt from what that became.
    fn makes_same(&self, made: &Made<'_, '_>, row: &Attempt, cuts: &[(usize, usize)]) -> bool {
        let Made { line, scalars, record, place, table, .. } = *made;
        let of_cut: Vec<ScalarSpan> =
            scalars.iter().filter(|scalar| cuts.contains(&scalar.with_quotes())).copied().collect();
        let mut said = PerLine::default();
        if said.read(line, &of_cut, &self.targets, place.zone).is_none() {
            return false;
        }
        let remaining = record.headers.limits.map(|reading| reading.remaining);
        let usage = said.usage.unwrap_or_default();
        self.row_of(&said, line, place).is_some_and(|mine| Attempt { run: row.run, detail: row.detail, ..mine } == *row)
            && usage == table.usage(table.rows.len() - 1)
            && remaining == said.remaining
    }

    /// Appends the attempt of `line`, whose scalars these are, unless the record must be looked at as a whole.
    #[inline]
    pub(super) fn take(
        &mut self,
        line: &str,
        scalars: &[ScalarSpan],
        place: &Place<'_>,
        origins: &mut Origins,
        table: &mut AttemptTable,
    ) -> Option<()> {
        // It is large, and best not moved.
        let mut said = PerLine::default();
        said.read(line, scalars, &self.targets, place.zone)?;
        let mut row = self.row_of(&said, line, place)?;
        let names = &self.names;
        let origin = *self.origin.get_or_insert_with(|| origins.of(&names.each_ref().map(|name| &**name), table));
        row.origin = origin.1;
        let answered = row.ended();
        for kind in LimitKind::ALL {
            if let (Some(limit), Some(remaining)) = (self.limits[kind as usize], said.remaining[kind as usize]) {
                table.gauges.add(&table.names, origin, answered, Reading { kind, limit, remaining });
            }
        }
        let (run, call) = self.names_of(&said);
        let (request_id, request_hash) = (said.request_id(), body_hash(said.request_hash));
        row.run = table.names.intern(run.unwrap_or(place.stream));
        let detail = self.detail.map(|detail| Detail {
            request_id: table.keep(request_id.map(kept_id)),
            call_id: table.keep(call.map(kept_id)),
            request_hash,
            ..detail
        });
        if detail.is_none() {
            row.detail = keep_ids(table, request_id, call, request_hash, row.number);
        }
        table.push(row, detail, said.usage);
        Some(())
    }

    /// The row of what a line says, as far as it needs no table.
    #[inline(always)] // It moves a row, which costs as much as the rest.
    fn row_of(&self, said: &PerLine<'_>, line: &str, place: &Place<'_>) -> Option<Attempt> {
        let (sent, duration_ms) = place.conventions.sent(&said.moments)?;
        let (run, call) = self.names_of(said);
        let request_id = said.request_id();
        let has_reading =
            self.limits.iter().zip(&said.remaining).any(|(limit, left)| limit.is_some() && left.is_some());
        let mut flags = self.row.flags;
        flags.set(Flags::REQUEST_ID, request_id.is_some());
        flags.set(Flags::AWS_ID, said.aws_id);
        flags.set(Flags::NO_CALL_ID, call.is_none());
        flags.set(Flags::CHUNK_GAP, said.chunk_gap);
        flags.set(Flags::HEADROOM, has_reading);
        flags.set(Flags::COST, said.has_cost);
        Some(Attempt {
            sent,
            key: fingerprint(run, call, place.stream),
            file: place.file,
            line: place.line,
            identity: (FINGERPRINT.hash_one(request_id.unwrap_or(line)) >> 32) as u32,
            duration: duration_ms.map_or(Span::UNKNOWN, Span::from_ms),
            detail: DetailId::NONE,
            flags,
            ..self.row
        })
    }

    /// The run and the call.
    #[inline]
    fn names_of<'l>(&self, said: &PerLine<'l>) -> (Option<&'l str>, Option<&'l str>) {
        let PerLine { run, call, group, .. } = *said;
        if self.is_numbered { (run, call.or(group)) } else { (run.or(group), call) }
    }
}

/// Whether a value may count in place of one that varies and is not there, or decide what such a one means.
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

/// Whether a value is kept of retries alone.
fn is_of_retries(target: Target) -> bool {
    matches!(target, Target::Field(Field::MaxTokens | Field::TimeoutS | Field::TimeoutMs, _))
}

/// Whether a detail has nothing but ids and what a request asked for.
fn is_of_a_success(detail: &Detail) -> bool {
    let Detail { request_id, call_id, request_hash, max_tokens, timeout, .. } = *detail;
    *detail == Detail { request_id, call_id, request_hash, max_tokens, timeout, ..Detail::default() }
}

/// What may be spent on learning prototypes: a log in which nothing repeats is not searched for what does.
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
    /// Learning a prototype costs about what a line saves that fits one, times this.
    const COST: u32 = 4;
    const MOST: u32 = 64 * Self::COST;
    /// So many lines that fit none buy one more.
    const PATIENCE: u32 = 64;

    /// A line fitted.
    pub(super) fn earn(&mut self) {
        self.left = (self.left + 1).min(Self::MOST);
    }

    /// A line fitted none: whether to learn from it.
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
