//! The findings of one problem, folded.

use crate::calls::Grouping;
use crate::classify::Class;
use crate::model::{CallFacts, Confidence, Cost, Severity, Symbol, Time, sum_of_known};
use crate::rules::{Hit, Rule};
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashSet};

/// Single findings kept of one problem; the others are counted.
pub const KEPT_PER_PROBLEM: usize = 100;

/// What the findings of one problem share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProblemStatsKey {
    /// Rule code.
    pub rule: &'static str,
    /// Provider.
    pub provider: Symbol,
    /// Model.
    pub model: Symbol,
    /// Failure class.
    pub class: Option<Class>,
}

/// The findings of one problem.
#[derive(Clone, Debug)]
pub struct ProblemStats {
    /// Their rule.
    pub rule: &'static Rule,
    /// The worst of them.
    pub severity: Severity,
    /// How many, by severity: infos, warnings, errors.
    pub counts: [u64; 3],
    /// Runs they are in.
    pub runs: HashSet<Symbol, RandomState>,
    /// First and last of them.
    pub seen: (Time, Time),
    /// What they cost together, time and money in integers so that sums do not depend on order.
    pub cost: ProblemCost,
    /// The earliest of them.
    pub kept: BTreeMap<Rank, KeptFinding>,
}

/// Costs in whole units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProblemCost {
    /// Sends that could not have helped.
    pub sends: u64,
    /// Sends in excess of what one sound retry loop makes.
    pub excess: u64,
    /// Wait for nothing, µs.
    pub wait_us: u64,
    /// Tokens; `None` where the log gives none.
    pub tokens: Option<u64>,
    /// Millionths of a US dollar; `None` where the log gives no price.
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

    /// In the units of a report.
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

/// Findings of a problem in order: by time, then by what tells equal times apart.
pub type Rank = (Time, u32, u16, u64, u32, u32);

/// One finding, as far as it is kept.
#[derive(Clone, Debug)]
pub struct KeptFinding {
    /// What the rule found.
    pub hit: Hit,
    /// Severity after grouping was weighed.
    pub severity: Severity,
    /// Confidence likewise.
    pub confidence: Confidence,
    /// The run.
    pub run: Symbol,
    /// The call, for call rules.
    pub call_id: Option<String>,
    /// How that call went.
    pub call: Option<CallFacts>,
    /// How that call was grouped.
    pub grouping: Option<Grouping>,
    /// What it cost.
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

    pub(super) fn wants(&self, rank: &Rank) -> bool {
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

    /// All findings of the problem, kept or not.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}
