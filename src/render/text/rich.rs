//! Text with meanings in terminal styles.

use super::layout::Text;
use super::style;
use crate::render::document::{Rich, Tone};

/// Converts `rich` to styled text.
pub(super) fn text(rich: &Rich) -> Text {
    rich.spans.iter().fold(Text::new(), |text, span| match &span.tone {
        Tone::Count(severity) => {
            text.and(style::severity(*severity), format!("{}{}", span.text, style::mark(*severity)))
        }
        tone => text.and(style::tone(tone), &span.text),
    })
}
