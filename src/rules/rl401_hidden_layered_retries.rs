//! Nested retry loops, whose attempts multiply.

use super::{Check, Field, Hit, Rule, Scope, Settings};
use super::{repeats, shared};
use crate::calls::{Call, Grouping, retry_sequences};
use crate::measure::{Layering, Loops, Sign, loops_of};
use crate::model::{Confidence, Remedy, Severity};

/// Name of the SDK's layer.
const SDK: &str = "sdk";

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL401",
    name: "hidden-layered-retries",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "One call was retried by two loops, one inside the other, or by a layer that is declared not to retry.",
    why: "The attempts multiply: with r retries in each of d layers one call becomes (r+1)^d attempts. The outer \
          loop believes it made a few attempts; the service sees many, in bursts, and the waits of neither loop \
          mean what they say. Its cost is the failed attempts beyond those that the larger of the two loops makes \
          alone.",
    fix: "Let one layer own retries, the one that knows the budget of the call, and set the others to zero \
          (max_retries=0 in the SDK client, num_retries=0 in a gateway); count sends where they leave the process.",
    remedy: Remedy::Fix,
    source: "AWS Well-Architected Framework, REL05-BP03, Control and limit retry calls: retry at one layer; \
             official SDKs count their own attempts in the header x-stainless-retry-count",
    needs: &[Field::CallIdentity, Field::Counters],
    settings: &[],
    exceptions: &[&[
        "A counter that begins anew with another model or account is a fallback's, after a success another request's.",
        "Requests under way at the same time are two calls' or hedged ones.",
        "One attempt that two layers logged under one request id counts once.",
        "Where only a gateway's counter tells of its attempts, the confidence is medium.",
        "Attempts that only their likeness brings together are info, and two rounds of them must each have more than \
         one attempt.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":1,"status":529}
{"ts":"2026-05-20T10:00:01.4Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":2,"status":529}
{"ts":"2026-05-20T10:00:02.4Z","run_id":"r","call_id":"c","attempt":4,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:02.9Z","run_id":"r","call_id":"c","attempt":5,"sdk_retry_count":1,"status":529}
{"ts":"2026-05-20T10:00:03.8Z","run_id":"r","call_id":"c","attempt":6,"sdk_retry_count":2,"status":200}"#,
        r#"{"timestamp":"2026-05-20T10:00:00.0Z","session_id":"s","turn_id":"t","try":1,"request_id":"a","status_code":500}
{"timestamp":"2026-05-20T10:00:00.5Z","session_id":"s","turn_id":"t","try":1,"request_id":"b","status_code":500}
{"timestamp":"2026-05-20T10:00:02.0Z","session_id":"s","turn_id":"t","try":2,"request_id":"c","status_code":500}
{"timestamp":"2026-05-20T10:00:02.5Z","session_id":"s","turn_id":"t","try":2,"request_id":"d","status_code":200}"#,
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":1,"status":503,"duration_ms":2000}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","layer":"gateway","status":503,"duration_ms":100,"request_id":"a"}
{"ts":"2026-05-20T10:00:01.1Z","run_id":"r","call_id":"c","layer":"gateway","status":503,"duration_ms":100,"request_id":"b"}
{"ts":"2026-05-20T10:00:04.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":2,"status":200,"duration_ms":2000}
{"ts":"2026-05-20T10:00:04.1Z","run_id":"r","call_id":"c","layer":"gateway","status":503,"duration_ms":100,"request_id":"d"}
{"ts":"2026-05-20T10:00:05.1Z","run_id":"r","call_id":"c","layer":"gateway","status":200,"duration_ms":500,"request_id":"e"}"#,
        // A transport beneath the SDK sends twice for each of its attempts.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":0,"status":503,"duration_ms":20}
{"ts":"2026-05-20T10:00:00.4Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":0,"status":503,"duration_ms":20}
{"ts":"2026-05-20T10:00:01.2Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":1,"status":503,"duration_ms":20}
{"ts":"2026-05-20T10:00:01.6Z","run_id":"r","call_id":"c","attempt":4,"sdk_retry_count":1,"status":200,"duration_ms":20}"#,
        // The client sent twice, for which a gateway sent three times and twice: the log shows two of five.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":503,"headers":{"x-envoy-attempt-count":"3"}}
{"ts":"2026-05-20T10:00:04Z","run_id":"r","call_id":"c","attempt":2,"status":200,"headers":{"x-envoy-attempt-count":"2"}}"#,
        // One loop, which is not the one that should retry.
        r#"[policy]
layer = "harness"
---
{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"harness","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","layer":"harness","sdk_retry_count":1,"status":200}"#,
    ],
    near_misses: &[
        // The gateway retried, the client did not.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":503,"headers":{"x-envoy-attempt-count":"3"}}"#,
        // The client retried, the gateway did not.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":503,"headers":{"x-envoy-attempt-count":"1"}}
{"ts":"2026-05-20T10:00:04Z","run_id":"r","call_id":"c","attempt":2,"status":200,"headers":{"x-envoy-attempt-count":"1"}}"#,
        // One loop.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":1,"status":529}
{"ts":"2026-05-20T10:00:01.4Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":2,"status":529}"#,
        // The SDK's retries are off: its counter stays at 0 while the loop around it retries.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:01.4Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":0,"status":200}"#,
        // The counter starts again with another model: a fallback.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","model":"a","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","model":"a","sdk_retry_count":1,"status":529}
{"ts":"2026-05-20T10:00:01.4Z","run_id":"r","call_id":"c","model":"b","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:01.9Z","run_id":"r","call_id":"c","model":"b","sdk_retry_count":1,"status":200}"#,
        // The id is shared by two requests, the first of which was answered.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":200}
{"ts":"2026-05-20T10:00:09.0Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:09.5Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":200}"#,
        // One loop, each of whose attempts was logged by two layers.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":1,"request_id":"a","status":529,"duration_ms":400}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","layer":"sdk","sdk_retry_count":0,"request_id":"a","status":529,"duration_ms":200}
{"ts":"2026-05-20T10:00:01.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":2,"request_id":"b","status":529,"duration_ms":400}
{"ts":"2026-05-20T10:00:01.1Z","run_id":"r","call_id":"c","layer":"sdk","sdk_retry_count":0,"request_id":"b","status":529,"duration_ms":200}
{"ts":"2026-05-20T10:00:02.5Z","run_id":"r","call_id":"c","layer":"harness","attempt":3,"request_id":"d","status":200,"duration_ms":400}
{"ts":"2026-05-20T10:00:02.6Z","run_id":"r","call_id":"c","layer":"sdk","sdk_retry_count":0,"request_id":"d","status":200,"duration_ms":200}"#,
        // Concurrent attempts, as far as a log without durations shows.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.8Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":529}
{"ts":"2026-05-20T10:00:00.9Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":200}"#,
        // The layer that should retry does.
        r#"[policy]
layer = "sdk"
---
{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"sdk","attempt":1,"sdk_retry_count":0,"status":529}
{"ts":"2026-05-20T10:00:00.5Z","run_id":"r","call_id":"c","layer":"sdk","attempt":2,"sdk_retry_count":1,"status":200}"#,
        // Two concurrent requests.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529,"duration_ms":300}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529,"duration_ms":300}
{"ts":"2026-05-20T10:00:00.8Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":529,"duration_ms":300}
{"ts":"2026-05-20T10:00:00.9Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":200,"duration_ms":300}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    match loops_of(call) {
        Some(loops) => by_rounds(call, &loops),
        None => by_counter(call).or_else(|| by_policy(call, settings)),
    }
}

