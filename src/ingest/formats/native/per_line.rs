//! Values that differ from line to line: times, ids, durations, token counts and remaining limits.
//!
//! Throughout, `None` means that the full record is needed. What follows a value, such as a closing quote, is not looked
//! at: the constant bytes after it would not fit.

use super::plan::{Role, Target};
use super::slot::{Amount, Slot, Text, Tokens, Unit, varies};
use super::trie::{ScalarSpan, Step};
use crate::ingest::conventions::RecordTimes;
use crate::ingest::record::digits;
use crate::ingest::record::scan::{self, Kind};
use crate::ingest::record::{MAX_COST_USD, cost_micro_usd, ttft_ms_plus_1};
use crate::ingest::timestamp;
use crate::model::{CompactDuration, Detail, LimitKind, Time, Usage, Zone};

/// Values of one line for the targets that [`varies`] accepts.
#[derive(Debug)]
pub(super) struct PerLine<'l> {
    /// Zone of times that name none.
    zone: Zone,
    /// By [`super::slot::Moment`].
    times: [Option<Time>; 3],
    /// By [`Text`].
    texts: [Option<&'l str>; 7],
    /// By [`Tokens`].
    tokens: [Option<i64>; 4],
    duration: Option<(Unit, f64)>,
    /// By [`Amount`].
    amounts: [Option<f64>; 3],
    /// Remaining quota by [`LimitKind`].
    pub(super) remaining: [Option<i64>; LimitKind::ALL.len()],
    pub(super) aws_id: bool,
}

/// What one varying scalar of a line sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Varying {
    slot: Slot,
    /// Whether the constant bytes around it have its quotes.
    quoted: bool,
    /// Whether it must not be null: another spelling of its field, or another time, would then count.
    required: bool,
}

impl Varying {
    /// Returns what each of these scalars sets, given with its role, and where it is read from and to. `None` if one
    /// value may stand in for another. Of a field with two spellings the preferred one counts, unless it is null. A line
    /// with two durations needs the full record, where they are compared.
    pub(super) fn of(scalars: &[(ScalarSpan, Role)]) -> Option<Vec<((usize, usize), Varying)>> {
        let target = |(_, role): &(ScalarSpan, Role)| match role {
            Role::Is(target) if varies(*target) => Some(*target),
            _ => None,
        };
        let mut targets: Vec<Option<Target>> = scalars.iter().map(target).collect();
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
        let slots: Vec<Slot> =
            targets.into_iter().map(|target| target.and_then(Slot::of).unwrap_or(Slot::Ignored)).collect();
        let durations = slots.iter().filter(|slot| matches!(slot, Slot::Duration(_))).count();
        let varying = |((scalar, _), (slot, contested)): (&(ScalarSpan, Role), (&Slot, bool))| {
            let (start, end) = scalar.ends();
            // A value that lost to a later one decides nothing.
            let required = matches!(slot, Slot::Time(_)) || contested && *slot != Slot::Ignored;
            let quoted = scalar.kind == Kind::Text && !matches!(slot, Slot::Ignored | Slot::AwsId);
            let quotes = usize::from(quoted);
            ((start + quotes, end - quotes), Varying { slot: *slot, quoted, required })
        };
        let all = || scalars.iter().zip(slots.iter().zip(contested)).map(varying).collect();
        (durations < 2).then(all)
    }
}

impl Step for Varying {
    type Values<'l> = PerLine<'l>;

    #[inline(always)] // A step of the loop that reads a line.
    fn read<'l>(self, line: &'l str, start: usize, values: &mut PerLine<'l>) -> Option<usize> {
        let rest = line.as_bytes().get(start..)?;
        if !self.quoted && rest.first() == Some(&b'n') {
            return (rest.starts_with(b"null") && !self.required).then_some(start + 4);
        }
        let length = match self.slot {
            Slot::Ignored => scan::scalar(rest)?.1,
            Slot::AwsId => {
                values.aws_id = true;
                scan::scalar(rest)?.1
            }
            Slot::Time(which) => {
                let (time, length) = if self.quoted { time(rest, values.zone)? } else { epoch(rest)? };
                values.times[which as usize] = Some(time);
                length
            }
            Slot::Text(_) if !self.quoted => return None,
            Slot::Text(which) => {
                let end = scan::special(line.as_bytes(), start);
                values.texts[which as usize] = line.get(start..end);
                end - start
            }
            Slot::Tokens(which) => {
                let (tokens, length) = self.integer(rest)?;
                values.tokens[which as usize] = Some(tokens);
                length
            }
            Slot::Remaining(kind) => {
                let (remaining, length) = self.integer(rest)?;
                values.remaining[kind as usize] = Some(remaining);
                length
            }
            Slot::Duration(unit) => {
                let (duration, length) = self.number(rest)?;
                values.duration = Some((unit, duration));
                length
            }
            Slot::Amount(which) => {
                let (amount, length) = self.number(rest)?;
                values.amounts[which as usize] = Some(amount);
                length
            }
        };
        Some(start + length)
    }
}

