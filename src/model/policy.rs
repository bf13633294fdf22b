//! Declared retry policies of a client: which layer retries, how often, how long it waits, and within which limits.
//!
//! A policy is plain data. Rules compare logs with it; nothing here depends on logs.

use super::Schedule;
use glob::Pattern;

/// One declared policy and the requests it applies to. A field that is `None` is not declared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Runs the policy applies to; `None` for all. The same holds for `model` and `provider`.
    pub run: Option<Pattern>,
    /// Models the policy applies to.
    pub model: Option<Pattern>,
    /// Providers the policy applies to.
    pub provider: Option<Pattern>,
    /// The only layer that retries.
    pub layer: Option<String>,
    /// Maximum number of sends for one call, including the first.
    pub max_attempts: Option<u32>,
    /// Waits between the sends.
    pub schedule: Option<Schedule>,
    /// Longest wait the client may choose by itself, in seconds.
    pub cap_s: Option<f64>,
    /// Longest time over which a call may keep sending, in seconds.
    pub budget_s: Option<f64>,
    /// Timeout of one attempt, in seconds.
    pub timeout_s: Option<f64>,
    /// Size of the client's connection pool.
    pub pool: Option<u32>,
}

impl Policy {
    /// Returns whether the waits, caps and counts of `layer` are subject to the policy. A layer that the log does not
    /// name may be the declared one.
    #[must_use]
    pub fn applies_to_layer(&self, layer: Option<&str>) -> bool {
        match (&self.layer, layer) {
            (Some(declared), Some(layer)) => declared.eq_ignore_ascii_case(layer),
            _ => true,
        }
    }

    fn applies_to(&self, run: &str, model: &str, provider: &str) -> bool {
        let fits = |pattern: &Option<Pattern>, text: &str| pattern.as_ref().is_none_or(|it| it.matches(text));
        fits(&self.run, run) && fits(&self.model, model) && fits(&self.provider, provider)
    }
}

/// All declared policies in file order; the first that applies to a request is used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policies(Vec<Policy>);

impl Policies {
    /// Creates a list of policies in order of precedence.
    #[must_use]
    pub fn new(list: Vec<Policy>) -> Policies {
        Policies(list)
    }

    /// Returns the policy that applies to a request; pass an empty string for a name the log does not give.
    #[must_use]
    pub fn find(&self, run: &str, model: &str, provider: &str) -> Option<&Policy> {
        self.0.iter().find(|policy| policy.applies_to(run, model, provider))
    }

    /// Returns whether no policy is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over all policies in order of precedence.
    pub fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_policy_that_applies_is_used() {
        let night = Policy { run: Some(Pattern::new("night-*").unwrap()), pool: Some(8), ..Policy::default() };
        let other = Policy { pool: Some(64), ..Policy::default() };
        let policies = Policies::new(vec![night, other]);
        let pool = |run| policies.find(run, "m", "").and_then(|policy| policy.pool);
        assert_eq!((pool("night-7"), pool("day")), (Some(8), Some(64)));
        assert_eq!(Policies::default().find("day", "", ""), None);
    }

    #[test]
    fn an_unnamed_layer_may_be_the_declared_one() {
        let policy = Policy { layer: Some("harness".to_owned()), ..Policy::default() };
        assert!(
            policy.applies_to_layer(None)
                && policy.applies_to_layer(Some("Harness"))
                && !policy.applies_to_layer(Some("sdk"))
        );
        assert!(Policy::default().applies_to_layer(Some("sdk")));
    }
}
