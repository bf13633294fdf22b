//! Two reports side by side.

use super::escape::{code, inline};
use super::{NAME, SENTENCE};
use crate::compare::{Change, Changed, Diff, Shift};
use crate::model::{Zone, units::capital};
use crate::render::{compared, words};
use std::io::{self, Write};

/// Problems of one kind shown; a comment holds no more.
const MOST: usize = 50;
/// Characters of an example in a cell.
const EXAMPLE: usize = 300;

/// Writes a comparison.
///
/// # Errors
///
/// What writing to `out` fails with.
pub fn diff(diff: &Diff, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    let title = super::titled("Retries compared", diff.title.as_deref());
    writeln!(out, "## {title}\n\n**{}**", inline(&diff.verdict, SENTENCE))?;
    for notice in &diff.notices {
        writeln!(out, "\n> {}", inline(notice, SENTENCE))?;
    }
    writeln!(out)?;
    for (label, side) in [("old", &diff.old), ("new", &diff.new)] {
        writeln!(out, "- {label}: {}, {}", code(&side.name, NAME), compared::side(side, zone))?;
    }
    writeln!(out, "\nTimes are in {zone}.\n\n| measure | old | new | | counted |\n| --- | ---: | ---: | --- | --- |")?;
    diff.measures.iter().try_for_each(|shift| measure(shift, out))?;
    for change in Change::ALL {
        problems(diff, change, out)?;
    }
    writeln!(
        out,
        "\n<sub>{} {}</sub>",
        inline(&compared::basis(&diff.basis), SENTENCE),
        inline(&diff.generator, SENTENCE)
    )
}

fn measure(shift: &Shift, out: &mut dyn Write) -> io::Result<()> {
    let measure = shift.measure;
    let verdict = compared::verdict(shift);
    let verdict = if verdict.is_empty() { String::new() } else { format!("**{verdict}**") };
    writeln!(
        out,
        "| {} | {} | {} | {verdict} | {}; {} |",
        measure.label(),
        inline(&measure.shown(shift.old.rate), SENTENCE),
        inline(&measure.shown(shift.new.rate), SENTENCE),
        measure.counted(shift.old),
        measure.counted(shift.new)
    )
}

fn problems(diff: &Diff, change: Change, out: &mut dyn Write) -> io::Result<()> {
    let all: Vec<&Changed> = diff.changed(change).collect();
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### {}: {}\n", capital(change.name()), words::counted(all.len() as u64, "problem"))?;
    writeln!(out, "| severity | problem | where | rate | example |\n| --- | --- | --- | --- | --- |")?;
    for problem in all.iter().take(MOST) {
        let place: Vec<String> = problem.key.place().map(|text| code(text, NAME)).collect();
        let rate: Vec<String> =
            std::iter::once(compared::rates(problem)).chain(compared::remarks(problem, &diff.basis)).collect();
        writeln!(
            out,
            "| {} | {} {} | {} | {} | {} |",
            problem.severity.name(),
            inline(&problem.key.rule, SENTENCE),
            inline(&problem.name, SENTENCE),
            place.join(" "),
            inline(&rate.join("; "), SENTENCE),
            code(&problem.example, EXAMPLE)
        )?;
    }
    match all.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => writeln!(out, "\nAnd {}: see the JSON form.", words::counted(more as u64, "more problem")),
    }
}
