//! Reports to be compared, without names: what compares them then never knew any.

use super::report::{fix, summary};
use super::{Anonymizer, Kind};
use crate::classify::Class;
use crate::compare::{Past, PastProblem, ProblemKey};
use crate::rules::find;

impl Anonymizer {
    /// A former report whose problems have names of this salt's, and its file, which has one too.
    #[must_use]
    pub fn past(&self, mut past: Past, file: &str) -> (Past, String) {
        let problems = std::mem::take(&mut past.problems).into_iter();
        past.problems = problems.map(|problem| self.past_problem(problem)).collect();
        (past, self.name(Kind::File, file))
    }

    fn past_problem(&self, problem: PastProblem) -> PastProblem {
        let PastProblem { key, name, severity, count, example: _, fix: _ } = problem;
        let ProblemKey { rule, provider, model, class } = key;
        // A report may have been edited: only what is ours is taken for ours.
        let known = find(&rule);
        let class =
            class.map(|class| if Class::from_name(&class).is_some() { class } else { self.name(Kind::Word, &class) });
        PastProblem {
            example: summary(&rule),
            fix: fix(&rule),
            name: known.map_or_else(|| self.name(Kind::Word, &name), |rule| rule.name.to_owned()),
            key: ProblemKey {
                rule: known.map_or_else(|| self.name(Kind::Word, &rule), |rule| rule.code.to_owned()),
                provider: self.optional(Kind::Provider, provider),
                model: self.optional(Kind::Model, model),
                class,
            },
            severity,
            count,
        }
    }
}
