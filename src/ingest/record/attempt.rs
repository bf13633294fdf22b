//! Builds attempts from records: units, flags, class, keys.

use super::fingerprint::{FINGERPRINT, fingerprint, identity, number_in_call, truncate};
use super::memory::Memory;
use super::place::{Place, Taken};
use super::sent::sent_of;
use super::token_counts::TokenCounts;
use super::typed::Record;
use super::verdict_cache::{CachedFailure, InternedTexts};
use crate::classify::{self, Class, Verdict};
use crate::ingest::hint::{Hint, ServerHint};
use crate::ingest::timestamp;
use crate::model::{
    Attempt, AttemptTable, CompactDuration, Detail, DetailId, Flags, HintSource, LimitKind, Reading, Symbol, Time,
    Usage, Zone, is_undated,
};
use crate::untrusted::mask_keys;
use std::hash::BuildHasher;

/// Longest error message stored, in bytes; the full text is in the log.
const LONGEST_MESSAGE: usize = 240;

/// Longest id stored, in bytes.
const LONGEST_ID: usize = 200;

/// Appends the attempt of `record` to `table`; `line` is the text of the record.
pub(in crate::ingest) fn take(
    record: &Record<'_>,
    line: &str,
    place: &Place<'_>,
    memory: &mut Memory,
    table: &mut AttemptTable,
) -> Taken {
    let (sent, duration_ms) = match sent_of(record, line, place) {
        Ok(found) => found,
        Err(taken) => return taken,
    };
    if place.filter.is_some_and(|filter| !filter.includes(sent)) {
        return Taken::Filtered;
    }
    Builder { record, sent, duration_ms, place }.finish(line, memory, table)
}

/// Derives the values of an attempt from its record.
pub(in crate::ingest) struct Builder<'r, 'c> {
    pub(in crate::ingest) record: &'c Record<'r>,
    pub(in crate::ingest) sent: Time,
    /// Duration in ms.
    pub(in crate::ingest) duration_ms: Option<f64>,
    pub(in crate::ingest) place: &'c Place<'c>,
}

impl Builder<'_, '_> {
    fn finish(self, line: &str, memory: &mut Memory, table: &mut AttemptTable) -> Taken {
        let duration = self.duration();
        let answered = self.answered();
        let hint = self.hint_by(answered, |message| memory.waits.of(message));
        let failure = self.failure(hint.and_then(ServerHint::wait_us));
        let known = memory.verdicts.of(&failure);
        let verdict = known.as_ref().map_or_else(|| classify::classify(&failure), |known| known.verdict);
        let truncated = failure.truncated;
        let origin = memory.origins.of(&self.record.origin_names(), table);
        let readings = self.readings();
        let mut flags = self.flags(hint, verdict.as_ref());
        flags.set(Flags::MID_STREAM, truncated);
        for reading in readings.into_iter().flatten() {
            table.headroom.add(&table.names, &origin, answered, reading);
            flags.set(Flags::HEADROOM, true);
        }
        let run = self.run();
        let mut row = Attempt {
            sent: self.sent,
            key: fingerprint(run, self.call_id(), self.stream()),
            run: table.names.intern(run.unwrap_or(self.stream())),
            origin: origin.1,
            file: self.place.file,
            line: self.place.line,
            identity: self.identity(line),
            duration,
            detail: DetailId::NONE,
            flags,
            status: self.status(),
            number: number_in_call(self.record.number),
            max_attempts: cap_of(self.record.max_attempts),
            sdk_retry: sdk_count(self.record.sdk_retry_count.or(self.record.headers.sdk_retry_count)),
            class: verdict.map(|verdict| verdict.class),
        };
        let detail = self.wants_detail(&row, hint).then(|| self.detail(hint, verdict.as_ref(), known, table));
        if detail.is_none() {
            let hash = body_hash(self.record.request_hash.as_deref());
            row.detail = keep_ids(table, (self.request_id(), self.call_id()), hash, self.place, row.number);
        }
        let usage = self.usage();
        if self.record.whole_seconds {
            table.note_whole_seconds(self.place.file);
        }
        if self.record.repeats_body {
            table.note_same_bodies(self.place.file);
        }
        table.push(row, detail, usage);
        Taken::Attempt
    }

