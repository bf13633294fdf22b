//! Judgement: every settled call is judged by the rules and added to summaries, and the summaries are merged.
//!
//! Disjoint sets of calls (shards) can be judged separately, on any machine, and their judgements merged in any order:
//! [`Judgement::merge`] is associative and commutative. Fleet rules see only the merged summaries.

mod batches;
mod call_rules;
mod filter;
mod options;
mod problem_stats;
mod rolling;
mod settled;
mod settled_calls;
mod weigh;

pub(crate) use call_rules::CallRules;
pub use options::{Options, Suppression};
pub use problem_stats::{KEPT_PER_PROBLEM, KeptFinding, ProblemCost, ProblemStats, ProblemStatsKey, Rank};
pub use rolling::Rolling;
pub use settled::Settled;

use crate::calls::{
    self, Call, GiveUpLimits, GiveUpObservations, Grouping, Groups, Horizon, SingleSuccesses, group, group_except,
};
use crate::measure::{Fleet, RunTally, Service};
use crate::model::{Attempt, AttemptTable, Symbol, Time};
use crate::rules::{self, Check, Field, Hit, Rule, Scope};
use call_rules::judging_rules;
use foldhash::fast::RandomState;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use weigh::{cost_of, count_excess_once, facts, rank_of, weigh};

/// Result of judging a set of calls.
#[derive(Debug)]
pub struct Judgement<'a> {
    /// Summaries of the calls.
    pub fleet: Fleet<'a>,
    /// Findings, grouped into problems.
    pub problems: HashMap<ProblemStatsKey, ProblemStats, RandomState>,
    /// Sends that could not have helped, each counted once.
    pub wasted: u64,
    /// Findings that a suppression covers.
    pub suppressed: u64,
    /// Findings covered by each of [`Options::suppressions`]. Missing counts at the end are 0.
    pub covered: Vec<u64>,
    /// Number of calls that a rule could not judge, by rule code and missing field.
    pub undecided: BTreeMap<(&'static str, Field), u64>,
    /// Number of attempts of the calls that [`Options::filter`] rejects.
    pub left_out: u64,
    /// Runs of the calls that [`Options::filter`] rejects.
    pub runs_left_out: HashSet<Symbol, RandomState>,
}

/// Judges every call of `table`, then the fleet.
#[must_use]
pub fn judge<'a>(table: &'a AttemptTable, options: &Options) -> Judgement<'a> {
    judge_in_batches(table, options, batches::BATCH_ROWS)
}

fn judge_in_batches<'a>(table: &'a AttemptTable, options: &Options, batch_rows: usize) -> Judgement<'a> {
    let singles = SingleSuccesses::of(table);
    let groups = group_except(table, &singles);
    let horizon = horizon_of(&groups, options.complete);
    let mut whole = batches::judge_all(&groups, &singles, &horizon, batch_rows, options);
    whole.judge_fleet(options);
    whole
}

/// Returns what settling the calls of `table` needs: the end of the data, whether the log is complete, and when clients
/// give up.
#[must_use]
pub fn horizon(table: &AttemptTable, complete: bool) -> Horizon {
    horizon_of(&group(table), complete)
}

fn horizon_of(groups: &Groups<'_>, complete: bool) -> Horizon {
    let table = groups.table();
    let rows = || table.rows.par_iter().with_min_len(1 << 14);
    let data_end = rows().map(|row| row.ended()).max().unwrap_or(Time(0));
    let horizon = Horizon { data_end, complete, give_up_limits: GiveUpLimits::default() };
    // When clients give up matters only if some call may be open. Failures that leave a call open are mostly near the
    // end, hence the search from there.
    let may_be_open =
        |row: &Attempt| row.failed() && data_end.us_since(row.ended()) < calls::longest_plausible_wait_us(table, row);
    if complete || !rows().rev().any(may_be_open) {
        return horizon;
    }
    let seen = groups.pieces().par_iter().map(|piece| {
        let mut seen = GiveUpObservations::default();
        groups.calls(piece, &horizon, |_| true, |call| seen.absorb(call, &horizon));
        seen
    });
    let seen = seen.reduce(GiveUpObservations::default, |mut left, right| {
        left.merge(right);
        left
    });
    Horizon { give_up_limits: seen.limits(), ..horizon }
}

