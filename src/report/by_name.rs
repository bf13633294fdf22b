//! Attempts, failures and findings by each name in the log: client, model, provider and so on.

use crate::measure::{Fleet, SenderTally};
use crate::model::{AttemptTable, Dimension, Symbol};
use crate::untrusted::masked;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Maximum number of names kept per dimension; only the number of others is reported.
const MAX_NAMES: usize = 100;

/// Attempts with the same name in one dimension, such as the same model. A column adds up to the same total in every
/// dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NameRow {
    /// Dimension that the name belongs to.
    pub by: Dimension,
    /// The name; `None` for attempts without one.
    pub name: Option<String>,
    /// Version, if the name is that of a client.
    pub version: Option<String>,
    /// Calls whose first attempt has this name.
    pub calls: u64,
    /// Number of these calls that failed.
    pub calls_failed: u64,
    /// Number of attempts.
    pub attempts: u64,
    /// Attempts beyond the first of their call.
    pub retries: u64,
    /// Attempts that could not have helped, as far as they can be identified one by one.
    pub wasted_sends: u64,
    /// Findings whose first attempt has this name, by severity: errors, warnings, infos.
    pub findings: [u64; 3],
    /// Input and output tokens; `None` if the log has no token counts.
    pub tokens: Option<u64>,
    /// US dollars, from the log or by declared prices; `None` if neither gives a cost.
    pub usd: Option<f64>,
}

impl NameRow {
    /// Returns name and version.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        let name = self.name.as_deref()?;
        Some(self.version.as_deref().map_or_else(|| name.to_owned(), |version| format!("{name} {version}")))
    }
}

/// Returns the rows of every dimension with a name in the log, most problems first, and the number of rows left out.
pub(super) fn by_name(fleet: &Fleet<'_>) -> (Vec<NameRow>, u64) {
    let (mut rows, mut omitted) = (Vec::new(), 0);
    for by in Dimension::ALL.into_iter().filter(|by| *by != Dimension::Run) {
        let mut names: HashMap<(Symbol, Symbol), SenderTally> = HashMap::new();
        for (origin, tally) in fleet.senders.iter().filter(|(_, tally)| tally.attempts > 0) {
            let origin = fleet.table.origin_of(*origin);
            names.entry((by.symbol(Symbol::NONE, origin), by.version(origin))).or_default().merge(tally);
        }
        if names.keys().any(|(name, _)| name.is_some()) {
            let mut rows_of_dimension: Vec<NameRow> =
                names.iter().map(|(key, tally)| row(fleet.table, by, *key, tally)).collect();
            rows_of_dimension.sort_by_cached_key(sort_key);
            omitted += rows_of_dimension.len().saturating_sub(MAX_NAMES) as u64;
            rows_of_dimension.truncate(MAX_NAMES);
            rows.append(&mut rows_of_dimension);
        }
    }
    (rows, omitted)
}

/// Sort key: most problems first, equal rows by name.
fn sort_key(row: &NameRow) -> impl Ord + use<> {
    let [errors, warnings, _] = row.findings;
    let trouble = (errors, row.calls_failed, warnings, row.wasted_sends, row.retries, row.attempts);
    (Reverse(trouble), row.name.clone(), row.version.clone())
}

fn row(table: &AttemptTable, by: Dimension, (name, version): (Symbol, Symbol), tally: &SenderTally) -> NameRow {
    let text = |symbol| table.names.get(symbol).map(masked);
    let [infos, warnings, errors] = tally.findings;
    NameRow {
        by,
        name: text(name),
        version: text(version),
        calls: tally.calls,
        calls_failed: tally.calls_failed,
        attempts: tally.attempts,
        retries: tally.retries,
        wasted_sends: tally.wasted,
        findings: [errors, warnings, infos],
        tokens: tally.spent.known_tokens(),
        usd: tally.spent.usd(),
    }
}
