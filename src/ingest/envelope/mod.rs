//! Envelopes: what log shippers, container engines and loggers put around the lines of a program.
//!
//! An envelope is detected once, from the start of an input. Its time and its source apply to records that have none.

mod cloudwatch;
mod containers;
mod firehose;
mod keyed;
mod lambda;
mod loki;
mod prefixed;
mod syslog;

use super::record::json::Reader;
use super::timestamp;
use crate::model::{Time, Zone};
use std::borrow::Cow;

/// An envelope around a line.
pub(crate) trait Envelope: Sync {
    /// Returns the name used in reports.
    fn name(&self) -> &'static str;

    /// Returns the evidence it is detected by, in a few words.
    fn detected_by(&self) -> &'static str;

    /// Calls `each` with every text inside `line` and returns whether the line has this envelope. `zone` applies to
    /// times that name none.
    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool;

    /// Whether a line may be a part that continues in a later line.
    fn joins(&self) -> bool {
        false
    }

    /// Whether the structure of lines is sufficient evidence; otherwise the text inside must be a record.
    fn is_certain(&self) -> bool {
        true
    }
}

/// Called with every text inside an envelope.
pub(crate) type Each<'e> = &'e mut dyn FnMut(&Inner<'_>);

/// A text inside an envelope.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inner<'i> {
    pub(crate) text: Cow<'i, str>,
    /// Time of writing.
    pub(crate) time: Option<Time>,
    /// What wrote it: a pod, a container, a stream.
    pub(crate) source: Option<Cow<'i, str>>,
    /// Distinguishes lines of the same source whose parts may be interleaved: `stdout` or `stderr`, or the id that the
    /// parts of one line share.
    pub(crate) output: Option<Cow<'i, str>>,
    /// Whether the rest follows in a later line of the same output.
    pub(crate) is_partial: bool,
}

impl<'i> Inner<'i> {
    fn of(text: impl Into<Cow<'i, str>>) -> Inner<'i> {
        Inner { text: text.into(), ..Inner::default() }
    }
}

/// All envelopes. If several fit, the first one is removed first.
pub(crate) const ENVELOPES: &[&dyn Envelope] = &[
    &containers::Docker,
    &containers::Cri,
    &containers::FluentBit,
    &cloudwatch::Subscription,
    &cloudwatch::Events,
    &cloudwatch::Insights,
    &firehose::Firehose,
    &lambda::Lambda,
    &loki::Push,
    &loki::LogCli,
    &keyed::Datadog,
    &keyed::Journald,
    &syslog::Rfc5424,
    &syslog::Rfc3164,
    &prefixed::Compose,
    &prefixed::Kubectl,
    &keyed::Message,
    &prefixed::Stern,
    &prefixed::LoggerPrefix,
];

/// Envelope that is removed only if nothing else is found.
pub(crate) const FALLBACK: &dyn Envelope = &keyed::Text;

/// Returns the raw JSON values of `keys` in the object `line`.
fn members<'l, const N: usize>(line: &'l str, keys: [&str; N]) -> Option<[Option<&'l str>; N]> {
    if !line.starts_with('{') {
        return None;
    }
    let mut found = [None; N];
    let mut reader = Reader::new(line);
    let read = reader.object(|reader, key| {
        reader.peek();
        let start = reader.offset();
        reader.skip()?;
        if let Some(index) = keys.iter().position(|known| *known == key) {
            found[index] = Some(&line[start..reader.offset()]);
        }
        Ok(())
    });
    read.and_then(|()| reader.end()).ok().map(|()| found)
}

/// Parses a JSON string.
fn string(value: &str) -> Option<Cow<'_, str>> {
    if value.starts_with('"') { Reader::new(value).string().ok() } else { None }
}

/// Whether a value is true, as a boolean or as a string.
fn is_true(value: Option<&str>) -> bool {
    matches!(value, Some("true" | "\"true\""))
}

/// Parses a time from a JSON string or number.
fn time(value: &str, zone: Zone) -> Option<Time> {
    match string(value) {
        Some(text) => timestamp::from_text(&text, zone),
        None => timestamp::from_text(value, zone),
    }
}

/// Returns the elements of a JSON array as raw JSON.
fn list(value: &str) -> Option<Vec<&str>> {
    if !value.starts_with('[') {
        return None;
    }
    let mut found = Vec::new();
    let read = Reader::new(value).list(|reader| {
        reader.peek();
        let start = reader.offset();
        reader.skip()?;
        found.push(&value[start..reader.offset()]);
        Ok(())
    });
    read.ok().map(|()| found)
}

/// Returns a JSON object, given as such or as the content of a string.
fn object(value: &str) -> Option<Cow<'_, str>> {
    if value.starts_with('{') {
        return Some(Cow::Borrowed(value));
    }
    string(value).filter(|text| is_object(text))
}

/// Whether a text is exactly one JSON object.
fn is_object(text: &str) -> bool {
    let mut reader = Reader::new(text);
    reader.peek() == Some(b'{') && reader.skip().is_ok() && reader.end().is_ok()
}

#[cfg(test)]
mod tests;
