//! Selection of attempts by time and name.

use crate::model::{Dimension, Name, Time};

/// Values of `--since`, `--until`, and of name options such as `--run` and `--model`. An empty list selects everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Earliest time, inclusive.
    pub since: Option<Time>,
    /// Latest time, exclusive.
    pub until: Option<Time>,
    /// Names, at most one entry per dimension. All entries must match.
    pub names: Vec<Names>,
}

/// Names of one dimension, any of which matches.
#[derive(Clone, Debug)]
pub struct Names {
    /// The dimension the names belong to.
    pub dimension: Dimension,
    /// Names or patterns as given.
    pub wanted: Vec<Name>,
}

impl Filter {
    /// Selects everything.
    pub(crate) const EVERYTHING: &'static Filter = &Filter { since: None, until: None, names: Vec::new() };

    /// Whether everything is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.since.is_none() && self.until.is_none() && self.names.is_empty()
    }

    /// Whether an attempt sent at `sent` is in the time range. Names are matched later, on whole calls.
    pub(crate) fn includes(&self, sent: Time) -> bool {
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
