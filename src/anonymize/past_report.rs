//! Anonymized reports for comparisons, which then contain no real names.

use super::fields::{Anonymize, fields};
use super::report::{fix, summary};
use super::{Anonymizer, Kind};
use crate::classify::Class;
use crate::compare::{PastProblem, PastReport, ProblemKey};
use crate::rules::find;

impl Anonymizer {
    /// Returns an anonymized former report, and the pseudonym of its file.
    #[must_use]
    pub fn past(&self, mut past: PastReport, file: &str) -> (PastReport, String) {
        past.problems.anonymize(self);
        (past, self.name(Kind::File, file))
    }
}

// A report may have been edited, so only known rules and classes are kept.
fields! { anonymizer;
    PastProblem {
        parts: [key]
        kept: [severity, count]
        with: [name, example, fix] then: {
            (*example, *fix) = (summary(&key.rule), self::fix(&key.rule));
            match find(&key.rule) {
                Some(rule) => *name = rule.name.to_owned(),
                None => anonymizer.rename(Kind::Word, name),
            }
        }
    }
    ProblemKey {
        names: [provider Provider, model Model]
        kept: []
        with: [rule, class] then: {
            rule.change(&|code| find(code).map_or_else(|| anonymizer.name(Kind::Word, code), |rule| rule.code.to_owned()));
            let is_ours = |class: &str| Class::from_name(class).is_some();
            class.change(&|class| if is_ours(class) { class.to_owned() } else { anonymizer.name(Kind::Word, class) });
        }
    }
}
