//! Columns of what rows keep outside the row itself: ids, and details of failures and retries.

use super::names::symbol;
use crate::model::{Attempt, AttemptTable, Detail, Flags, HintSource, Span, Symbol, TextRef, Time};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One entry per row that keeps ids or a detail.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Details {
    /// Lengths in bytes of request ids and call ids; the ids themselves are concatenated below.
    request_bytes: Vec<u32>,
    call_bytes: Vec<u32>,
    request_ids: String,
    call_ids: String,
    request_hash: Vec<[u8; 8]>,
    /// One entry per row that keeps a detail, from here on. This one is an index into the list of `Words`.
    words: Vec<u32>,
    hint_us: Vec<Option<i64>>,
    planned_us: Vec<Option<i64>>,
    reopens_us: Vec<Option<i64>>,
    idempotency: Vec<[u8; 8]>,
    max_tokens: Vec<u32>,
    delivered: Vec<u32>,
    /// In units of 100 µs, plus 1; 0 if unknown.
    timeout: Vec<u32>,
    chunk_gap: Vec<u32>,
    gateway_retries: Vec<u16>,
    resends: Vec<u16>,
}

/// What a row keeps outside the row itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Keeps {
    Nothing,
    Ids,
    Detail,
}

/// The repeating values of a detail: error type, error code, message, exception, transport and tool as numbers of
/// names, then where the server's hint was read, whether its unit is certain, and whether
/// the call id is a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Words {
    names: [u32; 6],
    hint_source: u8,
    hint_unit_known: bool,
    call_guessed: bool,
}

impl Words {
    fn of(detail: &Detail) -> Words {
        let Detail { error_type, error_code, message, exception, transport, tool, .. } = *detail;
        let names = [error_type, error_code, message, exception, transport, tool].map(|symbol| symbol.place() as u32);
        Words {
            names,
            hint_source: detail.hint_source as u8,
            hint_unit_known: detail.hint_unit_known,
            call_guessed: detail.call_guessed,
        }
    }

    fn put_into(self, detail: &mut Detail, symbols: &[Symbol]) -> Option<()> {
        let Detail { error_type, error_code, message, exception, transport, tool, .. } = detail;
        let places = [error_type, error_code, message, exception, transport, tool];
        for (place, number) in places.into_iter().zip(self.names) {
            *place = symbol(symbols, number)?;
        }
        detail.hint_source = HintSource::ALL.into_iter().find(|source| *source as u8 == self.hint_source)?;
        detail.hint_unit_known = self.hint_unit_known;
        detail.call_guessed = self.call_guessed;
        Some(())
    }
}

/// Flags with which a row has a detail even if that is empty, because such a row is not a single success.
const TELLING: u32 = Flags::SIDE_EFFECT
    | Flags::TOOL
    | Flags::IDEMPOTENT
    | Flags::DECIDED_RETRY
    | Flags::DECIDED_FAIL
    | Flags::DECIDED_OTHER;

/// Whether the detail of a row holds nothing but ids and the hash of the body, and the row itself needs no detail.
fn is_bare(row: &Attempt, detail: &Detail) -> bool {
    let Detail { request_id, call_id, request_hash, .. } = *detail;
    let is_first = row.number <= 1 && row.sdk_count().is_none_or(|count| count == 0);
    !row.failed()
        && is_first
        && row.flags.0 & TELLING == 0
        && *detail == Detail { request_id, call_id, request_hash, ..Detail::default() }
}

impl Details {
    /// Adds what a row keeps. Its request id and call id are given as they are to be stored; `number` returns the index
    /// of its `Words`.
    pub(super) fn add(
        &mut self,
        table: &AttemptTable,
        row: &Attempt,
        (request, call): (Option<Cow<'_, str>>, Option<Cow<'_, str>>),
        number: impl FnOnce(Words) -> u32,
    ) -> Keeps {
        let detail = table.detail(row).filter(|detail| !is_bare(row, detail));
        let hash = table.request_hash(row);
        if detail.is_none() && request.is_none() && call.is_none() && hash == 0 {
            return Keeps::Nothing;
        }
        let (request, call) = (request.unwrap_or_default(), call.unwrap_or_default());
        self.request_bytes.push(request.len() as u32);
        self.call_bytes.push(call.len() as u32);
        self.request_ids.push_str(&request);
        self.call_ids.push_str(&call);
        self.request_hash.push(hash.to_le_bytes());
        let Some(detail) = detail else { return Keeps::Ids };
        self.words.push(number(Words::of(detail)));
        self.hint_us.push(detail.hint_us);
        self.planned_us.push(detail.planned_us);
        self.reopens_us.push(detail.reopens.map(|Time(us)| us));
        self.idempotency.push(detail.idempotency.to_le_bytes());
        self.max_tokens.push(detail.max_tokens);
        self.delivered.push(detail.delivered);
        self.timeout.push(detail.timeout.units().wrapping_add(1));
        self.chunk_gap.push(detail.chunk_gap.units().wrapping_add(1));
        self.gateway_retries.push(detail.gateway_retries);
        self.resends.push(detail.resends);
        Keeps::Detail
    }

