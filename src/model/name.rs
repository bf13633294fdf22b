//! Names given by users, with wildcards.

use glob::{MatchOptions, Pattern};

/// A name given by the user: matched whole, ignoring case, with the wildcards `*`, `?` and `[...]`.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name as given.
    pub text: String,
    /// Compiled pattern; `None` if the text is not a valid one.
    pattern: Option<Pattern>,
}

impl Name {
    /// Creates a name from its text.
    #[must_use]
    pub fn new(text: &str) -> Name {
        Name { text: text.to_owned(), pattern: Pattern::new(text).ok() }
    }

    /// Returns whether a name in a log equals this one or matches its pattern. The comparison of text comes first
    /// because names may contain brackets.
    #[must_use]
    pub fn fits(&self, name: &str) -> bool {
        const ANY_CASE: MatchOptions = MatchOptions {
            case_sensitive: false,
            require_literal_separator: false,
            require_literal_leading_dot: false,
        };
        self.text.eq_ignore_ascii_case(name)
            || self.pattern.as_ref().is_some_and(|pattern| pattern.matches_with(name, ANY_CASE))
    }

    /// Returns whether this matches the name, or the name followed by a space and the version.
    #[must_use]
    pub fn fits_version(&self, name: &str, version: Option<&str>) -> bool {
        self.fits(name) || version.is_some_and(|version| self.fits(&format!("{name} {version}")))
    }
}
