//! The arithmetic of retries: closed formulas.

/// Maximum number of terms summed; further ones are too small for a float.
const MAX_TERMS: u32 = 100_000;

/// Returns the probability that one of `tries` independent tries succeeds, each with probability `q`: 1 - (1-q)^k.
#[must_use]
pub fn success_within(tries: u32, q: f64) -> f64 {
    1.0 - (1.0 - q).powi(i32::try_from(tries).unwrap_or(i32::MAX))
}

/// Returns the expected attempts of a call with at most `retries` retries, each attempt independent and successful with
/// probability `q`: the sum of (1-q)^i for i from 0 to the number of retries.
#[must_use]
pub fn expected_attempts(retries: u32, q: f64) -> f64 {
    let terms = (0..retries.min(MAX_TERMS)).scan(1.0, |reached: &mut f64, _| {
        *reached *= 1.0 - q;
        Some(*reached)
    });
    1.0 + terms.sum::<f64>()
}

/// Returns the concurrent requests by Little's law: arrivals per second times seconds in the system.
#[must_use]
pub fn concurrency(arrivals_per_s: f64, in_system_s: f64) -> f64 {
    arrivals_per_s * in_system_s
}

/// Returns the maximum number of attempts of a call through layers with these attempts each: (1+3) x (1+2) = 12.
#[must_use]
pub fn attempts_of_nested_layers(attempts: &[u32]) -> u64 {
    attempts.iter().fold(1, |product, layer| product.saturating_mul(u64::from(*layer)))
}

/// Returns the maximum number of attempts of a call through equal layers: (r+1)^d.
#[must_use]
pub fn attempts_of_equal_layers(retries: u32, layers: u32) -> u64 {
    (u64::from(retries) + 1).saturating_pow(layers)
}

/// Returns the deadline of an attempt that writes `max_tokens` tokens, in seconds: the first token, the others, and a
/// margin.
#[must_use]
pub fn deadline_s(max_tokens: u64, first_token_s: f64, tokens_per_s: f64, margin_s: f64) -> f64 {
    first_token_s + max_tokens as f64 / tokens_per_s + margin_s
}

/// Returns tokens per minute, given requests per second, attempts per request and tokens per attempt.
#[must_use]
pub fn tokens_per_min(requests_per_s: f64, attempts: f64, tokens: f64) -> f64 {
    requests_per_s * attempts * tokens * 60.0
}

/// Returns the interval between two starts of a fan-out that starts `admitted_per_s` calls per second, in seconds.
#[must_use]
pub fn stagger_s(admitted_per_s: f64) -> f64 {
    1.0 / admitted_per_s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_follows_from_the_success_of_one_try() {
        assert_eq!(success_within(3, 0.5), 0.875);
        assert_eq!(expected_attempts(3, 0.5), 1.875);
        assert_eq!((success_within(9, 0.0), expected_attempts(9, 0.0)), (0.0, 10.0));
        assert_eq!((success_within(1, 1.0), expected_attempts(9, 1.0)), (1.0, 1.0));
        assert!((expected_attempts(u32::MAX, 0.25) - 4.0).abs() < 1e-9);
    }

    #[test]
    fn layers_multiply() {
        assert_eq!(attempts_of_nested_layers(&[4, 3]), 12);
        assert_eq!((attempts_of_equal_layers(2, 3), attempts_of_equal_layers(9, 40)), (27, u64::MAX));
    }

    #[test]
    fn load_and_deadlines() {
        assert_eq!(concurrency(50.0, 8.0), 400.0);
        assert_eq!(tokens_per_min(50.0, 4.0, 8_000.0), 96e6);
        assert_eq!(deadline_s(4_000, 5.0, 50.0, 10.0), 95.0);
        assert_eq!(deadline_s(200, 5.0, 50.0, 5.0), 14.0);
        assert_eq!(stagger_s(4.0), 0.25);
    }
}
