//! Attempts per call as stacked bars: how many calls took how many attempts, and how they ended.

use super::canvas::{Align, Canvas, width};
use super::error::ChartError;
use super::style::{AXIS_X, BLUE, GREY, INK, LABEL, MARGIN, MUTED, SMALL, VERMILION, WIDTH, compact, count, counted};
use super::ticks::linear;
use crate::model::{Bar, units::percent_of};
use crate::report::Histogram;
use plotters::prelude::DrawingBackend;
use plotters::style::{RGBColor, WHITE};

/// Highest number of attempts that always has a bar of its own.
const LAST_SINGLE: u32 = 12;
/// Highest number of attempts for which every number has a bar; beyond it, numbers above [`LAST_SINGLE`] are grouped.
const LAST_GROUPED: u32 = 16;
/// Minimum number of bars, so that a single one does not fill the chart.
const MIN_SLOTS: u32 = 5;
/// Minimum height of a bar whose count is not 0, in logical pixels.
const MIN_HEIGHT: f64 = 2.0;

/// Edges of the plot, in logical pixels.
const TOP: f64 = 116.0;
const BASE: f64 = 394.0;
const RIGHT: f64 = WIDTH - MARGIN;
/// Height above the tallest bar that is reserved for its count.
const COUNT_ROOM: f64 = 16.0;

const OUTCOMES: [(&str, RGBColor); 3] = [("succeeded", BLUE), ("failed", VERMILION), ("open", GREY)];

/// A position on the axis: one number of attempts, or a range of them that shares a bar.
struct Slot {
    label: String,
    by_outcome: [u64; 3],
}

impl Slot {
    fn of_range(histogram: &Histogram, label: String, keys: impl std::ops::RangeBounds<u32>) -> Slot {
        let mut by_outcome = [0_u64; 3];
        for (_, bar) in histogram.bars.range(keys) {
            by_outcome = add_bar(by_outcome, *bar);
        }
        Slot { label, by_outcome }
    }

    fn calls(&self) -> u64 {
        self.by_outcome.iter().fold(0, |sum, n| sum.saturating_add(*n))
    }
}

fn add_bar(by_outcome: [u64; 3], bar: Bar) -> [u64; 3] {
    [
        by_outcome[0].saturating_add(bar.ok),
        by_outcome[1].saturating_add(bar.failed),
        by_outcome[2].saturating_add(bar.open),
    ]
}

/// Sums the calls of all bars by how they ended.
fn totals(histogram: &Histogram) -> [u64; 3] {
    histogram.bars.values().fold([0; 3], |by_outcome, bar| add_bar(by_outcome, *bar))
}

/// Returns the largest number of attempts of any call; 0 without calls.
fn most_attempts(histogram: &Histogram) -> u32 {
    let mut used = histogram.bars.iter().rev().filter(|(_, bar)| add_bar([0; 3], **bar) != [0; 3]);
    used.next().map_or(0, |(attempts, _)| *attempts)
}

fn slots(histogram: &Histogram) -> Vec<Slot> {
    let most = most_attempts(histogram);
    let singles = if most > LAST_GROUPED { LAST_SINGLE } else { most.max(MIN_SLOTS) };
    // A call has at least one attempt. A count for 0 attempts is added to the first bar, so that no call is lost.
    let single = |n: u32| Slot::of_range(histogram, n.to_string(), if n == 1 { 0..=1 } else { n..=n });
    let mut slots: Vec<Slot> = (1..=singles).map(single).collect();
    if most > LAST_GROUPED {
        slots.push(Slot::of_range(
            histogram,
            format!("{}–{LAST_GROUPED}", LAST_SINGLE + 1),
            LAST_SINGLE + 1..=LAST_GROUPED,
        ));
        slots.push(Slot::of_range(histogram, format!("{}+", LAST_GROUPED + 1), LAST_GROUPED + 1..));
    }
    slots
}

