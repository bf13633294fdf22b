//! Many nights: a row each, each measure as a sparkline, and the problems that come and go.

use super::diff::hidden;
use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::{TextOptions, style, words};
use crate::compare::{Course, Measure, Night, Rate, Trend};
use crate::render::compared;
use std::io::{self, Write};

/// Problems before `--verbose`.
const PROBLEMS: usize = 20;

const NIGHTS: [Column; 12] = [
    Column::new("night", Fit::Words),
    Column::new("calls", Fit::Number),
    Column::new("sends", Fit::Number).spare(2),
    Column::new("failed", Fit::Number),
    Column::new("open", Fit::Number).spare(4),
    Column::new("ampl.", Fit::Number),
    Column::new("wasted", Fit::Number),
    Column::new("waited", Fit::Number),
    Column::new("429s", Fit::Number),
    Column::new("err", Fit::Number),
    Column::new("warn", Fit::Number),
    Column::new("info", Fit::Number).spare(3),
];

const COURSES: [Column; 5] = [
    Column::new("", Fit::Words),
    Column::new("oldest to newest", Fit::Words),
    Column::new("least", Fit::Number),
    Column::new("most", Fit::Number),
    Column::new("last", Fit::Number),
];

/// Writes a trend.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn trend(trend: &Trend, options: &TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let labels = compared::labels(trend, options.zone);
    let mut page = Page::over(trend.window(), *options, out);
    if let Some(title) = &trend.title {
        page.paragraph(&Text::styled(style::FAINT, title))?;
    }
    page.paragraph(&Text::styled(style::BOLD, &trend.verdict))?;
    for notice in &trend.notices {
        page.paragraph(&Text::styled(style::YELLOW, "! ").then(notice))?;
    }
    nights(trend, &labels, &mut page)?;
    jumps(trend, &labels, &mut page)?;
    courses(trend, &mut page)?;
    problems(trend, &labels, &mut page)?;
    page.blank()?;
    hidden(trend.problems_hidden, &mut page)?;
    page.remark(&compared::trend_basis(&trend.basis))
}

fn nights(trend: &Trend, labels: &[String], page: &mut Page<'_>) -> io::Result<()> {
    page.heading("NIGHTS", &format!("oldest first, times in {}; ▲ ▼ departs from those before", page.options.zone))?;
    let mut table = Table::new(&NIGHTS);
    for (night, label) in trend.nights.iter().zip(labels) {
        let counts = [night.calls, night.sends].map(|n| Text::plain(words::number(n)));
        let measures = [
            Measure::FailedCalls,
            Measure::OpenCalls,
            Measure::Retries,
            Measure::WastedSends,
            Measure::WaitMs,
            Measure::RateLimited,
        ];
        let measures = measures.map(|measure| figure(night, measure, &short(night, measure)));
        let [errors, warnings, infos] = night.findings.map(words::number);
        let findings =
            [figure(night, Measure::Errors, &errors), figure(night, Measure::Warnings, &warnings), Text::plain(infos)];
        table.row([Text::plain(label)].into_iter().chain(counts).chain(measures).chain(findings).collect());
    }
    page.table(&table)
}

fn rate(night: &Night, measure: Measure) -> Rate {
    night.measures.get(&measure).copied().unwrap_or(Rate::new(0, 0))
}

/// Waiting as its sum: what was lost, not how fast.
fn short(night: &Night, measure: Measure) -> String {
    let rate = rate(night, measure);
    if measure == Measure::WaitMs { words::span(rate.part as f64 / 1000.0) } else { measure.shown(rate.rate) }
}

fn figure(night: &Night, measure: Measure, text: &str) -> Text {
    match night.jump(measure) {
        Some(jump) if jump.up => Text::styled(style::RED.bold(), format!("▲{text}")),
        Some(_) => Text::styled(style::GREEN.bold(), format!("▼{text}")),
        None => Text::plain(text),
    }
}

fn jumps(trend: &Trend, labels: &[String], page: &mut Page<'_>) -> io::Result<()> {
    let count = trend.nights.iter().map(|night| night.jumps.len() as u64).sum::<u64>();
    if count == 0 {
        return Ok(());
    }
    page.heading("JUMPS", &format!("{} of all nights", words::counted(count, "jump")))?;
    for (night, label) in trend.nights.iter().zip(labels) {
        for jump in &night.jumps {
            let (sign, style) = if jump.up { ("▲", style::RED) } else { ("▼", style::GREEN) };
            let text = Text::styled(style, sign).then(format!(" {label} {}", jump.words()));
            let nights = words::counted(jump.nights as u64, "night");
            page.item(&text.and(style::FAINT, format!(" ({nights} before; {})", night.file)), 2, 3)?;
        }
    }
    Ok(())
}

fn courses(trend: &Trend, page: &mut Page<'_>) -> io::Result<()> {
    if trend.nights.len() < 2 {
        return Ok(());
    }
    page.heading("MEASURES", "each against its highest")?;
    let mut table = Table::new(&COURSES);
    for measure in Measure::ALL {
        let rates = trend.rates(measure);
        let least = rates.clone().map(|rate| rate.rate).fold(f64::INFINITY, f64::min);
        let most = rates.clone().map(|rate| rate.rate).fold(0.0, f64::max);
        let last = rates.clone().last().map_or(0.0, |rate| rate.rate);
        let ends = [least, most, last].map(|rate| Text::plain(measure.bare(rate)));
        let line = [Text::plain([measure.label(), measure.unit()].join(" ")), Text::plain(compared::sparkline(rates))];
        table.row(line.into_iter().chain(ends).collect());
    }
    page.table(&table)
}

fn problems(trend: &Trend, labels: &[String], page: &mut Page<'_>) -> io::Result<()> {
    if trend.problems.is_empty() {
        return Ok(());
    }
    page.heading("PROBLEMS", "findings by call, night by night; those of the last night first")?;
    let most = if page.options.verbose { usize::MAX } else { PROBLEMS };
    for course in trend.problems.iter().take(most) {
        problem(course, labels, page)?;
    }
    if trend.problems.len() > most {
        page.remark(&format!(
            "and {} (--verbose shows all)",
            words::counted((trend.problems.len() - most) as u64, "more problem")
        ))?;
    }
    Ok(())
}

fn problem(course: &Course, labels: &[String], page: &mut Page<'_>) -> io::Result<()> {
    let mark = Text::styled(style::severity(course.severity).bold(), style::mark(course.severity));
    let left = mark.then(" ").and(style::BOLD, format!("{} {}", course.key.rule, course.name));
    let right = Text::plain(compared::sparkline(course.rates.iter().copied()))
        .then("  ")
        .join(Text::plain(compared::presence(course, labels)).fitted(20, Fit::Words));
    let room = page.inner().saturating_sub(right.width() + 2);
    page.line(left.fitted(room, Fit::Words).then("  ").join(right))?;
    let place: Vec<&str> = course.key.place().collect();
    let findings = words::counted(course.findings(), "finding");
    let nights = words::counted(course.nights() as u64, "night");
    let text = [place.join(" · "), format!("{findings} in {nights}")].into_iter().filter(|part| !part.is_empty());
    let text = text.collect::<Vec<_>>().join(": ");
    page.hanging(Text::plain("  "), 2, &Text::styled(style::FAINT, text))
}
