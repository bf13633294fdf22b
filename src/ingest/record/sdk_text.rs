//! Error texts of SDKs for JavaScript: the status followed by the body.

use super::json::Reader;

/// Splits `429 {..}` or `Error: 400 {..}`, with or without a stack trace after it, into status and body.
pub(in crate::ingest) fn after_status(text: &str) -> Option<(i64, &str)> {
    let start = text.find('{')?;
    let before = text[..start].trim_end();
    let (name, status) = before.rsplit_once(": ").unwrap_or(("", before));
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_name = name.is_empty() || (is_word && name.ends_with("Error"));
    let status = status.parse().ok().filter(|status| is_name && (400..600).contains(status))?;
    let mut reader = Reader::new(&text[start..]);
    reader.skip().ok()?;
    Some((status, &text[start..start + reader.offset()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_body_are_split() {
        for (text, status) in [(r#"429 {"a":{}}"#, 429), ("Error: 400 {\"a\":{}}\n    at f (a.js:1:2)", 400)] {
            assert_eq!(after_status(text), Some((status, r#"{"a":{}}"#)), "{text}");
        }
        for other in ["{\"a\":{}}", "200 {}", "row 404 {}", "Error: 400 words", "Error: 400 {\"a\":"] {
            assert_eq!(after_status(other), None, "{other}");
        }
    }
}
