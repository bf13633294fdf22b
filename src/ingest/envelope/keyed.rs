//! Lines under a key of a JSON object, beside values added by a shipper or a logger.

use super::{Each, Envelope, Inner, is_object, is_true, members, object, string, time};
use crate::ingest::record::{Mapping, whole_record};
use crate::model::Zone;
use std::borrow::Cow;

/// Datadog: `content.message` of an export, `attributes.message` of the API.
pub(super) struct Datadog;

impl Envelope for Datadog {
    fn name(&self) -> &'static str {
        "Datadog"
    }

    fn detected_by(&self) -> &'static str {
        "`message` under `content` or `attributes`"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let Some([content, attributes]) = members(line, ["content", "attributes"]) else { return false };
        let Some(event) = content.or(attributes) else { return false };
        let Some([Some(message), at, host]) = members(event, ["message", "timestamp", "host"]) else { return false };
        let Some(text) = string(message) else { return false };
        let time = at.and_then(|at| time(at, zone));
        each(&Inner { time, source: host.and_then(string), ..Inner::of(text) });
        true
    }
}

/// `journalctl -o json`: `MESSAGE`, with the time in microseconds.
pub(super) struct Journald;

impl Envelope for Journald {
    fn name(&self) -> &'static str {
        "journald"
    }

    fn detected_by(&self) -> &'static str {
        "`MESSAGE` beside `__REALTIME_TIMESTAMP`"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let keys = [
            "MESSAGE",
            "__REALTIME_TIMESTAMP",
            "_SYSTEMD_UNIT",
            "SYSLOG_IDENTIFIER",
            "CONTAINER_PARTIAL_MESSAGE",
            "CONTAINER_PARTIAL_ID",
            "CONTAINER_PARTIAL_LAST",
            "CONTAINER_ID",
        ];
        let Some([Some(message), Some(at), unit, name, part, id, last, container]) = members(line, keys) else {
            return false;
        };
        let Some(text) = string(message).or_else(|| bytes(message)) else { return false };
        let time = time(at, zone);
        // Docker's journald driver marks all parts of a line but the last; in older versions they share no id.
        let is_partial = is_true(part) && !is_true(last);
        let output = id.or(container).and_then(string);
        each(&Inner { time, source: unit.or(name).and_then(string), output, is_partial, text });
        true
    }

    fn joins(&self) -> bool {
        true
    }
}

/// Decodes a message with escape sequences or invalid UTF-8, which journald writes as an array of bytes.
fn bytes(value: &str) -> Option<Cow<'_, str>> {
    let bytes: Vec<u8> = serde_json::from_str(value).ok()?;
    Some(Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

/// A JSON record in the message of a logger. The other members, such as `level`, describe the log line, not the
/// attempt.
pub(super) struct Message;

/// Keys under which loggers put the message.
const MESSAGE_KEYS: [&str; 10] =
    ["message", "msg", "log", "event", "body", "text", "textPayload", "jsonPayload", "line", "raw"];

impl Envelope for Message {
    fn name(&self) -> &'static str {
        "JSON in a message"
    }

    fn detected_by(&self) -> &'static str {
        "an attempt as JSON under `message`, `msg`, `log` or the like"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        let Some(found) = members(line, MESSAGE_KEYS) else { return false };
        let Some(text) = found.into_iter().flatten().find_map(object) else { return false };
        // If the line itself is an attempt, the object in its message is a body, not a record of its own.
        if whole_record(line, &Mapping::NONE).is_ok_and(|record| record.has_outcome() && record.names_an_attempt()) {
            return false;
        }
        let keys = ["timestamp", "@timestamp", "time", "ts", "asctime", "host", "hostname", "pod"];
        let Some([a, b, c, d, e, host, name, pod]) = members(line, keys) else { return false };
        let time = [a, b, c, d, e].into_iter().flatten().find_map(|at| time(at, zone));
        let source = [pod, host, name].into_iter().flatten().find_map(string);
        each(&Inner { time, source, ..Inner::of(text) });
        true
    }

    fn is_certain(&self) -> bool {
        false
    }
}

/// A line of text in the message of a JSON logger, such as the output of SDKs and retry loops.
///
/// Nearly every JSON log looks like this, so it is removed only if nothing else is found and a text format then fits.
pub(super) struct Text;

impl Envelope for Text {
    fn name(&self) -> &'static str {
        "text in a message"
    }

    fn detected_by(&self) -> &'static str {
        "lines of a text format under `message`, `msg`, `event` or the like, where nothing else fits"
    }

    fn unwrap_line(&self, line: &str, zone: Zone, each: Each<'_>) -> bool {
        // loguru puts the fields of the log line into `record`.
        let record = members(line, ["record"]).and_then(|[record]| record).filter(|record| record.starts_with('{'));
        let object = record.unwrap_or(line);
        let Some(found) = members(object, ["message", "msg", "event", "textPayload", "text", "body"]) else {
            return false;
        };
        let Some(text) = found.into_iter().flatten().find_map(string).filter(|text| !is_object(text)) else {
            return false;
        };
        let keys = ["timestamp", "@timestamp", "time", "ts", "asctime", "host", "hostname", "pod"];
        let Some([a, b, c, d, e, host, name, pod]) = members(object, keys) else { return false };
        let time_of = |at| match members(at, ["timestamp"]) {
            Some([inner]) => time(inner?, zone),
            None => time(at, zone),
        };
        let time = [a, b, c, d, e].into_iter().flatten().find_map(time_of);
        let source = [pod, host, name].into_iter().flatten().find_map(string);
        each(&Inner { time, source, ..Inner::of(text) });
        true
    }

    fn is_certain(&self) -> bool {
        false
    }
}

/// Whether a text is a JSON object, and so may be a record.
pub(super) fn may_be_a_record(text: &str) -> bool {
    text.starts_with('{') && is_object(text)
}
