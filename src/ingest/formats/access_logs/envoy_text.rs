//! Envoy's default text format, and that of Istio, which adds fields after the response flags.

use super::envoy_flags::put_ending;
use super::{Token, tokens};
use crate::ingest::formats::model_api;
use crate::ingest::position::Position;
use crate::ingest::record::{Field, Record, address_in};
use crate::ingest::sink::Sink;

/// `[start] "POST /path HTTP/2" code flags .. rx tx duration upstream "for" "agent" "id" "authority" "upstream" ..`
pub(super) struct EnvoyLine<'l> {
    started: &'l str,
    path: &'l str,
    status: i64,
    flags: Option<&'l str>,
    details: Option<&'l str>,
    duration: Option<&'l str>,
    address: Option<&'l str>,
    agent: Option<&'l str>,
    request_id: Option<&'l str>,
    authority: Option<&'l str>,
}

/// Number of consecutive fields that are a number or `-`: bytes received, bytes sent, duration and upstream time.
const NUMERIC_FIELDS: usize = 4;

impl<'l> EnvoyLine<'l> {
    pub(super) fn of(line: &'l str) -> Option<EnvoyLine<'l>> {
        // Cheap check first: it rejects nearly every line of other formats.
        if !line.starts_with('[') {
            return None;
        }
        let tokens = tokens(line)?;
        let [started, request, status, flags, rest @ ..] = tokens.as_slice() else { return None };
        let is_time = started.delimiter == b'[' && started.text.contains('T') && started.text.ends_with('Z');
        let path = request.request_path().filter(|_| is_time)?;
        let status = status.status()?;
        if !is_flags(*flags) {
            return None;
        }
        let is_number = |token: &Token<'_>| {
            token.delimiter == b' ' && (token.text == "-" || token.text.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let numbers =
            rest.windows(NUMERIC_FIELDS).position(|four| four.iter().all(is_number) && four[0].text != "-")?;
        let value_at = |index: usize| rest.get(numbers + index).and_then(|token| token.value());
        let details = rest[..numbers].iter().find_map(|token| token.value());
        Some(EnvoyLine {
            started: started.text,
            path,
            status,
            flags: flags.value(),
            details,
            duration: value_at(2),
            address: value_at(NUMERIC_FIELDS).and_then(address_in),
            agent: value_at(NUMERIC_FIELDS + 1),
            request_id: value_at(NUMERIC_FIELDS + 2),
            authority: value_at(NUMERIC_FIELDS + 3),
        })
    }

    pub(super) fn emit(&self, sink: &mut Sink<'_>, raw: &str, at: Position<'_>) {
        if !model_api::is_request(self.path) {
            return sink.noise();
        }
        let mut record = Record::default();
        record.put(Field::StartedAt, self.started);
        record.put(Field::DurationMs, self.duration);
        record.put(Field::Status, self.status);
        record.put(Field::Host, self.address);
        record.put(Field::UserAgent, self.agent);
        record.put(Field::RequestId, self.request_id);
        model_api::put_url(&mut record, self.path.into());
        record.put(Field::Endpoint, self.authority);
        put_ending(&mut record, self.flags, self.details);
        sink.record(&record, raw, at);
    }
}

/// Returns whether `token` is `-` or a comma-separated list of response flags.
fn is_flags(token: Token<'_>) -> bool {
    let is_flag = |flag: &str| !flag.is_empty() && flag.bytes().all(|byte| byte.is_ascii_uppercase());
    token.delimiter == b' ' && (token.text == "-" || token.text.split(',').all(is_flag))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_default_formats_of_envoy_and_istio_are_read() {
        let plain = r#"[2026-05-04T10:00:00.250Z] "POST /v1/messages HTTP/2" 503 UF,URX 154 91 226 - "10.0.0.1" "agent/1" "id-1" "llm.internal" "10.1.0.9:443""#;
        let line = EnvoyLine::of(plain).unwrap();
        assert_eq!((line.status, line.flags, line.duration), (503, Some("UF,URX"), Some("226")));
        assert_eq!(
            (line.agent, line.request_id, line.authority),
            (Some("agent/1"), Some("id-1"), Some("llm.internal"))
        );
        assert_eq!((line.address, line.details), (Some("10.0.0.1"), None));
        let istio = r#"[2026-05-04T10:00:01.000Z] "POST /v1/messages HTTP/1.1" 200 - via_upstream - "-" 5 95 105 104 "-" "curl" "id-2" "a" "b" outbound|443||x"#;
        let line = EnvoyLine::of(istio).unwrap();
        assert_eq!((line.details, line.duration, line.request_id), (Some("via_upstream"), Some("105"), Some("id-2")));
        assert!(
            EnvoyLine::of(r#"10.0.0.1 - - [04/May/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "curl""#).is_none()
        );
        assert!(EnvoyLine::of("[2026-05-04T10:00:00Z] INFO started").is_none());
    }
}
