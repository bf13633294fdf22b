//! Tail probabilities of the binomial distribution.

/// Relative size of a term below which the further terms of a tail are neglected.
const NEGLIGIBLE: f64 = 1e-12;

/// Returns the probability of `k`, or of a count further from the mean, in `n` draws that each succeed with probability
/// `share`.
pub(crate) fn tail(k: u64, n: u64, share: f64) -> f64 {
    let (trials, odds) = (n as f64, share / (1.0 - share));
    let upward = k as f64 > trials * share;
    let mut count = k as f64;
    let mut term =
        libm::exp(ln_choose(trials, count) + count * libm::log(share) + (trials - count) * libm::log1p(-share));
    let mut sum = term;
    loop {
        let factor =
            if upward { (trials - count) / (count + 1.0) * odds } else { count / (trials - count + 1.0) / odds };
        term *= factor;
        count += if upward { 1.0 } else { -1.0 };
        sum += term;
        // Terms decrease away from the mean, and are 0 beyond either end of the range.
        if term <= sum * NEGLIGIBLE {
            return sum;
        }
    }
}

fn ln_choose(n: f64, k: f64) -> f64 {
    libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
}
