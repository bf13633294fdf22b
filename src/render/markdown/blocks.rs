//! Writes a document as Markdown for a comment.

use super::escape::{code, inline};
use super::page::Page;
use super::{MAX_CHARS, MAX_NAME_CHARS, MAX_SENTENCE_CHARS, NOTES_CHARS};
use crate::model::Severity;
use crate::model::units::capitalized;
use crate::render::document::{
    Block, Card, Cell, Column, ColumnKind, Content, Document, Fact, List, Place, RichText, Section, Sign, SpanKind,
    Step, Table, TextSpan, remedy, short_histogram,
};
use crate::render::words::counted;

/// Highest rank of a column that has room in a table.
const MAX_RANK: u8 = 3;
/// Maximum number of rows shown in full below a table.
const MAX_CARDS: usize = 40;
/// Maximum length of a histogram in a cell, in characters.
const MAX_HISTOGRAM_CHARS: usize = 24;

/// Renders the whole document.
pub(super) fn document(page: &Document<'_>) -> String {
    // The last section is short and says what was not judged, so room is reserved for it.
    let (last, others) = page.sections.split_last().map_or((None, &[][..]), |(last, others)| (Some(last), others));
    let mut end = Page::new(MAX_CHARS / 2);
    last.into_iter().for_each(|one| section(one, &mut end));
    let end = format!("{}\n_{}_\n", end.finish(), page.generator);
    let mut out = Page::new(MAX_CHARS - NOTES_CHARS - end.chars().count());
    out.block(&title(page));
    out.block(&inline(&page.about, MAX_SENTENCE_CHARS));
    out.block(&format!("**{}**", inline(&page.verdict, MAX_SENTENCE_CHARS)));
    if !page.failed_on.is_empty() {
        out.block(&text(&page.failed_on));
    }
    if !page.aside.is_empty() {
        out.block(&page.aside);
    }
    for notice in &page.notices {
        out.block(&format!("> [!NOTE]\n> Notice: {}", inline(notice, MAX_SENTENCE_CHARS)));
    }
    page.lead.iter().chain(others).for_each(|one| section(one, &mut out));
    format!("{}\n{end}", out.finish())
}

fn title(page: &Document<'_>) -> String {
    format!(
        "## {} retrylens: {}",
        mark(page.sign),
        inline(page.subject.as_deref().unwrap_or(page.kind), MAX_NAME_CHARS)
    )
}

fn mark(sign: Sign) -> &'static str {
    match sign {
        Sign::Error | Sign::Failed => "❌",
        Sign::Warning | Sign::Open => "⚠️",
        Sign::Ok | Sign::Retried => "✅",
        Sign::Info => "ℹ️",
    }
}

fn section(section: &Section<'_>, page: &mut Page) {
    let is_shown = |block: &Block<'_>| match block {
        Block::Heading(_) | Block::Note(_) | Block::Full(_) | Block::Charts(_) => false,
        Block::Table(table) => !table.rows.is_empty(),
        _ => true,
    };
    if !section.blocks.iter().any(is_shown) {
        return;
    }
    // A heading is written together with the block it belongs to, so that the size limit cannot separate them.
    let mut heading = format!("### {}", section.title);
    for one in section.blocks.iter() {
        match one {
            Block::Heading(title) if heading.is_empty() => heading = format!("#### {title}"),
            Block::Heading(title) => heading.push_str(&format!("\n\n#### {title}")),
            one if is_shown(one) => block(std::mem::take(&mut heading), one, page),
            _ => {}
        }
    }
}

fn block(heading: String, block: &Block<'_>, page: &mut Page) {
    let with_heading = |text: String| if heading.is_empty() { text } else { format!("{heading}\n\n{text}") };
    match block {
        Block::Prose(rich) => {
            page.block(&with_heading(text(rich)));
        }
        Block::List(one) => {
            page.block(&with_heading(list(one)));
        }
        Block::Facts(facts) => {
            page.block(&with_heading(facts.iter().filter_map(fact).collect::<Vec<_>>().join("\n")));
        }
        Block::Steps(steps) => {
            page.block(&with_heading(steps.iter().map(step).collect::<Vec<_>>().join("\n")));
        }
        Block::Table(one) => table(&heading, one, page),
        Block::Heading(_) | Block::Note(_) | Block::Charts(_) | Block::Full(_) | Block::Details(..) => {}
    }
}

