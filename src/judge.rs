//! Judgement in three steps: calls are settled, each is judged and summarised, and what merges is merged.
//!
//! Shards can be judged apart, on any machine: [`Judgement::merge`] is associative and its order does not
//! matter. Fleet rules see only the merged summaries.

use crate::attempt::{AttemptTable, Symbol, Time};
use crate::calls::{Call, Grouping, Groups, Horizon, group};
use crate::classify::Class;
use crate::measure::Fleet;
use crate::report::Cost;
use crate::rules::{CATALOGUE, Check, Confidence, Hit, Rule, Settings, Severity};
use foldhash::fast::RandomState;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;

/// Single findings kept of one problem; the others are counted.
pub const KEPT_PER_PROBLEM: usize = 100;

/// Pieces a log is judged in: enough to keep any machine busy, few enough that merging costs nothing.
const PIECES: usize = 64;

/// What to judge, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Thresholds.
    pub settings: Settings,
    /// Nothing follows the data: no call is open.
    pub complete: bool,
    /// Rules to judge by.
    pub rules: Vec<&'static Rule>,
}

impl Default for Options {
    fn default() -> Self {
        Options { settings: Settings::default(), complete: false, rules: CATALOGUE.iter().collect() }
    }
}

/// What a set of calls came to.
#[derive(Debug)]
pub struct Judgement<'a> {
    /// Summaries.
    pub fleet: Fleet<'a>,
    /// Findings, folded.
    pub folds: HashMap<FoldKey, Fold, RandomState>,
    /// Sends that could not have helped, each counted once.
    pub wasted: u64,
}

/// What the findings of one problem share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FoldKey {
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
pub struct Fold {
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
    pub cost: FoldCost,
    /// The earliest of them.
    pub kept: BTreeMap<Rank, Kept>,
}

/// Costs in whole units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoldCost {
    /// Sends that could not have helped.
    pub sends: u64,
    /// Wait for nothing, µs.
    pub wait_us: u64,
    /// Tokens.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

impl FoldCost {
    fn add(&mut self, other: FoldCost) {
        self.sends += other.sends;
        self.wait_us += other.wait_us;
        self.tokens += other.tokens;
        self.micro_usd += other.micro_usd;
    }

    /// In the units of a report.
    #[must_use]
    pub fn cost(self) -> Cost {
        Cost {
            sends: self.sends,
            wait_s: self.wait_us as f64 / 1e6,
            tokens: self.tokens,
            usd: self.micro_usd as f64 / 1e6,
        }
    }
}

/// Findings of a problem in order: by time, then by what tells equal times apart.
pub type Rank = (Time, u32, u16, u64, u32, u32);

/// One finding, as far as it is kept.
#[derive(Clone, Debug)]
pub struct Kept {
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
    /// How that call was grouped.
    pub grouping: Option<Grouping>,
    /// What it cost.
    pub cost: FoldCost,
}

/// Judges every call of `table`, then the fleet.
#[must_use]
pub fn judge<'a>(table: &'a AttemptTable, options: &Options) -> Judgement<'a> {
    let horizon = horizon(table, options.complete);
    let groups = group(table);
    let mut whole = judge_shard(&groups, &horizon, options, |_| true);
    whole.judge_fleet(options);
    whole
}

/// The end of the data, and whether anything may follow it.
#[must_use]
pub fn horizon(table: &AttemptTable, complete: bool) -> Horizon {
    let data_end = table.rows.iter().map(|row| row.ended()).max().unwrap_or(Time(0));
    Horizon { data_end, complete }
}

/// Judges the calls of one shard, those whose key `in_shard` accepts.
#[must_use]
pub fn judge_shard<'a>(
    groups: &Groups<'a>,
    horizon: &Horizon,
    options: &Options,
    in_shard: impl Fn(u64) -> bool + Sync,
) -> Judgement<'a> {
    let rules: Vec<&'static Rule> =
        options.rules.iter().copied().filter(|rule| matches!(rule.check, Check::Call(_))).collect();
    groups
        .split(PIECES)
        .into_par_iter()
        .map(|piece| {
            let mut judgement = Judgement::new(groups.table());
            for group in piece.chunk_by(|a, b| a.0 == b.0).filter(|group| in_shard(group[0].0)) {
                groups.calls(group, horizon, |call| judgement.absorb(call, &rules, &options.settings));
            }
            judgement
        })
        .reduce(
            || Judgement::new(groups.table()),
            |mut left, right| {
                left.merge(right);
                left
            },
        )
}

impl<'a> Judgement<'a> {
    /// The judgement of no call.
    #[must_use]
    pub fn new(table: &'a AttemptTable) -> Judgement<'a> {
        Judgement { fleet: Fleet::new(table), folds: HashMap::default(), wasted: 0 }
    }

    /// Judges one call and takes in its counts.
    pub fn absorb(&mut self, call: &Call<'a>, rules: &[&'static Rule], settings: &Settings) {
        self.fleet.absorb(call);
        // One attempt, and it succeeded: no call rule speaks of that, and most calls are of that kind.
        if call.len() == 1 && !call.first().failed() {
            return;
        }
        let mut wasted: Vec<u32> = Vec::new();
        for rule in rules {
            if let Check::Call(check) = rule.check
                && let Some(hit) = check(call, settings)
            {
                wasted.extend_from_slice(&hit.wasted);
                self.keep(rule, hit, Some(call));
            }
        }
        wasted.sort_unstable();
        wasted.dedup();
        self.note_waste(call.first().run, wasted.len() as u64);
    }

