//! The line below the verdict: the classes on which the unsuccessful calls failed, and when.

use super::View;
use crate::model::Outcome;
use crate::render::document::{RichText, SpanKind};
use crate::render::words::{counted, number};
use crate::report::LastFailed;

/// Maximum number of classes named for failed calls, and for open ones.
const MAX_CLASSES: usize = 3;

/// Returns, for example, "5 failed on overloaded (02:10:04 to 02:14:40), 2 on rate_limited (03:00:12); 1 open after
/// timeout (03:01:00)".
pub(super) fn line(view: &View<'_>) -> RichText {
    let rows = |outcome| view.report.last_failed.iter().filter(move |row| row.outcome == outcome);
    let failed = list(view, rows(Outcome::Failed), "failed on", "on");
    let open = list(view, rows(Outcome::Open), "open after", "after");
    let gap = if failed.is_empty() || open.is_empty() { "" } else { "; " };
    failed.then(gap).join(open)
}

/// Formats a list of classes; `first` is written between the first count and its class, `then` in the further ones.
fn list<'r>(view: &View<'_>, rows: impl Iterator<Item = &'r LastFailed>, first: &str, then: &str) -> RichText {
    let rows: Vec<&LastFailed> = rows.collect();
    // A single remaining class is named rather than counted.
    let shown = if rows.len() == MAX_CLASSES + 1 { rows.len() } else { rows.len().min(MAX_CLASSES) };
    let (named, rest) = rows.split_at(shown);
    let line = named.iter().enumerate().fold(RichText::default(), |line, (nth, row)| {
        let (gap, how) = if nth == 0 { ("", first) } else { (", ", then) };
        let line = line.then(format!("{gap}{} {how} ", number(row.calls))).and(SpanKind::Code, row.class);
        match row.first.zip(row.last) {
            Some((first, last)) => line.then(" (").join(view.clock.range(first, last)).then(")"),
            None => line,
        }
    });
    let calls = rest.iter().map(|row| row.calls).sum();
    let more = counted(rest.len() as u64, "other kind");
    if rest.is_empty() { line } else { line.then(format!(", {} {then} {more}", number(calls))) }
}
