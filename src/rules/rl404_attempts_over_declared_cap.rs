//! A layer that sends more often than it says it does.

use super::{Check, Field, Hit, Remedy, Rule, Scope, Settings, Severity, loops, shared};
use crate::attempt::Symbol;
use crate::calls::{Call, Grouping};
use smallvec::SmallVec;
use std::ops::Range;

/// See the catalogue.
pub(super) const RULE: Rule = Rule {
    code: "RL404",
    name: "attempts-over-declared-cap",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A layer made more attempts than the cap it declares.",
    why: "A cap that does not hold protects nothing: either the loop counts wrongly, or another loop beneath it \
          sends on its account.",
    fix: "Count sends where they leave the process, compare with the cap there, and leave retries to one layer; \
          check for an off-by-one between attempts and retries.",
    remedy: Remedy::Fix,
    source: "AWS Well-Architected Framework, REL05-BP03, Control and limit retry calls: one layer owns retries \
             and its limit holds",
    needs: &[Field::CallIdentity, Field::DeclaredCap],
    settings: &[],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":3,"max_attempts":2,"status":500}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":7,"max_attempts":6,"layer":"harness","status_code":529}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","layer":"sdk","max_retries":1,"status":500,"request_id":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","layer":"sdk","max_retries":1,"status":500,"request_id":"b"}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","layer":"sdk","max_retries":1,"status":200,"request_id":"d"}"#,
    ],
    near_misses: &[
        // As many as declared.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":2,"status":500}"#,
        // Two layers, each within its own cap.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","layer":"a","max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","layer":"a","max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","layer":"b","max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:04Z","run_id":"r","call_id":"c","layer":"b","max_attempts":2,"status":200}"#,
        // Another model gets a budget of its own.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","model":"a","max_attempts":2,"status":529}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","model":"a","max_attempts":2,"status":529}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","model":"b","max_attempts":2,"status":200}"#,
    ],
};

/// Attempts of one layer at one model.
struct Count {
    layer: Symbol,
    model: Symbol,
    attempts: u64,
    cap: u64,
}

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    if call.attempts().all(|attempt| attempt.max_attempts == 0) {
        return None;
    }
    let (position, sends, cap) = by_number(call).or_else(|| by_count(call))?;
    let layer = call.table().names.get(call.origin(position).layer);
    let who = layer.map_or_else(|| "one layer".to_owned(), |layer| format!("the layer {}", shared::cut(layer, 40)));
    let mut hit = Hit::new(format!("{who} made {sends} attempts and declares {cap} at most"))
        .on_call(call)
        .about(call.at(position).class)
        .count("attempts", sends)
        .count("max_attempts", cap);
    if let Some(layer) = layer {
        hit = hit.text("layer", shared::cut(layer, 40));
    }
    Some(hit)
}

/// The layer's own counter is past its own cap.
fn by_number(call: &Call<'_>) -> Option<(usize, u64, u64)> {
    let over = |p: &usize| call.at(*p).max_attempts > 0 && call.at(*p).number > call.at(*p).max_attempts;
    let position = (0..call.len()).filter(over).max_by_key(|&p| call.at(p).number)?;
    let attempt = call.at(position);
    Some((position, u64::from(attempt.number), u64::from(attempt.max_attempts)))
}

/// More records than the cap. Where a loop around the layer explains them, RL401 says so.
fn by_count(call: &Call<'_>) -> Option<(usize, u64, u64)> {
    // Two calls that were taken for one have two budgets.
    if call.grouping == Grouping::Inferred {
        return None;
    }
    let found = shared::streaks(call).find_map(|streak| over_in(call, streak))?;
    loops::find(call).is_none().then_some(found)
}

fn over_in(call: &Call<'_>, streak: Range<usize>) -> Option<(usize, u64, u64)> {
    let end = streak.end;
    let mut counts: SmallVec<[Count; 4]> = SmallVec::new();
    for position in streak {
        let origin = call.origin(position);
        let cap = u64::from(call.at(position).max_attempts);
        let known = counts.iter_mut().find(|count| count.layer == origin.layer && count.model == origin.model);
        match known {
            Some(count) => {
                count.attempts += 1;
                count.cap = count.cap.max(cap);
            }
            None => counts.push(Count { layer: origin.layer, model: origin.model, attempts: 1, cap }),
        }
    }
    let over = counts.iter().find(|count| count.cap > 0 && count.attempts > count.cap)?;
    let position = (0..end).rev().find(|&p| call.origin(p).layer == over.layer)?;
    Some((position, over.attempts, over.cap))
}
