//! A declared timeout that is not enforced.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, shared};
use crate::calls::Call;
use crate::model::{Flags, Remedy, Severity};

const SHARE: Setting = Setting {
    name: "tolerance_share",
    default: 0.1,
    unit: "",
    meaning: "share of the deadline by which an attempt may pass it: connecting may be on a clock of its own",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL407",
    name: "attempt-over-declared-timeout",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A call that was retried or failed had an attempt longer than the deadline declared for one.",
    why: "The deadline that was configured is not the one in force: often it bounds the pause between two bytes, not \
          the whole attempt. Budgets that count on it do not hold, and a hung request holds its connection.",
    fix: "Set the deadline where the client bounds the whole request (a total timeout around the call where it has \
          none), or declare the one in force under [policy].",
    remedy: Remedy::Fix,
    source: "HTTPX documentation, Timeouts: the read timeout is the longest wait for a chunk of data, not for the whole \
             answer",
    needs: &[Field::Duration],
    settings: &[SHARE],
    exceptions: &[&[
        "A stream has its deadline between two events; tools have deadlines of their own.",
        "A call of one attempt that succeeded is not judged.",
    ]],
    check: Check::CallIfLogged(check),
    firing: &[
        r#"[policy]
timeout_s = 60
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","duration_ms":180000}
{"ts":"2026-05-20T10:03:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":3000}"#,
        r#"[[policy]]
model = "claude-*"
timeout_s = 30
---
{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"model":"claude-x","status_code":504,"elapsed_s":95}"#,
    ],
    near_misses: &[
        // A tool has a deadline of its own.
        r#"[policy]
timeout_s = 60
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"tool":"build","kind":"timeout","duration_ms":180000}"#,
        // Ended at the deadline.
        r#"[policy]
timeout_s = 60
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","duration_ms":60900}
{"ts":"2026-05-20T10:01:01Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":3000}"#,
        // The deadline of a stream applies to the time between two events.
        r#"[policy]
timeout_s = 60
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"stream":true,"status":200,"error":{"type":"overloaded_error"},"duration_ms":180000}
{"ts":"2026-05-20T10:03:01Z","run_id":"r","call_id":"c","attempt":2,"stream":true,"status":200,"duration_ms":300000}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Result<Option<Hit>, Field> {
    let max_factor = 1.0 + settings.get(RULE.code, &SHARE);
    let mut over: Option<(usize, i64, f64)> = None;
    let mut is_unmeasured = false;
    for (position, deadline) in (0..call.len()).filter_map(|p| Some((p, deadline_s(call, p, settings)?))) {
        match call.at(position).duration.as_us() {
            Some(duration)
                if duration > shared::scaled(shared::micros(deadline), max_factor)
                    && over.is_none_or(|(_, longest, _)| duration > longest) =>
            {
                over = Some((position, duration, deadline));
            }
            Some(_) => {}
            None => is_unmeasured = true,
        }
    }
    // The policy declares a timeout for some models, but the log does not name the model.
    let depends_on_model = settings.policies.iter().any(|policy| policy.timeout_s.is_some() && policy.model.is_some());
    let is_unnamed = |p: usize| !call.origin(p).model.is_some() && settings.policy(call, p).is_none();
    match over {
        Some((position, duration, deadline)) => Ok(Some(hit(call, position, duration as f64 / 1e6, deadline))),
        None if is_unmeasured => Err(Field::Duration),
        None if depends_on_model && (0..call.len()).any(is_unnamed) => Err(Field::Model),
        None => Ok(None),
    }
}

/// Returns the deadline declared for the attempt at `position`, if it applies to the attempt as a whole.
fn deadline_s(call: &Call<'_>, position: usize, settings: &Settings) -> Option<f64> {
    let flags = call.at(position).flags;
    let is_whole = !flags.has(Flags::STREAM) && !flags.has(Flags::TOOL);
    settings.policy(call, position)?.timeout_s.filter(|_| is_whole)
}

fn hit(call: &Call<'_>, position: usize, duration: f64, deadline: f64) -> Hit {
    Hit::new(format!(
        "one attempt lasted {}, and the policy declares a deadline of {}",
        shared::seconds(duration),
        shared::seconds(deadline)
    ))
    .on(call, position)
    .about(call.at(position).class)
    .number("lasted_s", duration)
    .number("timeout_s", deadline)
}
