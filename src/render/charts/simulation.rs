//! What an endpoint served and refused, and how many tasks waited, tick by tick: a panel for each policy.

use super::canvas::{Align, Canvas, fitting};
use super::error::ChartError;
use super::style::{BLUE, GREY, INK, LABEL, MARGIN, MUTED, SMALL, VERMILION, WIDTH, compact, count, counted};
use super::ticks::linear;
use crate::simulate::{Counts, PolicyRow, Simulation};
use plotters::prelude::DrawingBackend;

/// Panels drawn: of more policies, the first.
pub(super) const MOST: usize = 6;
const TOP: f64 = 92.0;
const BOTTOM: f64 = 436.0;
/// Space between panels, across and down.
const GAP: (f64, f64) = (26.0, 12.0);
/// Room for the values beside, the name above and the ticks below each panel.
const SIDE: f64 = 38.0;
const HEAD: f64 = 22.0;
const FOOT: f64 = 20.0;

/// One panel's frame: left, right, top, base.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    base: f64,
}

/// What all panels share, so that they can be compared.
#[derive(Clone, Copy)]
struct Scale {
    ticks: u64,
    most: u64,
}

impl Scale {
    fn x(self, frame: Frame, tick: u64) -> f64 {
        frame.left + (frame.right - frame.left) * (tick as f64 / self.ticks as f64).clamp(0.0, 1.0)
    }

    fn y(self, frame: Frame, value: u64) -> f64 {
        frame.base - (frame.base - frame.top) * (value as f64 / self.most as f64).clamp(0.0, 1.0)
    }
}

fn shown(simulation: &Simulation) -> &[PolicyRow] {
    &simulation.policies[..simulation.policies.len().min(MOST)]
}

fn scale(rows: &[PolicyRow]) -> Scale {
    let highest = |point: &Counts| point.served.max(point.refused).max(point.waiting);
    let most = rows.iter().flat_map(|row| &row.course.points).map(highest).max().unwrap_or(0).max(1);
    let ticks = rows.iter().map(|row| row.course.ticks * row.course.points.len() as u64).max().unwrap_or(0);
    Scale { ticks: ticks.max(1), most }
}

fn subtitle(simulation: &Simulation) -> String {
    let one = |row: &PolicyRow| format!("{} {}", row.policy, count(row.attempts));
    let sent: Vec<String> = shown(simulation).iter().map(one).collect();
    format!("Attempts sent: {}", sent.join(", "))
}

/// The figures in words.
pub(super) fn alt(title: &str, simulation: &Simulation) -> String {
    let one = |row: &PolicyRow| {
        let drained =
            row.drained_at.map_or_else(|| "did not drain".to_owned(), |tick| format!("drained at tick {tick}"));
        format!(
            "{}: {} served, {} dropped, {}, {drained}",
            row.policy,
            count(row.served),
            count(row.dropped),
            counted(row.attempts, "attempt")
        )
    };
    let rows: Vec<String> = shown(simulation).iter().map(one).collect();
    format!("Line charts. {title}. {}.", rows.join("; "))
}

/// Draws the chart.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    title: &str,
    simulation: &Simulation,
) -> Result<(), ChartError> {
    canvas.head(title, &subtitle(simulation), MUTED)?;
    legend(canvas)?;
    let rows = shown(simulation);
    let scale = scale(rows);
    for (row, frame) in rows.iter().zip(frames(rows.len())) {
        panel(canvas, frame, scale, row)?;
    }
    Ok(())
}

/// One below the other for two, side by side for more.
fn frames(panels: usize) -> Vec<Frame> {
    let columns = if panels <= 2 { 1 } else { panels.div_ceil(2) };
    let lines = panels.div_ceil(columns).max(1);
    let wide = (WIDTH - 2.0 * MARGIN - GAP.0 * (columns - 1) as f64) / columns as f64;
    let high = (BOTTOM - TOP - GAP.1 * (lines - 1) as f64) / lines as f64;
    let place = |nth: usize| {
        let left = MARGIN + (nth % columns) as f64 * (wide + GAP.0);
        let top = TOP + (nth / columns) as f64 * (high + GAP.1);
        Frame { left: left + SIDE, right: left + wide, top: top + HEAD, base: top + high - FOOT }
    };
    (0..panels).map(place).collect()
}

fn panel<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    frame: Frame,
    scale: Scale,
    row: &PolicyRow,
) -> Result<(), ChartError> {
    let drained =
        row.drained_at.map_or_else(|| "did not drain".to_owned(), |tick| format!("drained at {}", count(tick)));
    let at_most = row.max_attempts.map_or_else(String::new, |most| format!(", {}", counted(most, "attempt")));
    let name = format!("{}{at_most}: {drained}", row.policy);
    let name = fitting(&name, LABEL, frame.right - frame.left)?;
    canvas.text(&name, (frame.left, frame.top - 8.0), LABEL, INK, Align::Left)?;
    for value in linear(scale.most).into_iter().step_by(2) {
        let y = scale.y(frame, value);
        canvas.line(&[(frame.left, y), (frame.right, y)], 1.0, super::style::GRID)?;
        canvas.text(&compact(value), (frame.left - 6.0, y + 3.5), SMALL, MUTED, Align::Right)?;
    }
    canvas.base(frame.base, (frame.left, frame.right))?;
    for tick in linear(scale.ticks).into_iter().step_by(2) {
        let x = scale.x(frame, tick);
        canvas.text(&compact(tick), (x, frame.base + 13.0), SMALL, MUTED, Align::Centre)?;
    }
    canvas.line(&steps(frame, scale, row, |point| point.waiting), 1.75, GREY)?;
    canvas.line(&steps(frame, scale, row, |point| point.refused), 1.75, VERMILION)?;
    canvas.line(&steps(frame, scale, row, |point| point.served), 1.75, BLUE)
}

/// A line with a step for each stretch of ticks.
fn steps(frame: Frame, scale: Scale, row: &PolicyRow, of: impl Fn(&Counts) -> u64) -> Vec<(f64, f64)> {
    let width = row.course.ticks;
    let step = |(nth, point): (u64, &Counts)| {
        let y = scale.y(frame, of(point));
        [(scale.x(frame, nth * width), y), (scale.x(frame, (nth + 1) * width), y)]
    };
    (0..).zip(&row.course.points).flat_map(step).collect()
}

fn legend<DB: DrawingBackend>(canvas: &Canvas<DB>) -> Result<(), ChartError> {
    canvas.text("in each tick", (MARGIN, 78.0), LABEL, MUTED, Align::Left)?;
    let mut left = WIDTH - 320.0;
    for (name, color) in [("served", BLUE), ("refused", VERMILION), ("waiting at its end", GREY)] {
        canvas.rect((left, 70.0), (left + 11.0, 80.0), color)?;
        canvas.text(name, (left + 17.0, 78.0), LABEL, INK, Align::Left)?;
        left += super::canvas::width(name, LABEL)? + 37.0;
    }
    Ok(())
}
