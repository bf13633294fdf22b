//! Signs and words for severities, outcomes and remedies; shape and word carry the meaning without colour.

use crate::model::{Remedy, Severity};
use crate::render::document::{self, Sign};
use maud::{Markup, PreEscaped, html};

/// The symbols that [`sign`] refers to.
const SPRITE: &str = "\
<svg width=\"0\" height=\"0\" aria-hidden=\"true\" focusable=\"false\" class=\"sprite\">\
<symbol id=\"sign-error\" viewBox=\"0 0 16 16\"><path fill=\"currentColor\" d=\"M5 1h6l4 4v6l-4 4H5l-4-4V5z\"/>\
<path class=\"cut\" d=\"m5.4 5.4 5.2 5.2m0-5.2-5.2 5.2\"/></symbol>\
<symbol id=\"sign-warning\" viewBox=\"0 0 16 16\"><path fill=\"currentColor\" d=\"M8 1 15.6 14.6H.4z\"/>\
<path class=\"cut\" d=\"M8 5.8v4.4m0 1.2v1.5\"/></symbol>\
<symbol id=\"sign-info\" viewBox=\"0 0 16 16\"><path class=\"line\" d=\"M8 1.9a6.1 6.1 0 1 0 .01 0zM8 8v.01\"/>\
</symbol>\
<symbol id=\"sign-ok\" viewBox=\"0 0 16 16\"><path class=\"line\" d=\"m2 8.6 4 4 8-9\"/></symbol>\
<symbol id=\"sign-failed\" viewBox=\"0 0 16 16\"><path class=\"line\" d=\"m3 3 10 10m0-10L3 13\"/></symbol>\
<symbol id=\"sign-open\" viewBox=\"0 0 16 16\"><circle class=\"line\" cx=\"8\" cy=\"8\" r=\"5.6\" \
stroke-dasharray=\"2.4 2\"/></symbol>\
<symbol id=\"sign-retried\" viewBox=\"0 0 16 16\"><path class=\"line\" d=\"M13.4 8A5.4 5.4 0 1 1 11 3.5M11.4.8v3.1H8.3\"/>\
</symbol></svg>";

/// Returns the definitions of the symbols; every page needs them once.
pub(super) fn sprite() -> Markup {
    PreEscaped(SPRITE.to_owned())
}

fn sign(sign: Sign) -> Markup {
    html! { svg.sign aria-hidden="true" focusable="false" { use href={ "#sign-" (sign.name()) } {} } }
}

/// Renders a word with its sign. The name of the sign is added for screen readers unless the word contains it.
pub(super) fn word(of: Sign, word: &str) -> Markup {
    let name = of.name();
    // An arrow at the start of the word is a sign already.
    if word.starts_with(['▲', '▼']) {
        return html! { span class={ "mark " (name) } { (word) } };
    }
    let word_contains_name = word.contains(name);
    html! {
        span class={ "mark " (name) } title=[(!word_contains_name).then_some(name)] {
            (sign(of)) @if !word_contains_name { span.unseen { (name) " " } } (word)
        }
    }
}

/// Renders a sign by itself, for text that contains its meaning.
pub(super) fn sign_only(of: Sign) -> Markup {
    html! { span class={ "mark " (of.name()) } { (sign(of)) } }
}

/// Renders the sign and the number of findings of a severity: "✗ 3".
pub(super) fn findings(severity: Severity, count: &str) -> Markup {
    let name = severity.name();
    html! {
        span class={ "mark " (name) } title={ (count) " × " (name) } {
            (sign(severity.into())) (count) span.unseen { " × " (name) }
        }
    }
}

/// Renders a remedy as a framed word.
pub(super) fn remedy(remedy: Remedy) -> Markup {
    let word = document::remedy(remedy);
    html! { span class={ "remedy " (word) } { (word) } }
}
