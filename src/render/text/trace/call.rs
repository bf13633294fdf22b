//! A traced call: its ids, its timeline, its findings.

use super::super::bars;
use super::super::layout::{Fit, Text};
use super::super::page::Page;
use super::super::{style, words};
use super::ended;
use super::timeline::{self, WIDE, one_file};
use crate::model::{Confidence, units::seconds};
use crate::render::sections::trace as sections;
use crate::report::Finding;
use crate::trace::{Trace, TracedCall};
use std::collections::HashSet;
use std::io;

/// Width of the labels in the heading of a call, in columns.
const LABEL_WIDTH: usize = 9;
/// Width of the labels in a finding, in columns.
const FINDING_LABEL_WIDTH: usize = 8;
/// Maximum number of attempts whose proportions are visible in a single bar.
const MAX_BAR_ATTEMPTS: usize = 14;

/// Fixes already shown on the page, by rule.
#[derive(Debug, Default)]
pub(super) struct FixesShown(HashSet<(&'static str, String)>);

/// Writes call `nth` of a trace.
pub(super) fn write(trace: &Trace, nth: usize, fixes: &mut FixesShown, page: &mut Page<'_>) -> io::Result<()> {
    let call = &trace.calls[nth];
    let count = trace.calls.len();
    let title = if count == 1 { "CALL".to_owned() } else { format!("CALL {} of {count}", nth + 1) };
    page.heading(&title, &sections::ending(call))?;
    head(call, page)?;
    page.blank()?;
    timeline::write(trace, call, page)?;
    page.blank()?;
    if call.suppressed > 0 {
        page.remark(&format!("{} suppressed", words::counted(call.suppressed, "finding")))?;
    }
    if call.findings.is_empty() {
        return if call.suppressed > 0 { Ok(()) } else { page.remark("no finding about this call") };
    }
    call.findings.iter().try_for_each(|one| finding(one, fixes, page))
}

fn head(call: &TracedCall, page: &mut Page<'_>) -> io::Result<()> {
    let model = [call.provider.as_deref(), call.model.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
    for (label, text) in [
        ("call", call.call_id.as_deref().unwrap_or("(the log gives no id)")),
        ("run", call.run_id.as_deref().unwrap_or("(the log gives no id)")),
        ("model", if model.is_empty() { "(not logged)" } else { &model }),
        ("grouped", &grouped(call)),
    ] {
        item(label, &Text::plain(text), page)?;
    }
    if let Some(file) = one_file(call) {
        item("file", &Text::plain(file), page)?;
    }
    item("time", &Text::plain(time(call, page)), page)?;
    item("cost", &Text::plain(sections::cost(std::slice::from_ref(call))), page)?;
    if let Some(peers) = &call.peers {
        let text = sections::beside_peers(call, peers, &page.clock);
        item("peers", &Text::plain(text), page)?;
    }
    let is_few = (2..=MAX_BAR_ATTEMPTS).contains(&call.attempts.len());
    if is_few && page.width < WIDE { proportion_bar(call, page) } else { Ok(()) }
}

fn item(label: &str, text: &Text, page: &mut Page<'_>) -> io::Result<()> {
    page.hanging(Text::styled(style::FAINT, label), LABEL_WIDTH, text)
}

/// Describes how the attempts were grouped.
fn grouped(call: &TracedCall) -> String {
    let how = match call.grouping {
        "explicit" => "by the call id that the log gives",
        "counter" => "by counters: attempt numbers that continue one another",
        "body" => "by the request body: a failure, and the same body again",
        "inferred" => "by guess: a failure, and a like request within a plausible wait",
        other => other,
    };
    match call.namesakes {
        0 => how.to_owned(),
        1 => format!("{how}; 1 other call carries the same id, too far off for a retry of this one"),
        n => format!("{how}; {} other calls carry the same id, too far off for retries", words::number(n)),
    }
}

/// Formats the start of the call, with the zone of all times below, and its duration.
fn time(call: &TracedCall, page: &Page<'_>) -> String {
    let first = call.attempts.iter().map(|attempt| attempt.attempt_ref.ts).min();
    let last = call.attempts.iter().map(ended).max();
    let (Some(first), Some(last)) = (first, last) else { return String::new() };
    let start = page.options.zone.show(first, "%Y-%m-%d %H:%M:%S %Z");
    if first == last { start } else { format!("{start}, {} in all", seconds(last.s_since(first))) }
}

/// Draws attempts and waits as one bar, in proportion.
fn proportion_bar(call: &TracedCall, page: &mut Page<'_>) -> io::Result<()> {
    let us = |s: f64| (s.max(0.0) * 1e6) as u64;
    let mut parts = Vec::new();
    for attempt in &call.attempts {
        parts.push((us(attempt.waited_s.unwrap_or(0.0)), '░', style::FAINT));
        let color = if attempt.attempt_ref.class.is_some() { style::RED } else { style::GREEN };
        parts.push((us(attempt.duration_ms.unwrap_or(0.0) / 1e3).max(1), '█', color));
    }
    let total: u64 = parts.iter().map(|(size, ..)| size).sum();
    let legend = "█ attempt ░ wait";
    let room = page.inner().saturating_sub(LABEL_WIDTH + Text::plain(legend).width() + 2);
    let bar = bars::bar(&parts, total, room);
    item("", &Text::new().join(bar).then("  ").and(style::FAINT, legend), page)
}

fn finding(finding: &Finding, fixes: &mut FixesShown, page: &mut Page<'_>) -> io::Result<()> {
    let color = style::severity(finding.severity);
    let head = Text::styled(color.bold(), format!("{} {}", style::mark(finding.severity), finding.severity.name()))
        .then(" ")
        .and(style::BOLD, format!("{} {}", finding.rule, finding.name))
        .and(style::FAINT, confidence_remark(finding.confidence));
    page.line(head.cut(page.inner(), Fit::Words))?;
    page.hanging(Text::new(), 2, &Text::plain(&finding.message))?;
    labelled("cost", &words::cost(&finding.cost), page)?;
    let fix = if fixes.0.insert((finding.rule, finding.fix.clone())) { &finding.fix } else { "as above" };
    labelled("fix", fix, page)
}

/// Returns the confidence if it is not high.
fn confidence_remark(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "",
        Confidence::Medium => "  confidence: medium",
        Confidence::Low => "  confidence: low",
    }
}

fn labelled(label: &str, text: &str, page: &mut Page<'_>) -> io::Result<()> {
    page.hanging(Text::plain("  ").and(style::FAINT, label), FINDING_LABEL_WIDTH, &Text::plain(text))
}
