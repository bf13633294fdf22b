//! Attempts sent and attempts in flight of a scope over time: two panels on one time axis.

use super::canvas::{Align, Canvas};
use super::error::ChartError;
use super::style::{
    AXIS, AXIS_X, BLUE, GREEN, LABEL, LIMIT_BAND, MARGIN, MUTED, VERMILION, WIDTH, compact, count, counted,
};
use super::ticks::{TimeAxis, linear};
use crate::model::Time;
use crate::report::{LoadPoint, LoadRow, LoadSeries};
use plotters::prelude::DrawingBackend;

/// Right edge of the plot, in logical pixels.
const RIGHT: f64 = WIDTH - 110.0;
/// Position of the time axis.
const TIME_Y: f64 = 396.0;
/// Minimum number of points with attempts for which a chart is drawn.
const MIN_POINTS: usize = 5;
/// A limit is drawn only if it is at most this many times the busiest minute.
const MAX_LIMIT_RATIO: u64 = 4;

/// Position and scale of a panel.
#[derive(Clone, Copy)]
struct Panel {
    top: f64,
    base: f64,
    /// The value at its top.
    max: f64,
}

/// Upper and lower edge of the panel of attempts sent.
const SENDS_PANEL: (f64, f64) = (96.0, 236.0);
/// Upper and lower edge of the panel of attempts in flight.
const IN_FLIGHT_PANEL: (f64, f64) = (276.0, TIME_Y);

/// Returns whether there are enough points for a chart.
pub(super) fn has_enough_points(series: &LoadSeries) -> bool {
    series.points.iter().filter(|point| point.sends > 0).count() >= MIN_POINTS
}

fn max_of(series: &LoadSeries, of: impl Fn(&LoadPoint) -> u64) -> u64 {
    series.points.iter().map(of).max().unwrap_or(0)
}

fn axis(series: &LoadSeries) -> TimeAxis {
    let start = series.points.first().map_or(Time(0), |point| point.at);
    let end = series.points.last().map_or(start, |point| point.at.plus_us(width_us(series)));
    TimeAxis::new(start, end)
}

fn width_us(series: &LoadSeries) -> i64 {
    ((series.resolution_s * 1e6) as i64).max(1)
}

/// Returns the limit on requests per minute, as last reported by the headers.
fn limit(row: &LoadRow) -> Option<u64> {
    row.requests_limit.and_then(|limit| u64::try_from(limit).ok()).filter(|limit| *limit > 0)
}

/// Returns the subtitle: the peaks, the rejected attempts and the limit, as in the table.
fn subtitle(row: &LoadRow, series: &LoadSeries) -> String {
    let refused = series.points.iter().fold(0_u64, |sum, point| sum.saturating_add(point.refused));
    let busiest = match row.offered_per_min.zip(row.offered_at) {
        Some((most, at)) => format!("{} within 60 s, from {}", count(most), axis(series).clock(at)),
        None => "0 within 60 s".to_owned(),
    };
    let in_flight = row.in_flight_peak.map(|most| format!(", and {} in flight", count(most))).unwrap_or_default();
    let limit = limit(row).map(|limit| format!("; the limit is {} a minute", count(limit))).unwrap_or_default();
    format!("At most {busiest}{in_flight}; {} refused (429, 503, overload){limit}", counted(refused, "attempt"))
}

