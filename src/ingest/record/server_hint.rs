//! The wait that a server asks for, in whichever part of a record it is.

use super::attempt::AttemptBuilder;
use super::scalar::Scalar;
use crate::classify::{self, StatedWait};
use crate::ingest::hint::{self, Hint, ServerHint};
use crate::model::{HintSource, Time, Zone};

/// Status of a rate limit, the only one with which a reset is read as a wait.
const TOO_MANY_REQUESTS: u16 = 429;

/// Largest wait in µs that is read from a time of day without a zone. Zones differ by multiples of a quarter of an
/// hour, so such a time is less than that ahead in one zone only.
const MAX_UNZONED_WAIT_US: i64 = 15 * 60 * 1_000_000;

impl AttemptBuilder<'_, '_> {
    /// Returns the wait the server asks for, counted from `answered`: that of the headers, else of the body, else of
    /// the error message, else the reset of an exhausted limit.
    pub(in crate::ingest) fn hint(&self, answered: Time) -> Option<ServerHint> {
        self.hint_by(answered, classify::stated_wait)
    }

    /// Like [`AttemptBuilder::hint`], with `stated` to find the wait stated in a message.
    pub(in crate::ingest) fn hint_by(
        &self,
        answered: Time,
        stated: impl FnOnce(&str) -> Option<StatedWait>,
    ) -> Option<ServerHint> {
        let stated =
            || if self.logged().0 { None } else { self.body_hint().or_else(|| self.message_hint(answered, stated)) };
        self.header_hint(answered).or_else(stated).or_else(|| self.reset_hint(answered))
    }

    /// Reads `retry-after-ms`, then `retry-after`.
    fn header_hint(&self, answered: Time) -> Option<ServerHint> {
        let record = &self.record;
        let headers = &record.headers;
        let field = record.retry_after_ms.map(|ms| (ms, HintSource::RetryAfterMs));
        if let Some((ms, source)) = headers.retry_after_ms.or(field) {
            let hint = hint::from_seconds(ms / 1000.0);
            if hint != Hint::Unreadable || (headers.retry_after.is_none() && record.retry_after.is_none()) {
                return Some(ServerHint { hint, source, unit_known: true });
            }
        }
        if record.retry_after.is_none() && headers.retry_after.is_none() {
            return None;
        }
        let date = headers.date.as_deref().and_then(|date| httpdate::parse_http_date(date).ok());
        let date = date.and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok());
        let date = date.and_then(|since| i64::try_from(since.as_micros()).ok()).map(Time);
        let read = |scalar: &Scalar<'_>| read_hint(scalar, answered, date);
        record.retry_after.as_ref().and_then(read).or_else(|| headers.retry_after.as_ref().and_then(read))
    }

    fn body_hint(&self) -> Option<ServerHint> {
        let wait = self.record.error.wait?;
        let source = if wait.is_estimate { HintSource::Estimate } else { HintSource::Body };
        Some(ServerHint { hint: Hint::Wait(wait.us), source, unit_known: wait.unit_known })
    }

    fn message_hint(&self, answered: Time, stated: impl FnOnce(&str) -> Option<StatedWait>) -> Option<ServerHint> {
        let message = self.error_message()?;
        let (us, is_estimate) = match stated(message) {
            Some(wait) => (wait.us, wait.is_estimate),
            None => (self.wait_until_us(message, answered)?, false),
        };
        let source = if is_estimate { HintSource::Estimate } else { HintSource::Message };
        Some(ServerHint { hint: Hint::Wait(us), source, unit_known: true })
    }

    /// Returns the wait until a time of day that the message states: "try again at 13:50".
    fn wait_until_us(&self, message: &str, answered: Time) -> Option<i64> {
        let (at_us, zone_is_named) = match self.context.zone {
            Zone::Fixed(offset) => classify::stated_moment(message, answered.0, offset)?,
            Zone::Named(zone) => classify::stated_moment(message, answered.0, zone)?,
        };
        let us = at_us.checked_sub(answered.0)?;
        (us >= 0 && (zone_is_named || us < MAX_UNZONED_WAIT_US)).then_some(us)
    }

    /// Returns the longest reset among the limits that refused the request.
    fn reset_hint(&self, answered: Time) -> Option<ServerHint> {
        if self.status() != TOO_MANY_REQUESTS {
            return None;
        }
        let headers = &self.record.headers;
        let waits = headers.resets.iter().zip(&headers.limits).filter_map(|(reset, reading)| {
            let reset = reset.as_ref()?;
            // A negative remainder means that there is no limit, and a reset of zero that the time is unknown.
            let is_exhausted = reading.remaining.map_or(reset.of_refusal, |remaining| remaining == 0);
            match hint::from_text(&reset.text, answered, None) {
                Hint::Wait(us) if is_exhausted && us > 0 => Some(us),
                _ => None,
            }
        });
        let us = waits.max()?;
        Some(ServerHint { hint: Hint::Wait(us), source: HintSource::Reset, unit_known: true })
    }
}

fn read_hint(scalar: &Scalar<'_>, answered: Time, date: Option<Time>) -> Option<ServerHint> {
    let (hint, unit_known) = match scalar {
        Scalar::Int(n) => (hint::from_integer(*n, answered), false),
        Scalar::Float(x) => (hint::from_seconds(*x), false),
        Scalar::Text(text) => (hint::from_text(text, answered, date), hint::names_its_unit(text)),
        Scalar::First(first) => return read_hint(first, answered, date),
        Scalar::Null | Scalar::Bool(_) | Scalar::Other => return None,
    };
    Some(ServerHint { hint, source: HintSource::RetryAfter, unit_known })
}
