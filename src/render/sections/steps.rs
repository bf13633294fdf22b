//! Steps to take, most costly first.

use super::View;
use crate::model::Remedy;
use crate::render::document::{Block, RichText, Section, SpanKind, Step, Target};
use crate::render::words::{self, counted, number};
use crate::report::{Advice, Finding};
use std::collections::BTreeSet;

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let report = view.report;
    if report.advice.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Steps(report.advice.iter().map(|advice| step(view, advice)).collect())];
    if report.advice_omitted > 0 {
        let more = format!("{} more below", number(report.advice_omitted));
        blocks.push(Block::Prose(
            RichText::from("And ").and(SpanKind::Link(Target::Section("problems")), more).then("."),
        ));
    }
    Some(Section::new("steps", "What to do", "", blocks))
}

fn step(view: &View<'_>, advice: &Advice) -> Step {
    let show = |time| view.clock.zone.show(time, "%Y-%m-%d %H:%M %Z");
    let until = advice.until.map(show);
    let ended = advice.ended.map(|time| match view.report.window {
        Some(_) => format!("over since {}, before the log ends", show(time)),
        None => format!("due to end at {}; the log has no date to tell whether it has", show(time)),
    });
    // A step that only waits settles no finding. The step with the fix follows and states findings and cost.
    let is_wait = advice.remedy == Remedy::Wait && until.is_some();
    let cost = Some(words::cost(&advice.cost)).filter(|cost| !cost.is_empty()).map(|cost| format!("cost: {cost}"));
    let meta = cost.into_iter().chain([counted(advice.findings, "finding")]).chain(ended);
    let meta = if is_wait { Vec::new() } else { meta.collect() };
    let decided_by = decided_by(view, advice);
    Step { remedy: advice.remedy, rule: advice.rule, until, text: advice.text.clone(), meta, decided_by }
}

/// Returns the log fields behind a step: the classes and statuses of its failures.
fn decided_by(view: &View<'_>, advice: &Advice) -> Option<String> {
    let findings: Vec<&Finding> = view.report.findings.iter().filter(|one| one.rule == advice.rule).collect();
    let classes: BTreeSet<&str> = findings.iter().filter_map(|one| one.class).collect();
    let failures = findings.iter().flat_map(|one| &one.attempts).filter(|one| one.class.is_some());
    let statuses: BTreeSet<String> = failures.filter_map(|one| one.status).map(|status| status.to_string()).collect();
    if classes.is_empty() {
        return None;
    }
    let classes = classes.into_iter().take(3).collect::<Vec<_>>().join(", ");
    let statuses = statuses.into_iter().take(3).collect::<Vec<_>>().join(", ");
    let statuses = if statuses.is_empty() { statuses } else { format!(", status {statuses}") };
    Some(format!("class {classes}{statuses}"))
}
