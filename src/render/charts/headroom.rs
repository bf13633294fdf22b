//! Remaining share of each limit of a scope over time, and when the server rejected attempts.

use super::canvas::{Align, Canvas};
use super::error::ChartError;
use super::series::{DANGER, LimitSeries, Mark, marks, window};
use super::style::{
    AXIS, AXIS_X, DANGER_BAND, GREY, INK, LABEL, MARGIN, MUTED, SMALL, VERMILION, WIDTH, compact, count, counted,
    percent,
};
use super::ticks::TimeAxis;
use crate::model::{LimitKind, Time, units::capitalized};
use crate::report::Headroom;
use plotters::prelude::DrawingBackend;
use plotters::style::RGBColor;
use std::cmp::Ordering;

const TOP: f64 = 98.0;
const BASE: f64 = 342.0;
const RIGHT: f64 = WIDTH - 136.0;
/// Upper edges of the rows of 429s and of overloads, and the height of a row.
const ROWS: [f64; 2] = [352.0, 368.0];
const ROW_HEIGHT: f64 = 11.0;
/// Minimum width of a mark, in logical pixels.
const LEAST_MARK: f64 = 2.0;
/// Position of the time axis, below the rows.
const TIME_Y: f64 = 386.0;
/// Height of the two-line label at the end of a line.
const LABEL_STEP: f64 = 29.0;

fn color(kind: LimitKind) -> RGBColor {
    match kind {
        LimitKind::Requests => super::style::BLUE,
        LimitKind::InputTokens => super::style::GREEN,
        LimitKind::OutputTokens => super::style::PINK,
        LimitKind::Tokens => super::style::GOLD,
    }
}

/// The data of one scope, ready to draw.
struct Scene {
    axis: TimeAxis,
    /// The series, with the limit that binds first at the front.
    series: Vec<LimitSeries>,
    marks: Vec<Mark>,
    totals: [u64; 2],
    dropped: bool,
}

impl Scene {
    fn of(limits: &[&Headroom]) -> Scene {
        let axis = window(limits);
        let mut series: Vec<LimitSeries> = limits.iter().filter_map(|limit| LimitSeries::of(limit, axis)).collect();
        series.sort_by(binds_first);
        let (marks, totals) = marks(limits, axis);
        let dropped = series.len() < limits.len() || series.iter().any(|one| one.dropped);
        Scene { axis, series, marks, totals, dropped }
    }

    fn verdict(&self) -> String {
        let Some(first) = self.series.first() else {
            return "No usable reading of any limit".to_owned();
        };
        let name = first.kind.label();
        let Some(below) = first.below else {
            if first.low.ratio >= 0.9 {
                return "No limit fell below 90%".to_owned();
            }
            let left = percent(first.low.ratio);
            let at = self.axis.clock(first.low.at);
            return format!("No limit fell below 10%; {name} came closest, with {left} left at {at} UTC");
        };
        let low = match first.empty {
            Some(empty) => format!("empty at {}", self.axis.clock(empty)),
            None => format!("lowest {} at {}", percent(first.low.ratio), self.axis.clock(first.low.at)),
        };
        let refused = self.marks.iter().find(|mark| mark.counts[0] > 0 && mark.to >= below);
        let refused = refused.map_or(String::new(), |mark| format!(", next 429 at {}", self.axis.clock(mark.from)));
        format!("{} bind first: below 10% at {}, {low}{refused} (UTC)", capitalized(name), self.axis.clock(below))
    }
}

/// Orders limits by the time they fell below 10%, then by their lowest share, then by kind.
fn binds_first(a: &LimitSeries, b: &LimitSeries) -> Ordering {
    let when = |one: &LimitSeries| one.below.map_or(i64::MAX, |at| at.0);
    when(a).cmp(&when(b)).then(a.low.ratio.total_cmp(&b.low.ratio)).then(place(a.kind).cmp(&place(b.kind)))
}

fn place(kind: LimitKind) -> Option<usize> {
    LimitKind::ALL.iter().position(|other| *other == kind)
}

