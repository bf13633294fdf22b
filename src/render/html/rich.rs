//! Renders text with meanings as HTML: masked, shortened and escaped.

use super::marks;
use super::untrusted::{name, prose};
use crate::render::document::{RichText, SpanKind, Target, TextSpan};
use maud::{Markup, html};
use std::path::{Component, Path};

/// Renders the text inside a line.
pub(super) fn inline(rich: &RichText) -> Markup {
    html! { @for span in &rich.spans { (part(span)) } }
}

/// Renders the text, with a list of names one below the other.
pub(super) fn list(rich: &RichText) -> Markup {
    match rich.names() {
        Some(names) => html! { @for one in names { div { code { (name(one)) } } } },
        None => inline(rich),
    }
}

pub(super) fn is_shown(rich: &RichText) -> bool {
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

fn part(span: &TextSpan) -> Markup {
    let text = prose(&span.text);
    let title = span.title.as_deref().map(name);
    match &span.kind {
        SpanKind::Plain if title.is_none() => html! { (text) },
        SpanKind::Plain => html! { span title=[title] { (text) } },
        SpanKind::Faint => html! { span.faint { (text) } },
        SpanKind::Good => html! { span.mark.ok { (text) } },
        SpanKind::Bad => html! { span.mark.error { (text) } },
        SpanKind::Caution => html! { span.mark.warning { (text) } },
        SpanKind::Code => html! { code.word { (text) } },
        SpanKind::Name => html! { span.id { (with_breaks_after_slashes(&name(&span.text))) } },
        SpanKind::Sign(sign) => marks::word(*sign, &text),
        SpanKind::Count(severity) => marks::findings(*severity, &text),
        SpanKind::Time(time) => html! { time.nowrap datetime=(time) title=[title] { (text) } },
        SpanKind::Link(target) => html! { a href=(href(target)) title=[title] { (name(&span.text)) } },
    }
}

/// Renders a name that preferably breaks after its slashes, as in clients and paths.
fn with_breaks_after_slashes(name: &str) -> Markup {
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
    fn fragments_are_percent_encoded() {
        assert_eq!(percent_encoded("run-1_a.b~"), "run-1_a.b~");
        assert_eq!(percent_encoded("a b/\"ä"), "a%20b%2F%22%C3%A4");
    }

    #[test]
    fn links_to_pages_are_only_paths() {
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
