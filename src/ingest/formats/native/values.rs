//! What the scalars of an ordinary line say, by slot. `None` throughout means: the strict parser must look.

use super::layout::Layout;
use super::located::{NOTHING, Scalar};
use super::slot::{ORIGIN, Slot};
use crate::ingest::record::ending;
use crate::ingest::record::scalar::Scalar::Text;
use crate::ingest::record::scan;
use crate::ingest::timestamp;
use crate::model::{AnswerEnd, Time, Zone};
use std::borrow::Cow;

/// The scalars of one line whose shape is known.
pub(super) struct Values<'l> {
    pub(super) line: &'l str,
    /// In the order of the line, after [`NOTHING`].
    pub(super) scalars: &'l [Scalar],
    pub(super) layout: &'l Layout,
}

/// What one scalar says.
#[derive(Clone, Copy)]
pub(super) struct Value<'l> {
    line: &'l str,
    pub(super) kind: scan::Kind,
    start: u32,
    end: u32,
}

impl<'l> Values<'l> {
    fn value(&self, scalar: Scalar) -> Value<'l> {
        Value { line: self.line, kind: scalar.kind, start: scalar.start, end: scalar.end }
    }

    /// What is said in `slot`: null, where nothing is.
    fn of(&self, slot: Slot) -> Value<'l> {
        self.value(self.scalars.get(usize::from(self.layout.places[slot as usize])).copied().unwrap_or(NOTHING))
    }

    /// All that is said, in the order of the line.
    pub(super) fn each(&self) -> impl Iterator<Item = (Value<'l>, Slot)> {
        self.scalars.iter().skip(1).map(|scalar| self.value(*scalar)).zip(self.layout.slots())
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
        self.layout.contested.iter().all(|slot| self.of(*slot).kind != scan::Kind::Null)
    }

    /// Whether there is a value that matters only where the attempt is a retry.
    pub(super) fn says_more_of_a_retry(&self) -> bool {
        self.layout.of_retries.iter().any(|place| self.at(*place) != scan::Kind::Null)
    }

    pub(super) fn text(&self, slot: Slot) -> Option<&'l str> {
        self.of(slot).text()
    }

    pub(super) fn names(&self) -> Option<[&'l str; ORIGIN.len()]> {
        let mut names = [""; ORIGIN.len()];
        for (name, slot) in names.iter_mut().zip(ORIGIN) {
            *name = self.text(slot)?;
        }
        Some(names)
    }

    pub(super) fn integer(&self, slot: Slot) -> Option<i64> {
        self.of(slot).integer()
    }

    pub(super) fn optional_integer(&self, slot: Slot) -> Option<Option<i64>> {
        self.of(slot).optional_integer()
    }

    /// How the answer ended.
    pub(super) fn answer_end(&self) -> Option<AnswerEnd> {
        let reason = self.of(Slot::StopReason);
        let named = self.layout.places[Slot::StopReason as usize] > 0;
        let complete = self.truth(Slot::Complete)?;
        match reason.kind {
            // An answer that broke off is out of the ordinary.
            _ if complete == Some(false) => None,
            _ if complete == Some(true) && reason.kind == scan::Kind::Null => Some(AnswerEnd::Complete),
            scan::Kind::Null if named => Some(AnswerEnd::Empty),
            scan::Kind::Null => Some(AnswerEnd::NotLogged),
            scan::Kind::Text => {
                let named = ending::is_stop_reason(&Text(Cow::Borrowed(reason.text()?)));
                Some(if named || complete == Some(true) { AnswerEnd::Complete } else { AnswerEnd::Empty })
            }
            _ => None,
        }
    }

    pub(super) fn truth(&self, slot: Slot) -> Option<Option<bool>> {
        match self.of(slot).kind {
            scan::Kind::Null => Some(None),
            scan::Kind::True => Some(Some(true)),
            scan::Kind::False => Some(Some(false)),
            _ => None,
        }
    }
}

impl<'l> Value<'l> {
    fn bytes(self) -> &'l [u8] {
        self.line.as_bytes().get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// A string, empty where the log does not say; `None` where the strict parser must look.
    fn text(self) -> Option<&'l str> {
        match self.kind {
            scan::Kind::Null => Some(""),
            scan::Kind::Text => self.line.get(self.start as usize..self.end as usize),
            _ => None,
        }
    }

    /// The same for an id: an empty one names nothing.
    #[inline]
    pub(super) fn name(self) -> Option<Option<&'l str>> {
        self.text().map(|text| Some(text).filter(|text| !text.is_empty()))
    }

    /// The same for a text that may be empty.
    #[inline]
    pub(super) fn words(self) -> Option<Option<&'l str>> {
        if self.kind == scan::Kind::Null { Some(None) } else { self.text().map(Some) }
    }

    #[inline]
    fn integer(self) -> Option<i64> {
        matches!(self.kind, scan::Kind::Integer | scan::Kind::Text).then(|| scan::integer(self.bytes()))?
    }

    /// `Some(None)` where the log does not say; `None` where the strict parser must look.
    #[inline]
    pub(super) fn optional_integer(self) -> Option<Option<i64>> {
        if self.kind == scan::Kind::Null { Some(None) } else { self.integer().map(Some) }
    }

    /// The same for any number outside quotes.
    #[inline]
    pub(super) fn number(self) -> Option<Option<f64>> {
        match self.kind {
            scan::Kind::Null => Some(None),
            scan::Kind::Integer | scan::Kind::Decimal => scan::decimal(self.bytes()).map(Some),
            _ => None,
        }
    }

    /// A moment; `None` also where the log does not say.
    #[inline]
    pub(super) fn time(self, zone: Zone) -> Option<Time> {
        match self.kind {
            scan::Kind::Text => timestamp::from_text(self.text()?, zone),
            scan::Kind::Integer => timestamp::from_integer(self.integer()?),
            _ => None,
        }
    }
}
