//! Remaining share of each limit over time, by scope, the tightest first.

use super::{View, has_nothing_to_do};
use crate::render::charts::ChartKind;
use crate::render::document::{Block, Charts, Limits, Section};
use crate::render::words::counted;

/// Share of a limit below which the section is shown even if there is nothing to act on.
const LOW_SHARE: f64 = 0.25;

pub(super) fn section<'a>(view: &View<'a>) -> Option<Section<'a>> {
    let mut charts = view.charts(ChartKind::Headroom);
    if charts.is_empty() {
        return None;
    }
    // The sort is stable: equal scopes stay in the order of the report.
    charts.sort_by(|a, b| a.lowest_share_left().total_cmp(&b.lowest_share_left()));
    let quiet = has_nothing_to_do(view.report) && charts.iter().all(|chart| chart.lowest_share_left() >= LOW_SHARE);
    let note = format!("the least left of each limit, {}, tightest first", counted(charts.len() as u64, "scope"));
    let charts = Charts { charts, limits: Limits::new(6, 0, 8), unit: "scope" };
    Some(Section::new("headroom", "Headroom", note, vec![Block::Charts(charts)]).quiet(quiet))
}
