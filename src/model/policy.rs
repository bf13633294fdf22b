//! What is declared of a client's retries: who owns them, how often, how long to wait, within which bounds.
//!
//! A policy is plain data. The log is compared with it by the rules; nothing here knows of logs.

use super::Schedule;
use glob::Pattern;

/// One declared policy, and what it holds for. What is `None` is not declared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Runs it holds for; `None` for all, like the two below.
    pub run: Option<Pattern>,
    /// Models it holds for.
    pub model: Option<Pattern>,
    /// Providers it holds for.
    pub provider: Option<Pattern>,
    /// The one layer that retries.
    pub layer: Option<String>,
    /// Sends of one call, the first included.
    pub max_attempts: Option<u32>,
    /// The waits between them.
    pub schedule: Option<Schedule>,
    /// The longest wait a client may choose of itself, in seconds.
    pub cap_s: Option<f64>,
    /// The longest a call may go on sending, in seconds.
    pub budget_s: Option<f64>,
    /// The deadline of one attempt, in seconds.
    pub timeout_s: Option<f64>,
    /// Connections of the client's pool.
    pub pool: Option<u32>,
}

impl Policy {
    /// Whether the waits, caps and counts of `layer` are the policy's business: a layer that the log does not
    /// name may be the one declared.
    #[must_use]
    pub fn is_of(&self, layer: Option<&str>) -> bool {
        match (&self.layer, layer) {
            (Some(owner), Some(layer)) => owner.eq_ignore_ascii_case(layer),
            _ => true,
        }
    }

    fn holds_for(&self, run: &str, model: &str, provider: &str) -> bool {
        let fits = |pattern: &Option<Pattern>, text: &str| pattern.as_ref().is_none_or(|it| it.matches(text));
        fits(&self.run, run) && fits(&self.model, model) && fits(&self.provider, provider)
    }
}

/// Every declared policy, in the order of the file: the first that holds for a request is the one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policies(Vec<Policy>);

impl Policies {
    /// These policies, the first that holds first.
    #[must_use]
    pub fn new(list: Vec<Policy>) -> Policies {
        Policies(list)
    }

    /// The policy that holds for a request; names the log does not give are empty.
    #[must_use]
    pub fn find(&self, run: &str, model: &str, provider: &str) -> Option<&Policy> {
        self.0.iter().find(|policy| policy.holds_for(run, model, provider))
    }

    /// Whether nothing is declared.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Policy> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_first_that_holds_is_the_one() {
        let night = Policy { run: Some(Pattern::new("night-*").unwrap()), pool: Some(8), ..Policy::default() };
        let other = Policy { pool: Some(64), ..Policy::default() };
        let policies = Policies::new(vec![night, other]);
        let pool = |run| policies.find(run, "m", "").and_then(|policy| policy.pool);
        assert_eq!((pool("night-7"), pool("day")), (Some(8), Some(64)));
        assert_eq!(Policies::default().find("day", "", ""), None);
    }

    #[test]
    fn an_unnamed_layer_may_be_the_owner() {
        let policy = Policy { layer: Some("harness".to_owned()), ..Policy::default() };
        assert!(policy.is_of(None) && policy.is_of(Some("Harness")) && !policy.is_of(Some("sdk")));
        assert!(Policy::default().is_of(Some("sdk")));
    }
}
