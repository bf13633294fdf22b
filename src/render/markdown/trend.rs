//! Many nights: a row each, and the problems that come and go.

use super::escape::{code, inline};
use super::{NAME, SENTENCE};
use crate::compare::{Measure, Night, Trend};
use crate::model::Zone;
use crate::render::{compared, words};
use std::io::{self, Write};

/// Problems shown.
const MOST: usize = 50;

/// Writes a trend.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn trend(trend: &Trend, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    let labels = compared::labels(trend, zone);
    let title = super::titled("Retries, night by night", trend.title.as_deref());
    writeln!(out, "## {title}\n\n**{}**", inline(&trend.verdict, SENTENCE))?;
    for notice in &trend.notices {
        writeln!(out, "\n> {}", inline(notice, SENTENCE))?;
    }
    let heads: Vec<&str> = Measure::ALL.iter().map(|measure| measure.label()).collect();
    writeln!(out, "\nTimes are in {zone}; ▲ and ▼ depart from the nights before.\n")?;
    writeln!(out, "| night | calls | sends | {} | infos |", heads.join(" | "))?;
    writeln!(out, "| --- | ---: | ---: | {}---: |", "---: | ".repeat(heads.len()))?;
    for (night, label) in trend.nights.iter().zip(&labels) {
        let cells: Vec<String> = Measure::ALL.iter().map(|measure| cell(night, *measure)).collect();
        let (calls, sends) = (words::number(night.calls), words::number(night.sends));
        writeln!(
            out,
            "| {label} | {calls} | {sends} | {} | {} |",
            cells.join(" | "),
            words::number(night.findings[2])
        )?;
    }
    jumps(trend, &labels, out)?;
    problems(trend, &labels, out)?;
    writeln!(
        out,
        "\n<sub>{} {}</sub>",
        inline(&compared::trend_basis(&trend.basis), SENTENCE),
        inline(&trend.generator, SENTENCE)
    )
}

fn cell(night: &Night, measure: Measure) -> String {
    let Some(rate) = night.measures.get(&measure) else { return String::new() };
    let shown = match measure {
        Measure::Errors | Measure::Warnings => words::number(rate.part),
        Measure::WaitMs => words::span(rate.part as f64 / 1000.0),
        _ => measure.shown(rate.rate),
    };
    match night.jump(measure) {
        Some(jump) => format!("**{} {}**", if jump.up { "▲" } else { "▼" }, inline(&shown, SENTENCE)),
        None => inline(&shown, SENTENCE),
    }
}

fn jumps(trend: &Trend, labels: &[String], out: &mut dyn Write) -> io::Result<()> {
    if trend.nights.iter().all(|night| night.jumps.is_empty()) {
        return Ok(());
    }
    writeln!(out, "\n### Jumps\n")?;
    for (night, label) in trend.nights.iter().zip(labels) {
        for jump in &night.jumps {
            let nights = words::counted(jump.nights as u64, "night");
            let sign = if jump.up { "▲" } else { "▼" };
            writeln!(
                out,
                "- {sign} {label} {} ({nights} before; {})",
                inline(&jump.words(), SENTENCE),
                code(&night.file, NAME)
            )?;
        }
    }
    Ok(())
}

fn problems(trend: &Trend, labels: &[String], out: &mut dyn Write) -> io::Result<()> {
    if trend.problems.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### Problems\n\n| severity | problem | where | nights | findings | |")?;
    writeln!(out, "| --- | --- | --- | ---: | ---: | --- |")?;
    for course in trend.problems.iter().take(MOST) {
        let place: Vec<String> = course.key.place().map(|text| code(text, NAME)).collect();
        writeln!(
            out,
            "| {} | {} {} | {} | {} of {} | {} | {} |",
            course.severity.name(),
            inline(&course.key.rule, SENTENCE),
            inline(&course.name, SENTENCE),
            place.join(" "),
            course.nights(),
            course.rates.len(),
            words::number(course.findings()),
            compared::presence(course, labels)
        )?;
    }
    match trend.problems.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => writeln!(out, "\nAnd {}: see the JSON form.", words::counted(more as u64, "more problem")),
    }
}
