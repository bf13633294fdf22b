//! Columns of what rows keep outside the row itself: ids, and details of failures and retries.

use super::ids::{self, Ids};
use super::names::symbol;
use super::numbers::{Numbers, unzigzag, zigzag};
use crate::model::{Attempt, AttemptTable, CompactDuration, Detail, Flags, HintSource, Symbol, TextRef, Time};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One entry per row that keeps ids or a detail.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Details {
    request_ids: Ids,
    call_ids: Ids,
    request_hash: Numbers,
    /// One entry per row with a detail, in this and the following columns. This one is an index into the list of
    /// [`DetailShape`].
    detail_shapes: Numbers,
    /// Only of details that have them.
    hint_us: Numbers,
    planned_us: Numbers,
    reopens_us: Numbers,
    idempotency: Numbers,
    max_tokens: Numbers,
    delivered: Numbers,
    /// In units of 100 µs, plus 1; 0 if unknown.
    timeout: Numbers,
    chunk_gap: Numbers,
    gateway_retries: Numbers,
    resends: Numbers,
}

/// What a row keeps outside the row itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum ExtrasKind {
    Nothing,
    Ids,
    Detail,
}

/// The repeating values of a detail: error type, error code, message, exception, transport and tool as numbers of
/// names, then where the server's hint was read and whether its unit is certain, whether there are a hint, a planned wait
/// and a time at which a window reopens, and whether the call id is a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct DetailShape {
    names: [u32; 6],
    hint_source: u8,
    hint_unit_known: bool,
    has: [bool; 3],
    call_guessed: bool,
}

impl DetailShape {
    fn of(detail: &Detail) -> DetailShape {
        let Detail { error_type, error_code, message, exception, transport, tool, .. } = *detail;
        let names =
            [error_type, error_code, message, exception, transport, tool].map(|symbol| symbol.list_index() as u32);
        let has = [detail.hint_us.is_some(), detail.planned_us.is_some(), detail.reopens.is_some()];
        DetailShape {
            names,
            hint_source: detail.hint_source as u8,
            hint_unit_known: detail.hint_unit_known,
            has,
            call_guessed: detail.call_guessed,
        }
    }

    fn put_into(self, detail: &mut Detail, symbols: &[Symbol]) -> Option<()> {
        let Detail { error_type, error_code, message, exception, transport, tool, .. } = detail;
        let places = [error_type, error_code, message, exception, transport, tool];
        for (place, index_of) in places.into_iter().zip(self.names) {
            *place = symbol(symbols, index_of)?;
        }
        detail.hint_source = HintSource::ALL.into_iter().find(|source| *source as u8 == self.hint_source)?;
        detail.hint_unit_known = self.hint_unit_known;
        detail.call_guessed = self.call_guessed;
        Some(())
    }
}

/// A row with one of these flags has a detail, even an empty one, so that it is not taken for a single success.
const FLAGS_WITH_DETAIL: u32 = Flags::SIDE_EFFECT
    | Flags::TOOL
    | Flags::IDEMPOTENT
    | Flags::DECIDED_RETRY
    | Flags::DECIDED_FAIL
    | Flags::DECIDED_OTHER;

/// Whether the detail of a row holds nothing but ids and the hash of the body, and the row itself needs no detail.
fn has_only_ids(row: &Attempt, detail: &Detail) -> bool {
    let Detail { request_id, call_id, request_hash, .. } = *detail;
    let is_first = row.number <= 1 && row.sdk_count().is_none_or(|count| count == 0);
    !row.failed()
        && is_first
        && row.flags.0 & FLAGS_WITH_DETAIL == 0
        && *detail == Detail { request_id, call_id, request_hash, ..Detail::default() }
}

/// A row's request id and call id as they are to be stored.
pub(super) type RowIds<'t> = (Option<Cow<'t, str>>, Option<Cow<'t, str>>);

