//! Calls that started at the same time and were refused because of it.

use super::burst::{Burst, BurstPrefixSums, LENGTH_US, Sum, begin_of, seconds, stretch};
use crate::model::Time;
use smallvec::SmallVec;
use std::ops::Range;

/// Buckets in a window of about one second.
const WINDOW: i64 = 16;
/// First attempts kept as examples of one train.
const EXAMPLES: usize = 8;

/// Thresholds for `Fanouts`.
#[derive(Clone, Copy, Debug)]
pub struct FanoutTerms {
    /// Minimum number of starts within a second.
    pub starts: u64,
    /// Minimum share of them refused by a rate limit or for lack of capacity.
    pub met_share: f64,
    /// Minimum ratio to the normal rate of starts.
    pub over_normal: f64,
    /// Minimum distance from the normal number of starts, in standard deviations: a long log has many seconds, so rare
    /// events occur.
    pub deviations: f64,
    /// How far on either side the normal rate is measured, in µs.
    pub usual_us: i64,
    /// How far on either side other calls are checked for the same trouble, in µs.
    pub near_us: i64,
}

impl FanoutTerms {
    /// Returns how far back starts must be known, in µs.
    pub(super) fn reach_us(&self) -> i64 {
        self.usual_us + self.near_us + 4 * WINDOW * LENGTH_US
    }

    fn side(&self) -> i64 {
        self.usual_us / LENGTH_US
    }

    fn near(&self) -> i64 {
        self.near_us / LENGTH_US
    }
}

/// Calls that started at the same time and were refused because of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fanout {
    /// Start of the window.
    pub at: Time,
    /// Calls that started within a second.
    pub starts: u64,
    /// Of `starts`, calls whose first attempt was refused by a rate limit or for lack of capacity.
    pub met: u64,
    /// Of `starts`, calls whose first attempt succeeded. The others failed in another way.
    pub passed: u64,
    /// Whether at least one was refused by a rate limit, which is the caller's own.
    pub rate_limited: bool,
    /// Whether the calls belong to many runs.
    pub many_runs: bool,
    /// Starts per second in the half minute before the window or after it, whichever is busier.
    pub normal_per_s: f64,
    /// Number of such trains on the scope.
    pub trains: u64,
    /// Some of the refused first attempts, in time order.
    pub examples: Vec<u32>,
}

/// Trains of one scope, found in time order. A train is a crowd, or several that overlap.
#[derive(Clone, Debug)]
pub(super) struct Fanouts {
    /// First bucket in which a call started.
    begin: Option<i64>,
    /// Bucket before which crowds are found.
    found: i64,
    /// Bucket before which crowds are judged.
    judged: i64,
    /// Crowds that are not judged yet, or close to such.
    crowds: Vec<Crowd>,
    /// The current train, represented by its worst crowd, and the bucket of its latest crowd.
    open: Option<(Crowd, i64)>,
    /// The worst of the finished trains, and their number.
    worst: Option<Crowd>,
    trains: u64,
}

impl Default for Fanouts {
    fn default() -> Self {
        Fanouts {
            begin: None,
            found: i64::MIN,
            judged: i64::MIN,
            crowds: Vec::new(),
            open: None,
            worst: None,
            trains: 0,
        }
    }
}

impl Fanouts {
    /// Judges what is final, given that nothing that started before `until` is still to come. The log ends at `end`, so
    /// nothing is known of starts after that.
    pub(super) fn settle(&mut self, sums: &BurstPrefixSums<'_>, until: Time, end: Time, terms: &FanoutTerms) {
        let until = stretch(until);
        let first = sums.list.first().map(|(key, _)| *key).filter(|key| *key < until);
        self.begin = self.begin.or(first);
        let found = until - WINDOW - terms.side();
        self.find(sums, found, stretch(end).saturating_add(1), terms);
        self.judge(sums, found - WINDOW - terms.near(), terms.near());
    }

    /// Returns the train in which the most calls were refused.
    pub(super) fn worst(&self) -> Option<Fanout> {
        let open = self.open.as_ref().map(|(crowd, _)| crowd);
        let worst = open.into_iter().chain(&self.worst).max_by_key(|crowd| crowd.rank())?;
        Some(Fanout {
            at: begin_of(worst.key),
            starts: u64::from(worst.sum.starts),
            met: u64::from(worst.sum.met),
            passed: u64::from(worst.sum.passed),
            rate_limited: worst.sum.limited(),
            many_runs: worst.sum.runs() * 2.0 >= f64::from(worst.sum.starts.min(32)),
            normal_per_s: worst.normal_per_s,
            trains: self.trains + u64::from(open.is_some()),
            examples: worst.examples.to_vec(),
        })
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let open = self.open.iter_mut().map(|(crowd, _)| crowd);
        let crowds = self.crowds.iter_mut().chain(open).chain(&mut self.worst);
        crowds.flat_map(|crowd| &mut crowd.examples).for_each(visit);
    }

    /// Finds the crowds before `until`.
    fn find(&mut self, sums: &BurstPrefixSums<'_>, until: i64, end: i64, terms: &FanoutTerms) {
        let Some(begin) = self.begin else { return };
        let mut past = 0;
        for place in sums.place(self.found)..sums.place(until.max(self.found)) {
            // Windows are processed in order, so the end of one is close to the end of the next.
            let close = |key: i64| key < sums.list[place].0 + WINDOW;
            past = past.max(place);
            past += sums.list[past..].iter().take_while(|(key, _)| close(*key)).count();
            self.crowds.extend(Crowd::at(sums, place..past, (begin, end), terms));
        }
        self.found = self.found.max(until);
    }