/// Renders text with all Markdown of a log escaped.
fn text(rich: &RichText) -> String {
    match rich.names() {
        Some(names) => names.iter().map(|name| code(name, MAX_NAME_CHARS)).collect::<Vec<_>>().join(", "),
        None => rich.spans.iter().map(span).collect(),
    }
}

fn span(span: &TextSpan) -> String {
    match &span.kind {
        SpanKind::Name => code(&span.text, MAX_NAME_CHARS),
        SpanKind::Code => format!("`{}`", span.text.replace('`', "'")),
        // An arrow marks a measure that jumped.
        SpanKind::Sign(_) if span.text.starts_with(['▲', '▼']) => {
            format!("**{}**", inline(&span.text, MAX_NAME_CHARS))
        }
        SpanKind::Sign(sign @ (Sign::Error | Sign::Warning | Sign::Info)) => {
            format!("{} {}", mark(*sign), inline(&span.text, MAX_NAME_CHARS))
        }
        SpanKind::Count(severity) => format!("{} {}", span.text, mark((*severity).into())),
        _ => inline(&span.text, MAX_SENTENCE_CHARS),
    }
}

fn list(list: &List) -> String {
    let shown = list.items.len().min(list.limits.markdown);
    let mut items: Vec<String> = list.items[..shown].iter().map(|item| format!("- {}", text(item))).collect();
    match list.total.saturating_sub(shown as u64) {
        0 => {}
        more => items.push(format!("- and {} ({})", counted(more, &format!("more {}", list.unit)), list.rest)),
    }
    items.join("\n")
}

fn fact(fact: &Fact) -> Option<String> {
    (!fact.full && !fact.value.is_empty()).then(|| format!("- {}: {}", fact.label, text(&fact.value)))
}

fn step(step: &Step) -> String {
    let until = step.until.as_ref().map_or_else(String::new, |until| format!(" until {until}"));
    let meta: Vec<&str> = step.meta.iter().chain(&step.decided_by).map(String::as_str).collect();
    let meta = capitalized(&inline(&meta.join("; "), MAX_SENTENCE_CHARS));
    let gap = if meta.is_empty() { "" } else { "<br>" };
    let (word, text) = (capitalized(remedy(step.remedy)), inline(&step.text, MAX_SENTENCE_CHARS));
    format!("1. **{word}{until}** ({}): {text}{gap}{meta}", step.rule)
}

fn table(heading: &str, table: &Table<'_>, page: &mut Page) {
    let (rows, hidden) = table.split(table.limits.markdown, true);
    let columns: Vec<(usize, &Column)> = table
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.rank <= MAX_RANK && column.kind != ColumnKind::Bar)
        .collect();
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| columns.iter().map(|(at, _)| cell(&row.cells[*at])).collect()).collect();
    let columns: Vec<(&str, bool)> =
        columns.iter().map(|(_, column)| (column.name, column.kind == ColumnKind::Number)).collect();
    let rest = table.left_out(&hidden, " in the JSON report only").map_or_else(String::new, |more| more + ".");
    page.table(heading, &columns, &cells, &rest);
    let cards = rows.iter().filter_map(|row| row.card.as_ref());
    for card in cards.filter(|card| !card.compact && card.severity > Severity::Info).take(MAX_CARDS) {
        page.block(&card_details(card));
    }
}

fn cell(cell: &Cell<'_>) -> String {
    match &cell.content {
        Content::RichText(rich) => text(rich),
        Content::Histogram(histogram) => short_histogram(histogram, MAX_HISTOGRAM_CHARS),
        Content::Bar(..) => String::new(),
    }
}

/// Renders a card. Escapes do not work inside `<summary>`, so it must not contain text of a log.
fn card_details(card: &Card) -> String {
    let shown = card.fields.iter().filter(|field| field.place != Place::Page && !field.value.is_empty());
    let line = |label: &str, value: &RichText| match label {
        "" => format!("- {}\n", text(value)),
        label => format!("- {label}: {}\n", text(value)),
    };
    let lines: String = shown.map(|field| line(field.label, &field.value)).collect();
    let (severity, title) = (card.severity.name(), &card.title);
    format!("<details><summary>{severity} {title}</summary>\n\n{lines}\n</details>")
}