/// Checks whether the client retried attempts that a gateway had sent several times. The log has only the client's
/// attempts; the gateway's are known only from its counter.
fn by_counter(call: &Call<'_>) -> Option<Hit> {
    if call.disordered || repeats::is_inferred(call) {
        return None;
    }
    let was_resent = |p: &usize| call.unseen_beneath(*p) > 0;
    let mut retry_sequences = retry_sequences(call).filter(|sequence| sequence.len() > 1);
    let sequence = retry_sequences
        .find(|sequence| sequence.clone().any(|p| was_resent(&p)) && sequence.clone().all(|p| is_outer(call, p)))?;
    let rounds: Vec<u64> = sequence.clone().map(|p| call.unseen_beneath(p) + 1).collect();
    let (seen, sends) = (rounds.len() as u64, rounds.iter().sum::<u64>());
    let inner = rounds.iter().copied().max()?;
    let each: Vec<String> = rounds.iter().map(u64::to_string).collect();
    let rounds_text = format!("{seen} rounds of {} attempts", each.join(" + "));
    let mut hit = Hit::new(format!(
        "one call became {sends} attempts, {rounds_text}: the log shows {seen}, and only a gateway's counter tells of {}; the \
         client's retries are around the gateway's",
        if sends - seen == 1 { "the other".to_owned() } else { format!("the {} others", sends - seen) }
    ))
    .about(call.at(sequence.start).class)
    .count("sends", sends)
    .count("sends_shown", seen)
    .count("sends_told", sends - seen)
    .count("rounds", seen)
    .count("sends_per_round", inner)
    .count("bound", seen * inner)
    .text("factorisation", rounds_text)
    .text("inner_layer", "the retries of a gateway")
    .text("outer_layer", "the client's")
    .word("sign", "a counter of the gateway above 1 on attempts that the client sent again");
    hit.rows.extend(sequence.map(|position| call.rows()[position]));
    hit.confidence = Confidence::Medium;
    Some(hit)
}