/// The columns while rows are added.
#[derive(Default)]
pub(super) struct Builder<'t> {
    request_ids: Vec<(u32, Cow<'t, str>)>,
    call_ids: Vec<(u32, Cow<'t, str>)>,
    request_hash: Vec<u64>,
    detail_shapes: Vec<u64>,
    /// Hint, planned wait and time of reopening.
    times: [Vec<u64>; 3],
    idempotency: Vec<u64>,
    /// Limit on tokens, chunks delivered, timeout and longest gap.
    amounts: [Vec<u64>; 4],
    retries: [Vec<u64>; 2],
}

impl<'t> Builder<'t> {
    /// Adds what a row keeps. `index_of` returns the index of its `DetailShape`.
    pub(super) fn add(
        &mut self,
        table: &AttemptTable,
        row: &Attempt,
        (request, call): RowIds<'t>,
        index_of: impl FnOnce(DetailShape) -> u32,
    ) -> ExtrasKind {
        let detail = table.detail(row).filter(|detail| !has_only_ids(row, detail));
        let hash = table.request_hash(row);
        if detail.is_none() && request.is_none() && call.is_none() && hash == 0 {
            return ExtrasKind::Nothing;
        }
        let run = row.run.list_index() as u32;
        self.request_ids.push((run, request.unwrap_or_default()));
        self.call_ids.push((run, call.unwrap_or_default()));
        self.request_hash.push(hash);
        let Some(detail) = detail else { return ExtrasKind::Ids };
        self.detail_shapes.push(u64::from(index_of(DetailShape::of(detail))));
        let times = [detail.hint_us, detail.planned_us, detail.reopens.map(|Time(us)| us)];
        self.times.iter_mut().zip(times).for_each(|(column, time)| column.extend(time.map(zigzag)));
        self.idempotency.push(detail.idempotency);
        let spans = [detail.timeout, detail.chunk_gap].map(|span| span.units().wrapping_add(1));
        let amounts = [detail.max_tokens, detail.delivered, spans[0], spans[1]];
        self.amounts.iter_mut().zip(amounts).for_each(|(column, amount)| column.push(u64::from(amount)));
        let retries = [detail.gateway_retries, detail.resends];
        self.retries.iter_mut().zip(retries).for_each(|(column, count)| column.push(u64::from(count)));
        ExtrasKind::Detail
    }

    pub(super) fn finish(self) -> Details {
        let [hint_us, planned_us, reopens_us] = self.times.map(|times| Numbers::of(&times));
        let [max_tokens, delivered, timeout, chunk_gap] = self.amounts.map(|amounts| Numbers::of(&amounts));
        let [gateway_retries, resends] = self.retries.map(|retries| Numbers::of(&retries));
        Details {
            request_ids: Ids::of(&self.request_ids),
            call_ids: Ids::of(&self.call_ids),
            request_hash: Numbers::of(&self.request_hash),
            detail_shapes: Numbers::of(&self.detail_shapes),
            hint_us,
            planned_us,
            reopens_us,
            idempotency: Numbers::of(&self.idempotency),
            max_tokens,
            delivered,
            timeout,
            chunk_gap,
            gateway_retries,
            resends,
        }
    }
}

impl Details {
    /// Returns a reader that yields what each row keeps, in order; `None` if the columns are not valid.
    pub(super) fn reader<'d>(&'d self, detail_shapes: &'d [DetailShape], symbols: &'d [Symbol]) -> Option<Reader<'d>> {
        let (requests, calls) = (self.request_ids.reader()?, self.call_ids.reader()?);
        Some(Reader { columns: self, detail_shapes, symbols, requests, calls, ids: 0, details: 0, times: [0; 3] })
    }
}

/// Reads what rows keep, in order.
pub(super) struct Reader<'d> {
    columns: &'d Details,
    detail_shapes: &'d [DetailShape],
    symbols: &'d [Symbol],
    requests: ids::Reader<'d>,
    calls: ids::Reader<'d>,
    /// Number of rows read so far that keep ids, of those that keep a detail, and of each of its times.
    ids: usize,
    details: usize,
    times: [usize; 3],
}

/// Ids and detail of one row.
pub(super) struct RowExtras<'r> {
    request_id: &'r str,
    call_id: &'r str,
    request_hash: u64,
    detail: Option<Detail>,
}

impl Reader<'_> {
    /// Reads what the next row keeps, which is of this run; `None` if the columns are too short or not valid.
    pub(super) fn next(&mut self, extras: ExtrasKind, run: u32) -> Option<RowExtras<'_>> {
        if extras == ExtrasKind::Nothing {
            return Some(RowExtras { request_id: "", call_id: "", request_hash: 0, detail: None });
        }
        let request_hash = self.columns.request_hash.get(self.ids)?;
        self.ids += 1;
        let detail = if extras == ExtrasKind::Detail { Some(self.detail(request_hash)?) } else { None };
        Some(RowExtras { request_id: self.requests.next(run)?, call_id: self.calls.next(run)?, request_hash, detail })
    }

    fn detail(&mut self, request_hash: u64) -> Option<Detail> {
        let (columns, nth) = (self.columns, self.details);
        self.details += 1;
        let detail_shapes = self.detail_shapes.get(columns.detail_shapes.get_as::<usize>(nth)?)?;
        let mut times = [None; 3];
        let of_times = [&columns.hint_us, &columns.planned_us, &columns.reopens_us];
        for (index, column) in of_times.into_iter().enumerate().filter(|(index, _)| detail_shapes.has[*index]) {
            times[index] = Some(unzigzag(column.get(self.times[index])?));
            self.times[index] += 1;
        }
        let span = |column: &Numbers| {
            column.get_as::<u32>(nth).map(|units| CompactDuration::from_units(units.wrapping_sub(1)))
        };
        let mut detail = Detail {
            request_hash,
            hint_us: times[0],
            planned_us: times[1],
            reopens: times[2].map(Time),
            idempotency: columns.idempotency.get(nth)?,
            max_tokens: columns.max_tokens.get_as(nth)?,
            delivered: columns.delivered.get_as(nth)?,
            timeout: span(&columns.timeout)?,
            chunk_gap: span(&columns.chunk_gap)?,
            gateway_retries: columns.gateway_retries.get_as(nth)?,
            resends: columns.resends.get_as(nth)?,
            ..Detail::default()
        };
        detail_shapes.put_into(&mut detail, self.symbols)?;
        Some(detail)
    }
}

impl RowExtras<'_> {
    pub(super) fn request_id(&self) -> Option<&str> {
        Some(self.request_id).filter(|id| !id.is_empty())
    }

    pub(super) fn call_id(&self) -> Option<&str> {
        Some(self.call_id).filter(|id| !id.is_empty())
    }

    /// Stores the ids in `table` and returns the detail, if there is one.
    pub(super) fn put_into(self, table: &mut AttemptTable, row: &mut Attempt) -> Option<Detail> {
        let Some(mut detail) = self.detail else {
            row.detail = table.store_ids(self.request_id, self.call_id, self.request_hash);
            return None;
        };
        let mut keep = |text: &str| if text.is_empty() { TextRef::default() } else { table.store_text(Some(text)) };
        (detail.request_id, detail.call_id) = (keep(self.request_id), keep(self.call_id));
        Some(detail)
    }
}
