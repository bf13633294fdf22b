//! Escapes text of a log for GitHub-flavoured Markdown, so that it is shown as it is.
//!
//! Besides the syntax of CommonMark and HTML, GitHub interprets plain text: mentions, references to issues, links,
//! formulas. A backslash does not prevent these, since they are found after Markdown is parsed; a zero-width space
//! inside them does.

use crate::untrusted::safe;

/// Zero-width space: between two characters, it keeps GitHub from interpreting them together.
const ZERO_WIDTH_SPACE: &str = "&#8203;";

/// Escapes text for a paragraph, a list item or a table cell: one line of at most `max_chars` characters.
///
/// Not for the start of a block, where `1.` or `-` would begin a list.
pub(super) fn inline(text: &str, max_chars: usize) -> String {
    let text = cut(&safe(text), max_chars);
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let (character, after) = rest.split_at(c.len_utf8());
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            // Inside a word an underscore has no meaning, and many names contain one.
            '_' if shown.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric) => {
                shown.push('_')
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '|' | '$' | '^' => {
                shown.push('\\');
                shown.push(c);
            }
            '@' => shown.push_str(&format!("@{ZERO_WIDTH_SPACE}")),
            '#' => shown.push_str(&format!("\\#{ZERO_WIDTH_SPACE}")),
            ':' if after.starts_with("//") => shown.push_str(&format!(":{ZERO_WIDTH_SPACE}")),
            '.' if shown.to_ascii_lowercase().ends_with("www") => shown.push_str(&format!("{ZERO_WIDTH_SPACE}.")),
            _ => shown.push_str(character),
        }
        rest = after;
    }
    shown
}

/// Writes an id or a path, at most `max_chars` characters of it, as a code span, which may be in a table.
pub(super) fn code(text: &str, max_chars: usize) -> String {
    let text = cut(&safe(text), max_chars);
    // A span ends at the number of backticks it began with.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let edge = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    // In a table a bar ends the cell even inside a span, and outside a table an escaping backslash would be visible, so
    // another character is used.
    format!("{fence}{edge}{}{edge}{fence}", text.replace('|', "¦"))
}

fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_of_github_is_escaped() {
        for (raw, shown) in [
            ("overloaded after 455 ms, 4 x 3 sends", "overloaded after 455 ms, 4 x 3 sends"),
            ("a|b `c` *d* _e_ ~f~", "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\~f\\~"),
            ("<b>&amp;</b>", "&lt;b&gt;&amp;amp;&lt;/b&gt;"),
            ("[x](http://h)", "\\[x\\](http:&#8203;//h)"),
            ("spend_cap _", "spend_cap \\_"),
            ("www.h.example WWW.h", "www&#8203;.h.example WWW&#8203;.h"),
            ("ask @octocat about #12", "ask @&#8203;octocat about \\#&#8203;12"),
            ("$x^2$", "\\$x\\^2\\$"),
            ("a\nb", "a ⏎ b"),
        ] {
            assert_eq!(inline(raw, 100), shown, "{raw}");
        }
        assert_eq!(inline("abcdef", 3), "abc…");
    }

    #[test]
    fn a_code_span_ends_where_it_should() {
        assert_eq!(code("req_1", 100), "`req_1`");
        assert_eq!(code("a`b``c|d", 100), "```a`b``c¦d```");
        assert_eq!(code("`x", 100), "`` `x ``");
        assert_eq!(code("abcdef", 3), "`abc…`");
    }
}
