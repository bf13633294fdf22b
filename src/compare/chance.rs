//! Statistical tests: whether two counts differ beyond chance, and how values scatter.

use super::Rate;
use crate::measure::chance::tail;
use std::cmp::Ordering;

/// Scales the median absolute deviation to the standard deviation of a normal distribution: 1 / Φ⁻¹(3/4).
const MAD_TO_SIGMA: f64 = 1.4826;
/// Larger sums of counts are scaled down to this, which bounds the running time; a difference remains visible at this
/// size.
const MAX_COUNT: u64 = 1_000_000_000;
/// Smallest share of one side in both; a manipulated report may contain any numbers.
const MIN_SHARE: f64 = 1e-12;

/// Returns the two-sided probability of a difference as large as that of `a` and `b` if both have the same rate.
///
/// The exact conditional test of two Poisson rates (Przyborowski and Wilenski 1940): given the sum of both counts, one
/// of them is binomial. It is valid for small counts, and twice the traffic at the same rate is no difference.
pub(super) fn p_value(a: Rate, b: Rate) -> f64 {
    let all = a.part.saturating_add(b.part);
    if all == 0 || a.of == 0 || b.of == 0 {
        return 1.0;
    }
    let share = (b.of as f64 / (a.of as f64 + b.of as f64)).clamp(MIN_SHARE, 1.0 - MIN_SHARE);
    let scale = all.div_ceil(MAX_COUNT);
    let tail = tail((b.part / scale).min(all / scale), all / scale, share);
    rounded((2.0 * tail).min(1.0))
}

/// Rounds to six decimals, so that the output does not depend on the last bit of a logarithm.
fn rounded(p: f64) -> f64 {
    (p * 1e6).round() / 1e6
}

/// Returns the median of `values` and their scatter as a standard deviation, estimated from the median absolute
/// deviation; a single outlier affects neither much. `None` without values.
pub(super) fn median_and_deviation(values: &[f64]) -> Option<(f64, f64)> {
    let middle = median(values)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    Some((middle, median(&distances)? * MAD_TO_SIGMA))
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(*sorted.get(sorted.len() / 2 - 1)?, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(a: (u64, u64), b: (u64, u64)) -> f64 {
        p_value(Rate::new(a.0, a.1), Rate::new(b.0, b.1))
    }

    #[test]
    fn equal_rates_are_no_difference_whatever_the_traffic() {
        for (a, b) in [((0, 9), (0, 1)), ((5, 100), (5, 100)), ((5, 100), (10, 200)), ((1, 1000), (100, 100_000))] {
            assert!(p(a, b) > 0.9, "{a:?} {b:?}: {}", p(a, b));
        }
    }

    /// Computed by hand: 2 · P(X ≥ 9), for X heads of 10 tosses of a coin, is 22/1024, and so on.
    #[test]
    fn probabilities_are_those_of_the_binomial() {
        for (a, b, expected) in [
            ((1, 50), (9, 50), 22.0 / 1024.0),
            ((9, 50), (1, 50), 22.0 / 1024.0),
            ((0, 7), (5, 7), 2.0 / 32.0),
            ((0, 30), (2, 10), 2.0 / 16.0),
        ] {
            assert!((p(a, b) - expected).abs() < 1e-6, "{a:?} {b:?}: {} for {expected}", p(a, b));
        }
    }

    #[test]
    fn large_counts_end_and_agree_with_the_normal_curve() {
        // 3.09 standard deviations on one side: 0.001.
        let n = 2_000_000_u64;
        let off = (3.09 * (n as f64 / 4.0).sqrt()) as u64;
        let found = p((n / 2 - off, 1_000_000), (n / 2 + off, 1_000_000));
        assert!((found - 0.002).abs() < 2e-4, "{found}");
        assert!(p((0, u64::MAX), (u64::MAX, u64::MAX)) < 1e-6);
        assert!(p((u64::MAX, 1), (u64::MAX, u64::MAX)) <= 1.0);
    }

    #[test]
    fn one_wild_value_moves_neither_middle_nor_scatter() {
        assert_eq!(median_and_deviation(&[]), None);
        assert_eq!(median_and_deviation(&[3.0]), Some((3.0, 0.0)));
        assert_eq!(median_and_deviation(&[1.0, 3.0]).map(|(middle, _)| middle), Some(2.0));
        let (middle, scatter) = median_and_deviation(&[1.0, 2.0, 3.0, 4.0, 1e9]).unwrap_or_default();
        assert_eq!((middle, scatter), (3.0, MAD_TO_SIGMA));
    }
}
