//! The client's own backoff has grown too long.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, repeats, shared};
use crate::calls::{Call, Wait};
use crate::model::{Confidence, Flags, Remedy, Severity};

const STEP: Setting = Setting {
    name: "step_share",
    default: 0.375,
    unit: "",
    meaning: "least share of a wait that the one before it has on a schedule that doubles and jitters over a quarter",
};

const CAP: Setting =
    Setting { name: "cap_s", default: 60.0, unit: "s", meaning: "the longest wait a client should choose of itself" };
const SHARE: Setting =
    Setting { name: "tolerance_share", default: 0.1, unit: "", meaning: "share by which a wait may pass the cap" };

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL307",
    name: "wait-over-cap",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "One wait was longer than a minute although no hint of the server asked for it.",
    why: "Doubling without a cap soon waits longer than the trouble lasts: the service is back after seconds and the \
          call sleeps on for minutes, holding its place. A tenth over the cap is tolerated; a wait that the server asked \
          for, one after a failure that is final or before another model, and one for which the client had planned \
          less, do not count.",
    fix: "Cap a single wait at 8 to 60 s with jitter, and bound the call by a budget in seconds instead; only a \
          hint of the server may be longer.",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter: min(cap, base * 2 ** attempt); official SDKs, \
             _constants.py: MAX_RETRY_DELAY of 8 s",
    needs: &[Field::CallId, Field::Duration],
    settings: &[CAP, SHARE, STEP],
    exceptions: &[
        &[
            "A wait that the server asked for, or after a rate limit with headers, is not the client's own.",
            "Failures that are final, tools, decisions to go elsewhere, other accounts and other models do not count.",
            "A wait of which the client planned less was made longer by a queue.",
            "Without a plan or a schedule that leads up to it, it is info: a shared gate looks the same.",
        ],
        &shared::CLOCK,
    ],
    check: Check::CallIfLogged(check),
    firing: &[
        // 64 s, then 128 s: the wait doubles.
        r#"{"ts":"2026-05-20T09:58:56Z","run_id":"r","call_id":"c","attempt":6,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":7,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:02:08Z","run_id":"r","call_id":"c","attempt":8,"status":200,"duration_ms":900}"#,
        // Nothing shows why it waited, so this is an info.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":7,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:02:08Z","run_id":"r","call_id":"c","attempt":8,"status":200,"duration_ms":900}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":500,"delay_ms":300000,"decision":"retry"}
{"timestamp":"2026-05-20T10:05:00.2Z","session_id":"s","turn_id":"t","try":2,"status_code":200}"#,
        // An explicit call without attempt numbers.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","status":529,"duration_ms":100}
{"ts":"2026-05-20T10:01:40Z","run_id":"r","call_id":"c","status":529,"duration_ms":100}
{"ts":"2026-05-20T10:04:00Z","run_id":"r","call_id":"c","status":200,"duration_ms":900}"#,
        // The policy declares a shorter cap than usual.
        r#"[policy]
cap_s = 8
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":7,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:00:20Z","run_id":"r","call_id":"c","attempt":8,"status":200,"duration_ms":900}"#,
    ],
    near_misses: &[
        // The server requested the wait.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":120,"duration_ms":100}
{"ts":"2026-05-20T10:02:02Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        // At the cap, with a little jitter.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":7,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:01:03Z","run_id":"r","call_id":"c","attempt":8,"status":200,"duration_ms":900}"#,
        // The policy allows the wait.
        r#"[policy]
cap_s = 300
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":7,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:02:08Z","run_id":"r","call_id":"c","attempt":8,"status":200,"duration_ms":900}"#,
        // The attempt itself may have taken that long.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout"}
{"ts":"2026-05-20T10:10:01Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // The client had planned two seconds; a queue or a suspended machine made up the rest.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":100,"delay_ms":2000}
{"ts":"2026-05-20T10:05:00Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
    ],
};

fn check(call: &Call<'_>, settings: &Settings) -> Result<Option<Hit>, Field> {
    if repeats::is_inferred(call) {
        return Ok(None);
    }
    let over = || call.retried().filter_map(|p| Some((p, too_long(call, p, settings)?)));
    let known = over().filter(|(_, long)| long.known);
    let worst = known.max_by(|(p, a), (q, b)| {
        a.reason.is_some().cmp(&b.reason.is_some()).then(a.wait.us.cmp(&b.wait.us)).then(q.cmp(p))
    });
    match worst {
        Some((position, long)) => Ok(Some(hit(call, position, &long, settings))),
        // The attempt itself may have taken the time.
        None if over().next().is_some() => Err(Field::Duration),
        None => Ok(None),
    }
}

