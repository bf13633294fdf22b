//! Envoy access logs in JSON, including those of the Envoy AI Gateway, and in the default text format.
//!
//! Sources: Envoy docs, Access logging; Envoy AI Gateway docs, Access logs.

use super::envoy_flags::put_ending;
use super::envoy_text;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::formats::exchanges::trace_of;
use crate::ingest::formats::json_objects::{Members, match_members};
use crate::ingest::formats::model_api;
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::scalar::Scalar;
use crate::ingest::record::{Field, Record, address_in};
use crate::ingest::sink::Sink;

/// Format of Envoy access logs: one client request per line.
pub(in crate::ingest) struct Envoy;

impl Format for Envoy {
    fn name(&self) -> &'static str {
        "envoy"
    }

    fn description(&self) -> &'static str {
        "Access logs of Envoy, Istio and the Envoy AI Gateway, in JSON or the default text."
    }

    fn detected_by(&self) -> &'static str {
        "`response_flags` beside `response_code`, `genai_model_name`, or `[time] \"POST /path HTTP/2\" 200 -`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let json = match_members(head, "\"response_code\"", is_line);
        if json != Match::No {
            return json;
        }
        let (mut fit, mut all) = (0, 0);
        for line in head.lines() {
            all += 1;
            fit += usize::from(envoy_text::EnvoyLine::of(line).is_some());
        }
        if fit > 0 && fit * 2 >= all { Match::Sure } else { Match::No }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(EnvoyDecoder)
    }
}

/// Keys that occur only in Envoy log formats.
const DISTINCTIVE_KEYS: [&str; 5] = [
    "response_flags",
    "upstream_request_attempt_count",
    "genai_model_name",
    "genai_backend_name",
    "response_code_details",
];

fn is_line(members: &Members<'_>) -> bool {
    let has_model_attributes = || members.iter().any(|(key, _)| key.starts_with("gen_ai."));
    members.has("response_code") && (DISTINCTIVE_KEYS.iter().any(|key| members.has(key)) || has_model_attributes())
}

struct EnvoyDecoder;

impl Decoder for EnvoyDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            let line = line.trim_start_matches('\u{feff}');
            if !line.starts_with('{') {
                return match envoy_text::EnvoyLine::of(line) {
                    Some(parts) => parts.emit(sink, line, at),
                    None => sink.noise(),
                };
            }
            match Members::of(line) {
                Ok(members) => read_object(&members, sink, line, at),
                Err(fault) => sink.reject(fault.what, fault.at as u64 + 1, line, at),
            }
        });
    }
}

const FIELDS: &[(&str, Field)] = &[
    ("start_time", Field::StartedAt),
    ("duration", Field::DurationMs),
    ("response_code", Field::Status),
    ("user_agent", Field::UserAgent),
    ("user-agent", Field::UserAgent),
    ("request_id", Field::RequestId),
    ("x-request-id", Field::RequestId),
    ("retry-after", Field::RetryAfter),
    ("genai_backend_name", Field::Provider),
    ("gen_ai.provider.name", Field::Provider),
    ("genai_model_name", Field::Model),
    ("gen_ai.request.model", Field::Model),
    ("genai_tokens_input", Field::InputTokens),
    ("gen_ai.usage.input_tokens", Field::InputTokens),
    ("genai_tokens_output", Field::OutputTokens),
    ("gen_ai.usage.output_tokens", Field::OutputTokens),
];
/// Keys of the client's address, in order of preference: the original client before the last proxy.
const CLIENT_ADDRESSES: [&str; 4] =
    ["x-forwarded-for", "x_forwarded_for", "downstream_remote_address", "downstream_peer"];
/// Keys of the request path, in order of preference: the path before any route rewrote it comes first.
const PATHS: [&str; 4] = ["x-envoy-origin-path", "x_envoy_origin_path", "path", ":path"];

fn read_object(members: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let path = members.first(&PATHS).into_text();
    let names_a_model =
        !matches!(members.first(&["genai_model_name", "gen_ai.request.model"]), Scalar::Null | Scalar::Other);
    if !names_a_model && !path.as_deref().is_some_and(model_api::is_request) {
        return sink.noise();
    }
    let (flags, details) = (members.scalar_text("response_flags"), members.scalar_text("response_code_details"));
    let mut record = Record::default();
    members.put(&mut record, FIELDS);
    if let Some(path) = path {
        model_api::put_url(&mut record, path);
    }
    record.put(Field::Endpoint, members.scalar("authority"));
    let client = members.first(&CLIENT_ADDRESSES).into_text();
    record.put(Field::Host, client.as_deref().and_then(address_in).map(str::to_owned));
    let trace = members.scalar_text("traceparent");
    record.put(Field::RunId, trace.as_deref().and_then(trace_of).map(str::to_owned));
    // The proxy's count of upstream attempts, which it also sends as a response header.
    record.headers.upstream_attempts = members.integer("upstream_request_attempt_count");
    put_ending(&mut record, flags.as_deref(), details.as_deref());
    sink.record(&record, raw, at);
}
