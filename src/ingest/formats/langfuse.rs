//! Langfuse: observations of its API and exports, in both versions, and traces in the format read by CrashLens.
//!
//! Source: Langfuse docs, Data model and Observations API.

use super::json_objects::{Members, ObjectDecoder, match_members};
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{FINGERPRINT, Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;
use std::hash::BuildHasher;

/// Format of Langfuse observations; generations are attempts.
pub(in crate::ingest) struct Langfuse;

impl Format for Langfuse {
    fn name(&self) -> &'static str {
        "langfuse"
    }

    fn description(&self) -> &'static str {
        "Observations of Langfuse, of which generations are attempts, and traces as CrashLens reads them."
    }

    fn detected_by(&self) -> &'static str {
        "`type` GENERATION, SPAN or EVENT beside `trace_id` and `level`; or `traceId`, `input.model` and `usage`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let match_with =
            |required| match_members(head, required, |members| is_observation(members) || is_crashlens(members));
        match match_with("\"traceId\"") {
            Match::No => match_with("\"trace_id\""),
            fit => fit,
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

/// Types of observations, including those added by later versions.
const TYPES: [&str; 10] =
    ["GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"];
/// Keys of the trace, the start and the end, in both versions.
const TRACE: [&str; 2] = ["trace_id", "traceId"];
const STARTED: [&str; 2] = ["start_time", "startTime"];
const ENDED: [&str; 2] = ["end_time", "endTime"];
/// Keys in the metadata under which applications commonly put the attempt number.
const ATTEMPT_NUMBERS: [&str; 3] = ["attempt", "retry_attempt", "attempt_number"];

fn is_observation(members: &Members<'_>) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|key| members.has(key));
    let is_type = members.scalar_text("type").is_some_and(|word| TYPES.contains(&&*word));
    is_type && has(&TRACE) && has(&STARTED) && members.has("level")
}

fn is_crashlens(members: &Members<'_>) -> bool {
    members.has_all(&["traceId", "startTime", "input", "usage"]) && members.object("input").has("model")
}

fn read_object(members: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    if is_observation(members) {
        read_observation(members, sink, raw, at);
    } else if is_crashlens(members) {
        read_crashlens(members, sink, raw, at);
    } else {
        sink.noise();
    }
}

fn read_observation(members: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    if members.scalar_text("type").is_none_or(|word| word != "GENERATION" && word != "EMBEDDING") {
        return sink.noise();
    }
    let metadata = members.object_text("metadata");
    let metadata = Members::of(&metadata).unwrap_or_default();
    let (started, ended) = (in_utc(members, &STARTED), in_utc(members, &ENDED));
    let message = members.first(&["status_message", "statusMessage"]).into_text();
    let mut record = Record::default();
    record.put(Field::StartedAt, started);
    match ended {
        Some(ended) => record.put(Field::EndedAt, ended),
        None => record.put(Field::DurationS, members.scalar("latency")),
    }
    record.put(Field::TtftS, members.first(&["time_to_first_token", "timeToFirstToken"]));
    record.put(Field::Model, members.first(&["provided_model_name", "providedModelName", "model"]));
    record.put(Field::RequestId, members.scalar("id"));
    record.put(Field::RunId, members.first(&TRACE));
    put_number(&mut record, &metadata);
    if record.number.is_some() {
        record.put(
            Field::CallId,
            members.first(&["parent_observation_id", "parentObservationId", "trace_id", "traceId"]),
        );
    }
    put_usage(&mut record, members);
    // Other levels, including warnings, are not failures.
    record.success = Some(members.scalar_text("level").as_deref() != Some("ERROR"));
    if record.success == Some(false) {
        record.put(Field::Status, message.as_deref().and_then(status_in));
        record.put(Field::ErrorMessage, message.as_deref().unwrap_or("error"));
    }
    sink.record(&record, raw, at);
}

/// Returns the first time among these keys. Exports write times in UTC, but without a zone, which is added.
fn in_utc(members: &Members<'_>, keys: &[&str]) -> Option<String> {
    let text = members.first(keys).into_text()?;
    let has_zone = text.ends_with('Z') || text.get(19..).is_some_and(|rest| rest.contains(['+', '-']));
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    Some(if has_zone || is_number { text.into_owned() } else { format!("{text}Z") })
}

fn put_number<'t>(record: &mut Record<'t>, metadata: &Members<'t>) {
    let number = metadata.first(&ATTEMPT_NUMBERS).integer().filter(|number| *number > 0);
    record.put(Field::Number, number);
}

fn put_usage<'t>(record: &mut Record<'t>, members: &Members<'t>) {
    let details = ["usage_details", "usageDetails", "usage"].iter().map(|key| members.object(key));
    let usage = details.into_iter().find(|usage| !usage.is_empty()).unwrap_or_default();
    record.put(Field::InputTokens, usage.first(&["input", "prompt_tokens", "promptTokens"]));
    record.put(Field::OutputTokens, usage.first(&["output", "completion_tokens", "completionTokens"]));
    record.put(Field::CacheRead, usage.first(&["cache_read_input_tokens", "input_cached_tokens"]));
    record.put(Field::CacheWrite, usage.scalar("cache_creation_input_tokens"));
    record.put(Field::CostUsd, members.first(&["total_cost", "totalCost", "calculatedTotalCost", "cost"]));
}

/// Returns the status in `Error code: 529 - {..}`, the form in which Python SDKs print errors.
fn status_in(message: &str) -> Option<i64> {
    let digits = message.split_once("Error code: ")?.1.get(..3)?;
    digits.parse().ok().filter(|status| (100..600).contains(status))
}

fn read_crashlens(members: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let (input, metadata) = (members.object("input"), members.object("metadata"));
    let error = members.object_text("error");
    let mut record = Record::default();
    record.put(Field::StartedAt, members.scalar("startTime"));
    record.put(Field::EndedAt, members.scalar("endTime"));
    record.put(Field::Model, input.scalar("model"));
    record.put(Field::RunId, members.scalar("traceId"));
    put_number(&mut record, &metadata);
    if record.number.is_some() {
        record.put(Field::CallId, members.scalar("traceId"));
    }
    let body = input.json("prompt").or_else(|| input.json("messages"));
    record.request_hash = body.map(|body| Cow::Owned(format!("{:016x}", FINGERPRINT.hash_one(body))));
    put_usage(&mut record, members);
    record.put(Field::Status, members.scalar("status"));
    if !error.is_empty() {
        record.put_error(&error);
    }
    if !record.has_outcome() {
        // Without status and error, an output means success.
        record.success = members.has("output").then_some(true);
    }
    sink.record(&record, raw, at);
}
