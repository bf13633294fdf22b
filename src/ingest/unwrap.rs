//! Takes lines out of the envelopes that log shippers and loggers put around them.

use super::block::Block;
use super::envelope::{Envelope, Inner};
use super::json_documents::{Documents, Mode};
use super::position::{Defaults, OriginalPosition};
use crate::model::Zone;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Length in bytes up to which the parts of a line are joined.
const MAX_JOINED: usize = super::limits::LONGEST_LINE;
/// Largest number of lines whose remaining parts are awaited at once.
const MAX_INCOMPLETE: usize = 1024;

/// The envelopes of the lines of an input, from the outside in.
#[derive(Clone, Default)]
pub(crate) struct Wrapping {
    /// Set if the input is JSON that spans lines or holds several records per value.
    pub(crate) documents: Option<Mode>,
    pub(crate) envelopes: Vec<&'static dyn Envelope>,
}

impl std::fmt::Debug for Wrapping {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Wrapping").field(&self.name()).finish()
    }
}

impl Wrapping {
    /// Whether there is nothing to unwrap: lines are read unchanged.
    pub(crate) fn is_none(&self) -> bool {
        self.documents.is_none() && self.envelopes.is_empty()
    }

    /// Whether each line can be unwrapped independently of those before it.
    pub(crate) fn is_line_by_line(&self) -> bool {
        self.documents.is_none() && self.envelopes.iter().all(|envelope| !envelope.joins())
    }

    /// Names the envelopes from the outside in; `None` if there are none.
    pub(crate) fn name(&self) -> Option<String> {
        let documents = self.documents.map(Mode::name);
        let names: Vec<&str> = documents.into_iter().chain(self.envelopes.iter().map(|it| it.name())).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Unwrapped lines.
#[derive(Debug, Default)]
pub(crate) struct Unwrapped {
    pub(crate) bytes: Vec<u8>,
    pub(crate) positions: Vec<OriginalPosition>,
    pub(crate) defaults: Vec<Defaults>,
}

impl Unwrapped {
    /// Returns the lines as a block for a decoder.
    pub(crate) fn block(&self) -> Block<'_> {
        Block::unwrapped(&self.bytes, &self.positions, &self.defaults)
    }

    /// Appends the lines that follow.
    pub(crate) fn append(&mut self, mut other: Unwrapped) {
        if self.bytes.is_empty() {
            *self = other;
            return;
        }
        let base = self.defaults.len() as u32;
        for position in other.positions.iter_mut().filter(|position| position.defaults != NO_DEFAULTS) {
            position.defaults += base;
        }
        self.bytes.append(&mut other.bytes);
        self.positions.append(&mut other.positions);
        self.defaults.append(&mut other.defaults);
    }

    /// Splits off the last line for which `begins` is true, and everything after it.
    pub(crate) fn split_last(&mut self, begins: fn(&str) -> bool) -> Unwrapped {
        let mut end = self.bytes.len();
        for nth in (0..self.positions.len()).rev() {
            let start = memchr::memrchr(b'\n', &self.bytes[..end.saturating_sub(1)]).map_or(0, |newline| newline + 1);
            if std::str::from_utf8(&self.bytes[start..end]).is_ok_and(|line| begins(line.trim_end())) {
                let (bytes, positions) = (self.bytes.split_off(start), self.positions.split_off(nth));
                return Unwrapped { bytes, positions, defaults: self.defaults.clone() };
            }
            end = start;
        }
        std::mem::take(self)
    }

    /// Appends text, each line of it as a line at `position`.
    fn push(&mut self, text: &str, position: OriginalPosition) {
        let text = text.strip_suffix('\n').unwrap_or(text).as_bytes();
        self.bytes.extend_from_slice(text);
        self.bytes.push(b'\n');
        self.positions.extend(memchr::memchr_iter(b'\n', text).map(|_| position));
        self.positions.push(position);
    }

    /// Returns the index of `defaults`, which is often that of the previous line.
    fn defaults(&mut self, defaults: Defaults) -> u32 {
        if self.defaults.last() != Some(&defaults) {
            self.defaults.push(defaults);
        }
        (self.defaults.len() - 1) as u32
    }
}

/// Unwraps the lines of one input, from start to end.
pub(crate) struct Unwrapper {
    envelopes: Vec<&'static dyn Envelope>,
    documents: Option<Documents>,
    /// Run of records that name none.
    default_run: String,
    zone: Zone,
    /// Lines of which not all parts were received, by envelope, source and output.
    incomplete: BTreeMap<(usize, String, String), (String, OriginalPosition)>,
    out: Unwrapped,
}

impl Unwrapper {
    pub(crate) fn new(wrapping: &Wrapping, default_run: &str, zone: Zone) -> Unwrapper {
        Unwrapper {
            envelopes: wrapping.envelopes.clone(),
            documents: wrapping.documents.map(Documents::new),
            default_run: default_run.to_owned(),
            zone,
            incomplete: BTreeMap::new(),
            out: Unwrapped::default(),
        }
    }

