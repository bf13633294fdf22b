//! Makes untrusted text safe to show: no terminal control sequences, no hidden characters, no keys.
//!
//! A log contains what servers and users sent. [`terminal`] replaces characters that control or mislead a terminal,
//! [`mask_keys`] masks what looks like a secret, and [`safe`] does both. Each borrows text that needs no change.

mod keys;

pub use keys::mask_keys;

use std::borrow::Cow;

/// Replacement for a line break.
const LINE_BREAK: &str = " ⏎ ";
/// Maximum number of combining marks per letter; more of them would cover the lines above and below.
const MAX_MARKS_PER_LETTER: usize = 4;

/// Applies [`mask_keys`] and [`terminal`].
#[must_use]
pub fn safe(text: &str) -> Cow<'_, str> {
    match mask_keys(text) {
        Cow::Borrowed(same) => terminal(same),
        Cow::Owned(masked) => Cow::Owned(terminal(&masked).into_owned()),
    }
}

/// Returns `text` as one line that can neither control a terminal nor be mistaken for other text. Control characters are
/// replaced by their symbols (ESC by `␛`), bidirectional and invisible characters by `�`, a tab by a space, and line breaks
/// by ` ⏎ `.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    if is_printable_ascii(text) || !text.chars().any(may_need_change) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut marks = 0;
    let mut chars = text.trim_end_matches(['\r', '\n']).chars().peekable();
    while let Some(c) = chars.next() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            _ if is_line_break(c) => {
                if !shown.ends_with(LINE_BREAK) {
                    shown.truncate(shown.trim_end_matches(' ').len());
                    shown.push_str(LINE_BREAK);
                }
            }
            // Indentation after a line break is dropped.
            ' ' | '\t' if shown.ends_with(LINE_BREAK) => {}
            '\t' => shown.push(' '),
            // U+2400 is the symbol of NUL; those of the other control characters follow.
            '\0'..'\x20' => shown.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('�')),
            '\x7f' => shown.push('␡'),
            _ if is_variation(c) || marks > MAX_MARKS_PER_LETTER => {}
            _ if is_hidden(c) => shown.push('�'),
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Returns whether `text` is printable ASCII, as nearly all texts are. The loop has no early exit, so that the compiler can
/// vectorize it.
fn is_printable_ascii(text: &str) -> bool {
    text.bytes().fold(true, |is_printable, byte| is_printable & (0x20..0x7f).contains(&byte))
}

/// Returns whether [`terminal`] may replace or drop a character.
fn may_need_change(c: char) -> bool {
    c < ' ' || c == '\x7f' || is_line_break(c) || is_hidden(c) || is_variation(c) || is_mark(c)
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether a character has no visible form: C1 controls, bidirectional controls, zero-width spaces and joiners,
/// fillers, tags.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
        || is_noncharacter(c)
}

/// Returns whether a character is one of the 66 noncharacters of Unicode, some of which are not allowed in XML.
fn is_noncharacter(c: char) -> bool {
    matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe
}

/// Returns whether a character is a variation selector, which can change the width of a character in a terminal.
fn is_variation(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns whether a character is a combining mark.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{34e}' | '\u{350}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Returns `text` with every key masked, as a `String`.
pub(crate) fn masked(text: &str) -> String {
    mask_keys(text).into_owned()
}

/// Returns at most `most` characters of text from a log, on one line.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_replaced_by_symbols() {
        for (raw, shown) in [
            ("plain text, tab\tand ümläut 日本", "plain text, tab and ümläut 日本"),
            ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
            ("\x1b]8;;http://x\x07link", "␛]8;;http://x␇link"),
            ("nul\0 del\x7f bs\x08", "nul␀ del␡ bs␈"),
            ("c1\u{9b}31m", "c1�31m"),
            ("over\rwritten", "over␍written"),
            ("two\r\n\r\n   lines\n", "two ⏎ lines"),
            ("a\u{2028}b\u{85}c\x0bd", "a ⏎ b ⏎ c ⏎ d"),
            ("\u{202e}gpj.exe\u{2066}\u{61c}\u{200f}", "�gpj.exe���"),
            ("ze\u{200b}ro\u{feff}w\u{e0041}", "ze�ro�w�"),
            ("non\u{fffe}cha\u{ffff}rac\u{fdd0}ter\u{10ffff}", "non�cha�rac�ter�"),
            ("☁\u{fe0f}", "☁"),
            ("e\u{301}", "e\u{301}"),
            ("z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}", "z\u{300}\u{301}\u{302}\u{303}"),
        ] {
            assert_eq!(terminal(raw), shown, "{raw:?}");
            assert_eq!(terminal(shown), shown, "replacing twice changes nothing: {raw:?}");
        }
    }

    #[test]
    fn ordinary_text_is_not_copied() {
        for text in [
            "",
            "rate_limit_error: 30,000 input tokens per minute",
            "日本語 ok",
            "a task-20260310-0001",
            r"C:\\desk-20260310-0001",
        ] {
            assert!(matches!(safe(text), Cow::Borrowed(_)), "{text:?}");
        }
    }
}
