//! What the judgement does not rest on: rules without evidence, lines that could not be read.

use super::layout::{Fit, Text};
use super::page::Page;
use super::{style, words};
use crate::model::Reject;
use crate::report::{Coverage, Report, Undecided};
use std::io;

/// Rejected lines before `--verbose`.
const REJECTS: usize = 5;
/// Lines of a place and its reason.
const REASON_LINES: usize = 3;
/// Columns a further line is indented by.
const HANG: usize = 2;

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    not_judged(&report.coverage, &report.undecided, page)?;
    rejected(report, page)
}

fn not_judged(coverage: &[Coverage], undecided: &[Undecided], page: &mut Page<'_>) -> io::Result<()> {
    if coverage.is_empty() && undecided.is_empty() {
        return Ok(());
    }
    page.heading("NOT JUDGED", "where the log holds too little evidence")?;
    for gap in coverage {
        let share = words::share(gap.present);
        let lacks = if share.is_empty() { "nothing to read it from".to_owned() } else { format!("present on {share}") };
        let verb = if gap.rules.len() == 1 { "needs" } else { "need" };
        let text = Text::plain(gap.rules.join(", ")).then(format!(" {verb} ")).and(style::BOLD, gap.field);
        page.item(&text.then(format!(": {lacks}")), HANG, usize::MAX)?;
    }
    for gap in undecided {
        let calls = words::counted(gap.calls, "call");
        let text = Text::plain(format!("{} could not judge {calls}: no ", gap.rule)).and(style::BOLD, gap.field);
        page.item(&text.then(" logged"), HANG, usize::MAX)?;
    }
    Ok(())
}

fn rejected(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.rejects.is_empty() {
        return Ok(());
    }
    page.heading("REJECTED LINES", &format!("{} in all", words::number(report.ledger.rejected)))?;
    let most = if page.options.verbose { report.rejects.len() } else { REJECTS };
    for reject in report.rejects.iter().take(most) {
        page.item(&place(reject, page.inner()).then(&reject.reason), HANG, REASON_LINES)?;
    }
    match report.ledger.rejected.saturating_sub(report.rejects.len().min(most) as u64) {
        0 => Ok(()),
        more => page.remark(&format!("and {} more (--rejects FILE writes all of them)", words::number(more))),
    }
}

/// `file:line:column`, as editors open it, unless the name alone fills a line.
fn place(reject: &Reject, width: usize) -> Text {
    let place = match reject.column {
        0 => format!(":{}: ", reject.line),
        column => format!(":{}:{column}: ", reject.line),
    };
    let room = width.saturating_sub(place.len());
    Text::plain(&reject.file).cut(room, Fit::Id).then(place)
}
