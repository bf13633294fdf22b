//! Values that differ from line to line: times, ids, durations, token counts and remaining limits.
//!
//! Throughout, `None` means that the full record is needed.

use super::plan::{Role, Target};
use super::trie::ScalarSpan;
use crate::ingest::conventions::RecordTimes;
use crate::ingest::record::digits;
use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names::{Header, LimitPart};
use crate::ingest::record::scan::Kind;
use crate::ingest::record::{MAX_COST_USD, cost_micro_usd, ttft_ms_plus_1};
use crate::ingest::timestamp;
use crate::model::{Detail, LimitKind, Span, Time, Usage, Zone};

/// What a value that differs from line to line sets.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Stamp,
    Started,
    Ended,
    DurationMs,
    DurationS,
    DurationUs,
    DurationNs,
    DurationUnitless,
    TtftMs,
    ChunkGapMs,
    Run,
    Call,
    Group,
    RequestHash,
    /// Index in [`PerLine::request_ids`].
    RequestId(u8),
    AwsId,
    InputTokens,
    OutputTokens,
    CacheRead,
    CacheWrite,
    CostUsd,
    Remaining(LimitKind),
}

impl Slot {
    /// Returns what a target sets; `None` for one that is the same in lines that are otherwise equal.
    fn of(target: Target) -> Option<Slot> {
        Some(match target {
            Target::Field(field, _) | Target::Usage(field) => match field {
                Field::Ts => Slot::Stamp,
                Field::StartedAt => Slot::Started,
                Field::EndedAt => Slot::Ended,
                Field::DurationMs => Slot::DurationMs,
                Field::DurationS => Slot::DurationS,
                Field::DurationUs => Slot::DurationUs,
                Field::DurationNs => Slot::DurationNs,
                Field::DurationUnitless => Slot::DurationUnitless,
                Field::TtftMs => Slot::TtftMs,
                Field::ChunkGapMs => Slot::ChunkGapMs,
                Field::RunId => Slot::Run,
                Field::CallId => Slot::Call,
                Field::GroupId => Slot::Group,
                Field::RequestHash => Slot::RequestHash,
                Field::RequestId => Slot::RequestId(0),
                Field::AwsRequestId => Slot::AwsId,
                Field::InputTokens => Slot::InputTokens,
                Field::OutputTokens => Slot::OutputTokens,
                Field::CacheRead => Slot::CacheRead,
                Field::CacheWrite => Slot::CacheWrite,
                Field::CostUsd => Slot::CostUsd,
                _ => return None,
            },
            Target::Header(header) => match header {
                Header::RequestId => Slot::RequestId(1),
                Header::ProxyRequestId => Slot::RequestId(2),
                Header::AwsRequestId => Slot::AwsId,
                Header::Limit(LimitPart::Remaining, kind) => Slot::Remaining(kind),
                _ => return None,
            },
            _ => return None,
        })
    }
}

/// Returns whether a value differs from line to line in logs whose lines are otherwise equal.
pub(super) fn varies(target: Target) -> bool {
    Slot::of(target).is_some()
}

/// Returns whether such values are irrelevant for a successful attempt: reset times of limits, and the server's
/// clock.
pub(super) fn is_of_failures(target: Target) -> bool {
    use LimitPart::{Other, Reset, ResetOfRefusal};
    matches!(target, Target::Header(Header::Limit(Reset | ResetOfRefusal | Other, _) | Header::Date))
}

/// Values of one line for the targets that [`varies`] accepts.
#[derive(Debug, Default)]
pub(super) struct PerLine<'l> {
    pub(super) run: Option<&'l str>,
    pub(super) call: Option<&'l str>,
    pub(super) group: Option<&'l str>,
    pub(super) request_hash: Option<&'l str>,
    /// Request ids: the provider's own field, that of the response headers, and that of a proxy.
    pub(super) request_ids: [Option<&'l str>; 3],
    pub(super) aws_id: bool,
    pub(super) moments: RecordTimes,
    pub(super) usage: Option<Usage>,
    pub(super) has_cost: bool,
    pub(super) chunk_gap: bool,
    /// Remaining quota by [`LimitKind`].
    pub(super) remaining: [Option<i64>; LimitKind::ALL.len()],
    /// Number of durations found.
    durations: u8,
}

/// The varying scalars of a line and their targets.
#[derive(Debug)]
pub(super) struct VaryingTargets {
    /// What each scalar sets, in line order; `None` for scalars that are ignored.
    slots: Box<[Option<Slot>]>,
    /// Indices of fields with two spellings: the preferred spelling counts unless it is null.
    contested: Box<[usize]>,
}