/// Returns the subtitle: how many calls took more than one attempt.
pub(super) fn subtitle(histogram: &Histogram) -> String {
    let calls = totals(histogram).iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
    if calls == 0 {
        return "No calls".to_owned();
    }
    let single_attempt = Slot::of_range(histogram, String::new(), ..=1).calls();
    let several_attempts = calls.saturating_sub(single_attempt);
    if several_attempts == 0 {
        let each = if calls == 1 { "with" } else { "each with" };
        return format!("{}, {each} one attempt", counted(calls, "call"));
    }
    let share = percent_of(several_attempts, calls);
    let needed =
        format!("{} of {} ({share}) took more than one attempt", count(several_attempts), counted(calls, "call"));
    format!("{needed}; the most was {}", most_attempts(histogram))
}

/// Returns the alternative text of the chart, with its figures.
pub(super) fn alt(title: &str, histogram: &Histogram) -> String {
    let mut parts = Vec::new();
    for slot in slots(histogram).iter().filter(|slot| slot.calls() > 0) {
        let by_outcome: Vec<String> = OUTCOMES
            .iter()
            .zip(slot.by_outcome)
            .filter(|(_, n)| *n > 0)
            .map(|((name, _), n)| format!("{} {name}", count(n)))
            .collect();
        let attempts = if slot.label == "1" { "attempt" } else { "attempts" };
        parts.push(format!("{} {attempts}: {} ({})", slot.label, counted(slot.calls(), "call"), by_outcome.join(", ")));
    }
    let figures = if parts.is_empty() { String::new() } else { format!(" {}.", parts.join("; ")) };
    format!("Bar chart. {title}. {}.{figures}", subtitle(histogram))
}

/// Draws the chart.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    title: &str,
    histogram: &Histogram,
) -> Result<(), ChartError> {
    let slots = slots(histogram);
    let scale = Scale::of(&slots);
    canvas.head(title, &subtitle(histogram), MUTED)?;
    canvas.text("calls", (MARGIN, 88.0), LABEL, MUTED, Align::Left)?;
    legend(canvas, totals(histogram))?;
    for value in linear(scale.max) {
        canvas.value_tick(&compact(value), BASE - scale.height(value), (AXIS_X, RIGHT))?;
    }
    let step = (RIGHT - AXIS_X) / slots.len() as f64;
    let shows_exact_counts = exact_counts_fit(&slots, step - 6.0)?;
    for (i, slot) in slots.iter().enumerate() {
        let centre = AXIS_X + step * (i as f64 + 0.5);
        bar(canvas, slot, centre, (step * 0.68).min(88.0), scale.height(slot.calls()))?;
        let calls = if shows_exact_counts { count(slot.calls()) } else { compact(slot.calls()) };
        let (color, top) = if slot.calls() == 0 { (GREY, 0.0) } else { (INK, drawn_height(slot, &scale)) };
        canvas.text(&calls, (centre, BASE - top - 6.0), LABEL, color, Align::Centre)?;
        canvas.text(&slot.label, (centre, BASE + 18.0), LABEL, MUTED, Align::Centre)?;
    }
    canvas.base(BASE, (AXIS_X, RIGHT))?;
    canvas.text(&caption(histogram), (f64::midpoint(AXIS_X, RIGHT), BASE + 40.0), LABEL, MUTED, Align::Centre)
}

/// Returns the label of the axis, which mentions grouped bars.
fn caption(histogram: &Histogram) -> String {
    let most = most_attempts(histogram);
    if most <= LAST_GROUPED {
        return "attempts per call".to_owned();
    }
    format!("attempts per call (grouped from {} on; the most was {})", LAST_SINGLE + 1, count(u64::from(most)))
}

