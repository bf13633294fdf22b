//! A layer beneath the client retries, which only its own counter shows.

use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::{Call, Grouping};
use crate::model::{Confidence, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL402",
    name: "gateway-retries-underneath",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A gateway or an HTTP client beneath this one retried the request, which the log shows as one attempt.",
    why: "Its retries multiply with those of the client, and with a gateway's timeout between them the client waits \
          for attempts it cannot see. What is counted as one attempt is several for the provider and its rate limits.",
    fix: "Let one layer own retries: set num_retries or the route's retry policy in the gateway to zero, or the \
          client's max_retries; log the gateway's own counter, so that sends are counted where they leave.",
    remedy: Remedy::Fix,
    source: "Envoy documentation, x-envoy-attempt-count; LiteLLM response header x-litellm-attempted-retries; \
             OpenTelemetry semantic conventions for HTTP, http.request.resend_count; AWS Well-Architected Framework, \
             REL05-BP03",
    needs: &[Field::Time, Field::SendsBeneath],
    settings: &[],
    exceptions: &[&[
        "Attempts of the layer beneath that are in the log themselves are not hidden.",
        "Resends that the client itself counts, or that have records of their own, are its own.",
        "Where only http.request.resend_count shows it, the confidence is medium.",
    ]],
    check: Check::CallIfLogged(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":503,"headers":{"x-envoy-attempt-count":"3"}}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"status":200,"headers":{"x-envoy-attempt-count":"2"}}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","status":200,"headers":{"x-litellm-attempted-retries":2}}"#,
        // The gateway's own attempts are in the log as well.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"client","attempt":1,"status":200,"duration_ms":900,"request_id":"z","headers":{"x-litellm-attempted-retries":"1"}}
{"ts":"2026-05-20T10:00:00.2Z","run_id":"r","call_id":"c","layer":"proxy","attempt":1,"status":503,"duration_ms":10,"request_id":"a"}
{"ts":"2026-05-20T10:00:00.6Z","run_id":"r","call_id":"c","layer":"proxy","attempt":2,"status":200,"duration_ms":200,"request_id":"b"}"#,
        // The span counts it as the third attempt, the client as its first.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"http.request.resend_count":2}"#,
    ],
    near_misses: &[
        // The gateway sent each of them once.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":503,"headers":{"x-envoy-attempt-count":"1"}}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"status":200,"headers":{"x-envoy-attempt-count":"1","x-litellm-attempted-retries":"0"}}"#,
        // The resends are the client's own, and each has a record.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":529,"http.request.resend_count":1}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":3,"status":200,"http.request.resend_count":2}"#,
        // The client's own count is unknown, so the resends may be its own.
        r#"{"ts":"2026-05-20T10:00:00Z","status":200,"http.request.resend_count":1}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Result<Option<Hit>, Field> {
    let uncounted = |p: usize| call.detail(p).is_some_and(|detail| detail.resends > 0) && own_count(call, p).is_none();
    match found(call) {
        Some(hit) => Ok(Some(hit)),
        // The client's own retries and those beneath it are counted together.
        None if (0..call.len()).any(uncounted) => Err(Field::Counters),
        None => Ok(None),
    }
}

fn found(call: &Call<'_>) -> Option<Hit> {
    let resends_beneath = |position: usize| by_gateway(call, position).max(by_instrumentation(call, position));
    let first = (0..call.len()).find(|&position| resends_beneath(position) > 0)?;
    let resends_in_all: u64 = (0..call.len()).map(resends_beneath).sum();
    // Logged attempts of the layer beneath are not hidden, and the attempt around them did not reach the provider
    // itself.
    let hidden: u64 =
        (0..call.len()).map(|p| resends_beneath(p).saturating_sub(call.logged_within(p).saturating_sub(1))).sum();
    let shown = (0..call.len()).filter(|&p| call.logged_within(p) == 0).count() as u64;
    let who = if by_gateway(call, first) > 0 { "a gateway" } else { "something" };
    let attempts = if shown == 1 { "1 attempt".to_owned() } else { format!("{shown} attempts") };
    let seen = if hidden == 0 {
        format!("the provider saw {attempts}, as the log shows")
    } else {
        format!("the log shows {attempts}, the provider saw {}", shown + hidden)
    };
    let resends_in_all = shared::times(resends_in_all as usize);
    let mut hit = Hit::new(format!("{who} beneath the client retried the request {resends_in_all}: {seen}"))
        .about((0..call.len()).find_map(|position| call.at(position).class))
        .count("sends_shown", shown)
        .count("sends_hidden", hidden)
        .count("most_beneath_one_attempt", (0..call.len()).map(resends_beneath).max().unwrap_or(0) + 1);
    hit.rows.extend(
        (0..call.len()).filter(|&position| resends_beneath(position) > 0).map(|position| call.rows()[position]),
    );
    if by_gateway(call, first) == 0 {
        // Some instrumentation counts all resends of a call in one span.
        hit.confidence = Confidence::Medium;
    }
    Some(hit)
}

fn by_gateway(call: &Call<'_>, position: usize) -> u64 {
    call.detail(position).map_or(0, |detail| u64::from(detail.gateway_retries))
}

/// Returns the resends beyond the client's own retries, if it counts those.
fn by_instrumentation(call: &Call<'_>, position: usize) -> u64 {
    let resends = call.detail(position).map_or(0, |detail| u64::from(detail.resends));
    let position_in_call = (call.grouping == Grouping::Explicit).then_some(position as u64);
    own_count(call, position)
        .map_or(0, |client_count| resends.saturating_sub(client_count.max(position_in_call.unwrap_or(0))))
}

/// Returns the number of retries up to the attempt at `position` as counted by the client itself.
fn own_count(call: &Call<'_>, position: usize) -> Option<u64> {
    let attempt = call.at(position);
    let numbered = (attempt.number > 0).then(|| u64::from(attempt.number) - 1);
    numbered.max(attempt.sdk_count().map(u64::from))
}
