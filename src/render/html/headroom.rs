//! What was left of each limit over time, scope by scope, the tightest first.

use super::figure::figure;
use super::page::Section;
use super::view::View;
use crate::render::{
    charts::{Chart, ChartError, ChartKind, fleet_charts},
    words::counted,
};
use crate::report::Headroom;
use maud::html;

/// Scopes shown.
const MOST: usize = 8;

pub(super) fn section(view: &View<'_>) -> Result<Option<Section>, ChartError> {
    let drawn = fleet_charts(view.report).into_iter().filter(|chart| chart.kind == ChartKind::Headroom);
    let mut scopes: Vec<(Chart<'_>, f64)> = drawn.zip(least_by_scope(&view.report.headroom)).collect();
    if scopes.is_empty() {
        return Ok(None);
    }
    scopes.sort_by(|a, b| a.1.total_cmp(&b.1));
    let left_out = scopes.len().saturating_sub(MOST);
    let figures = scopes.iter().take(MOST).map(|(chart, _)| figure(chart));
    let figures = figures.collect::<Result<Vec<_>, _>>()?;
    let body = html! {
        @for one in &figures { (one) }
        @if left_out > 0 {
            p.note { (counted(left_out as u64, "further scope")) " with more left; " code { "--charts DIR" } " draws all." }
        }
    };
    let note = format!("what the rate-limit headers said, {}, tightest first", counted(scopes.len() as u64, "scope"));
    Ok(Some(Section::new("headroom", "Headroom", note, body)))
}

/// The least that was left in each scope, scopes in the order they come.
fn least_by_scope(limits: &[Headroom]) -> Vec<f64> {
    let mut scopes: Vec<(&str, f64)> = Vec::new();
    for limit in limits {
        match scopes.iter_mut().find(|(scope, _)| *scope == limit.scope) {
            Some((_, least)) => *least = least.min(limit.min_ratio),
            None => scopes.push((&limit.scope, limit.min_ratio)),
        }
    }
    scopes.into_iter().map(|(_, least)| least).collect()
}
