//! Lines taken out of what shippers and loggers wrapped around them.

use super::block::Block;
use super::envelope::{Envelope, Inner};
use super::json_documents::{Documents, Mode};
use super::position::{Given, Spot};
use crate::model::Zone;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A line that arrives in parts is joined up to this length, in bytes.
const LONGEST_JOINED: usize = super::limits::LONGEST_LINE;
/// Sources whose parts are waited for at once.
const MOST_OPEN: usize = 1024;

/// How the lines of an input are wrapped, from the outside in.
#[derive(Clone, Default)]
pub(crate) struct Wrapping {
    /// JSON over several lines, or several records in one value.
    pub(crate) documents: Option<Mode>,
    pub(crate) envelopes: Vec<&'static dyn Envelope>,
}

impl std::fmt::Debug for Wrapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Wrapping").field(&self.name()).finish()
    }
}

impl Wrapping {
    /// Whether lines stand as they are.
    pub(crate) fn is_none(&self) -> bool {
        self.documents.is_none() && self.envelopes.is_empty()
    }

    /// Whether a line can be unwrapped without those before it.
    pub(crate) fn is_by_line(&self) -> bool {
        self.documents.is_none() && self.envelopes.iter().all(|envelope| !envelope.joins())
    }

    /// In words, from the outside in; `None` where nothing is wrapped.
    pub(crate) fn name(&self) -> Option<String> {
        let documents = self.documents.map(Mode::name);
        let names: Vec<&str> = documents.into_iter().chain(self.envelopes.iter().map(|it| it.name())).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Lines that were unwrapped.
#[derive(Debug, Default)]
pub(crate) struct Unwrapped {
    pub(crate) bytes: Vec<u8>,
    pub(crate) spots: Vec<Spot>,
    pub(crate) given: Vec<Given>,
}

impl Unwrapped {
    /// As a decoder takes it.
    pub(crate) fn block(&self) -> Block<'_> {
        Block::unwrapped(&self.bytes, &self.spots, &self.given)
    }

    /// Appends what comes behind it.
    pub(crate) fn append(&mut self, mut other: Unwrapped) {
        if self.bytes.is_empty() {
            *self = other;
            return;
        }
        let base = self.given.len() as u32;
        for spot in other.spots.iter_mut().filter(|spot| spot.given != NOTHING) {
            spot.given += base;
        }
        self.bytes.append(&mut other.bytes);
        self.spots.append(&mut other.spots);
        self.given.append(&mut other.given);
    }

    /// Takes off the last line for which `begins` holds, and what stands behind it.
    pub(crate) fn split_last(&mut self, begins: fn(&str) -> bool) -> Unwrapped {
        let mut end = self.bytes.len();
        for nth in (0..self.spots.len()).rev() {
            let start = memchr::memrchr(b'\n', &self.bytes[..end.saturating_sub(1)]).map_or(0, |newline| newline + 1);
            if std::str::from_utf8(&self.bytes[start..end]).is_ok_and(|line| begins(line.trim_end())) {
                let (bytes, spots) = (self.bytes.split_off(start), self.spots.split_off(nth));
                return Unwrapped { bytes, spots, given: self.given.clone() };
            }
            end = start;
        }
        std::mem::take(self)
    }

    /// Appends text, each of its lines a line of its own.
    fn push(&mut self, text: &str, spot: Spot) {
        let text = text.strip_suffix('\n').unwrap_or(text).as_bytes();
        self.bytes.extend_from_slice(text);
        self.bytes.push(b'\n');
        self.spots.extend(memchr::memchr_iter(b'\n', text).map(|_| spot));
        self.spots.push(spot);
    }

    /// The number of `given`, which is often that of the line before.
    fn given(&mut self, given: Given) -> u32 {
        if self.given.last() != Some(&given) {
            self.given.push(given);
        }
        (self.given.len() - 1) as u32
    }
}

/// Takes lines out of one input, from its front to its end.
pub(crate) struct Unwrapper {
    envelopes: Vec<&'static dyn Envelope>,
    documents: Option<Documents>,
    /// The run of records that name none.
    stream: String,
    zone: Zone,
    /// What has arrived of lines that come in parts, by envelope and source.
    open: BTreeMap<(usize, String), (String, Spot)>,
    out: Unwrapped,
}

impl Unwrapper {
    pub(crate) fn new(wrapping: &Wrapping, stream: &str, zone: Zone) -> Unwrapper {
        Unwrapper {
            envelopes: wrapping.envelopes.clone(),
            documents: wrapping.documents.map(Documents::new),
            stream: stream.to_owned(),
            zone,
            open: BTreeMap::new(),
            out: Unwrapped::default(),
        }
    }

