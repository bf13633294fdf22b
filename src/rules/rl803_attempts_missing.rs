//! Gaps in attempt numbers: lines of the log were lost.

use super::{Check, Field, Hit, Rule, Scope, Settings};
use crate::calls::Call;
use crate::model::{Confidence, Remedy, Severity, Symbol};
use smallvec::SmallVec;

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL803",
    name: "attempts-missing",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "The attempt numbers of a call have holes: lines of the log were lost.",
    why: "Every count and every wait of the call is too small or too long by what is missing, so its other \
          findings rest on half of the story.",
    fix: "Find where lines get lost: a logger that drops under load, a rotation without a flush, a filter or a \
          sample between the client and the file.",
    remedy: Remedy::Fix,
    source: "Attempts of one layer are numbered without gaps",
    needs: &[Field::CallId, Field::Counters],
    settings: &[],
    exceptions: &[&[
        "The SDK's counter is looked at only where no attempt of the call has a number.",
        "Each layer's numbers are looked at apart; numbers that begin again are another loop's.",
        "Attempts missing before the first that is logged are not counted: the log may begin in the middle of a call.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02Z","run_id":"r","call_id":"c","attempt":3,"status":200}"#,
        // Only the inner counter of the SDK is logged.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","sdk_retry_count":0,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02Z","run_id":"r","call_id":"c","sdk_retry_count":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:09Z","run_id":"r","call_id":"c","sdk_retry_count":4,"status":200}"#,
    ],
    near_misses: &[
        // Two loops: the inner one starts again at 1.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:03Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:04Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // The log begins in the middle of a call.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","attempt":3,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:05Z","run_id":"r","call_id":"c","attempt":4,"status":200}"#,
        // Two layers, each with its own numbers.
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"c","layer":"sdk","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:01Z","run_id":"r","call_id":"c","layer":"gateway","attempt":4,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02Z","run_id":"r","call_id":"c","layer":"sdk","attempt":2,"status":200}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let numbers = numbers(call)?;
    let mut gaps = numbers.windows(2).filter_map(|pair| {
        let ((layer, before), (same, after)) = (pair[0], pair[1]);
        (layer == same && after > before + 1).then_some((before, after))
    });
    let (before, after) = gaps.next()?;
    let missing = u64::from(after - before - 1) + gaps.map(|(a, b)| u64::from(b - a - 1)).sum::<u64>();
    let lines = if missing == 1 { "1 attempt is".to_owned() } else { format!("{missing} attempts are") };
    let mut hit =
        Hit::new(format!("{lines} missing from the log: the call goes from attempt {before} to attempt {after}"))
            .on_call(call)
            .count("missing", missing)
            .count("logged", call.len() as u64);
    hit.confidence = Confidence::Medium;
    Some(hit)
}

/// Returns the attempt numbers of the call by layer, sorted and without repetition: a loop that starts again repeats
/// numbers, which is no gap.
fn numbers(call: &Call<'_>) -> Option<SmallVec<[(Symbol, u32); 8]>> {
    let has_numbers = call.attempts().any(|attempt| attempt.number > 0);
    let mut list: SmallVec<[(Symbol, u32); 8]> = SmallVec::new();
    for (position, attempt) in call.attempts().enumerate() {
        let number =
            if has_numbers { u32::from(attempt.number) } else { attempt.sdk_count().map_or(0, |n| u32::from(n) + 1) };
        if number > 0 {
            list.push((call.origin(position).layer, number));
        }
    }
    list.sort_unstable();
    list.dedup();
    (list.len() > 1).then_some(list)
}
