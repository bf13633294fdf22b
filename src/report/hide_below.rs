//! Hides the problems of a report below a severity.

use super::Report;
use crate::model::Severity;
use std::collections::BTreeSet;

impl Report {
    /// Removes problems below `min`, their findings and the advice about them, and counts the problems in
    /// [`Report::problems_hidden`]. Verdict and totals are unchanged: what is hidden still happened.
    pub fn hide_below(&mut self, min: Severity) {
        let all = self.problems.len();
        self.problems.retain(|problem| problem.severity >= min);
        self.problems_hidden += (all - self.problems.len()) as u64;
        self.findings.retain(|finding| finding.severity >= min);
        let rules: BTreeSet<&str> = self.problems.iter().map(|problem| problem.rule).collect();
        self.advice.retain(|advice| rules.contains(advice.rule));
        self.advice_omitted = super::advice::omitted(&self.advice, &self.problems);
    }
}
