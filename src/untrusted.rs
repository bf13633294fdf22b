//! Untrusted text made safe to show: no control of the terminal, no hidden characters, no keys.
//!
//! A log holds what servers and users sent. [`terminal`] takes the power of commanding a terminal from it,
//! [`mask_keys`] what looks like a secret; [`safe`] does both. Each borrows what needs no change.

use aho_corasick::AhoCorasick;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

/// What stands for a line break inside a text of one line.
const LINE_BREAK: &str = " ⏎ ";
/// Marks on top of one letter beyond which it spills over the lines around it.
const MARKS_A_LETTER: usize = 4;
/// What stands for the secret part of a key.
const MASK: &str = "…[masked]";

/// Both [`mask_keys`] and [`terminal`].
#[must_use]
pub fn safe(text: &str) -> Cow<'_, str> {
    match mask_keys(text) {
        Cow::Borrowed(same) => terminal(same),
        Cow::Owned(masked) => Cow::Owned(terminal(&masked).into_owned()),
    }
}

/// `text` as one line that cannot command a terminal nor look like something else: control characters become
/// their pictures (ESC is `␛`), bidirectional and invisible ones `�`, a tab a space, line breaks ` ⏎ `.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.chars().any(is_suspect) {
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
            // After a line break an indent says nothing.
            ' ' | '\t' if shown.ends_with(LINE_BREAK) => {}
            '\t' => shown.push(' '),
            '\0'..'\x20' => shown.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('�')),
            '\x7f' => shown.push('␡'),
            _ if is_variation(c) || marks > MARKS_A_LETTER => {}
            _ if is_hidden(c) => shown.push('�'),
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Printable ASCII, the usual case. Without an early end the compiler looks at many bytes at once.
fn is_plain(text: &str) -> bool {
    text.bytes().fold(true, |plain, byte| plain & (0x20..0x7f).contains(&byte))
}

fn is_suspect(c: char) -> bool {
    c < ' ' || c == '\x7f' || is_line_break(c) || is_hidden(c) || is_variation(c) || is_mark(c)
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters that show nothing themselves: C1 controls, the controls of writing direction, zero-width spaces
/// and joiners, fillers, tags.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// Variants of the character before, which a terminal may show at another width.
fn is_variation(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{34e}' | '\u{350}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// A family of secrets: what one looks like, and which match is one.
///
/// The group `lead` of the pattern stays, the rest is masked.
struct Family {
    /// Every match holds one of these, in small or capital letters. Plain words are found in one go, before any
    /// pattern is so much as compiled.
    words: &'static [&'static str],
    pattern: &'static str,
    /// The rest is masked only when it looks random: the lead alone also stands in prose.
    doubtful: bool,
}

const fn sure(words: &'static [&'static str], pattern: &'static str) -> Family {
    Family { words, pattern, doubtful: false }
}

const fn doubtful(words: &'static [&'static str], pattern: &'static str) -> Family {
    Family { words, pattern, doubtful: true }
}

