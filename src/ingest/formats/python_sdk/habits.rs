//! What is known of the SDKs: when they send again, how long they wait, and what they ask.

use crate::ingest::formats::text::attempt::Attempt;

/// From here on the SDKs' waits grow no more.
pub(super) const LAST_RUNG: usize = 4;

/// How often the SDK had sent again when it chose this wait: 0.5 s, doubled each time, 8 s at most, of which up to a
/// quarter is taken off (`_base_client.py`). Waits without a fraction of a millisecond are the server's.
pub(super) fn rung_of(wait_ms: f64) -> Option<usize> {
    if (wait_ms - wait_ms.round()).abs() < 1e-6 {
        return None;
    }
    (0..=LAST_RUNG).find(|rung| {
        let longest_ms = 500.0 * f64::from(1 << rung);
        (longest_ms * 0.75..=longest_ms).contains(&wait_ms)
    })
}

/// Statuses after which the SDKs send again.
pub(super) fn is_retried(attempt: &Attempt) -> bool {
    let by_status = |status| matches!(status, 408 | 409 | 429) || status >= 500;
    attempt.should_retry == Some(true) || attempt.status.is_none_or(by_status)
}

/// Whether requests to this URL ask a model.
pub(super) fn is_model_path(url: &str) -> bool {
    const PATHS: [&str; 14] = [
        "/messages",
        "/completions",
        "/responses",
        "/embeddings",
        "enerateContent",
        "/converse",
        "/invoke",
        "/rerank",
        "/moderations",
        "/images/",
        "/audio/",
        "/generate",
        "/chat",
        ":predict",
    ];
    PATHS.iter().any(|path| url.contains(path))
}
