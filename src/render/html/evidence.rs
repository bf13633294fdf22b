//! Single findings, and the attempts they rest on as a timeline.

use super::marks;
use super::untrusted::{name, prose};
use super::view::View;
use crate::judge::KEPT_PER_PROBLEM;
use crate::model::{Evidence, units::seconds};
use crate::render::words::{self, number};
use crate::report::{Finding, Problem, Report, Sighting};
use maud::{Markup, html};
use std::collections::HashMap;

/// Findings a page holds, over all problems.
const MOST: usize = 250;
/// Findings shown of one problem, where there is room.
const OF_ONE: usize = 20;
/// Numbers shown of a list.
const NUMBERS: usize = 16;

type Key<'a> = (&'a str, Option<&'a str>, Option<&'a str>, Option<&'a str>);

/// The findings of each problem that a page has room for.
pub(super) struct Evidences<'a> {
    by_problem: HashMap<Key<'a>, Vec<&'a Finding>>,
    each: usize,
}

impl<'a> Evidences<'a> {
    pub(super) fn of(report: &'a Report, problems: &[&Problem]) -> Evidences<'a> {
        let each = (MOST / problems.len().max(1)).clamp(1, OF_ONE);
        let mut by_problem: HashMap<Key<'a>, Vec<&'a Finding>> = HashMap::new();
        for finding in &report.findings {
            let key = (finding.rule, finding.provider.as_deref(), finding.model.as_deref(), finding.class);
            by_problem.entry(key).or_default().push(finding);
        }
        Evidences { by_problem, each }
    }

    fn get(&self, problem: &'a Problem) -> &[&'a Finding] {
        let key = (problem.rule, problem.provider.as_deref(), problem.model.as_deref(), problem.class);
        self.by_problem.get(&key).map_or(&[], |list| &list[..list.len().min(self.each)])
    }
}

pub(super) fn of_problem<'a>(view: &View<'_>, problem: &'a Problem, evidences: &Evidences<'a>) -> Markup {
    let shown = evidences.get(problem);
    let more = problem.count.saturating_sub(shown.len() as u64);
    html! {
        div.evidence {
            h3 { "Evidence" }
            @for finding in shown { (one(view, finding, problem.count == 1)) }
            @if more > 0 {
                p.note {
                    "The " (number(shown.len() as u64)) " costliest of " (number(problem.count)) " findings; "
                    code { "--output json=FILE" } " keeps up to " (KEPT_PER_PROBLEM) " of each problem."
                }
            }
        }
    }
}

/// `only`: there is nothing to choose from, and what it says stands above as the example.
fn one(view: &View<'_>, finding: &Finding, only: bool) -> Markup {
    let body = html! {
        p.where { (whereabouts(finding)) }
        @if !finding.attempts.is_empty() { (timeline(view, &finding.attempts)) }
        (figures(view, &finding.evidence))
    };
    html! {
        @if only {
            div.finding { div.body.single { (body) } }
        } @else {
            details.finding { summary { (prose(&finding.message)) } div.body { (body) } }
        }
    }
}

fn whereabouts(finding: &Finding) -> Markup {
    let run = finding.run_id.as_deref().map(name);
    let call = finding.call_id.as_deref().map(name);
    let cost = words::cost(&finding.cost);
    html! {
        @if let Some(run) = run { "run " a href={ "#run=" (percent_encoded(&run)) } { code { (run) } } " · " }
        @if let Some(call) = call { "call " code { (call) } " · " }
        @if let Some(grouping) = finding.grouping { (grouped(grouping)) " · " }
        (finding.confidence.name()) " confidence"
        @if !cost.is_empty() { " · " (cost) }
    }
}

/// How the attempts of the call were brought together.
fn grouped(grouping: &str) -> &str {
    match grouping {
        "explicit" => "a call the log names",
        "counter" => "a call told by its attempt numbers",
        "body" => "a call told by its request body",
        "inferred" => "a call inferred from its shape",
        other => other,
    }
}

/// As the fragment of a link; everything but letters, digits and `-._~` of RFC 3986.
pub(super) fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

fn timeline(view: &View<'_>, attempts: &[Sighting]) -> Markup {
    html! {
        table {
            caption.unseen { "attempts" }
            thead {
                tr {
                    th.number scope="col" { span { "Attempt" } }
                    th scope="col" { span { "Sent" } }
                    th.number scope="col" { span { "After the last" } }
                    th.number scope="col" { span { "Status" } }
                    th scope="col" { span { "Class" } }
                    th scope="col" { span { "Request id" } }
                    th scope="col" { span { "Line" } }
                }
            }
            tbody {
                @for (nth, attempt) in attempts.iter().enumerate() {
                    (send(view, attempt, nth.checked_sub(1).map(|last| &attempts[last])))
                }
            }
        }
    }
}

fn send(view: &View<'_>, attempt: &Sighting, before: Option<&Sighting>) -> Markup {
    let between = before.map_or(0, |before| attempt.attempt.saturating_sub(before.attempt).saturating_sub(1));
    let after = before.map(|before| attempt.ts.s_since(before.ts));
    html! {
        @if between > 0 { tr.gap { td colspan="7" { (number(u64::from(between))) " more between" } } }
        tr {
            td.number { (attempt.attempt) }
            td.nowrap { (view.exact(attempt.ts)) }
            td.number { @if let Some(after) = after { @if after < 0.0 { "−" (seconds(-after)) } @else { (seconds(after)) } } }
            td.number { @if let Some(status) = attempt.status { (status) } }
            td { @match attempt.class { Some(class) => code { (class) }, None => { (marks::alone("ok")) "ok" } } }
            td { @if let Some(id) = &attempt.request_id { code { (name(id)) } } }
            td { code { (name(&attempt.file)) ":" (attempt.line) } }
        }
    }
}

/// The figures a finding compared.
fn figures(view: &View<'_>, evidence: &[(&'static str, Evidence)]) -> Markup {
    if evidence.is_empty() {
        return html! {};
    }
    html! {
        dl.facts {
            @for (key, value) in evidence { div { dt { (spoken(key)) } dd { (figure(view, key, value)) } } }
        }
    }
}

/// `waited_s` is "waited".
fn spoken(key: &str) -> String {
    key.strip_suffix("_s").unwrap_or(key).replace('_', " ")
}

fn figure(view: &View<'_>, key: &str, value: &Evidence) -> String {
    let number_of = |x: f64| {
        if key.ends_with("_s") && x >= 0.0 { seconds(x) } else { crate::model::rounded(x).to_string() }
    };
    match value {
        Evidence::Count(n) => number(*n),
        Evidence::Number(x) => number_of(*x),
        Evidence::Text(text) => name(text),
        Evidence::Word(word) => name(word),
        Evidence::At(time) => view.full(*time),
        Evidence::Numbers(list) => {
            let mut shown: Vec<String> = list.iter().take(NUMBERS).map(|x| number_of(*x)).collect();
            if list.len() > NUMBERS {
                shown.push(format!("and {} more", list.len() - NUMBERS));
            }
            shown.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_hold_what_a_browser_reads_back() {
        assert_eq!(percent_encoded("run-1_a.b~"), "run-1_a.b~");
        assert_eq!(percent_encoded("a b/\"ä"), "a%20b%2F%22%C3%A4");
    }

    #[test]
    fn keys_are_spoken() {
        assert_eq!(spoken("waited_s"), "waited");
        assert_eq!(spoken("sends_after"), "sends after");
    }
}
