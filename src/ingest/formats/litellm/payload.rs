//! Standard logging payloads: one per attempt of the router, or one per call without a router.

use super::error::put_error;
use crate::ingest::formats::json_objects::Members;
use crate::ingest::position::Position;
use crate::ingest::record::scalar::Scalar;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

const FIELDS: &[(&str, Field)] = &[
    ("startTime", Field::StartedAt),
    ("endTime", Field::EndedAt),
    ("stream", Field::Stream),
    ("model", Field::Model),
    ("custom_llm_provider", Field::Provider),
    ("api_base", Field::Endpoint),
    ("prompt_tokens", Field::InputTokens),
    ("completion_tokens", Field::OutputTokens),
    ("response_cost", Field::CostUsd),
];

pub(super) fn read_object(payload: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    if payload.scalar("cache_hit").truth() == Some(true) {
        // A response from the cache: no request was sent to the provider.
        return sink.noise();
    }
    let (error, metadata) = (payload.object("error_information"), payload.object("metadata"));
    let hidden = payload.object("hidden_params");
    let headers = hidden.object("additional_headers");
    let message = error.scalar_text("error_message").or_else(|| payload.scalar_text("error_str"));
    let mut record = Record { client: Some(Cow::Borrowed("litellm")), ..Record::default() };
    put_names(&mut record, payload, &metadata);
    put_headers(&mut record, &headers);
    payload.put(&mut record, FIELDS);
    let started = payload.number("startTime");
    if record.stream
        && let (Some(started), Some(first)) = (started, payload.number("completionStartTime"))
    {
        record.put(Field::TtftS, first - started);
    }
    match payload.scalar_text("status").as_deref() {
        Some("success") => {
            record.success = Some(true);
            let choices = payload.object("response").objects("choices");
            if let Some(choice) = choices.first() {
                record.put(Field::StopReason, choice.scalar("finish_reason"));
            }
        }
        Some("failure") => {
            record.success = Some(false);
            // The error supplies only what the payload itself lacks.
            let provider = record.provider.take();
            put_error(&mut record, &error, message.as_deref());
            record.provider = provider.or(record.provider.take());
        }
        _ => return sink.noise(),
    }
    put_number(&mut record, &metadata, &headers);
    let took_s = payload.number("endTime").zip(started).map(|(ended, started)| ended - started);
    record.attempts_implied = attempts_of_sdk(&record, payload, took_s.unwrap_or(0.0));
    sink.record(&record, raw, at);
}

/// Sets call, run, layer, key and organization. The attempts of a call share a trace id; if the user set a session,
/// its id replaces the trace ids of all its calls.
fn put_names<'t>(record: &mut Record<'t>, payload: &Members<'t>, metadata: &Members<'t>) {
    let (trace, session) = (payload.scalar_text("trace_id"), payload.scalar_text("session_id"));
    if trace.is_some() && session.is_none() {
        record.call_id = trace.clone();
    }
    record.run_id = session.or(trace);
    // Only the router has groups of deployments.
    let is_routed = ["model_group", "model_id"].iter().any(|key| payload.scalar_text(key).is_some());
    if is_routed {
        record.layer = Some(Cow::Borrowed("gateway"));
    }
    record.put(Field::ApiKey, metadata.scalar("user_api_key_hash"));
    record.put(Field::Org, metadata.first(&["user_api_key_org_id", "user_api_key_team_id"]));
}

/// Sets response headers. Payloads of failures have the provider's names of headers; those of successes prefix them
/// with `llm_provider-`; older versions write underscores.
fn put_headers<'t>(record: &mut Record<'t>, headers: &Members<'t>) {
    for (name, value) in headers.iter().filter(|(name, _)| !name.starts_with("x-litellm-")) {
        let name = name.strip_prefix("llm_provider-").unwrap_or(name).replace('_', "-");
        let value = crate::ingest::record::json::Reader::new(value).scalar().unwrap_or(Scalar::Null);
        record.put_header(&name, value);
    }
}

/// Sets the attempt number, from the count of earlier retries, and the retry limit. The count is that of the model
/// that answered, so it is ignored after a fallback. Attempts of a session have no call id and are left without
/// numbers, since only the last has a count.
fn put_number<'t>(record: &mut Record<'t>, metadata: &Members<'t>, headers: &Members<'t>) {
    let fallbacks = headers.integer("x-litellm-attempted-fallbacks").unwrap_or(0);
    let count = |name: &str| {
        let in_headers = || headers.integer(&format!("x-litellm-{}", name.replace('_', "-")));
        metadata.integer(name).or_else(in_headers)
    };
    if fallbacks == 0 && record.call_id.is_some() {
        record.put(Field::NumberFromZero, count("attempted_retries"));
        record.put(Field::MaxRetries, count("max_retries"));
    }
}

/// Providers that LiteLLM calls through the OpenAI SDK, which itself retries if there is no router.
const OPENAI_SDK_PROVIDERS: [&str; 4] = ["openai", "azure", "text-completion-openai", "custom_openai"];
/// Default number of retries of that SDK (openai-python, `_constants.py`).
const DEFAULT_SDK_RETRIES: i64 = 2;
/// First and longest wait of that SDK in seconds (openai-python, `_constants.py`).
const FIRST_WAIT_S: f64 = 0.5;
const LONGEST_WAIT_S: f64 = 8.0;
/// Smallest share of a wait that is left after jitter (openai-python, `_base_client.py`).
const MIN_JITTER: f64 = 0.75;

/// Infers how many attempts of the SDK a failure represents. The payload does not count them; the duration shows
/// whether the waits between them fit.
fn attempts_of_sdk(record: &Record<'_>, payload: &Members<'_>, took_s: f64) -> Option<i64> {
    let uses_sdk = record.provider.as_deref().is_some_and(|provider| OPENAI_SDK_PROVIDERS.contains(&provider));
    let server_forbids_retry = record.headers.should_retry == Some(false);
    if record.layer.is_some() || !uses_sdk || server_forbids_retry {
        return None;
    }
    sdk_attempts(record.status, payload.object("model_parameters").integer("max_retries"), took_s)
}

/// Returns the number of attempts of the SDK behind a failure with this status and duration in seconds, or `None` if
/// the SDK would not have retried or its waits do not fit.
pub(super) fn sdk_attempts(status: Option<i64>, max_retries: Option<i64>, took_s: f64) -> Option<i64> {
    let retries = max_retries.unwrap_or(DEFAULT_SDK_RETRIES).clamp(0, 100);
    if !status.is_some_and(|status| matches!(status, 408 | 409 | 429) || status >= 500) {
        return None;
    }
    let waits = (0..retries).map(|nth| (FIRST_WAIT_S * 2f64.powi(nth as i32)).min(LONGEST_WAIT_S) * MIN_JITTER);
    (retries > 0 && took_s >= waits.sum::<f64>()).then_some(retries + 1)
}
