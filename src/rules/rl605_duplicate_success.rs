//! Two answers to one request.

use super::{Check, Field, Hit, Rule, Scope, Settings, repeats, shared};
use crate::calls::Call;
use crate::model::{AnswerEnd, Confidence, Flags, Remedy, Severity};
use smallvec::SmallVec;
use std::collections::HashSet;

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL605",
    name: "duplicate-success",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "Two attempts of one call both succeeded.",
    why: "The second answer was paid for and is of no use, and if each was acted on, everything in it happened \
          twice.",
    fix: "Cancel what is still under way once an answer is in, do not start a retry on a timer while the first \
          attempt is alive, and accept one answer per call.",
    remedy: Remedy::Fix,
    source: "Dean and Barroso, The Tail at Scale, hedged requests: the outstanding ones are cancelled once the first \
             answer arrives",
    needs: &[Field::Time, Field::CallId, Field::Repeats],
    settings: &[],
    exceptions: &[
        &[
            "An answer that missed its schema, that the logger calls a failure, that has an empty stop reason or that the \
             client decided to ask again excuses the second.",
            "Successes of different layers, of changed bodies, and of attempts grouped by likeness are not compared.",
            "Numbers, counters, bodies or keys must show that it is the same request.",
            "Where the attempts do not overlap the confidence is medium.",
        ],
        &super::shared::CLOCK,
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"duration_ms":32000}
{"ts":"2026-05-20T10:00:30Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":5000}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","status_code":200,"body_sha256":"a","call_id":"t","decision":"done"}
{"timestamp":"2026-05-20T10:00:09Z","session_id":"s","turn_id":"t","status_code":200,"body_sha256":"a","decision":"done"}"#,
        // One body with one id, numbered 1 each time.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"duration_ms":900,"request_hash":"a","request_id":"x"}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"c","attempt":1,"status":200,"duration_ms":900,"request_hash":"a","request_id":"y"}
{"ts":"2026-05-20T10:00:09Z","run_id":"r","call_id":"c","attempt":1,"status":200,"duration_ms":900,"request_hash":"a","request_id":"z"}"#,
        // The SDK counts a retry: its user had stopped waiting before the first answer came.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":200,"duration_ms":70000}
{"ts":"2026-05-20T10:01:00Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":200,"duration_ms":5000}"#,
    ],
    near_misses: &[
        // A failure, then a success.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // An id shared by several requests, each numbered 1.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"c","attempt":1,"status":200,"request_id":"b"}"#,
        // One attempt, logged by two layers.
        r#"{"ts":"2026-05-20T10:00:00.0Z","run_id":"r","call_id":"c","layer":"harness","attempt":1,"status":200,"duration_ms":3000}
{"ts":"2026-05-20T10:00:00.1Z","run_id":"r","call_id":"c","layer":"gateway","attempt":2,"status":200,"duration_ms":2800}"#,
        // The answer had the wrong form, and the request was changed: a repair.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"request_hash":"a"}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"c","attempt":2,"status":200,"request_hash":"b"}"#,
        // The caller was not satisfied with the answer and asked again.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":200,"decision":"retry"}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let mut successes = SuccessSummary::default();
    let (a, b) = (0..call.len()).filter(|&b| !call.at(b).failed()).find_map(|b| {
        let first =
            if successes.may_be_repeated_by(call, b) { (0..b).find(|&a| is_duplicate(call, a, b)) } else { None };
        successes.add(call, b);
        first.map(|a| (a, b))
    })?;
    let duplicates: SmallVec<[usize; 4]> =
        (b..call.len()).filter(|&later| !call.at(later).failed() && is_duplicate(call, a, later)).collect();
    let overlap = !repeats::is_sequential(call, a, b);
    let gap = call.at(b).sent.us_since(call.at(a).sent) as f64 / 1e6;
    let how = if overlap { "while the first was still under way" } else { "after the first had been answered" };
    let all = if duplicates.len() == 1 { "both".to_owned() } else { format!("all {}", duplicates.len() + 1) };
    let mut hit = Hit::new(format!("retried after {}, {how}, and {all} attempts succeeded", shared::seconds(gap)))
        .on(call, a)
        .number("gap_s", gap)
        .count("answers", duplicates.len() as u64 + 1);
    for later in duplicates {
        hit = hit.on(call, later);
        hit.wasted.push(call.rows()[later]);
    }
    // The caller may have had a reason to ask again that the log does not show.
    if !overlap {
        hit.confidence = Confidence::Medium;
    }
    Some(hit)
}

/// Summary of the successes so far. It rules out most later successes as repeats without comparing every pair, of which
/// a call may have very many.
#[derive(Default)]
struct SuccessSummary {
    min_number: Option<u16>,
    min_count: Option<u8>,
    bodies: HashSet<u64>,
    keys: HashSet<u64>,
}

impl SuccessSummary {
    fn add(&mut self, call: &Call<'_>, position: usize) {
        let attempt = call.at(position);
        let number = Some(attempt.number).filter(|number| *number > 0);
        self.min_number = self.min_number.into_iter().chain(number).min();
        self.min_count = self.min_count.into_iter().chain(attempt.sdk_count()).min();
        self.bodies.extend(Some(call.request_hash(position)).filter(|body| *body != 0));
        self.keys.extend(Some(repeats::key(call, position)).filter(|key| *key != 0));
    }

    /// Returns whether [`is_duplicate`] may hold for one of these successes and the attempt at `position`.
    fn may_be_repeated_by(&self, call: &Call<'_>, position: usize) -> bool {
        let attempt = call.at(position);
        self.min_number.is_some_and(|least| attempt.number > least)
            || self.min_count.zip(attempt.sdk_count()).is_some_and(|(least, count)| count > least)
            || self.bodies.contains(&call.request_hash(position))
            || self.keys.contains(&repeats::key(call, position))
    }
}

/// Returns whether two successes are answers to the same request.
fn is_duplicate(call: &Call<'_>, a: usize, b: usize) -> bool {
    let (first, second) = (call.at(a), call.at(b));
    let was_rejected = first.flags.has(Flags::DECIDED_RETRY)
        || first.flags.has(Flags::LOGGED_ERROR)
        // An answer with an empty stop reason may be truncated.
        || first.flags.end() == AnswerEnd::Empty;
    let numbered = first.number > 0 && second.number > first.number;
    let counted = matches!((first.sdk_count(), second.sdk_count()), (Some(a), Some(b)) if b > a);
    let same_request = numbered || counted || repeats::same_body(call, a, b) || repeats::same_key(call, a, b);
    !first.failed()
        && same_request
        && !was_rejected
        && !repeats::is_inferred(call)
        && !call.disordered
        && !call.body_changed(a, b)
        && call.origin(a).layer == call.origin(b).layer
}
