//! HTTP recordings: a request and its response in one record; those to model APIs are attempts.

mod api_log;
mod har;

pub(in crate::ingest) use api_log::ApiLog;
pub(in crate::ingest) use har::Har;

use super::json_objects::Members;
use super::model_api;
use crate::ingest::record::json::Reader;
use crate::ingest::record::scalar::Scalar;
use crate::ingest::record::{FINGERPRINT, Field, Record, possible_usages};
use std::borrow::Cow;
use std::hash::BuildHasher;

/// Sets what a request itself contains: its URL, its client, the model and the parameters.
pub(super) fn put_request<'t>(
    record: &mut Record<'t>,
    url: Cow<'t, str>,
    headers: Option<&'t str>,
    body: Option<&'t str>,
) {
    if let Some(headers) = headers {
        record.put_request_headers(headers);
        put_trace(record, headers);
    }
    if let Some(body) = body.filter(|body| !body.trim().is_empty()) {
        record.request_hash = Some(Cow::Owned(format!("{:016x}", FINGERPRINT.hash_one(body))));
        let members = Members::of(body).unwrap_or_default();
        record.put(Field::Model, members.scalar("model"));
        record.put(Field::Stream, members.scalar("stream"));
        record.put(Field::MaxTokens, members.first(&["max_tokens", "max_completion_tokens", "max_output_tokens"]));
    }
    model_api::put_url(record, url);
}

/// Sets the call and run from request headers: AWS SDKs number the attempts of an invocation, and a trace is the run.
fn put_trace<'t>(record: &mut Record<'t>, headers: &'t str) {
    each_header(headers, |name, value| match name.to_ascii_lowercase().as_str() {
        "traceparent" => record.put(Field::RunId, trace_of(&value).map(str::to_owned)),
        "amz-sdk-invocation-id" => record.put(Field::CallId, value),
        "amz-sdk-request" => put_aws_attempt(record, &value),
        _ => {}
    });
}

/// Returns the trace id of `00-<trace>-<span>-<flags>` (W3C Trace Context).
pub(super) fn trace_of(traceparent: &str) -> Option<&str> {
    let trace = traceparent.trim().split('-').nth(1)?;
    let is_id = trace.len() == 32 && trace.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && trace.bytes().any(|byte| byte != b'0')).then_some(trace)
}

/// Sets number and maximum from `attempt=2; max=3`, optionally preceded by `ttl=..`.
pub(super) fn put_aws_attempt(record: &mut Record<'_>, text: &str) {
    for (name, value) in text.split(';').filter_map(|part| part.trim().split_once('=')) {
        match name {
            "attempt" => record.put(Field::Number, value.to_owned()),
            "max" => record.put(Field::MaxAttempts, value.to_owned()),
            _ => {}
        }
    }
}

/// Calls `each` with every header of an object or of a list of `{name, value}`.
fn each_header<'t>(headers: &'t str, mut each: impl FnMut(&str, Cow<'t, str>)) {
    let mut emit = |name: Option<Cow<'t, str>>, value: Scalar<'t>| {
        if let (Some(name), Some(value)) = (name, value.into_text()) {
            each(&name, value);
        }
    };
    if headers.starts_with('[') {
        let _ = Reader::new(headers).list(|reader| {
            let (mut name, mut value) = (None, Scalar::Null);
            if reader.peek() != Some(b'{') {
                return reader.skip();
            }
            reader.object(|reader, key| {
                match &*key {
                    "name" => name = reader.scalar()?.into_text(),
                    "value" => value = reader.scalar()?,
                    _ => reader.skip()?,
                }
                Ok(())
            })?;
            emit(name, value);
            Ok(())
        });
    } else if let Ok(members) = Members::of(headers) {
        for (name, value) in members.iter() {
            emit(Some(Cow::Owned(name.to_owned())), Reader::new(value).scalar().unwrap_or(Scalar::Null));
        }
    }
}

/// Reads a response body: its error and its token counts, also as events of a stream.
fn put_response<'t>(record: &mut Record<'t>, body: &'t str) {
    record.put_body(body);
    match Members::of(body) {
        Ok(response) => put_usage(record, &response),
        Err(_) => possible_usages(body).for_each(|data| {
            if let Ok(event) = Members::of(&data) {
                put_usage_of_event(record, &event);
            }
        }),
    }
}

/// Sets the token counts of an event. They are of the whole response so far, so that later ones replace earlier ones,
/// and stand beside the type of the event, or in its `message` or `response`.
fn put_usage_of_event(record: &mut Record<'_>, event: &Members<'_>) {
    for holder in ["message", "response"] {
        put_usage(record, &event.object(holder));
    }
    put_usage(record, event);
}

/// Sets the token counts, in the spellings of Anthropic and OpenAI.
fn put_usage(record: &mut Record<'_>, response: &Members<'_>) {
    let usage = response.object("usage");
    record.put(Field::InputTokens, usage.first(&["input_tokens", "prompt_tokens"]).number());
    record.put(Field::OutputTokens, usage.first(&["output_tokens", "completion_tokens"]).number());
    record.put(Field::CacheRead, usage.integer("cache_read_input_tokens"));
    record.put(Field::CacheWrite, usage.integer("cache_creation_input_tokens"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_a_request_number_attempts_and_name_the_trace() {
        let mut record = Record::default();
        put_trace(
            &mut record,
            r#"{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Amz-Sdk-Request": "ttl=20261112T121439Z;attempt=2;max=3"}"#,
        );
        assert_eq!(record.run_id.as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
        assert_eq!((record.number, record.max_attempts), (Some(2), Some(3)));
        assert_eq!(trace_of("00-00000000000000000000000000000000-b7ad6b7169203331-01"), None);
        assert_eq!(trace_of("garbage"), None);
    }
}
