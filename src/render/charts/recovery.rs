//! How many calls recover within so many retries, against what independent retries would give.

use super::canvas::{Align, Canvas};
use super::error::ChartError;
use super::style::{AXIS_X, BLUE, GREY, INK, LABEL, MARGIN, MUTED, WIDTH, counted, percent};
use crate::report::{RecoveryRow, RecoveryStep};
use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;

const TOP: f64 = 104.0;
const BASE: f64 = 384.0;
const RIGHT: f64 = WIDTH - 150.0;
/// Retries drawn: more make a line nobody learns from.
const MOST: usize = 12;
/// Retries of a number that must have been made: one call alone is no curve.
const LEAST_TRIED: u64 = 5;
/// Points of a dotted line lie so far apart.
const DOT_GAP: f64 = 6.0;
/// Two labels at the end of the lines need so much room.
const LABEL_STEP: f64 = 16.0;

/// The retries that were made often enough.
pub(super) fn steps(row: &RecoveryRow) -> &[RecoveryStep] {
    let known = row.steps.iter().take_while(|step| step.succeeded.of >= LEAST_TRIED).count();
    &row.steps[..known.min(MOST)]
}

/// What the lines say at a glance.
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

/// The figures in words.
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

/// Dots along the pieces of a path.
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

/// Names the lines at their ends, apart where the ends meet.
fn labels<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    observed: Option<&(f64, f64)>,
    predicted: Option<&(f64, f64)>,
) -> Result<(), ChartError> {
    let (Some(observed), Some(predicted)) = (observed, predicted) else { return Ok(()) };
    let near = (observed.1 - predicted.1).abs() < LABEL_STEP;
    let above = observed.1 <= predicted.1;
    let apart = if !near {
        0.0
    } else if above {
        LABEL_STEP / 2.0
    } else {
        -LABEL_STEP / 2.0
    };
    canvas.text("observed", (RIGHT + 10.0, observed.1 + 4.0 - apart), LABEL, BLUE, Align::Left)?;
    canvas.text("if independent", (RIGHT + 10.0, predicted.1 + 4.0 + apart), LABEL, INK, Align::Left)
}
