//! What else went on: failures on the same limit and elsewhere, and what was left of the limits.

use crate::render::{
    html::{
        HtmlOptions,
        untrusted::{name, prose},
    },
    text, words,
};
use crate::trace::{HeadroomAround, LimitReading, Surroundings, Trace};
use maud::{Markup, html};

pub(super) fn body(trace: &Trace, options: &HtmlOptions) -> Markup {
    let Some(around) = &trace.surroundings else {
        return html! { p { "Not read, since the calls span much of the log; " code { "--context 1m" } " reads it." } };
    };
    let show = |time| options.zone.show(time, "%Y-%m-%d %H:%M:%S %Z");
    html! {
        p.note { (show(around.from)) " to " (show(around.until)) }
        p.prose { (prose(&text::alone(around))) }
        (failures(around, options))
        (headroom(&around.headroom))
    }
}

fn failures(around: &Surroundings, options: &HtmlOptions) -> Markup {
    let all = || around.here_failures.iter().chain(&around.elsewhere_failures);
    let time = |time| options.zone.show(time, "%H:%M:%S");
    html! {
        @if all().next().is_some() {
            div.finding { div.scroll { table {
                thead { tr { @for head in ["failed", "sends", "calls", "from", "to", "where"] { th { span { (head) } } } } }
                tbody { @for one in all() {
                    tr {
                        td { (one.class) } td { (words::number(one.sends)) } td { (words::number(one.calls)) }
                        td { (time(one.first)) } td { (time(one.last)) }
                        td { (one.scope.as_deref().map_or_else(|| "same scope".to_owned(), name)) }
                    }
                } }
            } } }
        }
    }
}

fn headroom(list: &[HeadroomAround]) -> Markup {
    html! {
        @if !list.is_empty() {
            div.finding { div.scroll { table {
                thead { tr { @for head in ["left of", "before", "meanwhile", "after"] { th { span { (head) } } } } }
                tbody { @for one in list {
                    tr { td { (one.limit_kind.label()) } @for reading in [one.before, one.least, one.after] { td { (left(reading)) } } }
                } }
            } } }
        }
    }
}

/// "1398 of 4000".
fn left(reading: Option<LimitReading>) -> String {
    reading.map_or_else(|| "–".to_owned(), |reading| format!("{} of {}", reading.remaining, reading.limit))
}
