//! Table of all attempts of an analysis; optional fields are in separate columns.

use super::intern::{Interner, Symbol, remap};
use super::origin::{Origin, OriginId, Origins};
use super::{Attempt, Detail, DetailId, Flags, HeadroomReadings, Price, Prices, TextRef, Usage, Views};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Ids of an attempt that needs no [`Detail`], a success that is not marked as a retry; a later attempt of its call may
/// need them.
#[derive(Clone, Copy, Debug)]
struct Ids {
    request_hash: u64,
    /// Offset of the request id in the table's text buffer, followed by the call id.
    start: u32,
    request_id: u8,
    call_id: u8,
}

/// Column store of attempts. Row indices do not change once ingestion has ended, except by `AttemptTable::retain`.
#[derive(Debug, Default)]
pub struct AttemptTable {
    /// One row for each attempt, in input order.
    pub rows: Vec<Attempt>,
    /// Names of the inputs, indexed by [`Attempt::file`].
    pub files: Vec<String>,
    /// Interned strings.
    pub names: Interner,
    pub(crate) origins: Origins,
    /// Headroom readings, aggregated over time.
    pub headroom: HeadroomReadings,
    pub(super) details: Vec<Detail>,
    ids: Vec<Ids>,
    /// Usage by row; as long as `rows`, or empty if no record carried usage.
    pub(super) usage: Vec<Usage>,
    texts: String,
    /// Line of each record by file, for inputs whose rows have the number of the record in place of its line.
    lines: BTreeMap<u32, Arc<[u32]>>,
    /// Inputs whose clock has whole seconds although their times have fractions, such as those from which a duration
    /// was subtracted.
    whole_seconds: BTreeSet<u32>,
    /// Inputs of clients that repeat requests unchanged, so that a different body is a different request.
    same_bodies: BTreeSet<u32>,
    /// Formats of the inputs, indexed by [`Attempt::file`], as far as known; empty strings otherwise.
    pub(super) formats: Vec<&'static str>,
    /// Maps inputs to the earlier input that holds the same attempts.
    pub(super) copies: BTreeMap<u32, u32>,
    /// Rows that are views of others.
    pub(crate) views: Views,
}

/// Bytes reserved for the two ids of an attempt, of some 24 bytes each.
const TYPICAL_IDS_LEN: usize = 48;

impl AttemptTable {
    /// Declares that the rows of `file` have record numbers, from 1, in place of lines; `lines` maps them to lines.
    pub(crate) fn number_records(&mut self, file: u32, lines: Arc<[u32]>) {
        self.lines.insert(file, lines);
    }

    /// Notes that the clock of `file` has whole seconds, whatever the times of its attempts suggest.
    pub(crate) fn note_whole_seconds(&mut self, file: u32) {
        self.whole_seconds.insert(file);
    }

    /// Returns whether the clock of `file` is noted to have whole seconds.
    pub(crate) fn shows_whole_seconds(&self, file: u32) -> bool {
        self.whole_seconds.contains(&file)
    }

    /// Notes that the clients that wrote `file` repeat requests unchanged.
    pub(crate) fn note_same_bodies(&mut self, file: u32) {
        self.same_bodies.insert(file);
    }

    /// Returns whether the clients that wrote `file` are noted to repeat requests unchanged.
    pub(crate) fn repeats_bodies(&self, file: u32) -> bool {
        self.same_bodies.contains(&file)
    }

    /// Records the format of `file`.
    pub(crate) fn note_format(&mut self, file: u32, format: &'static str) {
        let index = file as usize;
        self.formats.resize(self.formats.len().max(index + 1), "");
        self.formats[index] = format;
    }

