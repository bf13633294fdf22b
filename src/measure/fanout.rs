//! Bursts: calls that started at the same time and were refused because of that.

use super::starts::{BUCKET_US, StartCount, StartPrefixSums, Sum, bucket_of, bucket_start, seconds};
use crate::model::Time;
use smallvec::SmallVec;
use std::ops::Range;

/// Buckets in a window of about one second.
const WINDOW_BUCKETS: i64 = 16;
/// First attempts kept as examples of one burst.
const EXAMPLES: usize = 8;

/// Thresholds for `Fanouts`.
#[derive(Clone, Copy, Debug)]
pub struct FanoutTerms {
    /// Minimum number of starts within a second.
    pub starts: u64,
    /// Minimum share of the starts that were refused by a rate limit or for lack of capacity.
    pub refused_share: f64,
    /// Minimum ratio to the baseline, the usual rate of starts.
    pub over_baseline: f64,
    /// Minimum distance from the baseline in standard deviations. It is large because a long log has many seconds,
    /// among which rare events occur by chance.
    pub deviations: f64,
    /// How far on either side the baseline is measured, in µs.
    pub baseline_us: i64,
    /// How far on either side other calls are compared, in µs, to see whether they were refused as often.
    pub near_us: i64,
}

impl FanoutTerms {
    /// Returns how far back starts must be known, in µs.
    pub(super) fn reach_us(&self) -> i64 {
        self.baseline_us + self.near_us + 4 * WINDOW_BUCKETS * BUCKET_US
    }

    fn baseline_buckets(&self) -> i64 {
        self.baseline_us / BUCKET_US
    }

    fn neighbour_buckets(&self) -> i64 {
        self.near_us / BUCKET_US
    }
}

/// Bursts: calls that started at the same time and were refused because of that.
#[derive(Clone, Debug, PartialEq)]
pub struct Fanout {
    /// Start of the window.
    pub at: Time,
    /// Calls that started within a second.
    pub starts: u64,
    /// Of `starts`, calls whose first attempt was refused by a rate limit or for lack of capacity.
    pub refused: u64,
    /// Of `starts`, calls whose first attempt succeeded. The others failed in another way.
    pub succeeded: u64,
    /// Whether at least one was refused by a rate limit, which is the caller's own.
    pub rate_limited: bool,
    /// Whether the calls belong to many runs.
    pub many_runs: bool,
    /// Baseline: starts per second in the half minute before the window or after it, whichever is busier.
    pub baseline_per_s: f64,
    /// Number of such bursts on the scope.
    pub bursts: u64,
    /// Some of the refused first attempts, in time order.
    pub examples: Vec<u32>,
}

/// Bursts of one scope, found in time order. A burst is a busy second, or several that overlap.
#[derive(Clone, Debug)]
pub(super) struct Fanouts {
    /// First bucket in which a call started.
    begin: Option<i64>,
    /// Bucket before which busy seconds are found.
    found: i64,
    /// Bucket before which busy seconds are judged.
    judged: i64,
    /// Busy seconds that are not judged yet, or close to such.
    busy_seconds: Vec<BusySecond>,
    /// The current burst, represented by its worst busy second, and the bucket of its latest one.
    open: Option<(BusySecond, i64)>,
    /// The worst of the finished bursts, and their number.
    worst: Option<BusySecond>,
    bursts: u64,
}

impl Default for Fanouts {
    fn default() -> Self {
        Fanouts {
            begin: None,
            found: i64::MIN,
            judged: i64::MIN,
            busy_seconds: Vec::new(),
            open: None,
            worst: None,
            bursts: 0,
        }
    }
}

impl Fanouts {
    /// Judges what is final, given that all calls that started before `until` have been added. The log ends at `end`,
    /// so later starts are unknown.
    pub(super) fn settle(&mut self, sums: &StartPrefixSums<'_>, until: Time, end: Time, terms: &FanoutTerms) {
        let until = bucket_of(until);
        let first = sums.list.first().map(|(key, _)| *key).filter(|key| *key < until);
        self.begin = self.begin.or(first);
        let found = until - WINDOW_BUCKETS - terms.baseline_buckets();
        self.find(sums, found, bucket_of(end).saturating_add(1), terms);
        self.judge(sums, found - WINDOW_BUCKETS - terms.neighbour_buckets(), terms.neighbour_buckets());
    }

