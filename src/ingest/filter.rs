//! Which attempts the user asked for.

use crate::attempt::{Dimension, Time};
use glob::{MatchOptions, Pattern};

/// `--since`, `--until`, and names such as `--run` and `--model`. An empty list wants everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Not before.
    pub since: Option<Time>,
    /// Before.
    pub until: Option<Time>,
    /// Names, at most one entry a dimension. All entries must fit.
    pub names: Vec<Names>,
}

/// Names wanted of one dimension: any of them.
#[derive(Clone, Debug)]
pub struct Names {
    /// Whose names.
    pub of: Dimension,
    /// Each as given.
    pub wanted: Vec<Name>,
}

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

impl Filter {
    /// Filters nothing.
    pub(crate) const EVERYTHING: &'static Filter = &Filter { since: None, until: None, names: Vec::new() };

    /// Whether nothing is filtered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.since.is_none() && self.until.is_none() && self.names.is_empty()
    }

    /// Whether what was sent then is wanted by its time. Names are asked for when calls are whole.
    pub(crate) fn wants(&self, sent: Time) -> bool {
        self.since.is_none_or(|since| sent >= since) && self.until.is_none_or(|until| sent < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_whole_in_any_case_or_a_pattern() {
        let fits = |wanted: &str, name: &str| Name::new(wanted).fits(name);
        assert!(fits("GPT-5", "gpt-5") && fits("gpt-*", "GPT-5") && fits("*5*", "gpt-5.1") && fits("r-?", "r-1"));
        assert!(!fits("gpt", "gpt-5") && !fits("r-?", "r-10") && !fits("", "gpt-5"));
        assert!(fits("sonnet[1m]", "sonnet[1m]") && fits("a[", "A[") && fits("org/*", "org/team/model"));
        assert!(Name::new("sdk 1.*").fits_version("sdk", Some("1.2")) && !Name::new("1.2").fits("sdk 1.2"));
        assert!(Name::new("SDK").fits_version("sdk", Some("1.2")));
    }
}
