//! How the first records of an input are read: each field with the keys it comes from, and the ignored keys.

use super::layout::Text;
use super::page::Page;
use super::{TextOptions, style};
use crate::config::fields_table;
use crate::ingest::{Explained, ExplainedField, ExplainedRecord};
use crate::model::units::counted;
use crate::untrusted::cut;
use std::io::{self, Write};

/// Width of the names of fields, in columns.
const NAME_WIDTH: usize = 22;
/// Maximum length of a value, in characters.
const MAX_VALUE_CHARS: usize = 60;
/// Maximum number of ignored keys shown of a record.
const MAX_IGNORED: usize = 24;
/// Maximum number of lines for the ignored keys.
const MAX_IGNORED_LINES: usize = 8;
/// Maximum number of lines for one field.
const MAX_FIELD_LINES: usize = 3;

/// Writes how an input is read.
///
/// # Errors
/// Returns an error if writing to `out` fails.
pub fn explain_input(explained: &Explained, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::over(None, *options, out);
    let page = &mut page;
    let envelope = explained.envelope.as_ref().map_or(String::new(), |envelope| format!("{envelope}; "));
    let how = format!(": {}; {envelope}{}: {}", explained.packing, explained.format, explained.detected_by);
    page.paragraph(&Text::styled(style::BOLD, &explained.path).then(how))?;
    let (lines, attempts) = (counted(explained.lines, "line"), counted(explained.attempts, "attempt"));
    page.paragraph(&Text::plain(format!("{lines} at its front looked at: {attempts}")))?;
    explained.notes.iter().try_for_each(|note| page.paragraph(&Text::styled(style::YELLOW, note)))?;
    explained.records.iter().try_for_each(|one| record(one, page))?;
    suggestions(explained, page)
}

fn record(record: &ExplainedRecord, page: &mut Page<'_>) -> io::Result<()> {
    let what = if record.is_attempt { "an attempt" } else { "no attempt" };
    page.heading(&format!("LINE {}", record.line), what)?;
    if let Some(reason) = &record.reason {
        page.hanging(Text::new(), 0, &Text::styled(style::YELLOW, reason))?;
    }
    record.fields.iter().try_for_each(|one| field(one, page))?;
    if !record.recognized_by.is_empty() {
        let label = Text::styled(style::FAINT, "recognized by");
        page.hanging_at_most(label, NAME_WIDTH, &Text::plain(record.recognized_by.join(", ")), MAX_FIELD_LINES)?;
    }
    if record.ignored.is_empty() {
        return Ok(());
    }
    let shown =
        record.ignored.iter().take(MAX_IGNORED).map(|(key, value)| format!("{key} = {}", cut(value, MAX_VALUE_CHARS)));
    let mut shown: Vec<String> = shown.collect();
    if record.ignored.len() > MAX_IGNORED {
        shown.push(format!("and {} more", record.ignored.len() - MAX_IGNORED));
    }
    let label = Text::styled(style::FAINT, "ignored");
    page.hanging_at_most(label, NAME_WIDTH, &Text::styled(style::FAINT, shown.join("; ")), MAX_IGNORED_LINES)
}

fn field(field: &ExplainedField, page: &mut Page<'_>) -> io::Result<()> {
    let mut text = Text::plain(cut(&field.value, MAX_VALUE_CHARS));
    if !(field.keys.is_empty() || field.keys.iter().all(|key| *key == field.field)) {
        text = text.and(style::FAINT, format!("  from {}", field.keys.join(", ")));
    }
    page.hanging_at_most(Text::plain(&field.field), NAME_WIDTH, &text, MAX_FIELD_LINES)
}

fn suggestions(explained: &Explained, page: &mut Page<'_>) -> io::Result<()> {
    if explained.suggestions.is_empty() {
        return Ok(());
    }
    page.heading("KEYS THAT LOOK LIKE FIELDS", "for retrylens.toml")?;
    let pairs = explained.suggestions.iter().map(|one| (one.key.as_str(), one.field, one.unit));
    fields_table(pairs).lines().try_for_each(|line| page.whole(line))?;
    let (lines, attempts) = (explained.lines, explained.attempts_with_suggestions);
    page.paragraph(&Text::plain(format!(
        "With these, {} are read from {}.",
        counted(attempts, "attempt"),
        counted(lines, "line")
    )))
}
