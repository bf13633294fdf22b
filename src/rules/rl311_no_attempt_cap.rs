//! A retry loop without a visible limit.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, repeats, shared};
use crate::calls::Call;
use crate::measure::loops_of;
use crate::model::{Confidence, Remedy, Severity};

const ATTEMPTS: Setting = Setting {
    name: "attempts",
    default: 10.0,
    unit: "",
    meaning: "attempts of one call beyond which there should be a declared cap or a budget",
};
const BUDGET: Setting = Setting {
    name: "budget_s",
    default: 900.0,
    unit: "s",
    meaning: "a call that lasted longer than this had no budget of time; a shorter one may have",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL311",
    name: "no-attempt-cap",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "One call made more than ten attempts, and the log shows no cap and no budget of time.",
    why: "A loop without an end turns an outage into a process that never stops, and a failure that cannot heal into \
          a bill without one. A call that ended within 15 minutes may have had a budget of time that nobody logs, and \
          is said for information. Its cost is the failed attempts beyond the tenth.",
    fix: "Bound every retry loop twice, by a number of attempts and by seconds of wall-clock time, and log both \
          with each attempt (max_attempts).",
    remedy: Remedy::Fix,
    source: "AWS Well-Architected Framework, REL05-BP03, Control and limit retry calls; Google, Site Reliability \
             Engineering, Handling overload: three attempts per request, then the failure goes up",
    needs: &[Field::Time, Field::CallIdentity],
    settings: &[ATTEMPTS, BUDGET],
    exceptions: &[
        &[
            "A logged max_attempts is a cap, whatever it says; two loops are RL401.",
            "Attempts grouped by likeness are not counted together.",
            "A call that ended within the budget may have had one, and is info.",
        ],
        &shared::CLOCK,
    ],
    check: Check::Call(check),
    firing: &[
        // Twelve attempts, the last of which succeeded.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"c","attempt":2,"status":529}
{"ts":"2026-05-20T10:00:10Z","run_id":"r","call_id":"c","attempt":3,"status":529}
{"ts":"2026-05-20T10:00:16Z","run_id":"r","call_id":"c","attempt":4,"status":529}
{"ts":"2026-05-20T10:00:22Z","run_id":"r","call_id":"c","attempt":5,"status":529}
{"ts":"2026-05-20T10:00:30Z","run_id":"r","call_id":"c","attempt":6,"status":529}
{"ts":"2026-05-20T10:00:37Z","run_id":"r","call_id":"c","attempt":7,"status":529}
{"ts":"2026-05-20T10:00:44Z","run_id":"r","call_id":"c","attempt":8,"status":529}
{"ts":"2026-05-20T10:00:52Z","run_id":"r","call_id":"c","attempt":9,"status":529}
{"ts":"2026-05-20T10:01:00Z","run_id":"r","call_id":"c","attempt":10,"status":529}
{"ts":"2026-05-20T10:01:08Z","run_id":"r","call_id":"c","attempt":11,"status":529}
{"ts":"2026-05-20T10:01:16Z","run_id":"r","call_id":"c","attempt":12,"status":200}"#,
        // Eleven attempts, all of which failed.
        r#"{"time":1779271200,"run":"r","call":"c","try":1,"status":500}
{"time":1779271208,"run":"r","call":"c","try":2,"status":500}
{"time":1779271216,"run":"r","call":"c","try":3,"status":500}
{"time":1779271224,"run":"r","call":"c","try":4,"status":500}
{"time":1779271232,"run":"r","call":"c","try":5,"status":500}
{"time":1779271240,"run":"r","call":"c","try":6,"status":500}
{"time":1779271248,"run":"r","call":"c","try":7,"status":500}
{"time":1779271256,"run":"r","call":"c","try":8,"status":500}
{"time":1779271264,"run":"r","call":"c","try":9,"status":500}
{"time":1779271272,"run":"r","call":"c","try":10,"status":500}
{"time":1779271280,"run":"r","call":"c","try":11,"status":500}"#,
    ],
    near_misses: &[
        // Two short loops: that is RL401.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":0,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":1,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:06Z","run_id":"r","call_id":"c","attempt":1,"sdk_retry_count":2,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:09Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":0,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:12Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":1,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:15Z","run_id":"r","call_id":"c","attempt":2,"sdk_retry_count":2,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:18Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":0,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:21Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":1,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:24Z","run_id":"r","call_id":"c","attempt":3,"sdk_retry_count":2,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:27Z","run_id":"r","call_id":"c","attempt":4,"sdk_retry_count":0,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:30Z","run_id":"r","call_id":"c","attempt":4,"sdk_retry_count":1,"status":529,"duration_ms":50}
{"ts":"2026-05-20T10:00:33Z","run_id":"r","call_id":"c","attempt":4,"sdk_retry_count":2,"status":529,"duration_ms":50}"#,
        // Five attempts.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":529}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":3,"status":529}
{"ts":"2026-05-20T10:00:07Z","run_id":"r","call_id":"c","attempt":4,"status":529}
{"ts":"2026-05-20T10:00:15Z","run_id":"r","call_id":"c","attempt":5,"status":529}"#,
        // A cap is declared.
        r#"{"time":1779271200,"run":"r","call":"c","try":1,"max_attempts":12,"status":500}
{"time":1779271208,"run":"r","call":"c","try":2,"max_attempts":12,"status":500}
{"time":1779271216,"run":"r","call":"c","try":3,"max_attempts":12,"status":500}
{"time":1779271224,"run":"r","call":"c","try":4,"max_attempts":12,"status":500}
{"time":1779271232,"run":"r","call":"c","try":5,"max_attempts":12,"status":500}
{"time":1779271240,"run":"r","call":"c","try":6,"max_attempts":12,"status":500}
{"time":1779271248,"run":"r","call":"c","try":7,"max_attempts":12,"status":500}
{"time":1779271256,"run":"r","call":"c","try":8,"max_attempts":12,"status":500}
{"time":1779271264,"run":"r","call":"c","try":9,"max_attempts":12,"status":500}
{"time":1779271272,"run":"r","call":"c","try":10,"max_attempts":12,"status":500}
{"time":1779271280,"run":"r","call":"c","try":11,"max_attempts":12,"status":500}
{"time":1779271288,"run":"r","call":"c","try":12,"max_attempts":12,"status":200}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Option<Hit> {
    let max_attempts = settings.get(RULE.code, &ATTEMPTS);
    if call.len() as f64 <= max_attempts || call.disordered || repeats::is_inferred(call) {
        return None;
    }
    let sequence = shared::retry_sequences(call).find(|sequence| sequence.len() as f64 > max_attempts)?;
    let capped = sequence.clone().any(|p| call.at(p).max_attempts > 0);
    let all_repeat = sequence.clone().skip(1).all(|p| repeats::follows(call, p - 1, p));
    // Two nested loops with a cap each are a different problem.
    if capped || !all_repeat || loops_of(call).is_some() {
        return None;
    }
    let last = call.at(sequence.end - 1);
    let elapsed_us = last.sent.us_since(call.at(sequence.start).sent);
    let elapsed_s = elapsed_us as f64 / 1e6;
    let mut hit = Hit::new(format!(
        "{} attempts over {}, and neither a cap nor a budget of time is logged",
        sequence.len(),
        shared::seconds(elapsed_s),
    ))
    .about(call.at(sequence.start).class)
    .count("attempts", sequence.len() as u64)
    .number("lasted_s", elapsed_s);
    hit.confidence = Confidence::Medium;
    // A budget of time, which few loggers record, may have been in force.
    if elapsed_us <= shared::micros(settings.get(RULE.code, &BUDGET)) {
        hit.severity = Some(Severity::Info);
    }
    hit.rows.extend_from_slice(&call.rows()[sequence.clone()]);
    Some(hit.in_excess(call, sequence.skip(max_attempts as usize)))
}
