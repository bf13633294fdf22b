//! What Envoy says of how a request ended beside its status.

use crate::ingest::record::{Field, Record};
use std::borrow::Cow;

/// What flags of a response mean, so far as they tell of the connection or of a limit of the proxy.
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

/// Puts what the proxy itself says of how a request ended: its flags, and its details unless the answer is the
/// upstream's.
pub(super) fn put_ending<'t>(record: &mut Record<'t>, flags: Option<&'t str>, details: Option<&'t str>) {
    record.layer = Some(Cow::Borrowed("gateway"));
    // No answer was given.
    record.status = record.status.filter(|status| *status > 0);
    let given = || flags.unwrap_or_default().split(',').map(str::trim);
    let transport = FLAGS.iter().find(|(flag, _)| given().any(|one| one == *flag)).map(|(_, words)| *words);
    record.put(Field::Transport, transport);
    if record.status.is_none_or(|status| status >= 400) {
        record.put(Field::ErrorMessage, details.filter(|details| *details != "via_upstream"));
    }
    if record.status.is_none() {
        record.success = Some(false);
    }
}
