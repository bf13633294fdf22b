//! Renders text with meanings as HTML: masked, shortened and escaped.

use super::marks;
use super::untrusted::{name, prose};
use crate::render::document::{Rich, RichSpan, Target, Tone};
use maud::{Markup, html};
use std::path::{Component, Path};

/// Renders the text inside a line.
pub(super) fn inline(rich: &Rich) -> Markup {
    html! { @for span in &rich.spans { (part(span)) } }
}

/// Renders the text, with a list of names one below the other.
pub(super) fn list(rich: &Rich) -> Markup {
    match rich.names() {
        Some(names) => html! { @for one in names { div { code { (name(one)) } } } },
        None => inline(rich),
    }
}

pub(super) fn is_shown(rich: &Rich) -> bool {
    rich.spans.iter().any(|span| !span.text.is_empty())
}

/// Renders a sentence in which options are between backticks; an option never breaks at its hyphens.
pub(super) fn sentence(text: &str) -> Markup {
    let text = prose(text);
    html! {
        @for (nth, part) in text.split('`').enumerate() {
            @if nth % 2 == 1 { code.nowrap { (part) } } @else { (part) }
        }
    }
}

fn part(span: &RichSpan) -> Markup {
    let text = prose(&span.text);
    let title = span.title.as_deref().map(name);
    match &span.tone {
        Tone::Plain if title.is_none() => html! { (text) },
        Tone::Plain => html! { span title=[title] { (text) } },
        Tone::Faint => html! { span.faint { (text) } },
        Tone::Good => html! { span.mark.ok { (text) } },
        Tone::Bad => html! { span.mark.error { (text) } },
        Tone::Caution => html! { span.mark.warning { (text) } },
        Tone::Code => html! { code.word { (text) } },
        Tone::Name => html! { span.id { (parted(&name(&span.text))) } },
        Tone::Sign(sign) => marks::word(*sign, &text),
        Tone::Count(severity) => marks::findings(*severity, &text),
        Tone::Time(time) => html! { time.nowrap datetime=(time) title=[title] { (text) } },
        Tone::Link(target) => html! { a href=(href(target)) title=[title] { (name(&span.text)) } },
    }
}

/// Renders a name that preferably breaks after its slashes, as in clients and paths.
fn parted(name: &str) -> Markup {
    html! {
        @for (nth, part) in name.split_inclusive('/').enumerate() {
            @if nth > 0 { wbr; }
            (part)
        }
    }
}

fn href(target: &Target) -> String {
    match target {
        Target::Section(id) => format!("#{id}"),
        Target::Rule(code) => format!("#{}", percent_encoded(code)),
        Target::Run(run) => format!("#run={}", percent_encoded(&name(run))),
        Target::Page(path) => link(path),
    }
}

/// Percent-encodes `text` for the fragment of a link: every byte except the unreserved characters of RFC 3986.
pub(super) fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Converts a path to a link. Each component is encoded, so that none is read as a scheme, a query or markup.
fn link(path: &Path) -> String {
    let names = path.components().map(|component| match component {
        Component::RootDir => String::new(),
        Component::ParentDir => "..".to_owned(),
        Component::CurDir => ".".to_owned(),
        other => percent_encoded(&other.as_os_str().to_string_lossy()),
    });
    names.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_hold_what_a_browser_reads_back() {
        assert_eq!(percent_encoded("run-1_a.b~"), "run-1_a.b~");
        assert_eq!(percent_encoded("a b/\"ä"), "a%20b%2F%22%C3%A4");
    }

    #[test]
    fn links_are_paths_and_nothing_else() {
        for (path, shown) in [
            ("night.html", "night.html"),
            ("../a b/ü\".html", "../a%20b/%C3%BC%22.html"),
            ("javascript:alert(1)", "javascript%3Aalert%281%29"),
            ("/a/b?c#d.html", "/a/b%3Fc%23d.html"),
        ] {
            assert_eq!(link(Path::new(path)), shown);
        }
    }
}
