//! The value of `--follow`.

use std::time::Duration;

/// Shortest and longest interval, in seconds.
const INTERVAL_S: std::ops::RangeInclusive<f64> = 0.1..=3600.0;

/// Parses the polling interval for growing logs, in seconds.
pub(super) fn interval(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse().ok();
    let seconds = seconds.filter(|seconds| INTERVAL_S.contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "give seconds between 0.1 and 3600, such as 2 or 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_within_bounds_are_an_interval() {
        assert_eq!(interval("2"), Ok(Duration::from_secs(2)));
        assert_eq!(interval("0.5s"), Ok(Duration::from_millis(500)));
        for text in ["", "0", "-1", "nan", "inf", "3601", "2m", "soon"] {
            assert!(interval(text).is_err_and(|expected| expected.contains("0.1 and 3600")), "{text}");
        }
    }
}
