//! Attempts sent and attempts in flight of a scope over time: two panels on one time axis.

use super::canvas::{Align, Canvas};
use super::error::ChartError;
use super::style::{
    AXIS, AXIS_X, BLUE, GREEN, LABEL, LIMIT_BAND, MARGIN, MUTED, VERMILION, WIDTH, compact, count, counted,
};
use super::ticks::{TimeAxis, linear};
use crate::model::Time;
use crate::report::{LoadCourse, LoadPoint, LoadRow};
use plotters::prelude::DrawingBackend;

const RIGHT: f64 = WIDTH - 110.0;
const TIME_Y: f64 = 396.0;
/// Minimum number of points with attempts for which a chart is drawn.
const LEAST_POINTS: usize = 5;
/// A limit is drawn only if it is at most this many times the busiest minute.
const FARTHEST_LIMIT: u64 = 4;

/// Position and scale of a panel.
#[derive(Clone, Copy)]
struct Panel {
    top: f64,
    base: f64,
    /// The value at its top.
    most: f64,
}

const SENDS: (f64, f64) = (96.0, 236.0);
const FLYING: (f64, f64) = (276.0, TIME_Y);

/// Returns whether there are enough points for a chart.
pub(super) fn is_worth_it(course: &LoadCourse) -> bool {
    course.points.iter().filter(|point| point.sends > 0).count() >= LEAST_POINTS
}

fn most(course: &LoadCourse, of: impl Fn(&LoadPoint) -> u64) -> u64 {
    course.points.iter().map(of).max().unwrap_or(0)
}

fn axis(course: &LoadCourse) -> TimeAxis {
    let start = course.points.first().map_or(Time(0), |point| point.at);
    let end = course.points.last().map_or(start, |point| point.at.plus_us(width_us(course)));
    TimeAxis::new(start, end)
}

fn width_us(course: &LoadCourse) -> i64 {
    ((course.resolution_s * 1e6) as i64).max(1)
}

/// The limit on requests per minute, as last reported by the headers.
fn limit(row: &LoadRow) -> Option<u64> {
    row.requests_limit.and_then(|limit| u64::try_from(limit).ok()).filter(|limit| *limit > 0)
}

/// Returns the subtitle: the peaks, the rejected attempts and the limit, as in the table.
fn subtitle(row: &LoadRow, course: &LoadCourse) -> String {
    let refused = course.points.iter().fold(0_u64, |sum, point| sum.saturating_add(point.refused));
    let busiest = match row.offered_per_min.zip(row.offered_at) {
        Some((most, at)) => format!("{} within 60 s, from {}", count(most), axis(course).clock(at)),
        None => "0 within 60 s".to_owned(),
    };
    let flying = row.in_flight_peak.map(|most| format!(", and {} in flight", count(most))).unwrap_or_default();
    let limit = limit(row).map(|limit| format!("; the limit is {} a minute", count(limit))).unwrap_or_default();
    format!("At most {busiest}{flying}; {} refused (429, 503, overload){limit}", counted(refused, "attempt"))
}

/// Returns the alternative text of the chart, with its figures.
pub(super) fn alt(title: &str, row: &LoadRow, course: &LoadCourse) -> String {
    let axis = axis(course);
    let sends = course.points.iter().fold(0_u64, |sum, point| sum.saturating_add(point.sends));
    format!(
        "Line chart. {title}. {}. {} in all, from {} to {}.",
        subtitle(row, course),
        counted(sends, "attempt"),
        axis.from,
        axis.to
    )
}

