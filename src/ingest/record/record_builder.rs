//! Builds a record from an object, member by member.

use super::error_body::{self, ErrorBody};
use super::fields::{FIELDS, Field};
use super::headers;
use super::json::{Fault, Reader};
use super::mapping::{CustomKey, Mapping};
use super::nested::{Container, container};
use super::outcome_words::kind_named;
use super::resolved::logged;
use super::scalar::Scalar;
use super::spellings::{CUSTOM, LOOSE, NESTED, lookup};
use super::typed::Record;
use std::borrow::Cow;

/// Reads one object into an empty record. Text after the object is left to the caller.
pub(in crate::ingest) fn read<'a>(
    reader: &mut Reader<'a>,
    custom: &Mapping,
    record: &mut Record<'a>,
) -> Result<(), Fault> {
    let mut builder = RecordBuilder::of(record);
    reader.object(|reader, key| {
        if !custom.is_empty()
            && let Some(custom) = custom.get(&key)
        {
            return builder.read_custom(reader, &key, custom);
        }
        builder.read_known(reader, &key)
    })?;
    custom.constants().iter().for_each(|(field, value)| builder.set_constant(*field, value));
    builder.finish();
    Ok(())
}

/// A record being read.
pub(in crate::ingest) struct RecordBuilder<'r, 'a> {
    pub(in crate::ingest) record: &'r mut Record<'a>,
    /// The body of the response.
    pub(in crate::ingest) body: ErrorBody<'a>,
    /// Rank of the spelling by which each field was set; a spelling of a worse rank does not overwrite it.
    ranks: [u8; FIELDS],
}

impl<'r, 'a> RecordBuilder<'r, 'a> {
    /// Starts reading into `record`, which must be empty.
    pub(in crate::ingest) fn of(record: &'r mut Record<'a>) -> RecordBuilder<'r, 'a> {
        RecordBuilder { record, body: ErrorBody::default(), ranks: [u8::MAX; FIELDS] }
    }

    /// Sets `field`, unless it was set by a better spelling.
    pub(in crate::ingest) fn set(&mut self, field: Field, rank: u8, value: Scalar<'a>) {
        if matches!(value, Scalar::Null) {
            // A null stop reason says that the response has none.
            if field == Field::StopReason {
                self.record.stop_reason.get_or_insert(false);
            }
        } else if self.outranks(field, rank) {
            self.record.put(field, value);
        }
    }

    /// Like [`RecordBuilder::set`], for a string, which most fields store unchanged.
    #[inline]
    pub(in crate::ingest) fn set_text(&mut self, field: Field, rank: u8, text: &'a str) {
        if self.outranks(field, rank) {
            let text = Cow::Borrowed(text);
            match self.record.text_field_mut(field) {
                Some(stored) => *stored = Some(text),
                None => {
                    self.record.put(field, Scalar::Text(text));
                }
            }
        }
    }

    /// Records that `field` was set by a spelling of this rank, and returns whether no better one was seen.
    #[inline]
    pub(in crate::ingest) fn outranks(&mut self, field: Field, rank: u8) -> bool {
        let known = &mut self.ranks[field as usize];
        let better = rank <= *known;
        if better {
            *known = rank;
        }
        better
    }

    /// Sets `field` if it is not set yet.
    fn set_constant(&mut self, field: Field, value: &str) {
        if self.ranks[field as usize] == u8::MAX {
            self.set(field, CUSTOM, Scalar::Text(Cow::Owned(value.to_owned())));
        }
    }

    /// Sets what depends on the whole record.
    pub(in crate::ingest) fn finish(self) {
        let has_top_level_outcome = OUTCOMES.iter().any(|field| self.ranks[*field as usize] < NESTED);
        let (record, body) = (self.record, self.body);
        record.outcome_is_nested = !has_top_level_outcome;
        record.stamp_rank = self.ranks[Field::Ts as usize] % LOOSE;
        record.take_body(body);
    }

    /// Reads the value of a built-in key; skips that of any other.
    fn read_known(&mut self, reader: &mut Reader<'a>, key: &str) -> Result<(), Fault> {
        if reader.peek() == Some(b'{')
            && let Some(container) = container(key)
        {
            return self.read_container(reader, key, container);
        }
        match lookup(key) {
            Some((field, rank)) => self.read(reader, key, field, rank),
            None => reader.skip(),
        }
    }

    fn read_container(&mut self, reader: &mut Reader<'a>, key: &str, container: &Container) -> Result<(), Fault> {
        if container.is_also_field {
            self.read_members(&mut reader.clone(), container)?;
            return match lookup(key) {
                Some((field, rank)) => self.read(reader, key, field, rank),
                None => reader.skip(),
            };
        }
        self.read_members(reader, container)
    }

    fn read_members(&mut self, reader: &mut Reader<'a>, container: &Container) -> Result<(), Fault> {
        reader.object(|reader, key| {
            if reader.peek() == Some(b'{')
                && let Some(inner) = container.inner(&key)
            {
                return self.read_container(reader, &key, inner);
            }
            match container.field(&key) {
                Some((field, rank)) => self.read(reader, &key, field, rank),
                None => reader.skip(),
            }
        })
    }

