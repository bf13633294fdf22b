//! Writes a document for a terminal.

use super::layout::Text;
use super::page::Page;
use super::rich::text;
use super::table::Table;
use super::{TextOptions, cards, headroom, style};
use crate::render::document::{self, Block, Content, Document, Fact, List, Section, Step, remedy};
use crate::render::words::counted;
use std::io::{self, Write};

/// Width of the name of a remedy, in columns.
const REMEDY_WIDTH: usize = 8;
/// Width of the name of a remedy and the code of its rule, in columns.
const STEP_WIDTH: usize = REMEDY_WIDTH + 7;
/// Indentation of the further lines of an item, in columns.
const ITEM_INDENT: usize = 2;
/// Maximum number of lines of an item in a list that may be long.
const ITEM_LINES: usize = 3;

/// Writes the whole page.
pub(super) fn document(page: &Document<'_>, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut out = Page::over(page.window, *options, out);
    if let Some(subject) = &page.subject {
        let about = if page.about.is_empty() { String::new() } else { format!(" · {}", page.about) };
        out.paragraph(&Text::styled(style::FAINT, subject).and(style::FAINT, about))?;
    }
    out.paragraph(&Text::styled(style::BOLD, &page.verdict))?;
    out.paragraph(&text(&page.failed_on))?;
    out.paragraph(&Text::styled(style::FAINT, &page.aside))?;
    for notice in &page.notices {
        out.paragraph(&Text::styled(style::YELLOW, "! ").then(notice))?;
    }
    page.lead.iter().chain(&page.sections).try_for_each(|one| section(one, &mut out))
}

pub(super) fn section(section: &Section<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let all = page.options.verbose;
    if (section.quiet && !all) || !section.blocks.iter().any(|block| is_shown(block, all)) {
        return Ok(());
    }
    page.heading(&section.title.to_uppercase(), &section.note)?;
    for (nth, one) in section.blocks.iter().enumerate() {
        let is_below_cards = |previous: &Block<'_>| matches!(previous, Block::Table(table) if has_cards(table));
        let needs_blank_line = matches!(one, Block::Heading(_))
            || nth > 0 && is_below_cards(&section.blocks[nth - 1])
            || matches!(one, Block::Facts(_) | Block::Table(_))
                && separates_next(&section.blocks[nth.saturating_sub(1)]);
        if nth > 0 && needs_blank_line {
            page.blank()?;
        }
        block(one, page)?;
    }
    Ok(())
}

fn has_cards(table: &document::Table<'_>) -> bool {
    table.rows.iter().any(|row| row.card.is_some())
}

/// Returns whether a block of facts or a table that follows needs a blank line before it.
fn separates_next(previous: &Block<'_>) -> bool {
    matches!(previous, Block::Facts(_) | Block::Table(_) | Block::Prose(_))
}

/// Returns whether a block has content for a terminal; a heading alone does not count.
fn is_shown(block: &Block<'_>, all: bool) -> bool {
    match block {
        Block::Heading(_) | Block::Note(_) => false,
        Block::Full(_) => all,
        Block::Charts(charts) => charts.charts.iter().any(|chart| chart.limits().is_some()),
        Block::Table(table) => table.rows.iter().any(|row| all || !row.minor),
        _ => true,
    }
}

fn block(block: &Block<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let all = page.options.verbose;
    match block {
        Block::Heading(title) => page.line(Text::styled(style::BOLD, title)),
        Block::Prose(rich) => page.hanging(Text::new(), 0, &text(rich)),
        Block::Note(note) if all => page.remark(note),
        Block::Note(_) => Ok(()),
        Block::List(one) => list(one, page),
        Block::Facts(all_facts) => facts(all_facts, page),
        Block::Steps(steps) => steps.iter().try_for_each(|one| step(one, page)),
        Block::Table(one) if has_cards(one) => cards::write(one, page),
        Block::Table(one) => table(one, page),
        Block::Charts(charts) => headroom::write(charts, page),
        Block::Full(_) if !all => Ok(()),
        Block::Full(blocks) | Block::Details(_, blocks) => blocks.iter().try_for_each(|one| self::block(one, page)),
    }
}

