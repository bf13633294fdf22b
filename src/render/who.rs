//! Who sent what: which rows are worth showing.

use super::money::{dollars, known_dollars};
use super::words::{counted, number};
use crate::model::Dimension;
use crate::report::{Report, Totals, WhoRow};

/// The rows of each dimension that tells several names apart.
pub(in crate::render) fn groups(report: &Report) -> impl Iterator<Item = (Dimension, &[WhoRow])> {
    let groups = report.who.chunk_by(|a, b| a.by == b.by).filter(|rows| rows.len() > 1);
    groups.filter_map(|rows| Some((rows.first()?.by, rows)))
}

/// Its name, or that it has none.
pub(in crate::render) fn name(row: &WhoRow) -> String {
    row.label().unwrap_or_else(|| "(not logged)".to_owned())
}

/// What everything cost, as far as it is known: "$12.30, $1.20 of it for needless attempts; cost known of ...".
pub(in crate::render) fn spent(totals: &Totals) -> Option<String> {
    let wasted = |usd: f64| format!(", {} of it for needless attempts", dollars(usd));
    match (totals.usd, totals.tokens) {
        (Some(usd), _) => {
            let known = if totals.with_cost.count < totals.with_cost.of {
                let known = totals.with_cost;
                format!("; known of {} of {} attempts", number(known.count), number(known.of))
            } else {
                String::new()
            };
            Some(format!("{}{}{known}", dollars(usd), totals.wasted_usd.map_or_else(String::new, wasted)))
        }
        (None, Some(tokens)) => {
            let wasted = totals
                .wasted_tokens
                .map_or_else(String::new, |tokens| format!(", {} of them for needless attempts", number(tokens)));
            Some(format!("{}{wasted}", counted(tokens, "token")))
        }
        (None, None) => None,
    }
}

/// Cost, or tokens where no cost is known.
pub(in crate::render) fn cost(row: &WhoRow) -> String {
    known_dollars(row.usd)
}
