//! Attempts served and rejected and tasks waiting over time: a panel for each policy.

use super::canvas::{Align, Canvas, fitting, width};
use super::error::ChartError;
use super::style::{BLUE, GREY, GRID, INK, LABEL, MARGIN, MUTED, SMALL, VERMILION, WIDTH, compact, count, counted};
use super::ticks::linear;
use crate::model::units::{range, seconds};
use crate::simulate::{Counterfactual, Counts, Figures, PolicyRow, Simulation};
use plotters::prelude::DrawingBackend;
use std::borrow::Cow;

/// Maximum number of panels.
const MAX_PANELS: usize = 6;
/// Upper and lower edge of all panels together, in logical pixels.
const TOP: f64 = 92.0;
const BOTTOM: f64 = 436.0;
/// Space between panels, horizontal and vertical.
const GAP: (f64, f64) = (26.0, 12.0);
/// Width reserved at the left of each panel for its values.
const VALUES_WIDTH: f64 = 38.0;
/// Height reserved above each panel for its name.
const NAME_HEIGHT: f64 = 22.0;
/// Height reserved below each panel for its ticks.
const TICKS_HEIGHT: f64 = 20.0;
/// Minimum width of a bar, in logical pixels.
const MIN_BAR: f64 = 1.5;
/// Minimum width of a point, in logical pixels. Narrower points are merged, so that bars stay distinguishable.
const MIN_POINT_WIDTH: f64 = 2.5;

/// The policies to draw.
#[derive(Clone, Debug)]
pub(super) struct Policies<'a> {
    subtitle: String,
    panels: Vec<Panel<'a>>,
    /// Whether times are in seconds; otherwise in ticks.
    in_seconds: bool,
}

/// One policy.
#[derive(Clone, Debug)]
struct Panel<'a> {
    name: String,
    /// Outcome shown after the name; it is not shortened.
    result: String,
    /// Its alternative text, with its figures.
    alt: String,
    /// Duration of each point, in seconds or ticks.
    width: f64,
    points: Cow<'a, [Counts]>,
}

impl Panel<'_> {
    /// Returns the panel with every `points` points merged into one.
    fn with_merged_points(&self, points: usize) -> Panel<'_> {
        let points = points.max(1);
        let merged = self.points.chunks(points).map(Counts::of_all).collect();
        Panel { width: self.width * points as f64, points: Cow::Owned(merged), ..self.clone() }
    }
}

/// Merges points so that each is at least [`MIN_POINT_WIDTH`] wide on a plot of `plot_width` pixels, and covers about the
/// same time in all panels.
fn with_visible_points<'a>(panels: &'a [Panel<'_>], plot_width: f64) -> Vec<Panel<'a>> {
    let min_duration = Scale::of(panels).end / plot_width * MIN_POINT_WIDTH;
    let widest = panels.iter().map(|panel| panel.width).fold(0.0, f64::max);
    let point_duration = widest * (min_duration / widest).ceil().max(1.0);
    panels.iter().map(|panel| panel.with_merged_points((point_duration / panel.width).ceil() as usize)).collect()
}

/// Edges of the plot of a panel.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    base: f64,
}

/// The axes all panels share, so that they can be compared.
#[derive(Clone, Copy)]
struct Scale {
    end: f64,
    max: u64,
}

impl Scale {
    fn of(panels: &[Panel<'_>]) -> Scale {
        let highest = |point: &Counts| (point.served + point.refused).max(point.waiting);
        let max = panels.iter().flat_map(|panel| panel.points.iter()).map(highest).max().unwrap_or(0).max(1);
        let end = panels.iter().map(|panel| panel.width * panel.points.len() as f64).fold(0.0, f64::max);
        Scale { end: if end > 0.0 { end } else { 1.0 }, max }
    }

    fn x(self, frame: Frame, at: f64) -> f64 {
        frame.left + (frame.right - frame.left) * (at / self.end).clamp(0.0, 1.0)
    }

    fn y(self, frame: Frame, value: u64) -> f64 {
        frame.base - (frame.base - frame.top) * (value as f64 / self.max as f64).clamp(0.0, 1.0)
    }
}

/// Returns the policies of a simulation.
pub(super) fn of_simulation(simulation: &Simulation) -> Policies<'_> {
    let rows = &simulation.policies[..simulation.policies.len().min(MAX_PANELS)];
    let sent: Vec<String> = rows.iter().map(|row| format!("{} {}", row.policy, count(row.attempts))).collect();
    let panels = rows.iter().map(|row| simulated_panel(rows, row)).collect();
    Policies { subtitle: format!("Attempts sent: {}", sent.join(", ")), panels, in_seconds: false }
}