/// Every family of secrets. Case is folded in ASCII alone: `(?i-u:`.
const FAMILIES: [Family; 12] = [
    sure(&["-----begin "], r"(?s)(?<lead>-----BEGIN )[A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*-----|\z)"),
    // Beginnings long enough to be told anywhere, inside a word or an id too.
    sure(
        &["sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-"],
        r"(?<lead>sk-)(?:ant|proj|or|svcacct|admin)-[A-Za-z0-9_-]{8,}",
    ),
    // Keys known by how they begin, so that their kind stays. Not inside a word: `task-`, `risk-`; what ends before
    // them may be an escape of JSON or of a URL, whose last character is a letter or a digit.
    sure(
        &["sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "xai-", "xai_", "plx-", "plx_", "lpat-", "lpat_", "hf-", "hf_"],
        r"(?:^|[^A-Za-z0-9]|\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})(?<lead>(?:sk|pk|rk|xai|gsk|pplx|glpat|hf)[-_])[A-Za-z0-9][A-Za-z0-9_-]{7,}",
    ),
    sure(&["aiza", "ya29."], r"(?<lead>AIza|ya29\.)[A-Za-z0-9_-]{16,}"),
    sure(
        &["akia", "asia", "absk"],
        r"(?:^|[^A-Za-z0-9]|\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})(?<lead>AKIA|ASIA|ABSK)[A-Za-z0-9+/=]{12,}",
    ),
    sure(
        &[
            "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "hub_pat_", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-",
            "xoxs-", "eyj",
        ],
        r"(?<lead>gh[pousr]_|github_pat_|xox[abeoprs]-|eyJ)[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)*",
    ),
    // A header or field of a key: whatever its value is.
    sure(
        &["api-key", "subscription-key"],
        r#"(?<lead>(?i-u:x-api|x-goog-api|api|subscription)(?i-u:-key)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;&}\]…]{4,}(?:…\[masked\])?"#,
    ),
    sure(
        &["authorization"],
        r#"(?<lead>(?i-u:authorization)\\?["']?\s*[:=]\s*\\?["']?(?i-u:bearer|basic|token)\s+)[^\s"'\\,;…]+(?:…\[masked\])?"#,
    ),
    doubtful(&["bearer"], r"(?<lead>\b(?i-u:bearer)(?:\s+|%20|\+))[A-Za-z0-9._~+/=-]{8,}"),
    doubtful(
        &[
            "api_key",
            "api key",
            "apikey",
            "secret",
            "passwd",
            "password",
            "access_token",
            "access-token",
            "accesstoken",
            "refresh_token",
            "refresh-token",
            "refreshtoken",
            "auth_token",
            "auth-token",
            "authtoken",
            "id_token",
            "id-token",
            "idtoken",
        ],
        r#"(?<lead>(?i-u:api[_ ]?key|(?:access|refresh|auth|id)[_-]?token|client[_-]?secret|secret[_-]?(?:access[_-]?)?key|passw(?:or)?d)(?: provided)?\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;&}\]…]{8,}"#,
    ),
    doubtful(
        &["key=", "token=", "sig=", "signature="],
        r"(?<lead>[?&](?i-u:key|token|sig|signature|x-amz-signature|x-amz-security-token)=)[^\s&#…]{8,}",
    ),
    sure(&["@"], r"(?<lead>[a-z][a-z0-9+.-]*://)[^\s/:@…]*:[^\s/@…]+(?<tail>@)"),
];

/// The words of all families in one search, and the family of each.
static WORDS: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let words = FAMILIES.iter().enumerate().flat_map(|(nth, family)| family.words.iter().map(move |word| (nth, *word)));
    let (families, words): (Vec<usize>, Vec<&str>) = words.unzip();
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok().map(|words| (words, families))
});

/// The patterns, each compiled when a text first holds a word of its family.
static PATTERNS: [OnceLock<Option<Regex>>; FAMILIES.len()] = [const { OnceLock::new() }; FAMILIES.len()];

/// `text` with the secret part of everything that looks like a key replaced by `…[masked]`; its kind stays
/// readable, as in `sk-…[masked]`.
#[must_use]
pub fn mask_keys(text: &str) -> Cow<'_, str> {
    let may_hold = families_of(text);
    let mut shown = Cow::Borrowed(text);
    for (nth, family) in FAMILIES.iter().enumerate().filter(|(nth, _)| may_hold & (1 << nth) != 0) {
        let pattern = PATTERNS[nth].get_or_init(|| Regex::new(family.pattern).ok());
        let Some(pattern) = pattern else { continue };
        let masked = pattern.replace_all(&shown, |found: &Captures<'_>| masked(found, family.doubtful));
        if let Cow::Owned(masked) = masked {
            shown = Cow::Owned(masked);
        }
    }
    shown
}

/// The families of which a word stands in `text`: bits by their place.
fn families_of(text: &str) -> u16 {
    let Some((words, families)) = WORDS.as_ref() else { return u16::MAX };
    words.find_overlapping_iter(text).fold(0, |known, found| known | 1 << families[found.pattern().as_usize()])
}

fn masked(found: &Captures<'_>, doubtful: bool) -> String {
    let Some(whole) = found.get(0) else { return String::new() };
    let Some(lead) = found.name("lead") else { return MASK.to_owned() };
    let (before, secret) = whole.as_str().split_at(lead.end() - whole.start());
    if doubtful && !looks_random(secret) {
        return whole.as_str().to_owned();
    }
    format!("{before}{MASK}{}", found.name("tail").map_or("", |tail| tail.as_str()))
}

/// Digits, or length: no word of prose.
fn looks_random(secret: &str) -> bool {
    secret.len() >= 24 || secret.bytes().any(|byte| byte.is_ascii_digit())
}