    /// Returns the burst in which the most calls were refused.
    pub(super) fn worst(&self) -> Option<Fanout> {
        let open = self.open.as_ref().map(|(second, _)| second);
        let worst = open.into_iter().chain(&self.worst).max_by_key(|second| second.rank())?;
        Some(Fanout {
            at: bucket_start(worst.key),
            starts: u64::from(worst.sum.starts),
            refused: u64::from(worst.sum.refused),
            succeeded: u64::from(worst.sum.succeeded),
            rate_limited: worst.sum.was_rate_limited(),
            many_runs: worst.sum.runs() * 2.0 >= f64::from(worst.sum.starts.min(32)),
            baseline_per_s: worst.baseline_per_s,
            bursts: self.bursts + u64::from(open.is_some()),
            examples: worst.examples.to_vec(),
        })
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let open = self.open.iter_mut().map(|(second, _)| second);
        let busy_seconds = self.busy_seconds.iter_mut().chain(open).chain(&mut self.worst);
        busy_seconds.flat_map(|second| &mut second.examples).for_each(visit);
    }

    /// Finds the busy seconds before `until`.
    fn find(&mut self, sums: &StartPrefixSums<'_>, until: i64, end: i64, terms: &FanoutTerms) {
        let Some(begin) = self.begin else { return };
        let mut end_index = 0;
        for index in sums.index_of(self.found)..sums.index_of(until.max(self.found)) {
            // Windows are processed in order, so the search for the end of one starts at the end of the previous one.
            let close = |key: i64| key < sums.list[index].0 + WINDOW_BUCKETS;
            end_index = end_index.max(index);
            end_index += sums.list[end_index..].iter().take_while(|(key, _)| close(*key)).count();
            self.busy_seconds.extend(BusySecond::at(sums, index..end_index, (begin, end), terms));
        }
        self.found = self.found.max(until);
    }

    /// Judges the busy seconds before `until`.
    fn judge(&mut self, sums: &StartPrefixSums<'_>, until: i64, neighbour_buckets: i64) {
        let busy_ranges = busy_ranges(&self.busy_seconds);
        let is_due = |second: &&BusySecond| second.key >= self.judged && second.key < until;
        let attributed = |second: &&BusySecond| !second.others_fared_alike(sums, &busy_ranges, neighbour_buckets);
        let attributed: Vec<BusySecond> = self.busy_seconds.iter().filter(is_due).filter(attributed).cloned().collect();
        attributed.into_iter().for_each(|second| self.attribute(second));
        self.judged = self.judged.max(until);
        self.busy_seconds.retain(|second| second.key >= until - neighbour_buckets - WINDOW_BUCKETS);
    }

    /// Records a busy second as the cause of its refusals. Of overlapping ones, the one with the most refusals
    /// represents all.
    fn attribute(&mut self, second: BusySecond) {
        let key = second.key;
        match self.open.take() {
            Some((best, last)) if key - WINDOW_BUCKETS < last => {
                let better = (second.sum.refused, second.sum.starts) > (best.sum.refused, best.sum.starts);
                self.open = Some((if better { second } else { best }, key));
            }
            finished => {
                if let Some((finished, _)) = finished {
                    self.bursts += 1;
                    self.worst = [self.worst.take(), Some(finished)].into_iter().flatten().max_by_key(BusySecond::rank);
                }
                self.open = Some((second, key));
            }
        }
    }
}

/// A second in which more calls started than usual.
#[derive(Clone, Debug)]
struct BusySecond {
    key: i64,
    sum: StartCount,
    baseline_per_s: f64,
    examples: SmallVec<[u32; EXAMPLES]>,
}

