//! A loop does not wait as it was configured to.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings, repeats, shared};
use crate::calls::{Call, Wait};
use crate::measure::loops_of;
use crate::model::{Confidence, Flags, Remedy, Schedule, Severity};

const SHARE: Setting = Setting {
    name: "tolerance_share",
    default: 0.2,
    unit: "",
    meaning: "share of the scheduled wait by which a wait may lie outside it",
};
const FIXED: Setting = Setting {
    name: "tolerance_ms",
    default: 250.0,
    unit: "ms",
    meaning: "time by which a wait may lie outside the schedule, whatever the share: clocks round, sending takes time",
};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL406",
    name: "waits-off-the-declared-schedule",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A call waited for shorter or longer than the declared backoff has it.",
    why: "What is configured is not what runs: an option that the client does not know, a second loop, or a default \
          of a new version. Whoever reasons about load and budgets reasons about the wrong waits.",
    fix: "Look which layer made these waits, and set its backoff, or declare the one it has under [policy].",
    remedy: Remedy::Fix,
    source: "AWS Architecture Blog, Exponential Backoff And Jitter: min(cap, base * 2 ** attempt) and its jitters",
    needs: &[Field::CallIdentity],
    settings: &[SHARE, FIXED],
    exceptions: &[
        &[
            "A wait that the server asked for, or after a rate limit with headers, is on no schedule.",
            "Waits of other layers than the declared one, around a hole in the numbers, and of two loops are not judged.",
            "A wait that is too long is judged only where an end or a plan of it is logged.",
            "The second that a clock of whole seconds hides is tolerated.",
        ],
        &shared::CLOCK,
    ],
    check: Check::CallIfLogged(check),
    firing: &[
        r#"[policy]
base_s = 0.5
cap_s = 8
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:00:05Z","run_id":"r","call_id":"c","attempt":2,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:00:05.9Z","run_id":"r","call_id":"c","attempt":3,"status":200,"duration_ms":900}"#,
        // Shorter than declared, in a log without durations: the actual waits were even shorter.
        r#"[policy]
base_s = 2
jitter = 0.1
---
{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"status_code":500}
{"timestamp":"2026-05-20T10:00:02.1Z","session_id":"s","turn_id":"t","try":2,"status_code":500}
{"timestamp":"2026-05-20T10:00:03.2Z","session_id":"s","turn_id":"t","try":3,"status_code":200}"#,
    ],
    near_misses: &[
        // On the schedule, jitter included.
        r#"[policy]
base_s = 0.5
cap_s = 8
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:00:00.4Z","run_id":"r","call_id":"c","attempt":2,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:00:01.5Z","run_id":"r","call_id":"c","attempt":3,"status":200,"duration_ms":900}"#,
        // The server requested the wait.
        r#"[policy]
base_s = 0.5
cap_s = 8
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":30,"error_type":"rate_limit_error","duration_ms":100}
{"ts":"2026-05-20T10:00:30.5Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
        // No duration: the attempt itself may have taken the time.
        r#"[policy]
base_s = 0.5
cap_s = 8
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout"}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // The wait is that of another layer.
        r#"[policy]
layer = "harness"
base_s = 30
jitter = "none"
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","layer":"sdk","attempt":1,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","layer":"sdk","attempt":2,"status":200,"duration_ms":900}"#,
        // The schedule is for another model.
        r#"[[policy]]
model = "small-*"
base_s = 30
jitter = "none"
---
{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","model":"large-1","attempt":1,"status":529,"duration_ms":100}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","model":"large-1","attempt":2,"status":200,"duration_ms":900}"#,
    ],
};

/// A wait compared with the schedule.
struct Compared {
    position: usize,
    wait: Wait,
    /// Shortest and longest wait on the schedule, in µs.
    least_us: i64,
    most_us: i64,
    /// Whether the wait is off the schedule by more than the tolerance.
    is_off: bool,
    /// Whether the log has the wait as planned by the client.
    planned: bool,
}

impl Compared {
    /// Returns how far the wait is off the schedule, in µs.
    fn off_us(&self) -> i64 {
        (self.least_us - self.wait.us).max(self.wait.us - self.most_us).max(0)
    }
}

fn check(call: &Call<'_>, settings: &Settings) -> Result<Option<Hit>, Field> {
    // The waits of two nested loops follow neither schedule.
    if settings.policies.is_empty() || repeats::is_inferred(call) || loops_of(call).is_some() {
        return Ok(None);
    }
    let mut judged = 0;
    let mut missing_field = None;
    let mut off_schedule: Vec<Compared> = Vec::new();
    for sequence in shared::retry_sequences(call) {
        for position in sequence.start..sequence.end.saturating_sub(1) {
            let nth = (position - sequence.start + 1) as u32;
            match compare(call, position, nth, settings) {
                Ok(Some(compared)) => {
                    judged += 1;
                    off_schedule.extend(compared.is_off.then_some(compared));
                }
                Ok(None) => {}
                Err(field) => missing_field = Some(field),
            }
        }
    }
    let worst = off_schedule.iter().max_by_key(|one| (one.off_us(), std::cmp::Reverse(one.position)));
    match (worst, missing_field) {
        (Some(worst), _) => Ok(Some(hit(call, worst, off_schedule.len(), judged))),
        (None, Some(field)) => Err(field),
        (None, None) => Ok(None),
    }
}

