//! Detection and masking of secret keys in text of a log, by their prefix or by the header or field that contains them.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

/// Replacement for the secret part of a key.
const MASK: &str = "…[masked]";

/// A family of secrets, and how they are recognized.
struct Family {
    /// Words of which every match contains at least one, ignoring case. The words of all families are searched for in one
    /// pass, before any pattern is compiled.
    words: &'static [&'static str],
    /// If not empty, every match also contains one of these bytes.
    required_bytes: &'static [u8],
    /// What precedes the secret in a match is the group `lead` and stays readable; so does the group `tail` after it, if
    /// there is one.
    pattern: &'static str,
    /// Returns whether the rest of a match is a secret; needed if the lead also occurs in prose or ordinary names.
    is_secret: fn(&str) -> bool,
}

const fn family(words: &'static [&'static str], pattern: &'static str, is_secret: fn(&str) -> bool) -> Family {
    Family { words, required_bytes: &[], pattern, is_secret }
}

const fn always_secret(words: &'static [&'static str], pattern: &'static str) -> Family {
    family(words, pattern, |_| true)
}

const fn secret_if_random(words: &'static [&'static str], pattern: &'static str) -> Family {
    family(words, pattern, looks_random)
}

/// All families of secrets. Case is ignored for ASCII only, hence `(?i-u:`.
const FAMILIES: [Family; 17] = [
    always_secret(
        &["-----begin "],
        r"(?is)(?<lead>-----BEGIN )[A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*-----|\z)",
    ),
    // Prefixes that are long enough to be recognized anywhere, even inside a word or an id.
    always_secret(
        &["sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-"],
        r"(?<lead>(?i-u:sk-))(?i-u:ant|proj|or|svcacct|admin)-[A-Za-z0-9_-]{8,}",
    ),
    // Short prefixes, which must not be the end of a word such as `task-` or `risk-`. They may follow an escape of JSON or of
    // a URL, whose last character is a letter or a digit.
    family(
        &["sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "xai-", "xai_", "plx-", "plx_", "lpat-", "lpat_", "hf_"],
        r"(?:^|[^A-Za-z0-9]|\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})(?<lead>(?i-u:(?:(?:sk|pk|rk|xai|gsk|pplx|glpat)[-_])|hf_))[A-Za-z0-9][A-Za-z0-9_-]{7,}",
        looks_issued,
    ),
    always_secret(&["aiza", "ya29."], r"(?<lead>AIza|ya29\.)[A-Za-z0-9_-]{16,}"),
    always_secret(
        &["akia", "asia", "absk"],
        r"(?:^|[^A-Za-z0-9]|\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})(?<lead>AKIA|ASIA|ABSK)[A-Za-z0-9+/=]{12,}",
    ),
    always_secret(
        &[
            "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "hub_pat_", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-",
            "xoxs-", "eyj",
        ],
        r"(?<lead>gh[pousr]_|github_pat_|xox[abeoprs]-|eyJ)[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)*",
    ),
    // The prefixes of the three families above in another case than they are issued in, as a logger or a person may write
    // them.
    family(
        &[
            "aiza", "ya29.", "akia", "asia", "absk", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "hub_pat_", "xoxa-",
            "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "eyj",
        ],
        r"(?:^|[^A-Za-z0-9]|\\[bfnrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})(?<lead>(?i-u:aiza|ya29\.|akia|asia|absk|gh[pousr]_|github_pat_|xox[abeoprs]-|eyj))[A-Za-z0-9_-]{12,}",
        looks_issued_with_digit,
    ),
    // Headers and fields whose value is a secret, whatever it looks like.
    always_secret(
        &["api-key", "subscription-key"],
        r#"(?<lead>(?i-u:x-api|x-goog-api|api|subscription)(?i-u:-key)\\?["']?\s*[:=]\s*\\?["']?)[^\s"'\\,;&}\]…]{4,}(?:…\[masked\])?"#,
    ),
    always_secret(
        &["authorization"],
        r#"(?<lead>(?i-u:authorization)\\?["']?\s*[:=,]\s*\\?["']?(?i-u:bearer|basic|token)\s+)[^\s"'\\,;…]+(?:…\[masked\])?"#,
    ),
    // An `authorization` header without a scheme. As a member of JSON its value is a secret; in prose only if it looks like
    // one.
    always_secret(
        &["authorization"],
        r#"(?<lead>(?i-u:authorization)\\?["']\s*[:=,]\s*\\?["'])[^\s"'\\,;…]{4,}(?<tail>\\?["'])"#,
    ),
    secret_if_random(&["authorization"], r"(?<lead>(?i-u:authorization)\s*[:=]\s*)[^\s,;…]{8,}"),
    // A cookie identifies a session: everything up to the end of the header is masked.
    always_secret(
        &["cookie"],
        r#"(?<lead>(?i-u:cookie2?)\\?["']?\s*[:=,]\s*\[?\\?["']?)[A-Za-z0-9_.$-]+=[^"'\r\n\\\]…]+"#,
    ),
    family(&["basic"], r"(?<lead>\b(?i-u:basic)(?:\s+|%20|\+))[A-Za-z0-9+/]{8,}={0,2}", is_basic_credentials),
    secret_if_random(&["bearer"], r"(?<lead>\b(?i-u:bearer)(?:\s+|%20|\+))[A-Za-z0-9._~+/=-]{8,}"),
    Family {
        // Without `:` or `=`, the word has no value: it may be the name of a field in prose.
        required_bytes: b":=",
        ..secret_if_random(
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
        )
    },
    secret_if_random(
        &["key=", "token=", "sig=", "signature="],
        r"(?<lead>[?&](?i-u:key|token|sig|signature|x-amz-signature|x-amz-security-token)=)[^\s&#…]{8,}",
    ),
    always_secret(&["@"], r"(?<lead>[A-Za-z][A-Za-z0-9+.-]*://)[^\s/:@…]*:[^\s/@…]+(?<tail>@)"),
];

/// A search for the words of all families, and the family of each word.
static WORDS: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let words = FAMILIES.iter().enumerate().flat_map(|(nth, family)| family.words.iter().map(move |word| (nth, *word)));
    let (families, words): (Vec<usize>, Vec<&str>) = words.unzip();
    // This kind is the fastest to build, which matters more than the search, since a report contains little text.
    let kind = Some(AhoCorasickKind::ContiguousNFA);
    let words = AhoCorasick::builder().ascii_case_insensitive(true).prefilter(false).kind(kind).build(words).ok()?;
    Some((words, families))
});

