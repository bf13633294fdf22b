//! Without a request id, the provider cannot find the request.

use super::{Check, Hit, Rule, Scope, Setting, Settings};
use crate::measure::Fleet;
use crate::model::{Remedy, Severity, units};

const SHARE: Setting =
    Setting { name: "share", default: 0.01, unit: "", meaning: "share of the responses that may lack a request id" };
const RESPONSES: Setting = Setting {
    name: "responses",
    default: 20.0,
    unit: "",
    meaning: "responses from which on a finding is a warning; with fewer it is information",
};

/// Four calls that have an id.
macro_rules! with_id {
    ($minute:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            r#":00Z","call_id":"a"#,
            $minute,
            r#"","status":200,"request_id":"req_a"#,
            $minute,
            "\"}\n",
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            r#":10Z","call_id":"b"#,
            $minute,
            r#"","status":200,"request_id":"req_b"#,
            $minute,
            "\"}\n",
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            r#":20Z","call_id":"c"#,
            $minute,
            r#"","status":200,"request_id":"req_c"#,
            $minute,
            "\"}\n",
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            r#":30Z","call_id":"d"#,
            $minute,
            r#"","status":200,"request_id":"req_d"#,
            $minute,
            "\"}\n",
        )
    };
}

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL801",
    name: "no-request-id",
    severity: Severity::Warning,
    scope: Scope::Fleet,
    summary: "Responses were logged without their request id.",
    why: "The id is what a provider's support asks for first, and what tells a line delivered twice from a \
          request sent twice. It is in a header of every response, and lost if it is not logged at once.",
    fix: "Log the request-id header (x-request-id at some providers) of every response, failed or not.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Errors: every response has a request-id header, and error bodies repeat it",
    needs: &[],
    settings: &[SHARE, RESPONSES],
    exceptions: &[&[
        "Tool executions, gateway errors and attempts without a response are not counted.",
        "With few responses it is info.",
    ]],
    check: Check::Fleet(check),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","call_id":"a","status":200}
{"ts":"2026-03-10T09:00:10Z","call_id":"b","status":200,"request_id":"req_b"}"#,
        // One of 21 responses lacks its id.
        concat!(
            with_id!("00"),
            with_id!("01"),
            with_id!("02"),
            with_id!("03"),
            with_id!("04"),
            r#"{"ts":"2026-03-10T09:05:00Z","call_id":"x","status":529,"error_type":"overloaded_error"}"#
        ),
    ],
    near_misses: &[
        // All have one; that of the failure is in its body.
        concat!(
            with_id!("00"),
            r#"{"ts":"2026-03-10T09:05:00Z","call_id":"x","status":529,"body":{"type":"error","error":{"type":"overloaded_error"},"request_id":"req_x"}}"#
        ),
        // A failed connection has no response, and a gateway in between gives no request id.
        concat!(
            with_id!("00"),
            r#"{"ts":"2026-03-10T09:05:00Z","call_id":"x","kind":"connection_error"}
{"ts":"2026-03-10T09:05:10Z","call_id":"y","status":502}"#
        ),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let tally = &fleet.tally;
    let missing = tally.responses - tally.with_request_id;
    let share = missing as f64 / tally.responses.max(1) as f64;
    if missing == 0 || share <= settings.get(RULE.code, &SHARE) {
        return Vec::new();
    }
    let few = (tally.responses as f64) < settings.get(RULE.code, &RESPONSES);
    let mut hit = Hit::new(format!(
        "no request id on {missing} of {} ({})",
        units::counted(tally.responses, "response"),
        units::percent(share)
    ))
    .count("responses", tally.responses)
    .count("without_request_id", missing)
    .number("share", share);
    hit.severity = few.then_some(Severity::Info);
    hit.rows.extend(tally.first_without_id.map(|row_ref| row_ref.row));
    vec![hit]
}
