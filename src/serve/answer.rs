//! Extracts facts from an answer as it is forwarded.

use super::attempt::AttemptRecord;
use super::decode::Decoder;
use super::events::Events;
use super::facts::{header, masked_text};
use super::scalars::Scalars;
use super::usage::Usage;
use crate::ingest::{error_fields, is_known_header};
use crate::untrusted::{cut, mask_keys};
use hyper::http::response::Parts;
use std::time::{Duration, Instant};

/// Maximum number of bytes kept of an error body.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Maximum number of characters of an error body in a record, if bodies are recorded.
const MAX_RECORDED_CHARS: usize = 4000;

/// Observer of one answer.
pub(crate) struct Answer {
    decoder: Decoder,
    body: Body,
    usage: Usage,
    first: Option<Instant>,
    last: Option<Instant>,
    longest_gap: Duration,
}

enum Body {
    /// A stream of server-sent events.
    Events(Box<Events>),
    /// Any other successful answer, scanned for token counts.
    Json(Box<Scalars>),
    /// An error; the first bytes of its body.
    Error(Vec<u8>),
}

impl Answer {
    /// Reads the head of an answer, and adds what it contains to `attempt`.
    pub(crate) fn begin(parts: &Parts, attempt: &mut AttemptRecord) -> Answer {
        attempt.status = Some(parts.status.as_u16());
        let ids = ["request-id", "x-request-id", "apim-request-id", "x-amzn-requestid"];
        attempt.request_id = ids.iter().find_map(|name| header(&parts.headers, name));
        for (name, value) in &parts.headers {
            if is_known_header(name.as_str())
                && let Ok(text) = value.to_str()
            {
                attempt.headers.insert(name.as_str().to_owned(), masked_text(text).into());
            }
        }
        let is_stream = header(&parts.headers, "content-type").is_some_and(|kind| kind.contains("event-stream"));
        let body = if !parts.status.is_success() {
            Body::Error(Vec::new())
        } else if is_stream {
            attempt.stream = Some(true);
            Body::Events(Box::default())
        } else {
            Body::Json(Box::default())
        };
        Answer {
            decoder: Decoder::of(header(&parts.headers, "content-encoding").as_deref()),
            body,
            usage: Usage::default(),
            first: None,
            last: None,
            longest_gap: Duration::ZERO,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let Answer { decoder, body, usage, first, last, longest_gap } = self;
        decoder.push(bytes, &mut |bytes| match body {
            Body::Events(events) => {
                if events.push(bytes, usage) {
                    let now = Instant::now();
                    first.get_or_insert(now);
                    *longest_gap = last.map_or(*longest_gap, |last| now.duration_since(last).max(*longest_gap));
                    *last = Some(now);
                }
            }
            Body::Json(scalars) => scalars.push(bytes, &mut |path, value| usage.take(path, value)),
            Body::Error(kept) => {
                let room = MAX_ERROR_BYTES.saturating_sub(kept.len()).min(bytes.len());
                kept.extend_from_slice(&bytes[..room]);
            }
        });
    }

    /// Whether a stream has reached its last event or an error; a client that stops reading then misses nothing.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(&self.body, Body::Events(events) if events.is_ended || events.error.is_some())
    }

    /// Adds what the body contained to `attempt`. `began` is when the request began.
    pub(crate) fn add_to(&self, began: Instant, keep_error: bool, attempt: &mut AttemptRecord) {
        self.usage.add_to(attempt);
        let is_readable = self.decoder.is_readable();
        match &self.body {
            Body::Events(events) => {
                attempt.delivered = Some(events.delivered);
                attempt.mid_stream = events.error.as_ref().map(|_| true);
                // An encoding that cannot be decoded hides whether the stream has ended.
                attempt.completed = (is_readable && events.error.is_none()).then_some(events.is_ended);
                attempt.ttft_ms = self.first.map(|first| milliseconds(first.duration_since(began)));
                attempt.max_chunk_gap_ms = self.last.map(|_| milliseconds(self.longest_gap));
                if let Some(error) = &events.error {
                    tell_error(error, keep_error, attempt);
                }
            }
            Body::Error(kept) if is_readable => tell_error(&String::from_utf8_lossy(kept), keep_error, attempt),
            Body::Error(_) | Body::Json(_) => {}
        }
    }
}

fn tell_error(text: &str, keep: bool, attempt: &mut AttemptRecord) {
    let fields = error_fields(text);
    attempt.error_type = fields.error_type;
    attempt.error_code = fields.code;
    attempt.error_message = fields.message;
    attempt.retry_after = fields.wait_s;
    attempt.body = keep.then(|| cut(&mask_keys(text), MAX_RECORDED_CHARS));
}

pub(crate) fn milliseconds(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}