fn list(list: &List, page: &mut Page<'_>) -> io::Result<()> {
    let all = page.options.verbose || list.limits.text == usize::MAX;
    let (most, lines) = if all { (list.items.len(), usize::MAX) } else { (list.limits.text, ITEM_LINES) };
    list.items.iter().take(most).try_for_each(|item| page.item(&text(item), ITEM_INDENT, lines))?;
    match list.total.saturating_sub(list.items.len().min(most) as u64) {
        0 => Ok(()),
        more => page.remark(&format!("and {} ({})", counted(more, &format!("more {}", list.unit)), list.rest)),
    }
}

fn facts(facts: &[Fact], page: &mut Page<'_>) -> io::Result<()> {
    let all = page.options.verbose;
    let shown = || facts.iter().filter(|fact| !fact.value.is_empty() && (all || !fact.full));
    let hang = shown().map(|fact| fact.label.len() + 2).max().unwrap_or(0);
    shown().try_for_each(|fact| {
        let value = fact.value.names().map_or_else(|| text(&fact.value), |names| Text::plain(names.join(", ")));
        page.hanging(Text::styled(style::FAINT, fact.label.to_lowercase()), hang, &value)
    })
}

fn step(step: &Step, page: &mut Page<'_>) -> io::Result<()> {
    let word = remedy(step.remedy).to_uppercase();
    let label = Text::styled(style::remedy(step.remedy).bold(), format!("{word:REMEDY_WIDTH$}")).then(step.rule);
    let until = step
        .until
        .as_ref()
        .map_or_else(Text::new, |until| Text::styled(style::BOLD, format!("until {until}")).then(": "));
    page.hanging(label, STEP_WIDTH, &until.then(&step.text))?;
    let meta = step.meta.join("; ");
    // The deciding fields are shown only if they fit on the line.
    let with_decided = step.decided_by.iter().fold(meta.clone(), |meta, decided| format!("{meta}; {decided}"));
    let is_room = !meta.is_empty() && Text::plain(&with_decided).width() + STEP_WIDTH <= page.inner();
    page.hanging(Text::new(), STEP_WIDTH, &Text::styled(style::FAINT, if is_room { with_decided } else { meta }))
}

/// Writes a table and how many rows are left out.
fn table(table: &document::Table<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let all = page.options.verbose;
    let (shown, hidden) = table.split(if all { usize::MAX } else { table.limits.text }, all);
    if shown.is_empty() {
        return Ok(());
    }
    let fitted = Table::of(&table.columns, &shown);
    page.table(&fitted)?;
    if let Some(meanings) = fitted.meanings(page.inner()) {
        page.remark(&meanings)?;
    }
    if let Some(legend) = legend(&shown) {
        page.line(legend)?;
    }
    left_out(table, &hidden, page)
}

/// Returns the legend of the bars, limited to the parts that occur.
fn legend(rows: &[&document::Row<'_>]) -> Option<Text> {
    let bars = rows.iter().flat_map(|row| &row.cells).filter_map(|cell| match cell.content {
        Content::Bar(bar, _) => Some([bar.ok, bar.failed, bar.open]),
        _ => None,
    });
    let most = bars.reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1]), a[2].max(b[2])])?;
    let words = [("█ ok", style::GREEN), ("▒ failed", style::RED), ("░ open", style::YELLOW)];
    let shown = words.into_iter().zip(most).filter(|(_, n)| *n > 0);
    Some(shown.fold(Text::plain(" ".repeat(10)), |text, ((word, style), _)| text.and(style, word).then("  ")))
}

fn left_out(table: &document::Table<'_>, hidden: &[&document::Row<'_>], page: &mut Page<'_>) -> io::Result<()> {
    let hint = match (hidden.is_empty(), table.omitted) {
        (true, _) => "not kept in the report",
        (false, 0) => "--verbose shows all",
        (false, _) => "--verbose shows more",
    };
    match table.left_out(hidden, "") {
        Some(more) => page.remark(&format!("and {more}: {hint}")),
        None => Ok(()),
    }
}
