//! One call id on several calls at once.

use super::{Check, Confidence, Field, Hit, Remedy, Rule, Scope, Settings, Severity};
use crate::calls::{Call, Grouping};

/// See the catalogue.
pub(super) const RULE: Rule = Rule {
    code: "RL809",
    name: "shared-call-id",
    severity: Severity::Info,
    scope: Scope::Call,
    summary: "A call has the id of another call that was under way at the same time, or that another client made.",
    why: "Attempts of such calls are told apart by their clients, hosts, accounts and times, as far as the log has \
          them. Where two fit alike, waits and numbers of attempts are a guess.",
    fix: "Give every call an id of its own: a random one, or the worker's name beside its counter; name the run in \
          `run_id`.",
    remedy: Remedy::Fix,
    source: "An id names one thing",
    needs: &[Field::CallIdentity],
    settings: &[],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-03-10T09:00:00Z","call_id":"c0","attempt":1,"request_id":"a","status":200,"duration_ms":3000}
{"ts":"2026-03-10T09:00:01Z","call_id":"c0","attempt":1,"request_id":"b","status":200,"duration_ms":3000}"#,
        // Never at the same time, but by different clients.
        r#"{"ts":"2026-03-10T09:00:00Z","call_id":"c0","attempt":1,"request_id":"a","status":529,"duration_ms":100,"client":{"name":"a"}}
{"ts":"2026-03-10T09:00:01Z","call_id":"c0","attempt":1,"request_id":"b","status":200,"duration_ms":300,"client":{"name":"b"}}"#,
    ],
    near_misses: &[
        // The next step of a turn.
        r#"{"ts":"2026-03-10T09:00:00Z","call_id":"t","attempt":1,"request_id":"a","status":200,"duration_ms":900}
{"ts":"2026-03-10T09:00:01Z","call_id":"t","attempt":1,"request_id":"b","status":200,"duration_ms":900}"#,
        // What a gateway does for a client is the same call.
        r#"{"ts":"2026-03-10T09:00:00.0Z","call_id":"c","layer":"client","attempt":1,"request_id":"a","status":200,"duration_ms":900}
{"ts":"2026-03-10T09:00:00.1Z","call_id":"c","layer":"gateway","attempt":1,"request_id":"b","status":200,"duration_ms":700}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    if !call.shares_id {
        return None;
    }
    let guessed = call.grouping == Grouping::Inferred;
    let how = if guessed { "an attempt may as well be one of that call" } else { "told apart by client and time" };
    let mut hit = Hit::new(format!("another call with the same id was made beside this one: {how}")).on_call(call);
    if guessed {
        hit.confidence = Confidence::Low;
    }
    Some(hit)
}
