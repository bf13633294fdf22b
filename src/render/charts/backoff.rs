//! Waits of one retry loop by retry, compared with the schedule inferred from them.

use super::canvas::{Align, Canvas};
use super::error::ChartError;
use super::style::{AXIS_X, BLUE, GREY, INK, LABEL, MARGIN, MUTED, SMALL, WIDTH, compact, counted, shorten};
use super::ticks::linear;
use crate::model::units::seconds;
use crate::report::{Backoff, BackoffStep};
use plotters::prelude::DrawingBackend;

/// Edges of the plot, in logical pixels.
const TOP: f64 = 112.0;
const BASE: f64 = 384.0;
const RIGHT: f64 = WIDTH - MARGIN;
/// Stroke width of the line from the 5th to the 95th percentile.
const SPREAD_STROKE: f64 = 7.0;
/// Half the width of the mark at the median.
const MEDIAN_HALF_WIDTH: f64 = 11.0;
/// Height above the longest wait that is reserved for its count.
const COUNT_ROOM: f64 = 16.0;

/// Returns the wait before a retry according to the inferred schedule, in seconds.
fn nominal(entry: &Backoff, retry: u8) -> Option<f64> {
    let factor = if entry.schedule == "fixed" { 1.0 } else { entry.factor? };
    let wait = entry.first_s? * factor.powi(i32::from(retry.saturating_sub(1)));
    Some(wait.min(entry.cap_s.unwrap_or(f64::MAX)))
}

/// Returns the subtitle: the inferred schedule and the number of waits.
fn subtitle(entry: &Backoff) -> String {
    format!("{}; {} of the loop's own", shorten(&entry.summary, 90), counted(entry.waits, "wait"))
}

/// Returns the alternative text of the chart, with its figures.
pub(super) fn alt(title: &str, entry: &Backoff) -> String {
    let describe = |step: &BackoffStep| {
        let [low, middle, high] = [step.p05_s, step.p50_s, step.p95_s].map(seconds);
        format!("before retry {}: {middle}, usually {low} to {high}", step.retry)
    };
    let figures: Vec<String> = entry.steps.iter().map(describe).collect();
    format!("Range chart. {title}. {}. Waits {}.", subtitle(entry), figures.join("; "))
}

/// Draws the chart.
pub(super) fn draw<DB: DrawingBackend>(canvas: &Canvas<DB>, title: &str, entry: &Backoff) -> Result<(), ChartError> {
    canvas.head(title, &subtitle(entry), MUTED)?;
    legend(canvas)?;
    let longest = entry.steps.iter().map(|step| step.p95_s.max(nominal(entry, step.retry).unwrap_or(0.0)));
    let longest = longest.fold(0.001, f64::max).min(1e9);
    let y = |s: f64| BASE - (BASE - TOP - COUNT_ROOM) * (s / longest).clamp(0.0, 1.0);
    for ms in linear((longest * 1000.0).ceil() as u64) {
        let s = ms as f64 / 1000.0;
        canvas.value_tick(&if ms == 0 { "0".to_owned() } else { seconds(s) }, y(s), (AXIS_X, RIGHT))?;
    }
    canvas.base(BASE, (AXIS_X, RIGHT))?;
    let step_width = (RIGHT - AXIS_X) / entry.steps.len().max(1) as f64;
    for (nth, step) in entry.steps.iter().enumerate() {
        let x = AXIS_X + step_width * (nth as f64 + 0.5);
        canvas.line(&[(x, y(step.p05_s)), (x, y(step.p95_s))], SPREAD_STROKE, BLUE)?;
        canvas.line(&[(x - MEDIAN_HALF_WIDTH, y(step.p50_s)), (x + MEDIAN_HALF_WIDTH, y(step.p50_s))], 2.5, INK)?;
        if let Some(wait) = nominal(entry, step.retry) {
            canvas.line(&[(x - MEDIAN_HALF_WIDTH * 2.0, y(wait)), (x - MEDIAN_HALF_WIDTH, y(wait))], 2.5, GREY)?;
            canvas.line(&[(x + MEDIAN_HALF_WIDTH, y(wait)), (x + MEDIAN_HALF_WIDTH * 2.0, y(wait))], 2.5, GREY)?;
        }
        let top = y(step.p95_s.max(nominal(entry, step.retry).unwrap_or(0.0)));
        canvas.text(&compact(step.waits), (x, top - 9.0), SMALL, MUTED, Align::Centre)?;
        canvas.text(&step.retry.to_string(), (x, BASE + 18.0), LABEL, MUTED, Align::Centre)?;
    }
    let caption = "before which retry; figures are waits";
    canvas.text(caption, (f64::midpoint(AXIS_X, RIGHT), BASE + 40.0), LABEL, MUTED, Align::Centre)
}

fn legend<DB: DrawingBackend>(canvas: &Canvas<DB>) -> Result<(), ChartError> {
    canvas.text("wait", (MARGIN, 84.0), LABEL, MUTED, Align::Left)?;
    let parts = [("5% to 95% of the waits", BLUE), ("median", INK), ("the schedule", GREY)];
    let mut left = WIDTH - 350.0;
    for (name, color) in parts {
        canvas.rect((left, 76.0), (left + 11.0, 86.0), color)?;
        canvas.text(name, (left + 17.0, 84.0), LABEL, INK, Align::Left)?;
        left += super::canvas::width(name, LABEL)? + 37.0;
    }
    Ok(())
}
