//! The fast lane: the overwhelming case of a log, a first attempt that succeeded, in a shape already learnt.
//!
//! It either does exactly what the strict parser would have done, or declines; a test holds the two together.

use super::attempt::{FINGERPRINT, Place, fingerprint};
use super::mapping::Mapping;
use super::scan;
use super::shape::Shape;
use super::slot::{SLOTS, Slot};
use crate::attempt::{
    Attempt, AttemptTable, DetailId, Flags, LimitKind, Origin, OriginId, Reading, Span, Symbol, Usage,
};
use crate::ingest::timestamp;
use std::hash::BuildHasher;

/// Shapes kept in mind, the one used last in front.
const MOST_SHAPES: usize = 16;
/// Lines in a row that no shape fitted before learning pauses: some logs have no shape.
const PATIENCE: u32 = 64;
/// Lines for which it then pauses.
const PAUSE: u32 = 2048;

/// What the lane has learnt, and what it remembers of the line before. One a worker.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    shapes: Vec<Shape>,
    misses: u32,
    pause: u32,
    /// The values seen last in the slots of an origin.
    last: [LastName; ORIGIN.len()],
    /// The origin they make; it belongs to one table.
    last_origin: Option<(Origin, OriginId)>,
    /// Fingerprint of the user's own keys that the shapes were learnt with.
    own: u64,
    /// Everything is left to the strict parser.
    closed: bool,
}

/// What the lane makes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is in the table.
    Taken,
    /// The strict parser must look at it; its shape is nothing new.
    Unusual,
    /// Its shape is not known.
    Unknown,
}

/// Scalars of one line by slot: where they begin and end, quotes excluded. Null scalars are not there.
struct Values<'l> {
    line: &'l str,
    found: [Scalar; SLOTS],
}

#[derive(Clone, Copy)]
struct Scalar {
    start: u32,
    end: u32,
    kind: scan::Kind,
}

const NOTHING: Scalar = Scalar { start: 0, end: 0, kind: scan::Kind::Null };

impl Lane {
    /// A lane that takes nothing: what it is compared with.
    #[cfg(test)]
    pub(super) fn closed() -> Lane {
        Lane { closed: true, ..Lane::default() }
    }

    /// Forgets what belonged to another table, and the shapes that were learnt with other keys than these.
    pub(crate) fn start_table(&mut self, own: &Mapping) {
        self.last_origin = None;
        if self.own != own.fingerprint() {
            self.own = own.fingerprint();
            self.shapes.clear();
        }
    }

    /// Takes `line` if it is an ordinary line of a known shape.
    pub(crate) fn take(&mut self, line: &str, place: &Place<'_>, table: &mut AttemptTable) -> Answer {
        if self.closed || place.keep_ids || place.filter.is_some() {
            return Answer::Unusual;
        }
        for index in 0..self.shapes.len() {
            let mut values = Values { line, found: [NOTHING; SLOTS] };
            match values.fill(&self.shapes[index]) {
                Fit::Whole => {
                    self.misses = 0;
                    if index > 0 {
                        self.shapes.swap(0, index);
                    }
                    let taken = self.ordinary(&values, place, table).is_some();
                    return if taken { Answer::Taken } else { Answer::Unusual };
                }
                // The shape is right and a value is out of the ordinary: no other shape will do better.
                Fit::Unusual => {
                    self.misses = 0;
                    return Answer::Unusual;
                }
                Fit::Other => {}
            }
        }
        Answer::Unknown
    }

    /// Learns from a line of a shape unknown so far, which the strict parser has accepted.
    pub(crate) fn learn(&mut self, line: &str, own: &Mapping) {
        if self.pause > 0 {
            self.pause -= 1;
            return;
        }
        self.misses += 1;
        if self.misses > PATIENCE {
            self.misses = 0;
            self.pause = PAUSE;
        }
        if let Some(shape) = Shape::learn(line, own) {
            self.shapes.truncate(MOST_SHAPES - 1);
            self.shapes.insert(0, shape);
        }
    }

