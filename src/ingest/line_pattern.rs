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
    /// Compiles `text`. Each group must be named after a field, in any of its spellings, or after a key of `custom`.
    ///
    /// # Errors
    /// When `text` cannot be used.
    pub fn new(text: &str, custom: &Mapping) -> Result<LinePattern, PatternFault> {
        let regex = Regex::new(text).map_err(|error| fault(&error.to_string()))?;
        let named = regex.capture_names().enumerate();
        let groups: Vec<(usize, String)> = named.filter_map(|(nth, name)| Some((nth, name?.to_owned()))).collect();
        if groups.is_empty() {
            return Err(PatternFault::Nameless);
        }
        match groups.iter().find(|(_, name)| !is_field(name, custom)) {
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
    pub(crate) fn is_match(&self, line: &str) -> bool {
        self.regex.is_match(line)
    }

    /// Returns the buffer that [`LinePattern::find`] fills; it can be used for any number of lines.
    pub(crate) fn capture_buffer(&self) -> CaptureLocations {
        self.regex.capture_locations()
    }

    /// Finds the groups of a line, and returns whether it matches.
    pub(crate) fn find(&self, line: &str, captures: &mut CaptureLocations) -> bool {
        self.regex.captures_read(captures, line).is_some()
    }

    /// Calls `each` with the keys and values that [`LinePattern::find`] found in a line.
    pub(crate) fn each(&self, line: &str, captures: &CaptureLocations, mut each: impl FnMut(&str, &str)) {
        for (nth, name) in &self.groups {
            if let Some((start, end)) = captures.get(*nth) {
                each(name, &line[start..end]);
            }
        }
    }
}

/// Returns the error of an expression by the message of the `regex` crate: its last line is the reason, and the line of
/// carets below the expression marks the position.
fn fault(message: &str) -> PatternFault {
    let reason = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
    let carets =
        message.lines().find(|line| line.trim_start().starts_with('^') && line.trim().bytes().all(|b| b == b'^'));
    // The expression and the carets are indented by four; positions count from 1.
    let position = carets.and_then(|line| line.find('^')).and_then(|at| at.checked_sub(4 - 1));
    PatternFault::Syntax(reason.to_owned(), position)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn groups_are_keys() {
        let custom = Mapping::new([("rc", "status")]).unwrap();
        let pattern = LinePattern::new(r"^(?<ts>\S+) (?:model=(?<model>\S+) )?rc=(?<rc>\d+) (\w+)", &custom).unwrap();
        let (mut found, mut captures) = (Vec::new(), pattern.capture_buffer());
        let line = "2026-01-05T10:00:00Z rc=529 done";
        assert!(pattern.find(line, &mut captures));
        pattern.each(line, &captures, |key, value| found.push(format!("{key}={value}")));
        assert_eq!(found, ["ts=2026-01-05T10:00:00Z", "rc=529"]);
        assert!(!pattern.is_match("else"));
    }

    #[test]
    fn unusable_expressions_give_a_reason() {
        let of = |text: &str| LinePattern::new(text, &Mapping::NONE).unwrap_err();
        assert_eq!(of(r"(?<ts>\S+"), PatternFault::Syntax("unclosed group".to_owned(), Some(1)));
        assert_eq!(of(r"(?<ts>\S+) [z-a]").clone(), of(r"(?<ts>\S+) [z-a]"));
        assert!(matches!(of(r"(?<ts>\S+) [z-a]"), PatternFault::Syntax(_, Some(13))), "{:?}", of(r"(?<ts>\S+) [z-a]"));
        assert_eq!(of(r"(\S+)"), PatternFault::Nameless);
        assert_eq!(of(r"(?<rc>\d+)"), PatternFault::NoField("rc".to_owned()));
    }
}
