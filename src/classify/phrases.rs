//! What messages give away: telling fragments of prose, as data.
//!
//! Prose is read only where codes leave room for it, and each phrase only over the failures
//! it can be about: "PerDay" inside a 400 is somebody's tool name, inside a 429 a quota id.
//! All phrases are searched at once, by one automaton.

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

/// Where in the message the fragment must stand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// At the start of the message, or of a message quoted inside it.
    Begins,
    /// Anywhere.
    Contains,
    /// Anywhere, but in a refused request near the beginning of a message: what a server says of a malformed request
    /// may quote it, and people write of balances and busy servers, too.
    Opens,
}

/// Which failures a phrase may speak about: a set of bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Over(u8);

impl Over {
    /// A 429, or the code of a throttle.
    pub const LIMITS: Self = Self(1);
    /// The code of an exhausted quota.
    pub const QUOTAS: Self = Self(2);
    /// A refused request: 400, 404, 413, 422.
    pub const REQUESTS: Self = Self(4);
    /// A failure of a server: 5xx.
    pub const SERVERS: Self = Self(8);
    /// No status, no code: the message is all there is.
    pub const SILENCE: Self = Self(16);
    /// A missing right: 403.
    pub const RIGHTS: Self = Self(32);
    /// A refused account: 401, 402.
    pub const ACCOUNTS: Self = Self(64);
    /// A class no phrase speaks about.
    pub const NOTHING: Self = Self(0);

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the two sets share a member.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The failures a class belongs to.
    pub const fn of(class: Option<Class>) -> Self {
        match class {
            None | Some(Class::Unknown) => Self::SILENCE,
            Some(Class::RateLimited | Class::UnexplainedRateLimit) => Self::LIMITS,
            Some(Class::QuotaExhausted) => Self::QUOTAS,
            Some(Class::InvalidRequest | Class::RequestTooLarge | Class::NotFound) => Self::REQUESTS,
            Some(Class::Permission) => Self::RIGHTS,
            Some(Class::Billing | Class::Authentication) => Self::ACCOUNTS,
            Some(Class::ServerError | Class::GatewayError) => Self::SERVERS,
            Some(_) => Self::NOTHING,
        }
    }
}

/// One telling fragment.
#[derive(Copy, Clone, Debug)]
pub struct MessageRow {
    /// The fragment; `'` also stands for the curly apostrophe.
    pub text: &'static str,
    /// Where it must stand.
    pub place: Place,
    /// What it means.
    pub class: Class,
    /// Which failures it may speak about.
    pub over: Over,
    /// Providers from whom the same words mean something else.
    pub unless: &'static [&'static str],
    /// Words beside which it says nothing: a message that names two intervals explains both.
    pub unless_said: &'static [&'static str],
    /// It is a quota id rather than prose.
    pub quota_id: bool,
    /// The limit of a long time that fills up all the while: where the server names a short wait, that heals it.
    pub refills: bool,
    /// Who says so.
    pub origin: Origin,
}

const fn says(text: &'static str, class: Class, over: Over, origin: Origin) -> MessageRow {
    let place = Place::Contains;
    MessageRow { text, place, class, over, unless: &[], unless_said: &[], quota_id: false, refills: false, origin }
}

const fn begins(text: &'static str, class: Class, over: Over, origin: Origin) -> MessageRow {
    MessageRow { place: Place::Begins, ..says(text, class, over, origin) }
}

const fn opens(text: &'static str, class: Class, over: Over, origin: Origin) -> MessageRow {
    MessageRow { place: Place::Opens, ..says(text, class, over, origin) }
}

const fn quota_id(text: &'static str, class: Class, origin: Origin) -> MessageRow {
    MessageRow { quota_id: true, ..says(text, class, LIMIT, origin) }
}

const fn origin(provider: &'static str, source: &'static str) -> Origin {
    Origin { provider, source }
}

