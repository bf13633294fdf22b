//! Nested retry loops, by how the sends of a call factor.

use crate::measure::{Fleet, sorted_layers};
use crate::untrusted::masked;
use serde::Serialize;

/// Calls of one client whose sends factor into the same two loops.
#[derive(Clone, Debug, Serialize)]
pub struct LayerRow {
    /// Client library as logged.
    pub client: Option<String>,
    /// Version of the client library.
    pub client_version: Option<String>,
    /// Inner loop, as far as the log names it.
    pub inner: String,
    /// Outer loop.
    pub outer: String,
    /// Rounds of the outer loop.
    pub rounds: u32,
    /// Sends of the inner loop in the longest round.
    pub sends_per_round: u32,
    /// Whether every round made the same number of sends.
    pub even: bool,
    /// Most sends that the two loops can make for one call as observed, m x n: (r+1)^d for d layers of r retries each.
    pub bound: u32,
    /// Evidence for the two loops.
    pub sign: &'static str,
    /// Number of calls.
    pub calls: u64,
    /// Sends of those calls.
    pub sends: u64,
    /// First request id of the earliest call.
    pub request_id: Option<String>,
}

/// Maximum number of rows; no real fleet has more.
const MOST: usize = 100;

/// Returns the pairs of loops, those with most sends first.
pub(super) fn layers(fleet: &Fleet<'_>) -> Vec<LayerRow> {
    let table = fleet.table;
    sorted_layers(&fleet.layers, table)
        .into_iter()
        .take(MOST)
        .map(|(layering, tally)| {
            let (inner, outer) = layering.names(&table.names);
            let (client, client_version) = layering.client(&table.names);
            let first = tally.first.and_then(|row_ref| table.detail(&table.rows[row_ref.row as usize]));
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
