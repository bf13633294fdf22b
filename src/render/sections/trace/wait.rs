//! Describes the wait before each attempt and the end after the last one.

use crate::model::{
    Outcome,
    units::{self, seconds},
};
use crate::render::document::SpanKind;
use crate::trace::{TracedAttempt, TracedCall, WaitSource};

/// Waits shorter than this count as none, in seconds.
const NO_WAIT_S: f64 = 0.05;

/// Describes how long the client waited before attempt `nth` and why; `None` for the first attempt.
pub(crate) fn wait_before(call: &TracedCall, nth: usize) -> Option<(SpanKind, String)> {
    let previous = &call.attempts[nth.checked_sub(1)?];
    let attempt = &call.attempts[nth];
    let Some(waited) = attempt.waited_s else {
        return Some((
            SpanKind::Caution,
            "the wait is not known: the times contradict the order of the attempts".to_owned(),
        ));
    };
    // Without a duration the wait is measured from the start of the previous attempt, so it is an upper bound.
    let took = units::waited(waited, previous.duration_ms.is_some());
    if previous.attempt_ref.class.is_none() {
        return Some((SpanKind::Plain, format!("sent again {took} after a success")));
    }
    Some(by_source(previous, attempt.wait_source, waited, &took))
}

fn by_source(previous: &TracedAttempt, source: Option<WaitSource>, waited: f64, took: &str) -> (SpanKind, String) {
    let hint = previous.hint_s.map(seconds);
    let place = place(previous);
    match (source, hint) {
        (Some(WaitSource::Server), Some(hint)) if took.ends_with(&hint) => {
            (SpanKind::Plain, format!("waited {took} as the server asked ({place})"))
        }
        (Some(WaitSource::Server), Some(hint)) => {
            (SpanKind::Plain, format!("waited {took} as the server asked ({hint}, {place})"))
        }
        (Some(WaitSource::ClientAgainstServer), Some(hint)) => {
            (SpanKind::Bad, format!("waited {took} although the server asked for {hint} ({place})"))
        }
        (Some(WaitSource::ClientPlan), _) => (SpanKind::Plain, format!("waited {took} as the client had planned")),
        _ if waited < NO_WAIT_S => (SpanKind::Caution, format!("sent again at once ({took}): no backoff")),
        (_, Some(hint)) if previous.hint_s.is_some_and(|s| s > 0.0) => {
            (SpanKind::Caution, format!("waited {took}, longer than the {hint} the server asked for ({place})"))
        }
        _ => (SpanKind::Plain, format!("waited {took}: client's own backoff")),
    }
}

/// Returns where the wait requested by the server was found.
fn place(attempt: &TracedAttempt) -> &'static str {
    match attempt.hint_source {
        Some("body") => "in the body",
        Some("message") => "in the message",
        Some("estimate") => "its estimate",
        Some("rate-limit reset") => "reset of the limit",
        Some(header) => header,
        None => "retry-after",
    }
}

/// Describes why no further attempt follows, if the call did not succeed.
pub(crate) fn after_last(call: &TracedCall) -> Option<(SpanKind, String)> {
    let last = call.attempts.last()?;
    last.attempt_ref.class?;
    let asked = last
        .hint_s
        .filter(|s| *s > 0.0)
        .map(|s| format!("; the server had asked for {} ({})", seconds(s), place(last)));
    let asked = asked.unwrap_or_default();
    match (call.outcome, last.action) {
        (Outcome::Open, _) => {
            let hint = "(where nothing follows this log, --complete says so)";
            Some((SpanKind::Caution, format!("no further attempt in this log{asked} {hint}")))
        }
        (Outcome::Failed, Some("stop" | "refuse" | "unknown_failure")) => None,
        (Outcome::Failed, _) => Some((SpanKind::Plain, format!("given up here{asked}"))),
        (Outcome::Ok, _) => None,
    }
}

/// Returns the recommended action after a failure, in words.
pub(crate) fn correct_action(action: &str) -> &str {
    match action {
        "wait_then_retry" => "wait, retry",
        "backoff_then_retry" => "back off, retry",
        "reconcile" => "reconcile",
        "repair" => "repair",
        "refuse" => "take as refusal",
        "unknown_failure" => "stop, escalate",
        other => other,
    }
}
