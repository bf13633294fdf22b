//! Page of a simulation: policies compared at an endpoint of limited capacity.

use crate::model::units::seconds;
use crate::render::charts;
use crate::render::document::{
    Block, Cell, Charts, Column, Document, Fact, Limits, RichText, Row, Section, Sign, SpanKind, Table,
};
use crate::render::words::{self, counted, number};
use crate::simulate::{PolicyRow, Quantiles, Simulation};

/// Maximum length of a sparkline in a table, in characters.
const SPARKLINE_CHARS: usize = 24;

const COLUMNS: [Column; 11] = [
    Column::words("Policy"),
    Column::number("Capacity").rank(3),
    Column::number("Attempts").short("At most"),
    Column::number("Served"),
    Column::number("Dropped"),
    Column::number("Waiting").rank(3),
    Column::number("Sent"),
    Column::number("Refused").rank(2),
    Column::number("Peak").rank(4),
    Column::number("Drained at"),
    Column::words("Waiting over time").rank(5),
];

const SPREAD: [Column; 6] = [
    Column::words("Policy"),
    Column::number("Served"),
    Column::number("Dropped"),
    Column::number("Sent"),
    Column::number("Drained at"),
    Column::number("Drained").rank(1),
];

/// Returns the page of a simulation.
pub(crate) fn simulation(simulation: &Simulation) -> Document<'_> {
    let model = &simulation.model;
    let mut sections = vec![policies(simulation)];
    sections.extend(spread(simulation));
    let chart = Charts { charts: vec![charts::simulation(simulation)], limits: Limits::NONE, unit: "chart" };
    sections.push(Section::new("course", "Course", "tick by tick", vec![Block::Charts(chart)]));
    sections.push(method(simulation));
    let capacities: Vec<String> = distinct(simulation.policies.iter().map(|row| row.capacity));
    let capacity = format!("a capacity of {}", capacities.join(", "));
    Document {
        kind: "Simulation",
        subject: Some(format!("{} at {capacity}", counted(model.tasks, "task"))),
        about: format!("arrivals: {}; ticks of {}", model.arrivals, seconds(model.tick_s)),
        window: None,
        sign: Sign::Info,
        verdict: verdict(simulation),
        failed_on: RichText::default(),
        aside: String::new(),
        notices: Vec::new(),
        figures: Vec::new(),
        lead: Vec::new(),
        sections,
        generator: &simulation.generator,
    }
}

/// Returns each figure once, in ascending order.
fn distinct(figures: impl Iterator<Item = u64>) -> Vec<String> {
    let mut all: Vec<u64> = figures.collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(number).collect()
}

/// Names the best policy: it loses the fewest tasks, then sends the fewest attempts, then finishes first.
fn verdict(simulation: &Simulation) -> String {
    let lost = |row: &PolicyRow| row.dropped + row.waiting;
    let drained = |row: &PolicyRow| row.drained_at.unwrap_or(row.last_attempt_at);
    let best = simulation.policies.iter().min_by_key(|row| (lost(row), row.attempts, drained(row)));
    let Some(best) = best else { return "No policy was simulated.".to_owned() };
    let tasks = simulation.model.tasks;
    let done = match best.drained_at {
        Some(tick) => format!("serves all {} with {} by tick {}", number(tasks), sent(best), number(tick)),
        None if best.waiting == 0 => {
            format!("loses {} of {} with {}", number(best.dropped), counted(tasks, "task"), sent(best))
        }
        None => format!("leaves {} of {} unserved with {}", number(lost(best)), counted(tasks, "task"), sent(best)),
    };
    match simulation.policies.len() {
        1 => format!("{} {done}.", best.policy),
        n => format!("Of {} policies, {} does best: it {done}.", number(n as u64), named(simulation, best)),
    }
}

/// Names a policy, with capacity and attempts if several have the same name.
fn named(simulation: &Simulation, row: &PolicyRow) -> String {
    let same_name = simulation.policies.iter().filter(|other| other.policy == row.policy).count();
    let attempts = row.max_attempts.map_or_else(String::new, |most| format!(", {}", counted(most, "attempt")));
    match same_name {
        1 => row.policy.clone(),
        _ => format!("{} (capacity {}{attempts})", row.policy, number(row.capacity)),
    }
}

fn sent(row: &PolicyRow) -> String {
    counted(row.attempts, "attempt")
}

