//! All attempts of one analysis, column-wise where columns may be missing.

use super::intern::{Interner, Symbol, remap};
use super::origin::{Origin, OriginId, Origins};
use super::{Attempt, Detail, DetailId, Flags, Gauges, Price, Prices, TextRef, Usage, Views};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is kept of a success that is no retry by its own account: another attempt of its call may follow.
#[derive(Clone, Copy, Debug)]
struct Ids {
    request_hash: u64,
    /// Where the request id stands in the table's text, with the call id behind it.
    start: u32,
    request_id: u8,
    call_id: u8,
}

/// The columnar store of attempts. Indices into it are stable once ingestion ends.
#[derive(Debug, Default)]
pub struct AttemptTable {
    /// One row an attempt, in input order.
    pub rows: Vec<Attempt>,
    /// Names of the inputs, by [`Attempt::file`].
    pub files: Vec<String>,
    /// Repeating strings.
    pub names: Interner,
    pub(crate) origins: Origins,
    /// Headroom readings, folded over time.
    pub gauges: Gauges,
    pub(super) details: Vec<Detail>,
    ids: Vec<Ids>,
    /// As long as `rows`, or empty when no record carried usage.
    pub(super) usage: Vec<Usage>,
    texts: String,
    /// Where rows of an input say which record they are, not on which line it stands: the line of each record, by file.
    lines: BTreeMap<u32, Arc<[u32]>>,
    /// Inputs whose clock shows whole seconds, although their times were made finer by what else they say.
    whole_seconds: BTreeSet<u32>,
    /// Inputs of clients that send a request again as it was: another body is another request.
    same_bodies: BTreeSet<u32>,
    /// Formats of the inputs, by [`Attempt::file`], as far as they are known.
    pub(super) formats: Vec<&'static str>,
    /// Which rows are views of others.
    pub(crate) views: Views,
}

/// Bytes of the ids of an attempt.
const USUAL_IDS: usize = 48;

impl AttemptTable {
    /// Has rows of `file` count its records from 1, which stand on these lines.
    pub(crate) fn number_records(&mut self, file: u32, lines: Arc<[u32]>) {
        self.lines.insert(file, lines);
    }

    /// Notes that the clock of `file` shows whole seconds, whatever its attempts say.
    pub(crate) fn note_whole_seconds(&mut self, file: u32) {
        self.whole_seconds.insert(file);
    }

    /// Whether the clock of `file` is noted to show whole seconds.
    pub(crate) fn shows_whole_seconds(&self, file: u32) -> bool {
        self.whole_seconds.contains(&file)
    }

    /// Notes that the clients that wrote `file` send a request again as it was.
    pub(crate) fn note_same_bodies(&mut self, file: u32) {
        self.same_bodies.insert(file);
    }

    /// Whether the clients that wrote `file` are noted to send a request again as it was.
    pub(crate) fn repeats_bodies(&self, file: u32) -> bool {
        self.same_bodies.contains(&file)
    }

    /// Notes the format of `file`.
    pub(crate) fn note_format(&mut self, file: u32, format: &'static str) {
        let place = file as usize;
        self.formats.resize(self.formats.len().max(place + 1), "");
        self.formats[place] = format;
    }