/// The patterns, each compiled when a text first contains a word of its family.
static PATTERNS: [OnceLock<Option<Regex>>; FAMILIES.len()] = [const { OnceLock::new() }; FAMILIES.len()];

/// Replaces the secret part of everything that looks like a key by `…[masked]`; the kind of key stays readable, as in
/// `sk-…[masked]`.
#[must_use]
pub fn mask_keys(text: &str) -> Cow<'_, str> {
    let candidates = families_of(text);
    let mut shown = Cow::Borrowed(text);
    let has_required_byte =
        |required_bytes: &[u8]| required_bytes.is_empty() || text.bytes().any(|byte| required_bytes.contains(&byte));
    let families = FAMILIES.iter().enumerate().filter(|(nth, _)| candidates & (1 << nth) != 0);
    for (nth, family) in families.filter(|(_, family)| has_required_byte(family.required_bytes)) {
        let pattern = PATTERNS[nth].get_or_init(|| Regex::new(family.pattern).ok());
        let Some(pattern) = pattern else { continue };
        let masked = pattern.replace_all(&shown, |found: &Captures<'_>| masked(found, family.is_secret));
        if let Cow::Owned(masked) = masked {
            shown = Cow::Owned(masked);
        }
    }
    shown
}

/// Number of values of [`push_byte`]: five bits of each of three bytes.
const STARTS: usize = 1 << 15;

