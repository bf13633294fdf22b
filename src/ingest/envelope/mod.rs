//! What shippers, container engines and loggers wrap around the lines of a program.
//!
//! An envelope is told from the front of an input, once; it gives a time and a source where the record inside has none.

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

/// Something around a line.
pub(crate) trait Envelope: Sync {
    /// As reports name it.
    fn name(&self) -> &'static str;

    /// What it is told by, in a few words.
    fn told_by(&self) -> &'static str;

    /// Hands on what `line` holds; whether it is of this kind at all. `zone` is that of times that name none.
    fn peel(&self, line: &str, zone: Zone, each: Each<'_>) -> bool;

    /// Whether a line may be a part of one that goes on further down.
    fn joins(&self) -> bool {
        false
    }

    /// Whether its shape alone tells it; otherwise there must be a record inside.
    fn is_certain(&self) -> bool {
        true
    }
}

/// Takes what a line holds.
pub(crate) type Each<'e> = &'e mut dyn FnMut(&Inner<'_>);

/// What a line holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inner<'i> {
    pub(crate) text: Cow<'i, str>,
    /// When it was written.
    pub(crate) time: Option<Time>,
    /// What wrote it: a pod, a container, a stream.
    pub(crate) source: Option<Cow<'i, str>>,
    /// The rest of it follows in a later line of the same source.
    pub(crate) is_partial: bool,
}

impl<'i> Inner<'i> {
    fn of(text: impl Into<Cow<'i, str>>) -> Inner<'i> {
        Inner { text: text.into(), ..Inner::default() }
    }
}

/// All of them. Where several fit, the first is peeled off first.
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
    &prefixed::Words,
];

/// The one that is taken off where nothing else is found.
pub(crate) const LAST: &dyn Envelope = &keyed::Text;

/// The values of `keys` in the object that `line` is, as they stand in it.
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
        if let Some(place) = keys.iter().position(|known| *known == key) {
            found[place] = Some(&line[start..reader.offset()]);
        }
        Ok(())
    });
    read.and_then(|()| reader.end()).ok().map(|()| found)
}

/// A string of JSON, unescaped.
fn string(value: &str) -> Option<Cow<'_, str>> {
    if value.starts_with('"') { Reader::new(value).string().ok() } else { None }
}

/// A time of JSON: a string or a number.
fn time(value: &str, zone: Zone) -> Option<Time> {
    match string(value) {
        Some(text) => timestamp::from_text(&text, zone),
        None => timestamp::from_text(value, zone),
    }
}

/// The members of a list of JSON, as they stand in it.
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

/// A string that holds a JSON object, or the object itself.
fn object(value: &str) -> Option<Cow<'_, str>> {
    if value.starts_with('{') {
        return Some(Cow::Borrowed(value));
    }
    string(value).filter(|text| is_object(text))
}

/// Whether a text is one JSON object.
fn is_object(text: &str) -> bool {
    let mut reader = Reader::new(text);
    reader.peek() == Some(b'{') && reader.skip().is_ok() && reader.end().is_ok()
}

#[cfg(test)]
mod tests;
