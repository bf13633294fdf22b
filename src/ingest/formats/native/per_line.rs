//! Values that differ from line to line: times, ids, durations, token counts and remaining limits.
//!
//! Throughout, `None` means that the full record is needed. What follows a value is not looked at: the constant bytes
//! after it do not fit if it is longer than what was read.

use super::plan::{Role, Target};
use super::trie::Step;
use crate::ingest::conventions::Moments;
use crate::ingest::record::digits;
use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names::{Header, LimitPart};
use crate::ingest::record::scan;
use crate::ingest::record::{DEAREST_USD, cost_micro_usd, ttft_ms_plus_1};
use crate::ingest::timestamp;
use crate::model::{Detail, LimitKind, Span, Time, Usage, Zone};

/// What a value that differs from line to line sets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    Ignored,
    /// Whether a platform gave an id.
    AwsId,
    Time(Moment),
    Text(Text),
    Tokens(Tokens),
    Remaining(LimitKind),
    Amount(Amount),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    Stamp,
    Started,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Text {
    Run,
    Call,
    Group,
    RequestHash,
    RequestId,
    /// Request id in the response headers.
    HeaderRequestId,
    /// Request id given by a proxy.
    ProxyRequestId,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Tokens {
    Input,
    Output,
    CacheRead,
    CacheWrite,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Amount {
    DurationMs,
    DurationS,
    DurationUs,
    DurationNs,
    DurationBare,
    TtftMs,
    ChunkGapMs,
    CostUsd,
}

impl Slot {
    /// Returns what a target sets; `None` for one that is the same in lines that are otherwise equal.
    fn of(target: Target) -> Option<Slot> {
        Some(match target {
            Target::Field(field, _) | Target::Usage(field) => match field {
                Field::Ts => Slot::Time(Moment::Stamp),
                Field::StartedAt => Slot::Time(Moment::Started),
                Field::EndedAt => Slot::Time(Moment::Ended),
                Field::DurationMs => Slot::Amount(Amount::DurationMs),
                Field::DurationS => Slot::Amount(Amount::DurationS),
                Field::DurationUs => Slot::Amount(Amount::DurationUs),
                Field::DurationNs => Slot::Amount(Amount::DurationNs),
                Field::DurationBare => Slot::Amount(Amount::DurationBare),
                Field::TtftMs => Slot::Amount(Amount::TtftMs),
                Field::ChunkGapMs => Slot::Amount(Amount::ChunkGapMs),
                Field::CostUsd => Slot::Amount(Amount::CostUsd),
                Field::RunId => Slot::Text(Text::Run),
                Field::CallId => Slot::Text(Text::Call),
                Field::GroupId => Slot::Text(Text::Group),
                Field::RequestHash => Slot::Text(Text::RequestHash),
                Field::RequestId => Slot::Text(Text::RequestId),
                Field::AwsRequestId => Slot::AwsId,
                Field::InputTokens => Slot::Tokens(Tokens::Input),
                Field::OutputTokens => Slot::Tokens(Tokens::Output),
                Field::CacheRead => Slot::Tokens(Tokens::CacheRead),
                Field::CacheWrite => Slot::Tokens(Tokens::CacheWrite),
                _ => return None,
            },
            Target::Header(header) => match header {
                Header::RequestId => Slot::Text(Text::HeaderRequestId),
                Header::ProxyRequestId => Slot::Text(Text::ProxyRequestId),
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
#[derive(Debug)]
pub(super) struct PerLine<'l> {
    /// Zone of times that name none.
    zone: Zone,
    /// By [`Moment`].
    times: [Option<Time>; 3],
    /// By [`Text`].
    texts: [Option<&'l str>; 7],
    /// By [`Tokens`].
    tokens: [Option<i64>; 4],
    /// By [`Amount`].
    amounts: [Option<f64>; 8],
    /// Remaining quota by [`LimitKind`].
    pub(super) remaining: [Option<i64>; LimitKind::ALL.len()],
    pub(super) aws_id: bool,
}

/// What one varying scalar of a line sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Varying {
    slot: Slot,
    /// Whether it must not be null: another spelling of its field, or another time, would then count.
    required: bool,
}

impl Varying {
    /// Returns what the scalars of these roles set; `None` if one value may stand in for another. Of a field with two
    /// spellings the preferred one counts, unless it is null.
    pub(super) fn of(roles: &[Role]) -> Option<Vec<Varying>> {
        let target = |role: &Role| match role {
            Role::Is(target) if varies(*target) => Some(*target),
            _ => None,
        };
        let mut targets: Vec<Option<Target>> = roles.iter().map(target).collect();
        let mut contested = vec![false; targets.len()];
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
            contested[winner] = true;
        }
        let varying = |(target, contested): (Option<Target>, bool)| {
            let slot = target.and_then(Slot::of);
            // A value that lost to a later one decides nothing.
            let required = matches!(slot, Some(Slot::Time(_))) || contested && slot.is_some();
            Varying { slot: slot.unwrap_or(Slot::Ignored), required }
        };
        Some(targets.into_iter().zip(contested).map(varying).collect())
    }
}

impl Step for Varying {
    type Values<'l> = PerLine<'l>;

    #[inline(always)] // A step of the loop that reads a line.
    fn read<'l>(self, line: &'l str, start: usize, values: &mut PerLine<'l>) -> Option<usize> {
        let rest = line.as_bytes().get(start..)?;
        if rest.first() == Some(&b'n') {
            return (rest.starts_with(b"null") && !self.required).then_some(start + 4);
        }
        let length = match self.slot {
            Slot::Ignored => scan::scalar(rest)?.1,
            Slot::AwsId => {
                values.aws_id = true;
                scan::scalar(rest)?.1
            }
            Slot::Time(which) => {
                let (time, length) = time(line, start, values.zone)?;
                values.times[which as usize] = Some(time);
                length
            }
            Slot::Text(which) => {
                let text = text(line, start)?;
                values.texts[which as usize] = Some(text);
                text.len() + 2
            }
            Slot::Tokens(which) => {
                let (tokens, length) = integer(rest)?;
                values.tokens[which as usize] = Some(tokens);
                length
            }
            Slot::Remaining(kind) => {
                let (remaining, length) = integer(rest)?;
                values.remaining[kind as usize] = Some(remaining);
                length
            }
            Slot::Amount(which) => {
                let (amount, length) = digits::leading_decimal(rest).filter(|(_, length)| is_number(rest, *length))?;
                values.amounts[which as usize] = Some(amount);
                length
            }
        };
        Some(start + length)
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
    /// Returns the values of a line of which nothing is read yet.
    pub(super) fn new(zone: Zone) -> PerLine<'l> {
        PerLine {
            zone,
            times: [None; 3],
            texts: [None; 7],
            tokens: [None; 4],
            amounts: [None; 8],
            remaining: [None; LimitKind::ALL.len()],
            aws_id: false,
        }
    }

    /// Returns an id; an empty one counts as none.
    #[inline]
    fn id(&self, which: Text) -> Option<&'l str> {
        self.texts[which as usize].filter(|text| !text.is_empty())
    }

    /// Returns the ids of the run, the call and the group.
    #[inline]
    pub(super) fn names(&self) -> [Option<&'l str>; 3] {
        [Text::Run, Text::Call, Text::Group].map(|which| self.id(which))
    }

    /// Returns the preferred request id.
    #[inline]
    pub(super) fn request_id(&self) -> Option<&'l str> {
        self.id(Text::RequestId).or_else(|| self.id(Text::HeaderRequestId)).or_else(|| self.id(Text::ProxyRequestId))
    }

    #[inline]
    pub(super) fn request_hash(&self) -> Option<&'l str> {
        self.texts[Text::RequestHash as usize]
    }

    /// Returns the times and the duration; `None` also for a line with two durations, which the full record compares.
    #[inline]
    pub(super) fn moments(&self) -> Option<Moments> {
        let [stamp, started, ended] = self.times;
        let [ms, s, us, ns, bare, ..] = self.amounts;
        let durations = [ms, s.map(|s| s * 1e3), us.map(|us| us / 1e3), ns.map(|ns| ns / 1e6)];
        let mut given = durations.into_iter().flatten();
        let (duration_ms, bare_ms) = (given.next(), bare.map(|ns| ns / 1e6));
        if given.next().is_some() || duration_ms.is_some() && bare.is_some() {
            return None;
        }
        possible(duration_ms.or(bare_ms), Span::LONGEST_MS)?;
        Some(Moments { stamp, started, ended, duration_ms, bare_duration: bare })
    }

    /// Returns whether a time between chunks is given; `None` also for a long one, which a detail beside the row stores.
    #[inline]
    pub(super) fn has_chunk_gap(&self) -> Option<bool> {
        let gap = self.amounts[Amount::ChunkGapMs as usize];
        gap.is_none_or(|ms| ms < Detail::LEAST_CHUNK_GAP_MS).then_some(gap.is_some())
    }

    #[inline]
    pub(super) fn has_cost(&self) -> bool {
        self.amounts[Amount::CostUsd as usize].is_some()
    }

    /// Returns the usage, if the line has any; `None` also for more than a row can store.
    #[inline]
    pub(super) fn usage(&self) -> Option<Option<Usage>> {
        let [.., ttft_ms, _, cost_usd] = self.amounts;
        if ttft_ms.is_none() && cost_usd.is_none() && self.tokens.iter().all(Option::is_none) {
            return Some(None);
        }
        possible(cost_usd, DEAREST_USD)?;
        possible(ttft_ms, Span::LONGEST_MS)?;
        let tokens = |which: Tokens| u32::try_from(self.tokens[which as usize].unwrap_or_default().max(0)).ok();
        Some(Some(Usage {
            input_tokens: tokens(Tokens::Input)?,
            output_tokens: tokens(Tokens::Output)?,
            cache_read_tokens: tokens(Tokens::CacheRead)?,
            cache_write_tokens: tokens(Tokens::CacheWrite)?,
            cost_micro_usd: cost_micro_usd(cost_usd),
            ttft_ms_plus_1: ttft_ms_plus_1(ttft_ms),
        }))
    }
}

/// Returns `None` for a number above `most`, which the record counts as misread.
#[inline]
fn possible(number: Option<f64>, most: f64) -> Option<()> {
    number.is_none_or(|number| number <= most).then_some(())
}

/// Returns the text without escapes whose quote is at `start` of the line.
#[inline(always)]
fn text(line: &str, start: usize) -> Option<&str> {
    let bytes = line.as_bytes();
    let end = scan::special(bytes, start + 1);
    if bytes.get(start) == Some(&b'"') && bytes.get(end) == Some(&b'"') { line.get(start + 1..end) } else { None }
}

/// Reads the integer, also in quotes, at the start of `bytes`, and returns its length.
#[inline(always)]
fn integer(bytes: &[u8]) -> Option<(i64, usize)> {
    let quote = usize::from(bytes.first() == Some(&b'"'));
    let minus = usize::from(bytes.get(quote) == Some(&b'-'));
    let digits = bytes.get(quote + minus..)?;
    let (value, count) = digits::leading(digits).filter(|(_, count)| *count > 0)?;
    let is_whole = if quote == 0 { is_number(digits, count) } else { digits.get(count) == Some(&b'"') };
    is_whole.then_some((if minus == 0 { value } else { -value }, quote + minus + count + quote))
}

/// Whether the digits at the start of `bytes`, `length` bytes with their fraction, are a number of JSON, which begins
/// with no zero unless that is its only digit before the point.
#[inline(always)]
fn is_number(bytes: &[u8], length: usize) -> bool {
    length == 1 || bytes.first() != Some(&b'0') || !bytes.get(1).is_some_and(u8::is_ascii_digit)
}

/// Reads the time at `start` of the line, and returns its length.
#[inline(always)]
fn time(line: &str, start: usize, zone: Zone) -> Option<(Time, usize)> {
    let rest = line.as_bytes().get(start..)?;
    if rest.first() != Some(&b'"') {
        let (value, length) = integer(rest)?;
        return Some((timestamp::from_integer(value)?, length));
    }
    match timestamp::leading_rfc3339_utc(&rest[1..]) {
        Some((time, length)) if rest.get(length + 1) == Some(&b'"') => Some((time, length + 2)),
        _ => other_time(line, start, zone),
    }
}

/// Like [`time`], for a text in any format.
#[inline(never)]
fn other_time(line: &str, start: usize, zone: Zone) -> Option<(Time, usize)> {
    let text = text(line, start)?;
    Some((timestamp::from_text(text, zone)?, text.len() + 2))
}
