//! What was not judged and why, what was read, and how it was counted.

use super::View;
use super::data::lines;
use crate::model::{Input, Reject};
use crate::render::document::{Block, Cell, Column, Fact, Limits, List, RichText, Row, Section, SpanKind, Table};
use crate::render::not_judged;
use crate::render::words::{self, counted};
use crate::report::Coverage;

const GAPS: [Column; 3] = [Column::words("Field"), Column::words("Present"), Column::words("Rules").min_width(20)];
const INPUTS: [Column; 5] = [
    Column::id("Input").min_width(12),
    Column::words("Format").rank(1),
    Column::number("Lines"),
    Column::number("Attempts"),
    Column::number("Rejected").rank(2),
];

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let report = view.report;
    let mut blocks = Vec::new();
    if !report.coverage.is_empty() {
        blocks.push(Block::Heading("Rules without evidence".to_owned()));
        blocks.push(Block::Table(Table::new("gap-table", "field", &GAPS, report.coverage.iter().map(gap).collect())));
    }
    let sentences = not_judged::sentences(report);
    if !sentences.is_empty() {
        blocks.push(Block::Heading("What single rules could not judge or read".to_owned()));
        blocks.push(Block::List(List::whole(sentences.into_iter().map(RichText::from).collect())));
    }
    if !report.rejects.is_empty() {
        blocks.push(Block::Heading(format!("{} that could not be read", counted(report.ledger.rejected, "line"))));
        blocks.push(Block::List(List {
            items: report.rejects.iter().map(reject).collect(),
            limits: Limits::new(5, 5, 100),
            unit: "line",
            total: report.ledger.rejected,
            rest: "--rejects FILE writes all of them",
        }));
    }
    let inputs = Table::new("input-table", "input", &INPUTS, report.inputs.iter().map(input).collect());
    let heading = |text: &str| Block::Heading(text.to_owned());
    blocks.push(Block::Full(vec![
        heading("Inputs"),
        Block::Table(inputs.limits(100, 0, 100)),
        heading("How it was counted"),
        Block::Facts(method(view)),
    ]));
    let quiet = blocks.len() == 1;
    let note = "what was not judged, what was read, how it was counted";
    Some(Section::new("method", "Coverage and method", note, blocks).quiet(quiet))
}

fn gap<'a>(gap: &Coverage) -> Row<'a> {
    let present = words::share(gap.present);
    let present = if present.is_empty() { "nothing to read it from".to_owned() } else { present };
    Row::new(vec![Cell::code(gap.field), Cell::new(present), Cell::new(gap.rules.join(", "))])
}

/// Formats a rejected line as `file:line:column`, which editors can open, and the reason.
fn reject(reject: &Reject) -> RichText {
    let column = if reject.column > 0 { format!(":{}", reject.column) } else { String::new() };
    RichText::new(SpanKind::Name, format!("{}:{}{column}", reject.file, reject.line))
        .then(": ")
        .then(reject.reason.as_str())
}

fn input<'a>(input: &Input) -> Row<'a> {
    let ledger = &input.ledger;
    Row::new(vec![
        Cell::name(input.path.as_str()),
        Cell::new(input.format),
        Cell::count(ledger.lines),
        Cell::count(ledger.attempts),
        Cell::count(ledger.rejected),
    ])
}

fn method(view: &View<'_>) -> Vec<Fact> {
    let report = view.report;
    let time = report.window.map_or_else(String::new, |window| {
        format!("{} {}; charts in UTC", words::ends(window, view.clock.zone, words::SECONDS), view.clock.zone)
    });
    vec![
        Fact::new("Program", format!("{}, report schema {}", report.generator, report.schema_version)),
        Fact::new("Time", time),
        Fact::new("Lines", lines(&report.ledger)),
        Fact::new("Attempt", "A request that went out, or tried to. Its copies count once."),
        Fact::new(
            "Call",
            "All attempts to get one answer. A call is open when its next attempt may lie beyond the data.",
        ),
        Fact::new(
            "Wait",
            "From the end of a failed attempt to the next attempt of its call; from start to start where the log has no \
             durations.",
        ),
        Fact::new(
            "Needless",
            "An attempt that could not have succeeded: into a spent cap, with a refused key, the same refused request. A \
             retry that merely failed is none.",
        ),
        Fact::new("Green run", "A run whose calls all ended in success."),
    ]
}
