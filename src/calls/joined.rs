//! Joins calls of several logs that have views of the same attempts.

use super::reuse::SplitCall;
use super::series::{AttemptSeries, Rows};
use super::{Call, Grouping, Horizon};
use crate::model::{AttemptTable, Time};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Largest difference allowed between the clocks of two machines, in µs: clocks synchronized by NTP differ by less.
const MAX_CLOCK_SKEW_US: i64 = 2_000_000;

/// Rows of a call whose outcome is not determined yet.
#[derive(Clone, Debug)]
pub(crate) struct Unsettled {
    pub(crate) rows: Rows,
    grouping: Grouping,
    fell_back: bool,
    overlapped: bool,
}

impl Unsettled {
    pub(super) fn of_part(part: SplitCall) -> Unsettled {
        let grouping = if part.guessed { Grouping::Inferred } else { Grouping::Explicit };
        Unsettled { rows: part.rows, grouping, fell_back: false, overlapped: part.overlapped }
    }

    pub(crate) fn of_series(series: AttemptSeries) -> Unsettled {
        let AttemptSeries { rows, grouping, fell_back } = series;
        Unsettled { rows, grouping, fell_back, overlapped: false }
    }

    pub(super) fn of_row(row: u32, grouping: Grouping) -> Unsettled {
        Unsettled { rows: SmallVec::from_slice(&[row]), grouping, fell_back: false, overlapped: false }
    }

    /// Settles the call.
    pub(crate) fn settle<'a>(&self, table: &'a AttemptTable, horizon: &Horizon) -> Call<'a> {
        let mut call = Call::settle(table, self.rows.clone(), self.grouping, horizon);
        (call.fell_back, call.overlapped) = (self.fell_back, self.overlapped);
        call
    }

    /// Returns whether one of its attempts is in another log too.
    pub(crate) fn is_linked(&self, links: &Links) -> bool {
        self.rows.iter().any(|row| links.contains(*row))
    }
}

/// Links between rows that describe the same attempt, in both directions.
#[derive(Debug, Default)]
pub(crate) struct Links(HashMap<u32, SmallVec<[u32; 2]>>);

impl Links {
    pub(crate) fn of(table: &AttemptTable) -> Links {
        let mut links = Links::default();
        for (view, of) in table.views.links() {
            links.0.entry(view).or_default().push(of);
            links.0.entry(of).or_default().push(view);
        }
        links
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether another row describes the attempt of `row`.
    pub(crate) fn contains(&self, row: u32) -> bool {
        self.0.contains_key(&row)
    }

    fn linked_rows(&self, row: u32) -> &[u32] {
        self.0.get(&row).map_or(&[], |linked_rows| linked_rows.as_slice())
    }

    /// Removes and returns the calls that are complete: all calls they share attempts with, directly or through others,
    /// are in `calls`.
    pub(crate) fn take_complete(&self, calls: &mut Vec<Unsettled>) -> Vec<Unsettled> {
        let known: BTreeSet<u32> = calls.iter().flat_map(|call| call.rows.iter().copied()).collect();
        let missing = |call: &Unsettled| {
            call.rows.iter().flat_map(|row| self.linked_rows(*row)).any(|peer| !known.contains(peer))
        };
        let mut incomplete: BTreeSet<u32> =
            calls.iter().filter(|call| missing(call)).flat_map(|call| call.rows.iter().copied()).collect();
        let is_incomplete = |call: &Unsettled, incomplete: &BTreeSet<u32>| {
            call.rows.iter().any(|row| {
                incomplete.contains(row) || self.linked_rows(*row).iter().any(|peer| incomplete.contains(peer))
            })
        };
        loop {
            let before = incomplete.len();
            let more: Vec<u32> = calls
                .iter()
                .filter(|call| is_incomplete(call, &incomplete))
                .flat_map(|call| call.rows.iter().copied())
                .collect();
            incomplete.extend(more);
            if incomplete.len() == before {
                break;
            }
        }
        calls.extract_if(.., |call| !is_incomplete(call, &incomplete)).collect()
    }
}

/// Joins calls that share attempts: an outer call absorbs the calls made on its behalf. Which attempts form a call is
/// decided by the log of the client, not by that of the gateway.
pub(crate) fn join(table: &AttemptTable, links: &Links, calls: Vec<Unsettled>) -> Vec<Unsettled> {
    let joiner = CallJoiner::new(table, links, calls);
    let mut joined: BTreeMap<usize, Unsettled> = BTreeMap::new();
    for (index, call) in joiner.calls.iter().enumerate() {
        for row in &call.rows {
            let owner = joiner.call_containing(*row, index);
            let of = &joiner.calls[owner];
            let one = joined.entry(owner).or_insert_with(|| Unsettled { rows: SmallVec::new(), ..of.clone() });
            one.rows.push(*row);
            // If the outer log has a single attempt, the inner log determines what belongs to the call.
            if of.rows.len() == 1 {
                one.grouping = one.grouping.min(call.grouping);
            }
        }
    }
    joined.into_values().collect()
}

/// Assigns the rows of calls to the calls that absorb them.
struct CallJoiner<'t, 'l> {
    table: &'t AttemptTable,
    links: &'l Links,
    /// Sorted by `rank`: calls of clients before those of gateways.
    calls: Vec<Unsettled>,
    /// Index of the call of each row.
    call_of_row: HashMap<u32, usize>,
}

impl<'t, 'l> CallJoiner<'t, 'l> {
    fn new(table: &'t AttemptTable, links: &'l Links, mut calls: Vec<Unsettled>) -> CallJoiner<'t, 'l> {
        calls.sort_by(|a, b| rank(table, a).cmp(&rank(table, b)));
        let call_of_row =
            calls.iter().enumerate().flat_map(|(index, call)| call.rows.iter().map(move |row| (*row, index)));
        CallJoiner { table, links, call_of_row: call_of_row.collect(), calls }
    }