    /// Takes whole lines, of which the first is the line of number `first`.
    pub(crate) fn take(&mut self, bytes: &[u8], first: u32) {
        let text = text_of(bytes);
        let Some(mut documents) = self.documents.take() else {
            for (line, number) in lines(&text).zip(first..) {
                self.line(line, Spot { line: number, record: 0, given: NOTHING });
            }
            return;
        };
        documents.take(&text, first, &mut |record, spot| self.line(record, spot));
        self.documents = Some(documents);
    }

    /// The input is over: what is open is let go as it is.
    pub(crate) fn finish(&mut self) {
        if let Some(mut documents) = self.documents.take() {
            documents.finish(&mut |record, spot| self.line(record, spot));
        }
        for ((layer, _), (text, spot)) in std::mem::take(&mut self.open) {
            self.peel(layer + 1, &text, Spot { given: NOTHING, ..spot });
        }
    }

    /// What was unwrapped since the last call.
    pub(crate) fn give(&mut self) -> Unwrapped {
        std::mem::take(&mut self.out)
    }

    fn line(&mut self, line: &str, spot: Spot) {
        self.peel(0, cleaned(line).as_ref(), spot);
    }

    fn peel(&mut self, layer: usize, text: &str, spot: Spot) {
        let Some(envelope) = self.envelopes.get(layer).copied() else { return self.out.push(text, spot) };
        let (mut record, zone) = (spot.record, self.zone);
        let mut take = |inner: &Inner<'_>| {
            let spot = Spot { record, given: self.given_of(inner, spot.given), ..spot };
            record += 1;
            self.inner(layer, inner, spot);
        };
        if !envelope.peel(text.trim_end_matches(['\r', '\n']), zone, &mut take) {
            // What is not wrapped stands as it is.
            self.out.push(text, spot);
        }
    }

    /// Joins what comes in parts, and peels what is whole.
    fn inner(&mut self, layer: usize, inner: &Inner<'_>, spot: Spot) {
        let source = inner.source.as_deref().unwrap_or_default();
        let key = (layer, source.to_owned());
        if let Some((mut text, first)) = self.open.remove(&key) {
            text.push_str(&inner.text);
            if inner.is_partial && text.len() <= LONGEST_JOINED {
                self.open.insert(key, (text, first));
            } else {
                self.peel(layer + 1, &text, Spot { given: spot.given, ..first });
            }
        } else if inner.is_partial && self.open.len() < MOST_OPEN {
            self.open.insert(key, (inner.text.clone().into_owned(), spot));
        } else {
            self.peel(layer + 1, &inner.text, spot);
        }
    }

    /// What an envelope says beside what those around it said: the inner one knows better.
    fn given_of(&mut self, inner: &Inner<'_>, outer: u32) -> u32 {
        if inner.time.is_none() && inner.source.is_none() {
            return outer;
        }
        let mut given = self.out.given.get(outer as usize).cloned().unwrap_or_default();
        given.time = inner.time.or(given.time);
        if let Some(source) = inner.source.as_deref() {
            given.source = Some(format!("{} {source}", self.stream).into());
        }
        self.out.given(given)
    }
}

/// No [`Given`] has this number.
const NOTHING: u32 = u32::MAX;

/// The text of bytes: what is no UTF-8 is replaced.
pub(super) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    simdutf8::basic::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (line, behind) = match memchr::memchr(b'\n', rest.as_bytes()) {
            Some(newline) => (&rest[..newline], &rest[newline + 1..]),
            None if rest.is_empty() => return None,
            None => (rest, ""),
        };
        rest = behind;
        Some(line)
    })
}

/// Without a byte order mark, and without what terminals add: envelopes begin with what they are told by.
fn cleaned(line: &str) -> Cow<'_, str> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    if memchr::memchr(b'\x1b', line.as_bytes()).is_some() { super::ansi::without(line) } else { Cow::Borrowed(line) }
}
