//! Time range covered by a log, without the few attempts whose clock was off by months or years.

use super::fleet::Fleet;
use super::flow::Flow;
use crate::model::{Time, TimeSeries};

/// Minimum gap between attempts and all others for their clock to be suspected of being wrong, in µs: half a year.
const MIN_GAP_US: i64 = 182 * DAY_US;
const DAY_US: i64 = 86_400_000_000;
/// Maximum number of attempts that count as outliers: this many, or one in `OUTLIERS_ONE_IN` of all if that is more.
const MAX_OUTLIERS: u64 = 3;
const OUTLIERS_ONE_IN: u64 = 1_000;
/// The largest cluster must have this many times as many attempts as an outlier.
const MIN_SIZE_RATIO: u64 = 10;

/// Time range covered by a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// Send time of the first attempt.
    pub first: Time,
    /// Latest time in the log.
    pub last: Time,
    /// Number of outliers: attempts whose time lies far from all others.
    pub outside: u64,
    /// Send times of the first and the last outlier.
    pub outliers: Option<(Time, Time)>,
}

impl Covered {
    /// Returns whether a period of `width_us` µs that starts at `at` overlaps the range.
    #[must_use]
    pub fn overlaps(&self, at: Time, width_us: i64) -> bool {
        at.plus_us(width_us) > self.first && at <= self.last
    }
}

/// Attempts with no gap of half a year between them.
struct Cluster {
    first: Time,
    last: Time,
    attempts: u64,
}

impl Fleet<'_> {
    /// Returns the time range that the log covers; `None` if no attempt has a date.
    #[must_use]
    pub fn covered(&self) -> Option<Covered> {
        let timed = || self.runs.values().filter(|run| !run.is_undated);
        let first = timed().map(|run| run.first).min()?;
        let last = timed().map(|run| run.last).max()?;
        let all = Covered { first, last, outside: 0, outliers: None };
        if last.us_since(first) < MIN_GAP_US {
            return Some(all);
        }
        let flows = || self.scopes.values().map(|tally| &tally.flow);
        let width = flows().map(TimeSeries::width_us).fold(DAY_US, i64::max);
        let mut daily: TimeSeries<Flow> = TimeSeries::default();
        flows().flat_map(|flow| flow.no_finer_than(width).1).for_each(|(at, flow)| daily.add(at, flow));
        Some(without_outliers(all, &clusters(daily)))
    }
}

fn clusters(daily: TimeSeries<Flow>) -> Vec<Cluster> {
    let mut list: Vec<Cluster> = Vec::new();
    for (_, day) in daily.sorted().1 {
        let Some((first, last)) = day.first.map(|row_ref| row_ref.sent).zip(day.last) else { continue };
        let attempts = day.sends;
        match list.last_mut() {
            Some(before) if first.us_since(before.last) < MIN_GAP_US => {
                before.last = before.last.max(last);
                before.attempts += attempts;
            }
            _ => list.push(Cluster { first, last, attempts }),
        }
    }
    list
}

fn without_outliers(all: Covered, clusters: &[Cluster]) -> Covered {
    let attempts: u64 = clusters.iter().map(|cluster| cluster.attempts).sum();
    let most = clusters.iter().map(|cluster| cluster.attempts).max().unwrap_or(0);
    let is_outlier = |cluster: &Cluster| {
        cluster.attempts <= MAX_OUTLIERS.max(attempts / OUTLIERS_ONE_IN) && cluster.attempts * MIN_SIZE_RATIO <= most
    };
    let (outliers, kept): (Vec<&Cluster>, Vec<&Cluster>) = clusters.iter().partition(|cluster| is_outlier(cluster));
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else { return all };
    let Some((begin, end)) = outliers.first().zip(outliers.last()) else { return all };
    // If the last cluster is kept, the time of the last response is known.
    let keeps_last = clusters.last().is_some_and(|cluster| cluster.last == last.last);
    Covered {
        first: first.first,
        last: if keeps_last { all.last } else { last.last },
        outside: outliers.iter().map(|cluster| cluster.attempts).sum(),
        outliers: Some((begin.first, end.last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read_str;
    use crate::judge::{Options, judge};

    const DAY_MS: u64 = 86_400_000;

    /// Returns the range covered by calls on these days after 2026-03-10.
    fn covered(days: &[u64]) -> Covered {
        let line = |(n, day): (usize, &u64)| {
            let at = 1_773_133_200_000 + day * DAY_MS + n as u64 * 1_000;
            format!(r#"{{"ts":{at},"call_id":"c{n}","model":"m","status":200,"duration_ms":400}}"#)
        };
        let mut lines: Vec<String> = days.iter().enumerate().map(line).collect();
        let table = read_str(&lines.join("\n"));
        let known = judge(&table, &Options::default()).fleet.covered();
        lines.reverse();
        let reversed = read_str(&lines.join("\n"));
        assert_eq!(judge(&reversed, &Options::default()).fleet.covered(), known, "the order of lines matters");
        known.unwrap_or(Covered { first: Time(0), last: Time(0), outside: u64::MAX, outliers: None })
    }

    #[test]
    fn a_clock_wrong_by_years_is_excluded_and_reported() {
        let mut days = vec![1; 40];
        days.push(9_000);
        let covered_range = covered(&days);
        assert_eq!(covered_range.outside, 1);
        assert!(covered_range.last.us_since(covered_range.first) < DAY_US, "{covered_range:?}");
        assert_eq!(
            covered_range.outliers.map(|(first, last)| (first.us_since(covered_range.first) / DAY_US, last == first)),
            Some((8_999, true))
        );
    }

    #[test]
    fn clusters_that_are_no_outliers_are_covered() {
        // Two nights half a year apart, consecutive days, and a log too short to show whose clock is wrong.
        let mut nights = vec![0; 20];
        nights.extend([200; 10]);
        for days in [nights, (0..30).collect(), vec![0, 0, 0, 0, 400]] {
            let covered_range = covered(&days);
            assert_eq!((covered_range.outside, covered_range.outliers), (0, None), "{days:?}");
            let days_apart = days.last().zip(days.first()).map_or(0, |(last, first)| last - first) as i64;
            assert_eq!(covered_range.last.us_since(covered_range.first) / DAY_US, days_apart, "{days:?}");
        }
    }
}
