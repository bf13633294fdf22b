//! Makes text of a log safe for a page: no hidden characters, no keys, limited length.
//!
//! maud escapes HTML markup; this makes characters visible that a reader would not see.

use crate::untrusted::safe;

/// Maximum length of a message, in characters; some servers send whole pages as errors.
const MAX_PROSE_CHARS: usize = 500;
/// Maximum length of an id or a name, in characters.
const MAX_NAME_CHARS: usize = 120;

/// Makes a message safe, shortened at its end.
pub(super) fn prose(text: &str) -> String {
    let text = safe(text);
    match text.char_indices().nth(MAX_PROSE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Makes an id, a file or a name safe, shortened in the middle because they differ at their ends.
pub(super) fn name(text: &str) -> String {
    let text = safe(text);
    let length = text.chars().count();
    if length <= MAX_NAME_CHARS {
        return text.into_owned();
    }
    let half = MAX_NAME_CHARS / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(length - half + 1).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_and_long_text_is_shortened() {
        assert_eq!(prose("\u{202e}txt\u{1b}[0m\nsk-ant-0123456789"), "�txt␛[0m ⏎ sk-…[masked]");
        assert_eq!(prose(&"ä".repeat(2000)).chars().count(), MAX_PROSE_CHARS + 1);
        assert_eq!(name("a\u{2066}b"), "a�b");
        let long = name(&format!("{}end", "x".repeat(500)));
        assert!(long.chars().count() == MAX_NAME_CHARS && long.ends_with("end"));
    }
}