/// Returns whether the exact count of every slot fits above its bar.
fn exact_counts_fit(slots: &[Slot], room: f64) -> Result<bool, ChartError> {
    for slot in slots {
        if width(&count(slot.calls()), LABEL)? > room {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Draws the legend with the number of calls of each colour, from right to left.
fn legend<DB: DrawingBackend>(canvas: &Canvas<DB>, totals: [u64; 3]) -> Result<(), ChartError> {
    let mut right = RIGHT;
    for ((name, color), calls) in OUTCOMES.iter().zip(totals).rev() {
        let text = format!("{name} {}", compact(calls));
        canvas.text(&text, (right, 88.0), LABEL, INK, Align::Right)?;
        let left = right - width(&text, LABEL)? - 17.0;
        canvas.rect((left, 78.5), (left + 11.0, 89.5), *color)?;
        right = left - 20.0;
    }
    Ok(())
}

/// Scale from calls to pixels. It is linear from 0: on a logarithmic axis the parts of a bar would not be proportional.
struct Scale {
    max: u64,
}

impl Scale {
    fn of(slots: &[Slot]) -> Scale {
        Scale { max: slots.iter().map(Slot::calls).max().unwrap_or(0) }
    }

    /// Height of a bar; a count above 0 is always visible.
    fn height(&self, calls: u64) -> f64 {
        let full = BASE - TOP - COUNT_ROOM;
        if calls == 0 { 0.0 } else { (full * calls as f64 / self.max as f64).max(MIN_HEIGHT) }
    }
}

fn drawn_height(slot: &Slot, scale: &Scale) -> f64 {
    parts(slot, scale.height(slot.calls())).iter().sum()
}

/// Returns the heights of the parts of a bar: in proportion, but at least [`MIN_HEIGHT`] if not 0.
fn parts(slot: &Slot, height: f64) -> [f64; 3] {
    let calls = slot.calls() as f64;
    let shares = slot.by_outcome.map(|n| if n == 0 { 0.0 } else { (n as f64 / calls * height).max(MIN_HEIGHT) });
    let excess = (shares.iter().sum::<f64>() - height).max(0.0);
    // The height added to small parts is taken from the largest, as far as possible.
    let largest = shares.iter().fold(0.0_f64, |max, share| max.max(*share));
    shares.map(|share| if share == largest { (share - excess).max(share.min(MIN_HEIGHT)) } else { share })
}

fn bar<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    slot: &Slot,
    centre: f64,
    bar_width: f64,
    height: f64,
) -> Result<(), ChartError> {
    let (left, right) = (centre - bar_width / 2.0, centre + bar_width / 2.0);
    let mixed = slot.by_outcome.iter().filter(|n| **n > 0).count() > 1;
    let mut base = BASE;
    for ((part, calls), (_, color)) in parts(slot, height).into_iter().zip(slot.by_outcome).zip(OUTCOMES) {
        if calls == 0 {
            continue;
        }
        canvas.rect((left, base - part), (right, base), color)?;
        if base < BASE && part > MIN_HEIGHT {
            canvas.line(&[(left, base), (right, base)], 0.75, WHITE)?;
        }
        let text = compact(calls);
        if mixed && part >= 16.0 && width(&text, SMALL)? + 6.0 <= bar_width {
            canvas.text(&text, (centre, base - part / 2.0 + 3.7), SMALL, WHITE, Align::Centre)?;
        }
        base -= part;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_of_bars_and_parts_are_proportional_to_calls() {
        let slot = |by_outcome| Slot { label: String::new(), by_outcome };
        let slots = [slot([60_000, 20_000, 20_000]), slot([10_000, 0, 0]), slot([1, 0, 0]), slot([0, 0, 0])];
        let scale = Scale::of(&slots);
        let [most, tenth, one, none] = [0, 1, 2, 3].map(|at: usize| scale.height(slots[at].calls()));
        assert!((most / tenth - 10.0).abs() < 1e-9);
        assert_eq!((one, none), (MIN_HEIGHT, 0.0));
        let [ok, failed, open] = parts(&slots[0], most);
        assert!(
            (ok / failed - 3.0).abs() < 1e-9
                && (failed - open).abs() < 1e-9
                && (ok + failed + open - most).abs() < 1e-9
        );
    }
}
