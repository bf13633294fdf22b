//! Traces for a terminal: what each id names, its calls attempt by attempt, their findings, the surroundings, and
//! details for a support request.

mod call;
mod markdown;
mod overview;
mod raw;
mod shown_attempts;
mod timeline;
mod unresolved;

#[cfg(test)]
mod tests;

pub use markdown::markdown;
pub use unresolved::unresolved;

use super::layout::Text;
use super::page::Page;
use super::{TextOptions, blocks, style};
use crate::model::Time;
use crate::render::sections::trace::{self as sections, search_extent, sentence};
use crate::report::Window;
use crate::trace::{SearchExtent, Trace, TracedAttempt, Traces};
use std::io::{self, Write};

/// Writes `traces` for a terminal.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn traces(traces: &Traces, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    for (nth, trace) in traces.traces.iter().enumerate() {
        if nth > 0 {
            Page::over(None, *options, out).separator()?;
        }
        write_trace(trace, traces, options, out)?;
    }
    write_search_extent(&traces.searched, &mut Page::over(None, *options, out))
}

fn write_trace(trace: &Trace, all: &Traces, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::over(window(trace), *options, out);
    page.paragraph(&Text::styled(style::BOLD, sentence(trace)))?;
    match trace.same_as {
        Some(before) => page.remark(&format!("the same as what {} led to, above", all.traces[before].id)),
        None => body(trace, &mut page),
    }
}

fn body(trace: &Trace, page: &mut Page<'_>) -> io::Result<()> {
    if trace.calls.len() > 1 {
        overview::write(trace, page)?;
    }
    let shown = overview::calls_with_timeline(trace, page.options.verbose);
    let mut fixes = call::FixesShown::default();
    for nth in shown {
        call::write(trace, nth, &mut fixes, page)?;
    }
    blocks::section(&sections::around(trace, &page.clock), page)?;
    if let Some(support) = sections::support(trace) {
        blocks::section(&support, page)?;
    }
    raw::write(trace, page)
}

/// Returns the time from the first attempt to the end of the last.
fn window(trace: &Trace) -> Option<Window> {
    let attempts = || trace.calls.iter().flat_map(|call| &call.attempts);
    let first = attempts().map(|attempt| attempt.attempt_ref.ts).min()?;
    Some(Window { first, last: attempts().map(ended).max()? })
}

/// Returns the time of the answer or failure; the time of the attempt if the log does not give it.
fn ended(attempt: &TracedAttempt) -> Time {
    attempt.answered.unwrap_or(attempt.attempt_ref.ts)
}

fn write_search_extent(reading: &SearchExtent, page: &mut Page<'_>) -> io::Result<()> {
    page.heading("SEARCHED", &search_extent(reading))?;
    page.remark(
        "Rules about runs and the fleet saw only what was read here; for all of the log: retrylens analyze INPUT",
    )
}
