//! Remaining share of each limit of a scope over time, and when the server rejected attempts.

use super::canvas::{Align, Canvas};
use super::error::ChartError;
use super::series::{LOW_SHARE, LimitSeries, RefusalPeriod, refusals, window};
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

/// Edges of the plot, in logical pixels.
const TOP: f64 = 98.0;
const BASE: f64 = 342.0;
const RIGHT: f64 = WIDTH - 136.0;
/// Upper edges of the rows of 429s and of overloads.
const ROWS: [f64; 2] = [352.0, 368.0];
/// Height of such a row.
const ROW_HEIGHT: f64 = 11.0;
/// Minimum width of a mark, in logical pixels.
const MIN_MARK: f64 = 2.0;
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

/// The figures of one scope, converted for drawing.
struct ScopeData {
    axis: TimeAxis,
    /// The series, with the limit that binds first at the front.
    series: Vec<LimitSeries>,
    refusals: Vec<RefusalPeriod>,
    totals: [u64; 2],
    dropped: bool,
}

impl ScopeData {
    fn of(limits: &[&Headroom]) -> ScopeData {
        let axis = window(limits);
        let mut series: Vec<LimitSeries> = limits.iter().filter_map(|limit| LimitSeries::of(limit, axis)).collect();
        series.sort_by(binds_first);
        let (refusals, totals) = refusals(limits, axis);
        let dropped = series.len() < limits.len() || series.iter().any(|one| one.dropped);
        ScopeData { axis, series, refusals, totals, dropped }
    }

    fn subtitle(&self) -> String {
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
        let refused = self.refusals.iter().find(|period| period.counts[0] > 0 && period.to >= below);
        let refused = refused.map_or(String::new(), |period| format!(", next 429 at {}", self.axis.clock(period.from)));
        format!("{} bind first: below 10% at {}, {low}{refused} (UTC)", capitalized(name), self.axis.clock(below))
    }
}

/// Orders limits by the time they fell below 10%, then by their lowest share, then by kind.
fn binds_first(a: &LimitSeries, b: &LimitSeries) -> Ordering {
    let fell_at = |series: &LimitSeries| series.below.map_or(i64::MAX, |at| at.0);
    fell_at(a).cmp(&fell_at(b)).then(a.low.ratio.total_cmp(&b.low.ratio)).then(position(a.kind).cmp(&position(b.kind)))
}

fn position(kind: LimitKind) -> Option<usize> {
    LimitKind::ALL.iter().position(|other| *other == kind)
}

/// Returns the alternative text of the chart, with its figures.
pub(super) fn alt(title: &str, limits: &[&Headroom]) -> String {
    let data = ScopeData::of(limits);
    let mut parts: Vec<String> = Vec::new();
    for one in &data.series {
        let low = format!("lowest {} ({} of {})", percent(one.low.ratio), whole(one.low.left), whole(one.low.limit));
        parts.push(format!("{}: {low}, last {}", one.kind.label(), percent(one.last)));
    }
    let [rejected, overloaded] = data.totals;
    parts.push(format!("{} with 429, {} with overload", counted(rejected, "answer"), count(overloaded)));
    let span = format!("From {} to {}", data.axis.from, data.axis.to);
    format!("Line chart. {title}. {}. {span}. {}.", data.subtitle(), capitalized(&parts.join("; ")))
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
    let data = ScopeData::of(limits);
    let binding = data.series.first().filter(|one| one.below.is_some());
    canvas.head(title, &data.subtitle(), binding.map_or(MUTED, |one| color(one.kind)))?;
    canvas.text("left of the limit, % (shaded: below 10%)", (MARGIN, 82.0), LABEL, MUTED, Align::Left)?;
    canvas.rect((AXIS_X, y(LOW_SHARE)), (RIGHT, BASE), DANGER_BAND)?;
    for tick in [100_u32, 75, 50, 25, 10, 0] {
        canvas.value_tick(&format!("{tick}%"), y(f64::from(tick) / 100.0), (AXIS_X, RIGHT))?;
    }
    canvas.base(BASE, (AXIS_X, RIGHT))?;
    lines(canvas, &data)?;
    labels(canvas, &data.series)?;
    rug(canvas, &data)?;
    time_axis(canvas, data.axis)?;
    if data.dropped {
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

/// Draws the lines. The limit that binds first is drawn first and widest, each later one narrower, so that lines on top
/// of each other stay visible.
fn lines<DB: DrawingBackend>(canvas: &Canvas<DB>, data: &ScopeData) -> Result<(), ChartError> {
    let widths: [f64; 4] = [3.5, 2.25, 1.5, 1.0];
    for (i, one) in data.series.iter().enumerate() {
        let width = widths[i.min(widths.len() - 1)];
        let mut before = None;
        for segment in &one.segments {
            let path: Vec<(f64, f64)> = segment.iter().map(|(at, ratio)| (x(data.axis, *at), y(*ratio))).collect();
            if let (Some(from), Some(to)) = (before, path.first()) {
                dotted(canvas, from, *to, color(one.kind))?;
            }
            match path[..] {
                [only] => canvas.dot(only, width.max(2.0), color(one.kind))?,
                _ => canvas.line(&path, width, color(one.kind))?,
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
    let mut min_y = TOP;
    for position in &mut places {
        position.0 = position.0.max(min_y);
        min_y = position.0 + LABEL_STEP;
    }
    let mut max_y = BASE - 18.0;
    for position in places.iter_mut().rev() {
        position.0 = position.0.min(max_y);
        max_y = position.0 - LABEL_STEP;
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

/// Draws when the server refused attempts: a row of marks for 429s and one for overloads.
fn rug<DB: DrawingBackend>(canvas: &Canvas<DB>, data: &ScopeData) -> Result<(), ChartError> {
    let rows = [("429", "rate limited", INK), ("529/503", "overloaded", VERMILION)];
    for (row, (code, name, color)) in rows.into_iter().enumerate() {
        let (top, total) = (ROWS[row], data.totals[row]);
        let (color, label) = if total == 0 { (GREY, GREY) } else { (color, color) };
        canvas.rect(
            (AXIS_X, top + ROW_HEIGHT / 2.0 - 0.25),
            (RIGHT, top + ROW_HEIGHT / 2.0 + 0.25),
            super::style::GRID,
        )?;
        for (left, right) in blocks(data, row) {
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
fn blocks(data: &ScopeData, row: usize) -> Vec<(f64, f64)> {
    let mut blocks: Vec<(f64, f64)> = Vec::new();
    for period in data.refusals.iter().filter(|period| period.counts[row] > 0) {
        let left = x(data.axis, period.from).min(RIGHT - MIN_MARK);
        let right = x(data.axis, period.to).max(left + MIN_MARK);
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
