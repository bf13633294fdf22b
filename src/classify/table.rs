//! What providers call their failures: how the rows of [`codes`](super::codes) are found.
//!
//! Codes are matched exactly, case included: `insufficient_quota` is an empty account at one
//! provider, `INSUFFICIENT QUOTA` is every throttle of another.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::codes::{EXACT, FAMILIES, OF_PROVIDERS};
use super::row::{ExactRow, FamilyRow};

static BY_NAME: LazyLock<HashMap<&'static str, &'static ExactRow>> =
    LazyLock::new(|| EXACT.iter().map(|row| (row.name, row)).collect());

/// Whether a log calls one of `names` by `provider`.
pub(super) fn is_of(provider: &str, names: &[&str]) -> bool {
    let contains = |name: &&str| {
        provider.as_bytes().windows(name.len()).any(|window| window.eq_ignore_ascii_case(name.as_bytes()))
    };
    names.iter().any(contains)
}

/// The row of a code or type that means something of its own at this provider, numbers included.
pub fn lookup_of(provider: &str, word: &str) -> Option<&'static ExactRow> {
    let mut rows = OF_PROVIDERS.iter().filter(|row| row.row.name == word);
    rows.find(|row| is_of(provider, row.providers)).map(|row| &row.row)
}

/// The row of a code or type, however it is wrapped: `aws#ThrottlingException:http://...`,
/// `litellm.RateLimitError`, `throttlingException`.
pub fn lookup(word: &str) -> Option<&'static ExactRow> {
    if let Some(row) = BY_NAME.get(word) {
        return Some(row);
    }
    let fits = |family: &&FamilyRow| {
        word.len() > family.prefix.len() + family.suffix.len()
            && word.starts_with(family.prefix)
            && word.ends_with(family.suffix)
            && word.contains(family.middle)
    };
    if let Some(family) = FAMILIES.iter().find(fits) {
        return Some(&family.row);
    }
    let bare = bare_name(word);
    if bare.len() != word.len() && !bare.is_empty() {
        return lookup(bare);
    }
    // AWS event streams spell the exception names of the API reference in camel case.
    if word.ends_with("Exception") && word.starts_with(|first: char| first.is_ascii_lowercase()) {
        let mut capitalised = word.to_owned();
        capitalised[..1].make_ascii_uppercase();
        return BY_NAME.get(capitalised.as_str()).copied();
    }
    None
}

/// A name without its namespace (`x#`, `a.b.`) and without what follows a colon.
pub(super) fn bare_name(word: &str) -> &str {
    let word = word.split_once(':').map_or(word, |(name, _)| name).trim();
    let word = word.rsplit_once('#').map_or(word, |(_, name)| name);
    word.rsplit_once('.').map_or(word, |(_, name)| name)
}