fn simulated_panel<'a>(rows: &[PolicyRow], row: &'a PolicyRow) -> Panel<'a> {
    let same_name = rows.iter().filter(|other| other.policy == row.policy).count();
    let most = row.max_attempts.filter(|_| same_name > 1).map_or_else(String::new, |most| format!(" ({most} at most)"));
    let drained =
        row.drained_at.map_or_else(|| "did not drain".to_owned(), |tick| format!("drained at {}", count(tick)));
    let (served, dropped) = (count(row.served), count(row.dropped));
    let alt = format!(
        "{}{most}: {served} served, {dropped} dropped, {}, {drained}",
        row.policy,
        counted(row.attempts, "attempt")
    );
    let (name, result) = (format!("{}{most}", row.policy), format!(": {drained}"));
    Panel { name, result, alt, width: row.course.ticks as f64, points: Cow::Borrowed(&row.course.points) }
}

/// Returns the replayed incident and its result under other policies.
pub(super) fn of_counterfactual(counterfactual: &Counterfactual) -> Policies<'_> {
    let model = &counterfactual.replayed;
    let ranges = ([model.attempts; 2], [model.lost; 2]);
    let as_seen =
        replayed_panel("as logged (model)", model, ranges, (counterfactual.resolution_s, &counterfactual.course));
    let others = counterfactual.policies.iter().map(|one| {
        let ranges = (one.attempts_range, one.lost_range);
        replayed_panel(&one.policy, &one.figures, ranges, (one.resolution_s, &one.course))
    });
    // The most complete policies come last, so the first ones are left out.
    let skipped = (counterfactual.policies.len() + 1).saturating_sub(MAX_PANELS);
    let panels = std::iter::once(as_seen).chain(others.skip(skipped)).collect();
    let (calls, seeds) = (counterfactual.calls_under_way(), counted(counterfactual.seeds, "seed"));
    let subtitle = format!("Failures of class {}: {calls}; mean figures of {seeds}", counterfactual.class);
    Policies { subtitle, panels, in_seconds: true }
}

/// Returns the panel of a policy. Attempts and calls lost are ranges over the estimates of the capacity.
fn replayed_panel<'a>(
    name: &str,
    figures: &Figures,
    (attempts, lost): ([f64; 2], [f64; 2]),
    (width, points): (f64, &'a [Counts]),
) -> Panel<'a> {
    let (lost, over) = (range(lost), seconds(figures.over_after_s));
    let alt = format!("{name}: {} attempts, {lost} lost, {over}", range(attempts));
    Panel { name: name.to_owned(), result: format!(": {lost} lost"), alt, width, points: Cow::Borrowed(points) }
}

/// Returns the alternative text of the chart, with its figures.
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
    let frames = frames(policies.panels.len());
    let panels = with_visible_points(&policies.panels, frames.first().map_or(WIDTH, |frame| frame.right - frame.left));
    let scale = Scale::of(&panels);
    for (panel, frame) in panels.iter().zip(frames) {
        axes(canvas, frame, scale, policies.in_seconds)?;
        let name = fitting(&panel.name, LABEL, frame.right - frame.left - width(&panel.result, LABEL)?)?;
        canvas.text(&format!("{name}{}", panel.result), (frame.left, frame.top - 8.0), LABEL, INK, Align::Left)?;
        bars(canvas, frame, scale, panel)?;
        canvas.line(&waiting(frame, scale, panel), 1.5, GREY)?;
    }
    Ok(())
}