impl BusySecond {
    /// Returns the window over a range of indices, if it has enough starts, enough of them were refused, and it stands
    /// out from the half minute on either side. If the log ends earlier, only the part it covers counts.
    fn at(
        sums: &StartPrefixSums<'_>,
        range: Range<usize>,
        (begin, end): (i64, i64),
        terms: &FanoutTerms,
    ) -> Option<BusySecond> {
        let inside = sums.sum_of(range.clone());
        let starts = f64::from(inside.starts);
        if u64::from(inside.starts) < terms.starts.max(1) || f64::from(inside.refused) < terms.refused_share * starts {
            return None;
        }
        let (span, key) = (&sums.list[range.clone()], sums.list[range.start].0);
        let baseline_per_s = baseline_per_s(sums, key, (begin, end), terms.baseline_buckets());
        let baseline = baseline_per_s * seconds(WINDOW_BUCKETS);
        let stands_out =
            starts >= terms.over_baseline * baseline && starts >= baseline + terms.deviations * baseline.sqrt();
        stands_out.then(|| {
            let mut sum = StartCount::default();
            span.iter().for_each(|(_, burst)| sum.add(burst));
            let examples = span.iter().filter_map(|(_, burst)| burst.example).take(EXAMPLES).collect();
            BusySecond { key, sum, baseline_per_s, examples }
        })
    }

    /// Sort key of severity; the largest is the worst.
    fn rank(&self) -> impl Ord + use<> {
        (self.sum.refused, self.sum.starts, -self.key)
    }

    /// Returns whether calls that started shortly before or after were refused about as often. Then the cause is not
    /// that many calls started at once.
    fn others_fared_alike(
        &self,
        sums: &StartPrefixSums<'_>,
        busy_ranges: &[(i64, i64)],
        neighbour_buckets: i64,
    ) -> bool {
        let neighbours =
            outside(sums, busy_ranges, self.key - neighbour_buckets, self.key + WINDOW_BUCKETS + neighbour_buckets);
        if u64::from(neighbours.starts) < (u64::from(self.sum.starts) / 4).max(5) {
            return false;
        }
        let (refused, starts) = (f64::from(self.sum.refused), f64::from(self.sum.starts));
        let share = f64::from(neighbours.refused) / f64::from(neighbours.starts);
        let expected = starts * share;
        // The busy second must have twice the share of refusals of the other calls, and three standard deviations more
        // than expected.
        refused < 2.0 * expected || refused < expected + 3.0 * (expected * (1.0 - share)).sqrt()
    }
}

/// Returns the starts per second around the window at `key`, in the busier of the half minutes before and after it.
/// After refusals, starts may be unusually few, because callers that wait start no other calls.
fn baseline_per_s(sums: &StartPrefixSums<'_>, key: i64, (begin, end): (i64, i64), baseline_buckets: i64) -> f64 {
    // A shorter period than a second is too short for a rate, so it counts as a second.
    let rate = |from: i64, to: i64| f64::from(sums.sum(from, to).starts) / seconds((to - from).max(0)).max(1.0);
    let end_index = key + WINDOW_BUCKETS;
    rate((key - baseline_buckets).max(begin), key).max(rate(end_index, (end_index + baseline_buckets).min(end)))
}

/// Returns the ranges of buckets covered by busy seconds.
fn busy_ranges(busy_seconds: &[BusySecond]) -> Vec<(i64, i64)> {
    let mut list: Vec<(i64, i64)> = Vec::new();
    for second in busy_seconds {
        match list.last_mut() {
            Some((_, end)) if second.key <= *end => *end = second.key + WINDOW_BUCKETS,
            _ => list.push((second.key, second.key + WINDOW_BUCKETS)),
        }
    }
    list
}

/// Returns the starts in the buckets `from..to` outside of busy seconds.
fn outside(sums: &StartPrefixSums<'_>, busy_ranges: &[(i64, i64)], from: i64, to: i64) -> Sum {
    let mut sum = sums.sum(from, to);
    let first = busy_ranges.partition_point(|(_, end)| *end <= from);
    for (begin, end) in busy_ranges[first..].iter().take_while(|(begin, _)| *begin < to) {
        let inside = sums.sum(from.max(*begin), to.min(*end));
        sum.starts -= inside.starts;
        sum.refused -= inside.refused;
    }
    sum
}
