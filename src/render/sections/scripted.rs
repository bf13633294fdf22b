//! Page of a call to a scripted server, attempt by attempt.

use crate::model::units::{capitalized, seconds};
use crate::render::document::{Block, Cell, Column, Document, RichText, Row, Section, Sign, SpanKind, Table};
use crate::render::words::counted;
use crate::simulate::{ScriptedAttempt, ScriptedCall};

const COLUMNS: [Column; 8] = [
    Column::number("Attempt").short("#"),
    Column::number("At"),
    Column::words("Endpoint").rank(2),
    Column::words("Answer"),
    Column::words("Class"),
    Column::words("Then"),
    Column::number("Wait"),
    Column::words("Why"),
];

/// Returns the page of a scripted call.
pub(crate) fn scripted(call: &ScriptedCall) -> Document<'_> {
    let (sign, end) = match call.outcome {
        "ok" => (Sign::Ok, "succeeds"),
        "failed" => (Sign::Failed, "fails"),
        _ => (Sign::Open, "goes on where the script ends"),
    };
    let attempts = counted(call.attempts.len() as u64, "attempt");
    let why = call.attempts.last().filter(|last| last.action == "stop");
    let why = why.map_or_else(String::new, |last| format!(" {}.", capitalized(&last.reason)));
    let rows = call.attempts.iter().map(row).collect();
    let table = Table { fixed: true, ..Table::new("attempt-table", "attempt", &COLUMNS, rows).limits(40, 100, 1_000) };
    Document {
        kind: "Scripted call",
        subject: Some(format!("{} against {}", call.policy, call.script)),
        about: String::new(),
        window: None,
        sign,
        verdict: format!("The call {end} after {attempts} and {} of waiting.{why}", seconds(call.elapsed_s)),
        failed_on: RichText::default(),
        aside: String::new(),
        notices: Vec::new(),
        figures: Vec::new(),
        lead: Vec::new(),
        sections: vec![Section::new("attempts", "Attempts", "what the client did, and why", vec![Block::Table(table)])],
        generator: &call.generator,
    }
}

fn row(one: &ScriptedAttempt) -> Row<'_> {
    let kind = match one.action {
        "done" => SpanKind::Good,
        "stop" => SpanKind::Bad,
        _ => SpanKind::Plain,
    };
    Row::new(vec![
        Cell::keyed(one.attempt.to_string(), one.attempt),
        Cell::keyed(seconds(one.at_s), one.at_s),
        Cell::new(one.endpoint),
        Cell::code(one.answer.as_str()),
        Cell::code(one.class.unwrap_or("ok")),
        Cell::new(RichText::new(kind, one.action)),
        Cell::optional(one.wait_s, seconds),
        Cell::new(one.reason.as_str()),
    ])
}
