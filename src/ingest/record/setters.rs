//! Setters for formats that build records field by field.

use super::error_body::{self, ErrorBody, INSIDE};
use super::event_stream::is_stream;
use super::fields::Field;
use super::headers;
use super::json::Reader;
use super::scalar::Scalar;
use super::typed::Record;
use std::borrow::Cow;

impl<'a> Record<'a> {
    /// Sets `field`. Null is ignored; a value that cannot be read as the field is recorded as unreadable.
    pub(in crate::ingest) fn put(&mut self, field: Field, value: impl Into<Scalar<'a>>) {
        let value = value.into();
        if !matches!(value, Scalar::Null) && self.check(field, &value) {
            self.set(field, value);
        }
    }

    /// Returns the value of `field` that could not be read, if any.
    pub(in crate::ingest) fn unreadable_in(&self, field: Field) -> Option<&str> {
        self.unreadable.iter().find(|(known, _)| *known == field).map(|(_, text)| text.as_str())
    }

    /// Sets the response header of this name, if it is one that is read.
    pub(in crate::ingest) fn put_header(&mut self, name: &str, value: impl Into<Scalar<'a>>) {
        self.headers.set(name, value.into());
    }

    /// Reads response headers: JSON in any form, or `name: value` lines.
    pub(in crate::ingest) fn put_headers(&mut self, text: &'a str) {
        let is_read = is_json(text) && headers::read(&mut Reader::new(text), &mut self.headers).is_ok();
        if !is_read {
            self.headers.set_bare(&Scalar::Text(Cow::Borrowed(text)));
        }
    }

    /// Reads request headers as JSON in any form; only those that identify the sender are used.
    pub(in crate::ingest) fn put_request_headers(&mut self, json: &'a str) {
        let _ = headers::read_of_request(&mut Reader::new(json), &mut self.headers);
    }

    /// Reads the body of a response, which is JSON, a stream of events or text. To be called after everything else was
    /// set. The body is used if it is labelled as an error, or if the record says that the attempt failed. Text with a
    /// success status is a response, and is not read.
    pub(in crate::ingest) fn put_body(&mut self, text: &'a str) {
        let mut body = ErrorBody::default();
        let is_read = is_json(text) && error_body::read(&mut Reader::new(text), &mut body, 0).is_ok();
        let may_be_error_text = is_stream(text) || !self.status.is_some_and(|status| (200..300).contains(&status));
        if !is_read && may_be_error_text {
            body.set_bare(Scalar::Text(Cow::Borrowed(text)), 0);
        }
        self.take_body(body);
    }

    /// Reads a description of an error: its body as JSON, or a message.
    pub(in crate::ingest) fn put_error(&mut self, text: &'a str) {
        let is_read = is_json(text) && error_body::read(&mut Reader::new(text), &mut self.error, INSIDE).is_ok();
        if !is_read {
            self.error.set_bare(Scalar::Text(Cow::Borrowed(text)), INSIDE);
        }
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

impl<'a> From<&'a str> for Scalar<'a> {
    fn from(text: &'a str) -> Self {
        Scalar::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Scalar<'_> {
    fn from(text: String) -> Self {
        Scalar::Text(Cow::Owned(text))
    }
}

impl<'a> From<Cow<'a, str>> for Scalar<'a> {
    fn from(text: Cow<'a, str>) -> Self {
        Scalar::Text(text)
    }
}

impl From<i64> for Scalar<'_> {
    fn from(number: i64) -> Self {
        Scalar::Int(number)
    }
}

impl From<f64> for Scalar<'_> {
    fn from(number: f64) -> Self {
        Scalar::Float(number)
    }
}

impl From<bool> for Scalar<'_> {
    fn from(value: bool) -> Self {
        Scalar::Bool(value)
    }
}

impl<'a, T: Into<Scalar<'a>>> From<Option<T>> for Scalar<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Scalar::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_set_one_by_one() {
        let mut record = Record::default();
        record.put(Field::Status, 529);
        record.put(Field::DurationS, "1.5");
        record.put(Field::MaxRetries, "some");
        record.put(Field::Model, None::<&str>);
        record.put_headers("retry-after: 20\r\nx-request-id: r");
        record.put_error(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#);
        assert_eq!((record.status, record.duration_ms, record.model.as_deref()), (Some(529), Some(1500.0), None));
        assert_eq!(record.unreadable, [(Field::MaxRetries, "some".to_owned())]);
        assert_eq!(record.headers.request_id.as_deref(), Some("r"));
        assert_eq!(record.error.error_type.as_deref(), Some("overloaded_error"));
        assert!(record.has_outcome());
    }
}
