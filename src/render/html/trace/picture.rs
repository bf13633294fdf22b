//! The attempts of a call over time, as plain SVG elements, so that each has a text for screen readers.

use crate::model::{
    Time, Zone,
    units::{counted, seconds},
};
use crate::trace::{TracedAttempt, TracedCall};
use maud::{Markup, html};

/// Maximum number of attempts drawn; the table lists more.
const MAX_ATTEMPTS: usize = 60;
/// Height of a row, in pixels.
const ROW_HEIGHT: f64 = 22.0;
/// Height of the bar in a row, in pixels.
const BAR_HEIGHT: f64 = 10.0;
/// Left and right end of the area of bars, in a picture 1000 pixels wide.
const BARS: (f64, f64) = (170.0, 985.0);

/// Draws one call.
pub(super) fn draw(call: &TracedCall, zone: Zone) -> Markup {
    let shown = &call.attempts[..call.attempts.len().min(MAX_ATTEMPTS)];
    let ends = |attempt: &TracedAttempt| attempt.answered.unwrap_or(attempt.attempt_ref.ts);
    let (Some(from), Some(to)) =
        (shown.iter().map(|attempt| attempt.attempt_ref.ts).min(), shown.iter().map(ends).max())
    else {
        return html! {};
    };
    let span = to.s_since(from).max(0.001);
    let x = |time: Time| BARS.0 + (BARS.1 - BARS.0) * (time.s_since(from) / span).clamp(0.0, 1.0);
    let height = ROW_HEIGHT * (shown.len() as f64 + 1.0);
    html! {
        figure.chart.timeline {
            div.sheet tabindex="0" {
                svg viewBox=(format!("0 0 1000 {height:.0}")) role="img" aria-label=(format!("{} over {}", counted(call.attempts.len() as u64, "attempt"), seconds(span))) {
                    @for (nth, attempt) in shown.iter().enumerate() {
                        (row(nth, attempt, nth.checked_sub(1).map(|previous| &shown[previous]), zone, &x))
                    }
                    g {
                        text x=(BARS.0) y=(height - 5.0) font-size="12" fill="currentColor" { "0" }
                        text x=(BARS.1) y=(height - 5.0) font-size="12" fill="currentColor" text-anchor="end" { (seconds(span)) }
                    }
                }
            }
            figcaption {
                "Each row is an attempt: the bar from its start to its answer, the thin line the wait before it."
                @if call.attempts.len() > MAX_ATTEMPTS { " The first " (MAX_ATTEMPTS) " of " (call.attempts.len()) " are drawn." }
            }
        }
    }
}

fn row(
    nth: usize,
    attempt: &TracedAttempt,
    previous: Option<&TracedAttempt>,
    zone: Zone,
    x: &dyn Fn(Time) -> f64,
) -> Markup {
    let middle = ROW_HEIGHT * (nth as f64 + 0.5);
    let ended = attempt.answered.unwrap_or(attempt.attempt_ref.ts);
    let (start, end) = (x(attempt.attempt_ref.ts), x(ended));
    let part = if attempt.attempt_ref.class.is_some() { "failed-part" } else { "ok-part" };
    let status = attempt.attempt_ref.status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
    let label = format!("{} {status}", zone.show(attempt.attempt_ref.ts, "%H:%M:%S%.3f"));
    let words = format!("attempt {}: {status} {}", nth + 1, attempt.attempt_ref.class.unwrap_or("ok"));
    html! {
        g {
            title { (words) }
            text.when x="0" y=(middle + 4.0) font-size="12" fill="currentColor" { (label) }
            @if let Some(previous) = previous {
                @let from = x(previous.answered.unwrap_or(previous.attempt_ref.ts));
                rect.open-part x=(format!("{from:.1}")) y=(middle - 1.0) width=(format!("{:.1}", (start - from).max(0.0))) height="2" {}
            }
            rect class=(part) x=(format!("{start:.1}")) y=(middle - BAR_HEIGHT / 2.0) width=(format!("{:.1}", (end - start).max(3.0))) height=(BAR_HEIGHT) {}
        }
    }
}
