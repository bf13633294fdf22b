//! Runs, failed ones first, the costliest of them at the front; green runs with retries are marked.

use super::{View, cost, green_runs, has_nothing_to_do, nonzero_counts, with_cost_column};
use crate::model::Outcome;
use crate::render::document::{
    Block, Cell, Column, Content, Facet, Fact, RichText, Row, Section, Sign, SpanKind, Table, Target, grouped_bars,
};
use crate::render::money::{self, dollars};
use crate::render::words::{self, counted, number};
use crate::report::Run;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of models named of a run.
const MAX_MODELS: usize = 6;
/// Highest number of attempts listed separately.
const MAX_LISTED_ATTEMPTS: u32 = 8;

const COLUMNS: [Column; 10] = [
    Column::id("Run").min_width(14),
    Column::words("Outcome"),
    Column::number("Calls").rank(1),
    Column::number("Attempts"),
    Column::number("A call").short("each").rank(5),
    Column::histogram("Attempts per call").short("by attempts").min_width(10).rank(4),
    Column::number("Waited").rank(1),
    Column::number("Needless").rank(5),
    Column::number("Cost").rank(3),
    Column::words("Found").rank(2),
];

/// Rules with a finding in each run, as far as the report contains the findings.
type Rules<'a> = BTreeMap<&'a str, BTreeSet<&'static str>>;

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let report = view.report;
    if report.runs.is_empty() {
        return None;
    }
    let mut rules = Rules::new();
    for finding in &report.findings {
        if let Some(run) = &finding.run_id {
            rules.entry(run).or_default().insert(finding.rule);
        }
    }
    let is_priced = report.totals.usd.is_some();
    let columns = with_cost_column(&COLUMNS, is_priced);
    let rows = report.runs.iter().map(|run| row(view, run, is_priced, rules.get(run.run_id.as_str()))).collect();
    let table = Table::new("run-table", "run", &columns, rows).limits(15, 15, 400);
    let mut blocks = vec![Block::Table(table)];
    if let Some(spent) = money::spent(&report.totals) {
        blocks.push(Block::Prose(RichText::new(SpanKind::Faint, format!("cost: {spent}"))));
    }
    let note = format!("{}, {}", counted(report.totals.runs, "run"), green_runs(report));
    // A run in which every call succeeded at the first attempt is of no interest.
    let is_notable = |run: &Run| run.outcome != Outcome::Ok || run.retries > 0;
    let quiet = has_nothing_to_do(report) && !report.runs.iter().any(is_notable);
    Some(Section::new("runs", "Runs", note, blocks).quiet(quiet))
}

fn sign(run: &Run) -> Sign {
    Sign::of(run.outcome, run.green_with_retries)
}

fn row<'a>(view: &View<'a>, run: &'a Run, is_priced: bool, rules: Option<&BTreeSet<&'static str>>) -> Row<'a> {
    let sign = sign(run);
    let name = match sign {
        Sign::Failed => "failed",
        Sign::Open => "open",
        Sign::Retried => "ok retried",
        _ => "ok",
    };
    let outcome = if run.calls_failed > 0 { format!("{} failed", number(run.calls_failed)) } else { name.to_owned() };
    Row {
        facet: Some(Facet { name, sign: Some(sign), is_noun: false }),
        more: vec![Block::Facts(facts(view, run, rules))],
        run: Some(&run.run_id),
        ..Row::new(vec![
            Cell::name(run.run_id.as_str()),
            Cell::keyed(RichText::new(SpanKind::Sign(sign), outcome), format!("{name} {:09}", run.calls_failed)),
            Cell::keyed(number(run.calls), run.calls),
            Cell::keyed(number(run.attempts), run.attempts),
            Cell::keyed(format!("{:.1}×", run.amplification), run.amplification),
            Cell { content: Content::Histogram(&run.bars), key: Some(run.worst_call_attempts.to_string()) },
            Cell::span(run.wait_s),
            Cell::count(run.wasted_sends),
            cost(run.usd, run.tokens, is_priced),
            Cell::findings(run.findings),
        ])
    }
}

fn facts(view: &View<'_>, run: &Run, rules: Option<&BTreeSet<&'static str>>) -> Vec<Fact> {
    let mut models = run.models.iter().take(MAX_MODELS).map(String::as_str).collect::<Vec<_>>().join(", ");
    if run.models.len() > MAX_MODELS {
        models.push_str(&format!(", {} more", run.models.len() - MAX_MODELS));
    }
    let waited =
        if run.wait_s > 0.0 { format!(", waited {}", words::compact_duration(run.wait_s)) } else { String::new() };
    let attempts = format!(
        "{} for {}, {} needless{waited}",
        counted(run.attempts, "attempt"),
        counted(run.calls, "call"),
        number(run.wasted_sends)
    );
    let rules = rules.into_iter().flatten().fold(RichText::default(), |text, rule| {
        text.and(SpanKind::Link(Target::Rule((*rule).to_owned())), *rule).then(" ")
    });
    vec![
        Fact::new("Time", view.clock.range(run.first, run.last)),
        Fact::new("Models", RichText::new(SpanKind::Plain, models)),
        Fact::new("Attempts", attempts),
        Fact::new("Each call", calls_by_attempts(run)),
        Fact::new("Cost", spent(run)),
        Fact::new("Problems", rules),
        Fact::new(
            "Link",
            RichText::new(SpanKind::Link(Target::Run(run.run_id.clone())), format!("#run={}", run.run_id)),
        ),
    ]
}

/// Formats calls by attempts: "1 attempt: 49 ok, 2 failed; 2 attempts: 12 ok".
fn calls_by_attempts(run: &Run) -> String {
    let parts = grouped_bars(&run.bars, MAX_LISTED_ATTEMPTS).into_iter().map(|(attempts, is_tail, bar)| {
        let ends = nonzero_counts(&[(bar.ok, "ok"), (bar.failed, "failed"), (bar.open, "open")]).join(", ");
        let more = if is_tail { " or more" } else { "" };
        format!("{attempts}{more} {}: {ends}", if attempts == 1 { "attempt" } else { "attempts" })
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// Formats cost and tokens with their needless part, as far as known.
fn spent(run: &Run) -> String {
    let of_it = |part: Option<String>| part.map_or_else(String::new, |part| format!(" ({part} of it needless)"));
    let cost = run.usd.map(|usd| format!("{}{}", dollars(usd), of_it(run.wasted_usd.map(dollars))));
    let tokens = run.tokens.map(|n| format!("{}{}", counted(n, "token"), of_it(run.wasted_tokens.map(number))));
    [cost, tokens].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
