//! Kong's logging plugins: one object per request, with every upstream server tried.
//!
//! Source: the Kong Gateway documentation of the plugins HTTP Log, File Log and AI Proxy.

use super::json_objects::{Members, ObjectDecoder, match_members};
use super::model_api;
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;
use std::borrow::Cow;

/// Format of requests that Kong passed on to a model API.
pub(in crate::ingest) struct Kong;

impl Format for Kong {
    fn name(&self) -> &'static str {
        "kong"
    }

    fn description(&self) -> &'static str {
        "Requests as the logging plugins of Kong write them, AI Proxy or not."
    }

    fn detected_by(&self) -> &'static str {
        "`latencies`, `tries`, `request` and `started_at` in one object"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match_members(head, "\"latencies\"", is_request)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

fn is_request(members: &Members<'_>) -> bool {
    members.has_all(&["latencies", "request", "started_at", "tries"])
}

fn read_object(line: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let (request, response, ai) = (line.object("request"), line.object("response"), ai_of(line));
    let path = line
        .scalar_text("upstream_uri")
        .filter(|path| model_api::is_request(path))
        .or_else(|| request.scalar_text("uri"));
    let is_model_request = !ai.is_empty() || path.as_deref().is_some_and(model_api::is_request);
    if !is_request(line) || !is_model_request {
        return sink.noise();
    }
    let tries = line.objects("tries");
    let ended = line.number("started_at").zip(line.object("latencies").number("request")).map(|(start, ms)| start + ms);
    let id = response.object("headers").scalar_text("x-kong-request-id").or_else(|| request.scalar_text("id"));
    // Tries after which another server was tried: only failed ones have a `state`.
    let retried = tries.iter().filter(|upstream| upstream.has("state")).count().min(tries.len().saturating_sub(1));
    // A retry by the client gets another id, so the id names a call only if Kong itself retried.
    let call = id.filter(|_| retried > 0);
    for (nth, upstream) in tries.iter().take(retried).enumerate() {
        let mut record = record_of(&path, &ai, call.clone());
        record.success = Some(false);
        record.put(Field::Status, upstream.scalar("code"));
        record.put(Field::StartedAt, upstream.scalar("balancer_start"));
        record.put(Field::EndedAt, tries[nth + 1].scalar("balancer_start"));
        record.put(Field::Number, nth as i64 + 1);
        sink.record(&record, raw, Position { record: nth as u32, ..at });
    }
    let mut record = record_of(&path, &ai, call);
    let last = tries.last().filter(|_| retried > 0);
    record.put(Field::StartedAt, last.map_or_else(|| line.scalar("started_at"), |last| last.scalar("balancer_start")));
    record.put(Field::EndedAt, ended);
    record.put(Field::Number, (retried > 0).then_some(retried as i64 + 1));
    record.put(Field::Status, response.scalar("status"));
    // Usage is that of the last server: one that failed reports none.
    ai.object("usage").put(
        &mut record,
        &[("prompt_tokens", Field::InputTokens), ("completion_tokens", Field::OutputTokens), ("cost", Field::CostUsd)],
    );
    let headers = response.object_text("headers");
    if headers.starts_with('{') {
        record.put_headers(&headers);
    }
    sink.record(&record, raw, Position { record: retried as u32, ..at });
}

/// Returns the values of the AI Proxy plugins, which are under `ai.proxy` or under the name of the plugin.
fn ai_of<'t>(line: &Members<'t>) -> Members<'t> {
    let ai = line.object("ai");
    let named =
        ["proxy", "ai-proxy", "ai-proxy-advanced"].iter().map(|name| ai.object(name)).find(|plugin| !plugin.is_empty());
    named.unwrap_or(ai)
}

/// Returns a record with the fields all tries of the request share.
fn record_of<'t>(path: &Option<Cow<'t, str>>, ai: &Members<'t>, call: Option<Cow<'t, str>>) -> Record<'t> {
    let mut record = Record { layer: Some(Cow::Borrowed("gateway")), ..Record::default() };
    ai.object("meta").put(&mut record, &[("provider_name", Field::Provider), ("request_model", Field::Model)]);
    record.call_id = call;
    if let Some(path) = path {
        model_api::put_url(&mut record, path.clone());
    }
    record
}
