//! Events that coding agents (Claude Code, Gemini CLI, Qwen Code) log about their requests: `api_error`, `api_response`
//! and others.

use super::claude_code::error;
use super::draft::Draft;

/// Subject of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A request that was answered or that failed.
    Attempt,
    /// A wait before the next attempt.
    Wait,
}

/// Returns the name of an event without the program's prefix.
pub(super) fn without_prefix(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, name)| name)
}

/// Fills `draft` from the event `name`; `get` returns its attributes. Returns `None` if the event does not concern an
/// attempt.
pub(super) fn read(name: &str, get: &dyn Fn(&str) -> Option<String>, draft: &mut Draft) -> Option<Event> {
    let first = |keys: &[&str]| keys.iter().find_map(|key| get(key));
    match without_prefix(name) {
        "api_error" => {
            draft.set("outcome", "error");
            if let Some(text) = first(&["error", "error_message", "error.message"]) {
                error::of_text(&text, draft);
            }
            draft.set("error_type", first(&["error_type", "error.type"]));
        }
        "api_response" => draft.set("outcome", "ok"),
        // Without a duration, it announces a request about to be sent.
        "api_request" if get("duration_ms").is_some() => draft.set("outcome", "ok"),
        "api_retry" => {
            draft.set("attempt", get("attempt_number"));
            draft.set("planned_wait_ms", get("retry_delay_ms"));
            return Some(Event::Wait);
        }
        _ => return None,
    }
    draft.set("status", first(&["status_code", "http.response.status_code"]));
    for (key, from) in [
        ("model", &["model", "gen_ai.request.model"][..]),
        ("request_id", &["request_id"]),
        ("duration_ms", &["duration_ms"]),
        ("ttft_ms", &["ttft_ms"]),
        ("run_id", &["session.id", "session_id"]),
        ("org", &["organization.id"]),
        ("input_tokens", &["input_tokens", "input_token_count"]),
        ("output_tokens", &["output_tokens", "output_token_count"]),
        ("cache_read_tokens", &["cache_read_tokens", "cached_content_token_count"]),
        ("cache_creation_tokens", &["cache_creation_tokens"]),
        ("cost_usd", &["cost_usd"]),
        ("stop_reason", &["stop_reason", "finish_reason"]),
    ] {
        draft.set(key, first(from));
    }
    Some(Event::Attempt)
}
