//! Lookup in the tables of [`codes`](super::codes).
//!
//! Codes are matched exactly, including case: `insufficient_quota` is an empty account at one provider,
//! `INSUFFICIENT QUOTA` is any rate limit at another.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::codes::{EXACT, FAMILIES, OF_PROVIDERS};
use super::row::{ExactRow, FamilyRow};

static BY_NAME: LazyLock<HashMap<&'static str, &'static ExactRow>> =
    LazyLock::new(|| EXACT.iter().map(|row| (row.name, row)).collect());

/// Whether the logged name `provider` contains one of `names`, ignoring case.
pub(super) fn is_of(provider: &str, names: &[&str]) -> bool {
    let contains = |name: &&str| {
        provider.as_bytes().windows(name.len()).any(|window| window.eq_ignore_ascii_case(name.as_bytes()))
    };
    names.iter().any(contains)
}

/// Returns the row for a code or type, possibly a number, that is specific to this provider.
pub fn lookup_of(provider: &str, word: &str) -> Option<&'static ExactRow> {
    let mut rows = OF_PROVIDERS.iter().filter(|row| row.row.name == word);
    rows.find(|row| is_of(provider, row.providers)).map(|row| &row.row)
}

/// Returns the row for a code or type, also with a namespace, a suffix or in camel case:
/// `aws#ThrottlingException:http://...`, `litellm.RateLimitError`, `throttlingException`.
pub fn lookup(word: &str) -> Option<&'static ExactRow> {
    if let Some(row) = BY_NAME.get(word) {
        return Some(row);
    }
    let matches_family = |family: &&FamilyRow| {
        word.len() > family.prefix.len() + family.suffix.len()
            && word.starts_with(family.prefix)
            && word.ends_with(family.suffix)
            && word.contains(family.middle)
    };
    if let Some(family) = FAMILIES.iter().find(matches_family) {
        return Some(&family.row);
    }
    let bare = bare_name(word);
    if bare.len() != word.len() && !bare.is_empty() {
        return lookup(bare);
    }
    // AWS event streams write the exception names of the API reference in camel case.
    if word.ends_with("Exception") && word.starts_with(|first: char| first.is_ascii_lowercase()) {
        let mut capitalized = word.to_owned();
        capitalized[..1].make_ascii_uppercase();
        return BY_NAME.get(capitalized.as_str()).copied();
    }
    None
}

/// Removes the namespace (`x#`, `a.b.`) of a name, and anything after a colon.
pub(super) fn bare_name(word: &str) -> &str {
    let word = word.split_once(':').map_or(word, |(name, _)| name).trim();
    let word = word.rsplit_once('#').map_or(word, |(_, name)| name);
    word.rsplit_once('.').map_or(word, |(_, name)| name)
}