    fn ordinary(&mut self, values: &Values<'_>, place: &Place<'_>, table: &mut AttemptTable) -> Option<()> {
        let status = values.integer(Slot::Status)?;
        let first = |n: Option<i64>| n.is_none_or(|n| n <= 1);
        let number = values.optional_integer(Slot::Number)?;
        let sdk = values.optional_integer(Slot::SdkRetryCount)?.or(values.optional_integer(Slot::HeaderSdkRetryCount)?);
        let cap = values.optional_integer(Slot::MaxAttempts)?;
        let beneath = [(Slot::Resends, 0), (Slot::GatewayRetries, 0), (Slot::UpstreamAttempts, 1)];
        let mut counts_beneath = false;
        for (slot, most) in beneath {
            let count = values.optional_integer(slot)?;
            if count.is_some_and(|n| n > most) {
                return None;
            }
            counts_beneath |= count.is_some();
        }
        if !(200..300).contains(&status) || !first(number) || sdk.is_some_and(|n| n != 0) {
            return None;
        }
        let sent = match values.kind(Slot::Ts) {
            scan::Kind::Text => timestamp::from_text(values.text(Slot::Ts)?, place.zone)?,
            scan::Kind::Integer => timestamp::from_integer(values.integer(Slot::Ts)?)?,
            _ => return None,
        };
        let said_ok = match values.text(Slot::Outcome)? {
            "ok" | "success" => true,
            "" => false,
            _ => return None,
        };
        let success = values.truth(Slot::Success)?;
        if success == Some(false) {
            return None;
        }
        let duration = values.duration()?;
        let answered = sent.plus_us(duration.as_us().unwrap_or(0));
        let usage = values.usage()?;
        let stream = values.truth(Slot::Stream)? == Some(true);
        let named = |text: &&str| !text.is_empty();
        let ids =
            [values.text(Slot::RequestId)?, values.text(Slot::HeaderRequestId)?, values.text(Slot::ProxyRequestId)?];
        let request_id = ids.into_iter().find(named);
        let call = Some(values.text(Slot::CallId)?).filter(named);
        let run = Some(values.text(Slot::RunId)?).filter(named);
        let mut readings = [None; 4];
        for (reading, kind) in readings.iter_mut().zip(LimitKind::ALL) {
            let (limit, remaining) = Slot::of_limit(kind);
            let (limit, remaining) = (values.optional_integer(limit)?, values.optional_integer(remaining)?);
            *reading = limit.zip(remaining).map(|(limit, remaining)| Reading { kind, limit, remaining });
        }
        // From here on nothing is refused: the table changes.
        let origin = self.origin(&values.names()?, table);
        let mut flags = Flags::default();
        flags.set(Flags::STREAM, stream);
        flags.set(Flags::LOGGED_OK, said_ok || success == Some(true));
        flags.set(Flags::REQUEST_ID, request_id.is_some());
        flags.set(Flags::AWS_ID, values.kind(Slot::AwsRequestId) != scan::Kind::Null);
        flags.set(Flags::NO_CALL_ID, call.is_none());
        flags.set(Flags::COUNTS_BENEATH, counts_beneath);
        for reading in readings.into_iter().flatten() {
            table.gauges.add(origin.1, origin.0.scope(), answered, reading);
            flags.set(Flags::HEADROOM, true);
        }
        let row = Attempt {
            sent,
            key: fingerprint(run, call, place.stream),
            run: table.names.intern(run.unwrap_or(place.stream)),
            origin: origin.1,
            file: place.file,
            line: place.line,
            identity: (FINGERPRINT.hash_one(request_id.unwrap_or(values.line)) >> 32) as u32,
            duration,
            detail: DetailId::NONE,
            flags,
            status: status as u16,
            number: number.map_or(0, |n| n.max(0) as u16),
            max_attempts: cap.map_or(0, |n| n.clamp(0, i64::from(u16::MAX)) as u16),
            sdk_retry: sdk.map_or(Attempt::NO_COUNT, |_| 0),
            class: None,
        };
        table.push(row, None, usage);
        Some(())
    }

    /// The origin of a line. Nearly always it is that of the line before, which shows by its names alone.
    fn origin(&mut self, names: &[&str; ORIGIN.len()], table: &mut AttemptTable) -> (Origin, OriginId) {
        if let Some(known) = self.last_origin
            && self.last.iter().zip(names).all(|(last, name)| last.is(name))
        {
            return known;
        }
        let symbols = names.map(|name| match name {
            "" => Symbol::NONE,
            name => table.names.intern(super::attempt::cut(name, super::attempt::LONGEST_NAME)),
        });
        let [provider, model, layer, client, client_version, org, header_org, api_key, workspace] = symbols;
        let org = if org.is_some() { org } else { header_org };
        let origin = Origin { provider, model, layer, client, client_version, org, api_key, workspace };
        let known = (origin, table.origins.intern(origin));
        self.last = names.map(LastName::new);
        self.last_origin = Some(known);
        known
    }
}

/// A name held in place, as far as it fits: comparing it asks no table.
#[derive(Clone, Copy, Debug, Default)]
struct LastName {
    bytes: [u8; LastName::ROOM],
    /// Beyond [`LastName::ROOM`]: it did not fit, and equals nothing.
    length: u8,
}

impl LastName {
    const ROOM: usize = 31;

