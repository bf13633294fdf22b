//! Text with meanings in terminal styles.

use super::layout::Text;
use super::style;
use crate::render::document::{RichText, SpanKind};

/// Converts `rich` to styled text.
pub(super) fn text(rich: &RichText) -> Text {
    rich.spans.iter().fold(Text::new(), |text, span| match &span.kind {
        SpanKind::Count(severity) => {
            text.and(style::severity(*severity), format!("{}{}", span.text, style::mark(*severity)))
        }
        kind => text.and(style::kind(kind), &span.text),
    })
}
