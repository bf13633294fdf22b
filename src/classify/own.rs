//! Rows a user adds: what failures of a provider of their own mean.

use super::{Class, Failure};
use glob::{MatchOptions, Pattern};

/// One row: all its conditions must hold. What is `None` is no condition.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnRow {
    /// Whom the request was sent to; case is ignored.
    pub provider: Option<Pattern>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Type of the error, as it is sent.
    pub error_type: Option<Pattern>,
    /// Code of the error, as it is sent.
    pub error_code: Option<Pattern>,
    /// The message as a whole; case is ignored.
    pub message: Option<Pattern>,
    /// What such a failure is.
    pub class: Class,
    /// How to speak of the row.
    pub label: String,
}

/// Prose is written in any case, and a `*` spans lines and slashes alike.
const PROSE: MatchOptions =
    MatchOptions { case_sensitive: false, require_literal_separator: false, require_literal_leading_dot: false };

impl OwnRow {
    /// Whether the row speaks of this failure.
    #[must_use]
    pub fn fits(&self, failure: &Failure<'_>) -> bool {
        let prose = |pattern: &Option<Pattern>, text: Option<&str>| {
            pattern.as_ref().is_none_or(|it| text.is_some_and(|text| it.matches_with(text, PROSE)))
        };
        let exact = |pattern: &Option<Pattern>, text: Option<&str>| {
            pattern.as_ref().is_none_or(|it| text.is_some_and(|text| it.matches(text)))
        };
        self.status.is_none_or(|status| failure.status == Some(status))
            && exact(&self.error_type, failure.error_type)
            && exact(&self.error_code, failure.error_code)
            && prose(&self.provider, failure.provider)
            && prose(&self.message, failure.message)
    }
}
