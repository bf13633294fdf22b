//! Values that differ from line to line: times, ids, durations, token counts and remaining limits.
//!
//! Throughout, `None` means that the full record is needed.

use super::plan::{Role, Target};
use super::trie::ScalarSpan;
use crate::ingest::conventions::Moments;
use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names::{Header, LimitPart};
use crate::ingest::record::scan::{self, Kind};
use crate::ingest::record::{DEAREST_USD, cost_micro_usd, ttft_ms_plus_1};
use crate::ingest::timestamp;
use crate::model::{Detail, LimitKind, Span, Time, Usage, Zone};

/// Returns whether a value differs from line to line in logs whose lines are otherwise equal.
pub(super) fn varies(target: Target) -> bool {
    match target {
        Target::Field(field, _) | Target::Usage(field) => matches!(
            field,
            Field::RequestHash
                | Field::Ts
                | Field::StartedAt
                | Field::EndedAt
                | Field::DurationMs
                | Field::DurationS
                | Field::DurationUs
                | Field::DurationNs
                | Field::DurationBare
                | Field::TtftMs
                | Field::ChunkGapMs
                | Field::RunId
                | Field::CallId
                | Field::GroupId
                | Field::RequestId
                | Field::AwsRequestId
                | Field::InputTokens
                | Field::OutputTokens
                | Field::CacheRead
                | Field::CacheWrite
                | Field::CostUsd
        ),
        Target::Header(header) => matches!(
            header,
            Header::RequestId | Header::ProxyRequestId | Header::AwsRequestId | Header::Limit(LimitPart::Remaining, _)
        ),
        _ => false,
    }
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
    pub(super) moments: Moments,
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
    /// Targets in line order; `None` for scalars that are ignored.
    targets: Box<[Option<Target>]>,
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
        Some(VaryingTargets { targets: targets.into(), contested: contested.into() })
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
        for (scalar, target) in scalars.iter().zip(&of_line.targets) {
            let value = Value { line, scalar: *scalar };
            match target {
                None => {}
                Some(Target::Field(field, _) | Target::Usage(field)) => self.set(*field, value, zone)?,
                Some(Target::Header(header)) => self.set_header(*header, value)?,
                Some(_) => return None,
            }
        }
        let is_null = |place: &usize| scalars.get(*place).is_none_or(|scalar| scalar.kind == Kind::Null);
        // Lines with two durations need the full record, where they are compared.
        (self.durations < 2 && !of_line.contested.iter().any(is_null)).then_some(())
    }

    /// Returns the preferred request id.
    #[inline]
    pub(super) fn request_id(&self) -> Option<&'l str> {
        self.request_ids.into_iter().flatten().next()
    }

    #[inline]
    fn set(&mut self, field: Field, value: Value<'l>, zone: Zone) -> Option<()> {
        match field {
            Field::Ts => self.moments.stamp = Some(value.time(zone)?),
            Field::StartedAt => self.moments.started = Some(value.time(zone)?),
            Field::EndedAt => self.moments.ended = Some(value.time(zone)?),
            Field::RunId => self.run = value.name()?,
            Field::CallId => self.call = value.name()?,
            Field::GroupId => self.group = value.name()?,
            Field::RequestHash => self.request_hash = value.words()?,
            Field::RequestId => self.request_ids[0] = value.name()?,
            Field::AwsRequestId => self.aws_id |= value.is_some(),
            Field::DurationMs => self.took(value.number()?)?,
            Field::DurationS => self.took(value.number()?.map(|s| s * 1e3))?,
            Field::DurationUs => self.took(value.number()?.map(|us| us / 1e3))?,
            Field::DurationNs => self.took(value.number()?.map(|ns| ns / 1e6))?,
            Field::DurationBare => {
                self.moments.bare_duration = value.number()?;
                possible(self.moments.bare_duration.map(|ns| ns / 1e6), Span::LONGEST_MS)?;
                self.durations += u8::from(self.moments.bare_duration.is_some());
            }
            Field::InputTokens => self.consumed(value.integer()?, |usage| &mut usage.input_tokens)?,
            Field::OutputTokens => self.consumed(value.integer()?, |usage| &mut usage.output_tokens)?,
            Field::CacheRead => self.consumed(value.integer()?, |usage| &mut usage.cache_read_tokens)?,
            Field::CacheWrite => self.consumed(value.integer()?, |usage| &mut usage.cache_write_tokens)?,
            Field::CostUsd => {
                let usd = value.number()?;
                possible(usd, DEAREST_USD)?;
                if let Some(usd) = usd.filter(|usd| *usd >= 0.0) {
                    self.has_cost = true;
                    self.usage.get_or_insert_default().cost_micro_usd = cost_micro_usd(Some(usd));
                }
            }
            Field::TtftMs => {
                let ttft = value.number()?;
                possible(ttft, Span::LONGEST_MS)?;
                if let Some(ms) = ttft.filter(|ms| *ms >= 0.0) {
                    self.usage.get_or_insert_default().ttft_ms_plus_1 = ttft_ms_plus_1(Some(ms));
                }
            }
            Field::ChunkGapMs => {
                let gap = value.number()?;
                // A long gap is stored in a detail beside the row.
                if gap.is_some_and(|ms| ms >= Detail::LEAST_CHUNK_GAP_MS) {
                    return None;
                }
                self.chunk_gap = gap.is_some();
            }
            // No other field varies.
            _ => return None,
        }
        Some(())
    }

    #[inline]
    fn set_header(&mut self, header: Header, value: Value<'l>) -> Option<()> {
        match header {
            Header::RequestId => self.request_ids[1] = value.name()?,
            Header::ProxyRequestId => self.request_ids[2] = value.name()?,
            Header::AwsRequestId => self.aws_id |= value.is_some(),
            Header::Limit(LimitPart::Remaining, kind) => self.remaining[kind as usize] = value.integer()?,
            // No other header varies.
            _ => return None,
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

/// Returns `None` for a number above `most`, which the record counts as misread.
#[inline]
fn possible(number: Option<f64>, most: f64) -> Option<()> {
    number.is_none_or(|number| number <= most).then_some(())
}

/// Value of one scalar. Its accessors return `Some(None)` for null.
#[derive(Clone, Copy)]
struct Value<'l> {
    line: &'l str,
    scalar: ScalarSpan,
}

impl<'l> Value<'l> {
    fn bytes(self) -> &'l [u8] {
        self.line.as_bytes().get(self.scalar.start as usize..self.scalar.end as usize).unwrap_or_default()
    }

    fn is_some(self) -> bool {
        self.scalar.kind != Kind::Null
    }

    #[inline]
    fn words(self) -> Option<Option<&'l str>> {
        match self.scalar.kind {
            Kind::Null => Some(None),
            Kind::Text => self.line.get(self.scalar.start as usize..self.scalar.end as usize).map(Some),
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
            Kind::Integer | Kind::Text => scan::integer(self.bytes()).map(Some),
            _ => None,
        }
    }

    /// Returns a number that is not in quotes.
    #[inline]
    fn number(self) -> Option<Option<f64>> {
        match self.scalar.kind {
            Kind::Null => Some(None),
            Kind::Integer | Kind::Decimal => scan::decimal(self.bytes()).map(Some),
            _ => None,
        }
    }

    /// Returns a time; `None` also if it is null.
    #[inline]
    fn time(self, zone: Zone) -> Option<Time> {
        match self.scalar.kind {
            Kind::Text => timestamp::from_text(self.words()??, zone),
            Kind::Integer => timestamp::from_integer(scan::integer(self.bytes())?),
            _ => None,
        }
    }
}
