//! Converts readings of rate-limit headers to the lines and marks of a headroom chart.

use super::ticks::TimeAxis;
use crate::model::{LimitKind, Time};
use crate::report::{Headroom, HeadroomPoint};
use std::collections::BTreeMap;

/// Remaining share of a limit below which the chart calls it binding.
pub(super) const LOW_SHARE: f64 = 0.1;

/// Number of columns of the drawing; points in the same column are merged, because they cannot be told apart.
const COLUMNS: f64 = 600.0;
/// A pause is not bridged by a solid line if it is more than this many times as long as the median pause.
const MAX_PAUSE_RATIO: i64 = 6;

/// One limit, as shares of it over time.
pub(super) struct LimitSeries {
    /// The kind of limit.
    pub(super) kind: LimitKind,
    /// Readings as (time, share left), split where a pause is long.
    pub(super) segments: Vec<Vec<(Time, f64)>>,
    /// The lowest reading.
    pub(super) low: Low,
    /// Time it first fell below [`LOW_SHARE`].
    pub(super) below: Option<Time>,
    /// Time it first was 0.
    pub(super) empty: Option<Time>,
    /// The share left at the end.
    pub(super) last: f64,
    /// Whether readings were left out as invalid.
    pub(super) dropped: bool,
}

/// The lowest reading of a limit.
#[derive(Clone, Copy)]
pub(super) struct Low {
    /// Remaining share of the limit, 0 to 1.
    pub(super) ratio: f64,
    /// Remaining requests or tokens.
    pub(super) left: i64,
    /// The limit at that time.
    pub(super) limit: i64,
    /// Start of the point that contains it.
    pub(super) at: Time,
}

impl LimitSeries {
    /// Converts the readings of a limit; `None` if none of them is usable.
    pub(super) fn of(limit: &Headroom, axis: TimeAxis) -> Option<LimitSeries> {
        let width = width_us(limit);
        let good: Vec<HeadroomPoint> = limit.points.iter().copied().filter(is_data).collect();
        let low = good.iter().map(low).min_by(|a, b| a.ratio.total_cmp(&b.ratio))?;
        let first = |matches: &dyn Fn(&Low) -> bool| good.iter().map(self::low).find(matches).map(|low| low.at);
        let segments = segments(&merge_columns(&good, axis), width);
        Some(LimitSeries {
            kind: limit.limit_kind,
            low,
            below: first(&|low| low.ratio < LOW_SHARE),
            empty: first(&|low| low.left == 0),
            last: segments.last().and_then(|segment| segment.last()).map_or(low.ratio, |(_, ratio)| *ratio),
            dropped: limit.bad_readings || good.len() < limit.points.len(),
            segments,
        })
    }
}

/// Width of one point in microseconds.
fn width_us(limit: &Headroom) -> i64 {
    // A cast of a float saturates and turns NaN into 0.
    ((limit.resolution_s * 1e6) as i64).max(0)
}

/// Returns whether a reading is valid: sentinel values are negative, a limit of 0 has no shares, and no more than the
/// limit can be left.
fn is_data(point: &HeadroomPoint) -> bool {
    point.limit > 0 && (0..=point.limit).contains(&point.min)
}

fn low(point: &HeadroomPoint) -> Low {
    Low { ratio: point.min as f64 / point.limit as f64, left: point.min, limit: point.limit, at: point.at }
}

/// Returns the remaining share at `reading`. It is at most 1, since the limit of the point may be lower than the limit at
/// the time of the reading.
fn share(reading: i64, point: &HeadroomPoint) -> Option<f64> {
    (reading >= 0).then(|| (reading as f64 / point.limit as f64).min(1.0))
}

/// Merges the points of each column, keeping its first, lowest and last reading.
fn merge_columns(points: &[HeadroomPoint], axis: TimeAxis) -> Vec<HeadroomPoint> {
    let mut out: Vec<HeadroomPoint> = Vec::new();
    let column = |at: Time| (axis.place(at) * COLUMNS) as u32;
    for point in points {
        match out.last_mut() {
            Some(current) if points.len() as f64 > COLUMNS && column(current.at) == column(point.at) => {
                if low(point).ratio < low(current).ratio {
                    current.min = point.min;
                    current.limit = point.limit;
                }
                current.last = point.last;
            }
            _ => out.push(*point),
        }
    }
    out
}