    /// Returns the format of `file`; empty if unknown.
    #[must_use]
    pub fn format(&self, file: u32) -> &'static str {
        self.formats.get(file as usize).copied().unwrap_or_default()
    }

    /// Returns the line number of a row's record.
    #[must_use]
    pub fn line(&self, row: &Attempt) -> u32 {
        let lines = self.lines.get(&row.file);
        let record = || row.line.checked_sub(1).map(|record| record as usize);
        lines.and_then(|lines| lines.get(record()?).copied()).unwrap_or(row.line)
    }

    /// Reserves memory for this many attempts and their ids.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.rows.reserve(rows);
        self.ids.reserve(rows);
        self.texts.reserve(rows * TYPICAL_IDS_LEN);
    }

    /// Appends one attempt.
    #[inline]
    pub fn push(&mut self, mut row: Attempt, detail: Option<Detail>, usage: Option<Usage>) {
        if let Some(detail) = detail
            && let Ok(index) = u32::try_from(self.details.len())
        {
            row.detail = DetailId(index);
            self.details.push(detail);
        }
        if let Some(usage) = usage {
            self.usage.reserve(self.rows.capacity() - self.usage.len());
            self.usage.resize(self.rows.len(), Usage::default());
            self.usage.push(usage);
        } else if !self.usage.is_empty() {
            self.usage.push(Usage::default());
        }
        self.rows.push(row);
    }

    /// Stores the ids of a row without a [`Detail`], and the fingerprint of its body, 0 if unknown. Ids of more than
    /// 255 bytes are dropped.
    #[inline]
    pub(crate) fn store_ids(&mut self, request_id: &str, call_id: &str, request_hash: u64) -> DetailId {
        let text = (u8::try_from(request_id.len()), u8::try_from(call_id.len()), u32::try_from(self.texts.len()));
        let (request_len, call_len, start) = match text {
            (Ok(request_id), Ok(call_id), Ok(start)) => (request_id, call_id, start),
            _ => (0, 0, 0),
        };
        let index = self.ids.len() as u32;
        if (request_len == 0 && call_len == 0 && request_hash == 0) || index >= DetailId::IDS - 1 {
            return DetailId::NONE;
        }
        if request_len > 0 || call_len > 0 {
            self.texts.push_str(request_id);
            self.texts.push_str(call_id);
        }
        self.ids.push(Ids { request_hash, start, request_id: request_len, call_id: call_len });
        DetailId(index | DetailId::IDS)
    }

    /// Returns the provider's request id of a row.
    #[must_use]
    pub fn request_id(&self, row: &Attempt) -> Option<&str> {
        match self.detail(row) {
            Some(detail) => self.text(detail.request_id),
            None => self.ids_of(row).and_then(|ids| self.text(ids.request_id())),
        }
    }

    /// Returns the call id of a row, as logged.
    #[must_use]
    pub fn call_id(&self, row: &Attempt) -> Option<&str> {
        match self.detail(row) {
            Some(detail) => self.text(detail.call_id),
            None => self.ids_of(row).and_then(|ids| self.text(ids.call_id())),
        }
    }

    /// Returns the fingerprint of the request body of a row, 0 if unknown.
    #[must_use]
    pub fn request_hash(&self, row: &Attempt) -> u64 {
        match self.detail(row) {
            Some(detail) => detail.request_hash,
            None => self.ids_of(row).map_or(0, |ids| ids.request_hash),
        }
    }

    fn ids_of(&self, row: &Attempt) -> Option<&Ids> {
        self.ids.get(row.detail.ids()?)
    }

    /// Stores `text`; returns an empty reference once 4 GiB are stored.
    pub fn store_text(&mut self, text: Option<&str>) -> TextRef {
        let Some(text) = text else { return TextRef::default() };
        let (Ok(start), Ok(len)) = (u32::try_from(self.texts.len()), u32::try_from(text.len())) else {
            return TextRef::default();
        };
        self.texts.push_str(text);
        TextRef { start, len }
    }

    /// Returns the text of a reference; `None` if nothing was logged.
    #[must_use]
    pub fn text(&self, reference: TextRef) -> Option<&str> {
        let start = reference.start as usize;
        let text = self.texts.get(start..start + reference.len as usize)?;
        (!text.is_empty()).then_some(text)
    }

    /// Returns the detail of a row, if it has one.
    #[must_use]
    pub fn detail(&self, row: &Attempt) -> Option<&Detail> {
        self.details.get(row.detail.0 as usize)
    }

    /// Returns the usage of the row at `index`; zeros if not logged.
    #[must_use]
    pub fn usage(&self, index: usize) -> Usage {
        self.usage.get(index).copied().unwrap_or_default()
    }

    /// Returns whether any record carried usage.
    pub(crate) fn has_usage(&self) -> bool {
        !self.usage.is_empty()
    }

    /// Returns the origin of a row: provider, model, layer, client and scope.
    #[must_use]
    pub fn origin(&self, row: &Attempt) -> &Origin {
        self.origins.get(row.origin)
    }

    /// Returns the origin with this id.
    #[must_use]
    pub fn origin_of(&self, id: OriginId) -> &Origin {
        self.origins.get(id)
    }

    /// Computes the cost of attempts that log tokens but no cost.
    pub(crate) fn fill_costs(&mut self, prices: &Prices) {
        if prices.is_empty() || self.usage.is_empty() {
            return;
        }
        let of = |origin: &Origin| self.names.get(origin.model).and_then(|model| prices.of(model));
        let by_origin: Vec<Option<&Price>> = self.origins.all().iter().map(of).collect();
        for (row, usage) in self.rows.iter_mut().zip(&mut self.usage) {
            let price = by_origin.get(row.origin.0 as usize).copied().flatten();
            let known = row.flags.has(Flags::COST);
            if let Some(cost) = price.filter(|_| !known).and_then(|price| price.micro_usd(usage)) {
                usage.cost_micro_usd = cost;
                row.flags.set(Flags::COST | Flags::PRICED, true);
            }
        }
    }

    /// Returns every origin seen, including those of rows that have been removed.
    #[must_use]
    pub fn all_origins(&self) -> &[Origin] {
        self.origins.all()
    }

    /// Appends every row of `other`, whose file numbers are kept.
    pub fn absorb(&mut self, mut other: AttemptTable) {
        self.whole_seconds.append(&mut other.whole_seconds);
        self.same_bodies.append(&mut other.same_bodies);
        self.copies.append(&mut other.copies);
        if self.rows.is_empty() && self.names.is_empty() {
            let (files, lines) = (std::mem::take(&mut self.files), std::mem::take(&mut self.lines));
            let (whole_seconds, same_bodies) =
                (std::mem::take(&mut self.whole_seconds), std::mem::take(&mut self.same_bodies));
            let (formats, copies) = (std::mem::take(&mut self.formats), std::mem::take(&mut self.copies));
            *self = AttemptTable { files, lines, whole_seconds, same_bodies, formats, copies, ..other };
            return;
        }
        let names = self.names.absorb(&other.names);
        let origins = self.origins.absorb(&other.origins, &names);
        self.headroom.absorb(other.headroom, &names);
        let (text_base, detail_base) = (self.texts.len() as u64, self.details.len() as u64);
        let ids_base = self.ids.len() as u64;
        self.texts.push_str(&other.texts);
        self.ids.extend(other.ids.into_iter().map(|ids| ids.rebased(text_base)));
        self.details.extend(other.details.into_iter().map(|detail| rebased(detail, &names, text_base)));
        if !self.usage.is_empty() || !other.usage.is_empty() {
            self.usage.resize(self.rows.len(), Usage::default());
            self.usage.extend(other.usage);
            self.usage.resize(self.rows.len() + other.rows.len(), Usage::default());
        }
        self.rows.extend(other.rows.into_iter().map(|mut row| {
            row.run = remap(row.run, &names);
            row.origin = origins[row.origin.0 as usize];
            if row.detail.is_detail() {
                row.detail = u32::try_from(detail_base + u64::from(row.detail.0)).map_or(DetailId::NONE, DetailId);
            } else if let Some(index) = row.detail.ids() {
                let index = u32::try_from(ids_base + index as u64).ok().filter(|index| *index < DetailId::IDS - 1);
                row.detail = index.map_or(DetailId::NONE, |index| DetailId(index | DetailId::IDS));
            }
            row
        }));
    }

    /// Renumbers the files of its rows: file `n` becomes `numbers[n]`.
    pub(crate) fn renumber_files(&mut self, numbers: &[u32]) {
        let to = |file: u32| numbers.get(file as usize).copied().unwrap_or(file);
        self.rows.iter_mut().for_each(|row| row.file = to(row.file));
        for files in [&mut self.whole_seconds, &mut self.same_bodies] {
            *files = files.iter().map(|file| to(*file)).collect();
        }
    }

    /// Keeps only the rows in `order`, in that order; the row at `order[n]` becomes row `n`. Memory is kept for the
    /// rows that follow.
    pub(crate) fn retain(&mut self, order: &[u32]) {
        if !self.usage.is_empty() {
            self.usage.resize(self.rows.len(), Usage::default());
        }
        select(&mut self.usage, order);
        select(&mut self.rows, order);
        self.views.renumber(order);
        // Moving texts costs more than the memory of as many others.
        if self.ids.len() + self.details.len() < 2 * self.rows.len() {
            return;
        }
        let texts = &self.texts;
        let text = |reference: TextRef| {
            let start = reference.start as usize;
            texts.get(start..start + reference.len as usize).filter(|text| !text.is_empty())
        };
        let mut kept = AttemptTable::default();
        for row in &mut self.rows {
            if let Some(ids) = row.detail.ids().and_then(|index| self.ids.get(index)) {
                let [request_id, call_id] = [ids.request_id(), ids.call_id()].map(|it| text(it).unwrap_or_default());
                row.detail = kept.store_ids(request_id, call_id, ids.request_hash);
                continue;
            }
            let Some(&detail) = self.details.get(row.detail.0 as usize) else { continue };
            let (request_id, call_id) =
                (kept.store_text(text(detail.request_id)), kept.store_text(text(detail.call_id)));
            row.detail = DetailId(kept.details.len() as u32);
            kept.details.push(Detail { request_id, call_id, ..detail });
        }
        self.details.clear();
        self.details.append(&mut kept.details);
        self.ids.clear();
        self.ids.append(&mut kept.ids);
        self.texts.clear();
        self.texts.push_str(&kept.texts);
    }

    /// Returns the bytes allocated, without names of files, for tests of memory use.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Attempt>() * self.rows.capacity()
            + size_of::<Detail>() * self.details.capacity()
            + size_of::<Ids>() * self.ids.capacity()
            + size_of::<Usage>() * self.usage.capacity()
            + self.texts.capacity()
    }
}

