//! The load on each rate-limit scope, and loops around loops.

use super::figure::figures;
use super::page::Section;
use super::table::{Cell, Column, Row, Table};
use super::untrusted::name;
use super::view::View;
use crate::render::{
    charts::{ChartError, ChartKind},
    words::{self, counted, number},
};
use crate::report::{AmplifiedSpan, LayerRow, LoadRow};
use maud::{Markup, html};

/// Scopes shown.
const MOST: usize = 100;

const COLUMNS: [Column; 8] = [
    Column::text("Scope"),
    Column::number("Calls"),
    Column::number("A second").minor(),
    Column::number("In system").minor(),
    Column::number("Little's law").least(),
    Column::number("In flight").least(),
    Column::number("Most in 60 s").minor(),
    Column::number("Refused"),
];
const LAYERS: [Column; 5] = [
    Column::text("Inner loop"),
    Column::text("Around it"),
    Column::text("Factors").minor(),
    Column::number("Calls").minor(),
    Column::number("Sends"),
];

pub(super) fn section(view: &View<'_>) -> Result<Option<Section>, ChartError> {
    let load = &view.report.load;
    if load.is_empty() {
        return Ok(None);
    }
    let rows = load.iter().take(MOST).map(|one| row(view, one)).collect();
    let table = Table { id: "load-table", caption: "load by scope", columns: &COLUMNS, rows, facets: Vec::new() };
    let body = html! {
        (figures(view.report, ChartKind::Load)?)
        (table.render())
        @if load.len() > MOST { p.note { "The busiest " (MOST) " of " (counted(load.len() as u64, "scope")) "." } }
        p.note {
            "In system: from the first send of a call to its last answer. Little's law: arrivals a second times that, the "
            "calls under way at once. In flight: attempts in flight at once, counted, mean and peak. In 60 s: the most attempts "
            "sent within any 60 s."
        }
        (layers(&view.report.layers))
    };
    Ok(Some(Section::new("load", "Load", "what was offered to each rate-limit scope, and what it allowed", body)))
}

fn row(view: &View<'_>, load: &LoadRow) -> Row {
    let flying = load.in_flight_mean.zip(load.in_flight_peak);
    Row {
        cells: vec![
            Cell::new(html! { (name(&load.scope)) }),
            Cell::count(load.calls),
            figure(load.arrivals_per_s, |x| format!("{x:.2}")),
            figure(load.time_in_system_s, words::span),
            figure(load.concurrency, |x| format!("{x:.1}")),
            figure(flying.map(|(_, peak)| peak as f64), |peak| {
                format!("{:.1}, peak {peak:.0}", flying.map_or(0.0, |(mean, _)| mean))
            }),
            figure(load.offered_per_min.map(|most| most as f64), |_| {
                let limit = load
                    .requests_limit
                    .map_or_else(String::new, |limit| format!(" of {}", number(limit.unsigned_abs())));
                format!("{}{limit}", load.offered_per_min.map_or_else(String::new, number))
            }),
            Cell::keyed(html! { (words::share(load.refused)) }, load.refused.ratio().unwrap_or(0.0)),
        ],
        more: Some(more(view, load)),
        id: None,
        link: None,
        facet: "",
    }
}

fn figure(value: Option<f64>, shown: impl Fn(f64) -> String) -> Cell {
    Cell::keyed(html! { @if let Some(value) = value { (shown(value)) } }, value.unwrap_or(-1.0))
}

fn more(view: &View<'_>, load: &LoadRow) -> Markup {
    html! {
        dl.terms.small {
            @if let Some((at, offered)) = load.offered_at.zip(load.offered_per_min) {
                dt { "Most in 60 s" } dd { (counted(offered, "attempt")) ", from " (view.time(at)) }
            }
            @if let Some((at, peak)) = load.in_flight_peak_at.zip(load.in_flight_peak) {
                dt { "Most in flight" } dd { (counted(peak, "attempt")) ", first at " (view.time(at)) }
            }
            @if let Some(limit) = load.requests_limit { dt { "Limit" } dd { (number(limit.unsigned_abs())) " requests, as the headers said last" } }
            dt { "Refused" } dd { (words::share(load.refused)) " of all sends" }
            dt { "Timed" } dd { (words::share(load.timed)) " of the attempts have a duration" }
            @if let Some(span) = load.amplified { dt { "Most amplified" } dd { (amplified(view, span)) } }
            @if let Some(span) = load.retry_budget { dt { "Most retries" } dd { (amplified(view, span)) } }
        }
    }
}

fn amplified(view: &View<'_>, span: AmplifiedSpan) -> Markup {
    html! {
        (counted(span.sends, "send")) " for " (counted(span.calls, "call")) " (" (format!("{:.2}", span.sends_per_call)) " a call, "
        (format!("{:.2}", span.retry_ratio)) " retries for each first attempt), " (view.stretch(span.from, span.until))
    }
}

fn layers(layers: &[LayerRow]) -> Markup {
    if layers.is_empty() {
        return html! {};
    }
    let row = |layer: &LayerRow| {
        let factors = format!("{} × {} = {}", layer.rounds, layer.sends_per_round, layer.bound);
        Row::plain(vec![
            Cell::new(html! { (name(&layer.inner)) }),
            Cell::new(html! { (name(&layer.outer)) }),
            Cell::keyed(html! { span title=(layer.sign) { (factors) } }, layer.bound),
            Cell::count(layer.calls),
            Cell::count(layer.sends),
        ])
    };
    let rows = layers.iter().map(row).collect();
    let table = Table { id: "layer-table", caption: "loops around loops", columns: &LAYERS, rows, facets: Vec::new() };
    html! { h3 { "Loops around loops" } (table.render()) }
}
