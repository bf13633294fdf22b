//! Envoy's fields on how a request ended: response flags and response code details.
//!
//! Source: Envoy docs, Access logging, `%RESPONSE_FLAGS%` and `%RESPONSE_CODE_DETAILS%`.

use crate::ingest::record::{Field, Record};
use std::borrow::Cow;

/// Response flags that report a connection failure or a limit of the proxy, with their meaning.
const FLAGS: [(&str, &str); 11] = [
    ("UT", "upstream request timeout"),
    ("SI", "stream idle timeout"),
    ("DT", "request timeout"),
    ("DC", "client closed the connection"),
    ("DR", "client closed the stream"),
    ("UF", "upstream connection refused"),
    ("UC", "upstream connection terminated by server"),
    ("UR", "upstream reset by remote"),
    ("LR", "connection reset by the proxy"),
    ("UPE", "upstream protocol error"),
    ("DPE", "downstream protocol error"),
];

/// Sets what the proxy itself reports about how a request ended: its response flags, and the response code details
/// unless the response came from the upstream.
pub(super) fn put_ending<'t>(record: &mut Record<'t>, flags: Option<&'t str>, details: Option<&'t str>) {
    record.layer = Some(Cow::Borrowed("gateway"));
    // Envoy logs status 0 if no response was sent.
    record.status = record.status.filter(|status| *status > 0);
    let logged_flags = || flags.unwrap_or_default().split(',').map(str::trim);
    let transport =
        FLAGS.iter().find(|(flag, _)| logged_flags().any(|logged| logged == *flag)).map(|(_, meaning)| *meaning);
    record.put(Field::Transport, transport);
    if record.status.is_none_or(|status| status >= 400) {
        record.put(Field::ErrorMessage, details.filter(|details| *details != "via_upstream"));
    }
    if record.status.is_none() {
        record.success = Some(false);
    }
}