    /// Returns the run of records that name none.
    pub(in crate::ingest) fn stream(&self) -> &str {
        self.record.converted_from.as_deref().filter(|name| !name.is_empty()).unwrap_or(self.place.stream)
    }

    /// Returns the run named by the record, or by the envelope or document around it.
    pub(in crate::ingest) fn run(&self) -> Option<&str> {
        self.record.run().or_else(|| self.place.defaults?.run.as_deref())
    }

    /// Returns when the response was complete; without a duration, when the attempt was sent.
    fn answered(&self) -> Time {
        self.sent.plus_us(self.duration().as_us().unwrap_or(0))
    }

    fn duration(&self) -> CompactDuration {
        self.duration_ms.map_or(CompactDuration::UNKNOWN, CompactDuration::from_ms)
    }

    pub(in crate::ingest) fn flags(&self, hint: Option<ServerHint>, verdict: Option<&Verdict>) -> Flags {
        let record = &self.record;
        let (logged_ok, logged_error) = self.logged();
        let (retry, fail, other) = self.decision();
        let mut flags = Flags::default();
        for (mask, on) in [
            (Flags::MID_STREAM, self.mid_stream() && verdict.is_some()),
            (Flags::STREAM, record.stream),
            (Flags::LOGGED_OK, logged_ok),
            (Flags::LOGGED_ERROR, logged_error),
            (Flags::SERVER_SAYS_RETRY, self.should_retry() == Some(true)),
            (Flags::SERVER_SAYS_NO, self.should_retry() == Some(false)),
            (Flags::SIDE_EFFECT, record.side_effect),
            (Flags::NO_SIDE_EFFECT, record.no_side_effect),
            (Flags::DECIDED_RETRY, retry),
            (Flags::DECIDED_FAIL, fail),
            (Flags::DECIDED_OTHER, other),
            (Flags::REQUEST_ID, self.request_id().is_some()),
            (Flags::AWS_ID, record.aws_request_id || record.headers.aws_request_id),
            (Flags::TOOL, record.tool.is_some() || record.kind.as_deref() == Some("tool_call")),
            (Flags::IDEMPOTENT, self.idempotency_key().is_some()),
            (Flags::BAD_HINT, hint.is_some_and(|hint| hint.hint == Hint::Unreadable)),
            (Flags::NO_CALL_ID, self.call_id().is_none()),
            (Flags::LOW_CONFIDENCE, verdict.is_some_and(|verdict| verdict.low_confidence)),
            (Flags::FOREIGN_ENVELOPE, verdict.is_some() && self.foreign_envelope()),
            (Flags::DELIVERED, record.delivered.is_some_and(|chunks| chunks > 0)),
            (Flags::DELIVERED_LOGGED, verdict.is_some() && record.delivered.is_some()),
            (Flags::COUNTS_BENEATH, self.counts_beneath()),
            (Flags::COST, record.usage.is_some_and(|usage| usage.cost_usd.is_some())),
            (Flags::CHUNK_GAP, record.chunk_gap_ms.is_some()),
            (Flags::SUBSCRIPTION, record.headers.any_window),
            (Flags::FROM_ZERO, record.number_from_zero),
        ] {
            flags.set(mask, on);
        }
        flags.set_end(self.answer_end());
        if let Some(verdict) = verdict {
            flags.set_bucket(verdict.bucket);
        }
        flags
    }

    fn readings(&self) -> [Option<Reading>; 4] {
        LimitKind::ALL.map(|kind| {
            let reading = self.record.headers.limits[kind as usize];
            Some(Reading { kind, limit: reading.limit?, remaining: reading.remaining? })
        })
    }

    /// Returns the fingerprint of the request id, else of the record; for a converted record, that of the original
    /// record.
    pub(in crate::ingest) fn identity(&self, line: &str) -> u32 {
        let request_id = self.request_id();
        let of_original = || u32::from_str_radix(self.record.record_hash.as_deref()?, 16).ok();
        if request_id.is_none()
            && let Some(identity) = of_original()
        {
            return identity;
        }
        identity(request_id.unwrap_or(line))
    }

