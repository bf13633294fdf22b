//! Clusters of rows that may be views of one attempt because they share an id.

use super::key::{SendTimeRange, SharedId};
use crate::model::{Attempt, AttemptTable, Flags};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap};

/// Length in bytes of the shortest id that shows two rows to be of one request: shorter ids are often counters of a
/// process, not unique.
const MIN_ID_LEN: usize = 12;
/// Length of a trace id in hex digits (W3C Trace Context, trace-id).
const TRACE_ID_DIGITS: usize = 32;

fn is_trace(run: &str) -> bool {
    run.len() == TRACE_ID_DIGITS && run.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the rows that share an id with a row of another kind of log, by id and in time order. Considers rows sent
/// within `range` or near it. Clusters by request id come first, since a request id is the strongest evidence.
pub(super) fn clusters(table: &AttemptTable, range: SendTimeRange) -> BTreeMap<SharedId, Vec<u32>> {
    let mut clusters: HashMap<SharedId, Vec<u32>, RandomState> = HashMap::default();
    // Whether the name of each run is a trace id, as far as known.
    let mut trace_ids: Vec<Option<bool>> = Vec::new();
    let near = |row: &Attempt| range.is_near(row.sent) && !row.flags.has(Flags::TOOL);
    let repeated = RepeatedIds::of(&table.rows, near);
    for (index, row) in (0..).zip(&table.rows).filter(|(_, row)| near(row)) {
        if repeated.has(row)
            && let Some(id) = table.request_id(row)
        {
            let shared = if is_unique(id) { SharedId::Request } else { SharedId::ShortRequest };
            clusters.entry(shared(row.identity)).or_default().push(index);
        }
        if row.flags.has(Flags::IDEMPOTENT)
            && let Some(key) = table.detail(row).map(|detail| detail.idempotency).filter(|key| *key != 0)
        {
            clusters.entry(SharedId::Idempotency(key)).or_default().push(index);
        }
        let run = row.run.list_index();
        if run >= trace_ids.len() {
            trace_ids.resize(run + 1, None);
        }
        if *trace_ids[run].get_or_insert_with(|| is_trace(table.names.text(row.run))) {
            clusters.entry(SharedId::Trace(row.run)).or_default().push(index);
        }
    }
    clusters.retain(|_, rows| table.are_of_several_kinds(rows));
    let sorted = |(key, mut rows): (SharedId, Vec<u32>)| {
        rows.sort_by(|a, b| {
            let sent = |row: u32| table.rows[row as usize].sent;
            sent(*a).cmp(&sent(*b)).then_with(|| table.rank(*a).cmp(&table.rank(*b)))
        });
        (key, rows)
    };
    clusters.into_iter().map(sorted).collect()
}

/// Returns whether an id is long enough, and not a number, so that two logs are unlikely to give it to different
/// requests.
fn is_unique(id: &str) -> bool {
    id.len() >= MIN_ID_LEN && id.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Set of request ids that occur on several rows, stored as one bit for each hash. A few other ids are in it because
/// their hashes collide; such clusters of one row are dropped later.
struct RepeatedIds {
    bits: Vec<u64>,
}

impl RepeatedIds {
    /// Bits of the set for each row of the table: at most one bit in this many is set, so that few hashes collide.
    const BITS_PER_ROW: usize = 16;

    fn of(rows: &[Attempt], wanted: impl Fn(&Attempt) -> bool) -> RepeatedIds {
        let words = (rows.len() * Self::BITS_PER_ROW).div_ceil(64).max(1);
        let (mut seen, mut repeated) = (vec![0; words], vec![0; words]);
        for row in rows.iter().filter(|row| row.flags.has(Flags::REQUEST_ID) && wanted(row)) {
            let (word, bit) = Self::bit_of(words, row.identity);
            repeated[word] |= seen[word] & bit;
            seen[word] |= bit;
        }
        RepeatedIds { bits: repeated }
    }

    fn has(&self, row: &Attempt) -> bool {
        let (word, bit) = Self::bit_of(self.bits.len(), row.identity);
        row.flags.has(Flags::REQUEST_ID) && self.bits[word] & bit != 0
    }

    /// Scales a hash of 32 bits to a bit of the set: the index of its word, and its mask.
    fn bit_of(words: usize, identity: u32) -> (usize, u64) {
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
