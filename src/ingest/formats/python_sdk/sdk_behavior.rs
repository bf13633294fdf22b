//! Known behavior of the SDKs: when they retry, how long they wait, and which paths they request.

use crate::ingest::formats::text::attempt::Attempt;

/// Number of retries after which the SDKs' waits stop growing: 0.5 s doubled four times is 8 s (`_constants.py`).
pub(super) const RETRIES_TO_LONGEST_WAIT: usize = 4;

/// Returns how often the SDK had retried when it chose this wait: 0.5 s, doubled each time, at most 8 s, minus up to
/// a quarter as jitter (`_base_client.py`). Waits in whole milliseconds were requested by the server.
pub(super) fn retries_before_wait(wait_ms: f64) -> Option<usize> {
    if (wait_ms - wait_ms.round()).abs() < 1e-6 {
        return None;
    }
    (0..=RETRIES_TO_LONGEST_WAIT).find(|retries| {
        let longest_ms = 500.0 * f64::from(1 << retries);
        (longest_ms * 0.75..=longest_ms).contains(&wait_ms)
    })
}

/// Returns whether the SDKs retry after this attempt.
pub(super) fn is_retried(attempt: &Attempt) -> bool {
    let by_status = |status| matches!(status, 408 | 409 | 429) || status >= 500;
    attempt.should_retry == Some(true) || attempt.status.is_none_or(by_status)
}

/// Returns whether requests to this URL are model requests.
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