fn policies<'a>(simulation: &'a Simulation) -> Section<'a> {
    let rows = simulation.policies.iter().map(row).collect();
    let table = Table::new("policy-table", "policy", &COLUMNS, rows);
    let note = "sent: attempts of all tasks; drained: every task served";
    let blocks = vec![Block::Table(table)];
    Section::new("policies", "Policies", note, blocks)
}

fn row(row: &PolicyRow) -> Row<'_> {
    let zero = |n: u64| Cell::keyed(number(n), n);
    let lost = |n: u64| Cell::keyed(RichText::new(if n > 0 { SpanKind::Bad } else { SpanKind::Plain }, number(n)), n);
    let most = row.max_attempts.map_or_else(|| "any".to_owned(), number);
    let drained = row.drained_at.map_or_else(|| "-".to_owned(), |tick| format!("tick {}", number(tick)));
    Row::new(vec![
        Cell::code(row.policy.as_str()),
        zero(row.capacity),
        Cell::keyed(most, row.max_attempts.unwrap_or(u64::MAX)),
        zero(row.served),
        lost(row.dropped),
        Cell::count(row.waiting),
        zero(row.attempts),
        zero(row.refused),
        zero(row.peak),
        Cell::keyed(drained, row.drained_at.unwrap_or(u64::MAX)),
        Cell::new(sparkline(row)),
    ])
}

/// Returns the number of waiting tasks over time, relative to its maximum.
fn sparkline(row: &PolicyRow) -> String {
    let waiting: Vec<u64> = row.course.points.iter().map(|point| point.waiting).collect();
    let most = waiting.iter().copied().max().unwrap_or(0).max(1);
    let each = waiting.len().div_ceil(SPARKLINE_CHARS).max(1);
    let height = |chunk: &[u64]| match chunk.iter().copied().max() {
        Some(n) if n > 0 => words::height(n as f64 / most as f64),
        _ => '·',
    };
    waiting.chunks(each).map(height).collect()
}

fn spread(simulation: &Simulation) -> Option<Section<'_>> {
    let seeds = simulation.model.seeds;
    let row = |row: &PolicyRow| {
        let spread = row.spread?;
        let drained = format!("{} of {}", number(spread.drained), number(seeds));
        Some(Row::new(vec![
            Cell::code(named(simulation, row)),
            figures(spread.served),
            figures(spread.dropped),
            figures(spread.attempts),
            spread.drained_at.map_or_else(|| Cell::new("-"), figures),
            Cell::keyed(drained, spread.drained),
        ]))
    };
    let rows: Vec<Row<'_>> = simulation.policies.iter().filter_map(row).collect();
    let table = Table::new("spread-table", "policy", &SPREAD, rows);
    let note = format!("median of {} and, in brackets, the middle 90%", counted(seeds, "seed"));
    (!table.rows.is_empty()).then(|| Section::new("spread", "Seeds", note, vec![Block::Table(table)]))
}

fn figures<'a>(figures: Quantiles) -> Cell<'a> {
    let Quantiles { p05, p50, p95 } = figures;
    let text = if p05 == p95 { number(p50) } else { format!("{} [{} to {}]", number(p50), number(p05), number(p95)) };
    Cell::keyed(text, p50)
}

fn method(simulation: &Simulation) -> Section<'_> {
    let model = &simulation.model;
    let cap = model.cap_s.map_or_else(|| "no cap".to_owned(), |cap| format!("at most {}", seconds(cap)));
    let waits = format!("from {} on, times {}, {cap}", seconds(model.base_s), model.factor);
    let refusals = model.retry_after_s.map_or_else(
        || "529, without a hint".to_owned(),
        |hint| format!("429, with a retry-after of {}", seconds(hint)),
    );
    let facts = vec![
        Fact::new("Waits", waits),
        Fact::new("Serving takes", model.service.as_str()),
        Fact::new("Refusals", refusals),
        Fact::new("Ends", format!("after {}", counted(model.horizon, "tick"))),
        Fact::new("Seed", format!("{}, as Python's random.Random draws", model.seed)),
    ];
    let limits = "A tick serves the first attempts up to its capacity, lowest tasks first, and refuses the others; waits \
                  are whole ticks, at least one. Nothing else calls the endpoint, and refusals cost it nothing.";
    Section::new("method", "Method", "what was simulated", vec![Block::Facts(facts), Block::Note(limits.to_owned())])
}
