//! The shell of every HTML page: head, policy, theme, navigation, and the sections between them.
//!
//! A page is one file that opens from disk: style, script and symbols are part of it, and its
//! content-security-policy allows these and nothing else: `style="..."` and `onclick="..."` do nothing under it.

use super::{marks, policy};
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("assets/page.css");
/// Runs before the first paint, so that no page flashes up in the wrong theme.
const THEME: &str = include_str!("assets/theme.js");
const SCRIPT: &str = include_str!("assets/page.js");
/// A lens over a bar.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cg fill='none' \
                    stroke='%230b6e8f' stroke-width='2'%3E%3Ccircle cx='7' cy='7' r='5'/%3E%3Cpath d='m11 11 4 4M5 \
                    9V7m2 2V5m2 4V6'/%3E%3C/g%3E%3C/svg%3E";

/// A page, ready to render.
pub(super) struct Page<'a> {
    /// In the tab and on top of the page; of our own words.
    pub(super) title: &'a str,
    /// What it covers, in one line below the title.
    pub(super) about: Markup,
    /// The first screen.
    pub(super) lead: Markup,
    /// Everything below it, in order; each is named in the navigation.
    pub(super) sections: Vec<Section>,
    /// Program and version, for the last line.
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
    /// `id` names it in links; `note` stands beside the title and may be empty.
    pub(super) fn new(id: &'static str, title: &'static str, note: impl Into<String>, body: Markup) -> Section {
        Section { id, title, note: note.into(), body }
    }
}

impl Page<'_> {
    /// The whole document.
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
            // The namespace of an SVG is a name, not a place.
            let names = page.matches("http://www.w3.org/2000/svg").count();
            assert_eq!(found.len(), if word == "http://" { names } else { 0 }, "{word}");
        }
    }
}
