//! Names as users give them.

use glob::{MatchOptions, Pattern};

/// A name as the user gives it: whole, in any case, with the wildcards `*`, `?` and `[...]`.
#[derive(Clone, Debug)]
pub struct Name {
    /// As given.
    pub text: String,
    /// `None` where it is no pattern.
    pattern: Option<Pattern>,
}

impl Name {
    /// A name as given.
    #[must_use]
    pub fn new(text: &str) -> Name {
        Name { text: text.to_owned(), pattern: Pattern::new(text).ok() }
    }

    /// Whether it is, or fits, the name of a log. Names may hold brackets, so that the same letters always fit.
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

    /// Whether it fits a name, or the name with the version after it.
    #[must_use]
    pub fn fits_version(&self, name: &str, version: Option<&str>) -> bool {
        self.fits(name) || version.is_some_and(|version| self.fits(&format!("{name} {version}")))
    }
}