/// Joins points to lines. Within a point the line goes down to the lowest reading and then to the last, so that a refill
/// within it is visible.
fn segments(points: &[HeadroomPoint], width: i64) -> Vec<Vec<(Time, f64)>> {
    let pause = longest_pause(points, width);
    let mut out: Vec<Vec<(Time, f64)>> = Vec::new();
    let mut previous: Option<Time> = None;
    for point in points {
        let vertices = vertices(point, width);
        match out.last_mut() {
            Some(current) if previous.is_some_and(|at| point.at.us_since(at) <= pause) => current.extend(vertices),
            _ => out.push(vertices),
        }
        previous = Some(point.at);
    }
    out
}

fn vertices(point: &HeadroomPoint, width: i64) -> Vec<(Time, f64)> {
    let middle = point.at.plus_us(width / 2);
    if point.first == point.min && point.min == point.last {
        return share(point.min, point).map(|ratio| (middle, ratio)).into_iter().collect();
    }
    let readings = [(point.at, point.first), (middle, point.min), (point.at.plus_us(width), point.last)];
    readings.into_iter().filter_map(|(at, reading)| Some((at, share(reading, point)?))).collect()
}

/// Returns the longest pause between two points that a line bridges, in µs.
fn longest_pause(points: &[HeadroomPoint], width: i64) -> i64 {
    let mut pauses: Vec<i64> = points.windows(2).map(|pair| pair[1].at.us_since(pair[0].at)).collect();
    pauses.sort_unstable();
    let median = pauses.get(pauses.len() / 2).copied().unwrap_or(0);
    median.max(width).saturating_mul(MAX_PAUSE_RATIO)
}

/// Returns the time range that all limits of a scope cover together.
pub(super) fn window(limits: &[&Headroom]) -> TimeAxis {
    let points = || limits.iter().flat_map(|limit| limit.points.iter().map(|point| (point.at, width_us(limit))));
    let from = points().map(|(at, _)| at).min().unwrap_or(Time(0));
    let to = points().map(|(at, width)| at.plus_us(width)).max().unwrap_or(from);
    TimeAxis::new(from, to)
}

/// A period in which the server refused attempts.
pub(super) struct RefusalPeriod {
    pub(super) from: Time,
    pub(super) to: Time,
    /// Number of 429s and of overloads in it.
    pub(super) counts: [u64; 2],
}

/// Returns the periods with 429s or overloads in time order, and the total of each.
///
/// Each limit of a scope repeats the answers of the scope, so the maximum over the limits is taken, not the sum.
pub(super) fn refusals(limits: &[&Headroom], axis: TimeAxis) -> (Vec<RefusalPeriod>, [u64; 2]) {
    let mut totals = [0_u64; 2];
    let mut refusals: BTreeMap<Time, RefusalPeriod> = BTreeMap::new();
    for limit in limits {
        let mut counts_of_limit = [0_u64; 2];
        for point in limit.points.iter().filter(|point| point.rejected > 0 || point.overloaded > 0) {
            let counts = [point.rejected, point.overloaded];
            let period = refusals.entry(point.at).or_insert(RefusalPeriod { from: point.at, to: point.at, counts });
            period.to = period.to.max(point.at.plus_us(width_us(limit))).min(axis.to);
            period.counts = combine(period.counts, counts, u64::max);
            counts_of_limit = combine(counts_of_limit, counts, u64::saturating_add);
        }
        totals = combine(totals, counts_of_limit, u64::max);
    }
    (refusals.into_values().collect(), totals)
}

fn combine(a: [u64; 2], b: [u64; 2], join: fn(u64, u64) -> u64) -> [u64; 2] {
    [join(a[0], b[0]), join(a[1], b[1])]
}