    /// Adds whole lines; `first` is the number of the first line.
    pub(crate) fn add_lines(&mut self, bytes: &[u8], first: u32) {
        let text = text_of(bytes);
        let Some(mut documents) = self.documents.take() else {
            for (line, number) in lines(&text).zip(first..) {
                self.line(line, OriginalPosition { line: number, record: 0, defaults: NO_DEFAULTS });
            }
            return;
        };
        documents.scan(&text, first, &mut |record, position| self.line(record, position));
        self.documents = Some(documents);
    }

    /// Ends the input: incomplete lines are passed on as they are.
    pub(crate) fn finish(&mut self) {
        if let Some(mut documents) = self.documents.take() {
            documents.finish(&mut |record, position| self.line(record, position));
        }
        for ((layer, ..), (text, position)) in std::mem::take(&mut self.incomplete) {
            self.unwrap_from(layer + 1, &text, OriginalPosition { defaults: NO_DEFAULTS, ..position });
        }
    }

    /// Returns what was unwrapped since the previous call.
    pub(crate) fn take_lines(&mut self) -> Unwrapped {
        std::mem::take(&mut self.out)
    }

    fn line(&mut self, line: &str, position: OriginalPosition) {
        self.unwrap_from(0, cleaned(line).as_ref(), position);
    }

    /// Removes the envelopes from number `layer` on, and adds the text inside them.
    fn unwrap_from(&mut self, layer: usize, text: &str, position: OriginalPosition) {
        let Some(envelope) = self.envelopes.get(layer).copied() else { return self.out.push(text, position) };
        let (mut record, zone) = (position.record, self.zone);
        let mut take = |inner: &Inner<'_>| {
            let position =
                OriginalPosition { record, defaults: self.defaults_of(inner, position.defaults), ..position };
            record += 1;
            self.join_parts(layer, inner, position);
        };
        if !envelope.unwrap_line(text.trim_end_matches(['\r', '\n']), zone, &mut take) {
            // A line without the envelope is passed on unchanged.
            self.out.push(text, position);
        }
    }

    /// Joins the parts of lines, and unwraps complete lines further.
    fn join_parts(&mut self, layer: usize, inner: &Inner<'_>, position: OriginalPosition) {
        if !inner.is_partial && self.incomplete.is_empty() {
            return self.unwrap_from(layer + 1, &inner.text, position);
        }
        // The source may be named by an outer envelope.
        let defaults = self.out.defaults.get(position.defaults as usize);
        let source = defaults.and_then(|defaults| defaults.source.as_deref()).unwrap_or_default();
        let output = inner.output.as_deref().unwrap_or_default();
        let key = (layer, source.to_owned(), output.to_owned());
        if let Some((mut text, first)) = self.incomplete.remove(&key) {
            text.push_str(&inner.text);
            if inner.is_partial && text.len() <= MAX_JOINED {
                self.incomplete.insert(key, (text, first));
            } else {
                self.unwrap_from(layer + 1, &text, OriginalPosition { defaults: position.defaults, ..first });
            }
        } else if inner.is_partial && self.incomplete.len() < MAX_INCOMPLETE {
            self.incomplete.insert(key, (inner.text.clone().into_owned(), position));
        } else {
            self.unwrap_from(layer + 1, &inner.text, position);
        }
    }

    /// Returns the index of the envelope's values, completed by those of the outer envelopes; the inner ones take
    /// precedence.
    fn defaults_of(&mut self, inner: &Inner<'_>, outer: u32) -> u32 {
        if inner.time.is_none() && inner.source.is_none() {
            return outer;
        }
        let mut defaults = self.out.defaults.get(outer as usize).cloned().unwrap_or_default();
        defaults.time = inner.time.or(defaults.time);
        if let Some(source) = inner.source.as_deref() {
            defaults.source = Some(format!("{} {source}", self.default_run).into());
        }
        self.out.defaults(defaults)
    }
}

/// Marks a position without [`Defaults`].
const NO_DEFAULTS: u32 = u32::MAX;

/// Decodes bytes as UTF-8; invalid sequences are replaced.
pub(super) fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    simdutf8::basic::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// Iterates over the lines without their newlines. Unlike [`str::lines`], it keeps carriage returns.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (line, tail) = match memchr::memchr(b'\n', rest.as_bytes()) {
            Some(newline) => (&rest[..newline], &rest[newline + 1..]),
            None if rest.is_empty() => return None,
            None => (rest, ""),
        };
        rest = tail;
        Some(line)
    })
}