/// A throttle, or a message with nothing beside it.
pub const LIMITS_OR_SILENCE: Over = Over::LIMITS.and(Over::SILENCE);
const LIMIT: Over = LIMITS_OR_SILENCE;
const REFUSED: Over = Over::REQUESTS.and(Over::RIGHTS).and(Over::ACCOUNTS).and(Over::SILENCE);
const BROKEN: Over = Over::SERVERS.and(Over::SILENCE);
const CROWDED: Over = BROKEN.and(Over::LIMITS);
const FILTERED: Over = Over::REQUESTS.and(Over::RIGHTS).and(BROKEN);
const ANY: Over = CROWDED.and(Over::REQUESTS).and(Over::RIGHTS).and(Over::ACCOUNTS);
const SILENT: Over = Over::SILENCE;

/// Every phrase; the first that fits wins, so the telling ones stand first.
const LISTS: [&[MessageRow]; 5] = [money::ROWS, windows::ROWS, requests::ROWS, service::ROWS, broken::ROWS];

/// All of them, in order.
pub fn messages() -> impl Iterator<Item = &'static MessageRow> {
    LISTS.into_iter().flatten()
}

/// All phrases in one automaton, each in every spelling.
struct Phrases {
    automaton: AhoCorasick,
    /// What each pattern of the automaton spells in small letters, with its place among [`messages`]; in that order.
    rows: Vec<(usize, &'static MessageRow)>,
}

/// Built for the first message that is read. Phrases that make no automaton would be a bug; the tests prove
/// that they do, and at run time prose would then simply tell nothing.
static PHRASES: LazyLock<Option<Phrases>> = LazyLock::new(|| {
    // An automaton that knows capital letters beside small ones is twice the work to build.
    let lowered = |text: String| text.to_ascii_lowercase();
    let spell =
        |row: (usize, &'static MessageRow)| spelled(row.1.text).into_iter().map(move |text| (row, lowered(text)));
    let (rows, texts): (Vec<_>, Vec<String>) = messages().enumerate().flat_map(spell).unzip();
    // Contiguous: a fraction of the work to build that a faster automaton takes, and messages are short.
    let kind = Some(AhoCorasickKind::ContiguousNFA);
    let automaton = AhoCorasick::builder().prefilter(false).kind(kind).build(texts).ok()?;
    Some(Phrases { automaton, rows })
});

/// A phrase with its apostrophe plain, curly, and curly as JSON may escape it; one in another script also as JSON may
/// escape that.
fn spelled(text: &str) -> Vec<String> {
    if !text.is_ascii() {
        let escaped = text.encode_utf16().map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
            _ => format!("\\u{unit:04x}"),
        });
        vec![text.to_owned(), escaped.collect()]
    } else if text.contains('\'') {
        ["'", "\u{2019}", "\\u2019"].iter().map(|mark| text.replace('\'', mark)).collect()
    } else {
        vec![text.to_owned()]
    }
}

impl Place {
    /// Whether a fragment behind `before` stands so in the message of such a failure.
    fn is_behind(self, before: &[u8], over: Over) -> bool {
        match self {
            Place::Contains => true,
            Place::Opens => !over.meets(Over::REQUESTS) || opens_message(before),
            // After a quote or a colon begins a message that somebody else's message carries.
            Place::Begins => {
                let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                let last = before[..before.len() - blank].last();
                last.is_none_or(|byte| matches!(byte, b'"' | b'\'' | b':' | b'>' | b'-'))
            }
        }
    }
}

/// Whether no more than a few words stand between the beginning of a message and what follows `before`.
fn opens_message(before: &[u8]) -> bool {
    const FEW_WORDS: usize = 60;
    const KEYS: [&[u8]; 7] = [b"message", b"msg", b"detail", b"error", b"error_msg", b"raw", b"title"];
    let is_mark = |at: usize| match before[at] {
        b'"' | b'[' | b'{' | b'\n' => true,
        // Not the apostrophe of a word.
        b'\'' => !at.checked_sub(1).is_some_and(|at| before[at].is_ascii_alphanumeric()),
        b':' | b'-' => before.get(at + 1).is_none_or(|next| *next == b' '),
        _ => false,
    };
    let Some(mark) = (0..before.len()).rev().find(|at| is_mark(*at)) else {
        return before.len() <= FEW_WORDS;
    };
    let (lead, ahead) = (&before[mark + 1..], before[..mark].trim_ascii_end());
    let word =
        |text: &'_ [u8]| text.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let last = &ahead[ahead.len() - word(ahead)..];
    let opens = match before[mark] {
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
            let mut key = ahead;
            trim(&mut key);
            let Some(mut key) = key.strip_suffix(b":") else { return false };
            trim(&mut key);
            KEYS.iter().any(|known| key.ends_with(known))
        }
        // `DeepseekException: `, `400 - `, `[1113][`
        b':' | b'-' => {
            let names =
                |word: &[u8]| [b"Error".as_slice(), b"Exception", b"error"].iter().any(|end| word.ends_with(end));
            names(last) || (last.len() == 3 && last.iter().all(u8::is_ascii_digit)) || ahead.is_empty()
        }
        b'[' => ahead.ends_with(b"]"),
        _ => lead.is_empty(),
    };
    opens && lead.len() <= FEW_WORDS
}

