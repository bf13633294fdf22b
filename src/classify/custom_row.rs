//! Rows of the user's configuration, which classify failures of their own providers.

use super::{Class, Failure};
use glob::{MatchOptions, Pattern};

/// One row. All its conditions must match; a condition that is `None` always does.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomRow {
    /// Provider; case is ignored.
    pub provider: Option<Pattern>,
    /// HTTP status.
    pub status: Option<u16>,
    /// Error type, matched exactly.
    pub error_type: Option<Pattern>,
    /// Error code, matched exactly.
    pub error_code: Option<Pattern>,
    /// The whole message; case is ignored.
    pub message: Option<Pattern>,
    /// Class of a failure that matches.
    pub class: Class,
    /// How messages refer to the row.
    pub label: String,
}

/// Options for prose: case is ignored, and `*` also matches line breaks and slashes.
const PROSE_OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: false, require_literal_separator: false, require_literal_leading_dot: false };

impl CustomRow {
    /// Returns whether all conditions match the failure.
    #[must_use]
    pub fn matches(&self, failure: &Failure<'_>) -> bool {
        let prose = |pattern: &Option<Pattern>, text: Option<&str>| {
            pattern.as_ref().is_none_or(|pattern| text.is_some_and(|text| pattern.matches_with(text, PROSE_OPTIONS)))
        };
        let exact = |pattern: &Option<Pattern>, text: Option<&str>| {
            pattern.as_ref().is_none_or(|pattern| text.is_some_and(|text| pattern.matches(text)))
        };
        self.status.is_none_or(|status| failure.status == Some(status))
            && exact(&self.error_type, failure.error_type)
            && exact(&self.error_code, failure.error_code)
            && prose(&self.provider, failure.provider)
            && prose(&self.message, failure.message)
    }
}
