//! Loops around loops, by how the sends of a call factor.

use crate::measure::{Fleet, sorted_layers};
use crate::untrusted::masked;
use serde::Serialize;

/// Calls of one client whose sends factor alike.
#[derive(Clone, Debug, Serialize)]
pub struct LayerRow {
    /// Client library as logged.
    pub client: Option<String>,
    /// Its version.
    pub client_version: Option<String>,
    /// The inner loop, as far as the log names it.
    pub inner: String,
    /// The loop around it.
    pub outer: String,
    /// Rounds of the outer loop.
    pub rounds: u32,
    /// Sends of the inner loop in the longest round.
    pub sends_per_round: u32,
    /// Every round sent as often.
    pub even: bool,
    /// Most sends these two can make of one call as seen, m x n: (r+1)^d for d layers of r retries each.
    pub bound: u32,
    /// What shows the two loops.
    pub sign: &'static str,
    /// Calls.
    pub calls: u64,
    /// Their sends.
    pub sends: u64,
    /// The first request id of the earliest call.
    pub request_id: Option<String>,
}

/// Pairs of loops kept: no fleet has more in earnest.
const MOST: usize = 100;

/// The pairs of loops, that with most sends first.
pub(super) fn layers(fleet: &Fleet<'_>) -> Vec<LayerRow> {
    let table = fleet.table;
    sorted_layers(&fleet.layers, table)
        .into_iter()
        .take(MOST)
        .map(|(layering, tally)| {
            let (inner, outer) = layering.names(&table.names);
            let (client, client_version) = layering.client(&table.names);
            let first = tally.first.and_then(|spot| table.detail(&table.rows[spot.row as usize]));
            LayerRow {
                client: client.map(masked),
                client_version: client_version.map(masked),
                inner: masked(&inner),
                outer: masked(&outer),
                rounds: layering.rounds,
                sends_per_round: layering.inner,
                even: layering.even,
                bound: layering.bound(),
                sign: layering.sign(),
                calls: tally.calls,
                sends: tally.sends,
                request_id: first.and_then(|detail| table.text(detail.request_id)).map(masked),
            }
        })
        .collect()
}