/// Judges the calls of one shard: those whose key `in_shard` accepts.
#[must_use]
pub fn judge_shard<'a>(
    groups: &Groups<'a>,
    horizon: &Horizon,
    options: &Options,
    in_shard: impl Fn(u64) -> bool + Sync,
) -> Judgement<'a> {
    let rules = CallRules::of(options);
    groups
        .pieces()
        .par_iter()
        // `fold` lets each worker absorb many calls before judgements are merged.
        .fold(
            || Judgement::new(groups.table()),
            |mut judgement, piece| {
                groups.calls(piece, horizon, &in_shard, |call| judgement.absorb(call, &rules, options));
                judgement
            },
        )
        .reduce(
            || Judgement::new(groups.table()),
            |mut left, right| {
                left.merge(right);
                left
            },
        )
}

impl<'a> Judgement<'a> {
    /// Creates the judgement of no calls.
    #[must_use]
    pub fn new(table: &'a AttemptTable) -> Judgement<'a> {
        Judgement {
            fleet: Fleet::new(table),
            problems: HashMap::default(),
            wasted: 0,
            suppressed: 0,
            covered: Vec::new(),
            undecided: BTreeMap::new(),
            left_out: 0,
            runs_left_out: HashSet::default(),
        }
    }

    /// Judges one call and adds it to the summaries.
    pub(crate) fn absorb(&mut self, call: &Call<'a>, rules: &CallRules, options: &Options) {
        self.absorb_since(call, Time(i64::MIN), rules, options);
    }

    /// Like [`Judgement::absorb`], for a call whose attempts sent before `since` are already in the summaries.
    fn absorb_since(&mut self, call: &Call<'a>, since: Time, rules: &CallRules, options: &Options) {
        if let Some(row) = call.single_success_row() {
            return self.absorb_single_success(std::iter::once(row), since, options);
        }
        if !options.filter.wants_call(call) {
            self.left_out += call.len() as u64 + u64::from(call.duplicates) + call.views.len() as u64;
            self.runs_left_out.insert(call.first().run);
            return;
        }
        self.fleet.stats.under_way.enable_if(|| rules::declares_pool(&options.settings));
        self.fleet.stats.absorb(call, since, rules.terms());
        // Call rules report nothing on a call whose only attempt succeeded, and most calls are of this kind.
        if call.succeeded_at_once() {
            return;
        }
        let mut hits: Vec<(&'static Rule, bool, Hit)> = Vec::new();
        for (rule, is_reported) in &rules.rules {
            // Pushed one by one rather than collected: few rules find anything, and moving a `Hit` costs more than most
            // checks.
            if let Some(hit) = self.apply(rule, *is_reported, call, options) {
                hits.push((*rule, *is_reported, hit));
            }
        }
        count_excess_once(&mut hits);
        // Whether an attempt is wasted does not depend on which rules are reported.
        let mut wasted: Vec<u32> = hits.iter().flat_map(|(_, _, hit)| hit.wasted.iter().copied()).collect();
        for (rule, is_reported, hit) in hits {
            if is_reported {
                self.add_finding(rule, hit, Some(call), options);
            }
        }
        wasted.sort_unstable();
        wasted.dedup();
        self.fleet.stats.note_wasted(self.fleet.table, call.first().run, &wasted);
        self.count_wasted(call.first().run, wasted.len() as u64);
    }

    /// Like [`Judgement::absorb_since`], for calls whose only attempt succeeded; no call rule reports on those.
    fn absorb_single_success(&mut self, rows: impl Iterator<Item = u32>, since: Time, options: &Options) {
        let (table, stats) = (self.fleet.table, &mut self.fleet.stats);
        stats.under_way.enable_if(|| rules::declares_pool(&options.settings));
        if options.filter.is_empty() {
            return stats.absorb_single_successes(table, rows, since);
        }
        let (left_out, runs) = (&mut self.left_out, &mut self.runs_left_out);
        let wanted = rows.filter(|row| {
            let attempt = &table.rows[*row as usize];
            let wanted = options.filter.wants_single(table, attempt);
            if !wanted {
                *left_out += 1;
                runs.insert(attempt.run);
            }
            wanted
        });
        stats.absorb_single_successes(table, wanted, since);
    }

    /// Applies a call rule. If the rule is reported and lacks a field to decide, that is counted in
    /// [`Judgement::undecided`].
    fn apply(&mut self, rule: &'static Rule, is_reported: bool, call: &Call<'a>, options: &Options) -> Option<Hit> {
        if call.is_untimed() && rule.needs.contains(&Field::Time) {
            return None;
        }
        match rule.check {
            Check::Call(check) | Check::CallWithShare(check, _) | Check::CallAndFleet(check, _) => {
                check(call, &options.settings)
            }
            Check::CallIfLogged(check) => match check(call, &options.settings) {
                Ok(None) => None,
                Ok(hit) => hit,
                Err(field) if is_reported => {
                    *self.undecided.entry((rule.code, field)).or_default() += 1;
                    None
                }
                Err(_) => None,
            },
            Check::Fleet(_) | Check::FleetIfLogged(..) => None,
        }
    }

    /// Applies the fleet rules to the summaries. To be called once, after everything is merged.
    pub fn judge_fleet(&mut self, options: &Options) {
        self.fleet.settle(&rules::terms(&options.settings));
        self.add_shares_of_all();
        for (rule, is_reported) in judging_rules(options) {
            if let Check::Fleet(check) | Check::CallAndFleet(_, check) | Check::FleetIfLogged(check, _) = rule.check {
                let hits = check(&self.fleet, &options.settings);
                if let Check::FleetIfLogged(_, lacks) = rule.check
                    && is_reported
                    && hits.is_empty()
                    && let Some((field, calls)) = lacks(&self.fleet, &options.settings)
                {
                    *self.undecided.entry((rule.code, field)).or_default() += calls;
                }
                for hit in hits {
                    let run = hit.run.unwrap_or(Symbol::NONE);
                    self.count_wasted(run, hit.wasted.len() as u64 + hit.wasted_more);
                    self.fleet.stats.note_wasted(self.fleet.table, run, &hit.wasted);
                    if is_reported {
                        self.add_finding(rule, hit, None, options);
                    }
                }
            }
        }
    }

    /// Lets the rules that need it complete their findings about calls with the share of all calls of the service that
    /// these are.
    fn add_shares_of_all(&mut self) {
        for (key, problem) in &mut self.problems {
            if let Check::CallWithShare(_, complete) = problem.rule.check {
                let service = Service { provider: key.provider, model: key.model };
                let found = problem.total();
                problem.kept.values_mut().for_each(|kept| complete(&self.fleet, service, found, &mut kept.hit));
            }
        }
    }

    fn count_wasted(&mut self, run: Symbol, sends: u64) {
        self.wasted += sends;
        if sends > 0
            && let Some(tally) = self.fleet.runs.get_mut(&run)
        {
            tally.wasted += sends;
        }
    }

    /// Adds a finding to its problem, unless a suppression covers it.
    fn add_finding(&mut self, rule: &'static Rule, hit: Hit, call: Option<&Call<'a>>, options: &Options) {
        let table = self.fleet.table;
        let run = hit.run.or(call.map(|call| call.first().run)).unwrap_or(Symbol::NONE);
        let scope = hit.scope.or_else(|| {
            let row = hit.rows.first().map(|row| &table.rows[*row as usize])?;
            // A finding about several models belongs to none of them.
            let has_one_model = call.is_some() || self.fleet.runs.get(&run).is_some_and(|tally| tally.models.len() < 2);
            let is_about_fleet = call.is_none() && hit.run.is_none();
            (has_one_model && !is_about_fleet).then(|| table.origin(row).scope())
        });
        let none = Symbol::NONE;
        let key = ProblemStatsKey {
            rule: rule.code,
            provider: scope.map_or(none, |scope| scope.provider),
            model: scope.map_or(none, |scope| scope.model),
            class: hit.class,
        };
        if !options.suppressions.is_empty() && self.is_covered(&key, rule, run, options) {
            return;
        }
        let (severity, confidence) = weigh(rule, &hit, self.weakest_grouping(rule, call, run), options);
        let seen = hit.rows.first().map_or(Time(0), |row| table.rows[*row as usize].sent);
        let cost = cost_of(table, &hit);
        if let Some(tally) = self.fleet.runs.get_mut(&run) {
            tally.findings[severity as usize] += 1;
        }
        if let Some(row) = hit.rows.first() {
            let origin = table.rows[*row as usize].origin;
            self.fleet.senders.entry(origin).or_default().findings[severity as usize] += 1;
        }
        let problem = self.problems.entry(key).or_insert_with(|| ProblemStats::new(rule, severity, seen));
        problem.count(severity, run, seen, cost);
        let rank = rank_of(table, &hit);
        if problem.would_keep(&rank) {
            let call_id = call.and_then(Call::id).map(str::to_owned);
            let grouping = call.map(|call| call.grouping);
            let call = call.map(facts);
            problem.kept.insert(rank, KeptFinding { hit, severity, confidence, run, call_id, call, grouping, cost });
            problem.trim();
        }
    }

    /// Returns the weakest grouping that a finding depends on: that of its call, or for a finding about a run,
    /// `Inferred` if any of its calls with retries was grouped by inference.
    fn weakest_grouping(&self, rule: &Rule, call: Option<&Call<'a>>, run: Symbol) -> Option<Grouping> {
        let guessed = |tally: &RunTally| tally.guessed_calls > 0;
        call.map(|call| call.grouping).or_else(|| {
            (rule.scope == Scope::Run && self.fleet.runs.get(&run).is_some_and(guessed)).then_some(Grouping::Inferred)
        })
    }

    /// Whether any suppression covers a finding. Each that does counts it in [`Judgement::covered`].
    fn is_covered(&mut self, key: &ProblemStatsKey, rule: &Rule, run: Symbol, options: &Options) -> bool {
        let table = self.fleet.table;
        self.covered.resize(options.suppressions.len(), 0);
        let mut any = false;
        for (suppression, count) in options.suppressions.iter().zip(&mut self.covered) {
            if suppression.covers(key, rule, run, table) {
                *count += 1;
                any = true;
            }
        }
        self.suppressed += u64::from(any);
        any
    }

    /// Returns the suppressions that cover no finding.
    #[must_use]
    pub fn unused<'o>(&self, options: &'o Options) -> Vec<&'o Suppression> {
        let counts = self.covered.iter().copied().chain(std::iter::repeat(0));
        options
            .suppressions
            .iter()
            .zip(counts)
            .filter(|(_, count)| *count == 0)
            .map(|(suppression, _)| suppression)
            .collect()
    }

    /// Merges the judgement of other calls into this one.
    pub fn merge(&mut self, other: Judgement<'a>) {
        self.fleet.merge(other.fleet);
        self.wasted += other.wasted;
        self.suppressed += other.suppressed;
        self.left_out += other.left_out;
        self.runs_left_out.extend(other.runs_left_out);
        self.covered.resize(self.covered.len().max(other.covered.len()), 0);
        self.covered.iter_mut().zip(other.covered).for_each(|(mine, theirs)| *mine += theirs);
        for (key, calls) in other.undecided {
            *self.undecided.entry(key).or_default() += calls;
        }
        for (key, problem) in other.problems {
            match self.problems.get_mut(&key) {
                Some(known) => known.merge(problem),
                None => _ = self.problems.insert(key, problem),
            }
        }
    }
}