impl VaryingTargets {
    /// Returns the targets for these roles; `None` if one value may stand in for another.
    pub(super) fn new(roles: &[Role]) -> Option<VaryingTargets> {
        let target = |role: &Role| match role {
            Role::Is(target) if varies(*target) => Some(*target),
            _ => None,
        };
        let mut targets: Vec<Option<Target>> = roles.iter().map(target).collect();
        let mut contested = Vec::new();
        for later in 0..targets.len() {
            let Some(mine) = targets[later] else { continue };
            let Some(known) = targets[..later].iter().position(|known| known.is_some_and(|it| it.rivals(mine))) else {
                continue;
            };
            let (winner, loser) = match (targets[known], mine) {
                (Some(Target::Field(_, first)), Target::Field(_, second)) if first < second => (known, later),
                (Some(Target::Field(_, first)), Target::Field(_, second)) if first > second => (later, known),
                _ => return None,
            };
            targets[loser] = None;
            contested.push(winner);
        }
        // A value that lost to a later one decides nothing.
        contested.retain(|place| targets[*place].is_some());
        let slots = targets.into_iter().map(|target| Slot::of(target?)).collect();
        Some(VaryingTargets { slots, contested: contested.into() })
    }
}

impl Target {
    /// Returns whether both values are for the same field, so that only one of them counts.
    fn rivals(self, other: Target) -> bool {
        match (self, other) {
            // Only its presence matters.
            (Target::Field(Field::AwsRequestId, _), _) => false,
            (Target::Field(a, _) | Target::Usage(a), Target::Field(b, _) | Target::Usage(b)) => a == b,
            (Target::Header(Header::AwsRequestId), _) => false,
            (Target::Header(a), Target::Header(b)) => a == b,
            _ => false,
        }
    }
}

impl<'l> PerLine<'l> {
    /// Reads the varying values of `line`, given its scalars.
    #[inline]
    pub(super) fn read(
        &mut self,
        line: &'l str,
        scalars: &[ScalarSpan],
        of_line: &VaryingTargets,
        zone: Zone,
    ) -> Option<()> {
        for (scalar, slot) in scalars.iter().zip(&of_line.slots) {
            if let Some(slot) = slot {
                self.set(*slot, Value { line, scalar }, zone)?;
            }
        }
        let is_null = |place: &usize| scalars.get(*place).is_none_or(|scalar| scalar.kind == Kind::Null);
        // Lines with two durations need the full record, where they are compared.
        (self.durations < 2 && !of_line.contested.iter().any(is_null)).then_some(())
    }

