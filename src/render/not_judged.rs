//! What could not be judged or read, in sentences, for formats without a table for it.

use super::words;
use crate::model::Unreadable;
use crate::report::{Report, Undecided};
use crate::untrusted::safe;

/// Returns a sentence for each rule that could not judge some calls, and for each field with unreadable values. Text of
/// the log in it is safe on a terminal; other formats escape it further.
#[must_use]
pub fn sentences(report: &Report) -> Vec<String> {
    report.undecided.iter().map(undecided).chain(report.unreadable.iter().map(unreadable)).collect()
}

fn undecided(gap: &Undecided) -> String {
    let calls = words::counted(gap.calls, "call");
    format!("{} could not judge {calls}: no {} logged", gap.rule, gap.field)
}

fn unreadable(unreadable: &Unreadable) -> String {
    let (values, example) = (words::counted(unreadable.count, "value"), safe(&unreadable.example));
    let place = format!("{}:{}", safe(&unreadable.file), unreadable.line);
    format!("{values} of {} could not be read, so not used, such as \"{example}\" ({place})", unreadable.field)
}