    /// Judges the crowds before `until`.
    fn judge(&mut self, sums: &BurstPrefixSums<'_>, until: i64, near: i64) {
        let crowded = crowded(&self.crowds);
        let due = |crowd: &&Crowd| crowd.key >= self.judged && crowd.key < until;
        let blamed = |crowd: &&Crowd| !crowd.shares_trouble(sums, &crowded, near);
        let blamed: Vec<Crowd> = self.crowds.iter().filter(due).filter(blamed).cloned().collect();
        blamed.into_iter().for_each(|crowd| self.blame(crowd));
        self.judged = self.judged.max(until);
        self.crowds.retain(|crowd| crowd.key >= until - near - WINDOW);
    }

    /// Records a crowd as the cause of its refusals. Of overlapping windows, the one with the most refusals represents
    /// all.
    fn blame(&mut self, crowd: Crowd) {
        let key = crowd.key;
        match self.open.take() {
            Some((best, last)) if key - WINDOW < last => {
                let better = (crowd.sum.met, crowd.sum.starts) > (best.sum.met, best.sum.starts);
                self.open = Some((if better { crowd } else { best }, key));
            }
            over => {
                if let Some((over, _)) = over {
                    self.trains += 1;
                    self.worst = [self.worst.take(), Some(over)].into_iter().flatten().max_by_key(Crowd::rank);
                }
                self.open = Some((crowd, key));
            }
        }
    }
}

/// A second in which more calls started than usual.
#[derive(Clone, Debug)]
struct Crowd {
    key: i64,
    sum: Burst,
    normal_per_s: f64,
    examples: SmallVec<[u32; EXAMPLES]>,
}

impl Crowd {
    /// Returns the window over a range of indices, if it has enough starts, enough of them were refused, and it stands
    /// out from the half minute on either side. If the log ends earlier, only the part it covers counts.
    fn at(
        sums: &BurstPrefixSums<'_>,
        places: Range<usize>,
        (begin, end): (i64, i64),
        terms: &FanoutTerms,
    ) -> Option<Crowd> {
        let inside = sums.sum_of(places.clone());
        let starts = f64::from(inside.starts);
        if u64::from(inside.starts) < terms.starts.max(1) || f64::from(inside.met) < terms.met_share * starts {
            return None;
        }
        let (span, key) = (&sums.list[places.clone()], sums.list[places.start].0);
        let normal_per_s = normal_per_s(sums, key, (begin, end), terms.side());
        let usual = normal_per_s * seconds(WINDOW);
        let stands_out = starts >= terms.over_normal * usual && starts >= usual + terms.deviations * usual.sqrt();
        stands_out.then(|| {
            let mut sum = Burst::default();
            span.iter().for_each(|(_, burst)| sum.add(burst));
            let examples = span.iter().filter_map(|(_, burst)| burst.example).take(EXAMPLES).collect();
            Crowd { key, sum, normal_per_s, examples }
        })
    }

    /// Sort key of severity; the largest is the worst.
    fn rank(&self) -> impl Ord + use<> {
        (self.sum.met, self.sum.starts, -self.key)
    }

    /// Returns whether calls that started alone, shortly before or after, did about as badly: then the cause is
    /// something else than the crowd.
    fn shares_trouble(&self, sums: &BurstPrefixSums<'_>, crowded: &[(i64, i64)], near: i64) -> bool {
        let around = outside(sums, crowded, self.key - near, self.key + WINDOW + near);
        if u64::from(around.starts) < (u64::from(self.sum.starts) / 4).max(5) {
            return false;
        }
        let (met, starts) = (f64::from(self.sum.met), f64::from(self.sum.starts));
        let share = f64::from(around.met) / f64::from(around.starts);
        let expected = starts * share;
        // The crowd must do twice as badly as other calls, and worse than chance would explain.
        met < 2.0 * expected || met < expected + 3.0 * (expected * (1.0 - share)).sqrt()
    }
}

/// Returns the starts per second around the window at `key`, in the busier of the half minutes before and after it.
/// After refusals it may be unusually quiet, because calls that wait start no others.
fn normal_per_s(sums: &BurstPrefixSums<'_>, key: i64, (begin, end): (i64, i64), side: i64) -> f64 {
    // Half a second of log is too short to measure a normal rate.
    let rate = |from: i64, to: i64| f64::from(sums.sum(from, to).starts) / seconds((to - from).max(0)).max(1.0);
    let past = key + WINDOW;
    rate((key - side).max(begin), key).max(rate(past, (past + side).min(end)))
}

/// Returns the ranges of buckets covered by crowds.
fn crowded(crowds: &[Crowd]) -> Vec<(i64, i64)> {
    let mut list: Vec<(i64, i64)> = Vec::new();
    for crowd in crowds {
        match list.last_mut() {
            Some((_, end)) if crowd.key <= *end => *end = crowd.key + WINDOW,
            _ => list.push((crowd.key, crowd.key + WINDOW)),
        }
    }
    list
}

/// Returns the starts in the buckets `from..to` outside of crowds.
fn outside(sums: &BurstPrefixSums<'_>, crowded: &[(i64, i64)], from: i64, to: i64) -> Sum {
    let mut sum = sums.sum(from, to);
    let first = crowded.partition_point(|(_, end)| *end <= from);
    for (begin, end) in crowded[first..].iter().take_while(|(begin, _)| *begin < to) {
        let inside = sums.sum(from.max(*begin), to.min(*end));
        sum.starts -= inside.starts;
        sum.met -= inside.met;
    }
    sum
}
