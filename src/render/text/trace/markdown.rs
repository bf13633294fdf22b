//! Traces in Markdown, to paste into an incident channel or a ticket: fixed headings, and all text of the log in
//! fences, where it cannot be interpreted. Chat programs do not support tables, but all support fences.

use super::write_trace;
use crate::render::sections::trace::{ending, search_extent};
use crate::render::{text::TextOptions, words};
use crate::trace::{Trace, Traces};
use std::io::{self, Write};

/// Width that fits a channel without wrapping, in columns.
const WIDTH: usize = 80;

/// Writes `traces` as Markdown.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn markdown(traces: &Traces, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let options = TextOptions { width: WIDTH, color: false, ..*options };
    for trace in &traces.traces {
        let mut page = Vec::new();
        write_trace(trace, traces, &options, &mut page)?;
        let page = String::from_utf8_lossy(&page);
        let fence = fence(&page);
        writeln!(out, "**retrylens trace: {}**\n\n{fence}text\n{}\n{fence}\n", heading(trace), page.trim_end())?;
    }
    writeln!(out, "Searched: {}.", search_extent(&traces.searched))
}

/// Returns a heading without text of the log, since an id may contain anything.
fn heading(trace: &Trace) -> String {
    match trace.calls.as_slice() {
        [call] => format!("the call {}", ending(call)),
        calls => words::counted(calls.len() as u64 + trace.calls_omitted, "call"),
    }
}

/// Returns a fence longer than any sequence of backticks in `text`, so that nothing in it ends the fence.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_fence() {
        assert_eq!(fence("plain"), "```");
        assert_eq!(fence("a ``` b ```` c"), "`````");
    }
}