/// Returns whether the attempt at `position` belongs to the same layer as the first, with no attempt of another layer
/// within it.
fn is_outer(call: &Call<'_>, position: usize) -> bool {
    call.origin(position).layer == call.origin(0).layer && call.logged_within(position) == 0
}

fn by_rounds(call: &Call<'_>, loops: &Loops) -> Option<Hit> {
    let layering = Layering::of(call, loops);
    let (inner, outer) = layering.names(&call.table().names);
    let (rounds, sends) = (loops.rounds.len() as u64, u64::from(loops.sends()));
    let rounds_text = if loops.are_even() {
        format!("{rounds} x {} attempts", loops.inner())
    } else {
        let each: Vec<String> = loops.rounds.iter().map(u32::to_string).collect();
        format!("{rounds} rounds of {} attempts", each.join(" + "))
    };
    let mut hit = Hit::new(format!("one call became {sends} attempts, {rounds_text}: {outer} around {inner}"))
        .about(call.at(*loops.positions.first()?).class)
        .count("sends", sends)
        .count("rounds", rounds)
        .count("sends_per_round", u64::from(loops.inner()))
        .count("bound", rounds * u64::from(loops.inner()))
        .text("factorisation", rounds_text)
        .text("inner_layer", inner)
        .text("outer_layer", outer)
        .word("sign", layering.sign());
    hit.rows.extend(loops.positions.iter().map(|&position| call.rows()[position]));
    // Either loop alone would have made at most this many attempts.
    let alone = loops.rounds.len().max(loops.inner() as usize);
    let mut hit = hit.in_excess(call, loops.positions.iter().copied().skip(alone));
    if loops.sign == Sign::Nested {
        hit.confidence = Confidence::Medium;
    }
    if call.grouping == Grouping::Inferred && !loops.repeat_one_request(call) {
        hit.severity = Some(Severity::Info);
    }
    Some(hit)
}

/// Checks whether a layer retried that should not, according to the declared policy.
fn by_policy(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    if settings.policies.is_empty() || repeats::is_inferred(call) {
        return None;
    }
    let undeclared: Vec<(usize, String)> =
        (0..call.len()).filter_map(|p| Some((p, other_layer(call, p, settings)?))).collect();
    let (position, layer) = undeclared.first()?;
    let declared_layer = settings.policy(call, *position)?.layer.as_deref()?;
    let mut hit = Hit::new(format!(
        "{layer} retried {}, and the policy leaves retries to {}",
        shared::times(undeclared.len()),
        shared::cut(declared_layer, 40),
    ))
    .about(call.at(position.saturating_sub(1)).class)
    .count("sends", undeclared.len() as u64)
    .text("layer", layer)
    .text("declared_layer", shared::cut(declared_layer, 40));
    hit.rows.extend(undeclared.iter().map(|(position, _)| call.rows()[*position]));
    Some(hit)
}

/// Returns the layer that retried with the attempt at `position` by its own counter, if that is not the declared one.
fn other_layer(call: &Call<'_>, position: usize, settings: &Settings) -> Option<String> {
    let attempt = call.at(position);
    let policy = settings.policy(call, position).filter(|policy| policy.layer.is_some())?;
    let layer = call.table().names.get(call.origin(position).layer);
    if attempt.sdk_count().is_some_and(|count| count > 0) && !policy.applies_to_layer(Some(SDK)) {
        return Some("the SDK".to_owned());
    }
    let layer = layer.filter(|_| attempt.number > 1).filter(|layer| !policy.applies_to_layer(Some(layer)))?;
    Some(format!("the layer {}", shared::cut(layer, 40)))
}
