//! Diagnosis of a single error outside of any log: a body, a record, or printed text.

use super::attempt::AttemptBuilder;
use super::error_body::{self, ErrorBody};
use super::fingerprint::truncate;
use super::json::Reader;
use super::mapping::Mapping;
use super::outcome_words::kind_named;
use super::record_context::RecordContext;
use super::scalar::Scalar;
use super::timing::record_timing;
use super::typed::Record;
use super::whole_record;
use crate::classify::{Decider, Verdict};
use crate::ingest::dialect::Dialect;
use crate::ingest::hint::ServerHint;
use crate::model::{Time, Zone};
use crate::untrusted::mask_keys;
use std::borrow::Cow;

/// Longest evidence returned, in bytes.
const MAX_EVIDENCE: usize = 240;

/// Facts about an error that are given in addition to its text, and take precedence over it.
#[derive(Clone, Copy, Debug)]
pub struct ErrorContext<'e> {
    /// HTTP status.
    pub status: Option<u16>,
    /// `retry-after` header, as the server wrote it.
    pub retry_after: Option<&'e str>,
    /// Whether the request has side effects.
    pub side_effect: bool,
    /// Provider the request was sent to.
    pub provider: Option<&'e str>,
    /// Time of the error, unless the text states one.
    pub now: Time,
    /// User-defined vocabulary.
    pub dialect: &'e Dialect,
}

/// Verdict on one error, with its evidence and the wait that follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The verdict; `None` for a success.
    pub verdict: Option<Verdict>,
    /// Value of the field that decided.
    pub evidence: Option<String>,
    /// Wait the server asked for, in seconds.
    pub wait_s: Option<f64>,
    /// Time at which access is restored, if known.
    pub reopens: Option<Time>,
}

/// Diagnoses one error. JSON is read as a record, or as the bare body of an error; anything else is read as a message.
#[must_use]
pub fn diagnose(text: &str, context: &ErrorContext<'_>) -> Diagnosis {
    let text = text.trim();
    let mut record = from_json(text, &context.dialect.fields).unwrap_or_else(|| from_prose(text));
    apply(context, &mut record);
    let record_context = RecordContext::standalone(Zone::UTC, context.dialect);
    let sent = record_timing(&record, &record_context).ok().flatten().map_or(context.now, |(sent, _)| sent);
    let builder = AttemptBuilder { record: &record, sent, duration_ms: None, context: &record_context };
    let hint = builder.hint(sent);
    let wait = hint.and_then(ServerHint::wait_us);
    let verdict = builder.verdict(wait);
    Diagnosis {
        verdict,
        evidence: verdict.and_then(|verdict| evidence(&builder, verdict.decided_by)),
        wait_s: wait.map(|us| us as f64 / 1e6),
        reopens: verdict.and_then(|verdict| builder.reopens(&verdict, hint)),
    }
}

/// Reads an attempt record, or the bare body of an error.
fn from_json<'t>(text: &'t str, custom: &Mapping) -> Option<Record<'t>> {
    if text.starts_with('[') {
        return Some(Record { error: body(text)?, ..Record::default() });
    }
    let mut record = whole_record(text, custom).ok()?;
    if record.error.present && record.error.wait.is_none() {
        // The wait may stand beside the error: `{"error": "...", "retry_after": 30}`.
        record.error.wait = body(text).and_then(|body| body.wait);
    }
    if may_be_a_body(&record)
        && let Some(body) = body(text)
        && (body.error_type.is_some() || body.code.is_some() || body.message.is_some())
    {
        // `type` and `message` at top level are fields of an error body, but not of a record.
        record.error = body;
    }
    Some(record)
}

fn may_be_a_body(record: &Record<'_>) -> bool {
    let is_attempt =
        record.ts.is_some() || record.started_at.is_some() || record.number.is_some() || record.outcome.is_some();
    !is_attempt && record.success != Some(true) && !record.error.present && record.status.is_none_or(|it| it >= 400)
}

/// Reads an error body as JSON.
pub(super) fn body(text: &str) -> Option<ErrorBody<'_>> {
    let mut body = ErrorBody::default();
    let mut reader = Reader::new(text);
    error_body::read(&mut reader, &mut body, 0).ok()?;
    Some(body)
}

/// Reads a message that was raised or logged, which may contain a body.
fn from_prose(text: &str) -> Record<'_> {
    let mut record = Record { success: Some(false), ..Record::default() };
    if text.is_empty() {
        return record;
    }
    if kind_named(text).is_some() {
        record.kind = Some(Cow::Borrowed(text));
        return record;
    }
    record.exception = exception(text).map(Cow::Borrowed);
    if let Some(error) = text.find('{').and_then(|start| body(&text[start..])) {
        record.error = error;
    }
    record.error_message = Some(Cow::Borrowed(text));
    record
}

/// Returns the class of the exception: the first word of the message, or of the last line of a traceback.
fn exception(text: &str) -> Option<&str> {
    let is_name = |word: &&str| {
        // An error code of Node, such as `ECONNRESET`.
        let is_errno = word.len() > 4 && word.starts_with('E') && word.bytes().all(|byte| byte.is_ascii_uppercase());
        is_errno || ["Error", "Exception", "Timeout"].iter().any(|end| word.len() > end.len() && word.ends_with(end))
    };
    let first_word_length = |line: &'_ str| -> usize {
        line.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')).count()
    };
    let lines = [text.lines().next(), text.lines().next_back()];
    lines.into_iter().flatten().map(|line| &line.trim()[..first_word_length(line.trim())]).find(is_name)
}

/// Sets the given facts.
fn apply<'r>(context: &ErrorContext<'r>, record: &mut Record<'r>) {
    if let Some(status) = context.status {
        record.status = Some(i64::from(status));
    }
    if let Some(text) = context.retry_after {
        record.retry_after_ms = None;
        record.headers.retry_after_ms = None;
        record.retry_after = Some(Scalar::Text(Cow::Borrowed(text)));
    }
    if let Some(provider) = context.provider {
        record.provider = Some(Cow::Borrowed(provider));
    }
    record.side_effect |= context.side_effect;
}

fn evidence(builder: &AttemptBuilder<'_, '_>, by: Decider) -> Option<String> {
    let record = &builder.record;
    let text = match by {
        Decider::ErrorCode => builder.error_code(),
        Decider::ErrorType => builder.error_type(),
        Decider::Message | Decider::Amounts => builder.message(),
        Decider::QuotaId => record.error.quota_id.as_deref().or(builder.message()),
        Decider::Kind => record.kind.as_deref().or(record.outcome.as_deref()),
        Decider::Exception => record.exception.as_deref().or(builder.error_type()),
        Decider::Transport => record.transport.as_deref(),
        Decider::Status => return status(builder),
        Decider::Configuration => custom_row(builder),
        Decider::WindowHeader | Decider::ShouldRetryHeader | Decider::Nothing => None,
    };
    text.map(|text| mask_keys(truncate(text, MAX_EVIDENCE)).into_owned())
}

/// Returns the label of the user-defined row that decided.
fn custom_row<'r>(builder: &AttemptBuilder<'_, 'r>) -> Option<&'r str> {
    let failure = builder.failure(None);
    builder.context.dialect.failures.iter().find(|row| row.matches(&failure)).map(|row| row.label.as_str())
}

fn status(builder: &AttemptBuilder<'_, '_>) -> Option<String> {
    match builder.status() {
        // The status is only in the message.
        0 => builder.message().map(|text| mask_keys(truncate(text, MAX_EVIDENCE)).into_owned()),
        status => Some(status.to_string()),
    }
}
