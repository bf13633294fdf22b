//! What an endpoint served and refused, and how many tasks waited, over time: a panel for each policy.

use super::canvas::{Align, Canvas, fitting, width};
use super::error::ChartError;
use super::style::{BLUE, GREY, GRID, INK, LABEL, MARGIN, MUTED, SMALL, VERMILION, WIDTH, compact, count, counted};
use super::ticks::linear;
use crate::model::units::seconds;
use crate::simulate::{Counterfactual, Counts, PolicyRow, Simulation};
use plotters::prelude::DrawingBackend;

/// Panels drawn: of more policies, the first.
const MOST: usize = 6;
const TOP: f64 = 92.0;
const BOTTOM: f64 = 436.0;
/// Space between panels, across and down.
const GAP: (f64, f64) = (26.0, 12.0);
/// Room for the values beside, the name above and the ticks below each panel.
const SIDE: f64 = 38.0;
const HEAD: f64 = 22.0;
const FOOT: f64 = 20.0;
/// What happened once is drawn no narrower.
const LEAST_BAR: f64 = 1.5;

/// Policies to draw.
#[derive(Clone, Debug)]
pub(super) struct Policies<'a> {
    subtitle: String,
    panels: Vec<Panel<'a>>,
    /// Whether times are seconds, rather than ticks.
    in_seconds: bool,
}

/// One policy.
#[derive(Clone, Debug)]
struct Panel<'a> {
    name: String,
    /// Its figures in words.
    alt: String,
    /// Seconds or ticks of each point.
    width: f64,
    points: &'a [Counts],
}

/// One panel's frame.
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
    end: f64,
    most: u64,
}

impl Scale {
    fn of(panels: &[Panel<'_>]) -> Scale {
        let highest = |point: &Counts| (point.served + point.refused).max(point.waiting);
        let most = panels.iter().flat_map(|panel| panel.points).map(highest).max().unwrap_or(0).max(1);
        let end = panels.iter().map(|panel| panel.width * panel.points.len() as f64).fold(0.0, f64::max);
        Scale { end: if end > 0.0 { end } else { 1.0 }, most }
    }

    fn x(self, frame: Frame, at: f64) -> f64 {
        frame.left + (frame.right - frame.left) * (at / self.end).clamp(0.0, 1.0)
    }

    fn y(self, frame: Frame, value: u64) -> f64 {
        frame.base - (frame.base - frame.top) * (value as f64 / self.most as f64).clamp(0.0, 1.0)
    }
}

/// The policies of a simulation.
pub(super) fn of_simulation(simulation: &Simulation) -> Policies<'_> {
    let rows = &simulation.policies[..simulation.policies.len().min(MOST)];
    let sent: Vec<String> = rows.iter().map(|row| format!("{} {}", row.policy, count(row.attempts))).collect();
    let panels = rows.iter().map(|row| simulated(rows, row)).collect();
    Policies { subtitle: format!("Attempts sent: {}", sent.join(", ")), panels, in_seconds: false }
}

fn simulated<'a>(rows: &[PolicyRow], row: &'a PolicyRow) -> Panel<'a> {
    let alike = rows.iter().filter(|other| other.policy == row.policy).count();
    let most = row.max_attempts.filter(|_| alike > 1).map_or_else(String::new, |most| format!(" ({most} at most)"));
    let drained =
        row.drained_at.map_or_else(|| "did not drain".to_owned(), |tick| format!("drained at {}", count(tick)));
    let (served, dropped) = (count(row.served), count(row.dropped));
    let alt = format!(
        "{}{most}: {served} served, {dropped} dropped, {}, {drained}",
        row.policy,
        counted(row.attempts, "attempt")
    );
    let name = format!("{}{most}: {drained}", row.policy);
    Panel { name, alt, width: row.course.ticks as f64, points: &row.course.points }
}

/// The model of an incident, and what it makes of other policies.
pub(super) fn of_counterfactual(told: &Counterfactual) -> Policies<'_> {
    let as_seen = ("as logged (model)".to_owned(), &told.replayed, told.resolution_s, told.course.as_slice());
    let others = told.policies.iter().map(|one| (one.policy.clone(), &one.figures, one.resolution_s, &one.course[..]));
    let panel = |(name, figures, width, points): (String, &crate::simulate::Figures, f64, _)| {
        let lost = format!("{} lost, {}", figures.lost.round(), seconds(figures.over_after_s));
        let alt = format!("{name}: {}, {lost}", counted(figures.attempts.round() as u64, "attempt"));
        Panel { name: format!("{name}: {lost}"), alt, width, points }
    };
    // The last policies are those with more to them.
    let skipped = (told.policies.len() + 1).saturating_sub(MOST);
    let panels = std::iter::once(as_seen).chain(others.skip(skipped)).map(panel).collect();
    let subtitle =
        format!("{} met {}; mean figures of {}", counted(told.calls, "call"), told.class, counted(told.seeds, "seed"));
    Policies { subtitle, panels, in_seconds: true }
}

