//! Error bodies kept as a model API sent them, without a time or a request.

use super::json_objects::Members;
use crate::ingest::block::Block;
use crate::ingest::format::{Decoder, Format, Match, Order};
use crate::ingest::head::Head;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record, TimePrecision};
use crate::ingest::sink::Sink;
use crate::model::UNTIMED_START;

/// Format of a single error body, or of one per line.
pub(in crate::ingest) struct ErrorBodies;

impl Format for ErrorBodies {
    fn name(&self) -> &'static str {
        "error-bodies"
    }

    fn description(&self) -> &'static str {
        "Error bodies of model APIs on their own: failed attempts without a time, each of a call of its own."
    }

    fn detected_by(&self) -> &'static str {
        "nothing but error bodies in the shape of Anthropic or OpenAI, or that name tokens or a model API"
    }

    fn detect(&self, head: &Head<'_>) -> Match {
        let mut lines = head.parsed().peekable();
        let is_error = |(line, body): (&str, Option<&Members<'_>>)| body.is_some_and(|body| is_body(body, line));
        if lines.peek().is_some() && lines.all(is_error) { Match::Sure } else { Match::No }
    }

    fn order(&self) -> Order {
        Order::PerInput
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(BodyDecoder::default())
    }
}

/// Top-level keys an error body may have. An object with any other key is a log record.
const KEYS: [&str; 18] = [
    "object",
    "type",
    "error",
    "errors",
    "message",
    "msg",
    "param",
    "code",
    "status",
    "status_code",
    "raw_status_code",
    "error_code",
    "error_type",
    "title",
    "detail",
    "details",
    "request_id",
    "requestId",
];
/// The keys of an OpenAI error. Source: OpenAI API reference, Error object.
const OPENAI_KEYS: [&str; 4] = ["message", "type", "param", "code"];
/// Words, in lower case, that occur only in errors of a model API.
const MODEL_API_WORDS: [&str; 12] = [
    "tokens per min",
    "tokens per day",
    "input tokens",
    "output tokens",
    "context length",
    "context window",
    "generative-ai",
    "generativelanguage",
    "aiplatform",
    "ai.google.dev",
    "platform.openai.com",
    "anthropic.com",
];

/// Returns whether an object is an error of a model API and nothing else.
fn is_body(body: &Members<'_>, text: &str) -> bool {
    if !body.iter().all(|(key, _)| KEYS.contains(&key)) {
        return false;
    }
    let is = |key: &str, word: &str| body.scalar_text(key).as_deref() == Some(word);
    let error = body.object("error");
    let is_of_anthropic = is("type", "error") && error.has_all(&["type", "message"]);
    let is_of_openai = error.has("message")
        && error.iter().count() == OPENAI_KEYS.len()
        && error.iter().all(|(key, _)| OPENAI_KEYS.contains(&key));
    // Servers compatible with OpenAI, such as vLLM and Mistral, send the error without the enclosing object.
    let is_flat = is("object", "error") && body.has_all(&["message", "type"]);
    is_of_anthropic || is_of_openai || is_flat || (has_message(body, &error) && names_a_model_api(text))
}

fn has_message(body: &Members<'_>, error: &Members<'_>) -> bool {
    let first = body.objects("errors").into_iter().next().unwrap_or_default();
    [body, error, &first].iter().any(|holder| holder.has("message"))
}

fn names_a_model_api(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    MODEL_API_WORDS.iter().any(|word| text.contains(word))
}

/// Made-up time between two bodies in µs, longer than any wait before a retry, so that they are not taken for attempts
/// of one call.
const BETWEEN_BODIES_US: i64 = 3_600_000_000;

#[derive(Default)]
struct BodyDecoder {
    /// Number of bodies read so far.
    bodies: i64,
}

impl Decoder for BodyDecoder {
    fn decode(&mut self, block: &Block<'_>, sink: &mut Sink<'_>) {
        block.each_line(sink, |sink, line, at| {
            let line = line.trim_start_matches('\u{feff}').trim();
            match Members::of(line) {
                Ok(body) if is_body(&body, line) => self.emit(sink, line, at),
                Ok(_) => sink.noise(),
                Err(_) if !line.starts_with('{') => sink.noise(),
                Err(fault) => sink.reject(fault.what, fault.at as u64 + 1, line, at),
            }
        });
    }
}

impl BodyDecoder {
    fn emit(&mut self, sink: &mut Sink<'_>, body: &str, at: Position<'_>) {
        let mut record = Record { success: Some(false), time_precision: TimePrecision::OrderOnly, ..Record::default() };
        record.put(Field::StartedAt, UNTIMED_START.plus_us(self.bodies.saturating_mul(BETWEEN_BODIES_US)).0);
        record.put_error(body);
        self.bodies = self.bodies.saturating_add(1);
        sink.record(&record, body, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_error_body(text: &str) -> bool {
        Members::of(text).is_ok_and(|body| is_body(&body, text))
    }

    #[test]
    fn error_bodies_are_distinguished_from_other_objects() {
        for body in [
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_a"}"#,
            r#"{"error":{"message":"m","type":"t","param":null,"code":null}}"#,
            r#"{"object":"error","message":"m","type":"t","param":null,"code":"3"}"#,
            r#"{"error":{"code":429,"message":"see https://ai.google.dev/limits","status":"RESOURCE_EXHAUSTED"}}"#,
            r#"{"error_code":"X","message":"over the output tokens per minute of the workspace"}"#,
        ] {
            assert!(is_error_body(body), "{body}");
        }
        for other in [
            "{}",
            r#"{"error":"not found"}"#,
            r#"{"error":{"code":404,"message":"no such bucket"}}"#,
            r#"{"code":"E404","message":"no such package"}"#,
            r#"{"error":{"code":"c","doc_url":"u","message":"m","param":"amount","type":"invalid_request_error"}}"#,
            r#"{"type":"error","message":"the input tokens of the lexer","line":3}"#,
            r#"{"level":"error","error":{"message":"m","type":"t","param":null,"code":null}}"#,
        ] {
            assert!(!is_error_body(other), "{other}");
        }
    }
}