    /// Whether a row needs a [`Detail`]. Successes on the first attempt, which are nearly all rows of a log, do not:
    /// their ids are stored without one.
    fn wants_detail(&self, row: &Attempt, hint: Option<ServerHint>) -> bool {
        (self.place.keep_ids && self.has_more_than_ids(hint))
            || row.failed()
            || row.number > 1
            || row.sdk_count().is_some_and(|count| count > 0)
            || row.flags.has(Flags::SIDE_EFFECT)
            || row.flags.has(Flags::TOOL)
            || row.flags.has(Flags::IDEMPOTENT)
            || self.chunk_gap() != CompactDuration::UNKNOWN
            || self.gateway_retries() > 0
            || self.resends() > 0
            || self.record.decision.is_some()
    }

    /// Returns whether a [`Detail`] of this record holds more than ids.
    fn has_more_than_ids(&self, hint: Option<ServerHint>) -> bool {
        let record = self.record;
        hint.is_some()
            || record.planned_ms.is_some()
            || record.max_tokens.is_some()
            || record.delivered.is_some()
            || record.timeout_ms.is_some()
            || record.exception.is_some()
            || record.transport.is_some()
            || self.error_type().is_some()
            || self.error_code().is_some()
            || self.message().is_some()
    }

    fn detail(
        &self,
        hint: Option<ServerHint>,
        verdict: Option<&Verdict>,
        known: Option<&mut CachedFailure>,
        table: &mut AttemptTable,
    ) -> Detail {
        let record = self.record;
        let request_id = table.store_text(self.request_id().map(kept_id));
        let call_id = table.store_text(self.call_id().map(kept_id));
        let texts = match known {
            Some(known) => *known.interned.get_or_insert_with(|| self.intern_texts(table)),
            None => self.intern_texts(table),
        };
        Detail {
            request_id,
            call_id,
            error_type: texts.error_type,
            error_code: texts.error_code,
            message: texts.message,
            exception: texts.exception,
            transport: texts.transport,
            tool: symbol(record.tool.as_deref(), table),
            hint_us: hint.and_then(ServerHint::wait_us),
            hint_source: hint.map_or(HintSource::default(), |hint| hint.source),
            hint_unit_known: hint.is_some_and(|hint| hint.unit_known),
            planned_us: record.planned_ms.filter(|ms| ms.is_finite() && *ms >= 0.0).map(|ms| (ms * 1000.0) as i64),
            reopens: verdict.and_then(|verdict| self.reopens(verdict, hint)),
            request_hash: body_hash(record.request_hash.as_deref()),
            idempotency: body_hash(self.idempotency_key()),
            max_tokens: count(record.max_tokens.unwrap_or(0)),
            delivered: count(record.delivered.unwrap_or(0)),
            timeout: record.timeout_ms.map_or(CompactDuration::UNKNOWN, CompactDuration::from_ms),
            chunk_gap: self.chunk_gap(),
            gateway_retries: self.gateway_retries(),
            resends: self.resends(),
            call_guessed: record.call_guessed,
        }
    }

    /// Returns the longest time between two chunks, if it is at least [`Detail::MIN_CHUNK_GAP_MS`].
    fn chunk_gap(&self) -> CompactDuration {
        let gap = self.record.chunk_gap_ms.filter(|ms| *ms >= Detail::MIN_CHUNK_GAP_MS);
        gap.map_or(CompactDuration::UNKNOWN, CompactDuration::from_ms)
    }

    fn intern_texts(&self, table: &mut AttemptTable) -> InternedTexts {
        InternedTexts {
            error_type: symbol(self.error_type(), table),
            error_code: symbol(self.error_code(), table),
            message: symbol(self.message(), table),
            exception: symbol(self.record.exception.as_deref(), table),
            transport: symbol(self.record.transport.as_deref(), table),
        }
    }

