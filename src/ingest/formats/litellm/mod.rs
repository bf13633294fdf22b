//! LiteLLM: logging payloads of its callbacks, rows of its spend log, and its own log.
//!
//! Sources: litellm/types/utils.py (`StandardLoggingPayload`), litellm/_logging.py (`JsonFormatter`),
//! litellm/router_utils/add_retry_fallback_headers.py.

mod error;
mod log;
mod payload;
mod spend;

pub(in crate::ingest) use log::LiteLlmLog;

use super::json_objects::{Members, ObjectDecoder, match_members};
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::sink::Sink;

/// Format of LiteLLM's logging payloads and spend log rows.
pub(in crate::ingest) struct LiteLlm;

impl Format for LiteLlm {
    fn name(&self) -> &'static str {
        "litellm"
    }

    fn description(&self) -> &'static str {
        "LiteLLM's standard logging payloads, and rows of its spend log."
    }

    fn detected_by(&self) -> &'static str {
        "`call_type` and `startTime` beside `litellm_call_id`, `hidden_params` or `spend`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match_members(head, "\"call_type\"", |members| kind_of(members).is_some())
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

/// Keys under which callbacks nest a payload.
const WRAPPERS: [&str; 4] = ["payload", "standard_logging_object", "standard_logging_payload", "kwargs"];

/// Kind of a LiteLLM object.
enum Kind<'t> {
    Payload(Members<'t>),
    SpendRow,
}

fn kind_of<'t>(members: &Members<'t>) -> Option<Kind<'t>> {
    if is_payload(members) {
        return Some(Kind::Payload(members.clone()));
    }
    if members.has_all(&["request_id", "call_type", "spend", "startTime"]) {
        return Some(Kind::SpendRow);
    }
    let inner = WRAPPERS.iter().map(|key| members.object(key)).find(|inner| !inner.is_empty())?;
    match kind_of(&inner)? {
        Kind::Payload(payload) => Some(Kind::Payload(payload)),
        _ => None,
    }
}

fn is_payload(members: &Members<'_>) -> bool {
    members.has_all(&["startTime", "call_type"])
        && ["litellm_call_id", "hidden_params", "model_map_information"].iter().any(|key| members.has(key))
}

fn read_object(members: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    match kind_of(members) {
        Some(Kind::Payload(payload)) => payload::read_object(&payload, sink, raw, at),
        Some(Kind::SpendRow) => spend::read_object(members, sink, raw, at),
        None => sink.noise(),
    }
}
