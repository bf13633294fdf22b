//! The rules that judge, and those of them that judge single calls.

use super::Options;
use crate::measure::CallTerms;
use crate::rules::{self, Check, Rule};

/// A rule, and whether its findings are reported. If not, it only counts attempts that could not have helped.
pub(super) type JudgingRule = (&'static Rule, bool);

/// Returns every rule of the catalogue, those to be reported first.
pub(super) fn judging_rules(options: &Options) -> impl Iterator<Item = JudgingRule> {
    let is_reported = |rule: &Rule| options.rules.iter().any(|reported| reported.code == rule.code);
    let reported = options.rules.iter().map(|rule| (*rule, true));
    reported.chain(rules::CATALOGUE.iter().filter(move |rule| !is_reported(rule)).map(|rule| (rule, false)))
}

/// The rules that judge single calls, and the thresholds of the summaries.
#[derive(Clone, Debug)]
pub(crate) struct CallRules {
    pub(super) rules: Vec<JudgingRule>,
    /// Thresholds used by the summaries of calls.
    terms: CallTerms,
}

impl CallRules {
    /// Returns the rules that judge single calls.
    pub(crate) fn of(options: &Options) -> CallRules {
        let is_of_calls = |rule: &Rule| !matches!(rule.check, Check::Fleet(_) | Check::FleetIfLogged(..));
        let rules = judging_rules(options).filter(|(rule, _)| is_of_calls(rule)).collect();
        CallRules { rules, ..CallRules::none(options) }
    }

    /// Returns an empty list of rules: calls are only summarised, for the fleet rules.
    pub(crate) fn none(options: &Options) -> CallRules {
        CallRules { rules: Vec::new(), terms: rules::call_terms(&options.settings) }
    }

    /// Thresholds used by the summaries of calls.
    pub(crate) fn terms(&self) -> &CallTerms {
        &self.terms
    }
}
