//! User-defined text formats: a regular expression whose named groups are the keys of a record.

use super::record::{Mapping, is_field};
use regex::{CaptureLocations, Regex};

/// A pattern for lines of text.
#[derive(Clone, Debug)]
pub struct LinePattern {
    regex: Regex,
    /// Index and name of each named group.
    groups: Vec<(usize, String)>,
}

/// Reason why an expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternFault {
    /// Not a regular expression: the message, and the 1-based character position of the fault, if known.
    Syntax(String, Option<usize>),
    /// It has no named group.
    Nameless,
    /// The group of this name is neither a field nor a key that is mapped to one.
    NoField(String),
}

impl LinePattern {
    /// Compiles `text`. Each group must be named after a field, in any of its spellings, or after a key of `own`.
    ///
    /// # Errors
    /// When `text` cannot be used.
    pub fn new(text: &str, own: &Mapping) -> Result<LinePattern, PatternFault> {
        let regex = Regex::new(text).map_err(|error| fault(&error.to_string()))?;
        let named = regex.capture_names().enumerate();
        let groups: Vec<(usize, String)> = named.filter_map(|(nth, name)| Some((nth, name?.to_owned()))).collect();
        if groups.is_empty() {
            return Err(PatternFault::Nameless);
        }
        match groups.iter().find(|(_, name)| !is_field(name, own)) {
            Some((_, name)) => Err(PatternFault::NoField(name.clone())),
            None => Ok(LinePattern { regex, groups }),
        }
    }

    /// Returns the expression as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        self.regex.as_str()
    }

    /// Whether a line matches.
    pub(crate) fn fits(&self, line: &str) -> bool {
        self.regex.is_match(line)
    }

    /// Returns room for what [`LinePattern::find`] finds.
    pub(crate) fn places(&self) -> CaptureLocations {
        self.regex.capture_locations()
    }

    /// Finds the groups of a line, and returns whether it matches.
    pub(crate) fn find(&self, line: &str, places: &mut CaptureLocations) -> bool {
        self.regex.captures_read(places, line).is_some()
    }

    /// Calls `each` with the keys and values found in a line.
    pub(crate) fn each(&self, line: &str, places: &CaptureLocations, mut each: impl FnMut(&str, &str)) {
        for (nth, name) in &self.groups {
            if let Some((start, end)) = places.get(*nth) {
                each(name, &line[start..end]);
            }
        }
    }
}

/// Takes the last line of the parser's message, and the position from the caret line below the expression.
fn fault(words: &str) -> PatternFault {
    let last = words.lines().last().unwrap_or_default().trim_start_matches("error: ");
    let mark = words.lines().find(|line| line.trim_start().starts_with('^') && line.trim().bytes().all(|b| b == b'^'));
    // The parser indents the expression and the caret line by four.
    let place = mark.and_then(|line| line.find('^')).and_then(|at| at.checked_sub(3));
    PatternFault::Syntax(last.to_owned(), place)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn groups_are_keys() {
        let own = Mapping::new([("rc", "status")]).unwrap();
        let pattern = LinePattern::new(r"^(?<ts>\S+) (?:model=(?<model>\S+) )?rc=(?<rc>\d+) (\w+)", &own).unwrap();
        let (mut found, mut places) = (Vec::new(), pattern.places());
        let line = "2026-01-05T10:00:00Z rc=529 done";
        assert!(pattern.find(line, &mut places));
        pattern.each(line, &places, |key, value| found.push(format!("{key}={value}")));
        assert_eq!(found, ["ts=2026-01-05T10:00:00Z", "rc=529"]);
        assert!(!pattern.fits("else"));
    }

    #[test]
    fn what_cannot_be_used_is_told() {
        let of = |text: &str| LinePattern::new(text, &Mapping::NONE).unwrap_err();
        assert_eq!(of(r"(?<ts>\S+"), PatternFault::Syntax("unclosed group".to_owned(), Some(1)));
        assert_eq!(of(r"(?<ts>\S+) [z-a]").clone(), of(r"(?<ts>\S+) [z-a]"));
        assert!(matches!(of(r"(?<ts>\S+) [z-a]"), PatternFault::Syntax(_, Some(13))), "{:?}", of(r"(?<ts>\S+) [z-a]"));
        assert_eq!(of(r"(\S+)"), PatternFault::Nameless);
        assert_eq!(of(r"(?<rc>\d+)"), PatternFault::NoField("rc".to_owned()));
    }
}
