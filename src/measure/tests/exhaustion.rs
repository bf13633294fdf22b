//! Tests with limits that are used up minute by minute.

use super::super::{ExhaustionTerms, exhaustions};
use super::summary;
use crate::ingest::read_str;
use crate::model::{AttemptTable, LimitKind};

/// Creates a log with a limit of 50 a minute. In each minute, a request every `step` seconds takes `step` of the limit,
/// if `is_sent` accepts the second and the amount left; then the limit resets.
fn minutes(count: u64, step: u8, is_sent: impl Fn(u64, i64) -> bool) -> AttemptTable {
    let mut lines = Vec::new();
    for minute in 0..count {
        let mut left = 50;
        for second in (0..60).step_by(step.into()) {
            if !is_sent(second, left) {
                continue;
            }
            let status = if left > 0 { 200 } else { 429 };
            left = (left - i64::from(step)).max(0);
            let ts = 1_773_133_200 + minute * 60 + second;
            lines.push(format!(
                r#"{{"ts":{ts},"call_id":"{minute}-{second}","status":{status},"x-ratelimit-limit-requests":50,"x-ratelimit-remaining-requests":{left}}}"#
            ));
        }
    }
    read_str(&lines.join("\n"))
}

/// Returns the number of exhaustions of the only limit, and of those that were followed by 429s.
fn exhausted(table: &AttemptTable) -> (usize, usize) {
    let terms = ExhaustionTerms {
        under: 0.1,
        rate_kept: 0.5,
        follow_us: 60_000_000,
        readings: 5,
        stale_us: 15_000_000,
        look_us: 60_000_000,
    };
    let fleet = summary(table, |_| true);
    let (_, scope) = fleet.sorted_scopes()[0];
    let traffic = scope.traffic();
    let Some((_, _, readings)) = table.headroom.iter().next() else { return (0, 0) };
    let found = exhaustions(LimitKind::Requests, &readings.series.clone().sorted(), &traffic, &terms);
    (found.len(), found.iter().filter(|exhaustion| exhaustion.hit).count())
}

#[test]
fn a_client_that_slows_down_in_time_is_not_reported_whatever_the_length_of_the_log() {
    for (count, step) in [(5, 1), (3_000, 2)] {
        let slows = |second: u64, left: i64| left >= 5 || (second.is_multiple_of(10) && left > 1);
        assert_eq!(exhausted(&minutes(count, step, slows)), (0, 0), "{count} minutes");
    }
}

#[test]
fn a_client_that_does_not_slow_down_is_found_in_short_and_long_logs() {
    let (found, hit) = exhausted(&minutes(5, 1, |_, _| true));
    assert_eq!((found, hit), (5, 5));
    let (found, hit) = exhausted(&minutes(3_000, 2, |_, _| true));
    assert!(found > 0 && hit > 0, "{found} {hit}");
}

#[test]
fn a_limit_nearly_used_up_without_a_429_is_found_if_the_buckets_are_narrow() {
    assert_eq!(exhausted(&minutes(5, 1, |second, _| second < 48)), (5, 0));
}
