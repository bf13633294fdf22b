//! Colours and emphasis. Text is understood without them: what they show is also written as a word or a symbol.

use crate::model::{Outcome, Remedy, Severity};
use crate::render::document::{Sign, SpanKind};
use anstyle::{AnsiColor, Style};

pub(super) const PLAIN: Style = Style::new();
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const RED: Style = AnsiColor::Red.on_default();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(super) const GREEN: Style = AnsiColor::Green.on_default();
pub(super) const CYAN: Style = AnsiColor::Cyan.on_default();

/// Returns the style of a severity.
pub(super) const fn severity(severity: Severity) -> Style {
    match severity {
        Severity::Error => RED,
        Severity::Warning => YELLOW,
        Severity::Info => CYAN,
    }
}

/// Returns the character that shows a severity without colour.
pub(super) const fn mark(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "✗",
        Severity::Warning => "!",
        Severity::Info => "·",
    }
}

/// Returns the style of an outcome.
pub(super) const fn outcome(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Ok => GREEN,
        Outcome::Failed => RED,
        Outcome::Open => YELLOW,
    }
}

/// Returns the style of a remedy.
pub(super) const fn remedy(remedy: Remedy) -> Style {
    match remedy {
        Remedy::Wait => YELLOW,
        Remedy::Shrink => CYAN,
        Remedy::Stop => RED,
        Remedy::Fix => GREEN,
    }
}

/// Returns the style of a part of a text.
pub(super) fn kind(kind: &SpanKind) -> Style {
    match kind {
        SpanKind::Plain | SpanKind::Code | SpanKind::Name | SpanKind::Time(_) | SpanKind::Link(_) => PLAIN,
        SpanKind::Faint => FAINT,
        SpanKind::Good | SpanKind::Sign(Sign::Ok) => GREEN,
        SpanKind::Bad | SpanKind::Sign(Sign::Error | Sign::Failed) => RED,
        SpanKind::Caution | SpanKind::Sign(Sign::Warning | Sign::Open | Sign::Retried) => YELLOW,
        SpanKind::Sign(Sign::Info) => FAINT,
        SpanKind::Count(severity) => self::severity(*severity),
    }
}
