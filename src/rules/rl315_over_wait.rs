//! A call waited far longer than the server requested.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, repeats, shared};
use crate::calls::{Call, Wait};
use crate::model::{Confidence, Remedy, Severity};

const FACTOR: Setting =
    Setting { name: "factor", default: 3.0, unit: "", meaning: "how many times the hint a wait may last" };
const MORE: Setting = Setting {
    name: "more_s",
    default: 10.0,
    unit: "s",
    meaning: "how much longer than the hint it may be, if that is more",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL315",
    name: "over-wait",
    severity: Severity::Info,
    scope: Scope::Call,
    summary: "A wait lasted more than three times what the server had asked for.",
    why: "The limit was open again long before: the time adds to every call that meets it, and nothing is gained. A wait counts that is over three times the \
          hint and over 10 s longer; exactly three times is in order.",
    fix: "Where there is a hint, wait for it plus a little jitter, instead of the greater of hint and a grown backoff; \
          look whether a queue in front of the client made the rest.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: retry-after is the number of seconds to wait",
    needs: &[Field::CallIdentity, Field::RetryAfter, Field::Duration],
    settings: &[FACTOR, MORE],
    exceptions: &[
        &[
            "A wait that is not known from the end of the attempt is not judged.",
            "The second that a clock of whole seconds hides is tolerated.",
            "Failures that are final, other accounts and other models do not count.",
        ],
        &shared::CLOCK,
    ],
    check: Check::CallIfLogged(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":2,"error_type":"rate_limit_error","duration_ms":20}
{"ts":"2026-05-20T10:00:30Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":429,"headers":{"Retry-After-Ms":"800"},"elapsed_s":0.1}
{"timestamp":"2026-05-20T10:00:15Z","session_id":"s","turn_id":"t","try":2,"status_code":200,"elapsed_s":3}"#,
    ],
    near_misses: &[
        // A little longer than requested.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":2,"error_type":"rate_limit_error","duration_ms":20}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        // Exactly three times the hint.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":6.7,"error_type":"rate_limit_error","duration_ms":100}
{"ts":"2026-05-20T10:00:20.2Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        // The attempt itself took the time.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":503,"retry_after":2,"duration_ms":28000}
{"ts":"2026-05-20T10:00:30Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Result<Option<Hit>, Field> {
    if repeats::is_inferred(call) {
        return Ok(None);
    }
    let over = || call.retried().filter_map(|p| Some((p, over_wait(call, p, settings)?)));
    let known = over().filter(|(_, (wait, _))| wait.is_exact).map(|(p, (wait, hint))| (p, wait.s(), hint));
    match known.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))) {
        Some((position, wait, hint)) => Ok(Some(hit(call, position, wait, hint))),
        // The attempt itself may have taken the time.
        None if over().next().is_some() => Err(Field::Duration),
        None => Ok(None),
    }
}

fn hit(call: &Call<'_>, position: usize, wait: f64, hint: f64) -> Hit {
    let mut hit =
        Hit::new(format!("waited {} where the server had asked for {}", shared::seconds(wait), shared::seconds(hint)))
            .on(call, position)
            .on(call, position + 1)
            .about(call.at(position).class)
            .number("wait_s", wait)
            .number("retry_after_s", hint);
    hit.wait_s = wait - hint;
    hit.confidence = Confidence::Medium;
    hit
}

/// Returns the wait after the attempt at `position` and the hint in seconds that it exceeded, if it did by too much.
fn over_wait(call: &Call<'_>, position: usize, settings: &Settings) -> Option<(Wait, f64)> {
    let hint = call.hint_us(position).filter(|&hint| hint > 0)?;
    let wait = call.wait_before(position + 1)?;
    let more = shared::micros(settings.get(RULE.code, &MORE)) + shared::clock_step_us(call);
    if wait.us <= max_wait_us(hint, settings) || wait.us <= hint + more {
        return None;
    }
    let repeat = !call.at(position).terminal() && repeats::follows(call, position, position + 1);
    (repeat && shared::same_scope(call, position, position + 1)).then_some((wait, hint as f64 / 1e6))
}

/// Returns the longest acceptable wait for a hint, apart from [`MORE`]; both in µs.
pub(super) fn max_wait_us(hint: i64, settings: &Settings) -> i64 {
    shared::scaled(hint, settings.get(RULE.code, &FACTOR))
}
