//! Rewrites literals of Python and of Node's `util.inspect` as JSON.

use crate::ingest::record::scan;

/// Maximum nesting of objects and lists; deeper values become strings.
const MAX_DEPTH: usize = 64;

/// Returns the value at the start of `text` as JSON, and its length in bytes. A value without a JSON counterpart
/// becomes a string, and an incomplete one is closed.
pub(in crate::ingest::formats) fn to_json(text: &str) -> (String, usize) {
    let mut rewriter = Rewriter { text, at: 0, json: String::with_capacity(text.len().min(1 << 16)) };
    rewriter.value(0);
    (rewriter.json, rewriter.at)
}

struct Rewriter<'t> {
    text: &'t str,
    at: usize,
    json: String,
}

impl Rewriter<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) {
        self.space();
        match self.peek() {
            Some(b'{') if depth < MAX_DEPTH => self.object(depth),
            Some(b'[') if depth < MAX_DEPTH => self.list(b']', depth),
            Some(b'(') if depth < MAX_DEPTH => self.list(b')', depth),
            Some(b'\'' | b'"' | b'`') => self.string(),
            // Prefixes of Python's bytes, raw and formatted strings.
            Some(b'b' | b'r' | b'u' | b'f') if matches!(self.text.as_bytes().get(self.at + 1), Some(b'\'' | b'"')) => {
                self.at += 1;
                self.string();
            }
            Some(_) => self.unquoted(depth),
            None => self.json.push_str("null"),
        }
    }

    fn object(&mut self, depth: usize) {
        self.at += 1;
        self.json.push('{');
        let mut is_first = true;
        loop {
            self.separators();
            match self.peek() {
                None => break,
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b']' | b')') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => {}
            }
            if !std::mem::take(&mut is_first) {
                self.json.push(',');
            }
            self.key();
            self.space();
            self.json.push(':');
            if matches!(self.peek(), Some(b':' | b'=')) {
                self.at += 1;
                self.value(depth + 1);
            } else {
                self.json.push_str("null");
            }
        }
        self.json.push('}');
    }

    fn list(&mut self, end: u8, depth: usize) {
        self.at += 1;
        self.json.push('[');
        let mut is_first = true;
        loop {
            self.separators();
            match self.peek() {
                None => break,
                Some(byte) if byte == end => {
                    self.at += 1;
                    break;
                }
                Some(b']' | b')' | b'}') => {
                    self.at += 1;
                    continue;
                }
                Some(_) => {}
            }
            if !std::mem::take(&mut is_first) {
                self.json.push(',');
            }
            self.value(depth + 1);
        }
        self.json.push(']');
    }

    fn separators(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace() || byte == b',') {
            self.at += 1;
        }
    }

    fn key(&mut self) {
        if matches!(self.peek(), Some(b'\'' | b'"' | b'`')) {
            return self.string();
        }
        let start = self.at;
        let is_end = |byte: u8| matches!(byte, b':' | b'=' | b',' | b'}' | b'\n');
        self.at +=
            self.text.as_bytes()[start..].iter().position(|byte| is_end(*byte)).unwrap_or(self.text.len() - start);
        // At least one byte is consumed, so that malformed text does not cause an endless loop.
        self.at += usize::from(self.at == start);
        let key = self.text.get(start..self.at).unwrap_or_default().trim();
        quote(key, &mut self.json);
    }

    fn string(&mut self) {
        let quote_mark = self.peek().unwrap_or(b'"');
        self.at += 1;
        let rest = &self.text[self.at..];
        // Fast path: a string without escape sequences.
        if let Some(end) = memchr::memchr2(quote_mark, b'\\', rest.as_bytes())
            && rest.as_bytes()[end] == quote_mark
        {
            self.at += end + 1;
            return quote(&rest[..end], &mut self.json);
        }
        let quote_mark = char::from(quote_mark);
        let mut value = String::new();
        let mut chars = self.text[self.at..].char_indices();
        let mut end = self.text.len();
        while let Some((at, c)) = chars.next() {
            match c {
                c if c == quote_mark => {
                    end = self.at + at + 1;
                    break;
                }
                '\\' => unescape(&mut chars, &mut value),
                c => value.push(c),
            }
        }
        self.at = end;
        quote(&value, &mut self.json);
    }

    /// Rewrites an unquoted value: a number, a name, or the text of an object that has no literal.
    fn unquoted(&mut self, depth: usize) {
        let start = self.at;
        // Number of open parentheses and angle brackets.
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'(' | b'<' => open += 1,
                b')' | b'>' if open > 0 => open -= 1,
                b',' | b'}' | b']' | b')' | b'\n' if open == 0 => break,
                // The name of a class before its members, which is dropped.
                b'{' | b'[' if open == 0 && self.at > start && depth < MAX_DEPTH => return self.value(depth),
                _ => {}
            }
            self.at += 1;
        }
        // At least one byte is consumed, so that malformed text does not cause an endless loop.
        self.at += usize::from(self.at == start);
        let word = self.text.get(start..self.at).unwrap_or_default().trim();
        match word {
            "None" | "null" | "undefined" | "" => self.json.push_str("null"),
            "True" | "true" => self.json.push_str("true"),
            "False" | "false" => self.json.push_str("false"),
            _ if is_number(word) => self.json.push_str(word),
            _ => quote(word, &mut self.json),
        }
    }
}

