//! What messages give away: telling fragments of prose, as data.
//!
//! Prose is read only where codes leave room for it, and each phrase only over the failures
//! it can be about: "PerDay" inside a 400 is somebody's tool name, inside a 429 a quota id.
//! All phrases are searched at once, by one automaton.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match};

use super::Class;
use super::table::Origin;

/// Where in the message the fragment must stand.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// At the start of the message, or of a message quoted inside it.
    Begins,
    /// Anywhere.
    Contains,
}

/// Which failures a phrase may speak about: a set of bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Over(u8);

impl Over {
    /// A 429, or the code of a throttle.
    pub const LIMITS: Self = Self(1);
    /// The code of an exhausted quota.
    pub const QUOTAS: Self = Self(2);
    /// A refused request: 400, 402, 403, 404, 413, 422.
    pub const REQUESTS: Self = Self(4);
    /// A failure of a server: 5xx.
    pub const SERVERS: Self = Self(8);
    /// No status, no code: the message is all there is.
    pub const SILENCE: Self = Self(16);
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
            Some(
                Class::InvalidRequest | Class::RequestTooLarge | Class::Permission | Class::NotFound | Class::Billing,
            ) => Self::REQUESTS,
            Some(Class::ServerError | Class::GatewayError) => Self::SERVERS,
            Some(_) => Self::NOTHING,
        }
    }
}

/// One telling fragment.
#[derive(Copy, Clone, Debug)]
pub struct MessageRow {
    /// The fragment, in ASCII; `'` also stands for the curly apostrophe.
    pub text: &'static str,
    /// Where it must stand.
    pub place: Place,
    /// What it means.
    pub class: Class,
    /// Which failures it may speak about.
    pub over: Over,
    /// Providers from whom the same words mean something else.
    pub unless: &'static [&'static str],
    /// It is a quota id rather than prose.
    pub quota_id: bool,
    /// Who says so.
    pub origin: Origin,
}

const fn says(text: &'static str, class: Class, over: Over, origin: Origin) -> MessageRow {
    let place = Place::Contains;
    MessageRow { text, place, class, over, unless: &[], quota_id: false, origin }
}

const fn begins(text: &'static str, class: Class, over: Over, origin: Origin) -> MessageRow {
    let place = Place::Begins;
    MessageRow { text, place, class, over, unless: &[], quota_id: false, origin }
}

const fn quota_id(text: &'static str, class: Class) -> MessageRow {
    let place = Place::Contains;
    MessageRow { text, place, class, over: LIMIT, unless: &[], quota_id: true, origin: GEMINI }
}

const fn origin(provider: &'static str, source: &'static str) -> Origin {
    Origin { provider, source }
}

const ANTHROPIC: Origin = origin("anthropic", "Anthropic API docs, Errors");
const CLAUDE_CODE: Origin = origin("anthropic", "Claude Code notices, claude-code issues");
const OPENAI: Origin = origin("openai", "OpenAI API docs, Error codes");
const CODEX: Origin = origin("openai", "openai/codex#43892");
const AZURE: Origin = origin("azure", "Azure OpenAI docs, Content filtering");
const GEMINI: Origin = origin("gemini", "Gemini API, google.rpc.QuotaFailure quotaId");
const GEMINI_DOCS: Origin = origin("gemini", "Gemini API docs, Troubleshooting");
const BEDROCK: Origin = origin("bedrock", "Amazon Bedrock User Guide, API error codes");
const VLLM: Origin = origin("vllm", "vLLM server, max_num_queued_reqs");
const DASHSCOPE: Origin = origin("dashscope", "Alibaba Model Studio docs, Error messages");
const CLIENTS: Origin = origin("client", "httpx, aiohttp, undici and SDK exception texts");
const ENVOY: Origin = origin("gateway", "Envoy docs, Response code details");

/// A throttle, or a message with nothing beside it.
pub const LIMITS_OR_SILENCE: Over = Over::LIMITS.and(Over::SILENCE);
const LIMIT: Over = LIMITS_OR_SILENCE;
const REFUSED: Over = Over::REQUESTS.and(Over::SILENCE);
const BROKEN: Over = Over::SERVERS.and(Over::SILENCE);
const CROWDED: Over = BROKEN.and(Over::LIMITS);
const FILTERED: Over = REFUSED.and(Over::SERVERS);
const ANY: Over = CROWDED.and(Over::REQUESTS);
const SILENT: Over = Over::SILENCE;

use Class::{
    Authentication, Cancelled, Connection, ContentPolicy, ContextTooLong, Entitlement, GatewayError, Overloaded,
    QuotaExhausted, RateLimited, ServerError, SpendCap, SpendLimit, Timeout, UsageWindow,
};

