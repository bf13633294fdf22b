//! Rules of a scenario, which match requests by model, path, time, probability and capacity.

use super::buckets::Limits;
use super::player::Player;
use super::step::{Script, Step};
use glob::Pattern;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Properties of a request that rules match.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestInfo<'r> {
    pub(crate) model: Option<&'r str>,
    pub(crate) path: &'r str,
    /// Hash of its body.
    pub(crate) body: &'r str,
    /// Time since the stub started.
    pub(crate) since_start: Duration,
}

/// A list of rules, of which the first that matches a request applies.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) limits: Limits,
    seed: u64,
    draws: AtomicU64,
    rules: Vec<Rule>,
}

/// One rule. Conditions that are `None` match every request.
pub(crate) struct Rule {
    pub(crate) model: Option<Pattern>,
    pub(crate) path: Option<Pattern>,
    pub(crate) from: Duration,
    pub(crate) until: Duration,
    /// Share of the matching requests to which the rule applies.
    pub(crate) probability: f64,
    /// Requests per second to which the rule does not apply; it applies to those in excess.
    pub(crate) capacity: Option<f64>,
    pub(crate) player: Player,
    pub(super) bucket: Mutex<LeakyBucket>,
}

/// Leaky bucket of the requests that the rule did not apply to.
#[derive(Default)]
pub(super) struct LeakyBucket {
    level: f64,
    at: Duration,
}

impl Rule {
    /// A rule that matches all requests.
    pub(crate) fn always(scripts: Vec<Script>, is_per_body: bool) -> Rule {
        Rule {
            model: None,
            path: None,
            from: Duration::ZERO,
            until: Duration::MAX,
            probability: 1.0,
            capacity: None,
            player: Player::new(scripts, is_per_body),
            bucket: Mutex::default(),
        }
    }

    /// Whether the rule applies to a request. `draw` returns a number from 0 to 1.
    fn applies_to(&self, request: &RequestInfo<'_>, draw: impl FnOnce() -> f64) -> bool {
        let matches = |pattern: &Option<Pattern>, text: &str| pattern.as_ref().is_none_or(|it| it.matches(text));
        matches(&self.model, request.model.unwrap_or_default())
            && matches(&self.path, request.path)
            && (self.from..self.until).contains(&request.since_start)
            && (self.probability >= 1.0 || draw() < self.probability)
            && self.capacity.is_none_or(|capacity| self.exceeds(capacity, request.since_start))
    }

    fn exceeds(&self, capacity: f64, now: Duration) -> bool {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let drained = capacity * now.saturating_sub(bucket.at).as_secs_f64();
        bucket.level = (bucket.level - drained).max(0.0);
        bucket.at = now.max(bucket.at);
        let exceeds = bucket.level + 1.0 > capacity.max(1.0);
        if !exceeds {
            bucket.level += 1.0;
        }
        exceeds
    }
}

impl Scenario {
    pub(crate) fn new(name: &str, rules: Vec<Rule>, seed: u64, limits: Limits) -> Scenario {
        Scenario { name: name.to_owned(), limits, seed, draws: AtomicU64::new(0), rules }
    }

    /// Parses the value of `--scenario` into a rule for all requests.
    pub(crate) fn of_scripts(text: &str, is_per_body: bool, limits: Limits) -> Result<Scenario, String> {
        let rule = Rule::always(super::step::scripts(text)?, is_per_body);
        Ok(Scenario::new(text, vec![rule], 0, limits))
    }

    /// Returns the step for a request; `None` if no rule matches.
    pub(crate) fn next(&self, request: &RequestInfo<'_>) -> Option<&Step> {
        self.rules.iter().find(|rule| rule.applies_to(request, || self.draw()))?.player.next(request.body)
    }

    /// Returns the next pseudorandom number, from 0 to 1, of the sequence given by the seed.
    fn draw(&self) -> f64 {
        let nth = self.draws.fetch_add(1, Ordering::Relaxed);
        (splitmix64(self.seed ^ splitmix64(nth)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Finalizer of SplitMix64, which turns consecutive numbers into pseudorandom ones.
pub(crate) fn splitmix64(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::step::scripts;
    use super::*;

    fn request(after_ms: u64) -> RequestInfo<'static> {
        RequestInfo {
            model: Some("m-1"),
            path: "/v1/messages",
            body: "b",
            since_start: Duration::from_millis(after_ms),
        }
    }

    fn rule(text: &str) -> Rule {
        Rule::always(scripts(text).unwrap(), false)
    }

    fn name(scenario: &Scenario, after_ms: u64) -> Option<&'static str> {
        scenario.next(&request(after_ms)).map(|step| step.shape.name)
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let other = Rule { model: Pattern::new("x-*").ok(), ..rule("400") };
        let early = Rule { until: Duration::from_secs(1), model: Pattern::new("m-*").ok(), ..rule("529") };
        let scenario = Scenario::new("", vec![other, early], 1, Limits::default());
        assert_eq!((name(&scenario, 0), name(&scenario, 999), name(&scenario, 1000)), (Some("529"), Some("529"), None));
    }

    #[test]
    fn what_exceeds_the_capacity_is_refused() {
        let scenario = Scenario::new("", vec![Rule { capacity: Some(5.0), ..rule("529") }], 1, Limits::default());
        let refused = |at_ms| (0..20).filter(|_| name(&scenario, at_ms).is_some()).count();
        assert_eq!((refused(0), refused(1000), refused(1200)), (15, 15, 19));
    }

    #[test]
    fn chance_is_the_same_for_the_same_seed() {
        let outcomes = |seed| {
            let scenario = Scenario::new("", vec![Rule { probability: 0.3, ..rule("529") }], seed, Limits::default());
            (0..1000).map(|_| name(&scenario, 0).is_some()).collect::<Vec<_>>()
        };
        let failed = outcomes(7).iter().filter(|failed| **failed).count();
        assert!((250..350).contains(&failed), "{failed}");
        assert_eq!(outcomes(7), outcomes(7));
        assert_ne!(outcomes(7), outcomes(8));
    }
}
