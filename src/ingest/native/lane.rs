//! The fast lane: the overwhelming case of a log, an attempt that succeeded, in a shape already learnt.
//!
//! It either does exactly what the strict parser would have done, or declines; a test holds the two together.

use super::attempt::{FINGERPRINT, Place, cap_of, fingerprint, kept_id, number_in_call, sdk_count};
use super::layout::Layout;
use super::mapping::Mapping;
use super::memory::Memory;
use super::origins::Origins;
use super::replay::Replay;
use super::scan;
use super::shapes::{Fit, Shapes};
use super::slot::Slot;
use super::values::{Scalar, Values};
use crate::attempt::{Attempt, AttemptTable, Detail, DetailId, Flags, LimitKind, Reading};
use crate::ingest::timestamp;
use std::hash::BuildHasher;

/// Lines in a row that no shape fitted before learning pauses: some logs have no shape.
const PATIENCE: u32 = 64;
/// Lines for which it then pauses; each time in vain twice as long,
const PAUSE: u32 = 2048;
/// but no longer than this.
const LONGEST_PAUSE: u32 = 32 << 10;

/// What the lane has learnt, and what it remembers of the lines before. One a worker.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    shapes: Shapes<Layout>,
    scalars: Vec<Scalar>,
    pub(super) memory: Memory,
    misses: u32,
    pause: u32,
    next_pause: u32,
    /// Fingerprint of the user's own keys that the shapes were learnt with.
    own: u64,
    /// Everything is left to the strict parser.
    closed: bool,
}

/// What the lane makes of a line.
#[derive(Debug)]
pub(super) enum Answer<'s> {
    /// It is in the table.
    Taken,
    /// It is out of the ordinary, but its shape is known: these are its scalars, and what they are.
    Known(&'s Replay, &'s [Scalar]),
    /// The strict parser must look at it; its shape is nothing new.
    Unusual,
    /// Its shape is not known.
    Unknown,
}

impl Lane {
    /// A lane that takes nothing: what it is compared with.
    #[cfg(test)]
    pub(super) fn closed() -> Lane {
        Lane { closed: true, ..Lane::default() }
    }

    /// Forgets what belonged to another table, and the shapes that were learnt with other keys than these.
    pub(crate) fn start_table(&mut self, own: &Mapping) {
        self.memory.clear();
        if self.own != own.fingerprint() {
            self.own = own.fingerprint();
            self.shapes.clear();
        }
    }

    /// Takes `line` if it is an ordinary line of a known shape.
    pub(super) fn take(&mut self, line: &str, place: &Place<'_>, table: &mut AttemptTable) -> Answer<'_> {
        if self.closed {
            return Answer::Unusual;
        }
        let layout = match self.shapes.fit(line.as_bytes(), &mut self.scalars) {
            Fit::Whole(layout) => layout,
            Fit::Unusual => {
                (self.misses, self.next_pause) = (0, 0);
                return Answer::Unusual;
            }
            Fit::Other => return Answer::Unknown,
        };
        (self.misses, self.next_pause) = (0, 0);
        let values = Values { line, scalars: &self.scalars, layout };
        // A filter asks the record, and kept ids are out of the ordinary.
        let plain = !place.keep_ids && place.filter.is_none();
        if plain && values.is_ordinary() && ordinary(&values, place, &mut self.memory.origins, table).is_some() {
            return Answer::Taken;
        }
        let scalars = self.scalars.get(1..).unwrap_or_default();
        layout.replay.as_ref().map_or(Answer::Unusual, |replay| Answer::Known(replay, scalars))
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
            self.pause = self.next_pause.clamp(PAUSE, LONGEST_PAUSE);
            self.next_pause = 2 * self.pause;
        }
        if let Some(mut shape) = super::shape::learn(line, own) {
            shape.layout.replay = Replay::learn(line, own, shape.before.len());
            self.shapes.add(shape.before.into_iter(), shape.tail, shape.layout);
        }
    }
}

/// Takes a line whose scalars are `values`, unless the strict parser must look at it.
fn ordinary(values: &Values<'_>, place: &Place<'_>, origins: &mut Origins, table: &mut AttemptTable) -> Option<()> {
    let status = values.integer(Slot::Status)?;
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
    let (number, sdk_retry) = (number_in_call(number), sdk_count(sdk));
    let retry = number > 1 || (sdk_retry > 0 && sdk_retry != Attempt::NO_COUNT);
    if !(200..300).contains(&status) || (retry && values.says_more_of_a_retry()) {
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
    let side_effect = values.truth(Slot::SideEffect)?;
    if side_effect == Some(true) {
        return None;
    }
    let named = |text: &&str| !text.is_empty();
    let ids = [values.text(Slot::RequestId)?, values.text(Slot::HeaderRequestId)?, values.text(Slot::ProxyRequestId)?];
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
    let origin = origins.of(&values.names()?, table);
    let mut flags = Flags::default();
    flags.set(Flags::STREAM, stream);
    flags.set(Flags::NO_SIDE_EFFECT, side_effect == Some(false));
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
        number,
        max_attempts: cap_of(cap),
        sdk_retry,
        class: None,
    };
    let detail = retry.then(|| Detail {
        request_id: table.keep(request_id.map(kept_id)),
        call_id: table.keep(call.map(kept_id)),
        ..Detail::default()
    });
    table.push(row, detail, usage);
    Some(())
}
