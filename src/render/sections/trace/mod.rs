//! Parts of a traced call shared by the formats: the calls found, their surroundings, and details for support.

mod around;
mod first_sentence;
mod peers;
mod support;
mod views;
mod wait;

pub(crate) use around::around;
pub(crate) use first_sentence::{cost, ending, sentence};
pub(crate) use peers::beside_peers;
pub(crate) use support::support;
pub(crate) use views::view_remarks;
pub(crate) use wait::{after_last, correct_action, wait_before};

use crate::render::words::{counted, number};
use crate::trace::SearchExtent;
use std::collections::BTreeSet;

/// Describes what was searched: "9 inputs (8 plain, 1 gzip), 120 kB; read: 171 attempts, 98 kB".
pub(crate) fn search_extent(extent: &SearchExtent) -> String {
    let inputs = counted(extent.inputs.len() as u64, "input");
    let packings: BTreeSet<&str> = extent.inputs.iter().map(|input| input.packing).collect();
    let count = |packing: &str| extent.inputs.iter().filter(|input| input.packing == packing).count();
    let kinds: Vec<String> = match packings.len() {
        1 => packings.iter().map(|packing| (*packing).to_owned()).collect(),
        _ => packings.iter().map(|packing| format!("{} {packing}", count(packing))).collect(),
    };
    let attempts = counted(extent.attempts, "attempt");
    let (all, parsed) = (bytes(extent.bytes), bytes(extent.bytes_parsed));
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    format!("{inputs}{kinds}, {all}; read: {attempts}, {parsed}")
}

/// Formats a size: "120 kB".
pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..10_000 => counted(n, "byte"),
        10_000..10_000_000 => format!("{} kB", number(n / 1000)),
        _ => format!("{} MB", number(n / 1_000_000)),
    }
}