    /// Returns a reader that yields what each row keeps, in order.
    pub(super) fn reader<'d>(&'d self, words: &'d [Words], symbols: &'d [Symbol]) -> Reader<'d> {
        Reader { columns: self, words, symbols, ids: 0, details: 0, request_at: 0, call_at: 0 }
    }
}

/// Reads what rows keep, in order.
pub(super) struct Reader<'d> {
    columns: &'d Details,
    words: &'d [Words],
    symbols: &'d [Symbol],
    /// Number of rows read so far that keep ids, and of those that keep a detail.
    ids: usize,
    details: usize,
    request_at: usize,
    call_at: usize,
}

/// Ids and detail of one row.
pub(super) struct Kept<'d> {
    request_id: &'d str,
    call_id: &'d str,
    request_hash: u64,
    detail: Option<Detail>,
}

impl<'d> Reader<'d> {
    /// Reads what the next row keeps; `None` if the columns are too short or not valid.
    pub(super) fn next(&mut self, keeps: Keeps) -> Option<Kept<'d>> {
        if keeps == Keeps::Nothing {
            return Some(Kept { request_id: "", call_id: "", request_hash: 0, detail: None });
        }
        let (columns, nth) = (self.columns, self.ids);
        let request_id = cut(&columns.request_ids, &mut self.request_at, *columns.request_bytes.get(nth)?)?;
        let call_id = cut(&columns.call_ids, &mut self.call_at, *columns.call_bytes.get(nth)?)?;
        let request_hash = u64::from_le_bytes(*columns.request_hash.get(nth)?);
        self.ids += 1;
        let detail = if keeps == Keeps::Detail { Some(self.detail(request_hash)?) } else { None };
        Some(Kept { request_id, call_id, request_hash, detail })
    }

    fn detail(&mut self, request_hash: u64) -> Option<Detail> {
        let (columns, nth) = (self.columns, self.details);
        self.details += 1;
        let mut detail = Detail {
            request_hash,
            hint_us: *columns.hint_us.get(nth)?,
            planned_us: *columns.planned_us.get(nth)?,
            reopens: columns.reopens_us.get(nth)?.map(Time),
            idempotency: u64::from_le_bytes(*columns.idempotency.get(nth)?),
            max_tokens: *columns.max_tokens.get(nth)?,
            delivered: *columns.delivered.get(nth)?,
            timeout: Span::from_units(columns.timeout.get(nth)?.wrapping_sub(1)),
            chunk_gap: Span::from_units(columns.chunk_gap.get(nth)?.wrapping_sub(1)),
            gateway_retries: *columns.gateway_retries.get(nth)?,
            resends: *columns.resends.get(nth)?,
            ..Detail::default()
        };
        self.words.get(*columns.words.get(nth)? as usize)?.put_into(&mut detail, self.symbols)?;
        Some(detail)
    }
}

/// Returns the next `bytes` of a text and advances `at`.
fn cut<'t>(text: &'t str, at: &mut usize, bytes: u32) -> Option<&'t str> {
    let start = *at;
    *at = start.checked_add(bytes as usize)?;
    text.get(start..*at)
}

impl Kept<'_> {
    pub(super) fn request_id(&self) -> Option<&str> {
        Some(self.request_id).filter(|id| !id.is_empty())
    }

    pub(super) fn call_id(&self) -> Option<&str> {
        Some(self.call_id).filter(|id| !id.is_empty())
    }

    /// Stores the ids in `table` and returns the detail, if there is one.
    pub(super) fn put_into(self, table: &mut AttemptTable, row: &mut Attempt) -> Option<Detail> {
        let Some(mut detail) = self.detail else {
            row.detail = table.keep_ids(self.request_id, self.call_id, self.request_hash);
            return None;
        };
        let mut keep = |text: &str| if text.is_empty() { TextRef::default() } else { table.keep(Some(text)) };
        (detail.request_id, detail.call_id) = (keep(self.request_id), keep(self.call_id));
        Some(detail)
    }
}
