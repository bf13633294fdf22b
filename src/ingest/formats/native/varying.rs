//! What every line says anew: when, of which call, how long it took, what is left of the limits.

use super::constants::Constants;
use super::slot::Slot;
use super::values::{Value, Values};
use crate::ingest::conventions::Moments;
use crate::ingest::record::scan;
use crate::ingest::record::{FINGERPRINT, Place, body_hash, fingerprint, keep_ids, kept_id, ttft_ms_plus_1};
use crate::model::{
    Attempt, AttemptTable, Detail, DetailId, Flags, LimitKind, Origin, OriginId, Reading, Span, Time, Usage,
};
use std::hash::BuildHasher;

/// The part of an ordinary attempt that differs from line to line.
pub(super) struct Varying<'l> {
    line: &'l str,
    sent: Time,
    duration: Span,
    said: Said<'l>,
}

/// The same, as far as lines need not say it.
#[derive(Default)]
struct Said<'l> {
    run: Option<&'l str>,
    call: Option<&'l str>,
    group: Option<&'l str>,
    request_hash: Option<&'l str>,
    /// The provider's name for the request, the one its headers give, and a proxy's.
    request_ids: [Option<&'l str>; 3],
    aws_id: bool,
    moments: Moments,
    /// How many durations there are.
    durations: u8,
    usage: Option<Usage>,
    chunk_gap: bool,
    /// What is left, by [`LimitKind`].
    remaining: [Option<i64>; LimitKind::ALL.len()],
}

impl<'l> Varying<'l> {
    /// What `values` say of it, unless the strict parser must look.
    pub(super) fn of(values: &Values<'l>, place: &Place<'_>) -> Option<Varying<'l>> {
        let mut said = Said::default();
        for (value, slot) in values.each() {
            match slot {
                Slot::Skip => {}
                Slot::Ts => said.moments.stamp = Some(value.time(place.zone)?),
                Slot::StartedAt => said.moments.started = Some(value.time(place.zone)?),
                Slot::EndedAt => said.moments.ended = Some(value.time(place.zone)?),
                slot => said.note(slot, value)?,
            }
        }
        // Two durations are compared, and what is spelled twice is sorted out, elsewhere.
        if !values.settles_contests() || said.durations > 1 {
            return None;
        }
        let (sent, duration) = place.conventions.sent(&said.moments)?;
        let duration = duration.map_or(Span::UNKNOWN, Span::from_ms);
        Some(Varying { line: values.line, sent, duration, said })
    }

    /// Appends the attempt that this and `constants` make.
    pub(super) fn push(
        &self,
        constants: &Constants,
        origin: (Origin, OriginId),
        place: &Place<'_>,
        table: &mut AttemptTable,
    ) {
        let mut flags = constants.flags;
        let Said { mut run, mut call, group, .. } = self.said;
        let owner = if constants.number > 0 { &mut call } else { &mut run };
        *owner = owner.or(group);
        let request_id = self.said.request_ids.into_iter().flatten().next();
        flags.set(Flags::REQUEST_ID, request_id.is_some());
        flags.set(Flags::AWS_ID, self.said.aws_id);
        flags.set(Flags::NO_CALL_ID, call.is_none());
        flags.set(Flags::CHUNK_GAP, self.said.chunk_gap);
        let duration = self.duration;
        let answered = self.sent.plus_us(duration.as_us().unwrap_or(0));
        for kind in LimitKind::ALL {
            let of = (constants.limits[kind as usize], self.said.remaining[kind as usize]);
            if let (Some(limit), Some(remaining)) = of {
                table.gauges.add(&table.names, origin, answered, Reading { kind, limit, remaining });
                flags.set(Flags::HEADROOM, true);
            }
        }
        let mut row = Attempt {
            sent: self.sent,
            key: fingerprint(run, call, place.stream),
            run: table.names.intern(run.unwrap_or(place.stream)),
            origin: origin.1,
            file: place.file,
            line: place.line,
            identity: (FINGERPRINT.hash_one(request_id.unwrap_or(self.line)) >> 32) as u32,
            duration,
            detail: DetailId::NONE,
            flags,
            status: constants.status,
            number: constants.number,
            max_attempts: constants.max_attempts,
            sdk_retry: constants.sdk_retry,
            class: None,
        };
        let request_hash = body_hash(self.said.request_hash);
        let detail = constants.retry.then(|| Detail {
            request_id: table.keep(request_id.map(kept_id)),
            call_id: table.keep(call.map(kept_id)),
            request_hash,
            ..Detail::default()
        });
        if !constants.retry {
            row.detail = keep_ids(table, request_id, call, request_hash, constants.number);
        }
        table.push(row, detail, self.said.usage);
    }
}

