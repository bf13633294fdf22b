//! A call went on for too long.

use super::rl308_blocked_by_long_retry_after as rl308;
use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, repeats, shared};
use crate::calls::Call;
use crate::model::{Remedy, Severity};

const BUDGET: Setting =
    Setting { name: "budget_s", default: 900.0, unit: "s", meaning: "the longest a call may go on trying" };

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL310",
    name: "budget-overrun",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A call was still retrying after its budget of wall-clock time was over.",
    why: "Whoever waits for the answer has long given up, or should have: what comes now is late, and the worker was \
          busy all that time. Where nobody declared a budget, in the policy or as a setting of this rule, the default \
          of 15 minutes is a guess, and this is for information. One long wait that the server asked for is RL308 \
          instead. Its cost is the failed attempts after the budget.",
    fix: "Give each call a budget in seconds (15 minutes for an unattended job, far less where a person waits), \
          check it before every wait, and stop where the next wait would pass it.",
    remedy: Remedy::Fix,
    source: "Google, Site Reliability Engineering, Addressing cascading failures, deadlines; gRPC documentation, \
             Deadlines: a call without a deadline may wait forever",
    needs: &[Field::Time, Field::CallId],
    settings: &[BUDGET],
    exceptions: &[
        &[
            "One long wait that the server asked for is RL308.",
            "Attempts that nothing shows to repeat one another, and attempts grouped by likeness, do not count.",
            "Where nobody declared a budget it is info.",
        ],
        &shared::CLOCK,
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":1000}
{"ts":"2026-05-20T10:07:00Z","run_id":"r","call_id":"c","attempt":2,"status":529,"duration_ms":1000}
{"ts":"2026-05-20T10:16:00Z","run_id":"r","call_id":"c","attempt":3,"status":200,"duration_ms":1000}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"kind":"timeout","elapsed_s":600}
{"timestamp":"2026-05-20T10:10:01Z","session_id":"s","turn_id":"t","try":2,"kind":"timeout","elapsed_s":600}
{"timestamp":"2026-05-20T10:20:03Z","session_id":"s","turn_id":"t","try":3,"kind":"timeout","elapsed_s":600}"#,
        // No attempt numbers; the call id is sufficient.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","status":529,"duration_ms":1000}
{"ts":"2026-05-20T10:08:00Z","run_id":"r","call_id":"c","status":529,"duration_ms":1000}
{"ts":"2026-05-20T10:16:00Z","run_id":"r","call_id":"c","status":529,"duration_ms":1000}"#,
        // Half a minute is long if ten seconds are declared.
        r#"[policy]
budget_s = 10
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":1000}
{"ts":"2026-05-20T10:00:30Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":1000}"#,
    ],
    near_misses: &[
        // Attempts that are not known to be one request: each is numbered 1.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:08:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}
{"ts":"2026-05-20T10:16:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"error_type":"overloaded_error"}"#,
        // One long answer is not retrying.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":1000}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":1200000}"#,
        // An id shared by the requests of a whole hour, each of them answered.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":1000}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":1000}
{"ts":"2026-05-20T11:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":1000}
{"ts":"2026-05-20T11:00:02Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":1000}"#,
        // Twenty minutes are within a declared budget of half an hour.
        r#"[policy]
budget_s = 1800
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":1000}
{"ts":"2026-05-20T10:20:00Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":1000}"#,
        // One long wait that the server requested: that is RL308.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1200,"error_type":"rate_limit_error","duration_ms":20}
{"ts":"2026-05-20T10:20:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    if call.len() < 2 || call.disordered || repeats::is_inferred(call) {
        return None;
    }
    let declared = settings.policy(call, 0).and_then(|policy| policy.budget_s);
    let budget = declared.unwrap_or_else(|| settings.get(RULE.code, &BUDGET));
    let default = declared.is_none() && budget == BUDGET.default;
    let budget_us = shared::micros(budget);
    let elapsed_us = |start: usize, p: usize| call.at(p).sent.us_since(call.at(start).sent);
    let sequence = shared::retry_sequences(call).find(|sequence| {
        let was_asked_to_wait = || sequence.clone().skip(1).any(|p| rl308::long_wait(call, p - 1, settings).is_some());
        elapsed_us(sequence.start, sequence.end - 1) > budget_us
            && !was_asked_to_wait()
            && all_repeat(call, sequence.clone())
    })?;
    let late = sequence.clone().filter(|&p| elapsed_us(sequence.start, p) > budget_us).count();
    let elapsed_s = elapsed_us(sequence.start, sequence.end - 1) as f64 / 1e6;
    let mut hit = Hit::new(format!(
        "still retrying {} after its first attempt, past {} of {} ({} attempts, {late} of them late)",
        shared::seconds(elapsed_s),
        if default { "the default budget" } else { "the declared budget" },
        shared::seconds(budget),
        sequence.len(),
    ))
    .about(call.at(sequence.start).class)
    .count("attempts", sequence.len() as u64)
    .count("late_sends", late as u64)
    .number("lasted_s", elapsed_s)
    .number("budget_s", budget);
    if default {
        hit.message.push_str("; no budget is declared");
        hit.severity = Some(Severity::Info);
    }
    hit.rows.extend_from_slice(&call.rows()[sequence.clone()]);
    let start = sequence.start;
    Some(hit.in_excess(call, sequence.filter(|&p| elapsed_us(start, p) > budget_us)))
}

/// Returns whether each attempt is known to repeat the previous one. A call id may be shared by a whole session.
fn all_repeat(call: &Call<'_>, sequence: std::ops::Range<usize>) -> bool {
    sequence.skip(1).all(|p| repeats::follows(call, p - 1, p))
}
