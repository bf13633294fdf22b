//! Nothing in the log shows how much of the rate limits is left.

use super::{Check, Hit, Rule, Scope, Setting, Settings};
use crate::measure::Fleet;
use crate::model::{Remedy, Severity, units};

const ATTEMPTS: Setting = Setting {
    name: "attempts",
    default: 20.0,
    unit: "",
    meaning: "attempts from which on the lack of headers is worth a word",
};

/// Five calls.
macro_rules! five {
    ($minute:literal) => {
        concat!(
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            r#":00Z","call_id":"a"#,
            $minute,
            "\",\"status\":200}\n",
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            r#":10Z","call_id":"b"#,
            $minute,
            "\",\"status\":200}\n",
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            r#":20Z","call_id":"c"#,
            $minute,
            "\",\"status\":200}\n",
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            r#":30Z","call_id":"d"#,
            $minute,
            "\",\"status\":200}\n",
            r#"{"ts":"2026-03-10T09:"#,
            $minute,
            r#":40Z","call_id":"e"#,
            $minute,
            "\",\"status\":200}\n",
        )
    };
}

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL807",
    name: "no-headroom-headers",
    severity: Severity::Info,
    scope: Scope::Fleet,
    summary: "No attempt carries the headers that say how much of the rate limits is left.",
    why: "Without them a limit is noticed only once it is hit, and nobody can say which of several limits binds.",
    fix: "Log the remaining and limit headers of every response: anthropic-ratelimit-*, or x-ratelimit-*.",
    remedy: Remedy::Fix,
    source: "Anthropic API documentation, Rate limits: the headers come with every response",
    needs: &[],
    settings: &[ATTEMPTS],
    exceptions: &[&["Short logs are not judged."]],
    check: Check::Fleet(check),
    firing: &[
        concat!(five!("00"), five!("01"), five!("02"), five!("03")),
        concat!(
            five!("00"),
            five!("01"),
            five!("02"),
            five!("03"),
            r#"{"ts":"2026-03-10T09:05:00Z","call_id":"x","status":429,"headers":{"retry-after":"2"},"error_type":"rate_limit_error"}"#
        ),
    ],
    near_misses: &[
        // One response has them: the others may have come through a cache.
        concat!(
            five!("00"),
            five!("01"),
            five!("02"),
            five!("03"),
            r#"{"ts":"2026-03-10T09:05:00Z","call_id":"x","status":200,"headers":{"anthropic-ratelimit-requests-limit":"50","anthropic-ratelimit-requests-remaining":"49"}}"#
        ),
        // Too few attempts to expect any.
        concat!(five!("00"), five!("01"), five!("02")),
    ],
};

fn check(fleet: &Fleet<'_>, settings: &Settings) -> Vec<Hit> {
    let tally = &fleet.tally;
    if tally.with_headroom > 0 || (tally.sends as f64) < settings.get(RULE.code, &ATTEMPTS) {
        return Vec::new();
    }
    let mut hit = Hit::new(format!("none of {} carries a rate-limit header", units::counted(tally.sends, "attempt")))
        .count("attempts", tally.sends);
    hit.rows.extend(tally.first.map(|row_ref| row_ref.row));
    vec![hit]
}