/// Returns the alternative text of the chart, with its figures.
pub(super) fn alt(title: &str, row: &LoadRow, series: &LoadSeries) -> String {
    let axis = axis(series);
    let sends = series.points.iter().fold(0_u64, |sum, point| sum.saturating_add(point.sends));
    format!(
        "Line chart. {title}. {}. {} in all, from {} to {}.",
        subtitle(row, series),
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
    series: &LoadSeries,
) -> Result<(), ChartError> {
    canvas.head(title, &subtitle(row, series), MUTED)?;
    let limit = limit(row);
    let busiest = max_of(series, |point| point.sends_per_min);
    // A limit far above the line would flatten the line.
    let shown = limit.filter(|limit| *limit <= busiest.saturating_mul(MAX_LIMIT_RATIO));
    let sends = Panel { top: SENDS_PANEL.0, base: SENDS_PANEL.1, max: busiest.max(shown.unwrap_or(0)).max(1) as f64 };
    let in_flight = Panel {
        top: IN_FLIGHT_PANEL.0,
        base: IN_FLIGHT_PANEL.1,
        max: max_of(series, |point| point.in_flight).max(1) as f64,
    };
    // The range allowed by the limit is a band behind the lines; what rises above it was over the limit.
    if let Some(limit) = shown {
        let top = y(sends, limit as f64);
        canvas.rect((AXIS_X, top), (RIGHT, sends.base), LIMIT_BAND)?;
        canvas.line(&[(AXIS_X, top), (RIGHT, top)], 1.0, AXIS)?;
        canvas.text(&format!("limit {}", count(limit)), (RIGHT + 8.0, top + 4.0), LABEL, MUTED, Align::Left)?;
    }
    panel(canvas, sends, "attempts within 60 s")?;
    panel(canvas, in_flight, "most in flight at once")?;
    let in_flight_line = steps(series, in_flight, |point| point.in_flight as f64, false);
    let (sent, refused) = (SENDS_PANEL.0 - 12.0, SENDS_PANEL.0 - 28.0);
    canvas.text("sent", (RIGHT + 8.0, sent), LABEL, BLUE, Align::Left)?;
    if series.points.iter().any(|point| point.refused > 0) {
        canvas.line(&steps(series, sends, |point| point.refused_per_min as f64, true), 1.75, VERMILION)?;
        canvas.text("refused", (RIGHT + 8.0, refused), LABEL, VERMILION, Align::Left)?;
    }
    canvas.line(&steps(series, sends, |point| point.sends_per_min as f64, true), 1.75, BLUE)?;
    canvas.line(&in_flight_line, 1.75, GREEN)?;
    canvas.text("in flight", (RIGHT + 8.0, IN_FLIGHT_PANEL.0 + 4.0), LABEL, GREEN, Align::Left)?;
    time_axis(canvas, axis(series))
}

/// Draws the value axis and the caption of one panel.
fn panel<DB: DrawingBackend>(canvas: &Canvas<DB>, panel: Panel, caption: &str) -> Result<(), ChartError> {
    canvas.text(caption, (MARGIN, panel.top - 14.0), LABEL, MUTED, Align::Left)?;
    // The maximum is rounded up so that a tick at the top of the panel is not lost; ticks above the panel are removed.
    for tick in linear(panel.max.ceil() as u64).into_iter().filter(|tick| *tick as f64 <= panel.max) {
        canvas.value_tick(&compact(tick), y(panel, tick as f64), (AXIS_X, RIGHT))?;
    }
    canvas.base(panel.base, (AXIS_X, RIGHT))
}

fn y(panel: Panel, value: f64) -> f64 {
    panel.base - (panel.base - panel.top) * (value / panel.max).clamp(0.0, 1.0)
}

/// Returns a line with a step for each point. Between points that are not adjacent, it drops to 0 if `drops_in_gaps` is
/// set, and keeps its level otherwise.
fn steps(series: &LoadSeries, panel: Panel, value: impl Fn(&LoadPoint) -> f64, drops_in_gaps: bool) -> Vec<(f64, f64)> {
    let axis = axis(series);
    let x = |at: Time| AXIS_X + (RIGHT - AXIS_X) * axis.place(at);
    let mut path: Vec<(f64, f64)> = Vec::new();
    let mut previous_end: Option<Time> = None;
    for point in &series.points {
        let end = point.at.plus_us(width_us(series));
        if let Some(end_of_previous) =
            previous_end.filter(|end_of_previous| end_of_previous.plus_us(width_us(series) / 2) < point.at)
        {
            let level = path.last().map_or(panel.base, |(_, y)| *y);
            let level = if drops_in_gaps { panel.base } else { level };
            path.extend([(x(end_of_previous), level), (x(point.at), level)]);
        }
        let y = y(panel, value(point));
        path.extend([(x(point.at), y), (x(end), y)]);
        previous_end = Some(end);
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
