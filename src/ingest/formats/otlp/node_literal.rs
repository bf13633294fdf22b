//! Converts objects as printed by Node.js (`util.inspect`) to JSON. Unlike the more lenient `text/literal.rs`, it drops
//! text in brackets such as `[Object]` and joins strings that are printed in parts.

/// Returns the object as JSON; values without a JSON counterpart become null.
pub(super) fn to_json(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let consumed = match c {
            '\'' | '"' | '`' => string(rest, c, &mut json),
            'a'..='z' | 'A'..='Z' | '_' | '$' => word(rest, &mut json),
            '[' if rest[1..].starts_with(|c: char| c.is_ascii_uppercase()) => bracketed_note(rest, &mut json),
            // Long strings are printed in parts.
            '+' if json.trim_end().ends_with('"') => {
                json.truncate(json.trim_end().len() - 1);
                rest = rest[1..].trim_start();
                string_part(rest, &mut json)
            }
            // `12n` is a bigint.
            '0'..='9' | '-' => number(rest, &mut json),
            c => {
                json.push(c);
                c.len_utf8()
            }
        };
        rest = rest.get(consumed..).unwrap_or_default();
    }
    json
}

fn string(text: &str, quote: char, json: &mut String) -> usize {
    json.push('"');
    let consumed = string_contents(&text[1..], quote, json) + 1;
    json.push('"');
    consumed
}

/// Appends a further part to a string whose closing quote was removed; without one, closes the string again.
fn string_part(text: &str, json: &mut String) -> usize {
    let Some(quote @ ('\'' | '"' | '`')) = text.chars().next() else {
        json.push('"');
        return 0;
    };
    let consumed = string_contents(&text[1..], quote, json) + 1;
    json.push('"');
    consumed
}

/// Copies up to the closing quote and returns the number of bytes consumed, including the quote.
fn string_contents(text: &str, quote: char, json: &mut String) -> usize {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            c if c == quote => return at + 1,
            '"' => json.push_str("\\\""),
            '\\' => match chars.next() {
                Some((_, escaped @ ('n' | 't' | 'r' | 'b' | 'f' | 'u' | '\\' | '"'))) => json.extend(['\\', escaped]),
                Some((_, 'x')) => json.push_str("\\u00"),
                Some((_, escaped)) => json.push(escaped),
                None => {}
            },
            c if c.is_control() => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    text.len()
}

/// Converts a key, or a word that stands for a value.
fn word(text: &str, json: &mut String) -> usize {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    if after.trim_start().starts_with(':') {
        json.extend(["\"", word, "\""]);
    } else if matches!(word, "true" | "false" | "null") {
        json.push_str(word);
    } else {
        json.push_str("null");
    }
    end
}

/// Converts `[Object]` and `[Array]`, which replace values nested too deep, and drops `[Object: null prototype]`,
/// which precedes an object.
fn bracketed_note(text: &str, json: &mut String) -> usize {
    let end = text.find(']').map_or(text.len(), |end| end + 1);
    if !text.get(end..).unwrap_or_default().trim_start().starts_with('{') {
        json.push_str("null");
    }
    end
}

fn number(text: &str, json: &mut String) -> usize {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'))).unwrap_or(text.len());
    json.push_str(text[..end].trim_end_matches('n'));
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_objects_become_json() {
        for (text, json) in [
            ("{ a: 1, 'b.c': 'it\\'s \"x\"', d: undefined }", r#"{ "a": 1, "b.c": "it's \"x\"", "d": null }"#),
            ("{ e: [ true, null ], f: [Object], g: [] }", r#"{ "e": [ true, null ], "f": null, "g": [] }"#),
            ("{ a: [Object: null prototype] { n: -1.5, big: 12n } }", r#"{ "a":  { "n": -1.5, "big": 12 } }"#),
            ("{ s: 'one ' +\n  'two', t: `it's` }", r#"{ "s": "one two", "t": "it's" }"#),
            ("{ s: '\\x1B[0m' }", r#"{ "s": "\u001B[0m" }"#),
        ] {
            assert_eq!(to_json(text), json);
        }
        // Must terminate on any input.
        for odd in ["'", "{ a: 'b", "[A", "+", "\\", "{ a: '\\", "ü'ü"] {
            to_json(odd);
        }
    }
}