fn hit(call: &Call<'_>, worst: &Compared, off_schedule: usize, judged: usize) -> Hit {
    let position = worst.position;
    let [least_s, most_s] = [worst.least_us, worst.most_us].map(|us| us as f64 / 1e6);
    let allowed = if least_s > 0.0 {
        shared::seconds_range(least_s, most_s)
    } else {
        format!("at most {}", shared::seconds(most_s))
    };
    let all =
        if judged > 1 { format!("; {off_schedule} of {judged} waits are off the schedule") } else { String::new() };
    let mut hit = Hit::new(format!(
        "waited {} after {}, where the declared schedule has {allowed}{all}",
        worst.wait.words(),
        shared::class_words(call.at(position).class),
    ))
    .on(call, position)
    .on(call, position + 1)
    .about(call.at(position).class)
    .number("wait_s", worst.wait.s())
    .number("least_s", least_s)
    .number("most_s", most_s)
    .count("waits_off", off_schedule as u64)
    .count("waits_judged", judged as u64);
    hit.wait_s = (worst.wait.s() - most_s).max(0.0);
    if !worst.planned {
        // A queue before the attempt, or a suspended machine, would look the same in the log.
        hit.confidence = Confidence::Medium;
    }
    hit
}

/// Compares the wait after the attempt at `position`, the `nth` of its request, with the schedule, if that applies.
fn compare(call: &Call<'_>, position: usize, nth: u32, settings: &Settings) -> Result<Option<Compared>, Field> {
    let (Some(schedule), Some(wait)) = (schedule(call, position, settings)?, call.wait_before(position + 1)) else {
        return Ok(None);
    };
    let number = call.at(position).number;
    let allowed = schedule.allowed_s(if number > 0 { u32::from(number) } else { nth });
    let (least_us, most_us) = (shared::micros(*allowed.start()), shared::micros(*allowed.end()));
    let fixed_us = shared::micros(settings.get(RULE.code, &FIXED) / 1e3) + shared::clock_step_us(call);
    let slack = |us: i64| shared::scaled(us, settings.get(RULE.code, &SHARE)).max(fixed_us);
    let planned = call.detail(position).and_then(|detail| detail.planned_us);
    // The planned wait is decisive, as the measured one may include time in a queue.
    let wait = planned.map_or(wait, |planned| Wait { us: planned.min(wait.us), is_exact: true });
    let (short, long) = (wait.us < least_us - slack(least_us), wait.us > most_us + slack(most_us));
    // The wait is longer than declared, unless the attempt itself took the time.
    if long && !wait.is_exact {
        return Err(Field::Duration);
    }
    let is_off = short || long;
    Ok(Some(Compared { position, wait, least_us, most_us, is_off, planned: planned.is_some() }))
}

/// Returns the schedule for the wait after the attempt at `position`, unless the server or another layer determined it.
fn schedule<'s>(call: &Call<'_>, position: usize, settings: &'s Settings) -> Result<Option<&'s Schedule>, Field> {
    let (attempt, next) = (call.at(position), call.at(position + 1));
    let declared = |p: usize| settings.layer_policy(call, p);
    let (Some(policy), Some(_), Some(detail)) = (declared(position), declared(position + 1), call.detail(position))
    else {
        return Ok(None);
    };
    let server_requested = detail.hint_us.is_some()
        || detail.reopens.is_some()
        || (attempt.rate_limited() && attempt.flags.has(Flags::HEADROOM));
    let is_no_retry = attempt.terminal() || attempt.flags.has(Flags::TOOL) || attempt.flags.has(Flags::DECIDED_OTHER);
    // If attempt numbers are missing, so are waits.
    let is_next = attempt.number == 0 || next.number == attempt.number + 1;
    let schedule = policy.schedule.as_ref();
    if server_requested
        || is_no_retry
        || !is_next
        || schedule.is_none()
        || !shared::same_scope(call, position, position + 1)
    {
        return Ok(None);
    }
    let decided = attempt.flags.has(Flags::DECIDED_RETRY);
    if decided || repeats::is_logged_repeat(call, position, position + 1) {
        return Ok(schedule);
    }
    let unnumbered = attempt.number == 0 && next.number == 0;
    if unnumbered && repeats::follows(call, position, position + 1) { Err(Field::Repeats) } else { Ok(None) }
}
