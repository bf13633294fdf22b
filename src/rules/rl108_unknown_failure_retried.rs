//! A failure of an unknown kind was retried like any other.

use super::{Check, Field, Hit, Rule, Scope, Settings, refused, shared};
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL108",
    name: "unknown-failure-retried",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A call was retried after a failure of no known kind.",
    why: "A loop that retries what it does not know retries everything, the failures that cost money or repeat \
          an action among them. Where a retry succeeded after all, this is for information only.",
    fix: "Retry only what is known to heal: rate limits, overloads, 5xx, timeouts, lost connections. Log what is \
          unknown in full, stop or escalate, and add it to the table once it is understood.",
    remedy: Remedy::Stop,
    source: "AWS Well-Architected Framework, REL05-BP03, Control and limit retry calls: retry only errors known \
             to be transient",
    needs: &[Field::CallIdentity],
    settings: &[],
    exceptions: &[
        &refused::EXCEPTIONS,
        &[
            "Attempts under another provider, account, key or model are not the same request again.",
            "A failure of which the log keeps neither status, type, code, message nor exception is not held against its \
         retry.",
            "A changed body or another model is another request.",
        ],
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":418}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":418}"#,
        r#"{"time":1779271200,"run":"r","call":"c","attempt":1,"status":451,"error":{"message":"not here"}}
{"time":1779271203,"run":"r","call":"c","attempt":2,"status":451,"error":{"message":"not here"}}
{"time":1779271206,"run":"r","call":"c","attempt":3,"status":451,"error":{"message":"not here"}}"#,
    ],
    near_misses: &[
        // The log shows only that it failed, so the retry cannot be criticised.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"outcome":"error"}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"outcome":"ok"}"#,
        // The server asked for a retry.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":418,"headers":{"x-should-retry":"true"}}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
        // A server error is a known class.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":507}
{"ts":"2026-05-20T10:00:01Z","run_id":"r","call_id":"c","attempt":2,"status":200}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let unknown = |p: usize| call.at(p).class == Some(Class::Unknown) && !shared::has_no_error_fields(call, p);
    let repeats = |p, q| shared::same_scope(call, p, q) && !call.body_changed(p, q);
    let retried = refused::retried(call, unknown, repeats)?;
    let message = format!("retried {} after a failure of no known kind", retried.times());
    Some(retried.hit(&message, "").may_have_helped())
}
