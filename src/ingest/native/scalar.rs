//! A JSON value as loggers write it: a number may be a string, a string may be "None".

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A value without structure. Objects and arrays are skipped and become [`Scalar::Other`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Cow<'a, str>),
    /// A list, reduced to its first member: header values come so.
    First(Box<Scalar<'a>>),
    Other,
}

impl<'a> Scalar<'a> {
    /// The value as a number, also when written as a string.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Scalar::Int(n) => Some(*n as f64),
            Scalar::Float(x) => x.is_finite().then_some(*x),
            Scalar::Text(text) => decimal(text.trim()),
            Scalar::First(first) => first.number(),
            _ => None,
        }
    }

    /// The value as a whole number.
    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Scalar::Int(n) => Some(*n),
            Scalar::Text(text) => match text.trim().parse() {
                Ok(n) => Some(n),
                Err(_) => decimal(text.trim()).map(|x| x as i64),
            },
            other => other.number().map(|x| x as i64),
        }
    }

    /// The value as a truth value: `true`, "True", 1.
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

    /// The value as words; numbers become their digits.
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

/// A plain decimal number: no exponent, no hexadecimal, no NaN, which servers and loggers get wrong.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+'));
    if plain { text.parse().ok() } else { None }
}

impl<'de> Deserialize<'de> for Scalar<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ScalarVisitor { lists: true }.deserialize(deserializer)
    }
}

/// Reads one value; of a list only its first member, and never a list inside a list, so that depth is bounded.
struct ScalarVisitor {
    lists: bool,
}

impl<'de> DeserializeSeed<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Scalar::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Scalar::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).map_or(Scalar::Float(value as f64), Scalar::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Scalar::Float(value))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(value.to_owned())))
    }

    fn visit_string<E>(self, value: String) -> Result<Self::Value, E> {
        Ok(Scalar::Text(Cow::Owned(value)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Null)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Scalar::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let first = if self.lists { list.next_element_seed(ScalarVisitor { lists: false })? } else { None };
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(first.map_or(Scalar::Other, |scalar| Scalar::First(Box::new(scalar))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

/// A key, borrowed where the JSON allows it.
pub(crate) struct Key<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(value)))
            }
            fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(value.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_strings_but_must_be_plain() {
        let text = |t: &'static str| Scalar::Text(Cow::Borrowed(t));
        assert_eq!(text(" 429 ").integer(), Some(429));
        assert_eq!(text("0.5").number(), Some(0.5));
        for bad in ["1e3", "0x10", "NaN", "inf", "", "²", "None"] {
            assert_eq!(text(bad).number(), None, "{bad}");
        }
        assert_eq!(Scalar::Float(f64::NAN).number(), None);
        assert_eq!(text("False").truth(), Some(false));
    }
}
