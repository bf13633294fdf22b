//! Load on each rate-limit scope: arrivals, time in the system, concurrency.

use super::{View, charts, has_nothing_to_do};
use crate::render::charts::ChartKind;
use crate::render::document::{Block, Cell, Column, Fact, RichText, Row, Section, SpanKind, Table};
use crate::render::words::{self, counted, number};
use crate::report::{AmplifiedSpan, LoadRow};

/// Minimum number of calls for the load of a scope to be meaningful.
const MIN_CALLS: u64 = 10;

const COLUMNS: [Column; 9] = [
    Column::id("Scope").min_width(24),
    Column::number("Calls"),
    Column::number("A second").rank(4),
    Column::number("Each takes").rank(2).means("from the first attempt of a call to its last answer"),
    Column::number("At once").rank(2).means("arrivals a second times that, the calls under way by Little's law"),
    Column::number("Peak").rank(1).means("most attempts in flight at once, counted"),
    Column::number("In 60 s").rank(1).means("most attempts sent within any 60 s"),
    Column::number("Limit").rank(1).means("requests a minute, as the headers said last"),
    Column::number("Refused").rank(1).means("attempts answered by a rate limit, an overload or a 503"),
];

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let load = &view.report.load;
    if load.is_empty() {
        return None;
    }
    let rows: Vec<Row<'a>> = load.iter().map(|one| row(view, one)).collect();
    let quiet = has_nothing_to_do(view.report) || rows.iter().all(|row| row.minor);
    let blocks = vec![
        charts(view, ChartKind::Load, "scope"),
        Block::Table(Table::new("load-table", "scope", &COLUMNS, rows).limits(4, 10, 100)),
    ];
    let note = "what each provider and model was asked for, and how much of it refused";
    Some(Section::new("load", "Load", note, blocks).quiet(quiet))
}

fn row<'a>(view: &View<'a>, load: &'a LoadRow) -> Row<'a> {
    let count = |n: Option<u64>| Cell::optional(n.map(|n| n as f64), |_| n.map_or_else(String::new, number));
    let limit = load.requests_limit.map(i64::unsigned_abs);
    Row {
        minor: load.calls < MIN_CALLS,
        more: vec![Block::Facts(facts(view, load))],
        ..Row::new(vec![
            Cell::name(load.scope.as_str()),
            Cell::count(load.calls),
            Cell::optional(load.arrivals_per_s, words::rate),
            Cell::optional(load.time_in_system_s, words::compact_duration),
            Cell::optional(load.concurrency, words::rate),
            count(load.in_flight_peak),
            count(load.offered_per_min),
            count(limit),
            Cell::share(load.refused, SpanKind::Plain),
        ])
    }
}

fn facts(view: &View<'_>, load: &LoadRow) -> Vec<Fact> {
    let from =
        |at, n, what: &str| RichText::from(format!("{}, {what} ", counted(n, "attempt"))).join(view.clock.time(at));
    let offered = load.offered_at.zip(load.offered_per_min).map(|(at, most)| from(at, most, "from"));
    let peak = load.in_flight_peak_at.zip(load.in_flight_peak).map(|(at, peak)| from(at, peak, "first at"));
    let mean = load.in_flight_mean.map_or_else(String::new, |mean| format!("{mean:.1} on average"));
    let limit = load.requests_limit.map(|limit| counted(limit.unsigned_abs(), "request"));
    vec![
        Fact::new("In 60 s", offered.unwrap_or_default()),
        Fact::new("Peak", peak.unwrap_or_default()),
        Fact::new("In flight", mean),
        Fact::new("Limit", limit.unwrap_or_default()),
        Fact::new(
            "Refused",
            format!("{} of all attempts, by a rate limit, an overload or a 503", words::share(load.refused)),
        ),
        Fact::new("Timed", format!("{} of the attempts have a duration", words::share(load.timed))),
        Fact::new("Most amplified", load.amplified.map(|span| amplified(view, span)).unwrap_or_default()),
        Fact::new("Most retries", load.retry_budget.map(|span| amplified(view, span)).unwrap_or_default()),
    ]
}

fn amplified(view: &View<'_>, span: AmplifiedSpan) -> RichText {
    let (attempts, calls) = (counted(span.sends, "attempt"), counted(span.calls, "call"));
    let (each, ratio) = (span.sends_per_call, span.retry_ratio);
    RichText::from(format!("{attempts} of {calls} that started "))
        .join(view.clock.range(span.from, span.until))
        .then(format!(" ({each:.2} a call, {ratio:.2} retries for each first attempt)"))
}