impl Ids {
    fn request_id(&self) -> TextRef {
        TextRef { start: self.start, len: u32::from(self.request_id) }
    }

    fn call_id(&self) -> TextRef {
        TextRef { start: self.start + u32::from(self.request_id), len: u32::from(self.call_id) }
    }

    /// Returns these ids for a text buffer in which theirs begins at `text_base`.
    fn rebased(self, text_base: u64) -> Ids {
        match u32::try_from(text_base + u64::from(self.start)) {
            Ok(start) if start < u32::MAX - 512 => Ids { start, ..self },
            _ => Ids { start: 0, request_id: 0, call_id: 0, ..self },
        }
    }
}

/// Keeps only the elements at the indices in `order`, in that order.
fn select<T: Copy>(list: &mut Vec<T>, order: &[u32]) {
    let kept: Vec<T> = order.iter().filter_map(|index| list.get(*index as usize).copied()).collect();
    list.clear();
    list.extend(kept);
}

/// Translates the references of a detail into those of a table that absorbs its table.
fn rebased(mut detail: Detail, names: &[Symbol], text_base: u64) -> Detail {
    for symbol in [
        &mut detail.error_type,
        &mut detail.error_code,
        &mut detail.message,
        &mut detail.exception,
        &mut detail.transport,
        &mut detail.tool,
    ] {
        *symbol = remap(*symbol, names);
    }
    for text in [&mut detail.request_id, &mut detail.call_id] {
        *text = match u32::try_from(text_base + u64::from(text.start)) {
            Ok(start) => TextRef { start, len: text.len },
            Err(_) => TextRef::default(),
        };
    }
    detail
}
