//! One id and everything that happened to it: what it names, each call send by send, what the rules say.

mod call;
mod fold;
mod named;
mod overview;
mod timeline;
mod wait;

#[cfg(test)]
mod tests;

use super::layout::Text;
use super::page::Page;
use super::{TextOptions, style, words};
use crate::attempt::Time;
use crate::report::{Trace, TracedSend, Window};
use std::io::{self, Write};

/// Writes `trace` for someone who has one id in hand.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn trace(trace: &Trace, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::over(window(trace), *options, out);
    page.paragraph(&Text::styled(style::BOLD, named::sentence(trace)))?;
    if trace.calls.len() > 1 {
        overview::write(trace, &mut page)?;
    }
    let shown = overview::worth_a_timeline(trace, options.verbose);
    let mut told = call::Told::default();
    for nth in shown {
        call::write(trace, nth, &mut told, &mut page)?;
    }
    searched(trace, &mut page)
}

/// From the first send to the end of the last.
fn window(trace: &Trace) -> Option<Window> {
    let sends = || trace.calls.iter().flat_map(|call| &call.sends);
    let first = sends().map(|send| send.sighting.ts).min()?;
    Some(Window { first, last: sends().map(ended).max()? })
}

/// When the answer or the failure was there; the time of the send where the log does not say.
fn ended(send: &TracedSend) -> Time {
    send.sighting.ts.plus_us(send.duration_ms.map_or(0, |ms| (ms * 1e3) as i64))
}

fn searched(trace: &Trace, page: &mut Page<'_>) -> io::Result<()> {
    let inputs = words::counted(trace.files_searched, "input");
    let attempts = words::counted(trace.attempts_searched, "attempt");
    page.heading("SEARCHED", &format!("{inputs}, {attempts}, {}", bytes(trace.bytes_searched)))?;
    page.remark(
        "Only the rules about single calls were asked here; what concerns a run or the fleet: retrylens analyze INPUT",
    )
}

fn bytes(n: u64) -> String {
    match n {
        0..10_000 => words::counted(n, "byte"),
        10_000..10_000_000 => format!("{} kB", words::number(n / 1000)),
        _ => format!("{} MB", words::number(n / 1_000_000)),
    }
}
