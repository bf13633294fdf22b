//! Writes a JSON object on one line, member by member.

use super::scalar::Scalar;
use std::fmt::{Display, Write};

/// Magnitude from which numbers are written with an exponent, since floats of this size are not exact to the last
/// digit.
pub(super) const MIN_WITH_EXPONENT: f64 = 1e16;

/// A JSON object being written.
#[derive(Debug)]
pub(super) struct JsonLine(String);

impl JsonLine {
    /// Creates an object without members.
    pub(super) fn new() -> JsonLine {
        JsonLine("{".to_owned())
    }

    /// Returns the complete object.
    pub(super) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    /// Whether it has no members.
    pub(super) fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    fn key(&mut self, key: &str) {
        if !self.is_empty() {
            self.0.push(',');
        }
        self.string(key);
        self.0.push(':');
    }

    /// Writes a string, if given.
    pub(super) fn text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.key(key);
            self.string(text);
        }
    }

    /// Writes an integer or a Boolean, if given; `value` is displayed as JSON.
    pub(super) fn display(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.key(key);
            // Writing to a string does not fail.
            let _ = write!(self.0, "{value}");
        }
    }

    /// Writes a number, if given and finite.
    pub(super) fn number(&mut self, key: &str, number: Option<f64>) {
        let large = number.filter(|number| number.is_finite() && number.abs() >= MIN_WITH_EXPONENT);
        match large {
            Some(number) => self.display(key, Some(format!("{number:e}"))),
            None => self.display(key, number.filter(|number| number.is_finite())),
        }
    }

    /// Writes a scalar as it was read; null and structures are omitted.
    pub(super) fn scalar(&mut self, key: &str, value: Option<&Scalar<'_>>) {
        match value {
            Some(Scalar::Int(number)) => self.display(key, Some(number)),
            Some(Scalar::Float(number)) => self.number(key, Some(*number)),
            Some(Scalar::Text(text)) => self.text(key, Some(text)),
            Some(Scalar::Bool(truth)) => self.display(key, Some(truth)),
            Some(Scalar::First(first)) => self.scalar(key, Some(first)),
            Some(Scalar::Null | Scalar::Other) | None => {}
        }
    }

    /// Writes an object, unless it is empty.
    pub(super) fn object(&mut self, key: &str, object: JsonLine) {
        if !object.is_empty() {
            self.key(key);
            self.0.push_str(&object.end());
        }
    }

    fn string(&mut self, text: &str) {
        self.0.push('"');
        for c in text.chars() {
            match c {
                '"' => self.0.push_str("\\\""),
                '\\' => self.0.push_str("\\\\"),
                '\n' => self.0.push_str("\\n"),
                c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                    let _ = write!(self.0, "\\u{:04x}", u32::from(c));
                }
                c => self.0.push(c),
            }
        }
        self.0.push('"');
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lines_are_valid_json() {
        let mut line = JsonLine::new();
        line.text("a\"b", Some("x\\y\n\u{0}\u{85}\u{2028}ü"));
        line.number("n", Some(f64::NAN));
        line.number("m", Some(-0.5));
        line.number("l", Some(2.5e300));
        line.display("t", Some(true));
        line.object("empty", JsonLine::new());
        line.scalar("s", Some(&Scalar::First(Box::new(Scalar::Int(3)))));
        let text = line.end();
        assert!(!text.contains(['\n', '\u{2028}']), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value,
            serde_json::json!({"a\"b": "x\\y\n\u{0}\u{85}\u{2028}ü", "m": -0.5, "l": 2.5e300, "t": true, "s": 3})
        );
    }
}
