//! Fields of a record derived from an error body, for the servers of this program, which write records.

use super::attempt::AttemptBuilder;
use super::record_context::RecordContext;
use super::typed::Record;
use super::{diagnosis, header_names, response_end};
use crate::ingest::dialect::Dialect;
use crate::model::{Time, Zone};
use crate::untrusted::{cut, mask_keys};

/// Longest message, in characters.
const MAX_MESSAGE: usize = 500;

/// Fields of an error body, with keys masked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ErrorFields {
    pub(crate) error_type: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) wait_s: Option<f64>,
    /// Whether the body is labelled as an error; any other response may have fields of the same names.
    pub(crate) is_named: bool,
}

/// Reads an error body; text that is not JSON becomes the message.
pub(crate) fn error_fields(text: &str) -> ErrorFields {
    let text = text.trim();
    let masked = |text: &str| cut(&mask_keys(text), MAX_MESSAGE);
    let Some(error) = diagnosis::body(text) else {
        return ErrorFields { message: Some(masked(text)).filter(|text| !text.is_empty()), ..ErrorFields::default() };
    };
    let (wait, is_named) = (error.wait, error.named);
    let record = Record { error, ..Record::default() };
    let dialect = Dialect::default();
    let context = RecordContext::standalone(Zone::UTC, &dialect);
    let builder = AttemptBuilder { record: &record, sent: Time(0), duration_ms: None, context: &context };
    ErrorFields {
        error_type: builder.error_type().map(masked),
        code: builder.error_code().map(masked),
        message: builder.message().map(masked),
        wait_s: wait.map(|wait| wait.us as f64 / 1e6),
        is_named,
    }
}

/// Whether an event of a stream, given with its name, is the last one.
pub(crate) fn is_last_event(event: &str) -> bool {
    response_end::has_last_event(event) == Some(true)
}

/// Whether a response header is one that records are read for.
pub(crate) fn is_known_header(name: &str) -> bool {
    header_names::named(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bodies_of_providers_give_type_code_message_and_wait() {
        let of = |text: &str| {
            let fields = error_fields(text);
            [fields.error_type, fields.code, fields.message].map(Option::unwrap_or_default)
        };
        assert_eq!(
            of(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#),
            ["overloaded_error", "", "Overloaded"]
        );
        assert_eq!(
            of(r#"{"error":{"message":"no","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#),
            ["insufficient_quota", "insufficient_quota", "no"]
        );
        assert_eq!(of("upstream connect error"), ["", "", "upstream connect error"]);
        let google = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"m","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}"#;
        assert_eq!(error_fields(google).wait_s, Some(37.0));
        assert!(error_fields(google).is_named);
        assert!(!error_fields(r#"{"choices":[{"delta":{"content":"an \"error\": {}"}}]}"#).is_named);
    }

    #[test]
    fn keys_in_messages_are_masked() {
        let fields =
            error_fields(r#"{"error":{"message":"Incorrect API key provided: sk-proj-abcdefghijklmnop1234"}}"#);
        assert!(fields.message.is_some_and(|text| !text.contains("abcdefghijklmnop")));
    }
}
