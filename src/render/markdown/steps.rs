//! What to do, most costly first.

use super::SENTENCE;
use super::escape::inline;
use super::page::Page;
use crate::model::{Remedy, Zone};
use crate::render::words;
use crate::report::{Advice, Report};

pub(super) fn write(report: &Report, zone: Zone, page: &mut Page) {
    if report.advice.is_empty() {
        return;
    }
    let steps: Vec<String> = report.advice.iter().map(|advice| step(advice, zone)).collect();
    let more = match report.advice_omitted {
        0 => String::new(),
        more => format!("\n\nAnd {} more below.", words::number(more)),
    };
    page.block(&format!("### What to do\n\n{}{more}", steps.join("\n")));
}

fn step(advice: &Advice, zone: Zone) -> String {
    let word = match advice.remedy {
        Remedy::Wait => "Wait",
        Remedy::Shrink => "Shrink",
        Remedy::Stop => "Stop",
        Remedy::Fix => "Fix",
    };
    let until = advice.until.map(|until| format!(" until {}", zone.show(until, "%Y-%m-%d %H:%M %Z")));
    let cost = Some(words::cost(&advice.cost)).filter(|cost| !cost.is_empty());
    let cost = cost.map(|cost| format!(" Cost so far: {}.", inline(&cost, SENTENCE))).unwrap_or_default();
    let (until, text) = (until.unwrap_or_default(), inline(&advice.text, SENTENCE));
    if advice.remedy == Remedy::Wait && advice.until.is_some() {
        return format!("1. **{word}{until}** ({}): {text}", advice.rule);
    }
    let findings = words::counted(advice.findings, "finding");
    format!("1. **{word}{until}** ({}): {text}<br>Settles {findings}.{cost}", advice.rule)
}
