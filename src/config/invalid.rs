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
const MAX_SUGGESTIONS: usize = 2;
/// Minimum similarity of a suggestion, from 0 for no common letter to 1 for equal words. At 0.7, two typing errors in a
/// word of seven letters still lead to it.
const MIN_SIMILARITY: f64 = 0.7;

/// Returns the known words most similar to `word`, the most similar first; empty if none is similar enough.
#[must_use]
pub fn most_similar<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let word = word.to_ascii_lowercase();
    let similarity = |known: &str| {
        let known = known.to_ascii_lowercase();
        // If one word contains the other, they count as equal, so that a part of a name is recognized too.
        let is_contained = word.len() >= 3 && (known.contains(&word) || word.contains(&known));
        if is_contained { 1.0 } else { strsim::normalized_damerau_levenshtein(&word, &known) }
    };
    let mut similar: Vec<(f64, &str)> = known
        .into_iter()
        .map(|known| (similarity(known), known))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .collect();
    similar.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    similar.into_iter().take(MAX_SUGGESTIONS).map(|(_, known)| known).collect()
}

/// Returns `; did you mean "x"?` for the known words most similar to `word`, or `; ` and `alternatives` if there are none.
#[must_use]
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>, alternatives: &str) -> String {
    let similar: Vec<String> = most_similar(word, known).into_iter().map(|known| format!("`{known}`")).collect();
    if similar.is_empty() { format!("; {alternatives}") } else { format!("; did you mean {}?", similar.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_counted_from_one_in_characters() {
        let text = "a = 1\nü = x\n";
        let error = InvalidConfig::at(Path::new("f"), text, 11..12, "wrong");
        assert_eq!(error.to_string(), "f:2:5: wrong");
        assert_eq!(InvalidConfig::at(Path::new("f"), text, 900..901, "wrong").line, 3);
    }

    #[test]
    fn the_most_similar_words_are_suggested() {
        let known = ["severity", "enabled", "tolerance_ms"];
        assert_eq!(did_you_mean("severty", known, "rest"), "; did you mean `severity`?");
        assert_eq!(did_you_mean("tolerance", known, "rest"), "; did you mean `tolerance_ms`?");
        assert_eq!(did_you_mean("zzz", known, "rest"), "; rest");
    }
}
