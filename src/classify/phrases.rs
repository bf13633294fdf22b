//! Phrases in error messages that indicate a class, as tables.
//!
//! Prose is searched only if codes are ambiguous, and each phrase applies only to certain failures: "PerDay" in a 400
//! may be the name of a tool, in a 429 it is a quota id. All phrases are searched for at once with one automaton.

mod broken;
mod money;
mod requests;
mod service;
mod windows;

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match};

use super::Class;
use super::row::Origin;
use super::table::is_of;

/// Where in the message the phrase must occur.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PhrasePosition {
    /// At the start of the message, or of a message quoted in it.
    AtStart,
    /// Anywhere.
    Anywhere,
    /// Anywhere, but in a rejected request only near the start of the message. A server may quote the rejected request,
    /// whose text may itself mention balances or busy servers.
    NearStart,
}

/// The kinds of failure a phrase applies to, as a bit set.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AppliesTo(u8);

impl AppliesTo {
    /// A 429, or the code of a rate limit.
    pub const LIMITS: Self = Self(1);
    /// The code of an exhausted quota.
    pub const QUOTAS: Self = Self(2);
    /// A rejected request: 400, 404, 413, 422.
    pub const REQUESTS: Self = Self(4);
    /// A server error: 5xx.
    pub const SERVERS: Self = Self(8);
    /// Neither status nor code: only the message is known.
    pub const MESSAGE_ONLY: Self = Self(16);
    /// A missing permission: 403.
    pub const PERMISSIONS: Self = Self(32);
    /// A rejected account: 401, 402.
    pub const ACCOUNTS: Self = Self(64);
    /// Any class to which no phrase applies.
    pub const NOTHING: Self = Self(0);

    const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the two sets share a member.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The set for the class found so far.
    pub const fn of(class: Option<Class>) -> Self {
        match class {
            None | Some(Class::Unknown) => Self::MESSAGE_ONLY,
            Some(Class::RateLimited | Class::UnexplainedRateLimit) => Self::LIMITS,
            Some(Class::QuotaExhausted) => Self::QUOTAS,
            Some(Class::InvalidRequest | Class::RequestTooLarge | Class::NotFound) => Self::REQUESTS,
            Some(Class::Permission) => Self::PERMISSIONS,
            Some(Class::Billing | Class::Authentication) => Self::ACCOUNTS,
            Some(Class::ServerError | Class::GatewayError) => Self::SERVERS,
            Some(_) => Self::NOTHING,
        }
    }
}

/// One phrase.
#[derive(Copy, Clone, Debug)]
pub struct MessageRow {
    /// The text; `'` also matches the curly apostrophe.
    pub text: &'static str,
    /// Where it must occur.
    pub position: PhrasePosition,
    /// The class it indicates.
    pub class: Class,
    /// The failures it applies to.
    pub applies_to: AppliesTo,
    /// The phrase is ignored for these providers, for which the same words mean something else.
    pub unless_provider: &'static [&'static str],
    /// The phrase is ignored if the message contains one of these: a message that names two intervals explains both.
    pub unless_message_contains: &'static [&'static str],
    /// Whether it is a quota id rather than prose.
    pub quota_id: bool,
    /// Whether it names a limit over a long interval that refills continuously. Then waiting helps if the server asks
    /// for a short wait.
    pub refills: bool,
    /// Where it is documented.
    pub origin: Origin,
}

const fn anywhere(text: &'static str, class: Class, applies_to: AppliesTo, origin: Origin) -> MessageRow {
    let position = PhrasePosition::Anywhere;
    MessageRow {
        text,
        position,
        class,
        applies_to,
        unless_provider: &[],
        unless_message_contains: &[],
        quota_id: false,
        refills: false,
        origin,
    }
}

const fn at_start(text: &'static str, class: Class, applies_to: AppliesTo, origin: Origin) -> MessageRow {
    MessageRow { position: PhrasePosition::AtStart, ..anywhere(text, class, applies_to, origin) }
}

const fn near_start(text: &'static str, class: Class, applies_to: AppliesTo, origin: Origin) -> MessageRow {
    MessageRow { position: PhrasePosition::NearStart, ..anywhere(text, class, applies_to, origin) }
}

const fn quota_id(text: &'static str, class: Class, origin: Origin) -> MessageRow {
    MessageRow { quota_id: true, ..anywhere(text, class, LIMIT, origin) }
}

const fn origin(provider: &'static str, source: &'static str) -> Origin {
    Origin { provider, source }
}

/// A rate limit, or a message without status and code.
pub const LIMIT_OR_MESSAGE_ONLY: AppliesTo = AppliesTo::LIMITS.union(AppliesTo::MESSAGE_ONLY);
const LIMIT: AppliesTo = LIMIT_OR_MESSAGE_ONLY;
const REJECTED_OR_MESSAGE: AppliesTo =
    AppliesTo::REQUESTS.union(AppliesTo::PERMISSIONS).union(AppliesTo::ACCOUNTS).union(AppliesTo::MESSAGE_ONLY);
