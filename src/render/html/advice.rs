//! What to do, most costly first.

use super::marks;
use super::untrusted::prose;
use super::view::View;
use crate::model::Remedy;
use crate::render::words::{self, counted, number};
use crate::report::{Advice, Finding};
use maud::{Markup, html};
use std::collections::BTreeSet;

pub(super) fn steps(view: &View<'_>) -> Markup {
    html! {
        h2 { "What to do" }
        @if view.report.advice.is_empty() {
            p.faint { "Nothing: no problem above info was found in how calls were retried." }
        } @else {
            ol.steps { @for advice in &view.report.advice { (step(view, advice)) } }
            @if view.report.advice_omitted > 0 {
                p.faint { "And " a href="#problems" { (number(view.report.advice_omitted)) " more below" } "." }
            }
        }
    }
}

fn step(view: &View<'_>, advice: &Advice) -> Markup {
    let cost = words::cost(&advice.cost);
    // The step that mends it stands below, with its findings and costs.
    let is_wait = advice.remedy == Remedy::Wait && advice.until.is_some();
    html! {
        li {
            (marks::remedy(advice.remedy))
            div {
                p.what {
                    @if let Some(until) = advice.until {
                        span.until { "Until " time datetime=(until) { (view.options.zone.show(until, "%Y-%m-%d %H:%M %Z")) } ". " }
                    }
                    (prose(&advice.text))
                }
                p.meta {
                    a.rule href={ "#" (advice.rule) } { (advice.rule) }
                    @if !is_wait { " · " (counted(advice.findings, "finding")) }
                    @if !cost.is_empty() { " · " (cost) }
                    @if let Some(decided) = decided_by(view, advice) { " · decided by " (decided) }
                }
            }
        }
    }
}

/// The fields of the log that the verdict rests on: the class its failures have, and their status.
fn decided_by(view: &View<'_>, advice: &Advice) -> Option<Markup> {
    let findings: Vec<&Finding> = view.report.findings.iter().filter(|one| one.rule == advice.rule).collect();
    let classes: BTreeSet<&str> = findings.iter().filter_map(|one| one.class).collect();
    let failures = || findings.iter().flat_map(|one| &one.attempts).filter(|one| one.class.is_some());
    let statuses: BTreeSet<String> = failures().filter_map(|one| one.status).map(|status| status.to_string()).collect();
    if classes.is_empty() {
        return None;
    }
    let list = |set: &mut dyn Iterator<Item = &str>| set.take(3).collect::<Vec<_>>().join(", ");
    let classes = list(&mut classes.into_iter());
    let statuses = list(&mut statuses.iter().map(String::as_str));
    Some(html! { "class " code { (classes) } @if !statuses.is_empty() { ", status " code { (statuses) } } })
}
