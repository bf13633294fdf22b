//! Errors in a configuration file, with their position and suggestions for misspelled names.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// An error in a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {what}")]
pub struct InvalidConfig {
    /// Path of the file.
    pub path: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, with a suggestion where there is one.
    pub what: String,
}

impl InvalidConfig {
    /// Creates an error at the byte range `span` of `text`, the content of the file at `path`.
    #[must_use]
    pub fn at(path: &Path, text: &str, span: Range<usize>, what: impl Into<String>) -> InvalidConfig {
        let before = text.get(..span.start.min(text.len())).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        InvalidConfig {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            what: what.into(),
        }
    }
}

/// Maximum number of suggestions.
const MOST: usize = 2;
/// Minimum similarity of a suggestion, between 0 and 1.
const LIKE: f64 = 0.7;

/// Returns the known words most similar to `word`, the most similar first; empty if none is similar enough.
#[must_use]
pub fn most_like<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let word = word.to_ascii_lowercase();
    let likeness = |known: &str| {
        let known = known.to_ascii_lowercase();
        // A word that contains the other counts as a full match, so that half of a name is recognised too.
        let part = word.len() >= 3 && (known.contains(&word) || word.contains(&known));
        if part { 1.0 } else { strsim::normalized_damerau_levenshtein(&word, &known) }
    };
    let mut like: Vec<(f64, &str)> =
        known.into_iter().map(|known| (likeness(known), known)).filter(|(likeness, _)| *likeness >= LIKE).collect();
    like.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    like.into_iter().take(MOST).map(|(_, known)| known).collect()
}

/// Returns `; did you mean "x"?` for the known words most similar to `word`, or `; ` and `rest` if there are none.
#[must_use]
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>, rest: &str) -> String {
    let like: Vec<String> = most_like(word, known).into_iter().map(|known| format!("`{known}`")).collect();
    if like.is_empty() { format!("; {rest}") } else { format!("; did you mean {}?", like.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_from_one_in_characters() {
        let text = "a = 1\nü = x\n";
        let mistake = InvalidConfig::at(Path::new("f"), text, 11..12, "wrong");
        assert_eq!(mistake.to_string(), "f:2:5: wrong");
        assert_eq!(InvalidConfig::at(Path::new("f"), text, 900..901, "wrong").line, 3);
    }

    #[test]
    fn the_nearest_words_are_suggested() {
        let known = ["severity", "enabled", "tolerance_ms"];
        assert_eq!(did_you_mean("severty", known, "rest"), "; did you mean `severity`?");
        assert_eq!(did_you_mean("tolerance", known, "rest"), "; did you mean `tolerance_ms`?");
        assert_eq!(did_you_mean("zzz", known, "rest"), "; rest");
    }
}