/// At most `most` characters of a text from a log, on one line.
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
    fn what_commands_a_terminal_is_shown_instead() {
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
            ("☁\u{fe0f}", "☁"),
            ("e\u{301}", "e\u{301}"),
            ("z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}", "z\u{300}\u{301}\u{302}\u{303}"),
        ] {
            assert_eq!(terminal(raw), shown, "{raw:?}");
            assert_eq!(terminal(shown), shown, "stable: {raw:?}");
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

    #[test]
    fn keys_are_masked() {
        for (raw, shown) in [
            ("Incorrect API key provided: sk-proj-abcdefgh1234.", "Incorrect API key provided: sk-…[masked]."),
            ("key_sk-ant-api03-AbCdEfGh", "key_sk-…[masked]"),
            (r"a second line:\nsk-0123456789abcdef", r"a second line:\nsk-…[masked]"),
            (r"twice escaped:\\nsk-0123456789abcdef", r"twice escaped:\\nsk-…[masked]"),
            (r"\u00e9sk-0123456789abcdef \tAKIAIOSFODNN7EXAMPLE", r"\u00e9sk-…[masked] \tAKIA…[masked]"),
            ("?q=%20sk-0123456789abcdef", "?q=%20sk-…[masked]"),
            ("runsk-ant-api03-AbCdEfGh", "runsk-…[masked]"),
            ("Authorization: Bearer abcdef", "Authorization: Bearer …[masked]"),
            (r#"{"authorization":"Basic dXNlcjpwYXNz","a":1}"#, r#"{"authorization":"Basic …[masked]","a":1}"#),
            ("bearer 0123456789abcdef", "bearer …[masked]"),
            ("x-api-key: whatever, then", "x-api-key: …[masked], then"),
            (r#"{"X-Api-Key": "abc-def"}"#, r#"{"X-Api-Key": "…[masked]"}"#),
            (r#"{\"api-key\":\"abc1def2\"}"#, r#"{\"api-key\":\"…[masked]\"}"#),
            ("api_key=0123456789", "api_key=…[masked]"),
            ("x-goog-api-key: AIzaSyA0123456789abcdefghij", "x-goog-api-key: …[masked]"),
            ("x-api-key: sk-ant-0123456789", "x-api-key: sk-…[masked]"),
            ("Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJ", "Authorization: Bearer …[masked]"),
            ("https://h/v1?key=AIzaSyA0123456789abcdefghij&alt=sse", "https://h/v1?key=AIza…[masked]&alt=sse"),
            ("AIzaSyA0123456789abcdefghij", "AIza…[masked]"),
            ("id AKIAIOSFODNN7EXAMPLE used", "id AKIA…[masked] used"),
            ("ghp_0123456789abcdefghij0123456789", "ghp_…[masked]"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln-bmF0", "eyJ…[masked]"),
            ("https://user:p4ss@proxy:8080/", "https://…[masked]@proxy:8080/"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x", "-----BEGIN …[masked] x"),
            ("gsk_abcdefghijkl hf_abcdefghijkl", "gsk_…[masked] hf_…[masked]"),
        ] {
            assert_eq!(mask_keys(raw), shown, "{raw}");
            assert_eq!(mask_keys(shown), shown, "twice is once: {raw}");
        }
    }

    #[test]
    fn prose_about_keys_stays() {
        for text in [
            "invalid x-api-key",
            "x-api-key header is required",
            "Bearer authentication required",
            "max_tokens=100000 exceeds 32000",
            "api_key: required",
            "Your risk-assessment-0001 of task-force",
            "req_011CSHoEeqs5C35K2UUqR7Fy",
            "see https://docs.example.com/errors or mail a@b.example",
            "org-0123456789abcdef, tokens: 12345678 per minute",
        ] {
            assert_eq!(mask_keys(text), text);
        }
    }

    #[test]
    fn every_pattern_compiles() {
        assert!(WORDS.is_some());
        for family in &FAMILIES {
            assert!(Regex::new(family.pattern).is_ok(), "{}", family.pattern);
        }
    }

    #[test]
    fn whatever_a_pattern_begins_with_holds_a_word_of_its_family() {
        let leads: [&[&str]; FAMILIES.len()] = [
            &["-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----"],
            &["sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-"],
            &["sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "xai-", "xai_", "gsk-", "gsk_", "pplx-", "glpat-", "hf_"],
            &["AIza", "ya29."],
            &["AKIA", "ASIA", "ABSK"],
            &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xoxb-", "xoxo-", "xoxs-", "eyJ"],
            &["x-api-key", "X-Goog-Api-Key", "api-KEY", "Subscription-Key"],
            &["Authorization: Basic"],
            &["Bearer ", "bearer%20"],
            &["API key provided", "api_key", "ApiKey", "access-token", "refreshToken", "auth_token", "idToken"],
            &["?key=", "&token=", "?sig=", "&signature=", "?X-Amz-Signature=", "&x-amz-security-token="],
            &["https://user:pass@"],
        ];
        for (nth, lead) in leads.iter().enumerate().flat_map(|(nth, leads)| leads.iter().map(move |lead| (nth, lead))) {
            assert!(families_of(lead) & (1 << nth) != 0, "{lead}");
        }
        assert_eq!(families_of("req_011CSHoEeqs5C35K2UUqR7Fy: 30,000 input tokens per minute"), 0);
    }
}
