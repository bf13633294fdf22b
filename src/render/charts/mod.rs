//! Charts of a report, as SVG and as PNG: attempts per call, headroom, load, incidents, recovery, waits.
//!
//! Both formats are drawn from the same figures with the metrics of the embedded font. A PNG looks the same on every
//! host; an SVG uses the `sans-serif` of its viewer. The same report gives the same bytes.

mod backoff;
mod canvas;
mod error;
mod headroom;
mod histogram;
mod incidents;
mod load;
mod png;
mod policies;
mod recovery;
mod series;
mod style;
mod ticks;
mod trend;

pub use error::ChartError;

use super::trend_labels;
use crate::compare::Trend;
use crate::model::Zone;
use crate::report::{Backoff, Headroom, Histogram, IncidentRow, LoadRow, LoadSeries, RecoveryRow, Report, Window};
use crate::simulate::{Counterfactual, Simulation};
use canvas::{Canvas, Medium, SCALE};
use plotters::prelude::{BitMapBackend, IntoDrawingArea, SVGBackend};
use std::collections::{HashMap, HashSet};

/// Maximum length of the name of a run or scope in a title, in characters.
const MAX_TITLE_NAME: usize = 44;
/// Maximum length of the name of a run or scope in a file name, in characters.
const MAX_FILE_NAME: usize = 48;

/// Maximum number of charts of retry loops; those with most waits are drawn.
const MAX_BACKOFF_CHARTS: usize = 4;
/// Maximum number of charts of recovery; the first rows of the report are drawn.
const MAX_RECOVERY_CHARTS: usize = 4;

/// What a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChartKind {
    /// Attempts per call over all runs.
    Fleet,
    /// Remaining share of the limits of one scope over time.
    Headroom,
    /// Waits of one retry loop compared with its schedule.
    Backoff,
    /// Times of clustered failures.
    Incidents,
    /// Attempts sent and in flight over time, of one scope.
    Load,
    /// Calls recovered by number of retries, for one class at one service.
    Recovery,
    /// Attempts per call of one run.
    Run,
    /// Measures of a series of reports.
    Trend,
    /// Attempts and waiting tasks by policy.
    Policies,
}

/// A chart that is drawn on demand.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// Stem of its file name: lower-case letters, digits and `-`; unique within a report.
    pub name: String,
    /// Title above the chart.
    pub title: String,
    /// What it shows.
    pub kind: ChartKind,
    data: Data<'a>,
}

#[derive(Clone, Debug)]
enum Data<'a> {
    Histogram(&'a Histogram),
    Headroom(Vec<&'a Headroom>),
    Incidents(&'a [IncidentRow], Window),
    Recovery(&'a RecoveryRow),
    Load(&'a LoadRow, &'a LoadSeries),
    Backoff(&'a Backoff),
    Trend(&'a Trend, Vec<String>),
    Policies(policies::Policies<'a>),
}

/// Returns all charts of a report: attempts per call of the fleet, headroom and load of each scope, incidents, whether
/// retries help, waits of retry loops, then attempts per call of each run. A chart is drawn only when [`Chart::svg`] or
/// [`Chart::png`] is called.
#[must_use]
pub fn charts(report: &Report) -> Vec<Chart<'_>> {
    let mut names = UniqueNames::default();
    let mut charts = all_but_runs(report, &mut names);
    for run in &report.runs {
        let name = names.unique(&format!("retries-run-{}", slug(&run.run_id)));
        let title = format!("run {}", title_name(&run.run_id));
        charts.push(histogram_chart(name, ChartKind::Run, &title, &run.bars));
    }
    charts
}

/// Returns the chart of a series of reports, with times in `zone`.
#[must_use]
pub fn trend(trend: &Trend, zone: Zone) -> Chart<'_> {
    let labels = trend_labels::labels(trend, zone);
    let title = "Retries over time".to_owned();
    Chart { name: "trend".to_owned(), title, kind: ChartKind::Trend, data: Data::Trend(trend, labels) }
}

/// Returns the chart of a simulation.
#[must_use]
pub fn simulation(simulation: &Simulation) -> Chart<'_> {
    by_policy("simulation", "Served, refused and waiting by policy", policies::of_simulation(simulation))
}

/// Returns the chart of an incident under other policies.
#[must_use]
pub fn what_if(counterfactual: &Counterfactual) -> Chart<'_> {
    by_policy("what-if", "The worst incident under other policies", policies::of_counterfactual(counterfactual))
}

fn by_policy<'a>(name: &str, title: &str, policies: policies::Policies<'a>) -> Chart<'a> {
    let (name, title) = (name.to_owned(), title.to_owned());
    Chart { name, title, kind: ChartKind::Policies, data: Data::Policies(policies) }
}

/// Returns the charts that are not about a single run.
pub(in crate::render) fn fleet_charts(report: &Report) -> Vec<Chart<'_>> {
    all_but_runs(report, &mut UniqueNames::default())
}

