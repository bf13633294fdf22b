//! Errors in the payloads and the log of LiteLLM.

use crate::ingest::formats::json_objects::Members;
use crate::ingest::record::{Field, Record};

/// Sets the error from `error_information`. LiteLLM reports an overload of Anthropic as status 500, which is corrected
/// by the type in the message (seen with LiteLLM 1.110: `InternalServerError: AnthropicError - {"type": "error",
/// "error": {"type": "overloaded_error", ..}}`).
pub(super) fn put_error<'t>(record: &mut Record<'t>, error: &Members<'t>, message: Option<&'t str>) {
    record.put(Field::Code, error.scalar("error_code"));
    record.put(Field::Exception, error.scalar("error_class"));
    record.put(Field::RequestId, error.scalar("error_provider_request_id"));
    record.put(Field::Provider, error.scalar("llm_provider"));
    let Some(message) = message else { return };
    if let Some(start) = message.find('{') {
        // LiteLLM appends advice after the body, which is not part of the error.
        let end = message.rfind('}').map_or(message.len(), |end| end + 1);
        record.put_error(message.get(start..end).unwrap_or_default());
    }
    let overloaded = record.error.error_type.as_deref() == Some("overloaded_error");
    if overloaded && record.status == Some(500) {
        record.status = Some(529);
    }
    record.put(Field::ErrorMessage, message);
}