    /// Returns the preferred request id.
    #[inline]
    pub(super) fn request_id(&self) -> Option<&'l str> {
        let [own, of_headers, of_proxy] = self.request_ids;
        own.or(of_headers).or(of_proxy)
    }

    #[inline(always)] // A step of the loop that reads a line.
    fn set(&mut self, slot: Slot, value: Value<'l, '_>, zone: Zone) -> Option<()> {
        match slot {
            Slot::Stamp => self.moments.stamp = Some(value.time(zone)?),
            Slot::Started => self.moments.started = Some(value.time(zone)?),
            Slot::Ended => self.moments.ended = Some(value.time(zone)?),
            Slot::Run => self.run = value.name()?,
            Slot::Call => self.call = value.name()?,
            Slot::Group => self.group = value.name()?,
            Slot::RequestHash => self.request_hash = value.words()?,
            Slot::RequestId(place) => *self.request_ids.get_mut(usize::from(place))? = value.name()?,
            Slot::AwsId => self.aws_id |= value.is_some(),
            Slot::Remaining(kind) => self.remaining[kind as usize] = value.integer()?,
            Slot::DurationMs => self.took(value.number()?)?,
            Slot::DurationS => self.took(value.number()?.map(|s| s * 1e3))?,
            Slot::DurationUs => self.took(value.number()?.map(|us| us / 1e3))?,
            Slot::DurationNs => self.took(value.number()?.map(|ns| ns / 1e6))?,
            Slot::DurationUnitless => {
                self.moments.unitless_duration = value.number()?;
                possible(self.moments.unitless_duration.map(|ns| ns / 1e6), Span::LONGEST_MS)?;
                self.durations += u8::from(self.moments.unitless_duration.is_some());
            }
            Slot::InputTokens => self.consumed(value.integer()?, |usage| &mut usage.input_tokens)?,
            Slot::OutputTokens => self.consumed(value.integer()?, |usage| &mut usage.output_tokens)?,
            Slot::CacheRead => self.consumed(value.integer()?, |usage| &mut usage.cache_read_tokens)?,
            Slot::CacheWrite => self.consumed(value.integer()?, |usage| &mut usage.cache_write_tokens)?,
            Slot::CostUsd => {
                let usd = value.number()?;
                possible(usd, MAX_COST_USD)?;
                if let Some(usd) = usd.filter(|usd| *usd >= 0.0) {
                    self.has_cost = true;
                    self.usage.get_or_insert_default().cost_micro_usd = cost_micro_usd(Some(usd));
                }
            }
            Slot::TtftMs => {
                let ttft = value.number()?;
                possible(ttft, Span::LONGEST_MS)?;
                if let Some(ms) = ttft.filter(|ms| *ms >= 0.0) {
                    self.usage.get_or_insert_default().ttft_ms_plus_1 = ttft_ms_plus_1(Some(ms));
                }
            }
            Slot::ChunkGapMs => {
                let gap = value.number()?;
                // A long gap is stored in a detail beside the row.
                if gap.is_some_and(|ms| ms >= Detail::LEAST_CHUNK_GAP_MS) {
                    return None;
                }
                self.chunk_gap = gap.is_some();
            }
        }
        Some(())
    }

    /// Sets a token count; `None` for more tokens than a row can store.
    fn consumed(&mut self, tokens: Option<i64>, which: impl FnOnce(&mut Usage) -> &mut u32) -> Option<()> {
        if let Some(tokens) = tokens {
            *which(self.usage.get_or_insert_default()) = u32::try_from(tokens.max(0)).ok()?;
        }
        Some(())
    }

    #[inline]
    fn took(&mut self, ms: Option<f64>) -> Option<()> {
        possible(ms, Span::LONGEST_MS)?;
        self.durations += u8::from(ms.is_some());
        self.moments.duration_ms = ms.or(self.moments.duration_ms);
        Some(())
    }
}

/// Returns `None` for a number above `most`, which the record counts as unreadable.
#[inline]
fn possible(number: Option<f64>, most: f64) -> Option<()> {
    number.is_none_or(|number| number <= most).then_some(())
}

/// Value of one scalar. Its accessors return `Some(None)` for null.
#[derive(Clone, Copy)]
struct Value<'l, 's> {
    line: &'l str,
    scalar: &'s ScalarSpan,
}

impl<'l> Value<'l, '_> {
    /// Returns the bytes of the scalar without its `quotes` at either end.
    #[inline]
    fn bytes(self, quotes: usize) -> &'l [u8] {
        let end = (self.scalar.end as usize).saturating_sub(quotes);
        self.line.as_bytes().get(self.scalar.start as usize + quotes..end).unwrap_or_default()
    }

    fn is_some(self) -> bool {
        self.scalar.kind != Kind::Null
    }

    #[inline]
    fn words(self) -> Option<Option<&'l str>> {
        match self.scalar.kind {
            Kind::Null => Some(None),
            Kind::Text => self.scalar.inside(self.line).map(Some),
            _ => None,
        }
    }

    /// Like [`Value::words`] for an id: an empty one counts as null.
    #[inline]
    fn name(self) -> Option<Option<&'l str>> {
        self.words().map(|text| text.filter(|text| !text.is_empty()))
    }

    #[inline]
    fn integer(self) -> Option<Option<i64>> {
        match self.scalar.kind {
            Kind::Null => Some(None),
            Kind::Integer => digits::integer(self.bytes(0)).map(Some),
            Kind::Text => digits::integer(self.bytes(1)).map(Some),
            _ => None,
        }
    }

    /// Returns a number that is not in quotes.
    #[inline]
    fn number(self) -> Option<Option<f64>> {
        match self.scalar.kind {
            Kind::Null => Some(None),
            Kind::Integer | Kind::Decimal => digits::decimal(self.bytes(0)).map(Some),
            _ => None,
        }
    }

    /// Returns a time; `None` also if it is null.
    #[inline(always)]
    fn time(self, zone: Zone) -> Option<Time> {
        match self.scalar.kind {
            Kind::Text => timestamp::from_text(self.words()??, zone),
            Kind::Integer => timestamp::from_integer(digits::integer(self.bytes(0))?),
            _ => None,
        }
    }
}
