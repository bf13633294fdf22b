//! The sends of a call as a table, with what lies between them.

use crate::model::Zone;
use crate::render::{
    html::untrusted::{name, prose},
    sections::trace as sections,
    words,
};
use crate::trace::{Kind, Trace, TracedCall, TracedSend};
use maud::{Markup, html};

/// Sends in the table.
const MOST: usize = 200;

pub(super) fn table(trace: &Trace, call: &TracedCall, zone: Zone) -> Markup {
    html! {
        div.finding { div.scroll {
            table {
                thead { tr { @for head in ["", "sent", "#", "status", "class", "answer", "right was", "request id", "line"] { th { span { (head) } } } } }
                tbody {
                    @for nth in 0..call.sends.len().min(MOST) {
                        @if let Some((_, wait)) = sections::before(call, nth) { tr.gap { td colspan="9" { (wait) } } }
                        (row(&call.sends[nth], is_marked(trace, call, nth), zone))
                    }
                    @if let Some((_, after)) = sections::after(call) { tr.gap { td colspan="9" { (after) } } }
                }
            }
            @if call.sends.len() > MOST { p.note { "The first " (MOST) " sends; " code { "--format json" } " has all." } }
        } }
        @if let Some(message) = call.sends.iter().rev().find_map(|send| send.message.as_deref()) {
            p.prose { "“" (prose(message)) "”" }
        }
        @if trace.calls.len() == 1 && call.findings.is_empty() { p.note { "No finding about this call." } }
    }
}

/// Whether a send carries the id asked for, where not all do.
fn is_marked(trace: &Trace, call: &TracedCall, nth: usize) -> bool {
    let of_one = matches!(trace.matched, Kind::Request | Kind::Platform | Kind::Mention);
    of_one && call.sends[nth].named && call.sends.iter().any(|send| !send.named)
}

fn row(send: &TracedSend, is_marked: bool, zone: Zone) -> Markup {
    let sighting = &send.sighting;
    let right = send.action.filter(|_| sighting.class.is_some()).map_or("", sections::right);
    html! {
        tr.targeted[is_marked] {
            td { @if is_marked { "▶" span.unseen { "the id asked for" } } }
            td.nowrap { (zone.show(sighting.ts, "%Y-%m-%d %H:%M:%S%.3f")) }
            td { (sighting.attempt) @if let Some(count) = send.sdk_retry_count { span.faint { " sdk " (count) } } }
            td { (sighting.status.map_or_else(|| "none".to_owned(), |status| status.to_string())) }
            td { (sighting.class.unwrap_or("ok")) }
            td { (words::span(send.duration_ms.unwrap_or(0.0) / 1e3)) }
            td { (right) }
            td.id {
                (sighting.request_id.as_deref().map_or_else(|| "not logged".to_owned(), name))
                @if let Some(id) = &send.platform_id { br; (name(id)) }
            }
            td.id { (name(&sighting.file)) ":" (sighting.line) }
        }
    }
}
