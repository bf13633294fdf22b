//! Colours, which only help the eye: no meaning depends on them.

use crate::model::{Outcome, Remedy, Severity};
use crate::render::document::{Sign, Tone};
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
pub(super) fn tone(tone: &Tone) -> Style {
    match tone {
        Tone::Plain | Tone::Code | Tone::Name | Tone::Time(_) | Tone::Link(_) => PLAIN,
        Tone::Faint => FAINT,
        Tone::Good | Tone::Sign(Sign::Ok) => GREEN,
        Tone::Bad | Tone::Sign(Sign::Error | Sign::Failed) => RED,
        Tone::Caution | Tone::Sign(Sign::Warning | Sign::Open | Sign::Retried) => YELLOW,
        Tone::Sign(Sign::Info) => FAINT,
        Tone::Count(severity) => self::severity(*severity),
    }
}
