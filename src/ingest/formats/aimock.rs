//! aimock (`@copilotkit/aimock`): the mock server's journal, as returned by `/__aimock/journal`.

use super::exchanges::put_request;
use super::json_objects::{Members, ObjectDecoder, match_members};
use super::model_api;
use crate::ingest::format::{Decoder, Format, Match};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record};
use crate::ingest::sink::Sink;

/// Format of the journal, one entry per line.
pub(in crate::ingest) struct AiMock;

impl Format for AiMock {
    fn name(&self) -> &'static str {
        "aimock"
    }

    fn description(&self) -> &'static str {
        "The journal of the mock server aimock."
    }

    fn detected_by(&self) -> &'static str {
        "`method`, `path` and `headers` beside `response` with `chaosAction`, `fixture` or `source`"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        match_members(head, "\"response\"", is_entry)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ObjectDecoder(read_object))
    }
}

fn is_entry(members: &Members<'_>) -> bool {
    let response = members.object("response");
    let is_mocked = ["chaosAction", "fixture", "source"].iter().any(|key| response.has(key));
    members.has_all(&["id", "timestamp", "method", "path", "headers"]) && response.has("status") && is_mocked
}

fn read_object(entry: &Members<'_>, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
    let path = entry.scalar_text("path").filter(|path| model_api::is_request(path) && is_entry(entry));
    let Some(path) = path else { return sink.noise() };
    let response = entry.object("response");
    let mut record = Record::default();
    record.put(Field::Ts, entry.scalar("timestamp"));
    record.put(Field::RequestId, entry.scalar("id"));
    put_request(&mut record, path, entry.json("headers"), entry.json("body"));
    record.put(Field::Status, response.scalar("status"));
    sink.record(&record, raw, at);
}
