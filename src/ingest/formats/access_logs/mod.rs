//! Access logs of proxies, in which each line is a client request; requests to model APIs are attempts.

mod envoy;
mod envoy_flags;
mod envoy_text;
mod nginx;
mod nginx_fields;

pub(in crate::ingest) use envoy::Envoy;
pub(in crate::ingest) use nginx::Nginx;

/// One field of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token<'l> {
    text: &'l str,
    /// `"` if it is quoted, `[` if it is in brackets, a space otherwise.
    delimiter: u8,
}

/// Splits a line into its fields: quoted, in brackets, or separated by spaces. Returns `None` if a quote or bracket
/// is not closed.
fn tokens(line: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.bytes().next() {
        let (start, end, after) = match first {
            b'"' => {
                let end = closing_quote(rest)?;
                (1, end, end + 1)
            }
            b'[' => {
                let end = rest.find(']')?;
                (1, end, end + 1)
            }
            _ => {
                let end = end_of_word(rest)?;
                (0, end, end)
            }
        };
        tokens.push(Token { text: &rest[start..end], delimiter: if start == 1 { first } else { b' ' } });
        rest = rest[after..].trim_start();
    }
    Some(tokens)
}

/// Returns the end of the word at the start of `text`: the next space, or for `key="a, b"` the end of the quoted
/// value.
fn end_of_word(text: &str) -> Option<usize> {
    let end = text.find(' ').unwrap_or(text.len());
    match text[..end].find("=\"") {
        Some(equals) => Some(equals + 2 + closing_quote(&text[equals + 1..])?),
        None => Some(end),
    }
}

/// Returns the index of the quote that closes the one at the start of `text`; a backslash escapes a quote.
fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

impl<'l> Token<'l> {
    /// Returns the text, or `None` if it is empty or `-`.
    fn value(self) -> Option<&'l str> {
        (!matches!(self.text.trim(), "" | "-")).then_some(self.text)
    }

    /// Returns the path of a quoted request line such as `POST /path HTTP/1.1`.
    fn request_path(self) -> Option<&'l str> {
        let (method, rest) = self.text.split_once(' ')?;
        let path = rest.rsplit_once(' ').filter(|(_, version)| version.starts_with("HTTP/")).map(|(path, _)| path)?;
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        (self.delimiter == b'"' && is_method).then_some(path)
    }

    /// Returns the status of a response; 0, which proxies log if there was none, is accepted too.
    fn status(self) -> Option<i64> {
        let status: i64 = self.text.parse().ok()?;
        (self.delimiter == b' ' && (self.text.len() == 3 || status == 0)).then_some(status)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn fields_are_quoted_in_brackets_or_between_spaces() {
        let texts = |line| tokens(line).unwrap().iter().map(|token| token.text).collect::<Vec<_>>();
        assert_eq!(
            texts(r#"[t z] "GET / HTTP/1.1" 200 - "a \" b" """#),
            ["t z", "GET / HTTP/1.1", "200", "-", r#"a \" b"#, ""]
        );
        assert_eq!(texts(r#"a urt="1.0, 0.5" b=c"#), ["a", r#"urt="1.0, 0.5""#, "b=c"]);
        assert_eq!(tokens(r#""open"#), None);
        assert_eq!(tokens("[open"), None);
        assert_eq!(tokens(r#""\"#), None);
    }
}
