//! Labels of the reports of a trend.

use crate::compare::Trend;
use crate::model::Zone;
use crate::report::Window;
use std::collections::BTreeSet;

/// Returns the date of each report in the shortest format that makes the labels distinct.
pub(super) fn labels(trend: &Trend, zone: Zone) -> Vec<String> {
    ["%m-%d", "%Y-%m-%d", "%m-%d %H:%M", "%Y-%m-%d %H:%M"]
        .into_iter()
        .map(|format| trend.reports.iter().map(|report| zone.show(report.window.first, format)).collect::<Vec<_>>())
        .find(|labels| {
            let distinct: BTreeSet<&String> = labels.iter().collect();
            // Labels that are not sorted lack the year.
            distinct.len() == labels.len() && labels.is_sorted()
        })
        .unwrap_or_else(|| {
            let full = |window: Window| zone.show(window.first, "%Y-%m-%d %H:%M:%S");
            trend.reports.iter().map(|report| full(report.window)).collect()
        })
}
