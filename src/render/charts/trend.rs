//! Measures of a series of reports: a panel for each of four measures with a bar for each report, in another colour if
//! the measure jumped from the reports before.

use super::canvas::{Align, Canvas, fitting, width};
use super::error::ChartError;
use super::style::{BLUE, GREY, INK, LABEL, MARGIN, MUTED, SMALL, VERMILION, WIDTH, counted};
use crate::compare::{Measure, Trend};
use plotters::prelude::DrawingBackend;

/// The measures shown, one per panel.
const PANELS: [(Measure, &str); 4] = [
    (Measure::FailedCalls, "Failed calls"),
    (Measure::Retries, "Retries per call"),
    (Measure::WastedSends, "Needless attempts"),
    (Measure::RateLimited, "429s, of all attempts"),
];
/// Maximum number of reports shown, the latest ones, so that each bar is at least a pixel wide.
const MAX_REPORTS: usize = 120;
/// Upper edge of the panels, in logical pixels.
const TOP: f64 = 70.0;
/// Height of a panel, in logical pixels.
const PANEL_HEIGHT: f64 = 180.0;
/// Space between panels, horizontal and vertical.
const GAP: (f64, f64) = (36.0, 10.0);
/// Height in a panel above its tallest bar, for its name and the highest value.
const NAME_HEIGHT: f64 = 38.0;
/// Height below the bars, for the labels of the reports.
const LABELS_HEIGHT: f64 = 24.0;
/// Minimum height of a bar whose value is not 0, in logical pixels.
const MIN_HEIGHT: f64 = 1.5;

/// Position and width of a panel, in logical pixels.
#[derive(Clone, Copy)]
struct PanelArea {
    left: f64,
    top: f64,
    width: f64,
}

/// Returns the subtitle: the number of reports, their time range, and the number of jumps.
pub(super) fn subtitle(trend: &Trend, labels: &[String]) -> String {
    let reports = counted(trend.reports.len() as u64, "report");
    let jumps: u64 = trend.reports.iter().map(|report| report.jumps.len() as u64).sum();
    let span = match (labels.first(), labels.last()) {
        (Some(first), Some(last)) if first != last => format!(", {first} to {last}"),
        _ => String::new(),
    };
    match jumps {
        0 => format!("{reports}{span}; none departs from those before it"),
        _ => format!("{reports}{span}; {} from the reports before", departs(jumps)),
    }
}

fn departs(jumps: u64) -> String {
    if jumps == 1 { "1 measure departs".to_owned() } else { format!("{} depart", counted(jumps, "measure")) }
}

/// Returns the alternative text of the chart, with the jumps.
pub(super) fn alt(title: &str, trend: &Trend, labels: &[String]) -> String {
    let jumps = labels
        .iter()
        .zip(&trend.reports)
        .flat_map(|(label, report)| report.jumps.iter().map(move |jump| format!(" {label}: {}.", jump.words())));
    format!("Bar charts. {title}. {}.{}", subtitle(trend, labels), jumps.collect::<String>())
}

/// Draws the chart.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    title: &str,
    trend: &Trend,
    labels: &[String],
) -> Result<(), ChartError> {
    canvas.head(title, &subtitle(trend, labels), MUTED)?;
    let wide = (WIDTH - 2.0 * MARGIN - GAP.0) / 2.0;
    for (at, (measure, name)) in PANELS.iter().enumerate() {
        let (column, row) = ((at % 2) as f64, (at / 2) as f64);
        let area =
            PanelArea { left: MARGIN + column * (wide + GAP.0), top: TOP + row * (PANEL_HEIGHT + GAP.1), width: wide };
        panel(canvas, area, (*measure, name), trend, labels)?;
    }
    Ok(())
}

fn panel<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    PanelArea { left, top, width: wide }: PanelArea,
    (measure, name): (Measure, &str),
    trend: &Trend,
    labels: &[String],
) -> Result<(), ChartError> {
    let skipped = trend.reports.len().saturating_sub(MAX_REPORTS);
    let reports = &trend.reports[skipped..];
    let rates: Vec<f64> = trend.rates(measure).skip(skipped).map(|rate| rate.rate).collect();
    let max = rates.iter().fold(0.0_f64, |max, rate| max.max(*rate));
    let (base, full) = (top + PANEL_HEIGHT - LABELS_HEIGHT, PANEL_HEIGHT - NAME_HEIGHT - LABELS_HEIGHT);
    canvas.text(name, (left, top + 14.0), LABEL, INK, Align::Left)?;
    if max == 0.0 {
        canvas.text("none", (left + wide, top + 14.0), LABEL, MUTED, Align::Right)?;
    }
    let step = wide / reports.len().max(1) as f64;
    let bar_width = (step * 0.7).clamp(1.0, 40.0);
    let highest = rates.iter().position(|rate| *rate == max);
    for (at, (report, rate)) in reports.iter().zip(&rates).enumerate() {
        let centre = left + step * (at as f64 + 0.5);
        let height = if *rate > 0.0 { (rate / max * full).max(MIN_HEIGHT) } else { 0.0 };
        let color = match report.jump(measure) {
            Some(jump) if jump.up => VERMILION,
            Some(_) => GREY,
            None => BLUE,
        };
        canvas.rect((centre - bar_width / 2.0, base - height), (centre + bar_width / 2.0, base), color)?;
        if let Some(jump) = report.jump(measure) {
            arrow_head(canvas, jump.up, (centre, base - height - 4.0), color)?;
        }
        if max > 0.0 && highest == Some(at) {
            let text = display(measure, *rate);
            let half = width(&text, SMALL)? / 2.0;
            let x = centre.clamp(left + half, left + wide - half);
            canvas.text(&text, (x, base - height - 12.0), SMALL, MUTED, Align::Centre)?;
        }
    }
    canvas.base(base, (left, left + wide))?;
    end_labels(canvas, (left, base + 15.0, wide), &labels[skipped.min(labels.len())..])
}

/// Draws an arrowhead as a line, because the embedded font has no glyph for it.
fn arrow_head<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    up: bool,
    (x, y): (f64, f64),
    color: plotters::style::RGBColor,
) -> Result<(), ChartError> {
    let (tip, foot) = if up { (y - 4.0, y) } else { (y, y - 4.0) };
    canvas.line(&[(x - 4.0, foot), (x, tip), (x + 4.0, foot)], 2.0, color)
}

fn display(measure: Measure, rate: f64) -> String {
    // The measure as drawn counts retries only, without the first attempt of each call.
    if measure == Measure::Retries { format!("{rate:.2}") } else { measure.with_unit(rate) }
}

/// Labels the first and the last report below their bars.
fn end_labels<DB: DrawingBackend>(
    canvas: &Canvas<DB>,
    (left, y, wide): (f64, f64, f64),
    labels: &[String],
) -> Result<(), ChartError> {
    let room = wide / 2.0 - 8.0;
    if let [first, .., last] = labels {
        canvas.text(&fitting(first, SMALL, room)?, (left, y), SMALL, MUTED, Align::Left)?;
        return canvas.text(&fitting(last, SMALL, room)?, (left + wide, y), SMALL, MUTED, Align::Right);
    }
    let only = labels.first().map_or("", String::as_str);
    canvas.text(&fitting(only, SMALL, wide)?, (left + wide / 2.0, y), SMALL, MUTED, Align::Centre)
}
