//! What ids led to, for people: what each names, its calls send by send, what the rules say, what else went on,
//! and what to tell the provider.

mod around;
mod call;
mod fold;
mod markdown;
mod named;
mod overview;
mod raw;
mod support;
mod timeline;
mod unresolved;
mod wait;

#[cfg(test)]
mod tests;

pub(in crate::render) use around::alone;
pub use markdown::markdown;
pub(in crate::render) use named::{ending, sentence};
pub(in crate::render) use support::fields as support_fields;
pub use unresolved::unresolved;
pub(in crate::render) use wait::{after as wait_after, before as wait_before, right as right_action};

use super::layout::Text;
use super::page::Page;
use super::{TextOptions, style, words};
use crate::model::Time;
use crate::report::Window;
use crate::trace::{Reading, Trace, TracedSend, Traces};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Writes `traces` for someone who has an id in hand.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn traces(traces: &Traces, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    for (nth, trace) in traces.traces.iter().enumerate() {
        if nth > 0 {
            Page::over(None, *options, out).rule()?;
        }
        one(trace, traces, options, out)?;
    }
    searched(&traces.searched, &mut Page::over(None, *options, out))
}

fn one(trace: &Trace, all: &Traces, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
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
    let shown = overview::worth_a_timeline(trace, page.options.verbose);
    let mut told = call::Told::default();
    for nth in shown {
        call::write(trace, nth, &mut told, page)?;
    }
    around::write(trace, page)?;
    support::write(trace, page)?;
    raw::write(trace, page)
}

/// From the first send to the end of the last.
fn window(trace: &Trace) -> Option<Window> {
    let sends = || trace.calls.iter().flat_map(|call| &call.sends);
    let first = sends().map(|send| send.sighting.ts).min()?;
    Some(Window { first, last: sends().map(ended).max()? })
}

/// When the answer or the failure was there; the time of the send where the log does not say.
fn ended(send: &TracedSend) -> Time {
    send.answered.unwrap_or(send.sighting.ts)
}

fn searched(reading: &Reading, page: &mut Page<'_>) -> io::Result<()> {
    page.heading("SEARCHED", &of_reading(reading))?;
    page.remark(
        "Rules about runs and the fleet saw only what was read here; for all of the log: retrylens analyze INPUT",
    )
}

/// "9 inputs (8 plain, 1 gzip), 120 kB; read: 171 attempts, 98 kB".
pub(in crate::render) fn of_reading(reading: &Reading) -> String {
    let inputs = words::counted(reading.inputs.len() as u64, "input");
    let packings: BTreeSet<&str> = reading.inputs.iter().map(|input| input.packing).collect();
    let count = |packing: &str| reading.inputs.iter().filter(|input| input.packing == packing).count();
    let kinds: Vec<String> = match packings.len() {
        1 => packings.iter().map(|packing| (*packing).to_owned()).collect(),
        _ => packings.iter().map(|packing| format!("{} {packing}", count(packing))).collect(),
    };
    let attempts = words::counted(reading.attempts, "attempt");
    let (all, parsed) = (bytes(reading.bytes), bytes(reading.bytes_parsed));
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    format!("{inputs}{kinds}, {all}; read: {attempts}, {parsed}")
}

fn bytes(n: u64) -> String {
    match n {
        0..10_000 => words::counted(n, "byte"),
        10_000..10_000_000 => format!("{} kB", words::number(n / 1000)),
        _ => format!("{} MB", words::number(n / 1_000_000)),
    }
}