/// Returns the alternative text of the chart, with its figures.
pub(super) fn alt(title: &str, limits: &[&Headroom]) -> String {
    let scene = Scene::of(limits);
    let mut parts: Vec<String> = Vec::new();
    for one in &scene.series {
        let low = format!("lowest {} ({} of {})", percent(one.low.ratio), whole(one.low.left), whole(one.low.limit));
        parts.push(format!("{}: {low}, last {}", one.kind.label(), percent(one.last)));
    }
    let [rejected, overloaded] = scene.totals;
    parts.push(format!("{} with 429, {} with overload", counted(rejected, "answer"), count(overloaded)));
    let span = format!("From {} to {}", scene.axis.from, scene.axis.to);
    format!("Line chart. {title}. {}. {span}. {}.", scene.verdict(), capitalized(&parts.join("; ")))
}

fn whole(n: i64) -> String {
    count(n.unsigned_abs())
}

/// Draws the chart.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    title: &str,
    limits: &[&Headroom],
) -> Result<(), ChartError> {
    let scene = Scene::of(limits);
    let binding = scene.series.first().filter(|one| one.below.is_some());
    canvas.head(title, &scene.verdict(), binding.map_or(MUTED, |one| color(one.kind)))?;
    canvas.text("left of the limit, % (shaded: below 10%)", (MARGIN, 82.0), LABEL, MUTED, Align::Left)?;
    canvas.rect((AXIS_X, y(DANGER)), (RIGHT, BASE), DANGER_BAND)?;
    for tick in [100_u32, 75, 50, 25, 10, 0] {
        canvas.value_tick(&format!("{tick}%"), y(f64::from(tick) / 100.0), (AXIS_X, RIGHT))?;
    }
    canvas.base(BASE, (AXIS_X, RIGHT))?;
    lines(canvas, &scene)?;
    labels(canvas, &scene.series)?;
    rug(canvas, &scene)?;
    time_axis(canvas, scene.axis)?;
    if scene.dropped {
        canvas.footnote(
            "Some readings were no data (negative, above the limit, or of a limit of 0) and are not drawn.",
        )?;
    }
    Ok(())
}

fn x(axis: TimeAxis, at: Time) -> f64 {
    AXIS_X + (RIGHT - AXIS_X) * axis.place(at)
}

fn y(ratio: f64) -> f64 {
    BASE - (BASE - TOP) * ratio
}

/// Draws the lines, first and widest the binding limit, each later one narrower, so that lines on top of each other
/// are all visible.
fn lines<DB: DrawingBackend>(canvas: &Canvas<DB>, scene: &Scene) -> Result<(), ChartError> {
    let widths: [f64; 4] = [3.5, 2.25, 1.5, 1.0];
    for (i, one) in scene.series.iter().enumerate() {
        let wide = widths[i.min(widths.len() - 1)];
        let mut before = None;
        for stretch in &one.stretches {
            let path: Vec<(f64, f64)> = stretch.iter().map(|(at, ratio)| (x(scene.axis, *at), y(*ratio))).collect();
            if let (Some(from), Some(to)) = (before, path.first()) {
                dotted(canvas, from, *to, color(one.kind))?;
            }
            match path[..] {
                [only] => canvas.dot(only, wide.max(2.0), color(one.kind))?,
                _ => canvas.line(&path, wide, color(one.kind))?,
            }
            before = path.last().copied();
        }
    }
    Ok(())
}

/// Bridges a time without readings with dots, or with a thin line if there is no room for dots.
fn dotted<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    a: (f64, f64),
    b: (f64, f64),
    color: RGBColor,
) -> Result<(), ChartError> {
    if b.0 - a.0 < 12.0 {
        return canvas.line(&[a, b], 0.75, color);
    }
    let dots = ((b.0 - a.0).hypot(b.1 - a.1) / 5.0).floor() as u32;
    for i in 1..dots {
        let part = f64::from(i) / f64::from(dots);
        canvas.dot((a.0 + (b.0 - a.0) * part, a.1 + (b.1 - a.1) * part), 0.6, color)?;
    }
    Ok(())
}

