//! The frame of every HTML page: head, policy, theme, navigation and sections.
//!
//! A page is one file that opens from disk. Style, scripts and symbols are embedded, and its Content-Security-Policy
//! allows nothing else: attributes such as `style="..."` and `onclick="..."` have no effect.

use super::{marks, policy};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("assets/page.css");
/// Runs before the first paint, so that no page is painted in the wrong theme first.
const THEME: &str = include_str!("assets/theme.js");
const SCRIPT: &str = include_str!("assets/page.js");
/// Icon of the page: a magnifying glass over bars.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cg fill='none' \
                    stroke='%230b6e8f' stroke-width='2'%3E%3Ccircle cx='7' cy='7' r='5'/%3E%3Cpath d='m11 11 4 4M5 \
                    9V7m2 2V5m2 4V6'/%3E%3C/g%3E%3C/svg%3E";

/// The content of a page, ready to render.
pub(super) struct Page<'a> {
    /// Title in the tab and at the top of the page.
    pub(super) title: &'a str,
    /// What the page covers, in one line below the title.
    pub(super) about: Markup,
    /// The first screen.
    pub(super) lead: Markup,
    /// The sections below it, in order; each has an entry in the navigation.
    pub(super) sections: Vec<Section>,
    /// Name and version of the program, for the footer.
    pub(super) generator: &'a str,
}

/// One section of a page.
pub(super) struct Section {
    id: &'static str,
    title: &'static str,
    note: String,
    body: Markup,
}

impl Section {
    /// Creates a section; `id` is used in links, and `note` is shown beside the title and may be empty.
    pub(super) fn new(id: &'static str, title: &'static str, note: impl Into<String>, body: Markup) -> Section {
        Section { id, title, note: note.into(), body }
    }
}

impl Page<'_> {
    /// Renders the whole document.
    pub(super) fn render(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy::of(&[THEME, SCRIPT], &[STYLE]));
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    meta name="generator" content=(self.generator);
                    title { (self.title) }
                    link rel="icon" href=(PreEscaped(ICON));
                    script { (PreEscaped(THEME)) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    a.skip href="#main" { "Skip to the report" }
                    (marks::sprite())
                    (self.header())
                    (self.navigation())
                    main #main tabindex="-1" {
                        div.lead #summary { (self.lead) }
                        @for section in &self.sections { (section.render()) }
                    }
                    footer { p { (self.generator) " · this page is one file and loads nothing" } }
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        };
        page.into_string()
    }

    fn header(&self) -> Markup {
        html! {
            header.top {
                div {
                    p.title { (self.title) }
                    p.about { (self.about) }
                }
                button.theme type="button" data-theme-toggle hidden { "Dark" }
            }
        }
    }

    fn navigation(&self) -> Markup {
        html! {
            nav.contents aria-label="Sections" {
                ul {
                    li { a href="#summary" { "Summary" } }
                    @for section in &self.sections { li { a href={ "#" (section.id) } { (section.title) } } }
                }
            }
        }
    }
}

impl Section {
    fn render(&self) -> Markup {
        let heading = format!("{}-title", self.id);
        html! {
            section id=(self.id) aria-labelledby=(heading) {
                div.heading {
                    h2 id=(heading) { (self.title) }
                    @if !self.note.is_empty() { p.note { (self.note) } }
                }
                (self.body)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_cannot_end_their_own_element() {
        for text in [STYLE, THEME, SCRIPT] {
            assert!(!text.contains("</") && !text.contains("<!--"), "would end or comment out its element");
            assert!(!text.contains('\r'), "a browser hashes it with other line ends");
        }
    }

    #[test]
    fn nothing_is_loaded() {
        let page = Page { title: "t", about: html! {}, lead: html! {}, sections: Vec::new(), generator: "g" }.render();
        for word in ["http://", "https://", "@import", "url("] {
            let found: Vec<&str> = page.matches(word).collect();
            // The namespace of an SVG is a URL that is never loaded.
            let names = page.matches("http://www.w3.org/2000/svg").count();
            assert_eq!(found.len(), if word == "http://" { names } else { 0 }, "{word}");
        }
    }
}
