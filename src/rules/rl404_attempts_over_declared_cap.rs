//! A layer sends more often than its declared cap.

use super::{Check, Field, Hit, Rule, Scope, Settings, shared};
use crate::calls::{Call, Grouping};
use crate::measure::loops_of;
use crate::model::{Flags, Remedy, Severity, Symbol};
use smallvec::SmallVec;
use std::ops::Range;

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL404",
    name: "attempts-over-declared-cap",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A layer made more attempts than the cap it declares, or than the policy declares for it.",
    why: "A cap that does not hold protects nothing: either the loop counts wrongly, or another loop beneath it \
          sends on its account.",
    fix: "Count sends where they leave the process, compare with the cap there, and leave retries to one layer; \
          check for an off-by-one between attempts and retries.",
    remedy: Remedy::Fix,
    source: "AWS Well-Architected Framework, REL05-BP03, Control and limit retry calls: one layer owns retries \
             and its limit holds",
    needs: &[Field::CallIdentity, Field::DeclaredCap],
    settings: &[],
    exceptions: &[&[
        "A loop that counts from zero, or whose first attempt has no number, may count retries in its cap.",
        "Each layer and model has a cap of its own.",
        "Records beyond the cap that a second loop explains are RL401; grouped by likeness they are not counted.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":3,"max_attempts":2,"status":500}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":7,"max_attempts":6,"layer":"harness","status_code":529}"#,
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","layer":"sdk","max_retries":1,"status":500,"request_id":"a"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","layer":"sdk","max_retries":1,"status":500,"request_id":"b"}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","layer":"sdk","max_retries":1,"status":200,"request_id":"d"}"#,
        // The log declares nothing, but the policy does.
        r#"[policy]
max_attempts = 2
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":500}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":3,"status":500}"#,
        // Seven retries with a cap of six.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","retry_attempt":7,"max_attempts":6,"status":529}"#,
    ],
    near_misses: &[
        // As many attempts as declared.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":2,"status":500}"#,
        // Two layers, each within its own cap.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","layer":"a","max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","layer":"a","max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","layer":"b","max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:04Z","run_id":"r","call_id":"c","layer":"b","max_attempts":2,"status":200}"#,
        // The counter starts at zero, and the cap is one of retries.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":0,"max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":1,"max_attempts":2,"status":500}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":2,"max_attempts":2,"status":200}"#,
        // Six retries in a field that counts from zero, with a cap of six.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","retry_attempt":6,"max_attempts":6,"status":529}"#,
        // A loop that logs its third attempt, the second of two retries, as `3/2`.
        r#"{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":"2/2","status":500}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":"3/2","status":200}"#,
        // Another model has a budget of its own.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","model":"a","max_attempts":2,"status":529}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","model":"a","max_attempts":2,"status":529}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","model":"b","max_attempts":2,"status":200}"#,
        // The policy applies to another layer and another model.
        r#"[[policy]]
model = "small-*"
max_attempts = 1
[[policy]]
layer = "harness"
max_attempts = 2
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","model":"large-1","layer":"sdk","attempt":1,"status":500}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","model":"large-1","layer":"sdk","attempt":2,"status":500}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","model":"large-1","layer":"sdk","attempt":3,"status":500}"#,
    ],
};

/// Attempts of one layer with one model.
struct Count {
    layer: Symbol,
    model: Symbol,
    attempts: u64,
    cap: u64,
    /// Position of the last of them that has a cap.
    last: usize,
}

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    if settings.policies.is_empty() && call.attempts().all(|attempt| attempt.max_attempts == 0) {
        return None;
    }
    let caps = Caps { call, settings };
    let (position, sends) = by_number(&caps).or_else(|| by_count(&caps))?;
    let (cap, declared_by) = caps.at(position)?;
    let layer = call.table().names.get(call.origin(position).layer);
    let who = layer.map_or_else(|| "one layer".to_owned(), |layer| format!("the layer {}", shared::cut(layer, 40)));
    let mut hit = Hit::new(match declared_by {
        CapSource::Log => format!("{who} made {sends} attempts and declares {cap} at most"),
        CapSource::Policy => format!("{who} made {sends} attempts, and the policy declares {cap} at most"),
    })
    .on_call(call)
    .about(call.at(position).class)
    .count("attempts", sends)
    .count("max_attempts", cap);
    if let Some(layer) = layer {
        hit = hit.text("layer", shared::cut(layer, 40));
    }
    let over = |p: &usize| caps.is_over(*p, cap) && call.origin(*p).layer == call.origin(position).layer;
    Some(hit.in_excess(call, (0..call.len()).filter(over)))
}