/// Removes a byte order mark and terminal escape sequences: envelopes are recognized by the start of a line.
fn cleaned(line: &str) -> Cow<'_, str> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    if memchr::memchr(b'\x1b', line.as_bytes()).is_some() { super::ansi::without(line) } else { Cow::Borrowed(line) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::envelope::ENVELOPES;

    /// Unwraps `text` from the envelopes of these names, from the outside in.
    fn unwrapped(names: &[&str], text: &str) -> String {
        let named = |name: &&str| *ENVELOPES.iter().find(|envelope| envelope.name() == *name).unwrap();
        let wrapping = Wrapping { documents: None, envelopes: names.iter().map(named).collect() };
        let mut unwrapper = Unwrapper::new(&wrapping, "log", Zone::UTC);
        unwrapper.add_lines(text.as_bytes(), 1);
        unwrapper.finish();
        String::from_utf8(unwrapper.take_lines().bytes).unwrap()
    }

    #[test]
    fn parts_of_a_line_are_joined_although_other_outputs_write_between_them() {
        let docker =
            |log: &str, rest: &str| format!("{{\"log\":\"{log}\",{rest},\"time\":\"2026-01-05T10:00:00Z\"}}\n");
        let (out, err) = (r#""stream":"stdout""#, r#""stream":"stderr""#);
        let (a, b) = (r#""stream":"stdout","attrs":{"tag":"a"}"#, r#""stream":"stdout","attrs":{"tag":"b"}"#);
        let kubernetes = |log: &str, tag: &str, stream: &str| {
            format!(
                "{{\"log\":\"{log}\",\"logtag\":\"{tag}\",\"stream\":\"{stream}\",\"kubernetes\":{{\"pod_name\":\"p\"}}}}\n"
            )
        };
        let fluentd = |log: &str, rest: &str| {
            format!("{{\"container_id\":\"c\",\"source\":\"stdout\",\"log\":\"{log}\"{rest}}}\n")
        };
        let part = |id: &str, last: bool| {
            format!(
                ",\"partial_message\":\"true\",\"partial_id\":\"{id}\",\"partial_ordinal\":\"1\",\"partial_last\":\"{last}\""
            )
        };
        let journald = |message: &str, rest: &str| {
            format!(
                "{{\"__REALTIME_TIMESTAMP\":\"1767607200000000\",\"_SYSTEMD_UNIT\":\"docker.service\",\"MESSAGE\":\"{message}\"{rest}}}\n"
            )
        };
        let marked = |id: &str| {
            format!(
                ",\"CONTAINER_PARTIAL_MESSAGE\":\"true\",\"CONTAINER_PARTIAL_ID\":\"{id}\",\"CONTAINER_PARTIAL_LAST\":\"false\""
            )
        };
        let last = |id: &str| format!(",\"CONTAINER_PARTIAL_ID\":\"{id}\",\"CONTAINER_PARTIAL_LAST\":\"true\"");
        let [old, other] = ["1", "2"].map(|id| format!(",\"CONTAINER_ID\":\"{id}\""));
        let old_part = format!("{old},\"CONTAINER_PARTIAL_MESSAGE\":\"true\"");
        let cri = "2026-01-05T10:00:00Z";
        let cases: &[(&[&str], String, &str)] = &[
            (
                &["docker json-file"],
                [docker("on", out), docker("warn\\n", err), docker("e\\n", out)].concat(),
                "warn\none\n",
            ),
            // parts of both
            (
                &["docker json-file"],
                [docker("on", out), docker("tw", err), docker("e\\n", out), docker("o\\n", err)].concat(),
                "one\ntwo\n",
            ),
            (
                &["docker json-file"],
                [docker("on", a), docker("tw", b), docker("e\\n", a), docker("o\\n", b)].concat(),
                "one\ntwo\n",
            ),
            (
                &["CRI"],
                format!(
                    "{cri} stdout P o\n{cri} stderr F warn\n{cri} stdout P n\n{cri} stderr F more\n{cri} stdout F e\n"
                ),
                "warn\nmore\none\n",
            ),
            (
                &["kubectl", "CRI"],
                format!("[pod/a/c] {cri} stdout P on\n[pod/b/c] {cri} stdout F two\n[pod/a/c] {cri} stdout F e\n"),
                "two\none\n",
            ),
            (
                &["Kubernetes (Fluent Bit)"],
                [kubernetes("on", "P", "stdout"), kubernetes("warn", "F", "stderr"), kubernetes("e", "F", "stdout")]
                    .concat(),
                "warn\none\n",
            ),
            (
                &["Kubernetes (Fluent Bit)"],
                [
                    fluentd("on", &part("a", false)),
                    fluentd("tw", &part("b", false)),
                    fluentd("warn", ""),
                    fluentd("e", &part("a", true)),
                    fluentd("o", &part("b", true)),
                ]
                .concat(),
                "warn\none\ntwo\n",
            ),
            (
                &["journald"],
                [
                    journald("on", &marked("a")),
                    journald("tw", &marked("b")),
                    journald("warn", ""),
                    journald("e", &last("a")),
                    journald("o", &last("b")),
                ]
                .concat(),
                "warn\none\ntwo\n",
            ),
            (
                &["journald"],
                [journald("on", &old_part), journald("two", &other), journald("e", &old)].concat(),
                "two\none\n",
            ),
        ];
        for (names, text, expected) in cases {
            assert_eq!(unwrapped(names, text), *expected, "{text}");
        }
    }
}