/// Whether `text` says `words`, in any case.
fn says_also(text: &[u8], words: &str) -> bool {
    text.windows(words.len()).any(|window| window.eq_ignore_ascii_case(words.as_bytes()))
}

/// The first phrase that stands in `text` and may speak about such a failure.
pub(super) fn find(text: &[u8], over: Over, providers: [&str; 2]) -> Option<&'static MessageRow> {
    let speaks = |row: &MessageRow| {
        row.over.meets(over)
            && !providers.iter().any(|provider| is_of(provider, row.unless))
            && !row.unless_said.iter().any(|words| says_also(text, words))
    };
    if over == Over::NOTHING {
        return None;
    }
    let Phrases { automaton, rows } = PHRASES.as_ref()?;
    let fits = |found: Match| {
        let (place, row) = *rows.get(found.pattern().as_usize())?;
        (row.place.is_behind(&text[..found.start()], over) && speaks(row)).then_some((place, row))
    };
    let lowered = text.to_ascii_lowercase();
    let found = automaton.find_overlapping_iter(&lowered).filter_map(fits);
    found.min_by_key(|(place, _)| *place).map(|(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: Over = ANY.and(Over::QUOTAS);

    #[test]
    fn every_phrase_is_found_in_every_spelling() {
        for (nth, row) in messages().enumerate() {
            for text in spelled(row.text) {
                let said = if row.text.is_ascii() { row.text.to_uppercase() } else { String::new() };
                let said = format!("x: {said} {text}.");
                let over = if row.place == Place::Opens { LIMIT } else { row.over };
                let found = find(said.as_bytes(), over, ["", ""]).expect(row.text);
                assert!(messages().position(|row| row.text == found.text) <= Some(nth), "{said}");
            }
        }
    }

    #[test]
    fn every_phrase_names_its_source_and_stands_once() {
        let mut seen = std::collections::HashSet::new();
        for row in messages() {
            assert!(!row.origin.provider.is_empty() && !row.origin.source.is_empty(), "{}", row.text);
            assert!(seen.insert(row.text.to_ascii_lowercase()), "{} stands twice", row.text);
        }
    }

    #[test]
    fn a_beginning_stands_behind_nothing_or_a_mark() {
        let begins = |before: &str| {
            let text = format!("{before}You have reached your API usage limits.");
            find(text.as_bytes(), EVERYTHING, ["", ""]).is_some()
        };
        for before in ["", " ", "\t ", "\"", "429 - '", "error: ", "<b>\t"] {
            assert!(begins(before), "{before:?}");
        }
        for before in ["x", "x ", "\n", "when ", "é"] {
            assert!(!begins(before), "{before:?}");
        }
    }

    #[test]
    fn a_refused_request_may_quote_a_phrase_behind_the_start_of_its_message() {
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
            assert!(opens_message(before.as_bytes()), "{before:?}");
        }
        for before in [
            "messages.1.content: My card says ",
            "Invalid value 'my card says ",
            r#"{"error":{"message":"bad content: \""#,
            "{'content': '",
            "Could not parse message: the user writes of an ",
            "The request could not be read since its second message, which ends in the words ",
        ] {
            assert!(!opens_message(before.as_bytes()), "{before:?}");
        }
    }
}