    /// Reads the value of `field`; `name` is the header name if the field is a header.
    fn read(&mut self, reader: &mut Reader<'a>, name: &str, field: Field, rank: u8) -> Result<(), Fault> {
        match field {
            Field::Headers => return headers::read(reader, &mut self.record.headers),
            Field::RequestHeaders => return headers::read_of_request(reader, &mut self.record.headers),
            Field::Error => {
                self.outranks(field, rank);
                return error_body::read(reader, &mut self.record.error, error_body::INSIDE);
            }
            Field::Body => return error_body::read(reader, &mut self.body, 0),
            Field::Usage => return self.read_usage(reader),
            Field::Client => return self.read_client(reader),
            Field::Host if reader.peek() == Some(b'{') => return self.read_host(reader),
            Field::Header => {
                let value = reader.scalar()?;
                self.record.headers.set(name, value);
            }
            _ => match reader.plain_string() {
                Some(text) => self.set_text(field, rank, text),
                None => {
                    let value = reader.scalar()?;
                    self.set(field, rank, value);
                }
            },
        }
        Ok(())
    }

    /// Reads the value of a user-defined key: as the field it is mapped to, and the user-defined keys inside it.
    fn read_custom(&mut self, reader: &mut Reader<'a>, key: &str, custom: &CustomKey) -> Result<(), Fault> {
        if !custom.below.is_empty() && reader.peek() == Some(b'{') {
            reader.clone().object(|reader, key| match custom.below.get(&key) {
                Some(custom) => self.read_custom(reader, &key, custom),
                None => reader.skip(),
            })?;
        }
        match &custom.target {
            Some(target) if !target.conversion.is_none() => {
                let (field, value) = target.conversion.apply(target.field, reader.scalar()?);
                match field {
                    Field::Header => self.record.headers.set(&target.name, value),
                    _ => self.set(field, CUSTOM, value),
                }
                Ok(())
            }
            Some(target) => self.read(reader, &target.name, target.field, CUSTOM),
            None => self.read_known(reader, key),
        }
    }

    fn read_usage(&mut self, reader: &mut Reader<'a>) -> Result<(), Fault> {
        if reader.peek() != Some(b'{') {
            return reader.skip();
        }
        reader.object(|reader, key| match lookup(&key) {
            Some((field, _)) if is_usage(field) => {
                let value = reader.scalar()?;
                self.record.put(field, value);
                Ok(())
            }
            _ => reader.skip(),
        })
    }

    /// Reads `{name}`, as nested by the Elastic Common Schema.
    fn read_host(&mut self, reader: &mut Reader<'a>) -> Result<(), Fault> {
        reader.object(|reader, key| match &*key {
            HOST_NAME => {
                let name = reader.scalar()?;
                self.set(Field::Host, CUSTOM, name);
                Ok(())
            }
            _ => reader.skip(),
        })
    }

    /// Reads `{name, version}`, or a user agent.
    fn read_client(&mut self, reader: &mut Reader<'a>) -> Result<(), Fault> {
        match reader.peek() {
            Some(b'{') => reader.object(|reader, key| {
                match &*key {
                    CLIENT_NAME => self.record.client = reader.scalar()?.into_text(),
                    CLIENT_VERSION => self.record.client_version = reader.scalar()?.into_text(),
                    _ => reader.skip()?,
                }
                Ok(())
            }),
            Some(b'"') => {
                self.set_client(reader.scalar()?);
                Ok(())
            }
            _ => reader.skip(),
        }
    }

    /// Sets the client from a scalar: a string is a user agent.
    pub(in crate::ingest) fn set_client(&mut self, value: Scalar<'a>) {
        if let Scalar::Text(text) = value {
            self.record.user_agent = Some(text);
        }
    }
}

impl<'a> Record<'a> {
    /// Takes over a response body as the error, if it is labelled as one or if the record says that the attempt failed.
    /// Any other body is a response and is not examined.
    pub(in crate::ingest) fn take_body(&mut self, body: ErrorBody<'a>) {
        self.error.previous = body.previous.or(self.error.previous);
        if !body.present {
            return;
        }
        self.error.stream_ended = body.stream_ended.or(self.error.stream_ended);
        let refused = self.status.or(body.status).is_some_and(|status| status >= 400);
        let failed = refused || self.success == Some(false) || self.error_type.is_some() || self.error.present;
        // An attempt may have failed because of its response; such a body has neither code nor message.
        let reports_failure =
            || self.mid_stream || logged(self).1 || self.kind.as_deref().and_then(kind_named).is_some();
        let failed = failed || ((body.code.is_some() || body.message.is_some()) && reports_failure());
        if body.named || failed {
            let error = std::mem::take(&mut self.error);
            self.error = error_body::merged(body, error);
        }
    }
}

/// Fields that give the outcome of an attempt.
const OUTCOMES: [Field; 10] = [
    Field::Status,
    Field::StatusLike,
    Field::Code,
    Field::ErrorType,
    Field::Error,
    Field::Exception,
    Field::Outcome,
    Field::Success,
    Field::Failure,
    Field::Kind,
];

/// Keys of the name and the version of a client.
pub(in crate::ingest) const CLIENT_NAME: &str = "name";
pub(in crate::ingest) const CLIENT_VERSION: &str = "version";

/// Key of the name of a host.
pub(in crate::ingest) const HOST_NAME: &str = "name";

/// Whether a field may occur in `usage`.
pub(in crate::ingest) fn is_usage(field: Field) -> bool {
    matches!(field, Field::InputTokens | Field::OutputTokens | Field::CacheRead | Field::CacheWrite | Field::CostUsd)
}
