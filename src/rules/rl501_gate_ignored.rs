//! A 429 with a hint applies to all callers of its scope, but others kept sending.

use super::{Check, Field, Hit, Rule, Scope, Setting, Settings};
use crate::measure::{Fleet, GateTerms, IgnoredWindows};
use crate::model::{Confidence, Evidence, Remedy, Scope as Limits, Severity, units};

const SENDS: Setting = Setting {
    name: "min_sends",
    default: 2.0,
    unit: "",
    meaning: "refused attempts inside one closed window, from which on it is a finding",
};
const GRACE: Setting = Setting {
    name: "grace_s",
    default: 0.1,
    unit: "s",
    meaning: "an attempt sent this soon after the 429 was on its way already",
};
const SHARE: Setting = Setting {
    name: "min_refused_share",
    default: 0.5,
    unit: "",
    meaning: "share of the attempts inside a window that must have been refused: where most get through, the 429 \
              was not about the scope",
};
/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL501",
    name: "gate-ignored",
    severity: Severity::Error,
    scope: Scope::Fleet,
    summary: "A 429 had closed the limit for everyone, and other workers kept sending into it.",
    why: "A 429 with retry-after holds for the whole organisation and model: until it has passed, every other \
          attempt is refused as well, and each refusal may prolong the wait.",
    fix: "Share one gate per account and model: the first 429 closes it until its retry-after has passed, \
          everyone waits before it, and they leave it spread out, not all at once.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: limits hold per organisation and model class, and \
             retry-after says when to come back",
    needs: &[Field::Time, Field::RetryAfter],
    settings: &[SENDS, GRACE, SHARE],
    exceptions: &[&[
        "An attempt that left within the grace time was on its way.",
        "A retry that waited as its own hint asked, but for 2% and 50 ms, is not counted.",
        "Where most attempts inside the window get through, the 429 was not about the scope.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","run_id":"r","call_id":"a","model":"m","duration_ms":50,"status":429,"retry_after":5,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:01Z","run_id":"r","call_id":"b","model":"m","duration_ms":50,"status":429,"retry_after":4,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:02Z","run_id":"r","call_id":"c","model":"m","duration_ms":50,"status":429,"retry_after":3,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:05.2Z","run_id":"r","call_id":"a","model":"m","duration_ms":50,"status":200}"#,
        // Four workers, two of them in another run, and no durations.
        r#"{"ts":1773133200.0,"run_id":"r","call_id":"a","org":"o","attempt":1,"status":429,"retry_after":"30","error_type":"rate_limit_error"}
{"ts":1773133203.0,"run_id":"s","call_id":"b","org":"o","attempt":1,"status":429,"retry_after":"27","error_type":"rate_limit_error"}
{"ts":1773133209.5,"run_id":"s","call_id":"c","org":"o","attempt":1,"status":429,"retry_after":"21","error_type":"rate_limit_error"}
{"ts":1773133211.0,"run_id":"r","call_id":"d","org":"o","attempt":1,"status":429,"retry_after":"19","error_type":"rate_limit_error"}"#,
    ],
    near_misses: &[
        // Two workers, each of which retries when it was told to.
        r#"{"ts":"2026-03-10T09:00:00.00Z","call_id":"a","attempt":1,"duration_ms":80,"status":429,"retry_after":2,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:00.03Z","call_id":"b","attempt":1,"duration_ms":80,"status":429,"retry_after":9,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:02.20Z","call_id":"a","attempt":2,"duration_ms":80,"status":429,"retry_after":2,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:04.50Z","call_id":"a","attempt":3,"duration_ms":80,"status":429,"retry_after":4,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:09.30Z","call_id":"b","attempt":2,"duration_ms":80,"status":200}
{"ts":"2026-03-10T09:00:09.60Z","call_id":"a","attempt":4,"duration_ms":80,"status":200}"#,
        // All were in progress when the first 429 came, and each waited.
        r#"{"ts":"2026-03-10T09:00:00.00Z","call_id":"a","attempt":1,"duration_ms":80,"status":429,"retry_after":5,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:00.03Z","call_id":"b","attempt":1,"duration_ms":80,"status":429,"retry_after":5,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:00.06Z","call_id":"c","attempt":1,"duration_ms":80,"status":429,"retry_after":5,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:05.30Z","call_id":"a","attempt":2,"duration_ms":80,"status":200}
{"ts":"2026-03-10T09:00:05.60Z","call_id":"b","attempt":2,"duration_ms":80,"status":200}
{"ts":"2026-03-10T09:00:05.90Z","call_id":"c","attempt":2,"duration_ms":80,"status":200}"#,
        // Another model has a limit of its own.
        r#"{"ts":"2026-03-10T09:00:00Z","call_id":"a","model":"m","status":429,"retry_after":5,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:01Z","call_id":"b","model":"n","status":429,"retry_after":5,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:02Z","call_id":"c","model":"o","status":429,"retry_after":5,"error_type":"rate_limit_error"}"#,
        // Most calls succeed while the window should be closed, so it is closed for these requests only.
        r#"{"ts":"2026-03-10T09:00:00Z","call_id":"a","status":429,"retry_after":9,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:01Z","call_id":"b","status":200}
{"ts":"2026-03-10T09:00:02Z","call_id":"c","status":429,"retry_after":9,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:03Z","call_id":"d","status":200}
{"ts":"2026-03-10T09:00:04Z","call_id":"e","status":429,"retry_after":9,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:05Z","call_id":"f","status":200}"#,
        // One call that retries too early several times: that is RL301.
        r#"{"ts":"2026-03-10T09:00:00Z","call_id":"a","attempt":1,"status":429,"retry_after":30,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:01Z","call_id":"a","attempt":2,"status":429,"retry_after":29,"error_type":"rate_limit_error"}
{"ts":"2026-03-10T09:00:03Z","call_id":"a","attempt":3,"status":429,"retry_after":27,"error_type":"rate_limit_error"}"#,
        // An overload affects everyone, so no shared gate is required.
        r#"{"ts":"2026-03-10T09:00:00Z","call_id":"a","status":529,"retry_after":5,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:01Z","call_id":"b","status":529,"retry_after":5,"error_type":"overloaded_error"}
{"ts":"2026-03-10T09:00:02Z","call_id":"c","status":529,"retry_after":5,"error_type":"overloaded_error"}"#,
    ],
};

/// Returns the thresholds for an ignored gate.
pub(super) fn terms(settings: &Settings) -> GateTerms {
    GateTerms {
        grace_us: (settings.get(RULE.code, &GRACE) * 1e6) as i64,
        sends: settings.get(RULE.code, &SENDS).max(1.0) as u64,
        share: settings.get(RULE.code, &SHARE),
    }
}

fn check(fleet: &Fleet<'_>, _: &Settings) -> Vec<Hit> {
    let scopes = fleet.sorted_scopes().into_iter();
    scopes.filter_map(|(scope, tally)| Some(hit(fleet, scope, tally.short_window.ignored()?))).collect()
}

fn hit(fleet: &Fleet<'_>, scope: Limits, ignored: &IgnoredWindows) -> Hit {
    let refused = ignored.collisions();
    let closed = ignored.closed_us as f64 / 1e6;
    let were = if refused == 1 { "was" } else { "were" };
    let windows = units::counted(ignored.windows, "window");
    let mut hit = Hit::new(format!(
        "{} on {} {were} sent after a 429 had asked everyone to wait, and {were} refused too ({windows}, {} in all)",
        units::counted(refused, "attempt"),
        fleet.scope_label(&scope),
        super::shared::seconds(closed),
    ))
    .count("sends_refused_inside", refused)
    .count("hurried_retries_of_them", ignored.early)
    .count("calls_passed_inside", ignored.succeeded)
    .count("windows", ignored.windows)
    .number("closed_s", closed)
    .figure("first_closed_at", Evidence::At(ignored.first));
    hit.rows.push(ignored.opened_by);
    hit.class = fleet.table.rows[ignored.opened_by as usize].class;
    hit.rows.extend_from_slice(&ignored.examples);
    hit.wasted_more = ignored.not_asked;
    // Retries that ignored their own hint are also counted by the rules about calls.
    hit.shared_waste = ignored.early;
    hit.scope = Some(scope);
    if !scope.has_account() {
        // Workers with keys of different accounts would not share the window.
        hit.confidence = Confidence::Medium;
    }
    hit
}