/// Draws the chart.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    title: &str,
    row: &LoadRow,
    course: &LoadCourse,
) -> Result<(), ChartError> {
    canvas.head(title, &subtitle(row, course), MUTED)?;
    let limit = limit(row);
    let busiest = most(course, |point| point.sends_per_min);
    // A limit far above the line would flatten the line.
    let shown = limit.filter(|limit| *limit <= busiest.saturating_mul(FARTHEST_LIMIT));
    let sends = Panel { top: SENDS.0, base: SENDS.1, most: busiest.max(shown.unwrap_or(0)).max(1) as f64 };
    let flying = Panel { top: FLYING.0, base: FLYING.1, most: most(course, |point| point.in_flight).max(1) as f64 };
    // The range allowed by the limit is a band behind the lines; what rises above it was over the limit.
    if let Some(limit) = shown {
        let top = y(sends, limit as f64);
        canvas.rect((AXIS_X, top), (RIGHT, sends.base), LIMIT_BAND)?;
        canvas.line(&[(AXIS_X, top), (RIGHT, top)], 1.0, AXIS)?;
        canvas.text(&format!("limit {}", count(limit)), (RIGHT + 8.0, top + 4.0), LABEL, MUTED, Align::Left)?;
    }
    panel(canvas, sends, "attempts within 60 s")?;
    panel(canvas, flying, "most in flight at once")?;
    let flight = steps(course, flying, |point| point.in_flight as f64, false);
    let (sent, refused) = (SENDS.0 - 12.0, SENDS.0 - 28.0);
    canvas.text("sent", (RIGHT + 8.0, sent), LABEL, BLUE, Align::Left)?;
    if course.points.iter().any(|point| point.refused > 0) {
        canvas.line(&steps(course, sends, |point| point.refused_per_min as f64, true), 1.75, VERMILION)?;
        canvas.text("refused", (RIGHT + 8.0, refused), LABEL, VERMILION, Align::Left)?;
    }
    canvas.line(&steps(course, sends, |point| point.sends_per_min as f64, true), 1.75, BLUE)?;
    canvas.line(&flight, 1.75, GREEN)?;
    canvas.text("in flight", (RIGHT + 8.0, FLYING.0 + 4.0), LABEL, GREEN, Align::Left)?;
    time_axis(canvas, axis(course))
}

/// Draws the value axis and the caption of one panel.
fn panel<DB: DrawingBackend>(canvas: &Canvas<DB>, panel: Panel, caption: &str) -> Result<(), ChartError> {
    canvas.text(caption, (MARGIN, panel.top - 14.0), LABEL, MUTED, Align::Left)?;
    // Rounded up: the line must stay within the panel, and a tick at its top is allowed.
    for tick in linear(panel.most.ceil() as u64).into_iter().filter(|tick| *tick as f64 <= panel.most) {
        canvas.value_tick(&compact(tick), y(panel, tick as f64), (AXIS_X, RIGHT))?;
    }
    canvas.base(panel.base, (AXIS_X, RIGHT))
}

fn y(panel: Panel, value: f64) -> f64 {
    panel.base - (panel.base - panel.top) * (value / panel.most).clamp(0.0, 1.0)
}

/// Returns a step line with a step for each point. In a gap it drops to 0 if `falls`, and else keeps its level.
fn steps(course: &LoadCourse, panel: Panel, value: impl Fn(&LoadPoint) -> f64, falls: bool) -> Vec<(f64, f64)> {
    let axis = axis(course);
    let x = |at: Time| AXIS_X + (RIGHT - AXIS_X) * axis.place(at);
    let mut path: Vec<(f64, f64)> = Vec::new();
    let mut before: Option<Time> = None;
    for point in &course.points {
        let end = point.at.plus_us(width_us(course));
        if let Some(ended) = before.filter(|ended| ended.plus_us(width_us(course) / 2) < point.at) {
            let level = path.last().map_or(panel.base, |(_, y)| *y);
            let level = if falls { panel.base } else { level };
            path.extend([(x(ended), level), (x(point.at), level)]);
        }
        let y = y(panel, value(point));
        path.extend([(x(point.at), y), (x(end), y)]);
        before = Some(end);
    }
    path
}

fn time_axis<DB: DrawingBackend>(canvas: &Canvas<DB>, axis: TimeAxis) -> Result<(), ChartError> {
    for (at, label) in axis.ticks(RIGHT - AXIS_X)? {
        let x = AXIS_X + (RIGHT - AXIS_X) * axis.place(at);
        canvas.line(&[(x, TIME_Y), (x, TIME_Y + 4.0)], 1.0, AXIS)?;
        canvas.text(&label, (x, TIME_Y + 17.0), LABEL, MUTED, Align::Centre)?;
    }
    let caption = format!("time (UTC), {}", axis.days());
    canvas.text(&caption, (f64::midpoint(AXIS_X, RIGHT), TIME_Y + 36.0), LABEL, MUTED, Align::Centre)
}
