//! Page of a plan: what a retry policy costs.

use crate::model::units::seconds;
use crate::plan::{FanOut, Load, Plan, Source, Sourced, TokenRate};
use crate::render::document::{Block, Cell, Column, Document, Fact, RichText, Row, Section, Sign, Table};
use crate::render::words::{counted, number, percent, rate};

const WAITS: [Column; 5] = [
    Column::number("Retries"),
    Column::number("Attempts"),
    Column::number("Wait"),
    Column::number("All waits"),
    Column::number("After jitter"),
];
const RECOVERY: [Column; 3] =
    [Column::number("Retries"), Column::number("Success within"), Column::number("Expected attempts")];
const LAYERS: [Column; 2] = [Column::number("Layers"), Column::number("Attempts at most")];
const TIMEOUTS: [Column; 2] = [Column::number("Output cap"), Column::number("Deadline")];

/// Returns the page of a plan.
pub(crate) fn plan(plan: &Plan) -> Document<'_> {
    let mut sections = vec![waits(plan), recovery(plan), layers(plan), timeouts(plan)];
    sections.extend(plan.load.as_ref().map(load));
    sections.extend(plan.tokens.as_ref().map(tokens));
    sections.extend(plan.fan_out.as_ref().map(fan_out));
    Document {
        kind: "Plan",
        subject: Some(format!("a policy of {}", counted(u64::from(plan.max_attempts.value), "attempt"))),
        about: source(plan.max_attempts.source).to_owned(),
        window: None,
        sign: Sign::Info,
        verdict: verdict(plan),
        failed_on: RichText::default(),
        aside: String::new(),
        notices: Vec::new(),
        figures: Vec::new(),
        lead: Vec::new(),
        sections,
        generator: &plan.generator,
    }
}

const fn source(source: Source) -> &'static str {
    match source {
        Source::Given => "as given",
        Source::Declared => "as declared",
        Source::Measured => "as measured",
        Source::Default => "as usual",
    }
}

fn sourced(figure: Sourced<f64>, show: impl Fn(f64) -> String) -> String {
    format!("{}, {}", show(figure.value), source(figure.source))
}

fn verdict(plan: &Plan) -> String {
    let retries = plan.max_attempts.value.saturating_sub(1);
    let attempts = counted(u64::from(plan.max_attempts.value), "attempt");
    let waits = match (plan.schedule.iter().find(|row| row.retries == retries), plan.schedule.last()) {
        (Some(row), _) => format!("wait {} at most", seconds(row.total_s)),
        (None, Some(row)) if retries > row.retries => format!("wait more than {}", seconds(row.total_s)),
        _ => "do not wait".to_owned(),
    };
    let recovery = plan.recovery.iter().find(|row| row.tries == retries);
    let success = recovery.map_or_else(String::new, |row| {
        format!(
            " Where one in {} succeeds, {} of the calls that failed recover.",
            rate(1.0 / plan.success.value.max(1e-9)),
            percent(row.success)
        )
    });
    format!("{attempts} {waits}.{success}")
}

fn waits(plan: &Plan) -> Section<'_> {
    let rows = plan.schedule.iter().map(|row| {
        Row::new(vec![
            Cell::keyed(row.retries.to_string(), row.retries),
            Cell::keyed((row.retries + 1).to_string(), row.retries + 1),
            Cell::keyed(seconds(row.wait_s), row.wait_s),
            Cell::keyed(seconds(row.total_s), row.total_s),
            Cell::keyed(seconds(row.least_s), row.least_s),
        ])
    });
    let table = Table::new("wait-table", "number of retries", &WAITS, rows.collect());
    let note = "min(cap, base × factor^(k-1)); after jitter: the least it leaves";
    Section::new("waits", "Waits", note, vec![Block::Table(Table { fixed: true, ..table })])
}