/// Appends the character of an escape sequence, read after its backslash.
fn unescape(chars: &mut std::str::CharIndices<'_>, value: &mut String) {
    let Some((_, escape)) = chars.next() else { return };
    let digits = match escape {
        'n' => return value.push('\n'),
        't' => return value.push('\t'),
        'r' => return value.push('\r'),
        '\n' => return,
        'x' => 2,
        'u' => 4,
        'U' => 8,
        other => return value.push(other),
    };
    let code: String = chars.clone().take(digits).map(|(_, c)| c).collect();
    match u32::from_str_radix(&code, 16).ok().and_then(char::from_u32) {
        Some(c) if code.len() == digits => {
            value.push(c);
            chars.nth(digits - 1);
        }
        _ => value.push(char::REPLACEMENT_CHARACTER),
    }
}

/// Appends `text` as a JSON string.
pub(in crate::ingest) fn quote(text: &str, json: &mut String) {
    json.reserve(text.len() + 2);
    json.push('"');
    let mut from = 0;
    loop {
        let end = scan::special(text.as_bytes(), from);
        json.push_str(&text[from..end]);
        match text.as_bytes().get(end) {
            None => break,
            Some(b'"') => json.push_str("\\\""),
            Some(b'\\') => json.push_str("\\\\"),
            Some(b'\n') => json.push_str("\\n"),
            Some(control) => json.push_str(&format!("\\u{control:04x}")),
        }
        from = end + 1;
    }
    json.push('"');
}

/// Returns whether a word is a number in JSON's grammar.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let (whole, fraction) = digits.split_once('.').map_or((digits, "0"), |(whole, fraction)| (whole, fraction));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all_digits(whole) && all_digits(fraction) && (whole == "0" || !whole.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_become_json() {
        for (literal, json) in [
            (
                r"{'a': None, 'b': [True, 1.5, -2], 'c': {'it\'s': b'x'}}",
                r#"{"a":null,"b":[true,1.5,-2],"c":{"it's":"x"}}"#,
            ),
            (r"[(b'Retry-After', b'20'), (b'X', b'')]", r#"[["Retry-After","20"],["X",""]]"#),
            (
                "{ url: 'u', status: 529, headers: { 'x-a': \"y\", date: 'd' } }",
                r#"{"url":"u","status":529,"headers":{"x-a":"y","date":"d"}}"#,
            ),
            (
                "{ body: Stream { a: [Array] }, e: <x.Omit object at 0x7f>, t: Timeout(connect=5.0, read=600) }",
                r#"{"body":{"a":["Array"]},"e":"<x.Omit object at 0x7f>","t":"Timeout(connect=5.0, read=600)"}"#,
            ),
            (r#"{'q': 'say \"hi\"\n', 'n': 007}"#, r#"{"q":"say \"hi\"\n","n":"007"}"#),
            ("{'open': 'no end", r#"{"open":"no end"}"#),
            ("", "null"),
        ] {
            assert_eq!(to_json(literal).0, json, "{literal}");
        }
        assert_eq!(to_json("{'a': 1} and more"), (r#"{"a":1}"#.to_owned(), 8));
    }

    #[test]
    fn malformed_literals_are_rewritten_without_an_endless_loop() {
        for odd in
            ["{{{{", "[)]}", "{:::}", "{a b c}", "(((]", "{'a' 'b'}", "\\", "'\\", "{\u{e9}", "b'", "{,}", "[é, }"]
        {
            to_json(odd);
        }
        to_json(&"[".repeat(100_000));
    }
}
