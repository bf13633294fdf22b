//! Makes text of a log safe for a page: no hidden characters, no keys, limited length.
//!
//! maud escapes HTML markup; this makes characters visible that a reader would not see.

use crate::untrusted::safe;

/// Maximum length of a message, in characters; some servers send whole pages as errors.
const PROSE: usize = 500;
/// Maximum length of an id or a name, in characters.
const NAME: usize = 120;

/// Makes a message safe, shortened at its end.
pub(super) fn prose(text: &str) -> String {
    let text = safe(text);
    match text.char_indices().nth(PROSE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Makes an id, a file or a name safe, shortened in the middle because they differ at their ends.
pub(super) fn name(text: &str) -> String {
    let text = safe(text);
    let length = text.chars().count();
    if length <= NAME {
        return text.into_owned();
    }
    let half = NAME / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(length - half + 1).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_shows_and_what_is_long_is_cut() {
        assert_eq!(prose("\u{202e}txt\u{1b}[0m\nsk-ant-0123456789"), "�txt␛[0m ⏎ sk-…[masked]");
        assert_eq!(prose(&"ä".repeat(2000)).chars().count(), PROSE + 1);
        assert_eq!(name("a\u{2066}b"), "a�b");
        let long = name(&format!("{}end", "x".repeat(500)));
        assert!(long.chars().count() == NAME && long.ends_with("end"));
    }
}
