//! Scalar JSON values, converted leniently, since loggers write numbers and Booleans as strings too.

use super::digits;
use std::borrow::Cow;

/// A scalar value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'a, str>),
    /// An array reduced to its first element, a common form of header values.
    First(Box<Scalar<'a>>),
    /// An object, which was skipped.
    Other,
}

impl<'a> Scalar<'a> {
    /// Returns the value as a number, even if written as a string.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Scalar::Int(n) => Some(*n as f64),
            Scalar::Float(x) => x.is_finite().then_some(*x),
            Scalar::Text(text) => decimal(text.trim()),
            Scalar::First(first) => first.number(),
            _ => None,
        }
    }

    /// Returns the value as an integer, if it is a whole number.
    #[inline]
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Scalar::Int(n) => Some(*n),
            Scalar::Text(text) => digits::integer(text.as_bytes()).or_else(|| integer(text.trim())),
            other => other.number().and_then(whole),
        }
    }

    /// Returns the value as a Boolean: `true`, "True", 1.
    pub(crate) fn truth(&self) -> Option<bool> {
        match self {
            Scalar::Bool(value) => Some(*value),
            Scalar::Int(n) => Some(*n != 0),
            Scalar::Text(text) => match text.trim() {
                t if t.eq_ignore_ascii_case("true") => Some(true),
                t if t.eq_ignore_ascii_case("false") => Some(false),
                _ => None,
            },
            Scalar::First(first) => first.truth(),
            _ => None,
        }
    }

    /// Returns the value as text; numbers are formatted.
    #[inline]
    pub(crate) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Scalar::Text(text) => Some(text),
            Scalar::Int(n) => Some(Cow::Owned(n.to_string())),
            Scalar::Float(x) => Some(Cow::Owned(x.to_string())),
            Scalar::First(first) => first.into_text(),
            _ => None,
        }
    }
}

fn integer(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| decimal(text).and_then(whole))
}

/// Returns a number as an integer, unless it has a fraction.
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0).then_some(number as i64)
}

/// Parses a decimal number. Exponents, hexadecimal numbers and NaN are rejected: in values that servers and loggers
/// write as strings, they are errors.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+'));
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_strings_without_exponents() {
        let text = |t: &'static str| Scalar::Text(Cow::Borrowed(t));
        assert_eq!(text(" 429 ").integer(), Some(429));
        assert_eq!(text("0.5").number(), Some(0.5));
        assert_eq!((text("2.5").integer(), Scalar::Float(2.5).integer()), (None, None));
        assert_eq!((text("2.0").integer(), Scalar::Float(2.0).integer()), (Some(2), Some(2)));
        for bad in ["1e3", "0x10", "NaN", "inf", "", "²", "None"] {
            assert_eq!(text(bad).number(), None, "{bad}");
        }
        assert_eq!(Scalar::Float(f64::NAN).number(), None);
        assert_eq!(text("False").truth(), Some(false));
    }
}
