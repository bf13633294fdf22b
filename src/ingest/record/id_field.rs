//! Keys of ids.

use super::fields::Field;
use super::spellings::lookup;

/// What an id identifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum IdField {
    /// An attempt, by the provider's id.
    Request,
    /// An attempt, by the id of the platform it passed through.
    Platform,
    /// A call.
    Call,
    /// A run.
    Run,
    /// A distributed trace.
    Trace,
}

/// Keys of trace ids: W3C, OpenTelemetry, Elastic, Datadog. All except the first, whose value also contains a span id,
/// are used as the run if no other key names one.
const TRACE: [&str; 7] = ["traceparent", "trace_id", "traceid", "trace.id", "dd.trace_id", "otelTraceID", "traceId"];
/// Headers and fields in which platforms return their own id of a request.
const PLATFORM: [&str; 4] = ["aws_request_id", "x-amzn-requestid", "x-amzn-request-id", "x-goog-request-id"];

/// Returns what the value of a key identifies, if it is an id.
pub(crate) fn id_field(key: &str) -> Option<IdField> {
    if TRACE.contains(&key) {
        return Some(IdField::Trace);
    }
    let lower = key.to_ascii_lowercase();
    if PLATFORM.contains(&lower.as_str()) {
        return Some(IdField::Platform);
    }
    match lookup(key).or_else(|| lookup(&lower))?.0 {
        Field::RequestId => Some(IdField::Request),
        Field::CallId | Field::GroupId => Some(IdField::Call),
        Field::RunId | Field::ConvertedFrom => Some(IdField::Run),
        Field::Header if matches!(lower.as_str(), "request-id" | "x-request-id" | "apim-request-id") => {
            Some(IdField::Request)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_ids_are_run_ids() {
        for key in &TRACE[1..] {
            assert!(matches!(lookup(key), Some((Field::RunId, _))), "{key}");
        }
    }
}
