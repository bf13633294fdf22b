//! A tool that ran, or may have run, is run again.

use super::{Check, Field, Hit, Rule, Scope, Settings, repeats, shared};
use crate::calls::Call;
use crate::classify::Bucket;
use crate::model::{Confidence, Flags, Remedy, Severity};
use smallvec::SmallVec;

/// Catalogue entry of the rule.
pub(super) const RULE: Rule = Rule {
    code: "RL608",
    name: "tool-replayed",
    severity: Severity::Error,
    scope: Scope::Call,
    summary: "A tool was executed again although its first execution may have taken effect.",
    why: "A model call is safe to repeat, a tool call is not: what it writes, sends or charges happens once for \
          each execution, and a timeout does not say that it did not happen.",
    fix: "Never put a tool call into a retry loop for transport errors: give each action an idempotency key, look \
          up its outcome after a timeout, and hand the failure to the model as a tool result.",
    remedy: Remedy::Fix,
    source: "AWS Builders' Library, Making retries safe with idempotent APIs; Model Context Protocol, Tools, \
             annotations: idempotentHint says whether a repeated call has no further effect",
    needs: &[Field::Time, Field::CallId, Field::Tool, Field::Outcome],
    settings: &[],
    exceptions: &[&[
        "A key on both executions, no_side_effect, other arguments, and a decision other than to retry excuse it.",
        "An execution that was refused or never connected has done nothing.",
        "Where the log does not say that the tool changes anything, it is a warning.",
    ]],
    check: Check::Call(check),
    firing: &[
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"tool":"send_mail","side_effect":true,"kind":"timeout","duration_ms":30000}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"tool":"send_mail","side_effect":true,"outcome":"ok","duration_ms":900}"#,
        // No call id: the same tool with the same arguments, just after its deadline.
        r#"{"timestamp":"2026-05-20T10:00:00Z","session_id":"s","kind":"tool_call","tool":"create_ticket","args_sha":"sha256:1","deadline_ms":20000,"outcome":"timeout"}
{"timestamp":"2026-05-20T10:00:22Z","session_id":"s","kind":"tool_call","tool":"create_ticket","args_sha":"sha256:1","deadline_ms":20000,"outcome":"ok"}"#,
    ],
    near_misses: &[
        // The same key for both: the second execution has no effect.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"tool":"send_mail","side_effect":true,"kind":"timeout","idempotency_key":"k"}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"tool":"send_mail","side_effect":true,"outcome":"ok","idempotency_key":"k"}"#,
        // Refused before it ran.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"tool":"search","status":429,"retry_after":1}
{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"tool":"search","status":200}"#,
        // The tool only reads.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"tool":"search","side_effect":false,"kind":"timeout"}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"tool":"search","side_effect":false,"status":200}"#,
        // Different arguments.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"s","kind":"tool_call","tool":"create_ticket","args_sha":"1","outcome":"timeout"}
{"ts":"2026-05-20T10:00:22Z","run_id":"s","kind":"tool_call","tool":"create_ticket","args_sha":"2","outcome":"ok"}"#,
        // A model call after a timeout.
        r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"kind":"timeout","duration_ms":30000}
{"ts":"2026-05-20T10:00:31Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":900}"#,
    ],
};

fn check(call: &Call<'_>, _: &Settings) -> Option<Hit> {
    let replayed_positions: SmallVec<[usize; 4]> = call.retried().filter(|&p| is_replayed(call, p)).collect();
    let first = *replayed_positions.first()?;
    let detail = call.detail(first)?;
    let name = call.table().names.get(detail.tool).map_or_else(|| "a tool".to_owned(), |name| shared::cut(name, 60));
    let gap = call.at(first + 1).sent.us_since(call.at(first).sent) as f64 / 1e6;
    let failure = shared::class_words(call.at(first).class);
    let mut message = format!(
        "{name} was executed again {}, {} after the start of an execution that ended in {failure}",
        shared::times(replayed_positions.len()),
        shared::seconds(gap),
    );
    if let Some(us) = detail.timeout.as_us()
        && us as f64 / 1e6 <= gap
    {
        message.push_str(&format!(" (deadline {})", shared::seconds(us as f64 / 1e6)));
    }
    let side_effect = call.attempts().any(|attempt| attempt.flags.has(Flags::SIDE_EFFECT));
    let mut hit = Hit::new(message)
        .on_call(call)
        .about(call.at(first).class)
        .text("tool", name)
        .count("executions", replayed_positions.len() as u64 + 1)
        .number("gap_s", gap);
    // The log does not show that the tool has side effects.
    if !side_effect {
        hit.severity = Some(Severity::Warning);
        hit.confidence = Confidence::Medium;
    }
    Some(hit)
}

/// Returns whether the tool execution at `position` may have taken effect and was repeated without a common key.
pub(super) fn is_replayed(call: &Call<'_>, position: usize) -> bool {
    let (attempt, next) = (call.at(position), call.at(position + 1));
    if !(attempt.flags.has(Flags::TOOL) && next.flags.has(Flags::TOOL)) {
        return false;
    }
    let tool = |p| call.detail(p).map(|detail| detail.tool);
    // A server error may come before or after the work is done, which counts only if the tool has side effects.
    let failed_transiently = attempt.bucket() == Some(Bucket::Transient) && !repeats::was_never_sent(call, position);
    let may_have_taken_effect =
        repeats::may_have_taken_effect(call, position) || (failed_transiently && attempt.flags.has(Flags::SIDE_EFFECT));
    tool(position) == tool(position + 1)
        && may_have_taken_effect
        && !repeats::same_key(call, position, position + 1)
        && !attempt.flags.has(Flags::NO_SIDE_EFFECT)
        && !attempt.flags.has(Flags::DECIDED_OTHER)
        && shared::shows_retry(call, position)
        && !call.body_changed(position, position + 1)
}