fn all_but_runs<'a>(report: &'a Report, names: &mut UniqueNames) -> Vec<Chart<'a>> {
    let mut charts =
        vec![histogram_chart(names.unique("retries-fleet"), ChartKind::Fleet, "all runs", &report.histogram)];
    let scopes = by_scope(&report.headroom).into_iter();
    charts.extend(scopes.map(|(scope, limits)| headroom_chart(scope, limits, names)));
    let all_series = report.load.iter().filter_map(|row| Some((row, row.course.as_ref()?)));
    charts.extend(
        all_series
            .filter(|(_, series)| load::has_enough_points(series))
            .map(|(row, series)| load_chart(row, series, names)),
    );
    charts.extend(incidents_chart(report, names));
    charts.extend(report.counterfactual.iter().filter(|counterfactual| counterfactual.holds).map(what_if));
    let retried = report.recovery.iter().filter(|row| recovery::steps(row).len() > 1);
    charts.extend(retried.take(MAX_RECOVERY_CHARTS).map(|row| recovery_chart(row, names)));
    let mut loops: Vec<&Backoff> = report.backoff.iter().filter(|one| one.schedule != "cannot_tell").collect();
    // The sort is stable: equal counts stay ordered by name.
    loops.sort_by_key(|one| std::cmp::Reverse(one.waits));
    charts.extend(
        loops
            .into_iter()
            .filter(|one| one.steps.len() > 1)
            .take(MAX_BACKOFF_CHARTS)
            .map(|one| backoff_chart(one, names)),
    );
    charts
}

fn headroom_chart<'a>(scope: &str, limits: Vec<&'a Headroom>, names: &mut UniqueNames) -> Chart<'a> {
    let title = format!("Headroom: {}", title_name(scope));
    let name = names.unique(&format!("headroom-{}", slug(scope)));
    Chart { name, title, kind: ChartKind::Headroom, data: Data::Headroom(limits) }
}

fn load_chart<'a>(row: &'a LoadRow, series: &'a LoadSeries, names: &mut UniqueNames) -> Chart<'a> {
    let title = format!("Load: {}", title_name(&row.scope));
    let name = names.unique(&format!("load-{}", slug(&row.scope)));
    Chart { name, title, kind: ChartKind::Load, data: Data::Load(row, series) }
}

/// Returns the chart of incidents, if there are any.
fn incidents_chart<'a>(report: &'a Report, names: &mut UniqueNames) -> Option<Chart<'a>> {
    let window = report.window.filter(|_| !report.incidents.is_empty())?;
    let title = "Incidents: when failures clustered".to_owned();
    let data = Data::Incidents(&report.incidents, window);
    Some(Chart { name: names.unique("incidents"), title, kind: ChartKind::Incidents, data })
}

fn recovery_chart<'a>(row: &'a RecoveryRow, names: &mut UniqueNames) -> Chart<'a> {
    let index = row.model.as_deref().or(row.provider.as_deref()).unwrap_or("all models");
    let title = format!("Do retries help? {} at {}", row.class, title_name(index));
    let name = names.unique(&format!("recovery-{}-{}", slug(row.class), slug(index)));
    Chart { name, title, kind: ChartKind::Recovery, data: Data::Recovery(row) }
}

fn backoff_chart<'a>(entry: &'a Backoff, names: &mut UniqueNames) -> Chart<'a> {
    let title = format!("Backoff: {}", title_name(&entry.loop_name()));
    let name = names.unique(&format!("backoff-{}", slug(&entry.loop_name())));
    Chart { name, title, kind: ChartKind::Backoff, data: Data::Backoff(entry) }
}

/// Returns a name as titles show it.
fn title_name(name: &str) -> String {
    if name.trim().is_empty() { "(unnamed)".to_owned() } else { style::shorten(name, MAX_TITLE_NAME) }
}

fn histogram_chart<'a>(name: String, kind: ChartKind, of: &str, histogram: &'a Histogram) -> Chart<'a> {
    let title = format!("Attempts per call: {of}");
    Chart { name, title, kind, data: Data::Histogram(histogram) }
}

/// Groups the limits by scope, in order of first appearance.
fn by_scope(limits: &[Headroom]) -> Vec<(&str, Vec<&Headroom>)> {
    let mut scopes: Vec<(&str, Vec<&Headroom>)> = Vec::new();
    let mut indexes: HashMap<&str, usize> = HashMap::new();
    for limit in limits {
        let index = *indexes.entry(&limit.scope).or_insert(scopes.len());
        match scopes.get_mut(index) {
            Some((_, known)) => known.push(limit),
            None => scopes.push((&limit.scope, vec![limit])),
        }
    }
    scopes
}

/// Makes file names unique. Names contain no capitals, so they also differ on file systems that ignore case.
#[derive(Default)]
struct UniqueNames {
    used: HashSet<String>,
    next: HashMap<String, u64>,
}