    /// Returns when an exhausted usage window or spending limit is restored: at the stated time, or for a window
    /// without one after the wait that the server asks for.
    pub(in crate::ingest) fn reopens(&self, verdict: &Verdict, hint: Option<ServerHint>) -> Option<Time> {
        let reset = self.record.headers.window_reset.as_deref().and_then(|text| timestamp::from_text(text, Zone::UTC));
        let message = self.message();
        let stated = classify::reopens_at(verdict.class, message, self.sent.0, reset.map(|time| time.0)).map(Time);
        let hinted = || {
            let hint = hint.filter(|_| verdict.class == Class::UsageWindow)?;
            Some(self.answered().plus_us(hint.wait_us()?))
        };
        // If the date of the attempt is unknown, so is that of a time of day such as "resets 4pm".
        stated.or_else(hinted).filter(|time| !is_undated(*time))
    }

    fn usage(&self) -> Option<Usage> {
        let ttft = self.record.ttft_ms.filter(|ms| ms.is_finite() && *ms >= 0.0);
        if self.record.usage.is_none() && ttft.is_none() {
            return None;
        }
        let TokenCounts { input, output, cache_read, cache_write, cost_usd } = self.record.usage.unwrap_or_default();
        Some(Usage {
            input_tokens: count(input),
            output_tokens: count(output),
            cache_read_tokens: count(cache_read),
            cache_write_tokens: count(cache_write),
            cost_micro_usd: cost_micro_usd(cost_usd),
            ttft_ms_plus_1: ttft_ms_plus_1(ttft),
        })
    }
}

/// Returns the fingerprint of the hash of a body; 0 if there is none.
#[inline]
pub(in crate::ingest) fn body_hash(text: Option<&str>) -> u64 {
    text.map_or(0, |text| FINGERPRINT.hash_one(text).max(1))
}

/// Stores the request id and the call id of a success that has no detail. Unless all ids are to be kept, the call id of
/// a numbered attempt is stored only together with a body hash: later attempts of the call have a detail with that id.
#[inline]
pub(in crate::ingest) fn keep_ids(
    table: &mut AttemptTable,
    (request_id, call_id): (Option<&str>, Option<&str>),
    request_hash: u64,
    place: &Place<'_>,
    number: u16,
) -> DetailId {
    let call_id = call_id.filter(|_| place.keep_ids || number == 0 || request_hash != 0);
    table.store_ids(request_id.map_or("", kept_id), call_id.map_or("", kept_id), request_hash)
}

/// Interns a text of a log. Keys are masked, since providers quote them in error messages.
fn symbol(text: Option<&str>, table: &mut AttemptTable) -> Symbol {
    text.map_or(Symbol::NONE, |text| table.names.intern(&mask_keys(truncate(text, LONGEST_MESSAGE))))
}

/// Returns the largest number of attempts of a layer as [`Attempt`] stores it.
pub(in crate::ingest) fn cap_of(attempts: Option<i64>) -> u16 {
    attempts.map_or(0, |n| n.clamp(0, i64::from(u16::MAX)) as u16)
}

/// Returns the retry counter of an SDK as [`Attempt`] stores it.
pub(in crate::ingest) fn sdk_count(retries: Option<i64>) -> u8 {
    retries.map_or(Attempt::NO_COUNT, |n| n.clamp(0, i64::from(Attempt::NO_COUNT) - 1) as u8)
}

/// Truncates an id to the length that is kept.
#[inline]
pub(in crate::ingest) fn kept_id(id: &str) -> &str {
    truncate(id, LONGEST_ID)
}

/// Returns the milliseconds to the first token as [`Usage`] stores them.
pub(in crate::ingest) fn ttft_ms_plus_1(ms: Option<f64>) -> u32 {
    ms.map_or(0, |ms| (ms.round() as u32).saturating_add(1))
}

/// Returns a cost as [`Usage`] stores it.
pub(in crate::ingest) fn cost_micro_usd(usd: Option<f64>) -> u32 {
    (usd.unwrap_or(0.0) * 1e6).round() as u32
}

fn count(value: i64) -> u32 {
    u32::try_from(value.max(0)).unwrap_or(u32::MAX)
}
