//! What to do, most costly first.

use super::layout::Text;
use super::page::Page;
use super::{style, words};
use crate::model::Remedy;
use crate::report::{Advice, Report};
use std::io;

/// The report gives no more; a page read at night should not either.
const SHOWN: usize = 5;
/// Columns of the remedy.
const REMEDY: usize = 8;
/// Columns of remedy and rule.
const HANG: usize = REMEDY + 7;

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.advice.is_empty() {
        return Ok(());
    }
    page.heading("WHAT TO DO", "")?;
    report.advice.iter().take(SHOWN).try_for_each(|advice| step(advice, page))?;
    match report.advice_omitted {
        0 => Ok(()),
        more => page.remark(&format!("and {} more below", words::number(more))),
    }
}

fn step(advice: &Advice, page: &mut Page<'_>) -> io::Result<()> {
    let (style, word) = style::remedy(advice.remedy);
    let label = Text::styled(style.bold(), format!("{word:REMEDY$}")).then(advice.rule);
    let mut text = Text::new();
    if let Some(until) = advice.until {
        // Someone will set an alarm by this: date and zone in full.
        let until = page.options.zone.show(until, "%Y-%m-%d %H:%M %Z");
        text = text.and(style::BOLD, format!("until {until}")).then(": ");
    }
    page.hanging(label, HANG, &text.then(&advice.text))?;
    if advice.remedy == Remedy::Wait && advice.until.is_some() {
        // The step that mends it stands below, with what it costs.
        return Ok(());
    }
    let findings = words::counted(advice.findings, "finding");
    let note = match words::cost(&advice.cost) {
        cost if cost.is_empty() => findings,
        cost => format!("cost: {cost}; {findings}"),
    };
    page.hanging(Text::new(), HANG, &Text::styled(style::FAINT, note))
}
