//! A strict JSON parser that returns values one by one: it builds no tree, and copies only strings with escapes.
//!
//! Two common errors of loggers are accepted: `NaN` and `Infinity` are read as null, and an unpaired surrogate as the
//! replacement character.

mod skip;

use super::digits;
use super::scalar::Scalar;
use super::scan::{self, Kind};
use std::borrow::Cow;

/// Position and reason of a JSON syntax error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte offset.
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// Parses a number without a decimal point; `text` must be a valid JSON number.
#[inline]
pub(in crate::ingest) fn integer<'t>(text: &str) -> Option<Scalar<'t>> {
    digits::integer(text.as_bytes()).map(Scalar::Int).or_else(|| long_number(text))
}

/// Parses a number with a decimal point; `text` must be a valid JSON number.
#[inline]
pub(in crate::ingest) fn decimal<'t>(text: &str) -> Option<Scalar<'t>> {
    digits::decimal(text.as_bytes()).map(Scalar::Float).or_else(|| long_number(text))
}

/// Parses numbers with many digits or with exponents.
fn long_number<'t>(text: &str) -> Option<Scalar<'t>> {
    let value = text.parse().ok()?;
    let whole = !text.contains(['.', 'e', 'E']);
    Some(if whole { text.parse().map_or(Scalar::Float(value), Scalar::Int) } else { Scalar::Float(value) })
}

/// A reader at a position in a text.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    pub(crate) fn new(text: &'t str) -> Reader<'t> {
        Reader { text, at: 0 }
    }

    /// Returns the current position in bytes.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Returns the text that was not read yet, from the next value on.
    pub(in crate::ingest) fn rest(&mut self) -> &'t str {
        self.space();
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Fails unless only white space is left.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        self.space();
        if self.at == self.text.len() { Ok(()) } else { self.fault("text after the object") }
    }

    /// Returns the next byte that is not white space, without consuming it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.space();
        self.byte()
    }

    /// Reads an object; `member` is called with each key and must read or skip its value.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, Cow<'t, str>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.expect(b'{', "expected an object")?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            let key = self.string()?;
            self.expect(b':', "expected `:` after a key")?;
            self.space();
            member(self, key)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.fault("expected `,` or `}`"),
            }
        }
    }

    /// Reads an array; `member` is called for each element and must read or skip it.
    pub(crate) fn list(&mut self, mut member: impl FnMut(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.expect(b'[', "expected a list")?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            member(self)?;
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.fault("expected `,` or `]`"),
            }
        }
    }

    /// Reads a scalar. An object is skipped; of an array, the first element is kept.
    #[inline]
    pub(crate) fn scalar(&mut self) -> Result<Scalar<'t>, Fault> {
        match self.peek() {
            Some(b'[') => self.first_of_list(),
            _ => self.flat(),
        }
    }

    /// Reads an array as its first element.
    fn first_of_list(&mut self) -> Result<Scalar<'t>, Fault> {
        let mut first = None;
        self.list(|reader| {
            if first.is_none() && !matches!(reader.byte(), Some(b'[')) {
                first = Some(reader.flat()?);
                return Ok(());
            }
            first.get_or_insert(Scalar::Other);
            reader.skip()
        })?;
        Ok(first.map_or(Scalar::Other, |scalar| Scalar::First(Box::new(scalar))))
    }

    /// Reads a scalar; an object or an array is skipped.
    #[inline]
    fn flat(&mut self) -> Result<Scalar<'t>, Fault> {
        match self.byte() {
            Some(b'"') => self.string().map(Scalar::Text),
            Some(b'{' | b'[') => self.skip().map(|()| Scalar::Other),
            Some(b't') => self.word("true").map(|()| Scalar::Bool(true)),
            Some(b'f') => self.word("false").map(|()| Scalar::Bool(false)),
            Some(b'n') => self.word("null").map(|()| Scalar::Null),
            Some(b'N') => self.word("NaN").map(|()| Scalar::Null),
            Some(b'I') => self.word("Infinity").map(|()| Scalar::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.fault("expected a value"),
            None => self.fault("cut off before a value"),
        }
    }

    fn number(&mut self) -> Result<Scalar<'t>, Fault> {
        let (text, bytes, start) = (self.text, self.text.as_bytes(), self.at);
        let (length, value) = match scan::scalar(&bytes[start..]) {
            Some((Kind::Integer, length)) => (length, integer(&text[start..start + length])),
            Some((Kind::Decimal, length)) => (length, decimal(&text[start..start + length])),
            _ if bytes[start..].starts_with(b"-Infinity") => {
                self.at += "-Infinity".len();
                return Ok(Scalar::Null);
            }
            _ => match scan::number_length(&bytes[start..]) {
                Some(length) => (length, long_number(&text[start..start + length])),
                None => return self.fault("not a number"),
            },
        };
        self.at += length;
        value.map_or_else(|| self.fault("not a number"), Ok)
    }

    /// Reads a string, borrowed unless it contains escapes.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Cow<'t, str>, Fault> {
        match self.plain_string() {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => self.any_string(),
        }
    }

    /// Reads the next string if it contains no escapes; otherwise returns `None` and stays in place.
    #[inline]
    pub(in crate::ingest) fn plain_string(&mut self) -> Option<&'t str> {
        if self.byte() != Some(b'"') {
            return None;
        }
        let start = self.at + 1;
        let end = scan::special(self.text.as_bytes(), start);
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    fn any_string(&mut self) -> Result<Cow<'t, str>, Fault> {
        self.expect(b'"', "expected a string")?;
        let start = self.at;
        let mut owned: Option<String> = None;
        let mut from = start;
        loop {
            self.at = scan::special(self.text.as_bytes(), self.at);
            match self.byte() {
                Some(b'"') => {
                    let tail = &self.text[from..self.at];
                    self.at += 1;
                    return Ok(match owned {
                        None => Cow::Borrowed(tail),
                        Some(text) => Cow::Owned(text + tail),
                    });
                }
                Some(b'\\') => {
                    let text = owned.get_or_insert_default();
                    text.push_str(&self.text[from..self.at]);
                    text.push(self.escape()?);
                    from = self.at;
                }
                Some(_) => return self.fault("a control character in a string"),
                None => return self.fault("cut off inside a string"),
            }
        }
    }

    /// Reads the escape sequence at the backslash.
    fn escape(&mut self) -> Result<char, Fault> {
        let escaped = self.text.as_bytes().get(self.at + 1).copied();
        self.at += 2;
        Ok(match escaped {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => {
                self.at -= 2;
                return self.fault("not an escape");
            }
        })
    }

    /// Reads the digits after `\u`, and the second half of a surrogate pair if there is one.
    fn unicode(&mut self) -> Result<char, Fault> {
        let first = self.hex()?;
        if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // The escape that follows is not the second half of a pair, and is read separately.
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let digits = self.text.as_bytes().get(self.at..self.at + 4);
        let value = digits.and_then(|digits| {
            digits.iter().try_fold(0, |sum, digit| Some(sum * 16 + char::from(*digit).to_digit(16)?))
        });
        match value {
            Some(value) => {
                self.at += 4;
                Ok(value)
            }
            None => self.fault("not an escape"),
        }
    }

    #[inline]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => self.fault(what),
            None => self.fault("cut off"),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else if word.as_bytes().starts_with(&self.text.as_bytes()[self.at..]) {
            self.fault("cut off inside a value")
        } else {
            self.fault("expected a value")
        }
    }

    fn fault<T>(&self, what: &'static str) -> Result<T, Fault> {
        Err(Fault { at: self.at, what })
    }
}