/// Every phrase; the first that fits wins, so the telling ones stand first.
#[rustfmt::skip]
pub const MESSAGES: &[MessageRow] = &[
    begins("You have reached your API usage limits", SpendCap, ANY, ANTHROPIC),
    begins("You have reached your specified API usage limits", SpendLimit, ANY, ANTHROPIC),
    begins("You have reached your specified workspace API usage limits", SpendLimit, ANY, ANTHROPIC),
    says("credit balance is too low", QuotaExhausted, ANY, ANTHROPIC),
    says("Extra usage is required for long context", Entitlement, ANY, CLAUDE_CODE),
    says("long context beta is not yet available for this subscription", Entitlement, ANY, CLAUDE_CODE),
    says("not included in your plan", Entitlement, ANY, CLAUDE_CODE),
    says("You've hit your session limit", UsageWindow, LIMIT, CLAUDE_CODE),
    says("You've hit your weekly limit", UsageWindow, LIMIT, CLAUDE_CODE),
    says("You've hit your limit", UsageWindow, LIMIT, CLAUDE_CODE),
    says("You've hit your usage limit", UsageWindow, LIMIT, CODEX),
    says("usage limit has been reached", UsageWindow, LIMIT, CODEX),
    says("usage limit reached", UsageWindow, LIMIT, CLAUDE_CODE),
    says("weekly limit reached", UsageWindow, LIMIT, CLAUDE_CODE),
    says("5-hour limit reached", UsageWindow, LIMIT, CLAUDE_CODE),

    says("Too many tokens per day", QuotaExhausted, LIMIT, BEDROCK),
    quota_id("PerDay", QuotaExhausted),
    quota_id("PerMinute", RateLimited),
    says("Allocated quota exceeded", RateLimited, LIMIT.and(Over::QUOTAS), DASHSCOPE),
    // Gemini answers every 429 with the same sentence, a minute's throttle included.
    MessageRow { unless: &["gemini", "google", "vertex"],
        ..says("exceeded your current quota", QuotaExhausted, LIMIT, OPENAI) },
    says("Billing hard limit has been reached", QuotaExhausted, ANY, OPENAI),

    // Before the words of a long context: "too many tokens" is a throttle here.
    says("Too many tokens, please wait", RateLimited, ANY, BEDROCK),
    says("prompt is too long", ContextTooLong, ANY, ANTHROPIC),
    says("exceed context limit", ContextTooLong, ANY, ANTHROPIC),
    says("context_length_exceeded", ContextTooLong, ANY, OPENAI),
    says("maximum context length", ContextTooLong, ANY, OPENAI),
    says("exceeds the context window", ContextTooLong, ANY, OPENAI),
    says("exceeds the maximum number of tokens allowed", ContextTooLong, ANY, GEMINI_DOCS),
    says("Input is too long for requested model", ContextTooLong, ANY, BEDROCK),

    says("content filter", ContentPolicy, FILTERED, ANTHROPIC),
    says("content_filter", ContentPolicy, FILTERED, OPENAI),
    says("content_policy_violation", ContentPolicy, FILTERED, OPENAI),
    says("content management policy", ContentPolicy, FILTERED, AZURE),
    says("rejected as a result of our safety system", ContentPolicy, FILTERED, OPENAI),
    says("violating our usage policy", ContentPolicy, FILTERED, OPENAI),

    says("overloaded", Overloaded, CROWDED, OPENAI),
    says("engine is currently busy", Overloaded, CROWDED, VLLM),
    says("Bedrock is unable to process your request", Overloaded, CROWDED, BEDROCK),
    says("currently experiencing high demand", Overloaded, CROWDED, GEMINI_DOCS),

    says("rate limit", RateLimited, LIMIT, OPENAI),
    says("rate_limit_e", RateLimited, SILENT, OPENAI),
    says("RESOURCE_EXHAUSTED", RateLimited, SILENT, GEMINI_DOCS),
    says("too many requests", RateLimited, SILENT, OPENAI),
    says("too many tokens", RateLimited, SILENT, BEDROCK),

    says("invalid x-api-key", Authentication, REFUSED, ANTHROPIC),
    says("Incorrect API key provided", Authentication, REFUSED, OPENAI),
    says("API key not valid", Authentication, REFUSED, GEMINI_DOCS),

    says("upstream connect error", GatewayError, SILENT, ENVOY),
    says("502 Bad Gateway", GatewayError, SILENT, ENVOY),
    says("timed out", Timeout, BROKEN, CLIENTS),
    says("timeout on reading", Timeout, BROKEN, CLIENTS),
    says("deadline exceeded", Timeout, BROKEN, CLIENTS),
    says("ETIMEDOUT", Timeout, SILENT, CLIENTS),
    says("read timeout", Timeout, SILENT, CLIENTS),
    says("ECONNRESET", Connection, SILENT, CLIENTS),
    says("ECONNREFUSED", Connection, SILENT, CLIENTS),
    says("socket hang up", Connection, SILENT, CLIENTS),
    says("fetch failed", Connection, SILENT, CLIENTS),
    says("connection error", Connection, SILENT, CLIENTS),
    says("connection reset", Connection, SILENT, CLIENTS),
    says("connection refused", Connection, SILENT, CLIENTS),
    says("connection aborted", Connection, SILENT, CLIENTS),
    says("connection failed", Connection, SILENT, CLIENTS),
    says("server disconnected", Connection, SILENT, CLIENTS),
    says("peer closed connection", Connection, SILENT, CLIENTS),
    says("incomplete chunked read", Connection, SILENT, CLIENTS),
    says("stream disconnected before completion", Connection, SILENT, CODEX),
    says("request was aborted", Cancelled, SILENT, CLIENTS),
    says("internal server error", ServerError, SILENT, ANTHROPIC),
    says("Server error mid-response", ServerError, SILENT, CLAUDE_CODE),
];

