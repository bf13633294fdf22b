//! A call was retried although nobody was waiting for its answer any more.

use super::{Check, Field, Hit, Rule, Scope, Settings, repeats, shared};
use crate::calls::{Call, Wait};
use crate::classify::Class;
use crate::model::{Confidence, Remedy, Severity};

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL111",
    name: "cancelled-retried",
    severity: Severity::Warning,
    scope: Scope::Call,
    summary: "A call was retried after its caller had cancelled it.",
    why: "The answer has no reader, yet it takes a slot and is billed; a layer that takes its own cancellation for \
          a lost connection also keeps a program from stopping.",
    fix: "Let a cancellation pass through the retry loop untouched, and check for it before every wait and every \
          send.",
    remedy: Remedy::Fix,
    source: "Python documentation, asyncio, task cancellation: CancelledError should be propagated; gRPC \
             documentation, Retry: a call the client cancelled is not retried",
    needs: &[Field::CallIdentity, Field::Repeats],
    settings: &[],
    exceptions: &[
        &[
            "The retry must be shown by number, counter, body or key, and be sent after the cancelled attempt ended.",
            "A changed body is another request.",
            "Not where a gateway logged 499: a client that closes its connection and comes again had a timeout of its own.",
            "The confidence is medium: some clients call a deadline of their own a cancellation.",
        ],
        &shared::CLOCK,
    ],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"cancelled","duration_ms":2000}
{"ts":"2026-05-20T10:00:02.5Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":2000}"#,
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","turn_id":"t","try":1,"exception":"asyncio.CancelledError","elapsed_s":1.5}
{"timestamp":"2026-05-20T10:00:02Z","session_id":"s","turn_id":"t","try":2,"exception":"asyncio.CancelledError","elapsed_s":1.5}"#,
    ],
    near_misses: &[
        // The call ended there.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"cancelled","duration_ms":2000}"#,
        // The slower of two hedged attempts was cancelled when the other had been answered.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"cancelled","duration_ms":6000}
{"ts":"2026-05-20T10:00:03Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":2900}"#,
        // A gateway's record of a client whose timeout had expired.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":499,"duration_ms":2000}
{"ts":"2026-05-20T10:00:02.5Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":2000}"#,
        // The turn started again with another question.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"cancelled","duration_ms":2000}
{"ts":"2026-05-20T10:00:20Z","run_id":"r","call_id":"c","attempt":1,"status":200,"duration_ms":2900}"#,
    ],
};

/// Status that gateways log when the client closed the connection.
const CLIENT_CLOSED_REQUEST: u16 = 499;

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let position = call.retried().find(|&p| {
        call.at(p).class == Some(Class::Cancelled)
            && call.at(p).status != CLIENT_CLOSED_REQUEST
            && !call.disordered
            && repeats::is_logged_repeat(call, p, p + 1)
            && repeats::is_sequential(call, p, p + 1)
            && !call.body_changed(p, p + 1)
    })?;
    let again = call.len() - position - 1;
    let wait = call.wait_before(position + 1).unwrap_or(Wait::NONE);
    let mut hit = Hit::new(format!(
        "retried {} after the caller had cancelled, the first time after {}",
        shared::times(again),
        wait.words(),
    ))
    .on_call(call)
    .about(call.at(position).class)
    .count("sends_after", again as u64)
    .number("wait_s", wait.s());
    // Some clients call a deadline of their own a cancellation.
    hit.confidence = Confidence::Medium;
    Some(hit)
}