/// Source of a declared cap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CapSource {
    Log,
    Policy,
}

/// Caps that apply to the attempts of a call.
struct Caps<'c, 'a> {
    call: &'c Call<'a>,
    settings: &'c Settings,
}

impl Caps<'_, '_> {
    /// Returns the lowest cap declared for the attempt at `position`, and its source.
    fn at(&self, position: usize) -> Option<(u64, CapSource)> {
        let logged = Some(u64::from(self.call.at(position).max_attempts)).filter(|cap| *cap > 0);
        let policy = self.settings.layer_policy(self.call, position).and_then(|policy| policy.max_attempts);
        let caps = [logged.map(|cap| (cap, CapSource::Log)), policy.map(|cap| (u64::from(cap), CapSource::Policy))];
        caps.into_iter().flatten().min()
    }

    /// Returns whether the number of the attempt at `position` exceeds `cap`. A counter that starts at 0 counts
    /// retries, and its cap may as well.
    fn is_over(&self, position: usize, cap: u64) -> bool {
        let attempt = self.call.at(position);
        u64::from(attempt.number) > cap + u64::from(attempt.flags.has(Flags::FROM_ZERO))
    }
}

/// Finds the attempt with the highest number above its cap, by the layer's own counter.
fn by_number(caps: &Caps<'_, '_>) -> Option<(usize, u64)> {
    let number = |p: usize| u64::from(caps.call.at(p).number);
    let over = |p: &usize| caps.at(*p).is_some_and(|(cap, _)| caps.is_over(*p, cap));
    let position = (0..caps.call.len()).filter(over).max_by_key(|&p| number(p))?;
    Some((position, number(position)))
}

/// Finds more records than the cap allows. If a loop around the layer explains them, that is RL401.
fn by_count(caps: &Caps<'_, '_>) -> Option<(usize, u64)> {
    // If two calls were grouped as one by mistake, each has a cap of its own.
    if caps.call.grouping == Grouping::Inferred {
        return None;
    }
    let found = shared::retry_sequences(caps.call).find_map(|sequence| exceeding_layer(caps, sequence))?;
    loops_of(caps.call).is_none().then_some(found)
}

/// Returns whether attempts are counted from 0: in a field of retries, or because only the first has no number and
/// those after it have 1, 2 and so on.
fn counts_retries(call: &Call<'_>) -> bool {
    let from_zero = || call.attempts().any(|attempt| attempt.flags.has(Flags::FROM_ZERO));
    call.len() > 1 && (from_zero() || call.attempts().zip(0..).all(|(attempt, number)| attempt.number == number))
}

fn exceeding_layer(caps: &Caps<'_, '_>, sequence: Range<usize>) -> Option<(usize, u64)> {
    let call = caps.call;
    let mut counts: SmallVec<[Count; 4]> = SmallVec::new();
    for position in sequence {
        let origin = call.origin(position);
        let cap = caps.at(position).map_or(0, |(cap, _)| cap);
        let known = counts.iter_mut().find(|count| count.layer == origin.layer && count.model == origin.model);
        match known {
            Some(count) => {
                count.attempts += 1;
                count.cap = count.cap.max(cap);
                count.last = if cap > 0 { position } else { count.last };
            }
            None => counts.push(Count { layer: origin.layer, model: origin.model, attempts: 1, cap, last: position }),
        }
    }
    // A loop that counts from zero, or whose first attempt has no number, may count retries in its cap as well.
    let tolerance = u64::from(counts_retries(call));
    let over = counts.iter().find(|count| count.cap > 0 && count.attempts > count.cap + tolerance)?;
    Some((over.last, over.attempts))
}