fn recovery(plan: &Plan) -> Section<'_> {
    let rows = plan.recovery.iter().map(|row| {
        Row::new(vec![
            Cell::keyed(row.tries.to_string(), row.tries),
            Cell::keyed(percent(row.success), row.success),
            Cell::keyed(format!("{:.3}", row.expected_attempts), row.expected_attempts),
        ])
    });
    let table = Table::new("recovery-table", "number of retries", &RECOVERY, rows.collect());
    let q = sourced(plan.success, rate);
    let note = format!("q = {q}: 1-(1-q)^k, and the sum of (1-q)^i for i up to k");
    let limit = "Each try is taken to be a new throw. Retries of an overloaded service are not: they fail together.";
    let blocks = vec![Block::Table(Table { fixed: true, ..table }), Block::Note(limit.to_owned())];
    Section::new("recovery", "Recovery", note, blocks)
}

fn layers(plan: &Plan) -> Section<'_> {
    let each: Vec<String> = plan.layers.attempts.iter().map(u32::to_string).collect();
    let facts =
        vec![Fact::new("Nested", format!("{} = {}", each.join(" × "), counted(plan.layers.product, "attempt")))];
    let row = |(depth, attempts): (u64, &u64)| Row::new(vec![Cell::count(depth), Cell::count(*attempts)]);
    let table = Table::new("layer-table", "depth", &LAYERS, (1..).zip(&plan.layers.equal).map(row).collect());
    let note = format!("loops around loops; (r+1)^d with r = {}", plan.max_attempts.value.saturating_sub(1));
    Section::new("layers", "Layers", note, vec![Block::Facts(facts), Block::Table(Table { fixed: true, ..table })])
}

fn timeouts(plan: &Plan) -> Section<'_> {
    let row = |row: &crate::plan::TimeoutRow| {
        Row::new(vec![
            Cell::keyed(number(row.max_tokens), row.max_tokens),
            Cell::keyed(seconds(row.timeout_s), row.timeout_s),
        ])
    };
    let table = Table::new("deadline-table", "cap", &TIMEOUTS, plan.timeouts.iter().map(row).collect());
    let idle = vec![Fact::new("Streams", format!("{} between two events", seconds(plan.idle_timeout_s)))];
    let note = "of one attempt: first token, the others, a margin";
    Section::new("deadlines", "Deadlines", note, vec![Block::Table(Table { fixed: true, ..table }), Block::Facts(idle)])
}

fn load(load: &Load) -> Section<'_> {
    let pool = load.pool.zip(load.admits_per_s).map(|(pool, admits)| {
        let fits = if u64::from(pool) >= load.pool_needed { "enough" } else { "too small" };
        format!("{}, {fits}: it can admit {} a second", number(u64::from(pool)), rate(admits))
    });
    let facts = vec![
        Fact::new("Arrivals", sourced(load.arrivals_per_s, |x| format!("{} a second", rate(x)))),
        Fact::new("Each takes", sourced(load.in_system_s, seconds)),
        Fact::new("At once", format!("{} in flight", rate(load.concurrency))),
        Fact::new("Needed", format!("a pool or semaphore of {}", number(load.pool_needed))),
        Fact::new("Pool", pool.unwrap_or_default()),
    ];
    Section::new("load", "Load", "Little's law: arrivals a second × time in the system", vec![Block::Facts(facts)])
}

fn tokens(tokens: &TokenRate) -> Section<'_> {
    let limit = tokens
        .limit
        .zip(tokens.share)
        .map(|(limit, share)| format!("{} a minute: {} of it is asked for", number(limit as u64), percent(share)));
    let admits = tokens.admits_per_s.map(|admits| format!("{} calls a second", rate(admits)));
    let facts = vec![
        Fact::new("Sent", format!("{} tokens a minute", number(tokens.tokens_per_min as u64))),
        Fact::new("Limit", limit.unwrap_or_default()),
        Fact::new("Admits", admits.unwrap_or_default()),
    ];
    Section::new("tokens", "Tokens", "calls a second × attempts × tokens × 60", vec![Block::Facts(facts)])
}

fn fan_out(one: &FanOut) -> Section<'_> {
    let facts = vec![
        Fact::new("Admit", format!("{} a second", rate(one.admits_per_s))),
        Fact::new("Stagger", format!("{} between two starts", seconds(one.stagger_s))),
        Fact::new("Lasts", format!("{} until the last has started", seconds(one.lasts_s))),
    ];
    let note = format!("{} started together", counted(u64::from(one.calls), "call"));
    Section::new("fan-out", "Fan-out", note, vec![Block::Facts(facts)])
}
