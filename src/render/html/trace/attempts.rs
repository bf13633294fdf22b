//! The attempts of a call as a table, with the waits between them.

use crate::model::Zone;
use crate::render::{
    html::untrusted::{name, prose},
    sections::trace as sections,
    words,
};
use crate::trace::{Kind, Trace, TracedAttempt, TracedCall};
use maud::{Markup, html};

/// Maximum number of attempts in the table.
const MAX_ATTEMPTS: usize = 200;
/// Column heads; the first column marks attempts with the requested id.
const COLUMNS: [&str; 9] = ["", "sent", "#", "status", "class", "answer", "right was", "request id", "line"];

pub(super) fn table(trace: &Trace, call: &TracedCall, zone: Zone) -> Markup {
    html! {
        div.finding { div.scroll {
            table.stacked {
                thead { tr { @for head in COLUMNS { th { span { (head) } } } } }
                tbody {
                    @for nth in 0..call.attempts.len().min(MAX_ATTEMPTS) {
                        @if let Some((_, wait)) = sections::wait_before(call, nth) { tr.gap { td colspan=(COLUMNS.len()) { (wait) } } }
                        (row(&call.attempts[nth], is_marked(trace, call, nth), zone))
                    }
                    @if let Some((_, after)) = sections::after_last(call) { tr.gap { td colspan=(COLUMNS.len()) { (after) } } }
                }
            }
            @if call.attempts.len() > MAX_ATTEMPTS { p.note { "The first " (MAX_ATTEMPTS) " attempts; " code { "--format json" } " has all." } }
        } }
        @if let Some(message) = call.attempts.iter().rev().find_map(|attempt| attempt.message.as_deref()) {
            p.prose { "“" (prose(message)) "”" }
        }
        @if trace.calls.len() == 1 && call.findings.is_empty() { p.note { "No finding about this call." } }
    }
}

/// Returns whether an attempt carries the requested id while others of its call do not.
fn is_marked(trace: &Trace, call: &TracedCall, nth: usize) -> bool {
    let of_one = matches!(trace.matched, Kind::Request | Kind::Platform | Kind::Mention);
    of_one && call.attempts[nth].named && call.attempts.iter().any(|attempt| !attempt.named)
}

fn row(attempt: &TracedAttempt, is_marked: bool, zone: Zone) -> Markup {
    let attempt_ref = &attempt.attempt_ref;
    let [_, _, number, status, class, answer, right_was, ..] = COLUMNS;
    let right = attempt.action.filter(|_| attempt_ref.class.is_some()).map_or("", sections::correct_action);
    html! {
        tr.targeted[is_marked] {
            td { @if is_marked { "▶" span.unseen { "the id asked for" } } }
            td.nowrap { (zone.show(attempt_ref.ts, "%Y-%m-%d %H:%M:%S%.3f")) }
            td data-name=(number) { (attempt_ref.attempt) @if let Some(count) = attempt.sdk_retry_count { span.faint { " sdk " (count) } } }
            td data-name=(status) { (attempt_ref.status.map_or_else(|| "none".to_owned(), |status| status.to_string())) }
            td.nowrap data-name=(class) { (attempt_ref.class.unwrap_or("ok")) }
            td data-name=(answer) { (words::compact_duration(attempt.duration_ms.unwrap_or(0.0) / 1e3)) }
            td data-name=(right_was) { (right) }
            td.id {
                (attempt_ref.request_id.as_deref().map_or_else(|| "not logged".to_owned(), name))
                @if let Some(id) = &attempt.platform_id { br; (name(id)) }
            }
            td.id {
                (name(&attempt_ref.file)) ":" (attempt_ref.line)
                @for line in sections::view_remarks(attempt) { br; span.faint { (prose(&line)) } }
            }
        }
    }
}
