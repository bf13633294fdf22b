//! A [`Judgement`] without the borrow of its table, so that the table can change.

use super::{Judgement, ProblemStats, ProblemStatsKey};
use crate::measure::{Fleet, FleetStats};
use crate::model::{AttemptTable, Symbol};
use crate::rules::Field;
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A [`Judgement`] detached from its table, so that the table can change.
#[derive(Debug, Default)]
pub struct Settled {
    pub(super) stats: FleetStats,
    problems: HashMap<ProblemStatsKey, ProblemStats, RandomState>,
    wasted: u64,
    suppressed: u64,
    covered: Vec<u64>,
    undecided: BTreeMap<(&'static str, Field), u64>,
    left_out: u64,
    runs_left_out: HashSet<Symbol, RandomState>,
}

impl Settled {
    /// Reattaches the judgement to its table.
    #[must_use]
    pub fn attach(self, table: &AttemptTable) -> Judgement<'_> {
        let Settled { stats, problems, wasted, suppressed, covered, undecided, left_out, runs_left_out } = self;
        let fleet = Fleet { table, stats };
        Judgement { fleet, problems, wasted, suppressed, covered, undecided, left_out, runs_left_out }
    }

    /// Calls `visit` with every row number that is kept, so that it can be renumbered.
    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.stats.each_row(visit);
        let hits = self.problems.values_mut().flat_map(|problem| problem.kept.values_mut()).map(|kept| &mut kept.hit);
        hits.flat_map(|hit| hit.rows.iter_mut().chain(&mut hit.wasted).chain(&mut hit.excess)).for_each(visit);
    }
}

impl Judgement<'_> {
    /// Detaches the judgement from its table.
    #[must_use]
    pub fn detach(self) -> Settled {
        let Judgement { fleet, problems, wasted, suppressed, covered, undecided, left_out, runs_left_out } = self;
        Settled { stats: fleet.stats, problems, wasted, suppressed, covered, undecided, left_out, runs_left_out }
    }
}