/// Labels each line at its end; labels that would overlap are moved apart.
fn labels<DB: DrawingBackend>(canvas: &Canvas<DB>, series: &[LimitSeries]) -> Result<(), ChartError> {
    let mut places: Vec<(f64, usize)> = series.iter().enumerate().map(|(i, one)| (y(one.last), i)).collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut least = TOP;
    for place in &mut places {
        place.0 = place.0.max(least);
        least = place.0 + LABEL_STEP;
    }
    let mut most = BASE - 18.0;
    for place in places.iter_mut().rev() {
        place.0 = place.0.min(most);
        most = place.0 - LABEL_STEP;
    }
    for (at, i) in places {
        let one = &series[i];
        let left = RIGHT + 24.0;
        canvas.line(&[(RIGHT + 4.0, y(one.last)), (RIGHT + 20.0, at)], 0.75, color(one.kind))?;
        canvas.text(one.kind.label(), (left, at + 4.0), LABEL, color(one.kind), Align::Left)?;
        let low = format!("low {} of {}", percent(one.low.ratio), compact(one.low.limit.unsigned_abs()));
        canvas.text(&low, (left, at + 16.5), SMALL, MUTED, Align::Left)?;
    }
    Ok(())
}

/// Draws when the server rejected attempts: a row of marks for 429s and one for overloads.
fn rug<DB: DrawingBackend>(canvas: &Canvas<DB>, scene: &Scene) -> Result<(), ChartError> {
    let rows = [("429", "rate limited", INK), ("529/503", "overloaded", VERMILION)];
    for (row, (code, name, color)) in rows.into_iter().enumerate() {
        let (top, total) = (ROWS[row], scene.totals[row]);
        let (color, label) = if total == 0 { (GREY, GREY) } else { (color, color) };
        canvas.rect(
            (AXIS_X, top + ROW_HEIGHT / 2.0 - 0.25),
            (RIGHT, top + ROW_HEIGHT / 2.0 + 0.25),
            super::style::GRID,
        )?;
        for (left, right) in blocks(scene, row) {
            canvas.rect((left, top), (right, top + ROW_HEIGHT), color)?;
        }
        canvas.text(code, (AXIS_X - 8.0, top + 9.5), LABEL, label, Align::Right)?;
        let text = format!("{} {name}", compact(total));
        canvas.text(&text, (RIGHT + 8.0, top + 9.5), LABEL, label, Align::Left)?;
    }
    Ok(())
}

/// Returns the left and right ends of the marks of a row. Adjacent marks are merged, so that the size of a drawing does
/// not grow with the log.
fn blocks(scene: &Scene, row: usize) -> Vec<(f64, f64)> {
    let mut blocks: Vec<(f64, f64)> = Vec::new();
    for mark in scene.marks.iter().filter(|mark| mark.counts[row] > 0) {
        let left = x(scene.axis, mark.from).min(RIGHT - LEAST_MARK);
        let right = x(scene.axis, mark.to).max(left + LEAST_MARK);
        match blocks.last_mut() {
            Some(block) if left <= block.1 + 0.25 => block.1 = block.1.max(right),
            _ => blocks.push((left, right)),
        }
    }
    blocks
}

fn time_axis<DB: DrawingBackend>(canvas: &Canvas<DB>, axis: TimeAxis) -> Result<(), ChartError> {
    canvas.base(TIME_Y, (AXIS_X, RIGHT))?;
    for (at, label) in axis.ticks(RIGHT - AXIS_X)? {
        let x = x(axis, at);
        canvas.line(&[(x, TIME_Y), (x, TIME_Y + 4.0)], 1.0, AXIS)?;
        canvas.text(&label, (x, TIME_Y + 17.0), LABEL, MUTED, Align::Centre)?;
    }
    let caption = format!("time (UTC), {}", axis.days());
    canvas.text(&caption, (f64::midpoint(AXIS_X, RIGHT), TIME_Y + 36.0), LABEL, MUTED, Align::Centre)
}
