//! Who sent what: attempts, failures and findings by each name the log gives.

use crate::measure::{Fleet, SenderTally};
use crate::model::{AttemptTable, Dimension, Symbol};
use crate::untrusted::masked;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Names kept of one dimension; the others are counted.
const KEPT: usize = 100;

/// What the attempts of one name came to. Each column adds up to the same total in every dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhoRow {
    /// Whose name it is.
    pub by: Dimension,
    /// The name; `None` for attempts without one.
    pub name: Option<String>,
    /// Of a client, its version.
    pub version: Option<String>,
    /// Calls whose first attempt it sent.
    pub calls: u64,
    /// Of them, calls that failed.
    pub calls_failed: u64,
    /// Attempts.
    pub attempts: u64,
    /// Attempts beyond the first of their call.
    pub retries: u64,
    /// Attempts that could not have helped, as far as they are known one by one.
    pub wasted_sends: u64,
    /// Findings whose evidence begins with an attempt of it, by severity: errors, warnings, infos.
    pub findings: [u64; 3],
    /// Input and output tokens; `None` where the log gives none.
    pub tokens: Option<u64>,
    /// US dollars, from the log or by declared prices; `None` where neither tells.
    pub usd: Option<f64>,
}

impl WhoRow {
    /// Name and version.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        let name = self.name.as_deref()?;
        Some(self.version.as_deref().map_or_else(|| name.to_owned(), |version| format!("{name} {version}")))
    }
}

/// The rows of every dimension that the log gives a name of, the most troubled first; and how many are left out.
pub(super) fn who(fleet: &Fleet<'_>) -> (Vec<WhoRow>, u64) {
    let (mut rows, mut omitted) = (Vec::new(), 0);
    for by in Dimension::ALL.into_iter().filter(|by| *by != Dimension::Run) {
        let mut names: HashMap<(Symbol, Symbol), SenderTally> = HashMap::new();
        for (origin, tally) in fleet.senders.iter().filter(|(_, tally)| tally.attempts > 0) {
            let origin = fleet.table.origin_of(*origin);
            names.entry((by.symbol(Symbol::NONE, origin), by.version(origin))).or_default().merge(tally);
        }
        if names.keys().any(|(name, _)| name.is_some()) {
            let mut of_one: Vec<WhoRow> = names.iter().map(|(key, tally)| row(fleet.table, by, *key, tally)).collect();
            of_one.sort_by_cached_key(rank);
            omitted += of_one.len().saturating_sub(KEPT) as u64;
            of_one.truncate(KEPT);
            rows.append(&mut of_one);
        }
    }
    (rows, omitted)
}

/// The most troubled first; by name where equal.
fn rank(row: &WhoRow) -> impl Ord + use<> {
    let [errors, warnings, _] = row.findings;
    let trouble = (errors, row.calls_failed, warnings, row.wasted_sends, row.retries, row.attempts);
    (Reverse(trouble), row.name.clone(), row.version.clone())
}

fn row(table: &AttemptTable, by: Dimension, (name, version): (Symbol, Symbol), tally: &SenderTally) -> WhoRow {
    let text = |symbol| table.names.get(symbol).map(masked);
    let [infos, warnings, errors] = tally.findings;
    WhoRow {
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
