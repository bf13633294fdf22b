//! Attempts per call as a small SVG.

use crate::model::Bar;
use crate::render::document::grouped_bars;
use crate::report::Histogram;
use maud::{Markup, html};

/// Number of columns, each 11 pixels wide with its gap; the last one includes all larger numbers of attempts.
const COLUMNS: u32 = 8;
/// Height of the drawing, in pixels.
const HEIGHT: f64 = 14.0;
/// Minimum height of a bar, in pixels.
const MIN_HEIGHT: f64 = 1.5;

/// Draws a bar for each number of attempts on a linear scale from 0, so that its parts are in proportion.
pub(super) fn histogram(histogram: &Histogram) -> Markup {
    let slots = grouped_bars(histogram, COLUMNS);
    let max_calls = slots.iter().map(|(.., bar)| bar.calls()).max().unwrap_or(0).max(1);
    let words: Vec<String> = slots.iter().map(|(attempts, _, bar)| format!("{attempts}: {}", bar.calls())).collect();
    let words = format!("calls by attempts: {}", words.join(", "));
    html! {
        svg.bars viewBox="0 0 88 14" role="img" aria-label=(words) {
            title { (words) }
            @for (attempts, _, bar) in &slots { (column(f64::from(*attempts - 1) * 11.0, *bar, max_calls)) }
        }
    }
}

fn column(x: f64, bar: Bar, max_calls: u64) -> Markup {
    let full = (HEIGHT * bar.calls() as f64 / max_calls as f64).max(MIN_HEIGHT);
    let share = |n: u64| full * n as f64 / bar.calls().max(1) as f64;
    html! {
        (part("open-part", x, HEIGHT - full, share(bar.open)))
        (part("failed-part", x, HEIGHT - full + share(bar.open), share(bar.failed)))
        (part("ok-part", x, HEIGHT - share(bar.ok), share(bar.ok)))
    }
}

fn part(class: &str, x: f64, y: f64, height: f64) -> Markup {
    if height <= 0.0 {
        return html! {};
    }
    html! { rect class=(class) x=(x) y=(format!("{y:.1}")) width="9" height=(format!("{height:.1}")) {} }
}
