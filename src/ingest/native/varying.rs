//! What every line says anew: when, of which call, how long it took, what is left of the limits.

use super::attempt::{FINGERPRINT, Place, fingerprint, kept_id};
use super::constants::Constants;
use super::scan;
use super::slot::Slot;
use super::values::Values;
use crate::attempt::{
    Attempt, AttemptTable, Detail, DetailId, Flags, LimitKind, Origin, OriginId, Reading, Span, Time, Usage,
};
use crate::ingest::timestamp;
use std::hash::BuildHasher;

/// The part of an ordinary attempt that differs from line to line.
pub(super) struct Varying<'l> {
    line: &'l str,
    sent: Time,
    run: Option<&'l str>,
    call: Option<&'l str>,
    request_id: Option<&'l str>,
    aws_id: bool,
    duration: Span,
    usage: Option<Usage>,
    remaining: [Option<i64>; LimitKind::ALL.len()],
}

impl<'l> Varying<'l> {
    /// What `values` say of it, unless the strict parser must look.
    pub(super) fn of(values: &Values<'l>, place: &Place<'_>) -> Option<Varying<'l>> {
        if !values.settles_contests() {
            return None;
        }
        let sent = match values.kind(Slot::Ts) {
            scan::Kind::Text => timestamp::from_text(values.text(Slot::Ts)?, place.zone)?,
            scan::Kind::Integer => timestamp::from_integer(values.integer(Slot::Ts)?)?,
            _ => return None,
        };
        let named = |text: &&str| !text.is_empty();
        let ids =
            [values.text(Slot::RequestId)?, values.text(Slot::HeaderRequestId)?, values.text(Slot::ProxyRequestId)?];
        let mut remaining = [None; LimitKind::ALL.len()];
        for (remaining, kind) in remaining.iter_mut().zip(LimitKind::ALL) {
            *remaining = values.optional_integer(Slot::of_limit(kind).1)?;
        }
        Some(Varying {
            line: values.line,
            sent,
            run: Some(values.text(Slot::RunId)?).filter(named),
            call: Some(values.text(Slot::CallId)?).filter(named),
            request_id: ids.into_iter().find(named),
            aws_id: values.kind(Slot::AwsRequestId) != scan::Kind::Null,
            duration: values.duration()?,
            usage: values.usage()?,
            remaining,
        })
    }

    /// Appends the attempt that this and `constants` make.
    pub(super) fn push(
        self,
        constants: &Constants,
        origin: (Origin, OriginId),
        place: &Place<'_>,
        table: &mut AttemptTable,
    ) {
        let mut flags = constants.flags;
        flags.set(Flags::REQUEST_ID, self.request_id.is_some());
        flags.set(Flags::AWS_ID, self.aws_id);
        flags.set(Flags::NO_CALL_ID, self.call.is_none());
        let answered = self.sent.plus_us(self.duration.as_us().unwrap_or(0));
        let limits = LimitKind::ALL.into_iter().zip(constants.limits.into_iter().zip(self.remaining));
        let readings = limits.filter_map(|(kind, of)| Some(Reading { kind, limit: of.0?, remaining: of.1? }));
        let any = table.gauges.add(&table.names, origin, answered, readings);
        flags.set(Flags::HEADROOM, any);
        let row = Attempt {
            sent: self.sent,
            key: fingerprint(self.run, self.call, place.stream),
            run: table.names.intern(self.run.unwrap_or(place.stream)),
            origin: origin.1,
            file: place.file,
            line: place.line,
            identity: (FINGERPRINT.hash_one(self.request_id.unwrap_or(self.line)) >> 32) as u32,
            duration: self.duration,
            detail: DetailId::NONE,
            flags,
            status: constants.status,
            number: constants.number,
            max_attempts: constants.max_attempts,
            sdk_retry: constants.sdk_retry,
            class: None,
        };
        let detail = constants.retry.then(|| Detail {
            request_id: table.keep(self.request_id.map(kept_id)),
            call_id: table.keep(self.call.map(kept_id)),
            ..Detail::default()
        });
        table.push(row, detail, self.usage);
    }
}