fn hit(call: &Call<'_>, position: usize, long: &LongWait, settings: &Settings) -> Hit {
    let (cap, declared) = cap_s(call, position, settings);
    let doubt = match long.reason {
        Some(_) => "",
        None => {
            "; a gate that another call's 429 had shut, or a queue, looks the same where no planned_wait_s is logged"
        }
    };
    let mut hit = Hit::new(format!(
        "waited {} after {}, over {} of {}, and no retry-after had asked for it{doubt}",
        long.wait.words(),
        shared::class_words(call.at(position).class),
        if declared { "the declared cap" } else { "a cap" },
        shared::seconds(cap),
    ))
    .on(call, position)
    .on(call, position + 1)
    .about(call.at(position).class)
    .number("wait_s", long.wait.s())
    .number("cap_s", cap);
    hit.wait_s = long.wait.s() - cap;
    match long.reason {
        Some(Reason::Planned(planned)) => hit = hit.number("planned_wait_s", planned),
        // The machine may also have been suspended.
        Some(Reason::Schedule) => hit.confidence = Confidence::Medium,
        None => {
            hit.severity = Some(Severity::Info);
            hit.confidence = Confidence::Low;
        }
    }
    hit
}

/// A wait beyond the cap.
struct LongWait {
    wait: Wait,
    /// Whether its length is known: the log has the end of the attempt before it, or the client's plan.
    known: bool,
    /// Evidence that the client chose the wait, if any.
    reason: Option<Reason>,
}

/// Evidence that a wait is the client's own backoff and was not spent at a gate or in a queue.
#[derive(Clone, Copy)]
enum Reason {
    /// The log has the wait that the client planned, in seconds.
    Planned(f64),
    /// The wait before it is long enough for this one to be the next step of the same backoff.
    Schedule,
}

/// Returns the longest acceptable wait after the attempt at `position` in seconds, and whether the policy declares it.
fn cap_s(call: &Call<'_>, position: usize, settings: &Settings) -> (f64, bool) {
    let declared = settings.layer_policy(call, position).and_then(|policy| policy.cap_s);
    (declared.unwrap_or_else(|| settings.get(RULE.code, &CAP)), declared.is_some())
}

/// Returns the wait after the attempt at `position`, if it is too long and the client alone may have caused that.
fn too_long(call: &Call<'_>, position: usize, settings: &Settings) -> Option<LongWait> {
    let (attempt, detail) = (call.at(position), call.detail(position)?);
    let cap_us = shared::micros(cap_s(call, position, settings).0);
    let max_us = shared::scaled(cap_us, 1.0 + settings.get(RULE.code, &SHARE));
    let planned = detail.planned_us;
    let wait = call.wait_before(position + 1)?;
    let measured = wait.us - shared::clock_step_us(call);
    if measured <= max_us || planned.is_some_and(|planned| planned <= max_us) {
        return None;
    }
    // A client may also wait for the reset given in rate-limit headers.
    let asked = detail.hint_us.is_some()
        || detail.reopens.is_some()
        || (attempt.rate_limited() && attempt.flags.has(Flags::HEADROOM));
    let is_no_retry = attempt.terminal() || attempt.flags.has(Flags::TOOL) || attempt.flags.has(Flags::DECIDED_OTHER);
    let is_retry = repeats::follows(call, position, position + 1) || attempt.flags.has(Flags::DECIDED_RETRY);
    if asked || is_no_retry || !is_retry || !shared::same_scope(call, position, position + 1) {
        return None;
    }
    let known = wait.is_exact || planned.is_some();
    let reason = match planned {
        Some(planned) => Some(Reason::Planned(planned as f64 / 1e6)),
        None => continues_backoff(call, position, shared::scaled(measured, settings.get(RULE.code, &STEP)))
            .then_some(Reason::Schedule),
    };
    Some(LongWait { wait, known, reason })
}

/// Returns whether the wait before the attempt at `position` was chosen by the client too, and at least `min_us` long.
fn continues_backoff(call: &Call<'_>, position: usize, min_us: i64) -> bool {
    let Some(before) = position.checked_sub(1) else { return false };
    let is_chosen = call.at(before).failed() && call.hint_us(before).is_none();
    is_chosen && call.wait_before(position).is_some_and(|wait| wait.is_exact && wait.us >= min_us)
}
