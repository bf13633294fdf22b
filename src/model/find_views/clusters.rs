//! Groups rows that may be views of one attempt because they share an id.

use super::key::{Key, Stretch};
use crate::model::{Attempt, AttemptTable, Flags};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap};

/// Shortest id used for matching; shorter ones are more often a process's counters than unique.
const SHORTEST_ID: usize = 12;
/// Length of a trace id in hex digits (W3C Trace Context, trace-id).
const TRACE_ID: usize = 32;

fn is_trace(run: &str) -> bool {
    run.len() == TRACE_ID && run.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the rows that share a key with a row of another kind, by key and in time order. Considers rows sent within
/// `stretch` or near it. Request ids come first.
pub(super) fn clusters(table: &AttemptTable, stretch: Stretch) -> BTreeMap<Key, Vec<u32>> {
    let mut clusters: HashMap<Key, Vec<u32>, RandomState> = HashMap::default();
    // Whether the name of each run is a trace id, as far as known.
    let mut traces: Vec<Option<bool>> = Vec::new();
    let near = |row: &Attempt| stretch.is_near(row.sent) && !row.flags.has(Flags::TOOL);
    let again = Again::of(&table.rows, near);
    for (index, row) in (0..).zip(&table.rows).filter(|(_, row)| near(row)) {
        if again.has(row) && table.request_id(row).is_some_and(is_unique) {
            clusters.entry(Key::Request(row.identity)).or_default().push(index);
        }
        if row.flags.has(Flags::IDEMPOTENT)
            && let Some(key) = table.detail(row).map(|detail| detail.idempotency).filter(|key| *key != 0)
        {
            clusters.entry(Key::Idempotency(key)).or_default().push(index);
        }
        let run = row.run.place();
        if run >= traces.len() {
            traces.resize(run + 1, None);
        }
        if *traces[run].get_or_insert_with(|| is_trace(table.names.text(row.run))) {
            clusters.entry(Key::Trace(row.run)).or_default().push(index);
        }
    }
    clusters.retain(|_, rows| table.are_of_kinds(rows));
    let in_order = |(key, mut rows): (Key, Vec<u32>)| {
        rows.sort_by(|a, b| {
            let sent = |row: u32| table.rows[row as usize].sent;
            sent(*a).cmp(&sent(*b)).then_with(|| table.rank(*a).cmp(&table.rank(*b)))
        });
        (key, rows)
    };
    clusters.into_iter().map(in_order).collect()
}

/// Returns whether an id is long enough, and not a number, so that two logs are unlikely to give it to different
/// requests.
fn is_unique(id: &str) -> bool {
    id.len() >= SHORTEST_ID && id.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Set of request ids that occur on several rows, as one bit for each hash. Collisions may add a few others.
struct Again {
    again: Vec<u64>,
}

impl Again {
    /// Bits for each row of the table.
    const ROOM: usize = 16;

    fn of(rows: &[Attempt], wanted: impl Fn(&Attempt) -> bool) -> Again {
        let words = (rows.len() * Self::ROOM).div_ceil(64).max(1);
        let (mut met, mut again) = (vec![0; words], vec![0; words]);
        for row in rows.iter().filter(|row| row.flags.has(Flags::REQUEST_ID) && wanted(row)) {
            let (word, bit) = Self::place(words, row.identity);
            again[word] |= met[word] & bit;
            met[word] |= bit;
        }
        Again { again }
    }

    fn has(&self, row: &Attempt) -> bool {
        let (word, bit) = Self::place(self.again.len(), row.identity);
        row.flags.has(Flags::REQUEST_ID) && self.again[word] & bit != 0
    }

    fn place(words: usize, identity: u32) -> (usize, u64) {
        let bit = (identity as usize * words * 64) >> 32;
        (bit / 64, 1 << (bit % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_short_ids_are_not_unique() {
        assert!(is_unique("req_011Cabcdefgh") && is_unique("7af7651916cd43dd8448eb211c803101"));
        assert!(!is_unique("req_1") && !is_unique("202605201000001"));
        assert!(is_trace("0af7651916cd43dd8448eb211c80319c") && !is_trace("nightly-run-of-the-agents-at-4am"));
    }
}
