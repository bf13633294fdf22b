//! The page in Markdown, to paste into an incident's channel or a ticket: headings of our own words, and what the
//! log says in fences, where nothing has a meaning. Chat programs know no tables; a fence they all know.

use super::one;
use crate::render::sections::trace::{ending, of_reading};
use crate::render::{text::TextOptions, words};
use crate::trace::{Trace, Traces};
use std::io::{self, Write};

/// Columns that fit a channel without wrapping.
const WIDTH: usize = 80;

/// Writes `traces` as Markdown.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn markdown(traces: &Traces, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let options = TextOptions { width: WIDTH, color: false, ..*options };
    for trace in &traces.traces {
        let mut page = Vec::new();
        one(trace, traces, &options, &mut page)?;
        let page = String::from_utf8_lossy(&page);
        let fence = fence(&page);
        writeln!(out, "**retrylens trace: {}**\n\n{fence}text\n{}\n{fence}\n", heading(trace), page.trim_end())?;
    }
    writeln!(out, "Searched: {}.", of_reading(&traces.searched))
}

/// In our own words alone: an id may hold anything.
fn heading(trace: &Trace) -> String {
    match trace.calls.as_slice() {
        [call] => format!("the call {}", ending(call)),
        calls => words::counted(calls.len() as u64 + trace.calls_omitted, "call"),
    }
}

/// Longer than any row of backticks in `text`, so that nothing in it ends the fence.
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