/// Returns the number that stands for the last three bytes of a text: the low five bits of each, which are the same for
/// capital and small letters. `previous` is the number before `byte`.
const fn push_byte(previous: usize, byte: u8) -> usize {
    (previous << 5 | (byte & 31) as usize) % STARTS
}

/// A bit for each number of [`push_byte`]: whether a word starts with bytes of that number. The only shorter word is
/// [`SHORT_WORD`].
const WORD_STARTS: [u64; STARTS / 64] = {
    let mut starts = [0; STARTS / 64];
    let mut family = 0;
    while family < FAMILIES.len() {
        let words = FAMILIES[family].words;
        let mut nth = 0;
        while nth < words.len() {
            if let [a, b, c, ..] = *words[nth].as_bytes() {
                let start = push_byte(push_byte(push_byte(0, a), b), c);
                starts[start / 64] |= 1 << (start % 64);
            }
            nth += 1;
        }
        family += 1;
    }
    starts
};

/// The only word of fewer than three bytes.
const SHORT_WORD: u8 = b'@';

/// Whether a word may begin anywhere in `text`. It is checked before searching for whole words, which takes longer,
/// because most texts are ids that contain no start of a word.
fn may_begin_a_word(text: &str) -> bool {
    let mut start = 0;
    text.bytes().any(|byte| {
        start = push_byte(start, byte);
        byte == SHORT_WORD || WORD_STARTS[start / 64] >> (start % 64) & 1 != 0
    })
}

/// Returns the families that have a word in `text`, as bits by their index.
fn families_of(text: &str) -> u32 {
    if !may_begin_a_word(text) {
        return 0;
    }
    let Some((words, families)) = WORDS.as_ref() else { return u32::MAX };
    words.find_overlapping_iter(text).fold(0, |known, found| known | 1 << families[found.pattern().as_usize()])
}

fn masked(found: &Captures<'_>, is_secret: fn(&str) -> bool) -> String {
    let Some(whole) = found.get(0) else { return String::new() };
    let Some(lead) = found.name("lead") else { return MASK.to_owned() };
    let (before, secret) = whole.as_str().split_at(lead.end() - whole.start());
    if !is_secret(secret) {
        return whole.as_str().to_owned();
    }
    format!("{before}{MASK}{}", found.name("tail").map_or("", |tail| tail.as_str()))
}

/// Returns whether `secret` looks like an issued key rather than a name made of words: it has a run of twelve letters or
/// digits, or of eight with both, or it has 20 characters with capitals, small letters and digits.
fn looks_issued(secret: &str) -> bool {
    let has = |text: &str, kind: fn(&u8) -> bool| text.bytes().any(|byte| kind(&byte));
    let mixed = |text: &str| has(text, u8::is_ascii_digit) && has(text, u8::is_ascii_alphabetic);
    let is_run = |run: &str| run.len() >= 12 || (run.len() >= 8 && mixed(run));
    let is_varied = secret.len() >= 20
        && has(secret, u8::is_ascii_uppercase)
        && has(secret, u8::is_ascii_lowercase)
        && has(secret, u8::is_ascii_digit);
    is_varied || secret.split(['-', '_']).any(is_run)
}

/// Returns whether `secret` begins with a letter or a digit, contains a digit, and looks like an issued key.
fn looks_issued_with_digit(secret: &str) -> bool {
    let starts_alphanumeric = secret.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    starts_alphanumeric && secret.bytes().any(|byte| byte.is_ascii_digit()) && looks_issued(secret)
}

/// Returns whether `secret` is a name and a password in base64 (RFC 7617).
fn is_basic_credentials(secret: &str) -> bool {
    let engine = &base64::engine::general_purpose::STANDARD_NO_PAD;
    engine.decode(secret.trim_end_matches('=')).is_ok_and(|text| text.contains(&b':'))
}

