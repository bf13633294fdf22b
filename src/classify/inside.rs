//! Error bodies inside messages.
//!
//! Gateways and SDKs wrap the provider's error into a string of their own: JSON, JSON nested in a JSON string, or a
//! Python dict with single quotes. The innermost body is the provider's, so it takes precedence.

use serde_json::Value;

use super::row::{ExactRow, Weight};
use super::table::lookup;

/// Maximum length of a message to parse, in bytes; anything longer is a document, not an error body.
const MAX_BYTES: usize = 64 * 1024;
/// Maximum nesting of JSON in JSON strings.
const MAX_STRINGS: u8 = 3;
/// Maximum nesting of objects and arrays in a body.
const MAX_OBJECTS: u8 = 6;
/// Keys of codes, the most specific first.
const CODE_KEYS: [&str; 11] = [
    "error_code",
    "code",
    "Code",
    "type",
    "error_type",
    "__type",
    // Header of an exception in an AWS event stream, as printed by clients.
    ":exception-type",
    "status",
    "status_code",
    "reason",
    "name",
];
/// Keys of nested bodies.
const INNER_KEYS: [&str; 10] =
    ["error", "Error", "details", "body", "response", "errors", "cause", "innererror", "data", "metadata"];
/// Keys of strings that may contain another body.
const TEXT_KEYS: [&str; 6] = ["message", "Message", "error", "detail", "body", "raw"];

/// Content of an error body inside a message.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct InnerError {
    /// The most specific known code.
    pub(super) row: Option<&'static ExactRow>,
    /// The HTTP status, if the body repeats it.
    pub(super) status: Option<u16>,
}

impl InnerError {
    /// Takes the content of `inner` where it has any, since the innermost body is the provider's.
    fn prefer(&mut self, inner: Self) {
        let is_conclusive = |row: &ExactRow| row.weight != Weight::Weak;
        if inner.row.is_some_and(is_conclusive) || self.row.is_none() {
            self.row = inner.row.or(self.row);
        }
        self.status = inner.status.or(self.status);
    }
}

/// Parses an error body inside a message, or else the AWS exception that botocore quotes.
pub(super) fn find_error_body(message: &str) -> InnerError {
    let mut found = find_in_message(message, MAX_STRINGS);
    if found.row.is_none() {
        found.row = aws_exception(message).and_then(lookup);
    }
    found
}

/// Returns the name in `An error occurred (ThrottlingException) when calling the Converse operation`.
fn aws_exception(message: &str) -> Option<&str> {
    const PREFIX: &str = "An error occurred (";
    let start = memchr::memmem::find(message.as_bytes(), PREFIX.as_bytes())? + PREFIX.len();
    message.get(start..)?.split_once(')').map(|(name, _)| name)
}

fn find_in_message(message: &str, strings_left: u8) -> InnerError {
    let Some(start) = memchr::memchr(b'{', message.as_bytes()) else {
        return InnerError::default();
    };
    if strings_left == 0 {
        return InnerError::default();
    }
    let mut end = message.len().min(MAX_BYTES);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let Some(text) = message.get(start..end) else {
        return InnerError::default();
    };
    // A stream deserializer ignores the text that may follow the body.
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => find_in_value(&value, strings_left, MAX_OBJECTS),
        _ => find_in_quoted_words(text),
    }
}

fn find_in_value(value: &Value, strings_left: u8, objects_left: u8) -> InnerError {
    let mut found = InnerError::default();
    if objects_left == 0 {
        return found;
    }
    match value {
        Value::Array(items) => {
            for item in items.iter().take(16) {
                found.prefer(find_in_value(item, strings_left, objects_left - 1));
            }
        }
        Value::Object(fields) => {
            let words = CODE_KEYS.iter().filter_map(|key| fields.get(*key));
            for word in words {
                match word {
                    Value::String(word) => add_code(&mut found, word),
                    Value::Number(number) if found.status.is_none() => {
                        found.status = number.as_u64().and_then(error_status);
                    }
                    _ => {}
                }
            }
            // Some bodies have a string here, as in `"error": "overloaded"`.
            if let Some(Value::String(word)) = fields.get("error") {
                add_code(&mut found, word);
            }
            let inner = INNER_KEYS.iter().filter_map(|key| fields.get(*key));
            for value in inner.filter(|value| value.is_object() || value.is_array()) {
                found.prefer(find_in_value(value, strings_left, objects_left - 1));
            }
            let texts = TEXT_KEYS.iter().filter_map(|key| fields.get(*key)?.as_str());
            for text in texts {
                found.prefer(find_in_message(text, strings_left - 1));
            }
        }
        _ => {}
    }
    found
}

/// Adds a code of a body. Keys are tried in the order of `CODE_KEYS`, so the first known code is kept, unless it is
/// only a library's class name.
fn add_code(found: &mut InnerError, word: &str) {
    if let Some(status) = word.parse().ok().and_then(error_status) {
        found.status = found.status.or(Some(status));
        return;
    }
    if found.row.is_none_or(|row| row.weight == Weight::Weak)
        && let Some(row) = lookup(word)
    {
        found.row = Some(row);
    }
}

pub(super) fn error_status(number: u64) -> Option<u16> {
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

/// Finds known codes among the quoted words of a text that is not valid JSON: a Python dict, JSON escaped once more, or
/// truncated JSON.
///
/// A word counts only as the value of a key for codes: `'param': 'timeout'` is ignored.
fn find_in_quoted_words(text: &str) -> InnerError {
    let bytes = text.as_bytes();
    let mut found = InnerError::default();
    let mut best_rank = usize::MAX;
    let mut key: Option<usize> = None;
    let mut position = 0;
    while let Some(offset) = memchr::memchr2(b'\'', b'"', &bytes[position..]) {
        let start = position + offset + 1;
        let is_name_char =
            |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'#' | b'/' | b'-' | b' ');
        let length = bytes[start..].iter().take_while(is_name_char).count();
        let mut end = start + length;
        while bytes.get(end) == Some(&b'\\') {
            end += 1;
        }
        position = start + length;
        if length == 0 || length > 96 || !matches!(bytes.get(end), Some(b'\'' | b'"')) {
            key = None;
            continue;
        }
        let word = text.get(start..start + length).unwrap_or_default();
        let after = bytes.get(end + 1..).unwrap_or_default().trim_ascii_start();
        position = end + 1;
        if let Some([b':', value @ ..]) = after.get(..) {
            key = CODE_KEYS.iter().position(|known| *known == word);
            let digits = value.trim_ascii_start();
            let digits = digits.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
            if key.is_some() && found.status.is_none() {
                found.status = digits.and_then(|digits| digits.parse().ok()).and_then(error_status);
            }
        } else if let Some(rank) = key.take()
            && rank < best_rank
            && let Some(row) = lookup(word)
        {
            found.row = Some(row);
            best_rank = rank;
        }
    }
    found
}