    /// Returns the index of the call that absorbs a row of the call at `index`: an earlier call that shares its
    /// attempt, or one that shares another attempt of this call and was in flight at that time. Otherwise the row stays
    /// in its call.
    fn call_containing(&self, row: u32, index: usize) -> usize {
        if let Some(owner) = self.outer_call(row, index) {
            return owner;
        }
        let rows = &self.calls[index].rows;
        let position = rows.iter().position(|other| *other == row).unwrap_or(0);
        let others = rows[position + 1..].iter().chain(rows[..position].iter().rev());
        let owner = others.copied().find_map(|other| self.outer_call(other, index));
        owner.filter(|owner| self.was_in_flight(*owner, row)).unwrap_or(index)
    }

    /// Returns the index of the call before the one at `index` that shares the attempt of `row`.
    fn outer_call(&self, row: u32, index: usize) -> Option<usize> {
        let linked_rows =
            self.links.linked_rows(row).iter().filter_map(|peer| Some((*self.call_of_row.get(peer)?, *peer)));
        let (outer, peer) = linked_rows.min().filter(|(outer, _)| *outer < index)?;
        Some(self.call_containing(peer, outer))
    }

    fn was_in_flight(&self, index: usize, row: u32) -> bool {
        let rows = || self.calls[index].rows.iter().map(|row| &self.table.rows[*row as usize]);
        let began = rows().map(|row| row.sent).min().unwrap_or(Time(i64::MAX));
        let ended = rows().map(|row| row.ended()).max().unwrap_or(Time(i64::MIN));
        let row = &self.table.rows[row as usize];
        began.us_since(row.sent) <= MAX_CLOCK_SKEW_US && row.ended().us_since(ended) <= MAX_CLOCK_SKEW_US
    }
}

/// Sort key by which an earlier call absorbs a later one: calls of clients come first, then those with one record for
/// each attempt, those with a call id, and those with more rows or longer durations. The last part only makes the order
/// unique.
fn rank<'t>(table: &'t AttemptTable, call: &Unsettled) -> impl Ord + use<'t> {
    let rows = || call.rows.iter().map(|row| &table.rows[*row as usize]);
    let first = rows().min_by_key(|row| (row.sent, row.number, row.identity));
    let from_gateway = rows().all(|row| table.is_of_gateway(row));
    let counts_several = rows().any(|row| table.detail(row).is_some_and(|detail| detail.resends > 0));
    let total_duration: i64 = rows().filter_map(|row| row.duration.as_us()).sum();
    let tie_breaker =
        first.map(|row| (row.sent, row.identity, table.format(row.file), table.names.text(table.origin(row).layer)));
    (
        (from_gateway, counts_several && call.rows.len() == 1, call.grouping),
        (Reverse(call.rows.len()), Reverse(total_duration)),
        tie_breaker,
    )
}

#[cfg(test)]
mod tests {
    use crate::calls::{Call, Grouping, Horizon, group};
    use crate::ingest::read_str;
    use crate::model::Time;

