//! Writes a document as an HTML page.

use super::page::{Page, Section};
use super::rich::{inline, is_shown, list, sentence};
use super::untrusted::{name, prose};
use super::{marks, table};
use crate::render::charts::{Chart, ChartError, ChartKind};
use crate::render::document::{self, Block, Charts, Document, Fact, Figure, List, Step};
use crate::render::words::{counted, nonbreaking};
use maud::{Markup, PreEscaped, html};

/// Maximum length of a value that fits beside its label, in characters.
const MAX_PAIR_CHARS: usize = 30;

/// Renders the whole page.
pub(super) fn document(page: &Document<'_>) -> Result<String, ChartError> {
    let title = match &page.subject {
        Some(subject) => format!("{}: {}", page.kind, name(subject)),
        None => page.kind.to_owned(),
    };
    let section = |section: &document::Section<'_>| {
        Ok(Section::new(section.id, section.title, section.note.as_str(), blocks(&section.blocks)?))
    };
    let sections = page.sections.iter().map(section).collect::<Result<Vec<_>, ChartError>>()?;
    let about = html! { (name(&nonbreaking(&page.about))) };
    Ok(Page { title: &title, about, lead: lead(page)?, sections, generator: page.generator }.render())
}

/// Renders the first screen: the verdict, its figures, and the leading sections.
fn lead(page: &Document<'_>) -> Result<Markup, ChartError> {
    let (first, rest) = page.verdict.split_once(". ").unwrap_or((page.verdict.trim_end_matches('.'), ""));
    let parts = page.lead.iter().map(lead_part).collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        h1 { (marks::sign_only(page.sign)) (sentence(first)) "." }
        @if !rest.is_empty() { p.rest { (sentence(rest)) } }
        @if is_shown(&page.failed_on) { p.rest { (inline(&page.failed_on)) } }
        @if !page.aside.is_empty() { p.note { (page.aside) } }
        @if !page.notices.is_empty() {
            ul.notices { @for notice in &page.notices { li { (marks::sign_only(document::Sign::Warning)) (prose(notice)) } } }
        }
        @if !page.figures.is_empty() { dl.figures { @for one in &page.figures { (figure(one)) } } }
        @if parts.len() > 1 { div.first { @for part in &parts { div { (part) } } } } @else { @for part in &parts { (part) } }
    })
}

fn lead_part(section: &document::Section<'_>) -> Result<Markup, ChartError> {
    Ok(html! { h2 id=(section.id) { (section.title) } (blocks(&section.blocks)?) })
}

fn figure(figure: &Figure) -> Markup {
    html! { div { dt { (figure.name) } dd { (figure.value) } @if !figure.note.is_empty() { dd { (figure.note) } } } }
}

/// Renders blocks, one below the other.
pub(super) fn blocks(all: &[Block<'_>]) -> Result<Markup, ChartError> {
    let all = all.iter().map(block).collect::<Result<Vec<_>, _>>()?;
    Ok(html! { @for one in &all { (one) } })
}

fn block(block: &Block<'_>) -> Result<Markup, ChartError> {
    Ok(match block {
        Block::Heading(title) => html! { h3 { (title) } },
        Block::Prose(rich) => html! { p.prose { (inline(rich)) } },
        Block::Note(note) => html! { p.note { (note) } },
        Block::List(one) => items(one),
        Block::Facts(all) => facts(all),
        Block::Steps(steps) => html! { ol.steps { @for one in steps { (step(one)) } } },
        Block::Table(one) => table::render(one, &blocks)?,
        Block::Charts(all) => charts(all)?,
        Block::Full(all) => blocks(all)?,
        Block::Details(summary, all) => html! {
            details.finding { summary { (inline(summary)) } div.body { (blocks(all)?) } }
        },
    })
}

fn items(list: &List) -> Markup {
    let shown = list.items.len().min(list.limits.html);
    let more = list.total.saturating_sub(shown as u64);
    html! {
        ul.items { @for item in list.items.iter().take(shown) { li { (inline(item)) } } }
        @if more > 0 { p.note { "And " (counted(more, &format!("more {}", list.unit))) "; " (list.rest) "." } }
    }
}

/// Renders labelled values; a ratio is drawn as a bar below its value.
fn facts(facts: &[Fact]) -> Markup {
    let shown = || facts.iter().filter(|fact| is_shown(&fact.value));
    if facts.iter().any(|fact| fact.ratio.is_some()) {
        return html! { dl.quality { @for fact in shown() { (measured(fact)) } } };
    }
    html! { dl.terms.small { @for fact in shown() { dt { (fact.label) } dd { (list(&fact.value)) } } } }
}

fn measured(fact: &Fact) -> Markup {
    let is_short = fact.value.spans.iter().map(|span| span.text.chars().count()).sum::<usize>() <= MAX_PAIR_CHARS;
    html! {
        div {
            div.pair[is_short] { dt { (fact.label) } dd { (inline(&fact.value)) } }
            @if let Some(ratio) = fact.ratio {
                svg.meter viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
                    rect.of width="100" height="4" {}
                    rect.part width=(format!("{:.1}", ratio * 100.0)) height="4" {}
                }
            }
        }
    }
}

fn step(step: &Step) -> Markup {
    html! {
        li {
            (marks::remedy(step.remedy))
            div {
                p.what {
                    @if let Some(until) = &step.until { span.until { "Until " (until) ". " } }
                    (prose(&step.text))
                }
                p.meta { a.rule href={ "#" (step.rule) } { (step.rule) } @for part in step.meta.iter().chain(&step.decided_by) { " · " (prose(part)) } }
            }
        }
    }
}

/// Renders charts side by side if there is room; charts of headroom get a line of their own.
fn charts(charts: &Charts<'_>) -> Result<Markup, ChartError> {
    let shown = charts.charts.len().min(charts.limits.html);
    let left_out = (charts.charts.len() - shown) as u64;
    let figures = charts.charts[..shown].iter().map(chart).collect::<Result<Vec<_>, _>>()?;
    let is_wide = charts.charts.iter().any(|chart| chart.kind == ChartKind::Headroom);
    Ok(html! {
        @if is_wide { @for one in &figures { (one) } } @else { div.charts { @for one in &figures { (one) } } }
        @if left_out > 0 {
            p.note { (counted(left_out, &format!("further {}", charts.unit))) "; " code { "--charts DIR" } " draws all." }
        }
    })
}

/// Renders a chart, coloured for the theme by `assets/page.css`, with its alternative text.
fn chart(chart: &Chart<'_>) -> Result<Markup, ChartError> {
    let svg = chart.svg()?;
    Ok(html! { figure.chart { div.sheet { (PreEscaped(svg)) } } })
}

#[cfg(test)]
mod tests {
    use crate::render::charts::palette;

    #[test]
    fn every_colour_of_a_chart_has_a_theme() {
        let style = include_str!("assets/page.css");
        for (red, green, blue) in palette() {
            for attribute in ["fill", "stroke"] {
                let rule = format!(".chart [{attribute}=\"#{red:02X}{green:02X}{blue:02X}\"]");
                assert!(style.contains(&rule), "no rule {rule}");
            }
        }
    }
}
