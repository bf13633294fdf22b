//! Timeline of incidents: a horizontal lane for each class, with a bar from the first failure of each incident to its last.

use super::canvas::{Align, Canvas, fitting, width};
use super::error::ChartError;
use super::style::{
    AXIS, GRID, HEIGHT, INK, LABEL, MARGIN, MUTED, SMALL, VERMILION, WIDTH, compact, count, counted, shorten,
};
use super::ticks::TimeAxis;
use crate::report::{IncidentRow, Window};
use plotters::prelude::DrawingBackend;

/// Edges of the plot, in logical pixels.
const TOP: f64 = 84.0;
const BASE: f64 = 392.0;
const LEFT: f64 = 190.0;
const RIGHT: f64 = WIDTH - MARGIN;
/// Maximum number of lanes; the last one combines all further classes.
const MAX_LANES: usize = 8;
/// Minimum width of a bar, in logical pixels.
const MIN_BAR: f64 = 3.0;
/// Maximum height of a lane, in logical pixels.
const MAX_LANE_HEIGHT: f64 = 44.0;

/// The incidents of one class at one service.
struct Lane<'a> {
    name: String,
    incidents: Vec<&'a IncidentRow>,
}

impl Lane<'_> {
    fn failed(&self) -> u64 {
        self.incidents.iter().fold(0, |sum, one| sum.saturating_add(one.failed))
    }
}

/// Returns the lanes, those with most failed attempts first.
fn lanes(incidents: &[IncidentRow]) -> Vec<Lane<'_>> {
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    for incident in incidents {
        let service = incident.model.as_deref().or(incident.provider.as_deref()).unwrap_or_default();
        let name = format!("{} {}", incident.class, shorten(service, 40));
        match lanes.iter_mut().find(|lane| lane.name == name) {
            Some(lane) => lane.incidents.push(incident),
            None => lanes.push(Lane { name, incidents: vec![incident] }),
        }
    }
    lanes.sort_by_key(|lane| std::cmp::Reverse(lane.failed()));
    if lanes.len() > MAX_LANES {
        let rest = lanes.split_off(MAX_LANES - 1);
        let name = counted(rest.len() as u64, "more kind");
        lanes.push(Lane { name, incidents: rest.into_iter().flat_map(|lane| lane.incidents).collect() });
    }
    lanes
}

/// Returns the subtitle: the number of incidents and the worst one.
fn subtitle(incidents: &[IncidentRow]) -> String {
    let Some(worst) = incidents.iter().max_by_key(|one| one.failed) else { return "No incident".to_owned() };
    format!(
        "{}; the worst: {} in {}",
        counted(incidents.len() as u64, "incident"),
        worst.class,
        counted(worst.failed, "failed attempt")
    )
}

/// Returns the alternative text of the chart, with its figures.
pub(super) fn alt(title: &str, incidents: &[IncidentRow]) -> String {
    let figures: Vec<String> = lanes(incidents)
        .iter()
        .map(|lane| format!("{}: {} failed in {}", lane.name, count(lane.failed()), lane.incidents.len()))
        .collect();
    format!("Timeline. {title}. {}. {}.", subtitle(incidents), figures.join("; "))
}

/// Height of a lane, in logical pixels.
fn step(lanes: usize) -> f64 {
    ((BASE - TOP) / lanes.max(1) as f64).min(MAX_LANE_HEIGHT)
}

/// Height of the used part of the canvas, in logical pixels.
pub(super) fn height(incidents: &[IncidentRow]) -> f64 {
    let lanes = lanes(incidents).len();
    TOP + step(lanes) * lanes.max(1) as f64 + (HEIGHT - BASE)
}

/// Draws the chart over the time range of the whole log.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    title: &str,
    incidents: &[IncidentRow],
    window: Window,
) -> Result<(), ChartError> {
    let axis = TimeAxis::new(window.first, window.last);
    canvas.head(title, &subtitle(incidents), MUTED)?;
    let lanes = lanes(incidents);
    let step = step(lanes.len());
    let base = TOP + step * lanes.len().max(1) as f64;
    for (at, label) in axis.ticks(RIGHT - LEFT)? {
        let x = x(axis, at);
        canvas.line(&[(x, TOP), (x, base)], 1.0, GRID)?;
        canvas.line(&[(x, base), (x, base + 4.0)], 1.0, AXIS)?;
        canvas.text(&label, (x, base + 18.0), LABEL, MUTED, Align::Centre)?;
    }
    for (nth, lane) in lanes.iter().enumerate() {
        let middle = TOP + step * (nth as f64 + 0.5);
        canvas.text(
            &fitting(&lane.name, LABEL, LEFT - MARGIN - 10.0)?,
            (MARGIN, middle + 4.0),
            LABEL,
            INK,
            Align::Left,
        )?;
        bars(canvas, lane, axis, middle, step)?;
    }
    canvas.base(base, (LEFT, RIGHT))?;
    let caption = format!("time (UTC), {}; figures are failed attempts", axis.days());
    canvas.text(&caption, (f64::midpoint(LEFT, RIGHT), base + 38.0), LABEL, MUTED, Align::Centre)
}

fn x(axis: TimeAxis, at: crate::model::Time) -> f64 {
    LEFT + (RIGHT - LEFT) * axis.place(at)
}

/// Draws the bars of a lane, each followed by its count if there is room before the next.
fn bars<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    lane: &Lane<'_>,
    axis: TimeAxis,
    middle: f64,
    step: f64,
) -> Result<(), ChartError> {
    let half = step * 0.27;
    for (nth, incident) in lane.incidents.iter().enumerate() {
        let left = x(axis, incident.first).min(RIGHT - MIN_BAR);
        let right = x(axis, incident.last).max(left + MIN_BAR);
        canvas.rect((left, middle - half), (right, middle + half), VERMILION)?;
        let text = compact(incident.failed);
        let room = lane.incidents.get(nth + 1).map_or(RIGHT, |next| x(axis, next.first)) - right;
        if width(&text, SMALL)? + 10.0 <= room {
            canvas.text(&text, (right + 5.0, middle + 3.7), SMALL, INK, Align::Left)?;
        }
    }
    Ok(())
}
