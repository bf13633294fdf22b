//! What the scalars of an ordinary line say, by slot. `None` throughout means: the strict parser must look.

use super::layout::Layout;
use super::scan;
use super::slot::{ORIGIN, Slot};
use crate::attempt::{Span, Usage};

/// The scalars of one line whose shape is known.
pub(super) struct Values<'l> {
    pub(super) line: &'l str,
    /// In the order of the line, after [`NOTHING`].
    pub(super) scalars: &'l [Scalar],
    pub(super) layout: &'l Layout,
}

/// Where a scalar begins and ends, quotes excluded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) kind: scan::Kind,
}

/// Stands for what a line does not say.
pub(super) const NOTHING: Scalar = Scalar { start: 0, end: 0, kind: scan::Kind::Null };

impl<'l> Values<'l> {
    fn scalar(&self, slot: Slot) -> Scalar {
        self.scalars.get(usize::from(self.layout.places[slot as usize])).copied().unwrap_or(NOTHING)
    }

    fn at(&self, place: u16) -> scan::Kind {
        self.scalars.get(usize::from(place)).map_or(scan::Kind::Null, |scalar| scalar.kind)
    }

    /// Whether nothing stands where only lines out of the ordinary have something.
    pub(super) fn is_ordinary(&self) -> bool {
        self.layout.absent.iter().all(|place| self.at(*place) == scan::Kind::Null)
            && self.layout.untrue.iter().all(|place| matches!(self.at(*place), scan::Kind::Null | scan::Kind::False))
            && self.settles_contests()
    }

    /// Whether what is spelled twice has a value in its better spelling.
    pub(super) fn settles_contests(&self) -> bool {
        self.layout.contested.iter().all(|slot| self.kind(*slot) != scan::Kind::Null)
    }

    /// Whether there is a value that matters only where the attempt is a retry.
    pub(super) fn says_more_of_a_retry(&self) -> bool {
        self.layout.of_retries.iter().any(|place| self.at(*place) != scan::Kind::Null)
    }

    pub(super) fn kind(&self, slot: Slot) -> scan::Kind {
        self.scalar(slot).kind
    }

    fn bytes(&self, slot: Slot) -> &'l [u8] {
        let scalar = self.scalar(slot);
        self.line.as_bytes().get(scalar.start as usize..scalar.end as usize).unwrap_or_default()
    }

    /// A string, empty where the log does not say; `None` where the strict parser must look.
    pub(super) fn text(&self, slot: Slot) -> Option<&'l str> {
        let scalar = self.scalar(slot);
        match scalar.kind {
            scan::Kind::Null => Some(""),
            scan::Kind::Text => self.line.get(scalar.start as usize..scalar.end as usize),
            _ => None,
        }
    }

    pub(super) fn names(&self) -> Option<[&'l str; ORIGIN.len()]> {
        let mut names = [""; ORIGIN.len()];
        for (name, slot) in names.iter_mut().zip(ORIGIN) {
            *name = self.text(slot)?;
        }
        Some(names)
    }

    pub(super) fn integer(&self, slot: Slot) -> Option<i64> {
        matches!(self.kind(slot), scan::Kind::Integer | scan::Kind::Text).then(|| scan::integer(self.bytes(slot)))?
    }

    /// `Some(None)` where the log does not say; `None` where the strict parser must look.
    pub(super) fn optional_integer(&self, slot: Slot) -> Option<Option<i64>> {
        if self.kind(slot) == scan::Kind::Null { Some(None) } else { self.integer(slot).map(Some) }
    }

    pub(super) fn truth(&self, slot: Slot) -> Option<Option<bool>> {
        match self.kind(slot) {
            scan::Kind::Null => Some(None),
            scan::Kind::True => Some(Some(true)),
            scan::Kind::False => Some(Some(false)),
            _ => None,
        }
    }

    pub(super) fn number(&self, slot: Slot) -> Option<Option<f64>> {
        match self.kind(slot) {
            scan::Kind::Null => Some(None),
            scan::Kind::Integer | scan::Kind::Decimal => scan::decimal(self.bytes(slot)).map(Some),
            _ => None,
        }
    }

    pub(super) fn duration(&self) -> Option<Span> {
        let (ms, s) = (self.number(Slot::DurationMs)?, self.number(Slot::DurationS)?);
        match (ms, s) {
            (Some(_), Some(_)) => None,
            (Some(ms), None) => Some(Span::from_ms(ms)),
            (None, Some(s)) => Some(Span::from_ms(s * 1000.0)),
            (None, None) => Some(Span::UNKNOWN),
        }
    }

    pub(super) fn usage(&self) -> Option<Option<Usage>> {
        let slots = [Slot::InputTokens, Slot::OutputTokens, Slot::CacheRead, Slot::CacheWrite];
        let ttft = self.number(Slot::TtftMs)?.filter(|ms| *ms >= 0.0);
        if ttft.is_none() && slots.iter().all(|slot| self.kind(*slot) == scan::Kind::Null) {
            return Some(None);
        }
        let mut counts = [0; 4];
        for (count, slot) in counts.iter_mut().zip(slots) {
            *count = super::attempt::count(self.optional_integer(slot)?.unwrap_or(0));
        }
        Some(Some(Usage {
            input_tokens: counts[0],
            output_tokens: counts[1],
            cache_read_tokens: counts[2],
            cache_write_tokens: counts[3],
            cost_micro_usd: 0,
            ttft_ms_plus_1: super::attempt::ttft_ms_plus_1(ttft),
        }))
    }
}