const SERVER_OR_MESSAGE: AppliesTo = AppliesTo::SERVERS.union(AppliesTo::MESSAGE_ONLY);
const CAPACITY: AppliesTo = SERVER_OR_MESSAGE.union(AppliesTo::LIMITS);
const CONTENT_FILTER: AppliesTo = AppliesTo::REQUESTS.union(AppliesTo::PERMISSIONS).union(SERVER_OR_MESSAGE);
const ANY: AppliesTo = CAPACITY.union(AppliesTo::REQUESTS).union(AppliesTo::PERMISSIONS).union(AppliesTo::ACCOUNTS);
const MESSAGE_ONLY: AppliesTo = AppliesTo::MESSAGE_ONLY;

/// All phrases. The first match wins, so more specific phrases come first.
const LISTS: [&[MessageRow]; 5] = [money::ROWS, windows::ROWS, requests::ROWS, service::ROWS, broken::ROWS];

/// All phrases, in order.
pub fn messages() -> impl Iterator<Item = &'static MessageRow> {
    LISTS.into_iter().flatten()
}

/// Automaton of all phrases in all spellings.
struct Phrases {
    automaton: AhoCorasick,
    /// For each pattern, the phrase it spells in lower case and the phrase's index in [`messages`], in ascending order.
    rows: Vec<(usize, &'static MessageRow)>,
}

/// Built when the first message is searched. Tests prove that the phrases compile; if they did not, prose would be
/// ignored.
static PHRASES: LazyLock<Option<Phrases>> = LazyLock::new(|| {
    // The text is converted to lower case instead, since building a case-insensitive automaton takes twice as long.
    let lowered = |text: String| text.to_ascii_lowercase();
    let spell =
        |row: (usize, &'static MessageRow)| spelled(row.1.text).into_iter().map(move |text| (row, lowered(text)));
    let (rows, texts): (Vec<_>, Vec<String>) = messages().enumerate().flat_map(spell).unzip();
    // A contiguous NFA is built in a fraction of the time of a DFA, which would only pay off for long texts.
    let kind = Some(AhoCorasickKind::ContiguousNFA);
    let automaton = AhoCorasick::builder().prefilter(false).kind(kind).build(texts).ok()?;
    Some(Phrases { automaton, rows })
});

/// Returns the spellings of a phrase: with a plain, a curly or a JSON-escaped curly apostrophe; for a phrase in another
/// script, literally and JSON-escaped.
fn spelled(text: &str) -> Vec<String> {
    if !text.is_ascii() {
        let escaped = text.encode_utf16().map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
            _ => format!("\\u{unit:04x}"),
        });
        vec![text.to_owned(), escaped.collect()]
    } else if text.contains('\'') {
        ["'", "\u{2019}", "\\u2019"].iter().map(|delimiter| text.replace('\'', delimiter)).collect()
    } else {
        vec![text.to_owned()]
    }
}

impl PhrasePosition {
    /// Returns whether a phrase that follows `before` is where it must be for such a failure.
    fn allows(self, before: &[u8], applies_to: AppliesTo) -> bool {
        match self {
            PhrasePosition::Anywhere => true,
            PhrasePosition::NearStart => !applies_to.intersects(AppliesTo::REQUESTS) || is_near_message_start(before),
            // A quote or a colon may precede a message quoted in another.
            PhrasePosition::AtStart => {
                let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                let last = before[..before.len() - blank].last();
                last.is_none_or(|byte| matches!(byte, b'"' | b'\'' | b':' | b'>' | b'-'))
            }
        }
    }
}

/// Returns whether the text that follows `before` is at most a few words after the start of a message.
fn is_near_message_start(before: &[u8]) -> bool {
    const FEW_WORDS: usize = 60;
    const KEYS: [&[u8]; 7] = [b"message", b"msg", b"detail", b"error", b"error_msg", b"raw", b"title"];
    let is_delimiter = |at: usize| match before[at] {
        b'"' | b'[' | b'{' | b'\n' => true,
        // Excludes an apostrophe within a word.
        b'\'' => !at.checked_sub(1).is_some_and(|at| before[at].is_ascii_alphanumeric()),
        b':' | b'-' => before.get(at + 1).is_none_or(|next| *next == b' '),
        _ => false,
    };
    let Some(delimiter) = (0..before.len()).rev().find(|at| is_delimiter(*at)) else {
        return before.len() <= FEW_WORDS;
    };
    let (words_between, before_delimiter) = (&before[delimiter + 1..], before[..delimiter].trim_ascii_end());
    let word =
        |text: &'_ [u8]| text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let last = &before_delimiter[before_delimiter.len() - word(before_delimiter)..];
    let near_start = match before[delimiter] {
        // `"message": "`, `'msg': '`, escaped or not
        b'"' | b'\'' => {
            let is_quote = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\' | b' ');
            let trim = |text: &mut &[u8]| {
                while let [rest @ .., byte] = *text
                    && is_quote(byte)
                {
                    *text = rest;
                }
            };
            let mut key = before_delimiter;
            trim(&mut key);
            let Some(mut key) = key.strip_suffix(b":") else { return false };
            trim(&mut key);
            KEYS.iter().any(|known| key.ends_with(known))
        }
        // `DeepseekException: `, `400 - `, `[1113][`
        b':' | b'-' => {
            let names_exception =
                |word: &[u8]| [b"Error".as_slice(), b"Exception", b"error"].iter().any(|end| word.ends_with(end));
            names_exception(last)
                || (last.len() == 3 && last.iter().all(u8::is_ascii_digit))
                || before_delimiter.is_empty()
        }
        b'[' => before_delimiter.ends_with(b"]"),
        _ => words_between.is_empty(),
    };
    near_start && words_between.len() <= FEW_WORDS
}

