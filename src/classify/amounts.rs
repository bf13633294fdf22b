//! Amounts stated in a rate-limit message: the limit, and how much is used and requested.
//!
//! A request that alone exceeds the whole limit fails however long the client waits; one that only exceeds what is left
//! succeeds once the bucket has refilled. The error code is the same for both (OpenAI: `rate_limit_exceeded`), so only
//! the amounts distinguish them.

use memchr::memmem;

/// Amounts in a message such as "Limit 30000, Used 25000, Requested 342389".
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Amounts {
    /// The whole limit.
    pub limit: u64,
    /// How much of it is in use, if stated.
    pub used: Option<u64>,
    /// How much this request needs.
    pub requested: u64,
}

impl Amounts {
    /// Whether the request alone exceeds the whole limit.
    ///
    /// `used` is ignored: if only the sum exceeds the limit, waiting helps.
    pub const fn request_exceeds_limit(&self) -> bool {
        self.requested > self.limit
    }
}

/// Parses the amounts in a message; `None` unless both the limit and the requested amount are stated.
pub fn amounts(message: &str) -> Option<Amounts> {
    let text = message.as_bytes();
    // The rarer word is searched first: most messages of limits state no requested amount and end here.
    memmem::find(text, b"equested")?;
    let requested = amount_after(text, b"requested")?;
    let limit = amount_after(text, b"limit")?;
    Some(Amounts { limit, used: amount_after(text, b"used"), requested })
}

/// Returns the number after the first occurrence of `word` that is followed by one.
///
/// "rate limit reached ... Limit 500" contains the word "limit" twice, of which only the second is followed by an
/// amount.
fn amount_after(text: &[u8], word: &[u8]) -> Option<u64> {
    let first = word.first()?.to_ascii_lowercase();
    let starts = memchr::memchr2_iter(first, first.to_ascii_uppercase(), text);
    for start in starts {
        let starts_word = start == 0 || !text[start - 1].is_ascii_alphanumeric();
        let end = start + word.len();
        let is_word =
            starts_word && text.get(start..end).is_some_and(|word_in_text| word_in_text.eq_ignore_ascii_case(word));
        if is_word && let Some(number) = leading_amount(&text[end..]) {
            return Some(number);
        }
    }
    None
}

/// Parses a number after separators and at most one filler word: `: 30,000`, ` tokens = 30000`, ` of 5`.
fn leading_amount(text: &[u8]) -> Option<u64> {
    const FILLERS: [&[u8]; 4] = [b"tokens", b"requests", b"of", b"is"];
    let mut rest = skip_separators(text);
    for filler in FILLERS {
        if rest.len() > filler.len() && rest[..filler.len()].eq_ignore_ascii_case(filler) {
            rest = skip_separators(&rest[filler.len()..]);
            break;
        }
    }
    number(rest)
}

fn skip_separators(text: &[u8]) -> &[u8] {
    let is_separator = |byte: &u8| matches!(byte, b' ' | b'\t' | b':' | b'=' | b'"' | b'\'' | b'~');
    let length = text.iter().take_while(|byte| is_separator(byte)).count();
    &text[length..]
}

/// Parses digits, optionally with `,` or `_` between groups of three.
fn number(text: &[u8]) -> Option<u64> {
    let mut value: u64 = 0;
    let mut position = 0;
    let mut has_digits = false;
    while let Some(&byte) = text.get(position) {
        if byte.is_ascii_digit() {
            value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
            has_digits = true;
            position += 1;
        } else if has_digits && matches!(byte, b',' | b'_') && is_digit_group(&text[position + 1..]) {
            position += 1;
        } else {
            break;
        }
    }
    // "30k" could mean thousands or be part of a name; no amount is better than a wrong one.
    let is_complete = text.get(position).is_none_or(|byte| !byte.is_ascii_alphabetic());
    (has_digits && is_complete).then_some(value)
}

fn is_digit_group(text: &[u8]) -> bool {
    text.len() >= 3 && text[..3].iter().all(u8::is_ascii_digit) && text.get(3).is_none_or(|byte| !byte.is_ascii_digit())
}