    fn new(name: &str) -> LastName {
        let mut last = LastName { bytes: [0; LastName::ROOM], length: u8::MAX };
        if let Some(place) = last.bytes.get_mut(..name.len()) {
            place.copy_from_slice(name.as_bytes());
            last.length = name.len() as u8;
        }
        last
    }

    #[inline]
    fn is(&self, name: &str) -> bool {
        self.bytes.get(..usize::from(self.length)).is_some_and(|bytes| scan::same(bytes, name.as_bytes()))
    }
}

/// The slots that make an [`Origin`].
const ORIGIN: [Slot; 9] = [
    Slot::Provider,
    Slot::Model,
    Slot::Layer,
    Slot::ClientName,
    Slot::ClientVersion,
    Slot::Org,
    Slot::HeaderOrg,
    Slot::ApiKey,
    Slot::Workspace,
];

/// How a line fits a shape.
enum Fit {
    /// Everything is where it should be.
    Whole,
    /// So far it is, but a value is not ordinary.
    Unusual,
    /// It is another shape, or no JSON.
    Other,
}

impl<'l> Values<'l> {
    fn fill(&mut self, shape: &Shape) -> Fit {
        let bytes = self.line.as_bytes();
        let mut at = 0;
        for piece in &shape.pieces {
            if !scan::starts_with(bytes, at, &piece.before) {
                return Fit::Other;
            }
            at += piece.before.len();
            let Some((kind, start, end, next)) = scan::scalar(bytes, at) else {
                return if bytes.get(at).is_some_and(|byte| matches!(byte, b'{' | b'[')) {
                    Fit::Other
                } else {
                    Fit::Unusual
                };
            };
            match piece.slot {
                Slot::Skip => {}
                Slot::Absent => {
                    if !matches!(kind, scan::Kind::Null | scan::Kind::False) {
                        return Fit::Unusual;
                    }
                }
                slot => self.found[slot as usize] = Scalar { start: start as u32, end: end as u32, kind },
            }
            at = next;
        }
        if bytes.get(at..) != Some(&*shape.tail) {
            return Fit::Other;
        }
        let undecided = shape.contested.iter().any(|slot| self.kind(*slot) == scan::Kind::Null);
        if undecided { Fit::Unusual } else { Fit::Whole }
    }

    fn kind(&self, slot: Slot) -> scan::Kind {
        self.found[slot as usize].kind
    }

    fn raw(&self, slot: Slot) -> &'l str {
        let scalar = self.found[slot as usize];
        self.line.get(scalar.start as usize..scalar.end as usize).unwrap_or_default()
    }

    /// A string, empty where the log does not say; `None` where the strict parser must look.
    fn text(&self, slot: Slot) -> Option<&'l str> {
        match self.kind(slot) {
            scan::Kind::Null => Some(""),
            scan::Kind::Text => Some(self.raw(slot)),
            _ => None,
        }
    }

    fn names(&self) -> Option<[&'l str; ORIGIN.len()]> {
        let mut names = [""; ORIGIN.len()];
        for (name, slot) in names.iter_mut().zip(ORIGIN) {
            *name = self.text(slot)?;
        }
        Some(names)
    }

    fn integer(&self, slot: Slot) -> Option<i64> {
        matches!(self.kind(slot), scan::Kind::Integer | scan::Kind::Text).then(|| scan::integer(self.raw(slot)))?
    }

    /// `Some(None)` where the log does not say; `None` where the strict parser must look.
    fn optional_integer(&self, slot: Slot) -> Option<Option<i64>> {
        if self.kind(slot) == scan::Kind::Null { Some(None) } else { self.integer(slot).map(Some) }
    }

    fn truth(&self, slot: Slot) -> Option<Option<bool>> {
        match self.kind(slot) {
            scan::Kind::Null => Some(None),
            scan::Kind::True => Some(Some(true)),
            scan::Kind::False => Some(Some(false)),
            _ => None,
        }
    }

    fn number(&self, slot: Slot) -> Option<Option<f64>> {
        match self.kind(slot) {
            scan::Kind::Null => Some(None),
            scan::Kind::Integer | scan::Kind::Decimal => scan::decimal(self.raw(slot)).map(Some),
            _ => None,
        }
    }

    fn duration(&self) -> Option<Span> {
        let (ms, s) = (self.number(Slot::DurationMs)?, self.number(Slot::DurationS)?);
        match (ms, s) {
            (Some(_), Some(_)) => None,
            (Some(ms), None) => Some(Span::from_ms(ms)),
            (None, Some(s)) => Some(Span::from_ms(s * 1000.0)),
            (None, None) => Some(Span::UNKNOWN),
        }
    }

    fn usage(&self) -> Option<Option<Usage>> {
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