impl Varying {
    /// Reads the integer at the start of `bytes`, and returns its length.
    #[inline(always)]
    fn integer(self, bytes: &[u8]) -> Option<(i64, usize)> {
        match digits::leading(bytes)? {
            (_, 0) => self.negative(bytes),
            read => (self.quoted || is_number(bytes)).then_some(read),
        }
    }

    #[cold]
    fn negative(self, bytes: &[u8]) -> Option<(i64, usize)> {
        let digits = bytes.strip_prefix(b"-").filter(|digits| self.quoted || is_number(digits))?;
        let (value, count) = digits::leading(digits).filter(|(_, count)| *count > 0)?;
        Some((-value, count + 1))
    }

    /// Reads the number at the start of `bytes`, which is not in quotes, and returns its length.
    #[inline(always)]
    fn number(self, bytes: &[u8]) -> Option<(f64, usize)> {
        if self.quoted || !is_number(bytes) { None } else { digits::leading_decimal(bytes) }
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
            duration: None,
            amounts: [None; 3],
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

    /// Returns the times and the duration.
    #[inline]
    pub(super) fn moments(&self) -> Option<RecordTimes> {
        let [stamp, started, ended] = self.times;
        let (duration_ms, unitless_duration) = match self.duration {
            Some((Unit::Ms, ms)) => (Some(ms), None),
            Some((Unit::S, s)) => (Some(s * 1e3), None),
            Some((Unit::Us, us)) => (Some(us / 1e3), None),
            Some((Unit::Ns, ns)) => (Some(ns / 1e6), None),
            Some((Unit::Bare, bare)) => {
                possible(Some(bare / 1e6), CompactDuration::LONGEST_MS)?;
                (None, Some(bare))
            }
            None => (None, None),
        };
        possible(duration_ms, CompactDuration::LONGEST_MS)?;
        Some(RecordTimes { stamp, started, ended, duration_ms, unitless_duration })
    }

    /// Returns whether a time between chunks is given; `None` also for a long one, which a detail beside the row stores,
    /// and for a negative one, which counts as unreadable.
    #[inline]
    pub(super) fn has_chunk_gap(&self) -> Option<bool> {
        let gap = self.amounts[Amount::ChunkGapMs as usize];
        gap.is_none_or(|ms| (0.0..Detail::MIN_CHUNK_GAP_MS).contains(&ms)).then_some(gap.is_some())
    }

    #[inline]
    pub(super) fn has_cost(&self) -> bool {
        self.amounts[Amount::CostUsd as usize].is_some()
    }

    /// Returns the usage, if the line has any; `None` also for amounts that are negative or more than a row
    /// can store, which count as unreadable.
    #[inline]
    pub(super) fn usage(&self) -> Option<Option<Usage>> {
        let [ttft_ms, _, cost_usd] = self.amounts;
        if ttft_ms.is_none() && cost_usd.is_none() && self.tokens.iter().all(Option::is_none) {
            return Some(None);
        }
        possible(cost_usd, MAX_COST_USD)?;
        possible(ttft_ms, CompactDuration::LONGEST_MS)?;
        let tokens = |which: Tokens| u32::try_from(self.tokens[which as usize].unwrap_or_default()).ok();
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

/// Returns `None` for a number that is negative or above `most`, which the record counts as unreadable.
#[inline]
fn possible(number: Option<f64>, most: f64) -> Option<()> {
    number.is_none_or(|number| (0.0..=most).contains(&number)).then_some(())
}

/// Whether digits are a number of JSON, which begins with no zero unless that is its only digit before the point.
#[inline(always)]
fn is_number(digits: &[u8]) -> bool {
    digits.first() != Some(&b'0') || !digits.get(1).is_some_and(u8::is_ascii_digit)
}

/// Reads the number since the epoch at the start of `bytes`, and returns its length.
fn epoch(bytes: &[u8]) -> Option<(Time, usize)> {
    let (value, count) = digits::leading(bytes).filter(|(_, count)| *count > 0 && is_number(bytes))?;
    Some((timestamp::from_integer(value)?, count))
}

/// Reads the time at the start of `bytes`, a text in quotes, and returns its length.
#[inline(always)]
fn time(bytes: &[u8], zone: Zone) -> Option<(Time, usize)> {
    match timestamp::leading_rfc3339_utc(bytes) {
        Some(read) if bytes.get(read.1) == Some(&b'"') => Some(read),
        _ => other_time(bytes, zone),
    }
}

/// Like [`time`], for a text in any format.
#[inline(never)]
fn other_time(bytes: &[u8], zone: Zone) -> Option<(Time, usize)> {
    let text = std::str::from_utf8(bytes.get(..scan::special(bytes, 0))?).ok()?;
    Some((timestamp::from_text(text, zone)?, text.len()))
}