    /// Returns, for each call, the lines of its attempts, its grouping, and the lines of its views.
    fn calls(log: &str) -> Vec<(Vec<u32>, Grouping, Vec<u32>)> {
        let table = read_str(log);
        let horizon = Horizon { data_end: Time(0), complete: true, give_up_limits: Default::default() };
        let groups = group(&table);
        let mut calls = Vec::new();
        let line = |row: &u32| table.rows[*row as usize].line;
        let mut add = |call: &Call<'_>| {
            let views = call.views.iter().map(|(view, _)| line(view)).collect();
            calls.push((call.rows().iter().map(line).collect::<Vec<u32>>(), call.grouping, views));
        };
        groups.pieces().iter().for_each(|piece| groups.calls(piece, &horizon, |_| true, &mut add));
        calls.sort_by_key(|(lines, ..)| lines.clone());
        calls
    }

    /// Creates a record of `layer` sent `at` ms after ten o'clock.
    fn record(layer: &str, at: u64, took: u64, rest: &str) -> String {
        let at = 1_767_607_200_000 + at;
        format!("{{\"ts\":{at},\"layer\":\"{layer}\",\"duration_ms\":{took},{rest}}}\n")
    }

    #[test]
    fn a_gateway_with_an_id_for_every_request_does_not_split_a_call() {
        let log = record("sdk", 0, 300, r#""call_id":"c","status":503,"request_id":"req_abcdefgh1""#)
            + &record("sdk", 900, 300, r#""call_id":"c","status":200,"request_id":"req_abcdefgh2""#)
            + &record("gateway", 10, 280, r#""call_id":"g1","status":503,"request_id":"req_abcdefgh1""#)
            + &record("gateway", 910, 280, r#""call_id":"g2","status":200,"request_id":"req_abcdefgh2""#);
        assert_eq!(calls(&log), [(vec![1, 2], Grouping::Explicit, vec![3, 4])]);
    }

    #[test]
    fn an_attempt_of_a_gateway_without_an_id_stays_with_its_call() {
        let log = record("sdk", 0, 1_000, r#""call_id":"c","status":200,"request_id":"req_abcdefgh2""#)
            + &record("gateway", 10, 280, r#""call_id":"g","attempt":1,"status":503"#)
            + &record("gateway", 600, 390, r#""call_id":"g","attempt":2,"status":200,"request_id":"req_abcdefgh2""#);
        assert_eq!(calls(&log), [(vec![1, 2, 3], Grouping::Explicit, vec![])]);
    }

    #[test]
    fn a_gateway_log_without_call_ids_does_not_join_calls_of_the_client() {
        // Considered alone, the two similar requests of the gateway would be one call.
        let log = record("sdk", 0, 300, r#""call_id":"c","status":503,"decision":"fail","request_id":"req_abcdefgh1""#)
            + &record("sdk", 900, 300, r#""call_id":"d","status":200,"request_id":"req_abcdefgh2""#)
            + &record("gateway", 10, 280, r#""status":503,"request_id":"req_abcdefgh1""#)
            + &record("gateway", 910, 280, r#""status":200,"request_id":"req_abcdefgh2""#);
        let expected = [(vec![1], Grouping::Explicit, vec![3]), (vec![2], Grouping::Explicit, vec![4])];
        assert_eq!(calls(&log), expected);
    }

    #[test]
    fn contradicting_or_distant_records_are_not_views() {
        let sdk = record("sdk", 0, 300, r#""call_id":"c","status":200,"request_id":"req_abcdefgh1""#);
        for (what, gateway) in [
            ("another outcome", record("gateway", 10, 280, r#""status":503,"request_id":"req_abcdefgh1""#)),
            ("an hour later", record("gateway", 3_600_010, 280, r#""status":200,"request_id":"req_abcdefgh1""#)),
            ("the same layer", record("sdk", 10, 280, r#""call_id":"d","status":200,"request_id":"req_abcdefgh1""#)),
            ("another id", record("gateway", 10, 280, r#""status":200,"request_id":"req_abcdefgh9""#)),
        ] {
            assert_eq!(calls(&(sdk.clone() + &gateway)).len(), 2, "{what}");
        }
        let gateway = record("gateway", 10, 280, r#""status":200,"request_id":"req_abcdefgh1""#);
        assert_eq!(calls(&(sdk + &gateway)).len(), 1);
    }

    #[test]
    fn an_idempotency_key_and_a_number_identify_an_attempt_without_request_ids() {
        let key = r#""idempotency_key":"k-1""#;
        let log = record("sdk", 0, 300, &format!(r#""call_id":"c","attempt":1,"status":503,{key}"#))
            + &record("sdk", 900, 300, &format!(r#""call_id":"c","attempt":2,"status":200,{key}"#))
            + &record("gateway", 10, 280, &format!(r#""call_id":"g","attempt":1,"status":503,{key}"#))
            + &record("gateway", 910, 280, &format!(r#""call_id":"g","attempt":2,"status":200,{key}"#));
        assert_eq!(calls(&log), [(vec![1, 2], Grouping::Explicit, vec![3, 4])]);
    }
}