    /// Judges the fleet by its summaries: once, after everything is merged.
    pub fn judge_fleet(&mut self, options: &Options) {
        for rule in &options.rules {
            if let Check::Fleet(check) = rule.check {
                for hit in check(&self.fleet, &options.settings) {
                    let waste = hit.wasted.len() as u64 + hit.wasted_more;
                    let run = hit.run.unwrap_or(Symbol::NONE);
                    self.note_waste(run, waste);
                    self.keep(rule, hit, None);
                }
            }
        }
    }

    fn note_waste(&mut self, run: Symbol, sends: u64) {
        self.wasted += sends;
        if sends > 0
            && let Some(tally) = self.fleet.runs.get_mut(&run)
        {
            tally.wasted += sends;
        }
    }

    fn keep(&mut self, rule: &'static Rule, hit: Hit, call: Option<&Call<'a>>) {
        let table = self.fleet.table;
        let (severity, confidence) = weigh(rule, &hit, call.map(|call| call.grouping));
        let run = hit.run.or(call.map(|call| call.first().run)).unwrap_or(Symbol::NONE);
        let scope = hit.scope.or_else(|| {
            let row = hit.rows.first().map(|row| &table.rows[*row as usize])?;
            Some(table.origin(row).scope())
        });
        let none = Symbol::NONE;
        let key = FoldKey {
            rule: rule.code,
            provider: scope.map_or(none, |scope| scope.provider),
            model: scope.map_or(none, |scope| scope.model),
            class: hit.class,
        };
        let seen = hit.rows.first().map_or(Time(0), |row| table.rows[*row as usize].sent);
        let cost = cost_of(table, &hit);
        if let Some(tally) = self.fleet.runs.get_mut(&run) {
            tally.findings[severity as usize] += 1;
        }
        let fold = self.folds.entry(key).or_insert_with(|| Fold::new(rule, severity, seen));
        fold.count(severity, run, seen, cost);
        let rank = rank_of(table, &hit);
        if fold.wants(&rank) {
            let call_id = call.and_then(Call::id).map(str::to_owned);
            let grouping = call.map(|call| call.grouping);
            fold.kept.insert(rank, Kept { hit, severity, confidence, run, call_id, grouping, cost });
            fold.trim();
        }
    }

    /// Takes in the judgement of other calls.
    pub fn merge(&mut self, other: Judgement<'a>) {
        self.fleet.merge(other.fleet);
        self.wasted += other.wasted;
        for (key, fold) in other.folds {
            match self.folds.entry(key) {
                std::collections::hash_map::Entry::Occupied(mut known) => known.get_mut().merge(fold),
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(fold);
                }
            }
        }
    }
}

/// What rests on a guess is at most a warning.
fn weigh(rule: &Rule, hit: &Hit, grouping: Option<Grouping>) -> (Severity, Confidence) {
    let severity = hit.severity.unwrap_or(rule.severity);
    match grouping {
        Some(Grouping::Inferred) => (severity.min(Severity::Warning), hit.confidence.min(Confidence::Low)),
        Some(Grouping::Counter) => (severity, hit.confidence.min(Confidence::Medium)),
        Some(Grouping::Explicit) | None => (severity, hit.confidence),
    }
}

fn cost_of(table: &AttemptTable, hit: &Hit) -> FoldCost {
    let usage = |row: &u32| table.usage(*row as usize);
    FoldCost {
        sends: hit.wasted.len() as u64 + hit.wasted_more,
        wait_us: (hit.wait_s * 1e6).round().max(0.0) as u64,
        tokens: hit.wasted.iter().map(usage).map(|u| u64::from(u.input_tokens) + u64::from(u.output_tokens)).sum(),
        micro_usd: hit.wasted.iter().map(usage).map(|u| u64::from(u.cost_micro_usd)).sum(),
    }
}

fn rank_of(table: &AttemptTable, hit: &Hit) -> Rank {
    // A fleet rule may speak twice of the same row: its words tell the two apart.
    let words = foldhash::fast::FixedState::with_seed(0).hash_one(&hit.message);
    hit.rows.first().map_or((Time(0), 0, 0, words, 0, 0), |row| {
        let row = &table.rows[*row as usize];
        (row.sent, row.identity, row.number, words, row.file, row.line)
    })
}

impl Fold {
    fn new(rule: &'static Rule, severity: Severity, seen: Time) -> Fold {
        Fold {
            rule,
            severity,
            counts: [0; 3],
            runs: HashSet::default(),
            seen: (seen, seen),
            cost: FoldCost::default(),
            kept: BTreeMap::new(),
        }
    }

    fn count(&mut self, severity: Severity, run: Symbol, seen: Time, cost: FoldCost) {
        self.severity = self.severity.max(severity);
        self.counts[severity as usize] += 1;
        if run.is_some() {
            self.runs.insert(run);
        }
        self.seen = (self.seen.0.min(seen), self.seen.1.max(seen));
        self.cost.add(cost);
    }

    fn wants(&self, rank: &Rank) -> bool {
        self.kept.len() < KEPT_PER_PROBLEM || self.kept.last_key_value().is_some_and(|(last, _)| rank < last)
    }

    fn trim(&mut self) {
        while self.kept.len() > KEPT_PER_PROBLEM {
            self.kept.pop_last();
        }
    }

    fn merge(&mut self, other: Fold) {
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
