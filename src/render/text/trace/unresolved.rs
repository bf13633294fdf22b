//! An id that was not found or is ambiguous: what was searched, and which ids may have been meant.

use crate::render::sections::trace::{bytes, search_extent};
use crate::trace::{Kind, SearchExtent, Unresolved};
use crate::untrusted::safe;

/// Maximum number of candidates named.
const MAX_CANDIDATES: usize = 10;

/// Describes why an id did not lead to a call, and what to do.
#[must_use]
pub fn unresolved(unresolved_id: &Unresolved, reading: &SearchExtent) -> String {
    let id = safe(&unresolved_id.id);
    if unresolved_id.is_no_attempt {
        return format!("`{id}` is in the log, but only on lines that are no attempts or cannot be read");
    }
    if !unresolved_id.left_out_by.is_empty() {
        let leaves = if unresolved_id.left_out_by.len() == 1 { "leaves" } else { "leave" };
        return format!("`{id}` is in the log, but {} {leaves} its call out", unresolved_id.left_out_by.join(" and "));
    }
    if !unresolved_id.candidates.is_empty() {
        return ambiguous(unresolved_id);
    }
    let searched = search_extent(reading);
    let searched = searched.split("; read").next().unwrap_or(&searched);
    if unresolved_id.near.is_empty() {
        return format!(
            "`{id}` is nowhere in {searched}, nor anything like it{}; ids are matched with their case, whole or from \
             their beginning",
            compared_part(reading)
        );
    }
    let near: Vec<String> =
        unresolved_id.near.iter().map(|near| format!("  {} {}", kind(near.kind), safe(&near.id))).collect();
    format!("`{id}` is nowhere in {searched}; near to it:\n{}", near.join("\n"))
}

/// Describes where similar ids were searched, unless that is the whole log.
fn compared_part(reading: &SearchExtent) -> String {
    if reading.bytes_compared < reading.bytes && reading.bytes_compared > 0 {
        format!(" in the latest {}", bytes(reading.bytes_compared))
    } else {
        String::new()
    }
}

fn ambiguous(unresolved_id: &Unresolved) -> String {
    let (id, count) = (safe(&unresolved_id.id), unresolved_id.candidates.len());
    let named = unresolved_id.candidates.iter().take(MAX_CANDIDATES).map(|candidate| {
        let lines = if candidate.lines == 1 { "1 line".to_owned() } else { format!("{} lines", candidate.lines) };
        format!("  {} {} ({lines})", kind(candidate.kind), safe(&candidate.id))
    });
    let mut named: Vec<String> = named.collect();
    let more = if unresolved_id.more { "more than " } else { "" };
    if count > MAX_CANDIDATES {
        named.push(format!("  and {more}{} others", count - MAX_CANDIDATES));
    }
    format!("`{id}` begins {more}{count} ids of different calls; give more of the one you mean:\n{}", named.join("\n"))
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Request => "request",
        Kind::Platform => "platform's id",
        Kind::Call => "call",
        Kind::Run => "run",
        Kind::Trace => "trace",
        Kind::Mention => "text",
    }
}