impl<'l> Said<'l> {
    /// Notes what one scalar says; `None` where the strict parser must look.
    #[inline]
    fn note(&mut self, slot: Slot, value: Value<'l>) -> Option<()> {
        match slot {
            Slot::RunId => self.run = value.name()?,
            Slot::CallId => self.call = value.name()?,
            Slot::GroupId => self.group = value.name()?,
            Slot::RequestHash => self.request_hash = value.words()?,
            Slot::RequestId => self.request_ids[0] = value.name()?,
            Slot::HeaderRequestId => self.request_ids[1] = value.name()?,
            Slot::ProxyRequestId => self.request_ids[2] = value.name()?,
            Slot::AwsRequestId => self.aws_id = value.kind != scan::Kind::Null,
            Slot::DurationMs => self.took(value.number()?)?,
            Slot::DurationS => self.took(value.number()?.map(|s| s * 1e3))?,
            Slot::DurationUs => self.took(value.number()?.map(|us| us / 1e3))?,
            Slot::DurationNs => self.took(value.number()?.map(|ns| ns / 1e6))?,
            Slot::DurationBare => {
                let duration = value.number()?;
                possible(duration.map(|ns| ns / 1e6))?;
                self.durations += u8::from(duration.is_some());
                self.moments.bare_duration = duration;
            }
            Slot::RequestsRemaining => self.remaining[LimitKind::Requests as usize] = value.optional_integer()?,
            Slot::TokensRemaining => self.remaining[LimitKind::Tokens as usize] = value.optional_integer()?,
            Slot::InputTokensRemaining => self.remaining[LimitKind::InputTokens as usize] = value.optional_integer()?,
            Slot::OutputTokensRemaining => {
                self.remaining[LimitKind::OutputTokens as usize] = value.optional_integer()?;
            }
            Slot::InputTokens => self.consumed(value.optional_integer()?, |usage| &mut usage.input_tokens)?,
            Slot::OutputTokens => self.consumed(value.optional_integer()?, |usage| &mut usage.output_tokens)?,
            Slot::CacheRead => self.consumed(value.optional_integer()?, |usage| &mut usage.cache_read_tokens)?,
            Slot::CacheWrite => self.consumed(value.optional_integer()?, |usage| &mut usage.cache_write_tokens)?,
            Slot::TtftMs => {
                let ttft = value.number()?;
                possible(ttft)?;
                if let Some(ms) = ttft.filter(|ms| *ms >= 0.0) {
                    self.usage.get_or_insert_default().ttft_ms_plus_1 = ttft_ms_plus_1(Some(ms));
                }
            }
            Slot::ChunkGapMs => {
                let gap = value.number()?;
                // A long gap is kept, which makes the line one out of the ordinary.
                if gap.is_some_and(|ms| ms >= Detail::LEAST_CHUNK_GAP_MS) {
                    return None;
                }
                self.chunk_gap = gap.is_some();
            }
            // The rest makes constants.
            _ => {}
        }
        Some(())
    }

    /// `None` where it is more than a row holds.
    fn consumed(&mut self, tokens: Option<i64>, which: impl FnOnce(&mut Usage) -> &mut u32) -> Option<()> {
        if let Some(tokens) = tokens {
            *which(self.usage.get_or_insert_default()) = u32::try_from(tokens.max(0)).ok()?;
        }
        Some(())
    }

    #[inline]
    fn took(&mut self, ms: Option<f64>) -> Option<()> {
        possible(ms)?;
        self.durations += u8::from(ms.is_some());
        self.moments.duration_ms = ms.or(self.moments.duration_ms);
        Some(())
    }
}

/// `None` for a span that none can be.
#[inline]
fn possible(ms: Option<f64>) -> Option<()> {
    ms.is_none_or(|ms| ms <= Span::LONGEST_MS).then_some(())
}