/// Returns the frames of the panels: one below the other for up to two, in two rows for more.
fn frames(panels: usize) -> Vec<Frame> {
    let columns = if panels <= 2 { 1 } else { panels.div_ceil(2) };
    let rows = panels.div_ceil(columns).max(1);
    let width = (WIDTH - 2.0 * MARGIN - GAP.0 * (columns - 1) as f64) / columns as f64;
    let height = (BOTTOM - TOP - GAP.1 * (rows - 1) as f64) / rows as f64;
    let place = |nth: usize| {
        let left = MARGIN + (nth % columns) as f64 * (width + GAP.0);
        let top = TOP + (nth / columns) as f64 * (height + GAP.1);
        Frame {
            left: left + VALUES_WIDTH,
            right: left + width,
            top: top + NAME_HEIGHT,
            base: top + height - TICKS_HEIGHT,
        }
    };
    (0..panels).map(place).collect()
}

fn axes<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    frame: Frame,
    scale: Scale,
    in_seconds: bool,
) -> Result<(), ChartError> {
    for value in linear(scale.max).into_iter().step_by(2) {
        let y = scale.y(frame, value);
        canvas.line(&[(frame.left, y), (frame.right, y)], 1.0, GRID)?;
        canvas.text(&compact(value), (frame.left - 6.0, y + 3.5), SMALL, MUTED, Align::Right)?;
    }
    canvas.base(frame.base, (frame.left, frame.right))?;
    // The time range of a log can be shorter than a second.
    let parts = if in_seconds { 1000.0 } else { 1.0 };
    for part in linear((scale.end * parts) as u64).into_iter().step_by(2) {
        let at = part as f64 / parts;
        let label = if in_seconds && part > 0 { seconds(at) } else { compact(part) };
        // The last label must not overlap the next panel or leave the canvas.
        let middle = scale.x(frame, at).min(frame.right + GAP.1 - width(&label, SMALL)? / 2.0);
        canvas.text(&label, (middle, frame.base + 13.0), SMALL, MUTED, Align::Centre)?;
    }
    Ok(())
}

/// Draws the attempts served at each point, and those rejected on top of them.
fn bars<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    frame: Frame,
    scale: Scale,
    panel: &Panel<'_>,
) -> Result<(), ChartError> {
    for (nth, point) in panel.points.iter().enumerate() {
        let left = scale.x(frame, nth as f64 * panel.width);
        let right = scale.x(frame, (nth + 1) as f64 * panel.width).max(left + MIN_BAR);
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

/// Returns a step line of the number of waiting tasks.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(width: f64, points: usize) -> Panel<'static> {
        let points = vec![Counts { served: 2, refused: 1, waiting: 7 }; points];
        Panel { name: String::new(), result: String::new(), alt: String::new(), width, points: Cow::Owned(points) }
    }

    #[test]
    fn merged_points_are_wide_enough_and_equal_in_all_panels() {
        let panels = [panel(1.0, 512), panel(2.0, 200), panel(4.0, 3)];
        let drawn = with_visible_points(&panels, 200.0);
        assert!(drawn.iter().all(|panel| panel.width == 8.0), "{drawn:?}");
        const { assert!(512.0 / 8.0 * MIN_POINT_WIDTH <= 200.0) };
        for (drawn, panel) in drawn.iter().zip(&panels) {
            let sums = |of: &Panel<'_>| {
                of.points.iter().map(|point| (point.served, point.refused)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
            };
            assert_eq!(sums(drawn), sums(panel));
            assert!(drawn.points.iter().all(|point| point.waiting == 7));
        }
    }

    #[test]
    fn few_points_are_drawn_as_they_are() {
        let panels = [panel(0.04, 70)];
        assert_eq!(with_visible_points(&panels, 190.0)[0].points, panels[0].points);
    }
}