/// The figures in words.
pub(super) fn alt(title: &str, policies: &Policies<'_>) -> String {
    let panels: Vec<&str> = policies.panels.iter().map(|panel| panel.alt.as_str()).collect();
    format!("Bar charts. {title}. {}.", panels.join("; "))
}

/// Draws the chart.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    title: &str,
    policies: &Policies<'_>,
) -> Result<(), ChartError> {
    canvas.head(title, &policies.subtitle, MUTED)?;
    legend(canvas, policies.in_seconds)?;
    let scale = Scale::of(&policies.panels);
    for (panel, frame) in policies.panels.iter().zip(frames(policies.panels.len())) {
        axes(canvas, frame, scale, policies.in_seconds)?;
        let name = fitting(&panel.name, LABEL, frame.right - frame.left)?;
        canvas.text(&name, (frame.left, frame.top - 8.0), LABEL, INK, Align::Left)?;
        bars(canvas, frame, scale, panel)?;
        canvas.line(&waiting(frame, scale, panel), 1.5, GREY)?;
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

fn axes<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    frame: Frame,
    scale: Scale,
    in_seconds: bool,
) -> Result<(), ChartError> {
    for value in linear(scale.most).into_iter().step_by(2) {
        let y = scale.y(frame, value);
        canvas.line(&[(frame.left, y), (frame.right, y)], 1.0, GRID)?;
        canvas.text(&compact(value), (frame.left - 6.0, y + 3.5), SMALL, MUTED, Align::Right)?;
    }
    canvas.base(frame.base, (frame.left, frame.right))?;
    // Times of a log may be shorter than a second.
    let parts = if in_seconds { 1000.0 } else { 1.0 };
    for part in linear((scale.end * parts) as u64).into_iter().step_by(2) {
        let at = part as f64 / parts;
        let label = if in_seconds && part > 0 { seconds(at) } else { compact(part) };
        canvas.text(&label, (scale.x(frame, at), frame.base + 13.0), SMALL, MUTED, Align::Centre)?;
    }
    Ok(())
}

/// What was served in each stretch of time, and what was refused on top of it.
fn bars<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    frame: Frame,
    scale: Scale,
    panel: &Panel<'_>,
) -> Result<(), ChartError> {
    for (nth, point) in panel.points.iter().enumerate() {
        let left = scale.x(frame, nth as f64 * panel.width);
        let right = scale.x(frame, (nth + 1) as f64 * panel.width).max(left + LEAST_BAR);
        let (served, sent) = (scale.y(frame, point.served), scale.y(frame, point.served + point.refused));
        if point.refused > 0 {
            canvas.rect((left, sent), (right, served), VERMILION)?;
        }
        if point.served > 0 {
            canvas.rect((left, served), (right, frame.base), BLUE)?;
        }
    }
    Ok(())
}

/// A line with a step wherever the number of waiting tasks changes.
fn waiting(frame: Frame, scale: Scale, panel: &Panel<'_>) -> Vec<(f64, f64)> {
    let mut path: Vec<(f64, f64)> = Vec::new();
    for (nth, point) in panel.points.iter().enumerate() {
        let y = scale.y(frame, point.waiting);
        if path.last().is_none_or(|(_, last)| *last != y) {
            let x = scale.x(frame, nth as f64 * panel.width);
            path.extend(path.last().map(|(_, last)| (x, *last)));
            path.push((x, y));
        }
    }
    let end = scale.x(frame, panel.width * panel.points.len() as f64);
    path.extend(path.last().map(|(_, last)| (end, *last)));
    path
}

fn legend<DB: DrawingBackend>(canvas: &Canvas<DB>, in_seconds: bool) -> Result<(), ChartError> {
    // Attempts of an incident fail in any way, those of a simulation for lack of capacity.
    let (what, failed) = if in_seconds { ("over time", "failed") } else { ("in each tick", "refused") };
    canvas.text(what, (MARGIN, 78.0), LABEL, MUTED, Align::Left)?;
    let mut left = WIDTH - 320.0;
    for (name, color) in [("served", BLUE), (failed, VERMILION), ("waiting", GREY)] {
        canvas.rect((left, 70.0), (left + 11.0, 80.0), color)?;
        canvas.text(name, (left + 17.0, 78.0), LABEL, INK, Align::Left)?;
        left += width(name, LABEL)? + 37.0;
    }
    Ok(())
}
