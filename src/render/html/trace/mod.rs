//! The trace of ids as an HTML page: a timeline as a picture and as a table, findings, the surroundings, and details
//! for a support request.

mod attempts;
mod picture;

use super::page::{Page, Section};
use super::untrusted::{name, prose};
use super::{HtmlOptions, marks};
use crate::model::{Outcome, Severity};
use crate::render::charts::ChartError;
use crate::render::document::{self, Clock, Sign};
use crate::render::html::blocks::blocks;
use crate::render::sections::trace as parts;
use crate::render::words;
use crate::report::{Finding, Window};
use crate::trace::{Trace, TracedCall, Traces};
use maud::{Markup, html};
use std::io::{self, Write};

/// Maximum number of calls shown with their attempts.
const MAX_CALLS: usize = 20;

/// Writes `traces` as one self-contained page.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn trace(traces: &Traces, options: &HtmlOptions, out: &mut dyn Write) -> io::Result<()> {
    let shown = || traces.traces.iter().filter(|trace| trace.same_as.is_none());
    let calls = html! { @for trace in shown() { (calls(trace, options)) } };
    let clock = Clock::over(None, options.zone);
    let around: Vec<_> = shown().map(|trace| parts::around(trace, &clock)).collect();
    let support: Vec<_> = shown().filter_map(parts::support).collect();
    let mut sections = vec![Section::new("calls", "Timeline", "", calls)];
    sections.extend(combined_section(&around).map_err(io::Error::other)?);
    sections.extend(combined_section(&support).map_err(io::Error::other)?);
    if shown().any(has_raw) {
        let lines = html! { @for trace in shown() { (raw(trace)) } };
        sections.push(Section::new("raw", "Records", "as the log has them, keys masked", lines));
    }
    let page = Page {
        title: &format!("Trace of {}", traces.traces.first().map_or_else(String::new, |trace| name(&trace.id))),
        about: html! { (about(traces, options)) },
        lead: html! {
            @for trace in &traces.traces { h1 { (prose(&words::with_units_kept(&parts::sentence(trace)))) } }
            p.rest { "Searched: " (parts::search_extent(&traces.searched)) "." }
        },
        sections,
        generator: &traces.generator,
    };
    out.write_all(page.render().as_bytes())
}

/// Combines the same section of several traces, one below the other.
fn combined_section(all: &[document::Section<'_>]) -> Result<Option<Section>, ChartError> {
    let bodies = all.iter().map(|section| blocks(&section.blocks)).collect::<Result<Vec<_>, _>>()?;
    let body = html! { @for body in &bodies { (body) } };
    let note = match all {
        [section] => section.note.as_str(),
        _ => "",
    };
    Ok(all.first().map(|first| Section::new(first.id, first.title, note, body)))
}

/// Returns the further ids, and the time of the first and the last attempt.
fn about(traces: &Traces, options: &HtmlOptions) -> String {
    let sent = || {
        traces
            .traces
            .iter()
            .flat_map(|trace| &trace.calls)
            .flat_map(|call| &call.attempts)
            .map(|attempt| attempt.attempt_ref.ts)
    };
    let time = sent().min().zip(sent().max()).map(|(first, last)| words::window(Window { first, last }, options.zone));
    traces.traces.iter().skip(1).map(|trace| name(&trace.id)).chain(time).collect::<Vec<_>>().join(" · ")
}

fn calls(trace: &Trace, options: &HtmlOptions) -> Markup {
    let more = trace.calls.len().saturating_sub(MAX_CALLS) as u64 + trace.calls_omitted;
    html! {
        @for call in trace.calls.iter().take(MAX_CALLS) { (call_details(trace, call, options)) }
        @if more > 0 { p.note { (more) " more calls are not shown: trace one of them by its id." } }
    }
}

fn call_details(trace: &Trace, call: &TracedCall, options: &HtmlOptions) -> Markup {
    let retried = call.attempts.len() > 1;
    let clock = Clock::over(None, options.zone);
    let cost = parts::cost(std::slice::from_ref(call));
    let terms = [
        ("call", call.call_id.as_deref()),
        ("run", call.run_id.as_deref()),
        ("provider", call.provider.as_deref()),
        ("model", call.model.as_deref()),
        ("account", call.account.as_deref()),
        ("client", call.client.as_deref()),
        ("grouped", Some(call.grouping)),
        ("cost", Some(cost.as_str()).filter(|cost| !cost.is_empty())),
    ];
    html! {
        h3 { (marks::sign_only(Sign::of(call.outcome, retried && call.outcome == Outcome::Ok))) " " (prose(&parts::ending(call))) }
        dl.facts {
            @for (term, value) in terms {
                @if let Some(value) = value { div { dt { (term) } dd.id { (name(value)) } } }
            }
        }
        @if let Some(peers) = &call.peers { p.note { "Beside " (prose(&parts::beside_peers(call, peers, &clock))) "." } }
        (picture::draw(call, options.zone))
        (attempts::table(trace, call, options.zone))
        @for finding in &call.findings { (finding_details(finding)) }
    }
}

fn finding_details(finding: &Finding) -> Markup {
    html! {
        details.finding open[finding.severity == Severity::Error] {
            summary { (marks::word(finding.severity.into(), finding.rule)) " " (finding.name) ": " (prose(&finding.message)) }
            div.body { p.prose { (prose(&finding.fix)) } }
        }
    }
}

fn has_raw(trace: &Trace) -> bool {
    trace.calls.iter().flat_map(|call| &call.attempts).any(|attempt| attempt.raw.is_some())
}

fn raw(trace: &Trace) -> Markup {
    let attempts = trace.calls.iter().flat_map(|call| &call.attempts);
    html! {
        @for attempt in attempts {
            @if let Some(line) = &attempt.raw {
                p.note { (name(&attempt.attempt_ref.file)) ":" (attempt.attempt_ref.line) }
                p { code { (crate::untrusted::safe(line)) } }
            }
        }
    }
}