/// All phrases in one automaton, each in every spelling of its apostrophes.
struct Phrases {
    automaton: AhoCorasick,
    /// The place in [`MESSAGES`] of what each pattern of the automaton spells; in that order.
    rows: Vec<usize>,
}

/// Built for the first message that is read. Phrases that make no automaton would be a bug; the tests prove
/// that they do, and at run time prose would then simply tell nothing.
static PHRASES: LazyLock<Option<Phrases>> = LazyLock::new(|| {
    let spell = |(row, message): (usize, &MessageRow)| spelled(message.text).into_iter().map(move |text| (row, text));
    let (rows, texts): (Vec<usize>, Vec<String>) = MESSAGES.iter().enumerate().flat_map(spell).unzip();
    // Contiguous: a fraction of the work to build that a faster automaton takes, and messages are short.
    let kind = Some(AhoCorasickKind::ContiguousNFA);
    let automaton =
        AhoCorasick::builder().ascii_case_insensitive(true).prefilter(false).kind(kind).build(texts).ok()?;
    Some(Phrases { automaton, rows })
});

/// A phrase with its apostrophe plain, curly, and curly as JSON may escape it.
fn spelled(text: &str) -> Vec<String> {
    if text.contains('\'') {
        ["'", "\u{2019}", "\\u2019"].iter().map(|mark| text.replace('\'', mark)).collect()
    } else {
        vec![text.to_owned()]
    }
}

impl Place {
    /// Whether a fragment behind `before` stands so.
    fn is_behind(self, before: &[u8]) -> bool {
        match self {
            Place::Contains => true,
            // After a quote or a colon begins a message that somebody else's message carries.
            Place::Begins => {
                let blank = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
                let last = before[..before.len() - blank].last();
                last.is_none_or(|byte| matches!(byte, b'"' | b'\'' | b':' | b'>' | b'-'))
            }
        }
    }
}

/// The first phrase that stands in `text` and may speak about such a failure.
pub(super) fn find(text: &[u8], over: Over, providers: [&str; 2]) -> Option<&'static MessageRow> {
    let speaks = |row: &MessageRow| {
        let said_by = |name: &&str| providers.iter().any(|provider| provider.contains(name));
        row.over.meets(over) && !row.unless.iter().any(said_by)
    };
    if over == Over::NOTHING {
        return None;
    }
    let Phrases { automaton, rows } = PHRASES.as_ref()?;
    let fits = |found: Match| {
        let row = rows[found.pattern().as_usize()];
        let message = MESSAGES.get(row)?;
        (speaks(message) && message.place.is_behind(&text[..found.start()])).then_some(row)
    };
    automaton.find_overlapping_iter(text).filter_map(fits).min().and_then(|row| MESSAGES.get(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: Over = ANY.and(Over::QUOTAS);

    #[test]
    fn every_phrase_is_found_in_every_spelling() {
        for row in MESSAGES {
            for text in spelled(row.text) {
                let said = format!("x: {} {text}.", row.text.to_uppercase());
                let found = find(said.as_bytes(), row.over, ["", ""]).expect(row.text);
                let place = |of: &MessageRow| MESSAGES.iter().position(|row| row.text == of.text);
                assert!(place(found) <= place(row), "{said}");
            }
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
}