impl UniqueNames {
    fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let next = self.next.entry(name.clone()).or_insert(2);
        while !self.used.insert(name.clone()) {
            name = format!("{wanted}-{next}");
            *next += 1;
        }
        name
    }
}

/// Reduces `text` to lower-case letters, digits and `-`, for a file name.
fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if out.len() == MAX_FILE_NAME {
            break;
        }
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    let kept = out.trim_end_matches('-');
    if kept.is_empty() { "unnamed".to_owned() } else { kept.to_owned() }
}

impl Chart<'_> {
    /// Returns its alternative text, with the figures in words. Computed on demand, since few output formats need it.
    #[must_use]
    pub fn alt(&self) -> String {
        match &self.data {
            Data::Histogram(histogram) => histogram::alt(&self.title, histogram),
            Data::Headroom(limits) => headroom::alt(&self.title, limits),
            Data::Backoff(entry) => backoff::alt(&self.title, entry),
            Data::Trend(trend, labels) => trend::alt(&self.title, trend, labels),
            Data::Incidents(list, _) => incidents::alt(&self.title, list),
            Data::Load(row, series) => load::alt(&self.title, row, series),
            Data::Recovery(row) => recovery::alt(&self.title, row),
            Data::Policies(policies) => policies::alt(&self.title, policies),
        }
    }

    /// Draws the chart as an SVG document 800 pixels wide and up to 450 high, without scripts, styles or references.
    ///
    /// # Errors
    /// Returns an error if the drawing library fails.
    pub fn svg(&self) -> Result<String, ChartError> {
        style::ensure_font()?;
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, device_size()).into_drawing_area();
        self.draw(&Canvas::new(area, Medium::Svg)?)?;
        Ok(self.with_head(&text))
    }

    /// Draws the chart as a PNG image of 1600 by 900 pixels.
    ///
    /// # Errors
    /// Returns an error if the drawing library or the compression fails.
    pub fn png(&self) -> Result<Vec<u8>, ChartError> {
        style::ensure_font()?;
        let (width, height) = device_size();
        let mut pixels = vec![0; width as usize * height as usize * 3];
        let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
        self.draw(&Canvas::new(area, Medium::Bitmap)?)?;
        Ok(png::encode(&pixels, width as usize)?)
    }

    /// The limits of one scope, if it is a chart of headroom.
    pub(crate) fn limits(&self) -> Option<&[&Headroom]> {
        match &self.data {
            Data::Headroom(limits) => Some(limits),
            _ => None,
        }
    }

    /// The lowest remaining share of any of its limits, 0 to 1; infinity if it has none.
    pub(crate) fn lowest_share_left(&self) -> f64 {
        self.limits().unwrap_or_default().iter().map(|limit| limit.min_ratio).fold(f64::INFINITY, f64::min)
    }

    /// Height in logical pixels, without unused space at the bottom.
    fn height(&self) -> f64 {
        match &self.data {
            Data::Incidents(list, _) => incidents::height(list),
            Data::Histogram(_)
            | Data::Headroom(_)
            | Data::Load(..)
            | Data::Recovery(_)
            | Data::Backoff(_)
            | Data::Trend(..)
            | Data::Policies(_) => style::HEIGHT,
        }
    }

    fn draw<DB: plotters::prelude::DrawingBackend>(&self, canvas: &Canvas<DB>) -> Result<(), ChartError> {
        match &self.data {
            Data::Histogram(histogram) => histogram::draw(canvas, &self.title, histogram)?,
            Data::Headroom(limits) => headroom::draw(canvas, &self.title, limits)?,
            Data::Backoff(entry) => backoff::draw(canvas, &self.title, entry)?,
            Data::Trend(trend, labels) => trend::draw(canvas, &self.title, trend, labels)?,
            Data::Policies(all) => policies::draw(canvas, &self.title, all)?,
            Data::Incidents(list, window) => incidents::draw(canvas, &self.title, list, *window)?,
            Data::Load(row, series) => load::draw(canvas, &self.title, row, series)?,
            Data::Recovery(row) => recovery::draw(canvas, &self.title, row)?,
        }
        canvas.finish()
    }

    /// Replaces the opening tag of plotters, which gives the size in device pixels, by one with the logical size and a
    /// description.
    fn with_head(&self, svg: &str) -> String {
        let body = svg.split_once('>').map_or("", |(_, body)| body);
        let (width, _) = device_size();
        let height = self.height();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {}\" \
             role=\"img\" aria-label=\"{}\">\n<title>{}</title>{body}",
            style::WIDTH,
            height.round(),
            height.round() * f64::from(SCALE),
            escaped(&self.alt()),
            escaped(&self.title),
        )
    }
}

/// Red, green and blue of every colour used in charts except white.
#[cfg(test)]
pub(crate) fn palette() -> impl Iterator<Item = (u8, u8, u8)> {
    style::PALETTE.into_iter().map(|color| (color.0, color.1, color.2))
}

fn device_size() -> (u32, u32) {
    (style::WIDTH as u32 * SCALE, style::HEIGHT as u32 * SCALE)
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