    /// The format of `file`; empty where it is not known.
    #[must_use]
    pub fn format(&self, file: u32) -> &'static str {
        self.formats.get(file as usize).copied().unwrap_or_default()
    }

    /// The line on which a row's record stands.
    #[must_use]
    pub fn line(&self, row: &Attempt) -> u32 {
        let lines = self.lines.get(&row.file);
        let record = || row.line.checked_sub(1).map(|record| record as usize);
        lines.and_then(|lines| lines.get(record()?).copied()).unwrap_or(row.line)
    }

    /// Makes room for so many attempts with the ids that are usual.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.rows.reserve(rows);
        self.ids.reserve(rows);
        self.texts.reserve(rows * USUAL_IDS);
    }

    /// Appends one attempt.
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

    /// Keeps the ids of a row that has no [`Detail`], and the fingerprint of its body, 0 where that is unknown. Ids
    /// of more than 255 bytes are left out.
    pub(crate) fn keep_ids(&mut self, request_id: &str, call_id: &str, request_hash: u64) -> DetailId {
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

    /// The id the provider gave the attempt of a row.
    #[must_use]
    pub fn request_id(&self, row: &Attempt) -> Option<&str> {
        match self.detail(row) {
            Some(detail) => self.text(detail.request_id),
            None => self.ids_of(row).and_then(|ids| self.text(ids.request_id())),
        }
    }

    /// The id of the call of a row, as logged.
    #[must_use]
    pub fn call_id(&self, row: &Attempt) -> Option<&str> {
        match self.detail(row) {
            Some(detail) => self.text(detail.call_id),
            None => self.ids_of(row).and_then(|ids| self.text(ids.call_id())),
        }
    }

    /// Fingerprint of the request body of a row, 0 where it is unknown.
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

    /// Keeps `text`; an empty reference once 4 GiB are held.
    pub fn keep(&mut self, text: Option<&str>) -> TextRef {
        let Some(text) = text else { return TextRef::default() };
        let (Ok(start), Ok(len)) = (u32::try_from(self.texts.len()), u32::try_from(text.len())) else {
            return TextRef::default();
        };
        self.texts.push_str(text);
        TextRef { start, len }
    }

    /// The text behind a reference; `None` where nothing was logged.
    #[must_use]
    pub fn text(&self, reference: TextRef) -> Option<&str> {
        let start = reference.start as usize;
        let text = self.texts.get(start..start + reference.len as usize)?;
        (!text.is_empty()).then_some(text)
    }

    /// The detail of a row, where it has one.
    #[must_use]
    pub fn detail(&self, row: &Attempt) -> Option<&Detail> {
        self.details.get(row.detail.0 as usize)
    }

    /// The usage of the row at `index`; zeros where the log gave none.
    #[must_use]
    pub fn usage(&self, index: usize) -> Usage {
        self.usage.get(index).copied().unwrap_or_default()
    }

    /// Provider, model, layer, client and scope of a row.
    #[must_use]
    pub fn origin(&self, row: &Attempt) -> &Origin {
        self.origins.get(row.origin)
    }

    /// The origin behind an id.
    #[must_use]
    pub fn origin_of(&self, id: OriginId) -> &Origin {
        self.origins.get(id)
    }

    /// Works out what attempts cost whose record gives tokens and no cost.
    pub(crate) fn price(&mut self, prices: &Prices) {
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

    /// Every origin met, of rows that have left as well.
    #[must_use]
    pub fn all_origins(&self) -> &[Origin] {
        self.origins.all()
    }

    /// Appends every row of `other`, whose files keep their numbers.
    pub fn absorb(&mut self, mut other: AttemptTable) {
        self.whole_seconds.append(&mut other.whole_seconds);
        self.same_bodies.append(&mut other.same_bodies);
        if self.rows.is_empty() && self.names.is_empty() {
            let (files, lines) = (std::mem::take(&mut self.files), std::mem::take(&mut self.lines));
            let (whole_seconds, same_bodies) =
                (std::mem::take(&mut self.whole_seconds), std::mem::take(&mut self.same_bodies));
            let formats = std::mem::take(&mut self.formats);
            *self = AttemptTable { files, lines, whole_seconds, same_bodies, formats, ..other };
            return;
        }
        let names = self.names.absorb(&other.names);
        let origins = self.origins.absorb(&other.origins, &names);
        self.gauges.absorb(other.gauges, &names);
        let (text_base, detail_base) = (self.texts.len() as u64, self.details.len() as u64);
        let ids_base = self.ids.len() as u64;
        self.texts.push_str(&other.texts);
        self.ids.extend(other.ids.into_iter().map(|ids| ids.moved(text_base)));
        self.details.extend(other.details.into_iter().map(|detail| moved(detail, &names, text_base)));
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

    /// Calls the files of its rows by other numbers.
    pub(crate) fn renumber_files(&mut self, numbers: &[u32]) {
        let to = |file: u32| numbers.get(file as usize).copied().unwrap_or(file);
        self.rows.iter_mut().for_each(|row| row.file = to(row.file));
        for files in [&mut self.whole_seconds, &mut self.same_bodies] {
            *files = files.iter().map(|file| to(*file)).collect();
        }
    }

    /// Keeps only the rows of `order`, in that order; the row at `order[n]` becomes row `n`. Room is kept for as
    /// many as there were: others follow.
    pub(crate) fn retain(&mut self, order: &[u32]) {
        if !self.usage.is_empty() {
            self.usage.resize(self.rows.len(), Usage::default());
        }
        select(&mut self.usage, order);
        select(&mut self.rows, order);
        self.views.renumber(order);
        let texts = &self.texts;
        let text = |reference: TextRef| {
            let start = reference.start as usize;
            texts.get(start..start + reference.len as usize).filter(|text| !text.is_empty())
        };
        let mut kept = AttemptTable::default();
        for row in &mut self.rows {
            if let Some(ids) = row.detail.ids().and_then(|index| self.ids.get(index)) {
                let [request_id, call_id] = [ids.request_id(), ids.call_id()].map(|it| text(it).unwrap_or_default());
                row.detail = kept.keep_ids(request_id, call_id, ids.request_hash);
                continue;
            }
            let Some(&detail) = self.details.get(row.detail.0 as usize) else { continue };
            let (request_id, call_id) = (kept.keep(text(detail.request_id)), kept.keep(text(detail.call_id)));
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

    /// Bytes held, without the strings of file names: what a capacity test asserts.
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

    fn moved(self, text_base: u64) -> Ids {
        match u32::try_from(text_base + u64::from(self.start)) {
            Ok(start) if start < u32::MAX - 512 => Ids { start, ..self },
            _ => Ids { start: 0, request_id: 0, call_id: 0, ..self },
        }
    }
}

/// Keeps only what stands at the places of `order`, in that order.
fn select<T: Copy>(list: &mut Vec<T>, order: &[u32]) {
    let kept: Vec<T> = order.iter().filter_map(|place| list.get(*place as usize).copied()).collect();
    list.clear();
    list.extend(kept);
}

fn moved(mut detail: Detail, names: &[Symbol], text_base: u64) -> Detail {
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
