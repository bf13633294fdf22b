//! Signs and words for severities, outcomes and remedies: colour is a help, shape and word say it alone.

use crate::model::{Outcome, Remedy, Severity};
use maud::{Markup, PreEscaped, html};

/// The signs, drawn once; [`sign`] refers to them.
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

/// Belongs into every page once.
pub(super) fn sprite() -> Markup {
    PreEscaped(SPRITE.to_owned())
}

fn sign(name: &str) -> Markup {
    html! { svg.sign aria-hidden="true" focusable="false" { use href={ "#sign-" (name) } {} } }
}

/// Sign and word of a severity.
pub(in crate::render) fn severity(severity: Severity) -> Markup {
    let name = severity.name();
    html! { span class={ "mark " (name) } { (sign(name)) (name) } }
}

/// Sign of a severity and the code of a rule; the severity in words for those who cannot see it.
pub(in crate::render) fn coded(severity: Severity, code: &str) -> Markup {
    let name = severity.name();
    html! { span class={ "mark " (name) } title=(name) { (sign(name)) span.unseen { (name) " " } (code) } }
}

/// A sign by itself, in its colour, for a text that says the rest.
pub(in crate::render) fn alone(name: &str) -> Markup {
    html! { span class={ "mark " (name) } { (sign(name)) } }
}

/// Sign and count of the findings of a severity: "✗ 3".
pub(in crate::render) fn findings(severity: Severity, count: u64) -> Markup {
    let name = severity.name();
    html! {
        span class={ "mark " (name) } title={ (count) " × " (name) } {
            (sign(name)) (crate::render::words::number(count)) span.unseen { " × " (name) }
        }
    }
}

/// How a run or a call ended. `retried`: well, but not at once.
pub(in crate::render) fn outcome(outcome: Outcome, retried: bool) -> Markup {
    let (name, word) = match (outcome, retried) {
        (Outcome::Ok, false) => ("ok", "ok"),
        (Outcome::Ok, true) => ("retried", "ok, retried"),
        (Outcome::Failed, _) => ("failed", "failed"),
        (Outcome::Open, _) => ("open", "open"),
    };
    html! { span class={ "mark " (name) } { (sign(name)) (word) } }
}

/// The kind of a step, as a word in a frame.
pub(in crate::render) fn remedy(remedy: Remedy) -> Markup {
    let word = match remedy {
        Remedy::Wait => "wait",
        Remedy::Shrink => "shrink",
        Remedy::Stop => "stop",
        Remedy::Fix => "fix",
    };
    html! { span class={ "remedy " (word) } { (word) } }
}
