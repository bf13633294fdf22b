//! Share of calls recovered after each number of retries, compared with independent retries.

use super::canvas::{Align, Canvas};
use super::error::ChartError;
use super::style::{AXIS_X, BLUE, GREY, INK, LABEL, MARGIN, MUTED, WIDTH, counted, percent};
use crate::report::{RecoveryRow, RecoveryStep};
use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;

/// Edges of the plot, in logical pixels.
const TOP: f64 = 104.0;
const BASE: f64 = 384.0;
const RIGHT: f64 = WIDTH - 150.0;
/// Maximum number of retries drawn; later ones differ too little to be seen.
const MAX_RETRIES: usize = 12;
/// Minimum number of calls that made a retry for it to be drawn.
const MIN_CALLS: u64 = 5;
/// Distance between the dots of a dotted line, in logical pixels.
const DOT_GAP: f64 = 6.0;
/// Minimum distance between the two labels at the end of the lines, in logical pixels.
const LABEL_STEP: f64 = 16.0;

/// Returns the retries that were made often enough to be drawn.
pub(super) fn steps(row: &RecoveryRow) -> &[RecoveryStep] {
    let known = row.steps.iter().take_while(|step| step.succeeded.of >= MIN_CALLS).count();
    &row.steps[..known.min(MAX_RETRIES)]
}

/// Returns the subtitle: the share recovered after the last retry drawn.
fn subtitle(row: &RecoveryRow) -> String {
    let Some(last) = steps(row).last() else { return "No retry".to_owned() };
    let calls = counted(row.retried.count, "call");
    let retries = counted(last.retry as u64, "retry");
    format!(
        "{} of {calls} that retried recover within {retries}; {} if retries were independent",
        percent(last.observed),
        percent(last.predicted)
    )
}

/// Returns the alternative text of the chart, with its figures.
pub(super) fn alt(title: &str, row: &RecoveryRow) -> String {
    let figures: Vec<String> = steps(row)
        .iter()
        .map(|step| format!("{}: {}, independent {}", step.retry, percent(step.observed), percent(step.predicted)))
        .collect();
    format!("Line chart. {title}. {}. Recovered by number of retries: {}.", subtitle(row), figures.join("; "))
}

/// Draws the chart.
pub(super) fn draw<DB: DrawingBackend>(canvas: &Canvas<DB>, title: &str, row: &RecoveryRow) -> Result<(), ChartError> {
    canvas.head(title, &subtitle(row), MUTED)?;
    canvas.text("calls recovered by now, %", (MARGIN, 84.0), LABEL, MUTED, Align::Left)?;
    for tick in [0_u32, 25, 50, 75, 100] {
        canvas.value_tick(&format!("{tick}%"), y(f64::from(tick) / 100.0), (AXIS_X, RIGHT))?;
    }
    canvas.base(BASE, (AXIS_X, RIGHT))?;
    let steps = steps(row);
    let x = |nth: usize| AXIS_X + (RIGHT - AXIS_X) * (nth as f64 + 0.5) / steps.len().max(1) as f64;
    for (nth, step) in steps.iter().enumerate() {
        canvas.text(&step.retry.to_string(), (x(nth), BASE + 18.0), LABEL, MUTED, Align::Centre)?;
    }
    let path = |of: fn(&RecoveryStep) -> f64| -> Vec<(f64, f64)> {
        steps.iter().enumerate().map(|(nth, step)| (x(nth), y(of(step)))).collect()
    };
    let (observed, predicted) = (path(|step| step.observed), path(|step| step.predicted));
    dotted(canvas, &predicted, GREY)?;
    canvas.line(&observed, 2.5, BLUE)?;
    observed.iter().try_for_each(|at| canvas.dot(*at, 4.0, BLUE))?;
    predicted.iter().try_for_each(|at| canvas.dot(*at, 2.5, GREY))?;
    labels(canvas, observed.last(), predicted.last())?;
    canvas.text("retries", (f64::midpoint(AXIS_X, RIGHT), BASE + 40.0), LABEL, MUTED, Align::Centre)
}

fn y(share: f64) -> f64 {
    BASE - (BASE - TOP) * share.clamp(0.0, 1.0)
}

/// Draws dots along the segments of a path.
fn dotted<DB: DrawingBackend>(canvas: &Canvas<DB>, path: &[(f64, f64)], color: RGBColor) -> Result<(), ChartError> {
    for pair in path.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        let dots = ((b.0 - a.0).hypot(b.1 - a.1) / DOT_GAP).floor() as u32;
        for nth in 1..dots {
            let part = f64::from(nth) / f64::from(dots);
            canvas.dot((a.0 + (b.0 - a.0) * part, a.1 + (b.1 - a.1) * part), 0.9, color)?;
        }
    }
    Ok(())
}

/// Labels the lines at their ends, moved apart if the ends are close.
fn labels<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    observed: Option<&(f64, f64)>,
    predicted: Option<&(f64, f64)>,
) -> Result<(), ChartError> {
    let (Some(observed), Some(predicted)) = (observed, predicted) else { return Ok(()) };
    let is_close = (observed.1 - predicted.1).abs() < LABEL_STEP;
    let observed_is_above = observed.1 <= predicted.1;
    let offset = if !is_close {
        0.0
    } else if observed_is_above {
        LABEL_STEP / 2.0
    } else {
        -LABEL_STEP / 2.0
    };
    canvas.text("observed", (RIGHT + 10.0, observed.1 + 4.0 - offset), LABEL, BLUE, Align::Left)?;
    canvas.text("if independent", (RIGHT + 10.0, predicted.1 + 4.0 + offset), LABEL, INK, Align::Left)
}
