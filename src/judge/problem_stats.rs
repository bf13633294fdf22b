//! Problems: findings with the same rule, service and failure class.

use crate::calls::Grouping;
use crate::classify::Class;
use crate::model::{CallFacts, Confidence, Cost, Severity, Symbol, Time, sum_of_known};
use crate::rules::{Hit, Rule};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashSet};

/// Maximum number of findings kept per problem; further ones are only counted.
pub const KEPT_PER_PROBLEM: usize = 100;

/// Key by which findings are grouped into problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProblemStatsKey {
    /// Rule code.
    pub rule: &'static str,
    /// Provider; [`Symbol::NONE`] if the finding is not about a single one.
    pub provider: Symbol,
    /// Model; [`Symbol::NONE`] if the finding is not about a single one.
    pub model: Symbol,
    /// Failure class.
    pub class: Option<Class>,
}

/// Statistics of the findings of one problem.
#[derive(Clone, Debug)]
pub struct ProblemStats {
    /// Rule that made the findings.
    pub rule: &'static Rule,
    /// Highest severity among the findings.
    pub severity: Severity,
    /// Number of findings by severity: infos, warnings, errors.
    pub counts: [u64; 3],
    /// Runs the findings belong to.
    pub runs: HashSet<Symbol, RandomState>,
    /// Times of the first and the last finding.
    pub seen: (Time, Time),
    /// Total cost of the findings. Time and money are integers so that sums do not depend on the order of addition.
    pub cost: ProblemCost,
    /// The earliest findings, at most [`KEPT_PER_PROBLEM`].
    pub kept: BTreeMap<Rank, KeptFinding>,
}

/// Cost of findings in integer units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProblemCost {
    /// Sends that could not have helped.
    pub sends: u64,
    /// Attempts beyond those that a single correct retry loop would have made; they may have helped.
    pub excess: u64,
    /// Waiting without benefit, in µs.
    pub wait_us: u64,
    /// Tokens; `None` if the log has no token counts.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar; `None` if no cost is known.
    pub micro_usd: Option<u64>,
}

impl ProblemCost {
    fn add(&mut self, other: ProblemCost) {
        self.sends += other.sends;
        self.excess += other.excess;
        self.wait_us += other.wait_us;
        self.tokens = sum_of_known(self.tokens, other.tokens);
        self.micro_usd = sum_of_known(self.micro_usd, other.micro_usd);
    }

    /// Converts to the units of a report: seconds and US dollars.
    #[must_use]
    pub fn cost(self) -> Cost {
        Cost {
            sends: self.sends,
            excess: self.excess,
            wait_s: self.wait_us as f64 / 1e6,
            tokens: self.tokens,
            usd: self.micro_usd.map(|micros| micros as f64 / 1e6),
        }
    }
}

/// Sort key of the findings of a problem: time of the first attempt, then its identity and number, the hash of the
/// message, file and line, which only make the order unique.
pub type Rank = (Time, u32, u16, u64, u32, u32);

/// A finding that is kept in full.
#[derive(Clone, Debug)]
pub struct KeptFinding {
    /// The rule's result.
    pub hit: Hit,
    /// Severity, adjusted for how the call was grouped.
    pub severity: Severity,
    /// Confidence, adjusted for how the call was grouped.
    pub confidence: Confidence,
    /// Run the finding belongs to.
    pub run: Symbol,
    /// Id of the call, for call rules.
    pub call_id: Option<String>,
    /// Outcome, number of attempts and duration of that call.
    pub call: Option<CallFacts>,
    /// How the attempts of that call were grouped.
    pub grouping: Option<Grouping>,
    /// Cost of the finding.
    pub cost: ProblemCost,
}

impl ProblemStats {
    pub(super) fn new(rule: &'static Rule, severity: Severity, seen: Time) -> ProblemStats {
        ProblemStats {
            rule,
            severity,
            counts: [0; 3],
            runs: HashSet::default(),
            seen: (seen, seen),
            cost: ProblemCost::default(),
            kept: BTreeMap::new(),
        }
    }

    pub(super) fn count(&mut self, severity: Severity, run: Symbol, seen: Time, cost: ProblemCost) {
        self.severity = self.severity.max(severity);
        self.counts[severity as usize] += 1;
        if run.is_some() {
            self.runs.insert(run);
        }
        self.seen = (self.seen.0.min(seen), self.seen.1.max(seen));
        self.cost.add(cost);
    }

    pub(super) fn would_keep(&self, rank: &Rank) -> bool {
        self.kept.len() < KEPT_PER_PROBLEM || self.kept.last_key_value().is_some_and(|(last, _)| rank < last)
    }

    pub(super) fn trim(&mut self) {
        while self.kept.len() > KEPT_PER_PROBLEM {
            self.kept.pop_last();
        }
    }

    pub(super) fn merge(&mut self, other: ProblemStats) {
        self.severity = self.severity.max(other.severity);
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine += theirs;
        }
        self.runs.extend(other.runs);
        self.seen = (self.seen.0.min(other.seen.0), self.seen.1.max(other.seen.1));
        self.cost.add(other.cost);
        self.kept.extend(other.kept);
        self.trim();
    }

    /// Returns the number of findings of the problem, kept or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}