/// Whether `text` contains `words`, ignoring case.
fn contains_words(text: &[u8], words: &str) -> bool {
    text.windows(words.len()).any(|window| window.eq_ignore_ascii_case(words.as_bytes()))
}

/// Returns the first phrase in `text`, by order of the tables, that applies to such a failure.
pub(super) fn find(text: &[u8], applies_to: AppliesTo, providers: [&str; 2]) -> Option<&'static MessageRow> {
    let applies = |row: &MessageRow| {
        row.applies_to.intersects(applies_to)
            && !providers.iter().any(|provider| is_of(provider, row.unless_provider))
            && !row.unless_message_contains.iter().any(|words| contains_words(text, words))
    };
    if applies_to == AppliesTo::NOTHING {
        return None;
    }
    let Phrases { automaton, rows } = PHRASES.as_ref()?;
    let matching_row = |found: Match| {
        let (index, row) = *rows.get(found.pattern().as_usize())?;
        (row.position.allows(&text[..found.start()], applies_to) && applies(row)).then_some((index, row))
    };
    let lowered = text.to_ascii_lowercase();
    let found = automaton.find_overlapping_iter(&lowered).filter_map(matching_row);
    found.min_by_key(|(index, _)| *index).map(|(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: AppliesTo = ANY.union(AppliesTo::QUOTAS);

    #[test]
    fn every_phrase_is_found_in_every_spelling() {
        for (nth, row) in messages().enumerate() {
            for text in spelled(row.text) {
                let text_with_phrase = if row.text.is_ascii() { row.text.to_uppercase() } else { String::new() };
                let text_with_phrase = format!("x: {text_with_phrase} {text}.");
                let applies_to = if row.position == PhrasePosition::NearStart { LIMIT } else { row.applies_to };
                let found = find(text_with_phrase.as_bytes(), applies_to, ["", ""]).expect(row.text);
                assert!(messages().position(|row| row.text == found.text) <= Some(nth), "{text_with_phrase}");
            }
        }
    }

    #[test]
    fn every_phrase_names_its_source_and_is_listed_once() {
        let mut seen = std::collections::HashSet::new();
        for row in messages() {
            assert!(!row.origin.provider.is_empty() && !row.origin.source.is_empty(), "{}", row.text);
            assert!(seen.insert(row.text.to_ascii_lowercase()), "{} is listed twice", row.text);
        }
    }

    #[test]
    fn a_phrase_at_the_start_may_follow_only_a_delimiter() {
        let at_start = |before: &str| {
            let text = format!("{before}You have reached your API usage limits.");
            find(text.as_bytes(), EVERYTHING, ["", ""]).is_some()
        };
        for before in ["", " ", "\t ", "\"", "429 - '", "error: ", "<b>\t"] {
            assert!(at_start(before), "{before:?}");
        }
        for before in ["x", "x ", "\n", "when ", "é"] {
            assert!(!at_start(before), "{before:?}");
        }
    }

    #[test]
    fn a_phrase_far_from_the_start_of_a_rejected_request_is_a_quotation() {
        for before in [
            "",
            "Your account has ",
            "Error code: 400 - {'error': {'message': '",
            r#"{"error":{"message":"Sorry, "#,
            r#"{\"message\":\""#,
            "litellm.BadRequestError: DeepseekException - ",
            "[1113][",
            "400 ",
            "400 - ",
        ] {
            assert!(is_near_message_start(before.as_bytes()), "{before:?}");
        }
        for before in [
            "messages.1.content: My card says ",
            "Invalid value 'my card says ",
            r#"{"error":{"message":"bad content: \""#,
            "{'content': '",
            "Could not parse message: the user writes of an ",
            "The request could not be read since its second message, which ends in the words ",
        ] {
            assert!(!is_near_message_start(before.as_bytes()), "{before:?}");
        }
    }
}