/// Returns whether `secret` is unlike a word of prose: it contains a digit or is long.
fn looks_random(secret: &str) -> bool {
    secret.len() >= 24 || secret.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_by_its_start() {
        for word in FAMILIES.iter().flat_map(|family| family.words) {
            assert!(may_begin_a_word(word) && may_begin_a_word(&format!("x{}", word.to_uppercase())), "{word}");
        }
        assert!(!may_begin_a_word("req_011CvJypUR2WsMnbzbKEMcwg"));
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
            ("SK-ANT-API03-ABCDEFGH Sk-Proj-abcdefgh1234", "SK-…[masked] Sk-…[masked]"),
            ("SK-0123456789ABCDEF HF_ABCDEFGH0123", "SK-…[masked] HF_…[masked]"),
            ("aizasya0123456789abcdefghij ghp_0123456789ABCDEFGHIJ", "aiza…[masked] ghp_…[masked]"),
            ("id akiaiosfodnn7example2 used, XOXB-0123456789AB", "id akia…[masked] used, XOXB-…[masked]"),
            ("-----begin private key-----\nmiie\n-----end private key----- x", "-----begin …[masked] x"),
            ("HTTPS://user:p4ss@proxy/", "HTTPS://…[masked]@proxy/"),
            ("gsk_abcdefghijkl hf_abcdefghijkl", "gsk_…[masked] hf_…[masked]"),
            ("pk-lf-8f14e45f-ceea-467f-9b3e-0a1b2c3d4e5f", "pk-…[masked]"),
            ("proxy: Basic dXNlcjpwYXNzd29yZA== refused", "proxy: Basic …[masked] refused"),
            (r#"{"authorization":"whatever"}"#, r#"{"authorization":"…[masked]"}"#),
            (r#"["Authorization", "a-secret"]"#, r#"["Authorization", "…[masked]"]"#),
            ("authorization: 0a1b2c3d4e", "authorization: …[masked]"),
            ("set-cookie: sid=abc; Path=/; HttpOnly", "set-cookie: …[masked]"),
            (r#"{"set-cookie":"__cf_bm=abc.def; path=/","a":1}"#, r#"{"set-cookie":"…[masked]","a":1}"#),
            (r#"{"Set-Cookie":["a=b; Path=/"],"a":1}"#, r#"{"Set-Cookie":["…[masked]"],"a":1}"#),
            ("Cookie: session=0123", "Cookie: …[masked]"),
        ] {
            assert_eq!(mask_keys(raw), shown, "{raw}");
            assert_eq!(mask_keys(shown), shown, "masking twice changes nothing: {raw}");
        }
    }

    #[test]
    fn prose_about_keys_is_not_masked() {
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
            "28-hf-model-loading.jsonl",
            "hf-mistral-7b-instruct-v3",
            "hf_mistral_7b_instruct",
            "xai-grok-4-0709 and sk-learn-pipeline-v2",
            "Basic authentication is required",
            "authorization: required",
            "cookie: not accepted",
            "Asia/Ho_Chi_Minh and asia-southeast1-c of GHS_TRANSPORT_LAYER",
            "SK_LEARN of RISK-ASSESSMENT-0001",
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
    fn every_lead_of_a_pattern_contains_a_word_of_its_family() {
        let leads: [&[&str]; FAMILIES.len()] = [
            &["-----BEGIN PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----"],
            &["sk-ant-", "sk-proj-", "sk-or-", "sk-svcacct-", "sk-admin-"],
            &["sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "xai-", "xai_", "gsk-", "gsk_", "pplx-", "glpat-", "hf_"],
            &["AIza", "ya29."],
            &["AKIA", "ASIA", "ABSK"],
            &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xoxb-", "xoxo-", "xoxs-", "eyJ"],
            &["AIZA", "akia", "Asia", "GHP_", "GITHUB_PAT_", "XOXB-", "EYJ"],
            &["x-api-key", "X-Goog-Api-Key", "api-KEY", "Subscription-Key"],
            &["Authorization: Basic"],
            &["\"Authorization\":\"x"],
            &["authorization=x"],
            &["Set-Cookie: a=b", "cookie: a=b"],
            &["Basic dXNlcjpwYXNz"],
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
