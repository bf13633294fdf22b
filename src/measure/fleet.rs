//! The summary of all calls.

use super::answers::{self, AnswersBy, Asker};
use super::backoff::Backoffs;
use super::burst::RunMark;
use super::call_terms::CallTerms;
use super::cap::{CapKey, CapTally, Holder};
use super::classes::{self, Classes};
use super::direct_cache::DirectCache;
use super::failure_clusters::{FailureClusters, WorstIncidents};
use super::layers::{self, Layers};
use super::recovery::{self, Recoveries};
use super::row_ref::RowRef;
use super::run::RunTally;
use super::scope::{ScopeTally, scopes_of};
use super::sender::SenderTally;
use super::service::Service;
use super::short_window::{LogRange, Terms};
use super::single_successes::Pairs;
use super::tally::Tally;
use super::under_way::UnderWay;
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{Attempt, AttemptTable, Flags, OriginId, Scope, Symbol, Time};
use foldhash::fast::RandomState;
use indexmap::IndexMap;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

/// Summary of a set of calls, of one shard or of all, with the table that holds its names and rows.
#[derive(Debug)]
pub struct Fleet<'a> {
    /// Table of the names, and of the few rows that serve as examples.
    pub table: &'a AttemptTable,
    /// The summary.
    pub stats: FleetStats,
}

/// Summary of a set of calls. It outlives the table it was built from: row numbers are updated by
/// [`FleetStats::each_row`].
#[derive(Debug, Default)]
pub struct FleetStats {
    /// Counts over all attempts and calls.
    pub tally: Tally,
    /// Summaries by run.
    pub runs: IndexMap<Symbol, RunTally, RandomState>,
    /// Summaries by rate-limit scope.
    pub scopes: IndexMap<Scope, ScopeTally, RandomState>,
    /// Counts by origin.
    pub senders: IndexMap<OriginId, SenderTally, RandomState>,
    /// Exhausted spend caps.
    pub caps: HashMap<CapKey, CapTally, RandomState>,
    /// Counts by failure class.
    pub classes: Classes,
    /// Waits of each retry loop.
    pub backoffs: Backoffs,
    /// Outcomes of retries.
    pub recoveries: Recoveries,
    /// Failures over time.
    pub failure_clusters: FailureClusters,
    /// Retry loops around retry loops.
    pub layers: Layers,
    /// Concurrent calls, counted if a pool is declared.
    pub under_way: UnderWay,
    /// How the answers of each client end.
    pub answers: AnswersBy,
    /// Time of the first send.
    pub begun: Option<Time>,
    /// Sums by service, computed on first use.
    pub(super) by_service: OnceLock<HashMap<Service, OfService, RandomState>>,
    /// The worst incidents, computed on first use.
    pub(super) worst_incidents: OnceLock<WorstIncidents>,
    /// Sums of the calls of one successful attempt.
    pub(super) pairs: Pairs,
    /// Cached index and mark of each run.
    known_runs: DirectCache<Symbol, (usize, RunMark)>,
    /// Cached indices of the scope and the sender of each origin.
    known_origins: DirectCache<OriginId, (usize, usize)>,
    /// Cached index in `answers` of each origin, with and without streaming.
    known_askers: DirectCache<(OriginId, bool), usize>,
}

/// Sums of one service, over all accounts.
#[derive(Debug, Default)]
pub(super) struct OfService {
    /// Indices of its scopes.
    pub(super) scopes: Vec<usize>,
    /// Calls whose first attempt failed.
    pub(super) failed_first: u64,
}

impl Deref for Fleet<'_> {
    type Target = FleetStats;

    fn deref(&self) -> &FleetStats {
        &self.stats
    }
}

impl DerefMut for Fleet<'_> {
    fn deref_mut(&mut self) -> &mut FleetStats {
        &mut self.stats
    }
}

impl FleetStats {
    /// Visits every row number kept as an example, to be updated when rows leave the table.
    pub fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        self.tally.each_row(visit);
        self.runs.values_mut().for_each(|run| run.each_row(visit));
        self.scopes.values_mut().for_each(|scope| scope.each_row(visit));
        self.caps.values_mut().for_each(|cap| cap.each_row(visit));
        self.backoffs.each_row(visit);
        let firsts = self.recoveries.values_mut().flat_map(|one| [&mut one.first, &mut one.next.first]);
        firsts.for_each(|first| RowRef::each_row(first, visit));
        self.failure_clusters.each_row(visit);
        self.layers.values_mut().for_each(|tally| RowRef::each_row(&mut tally.first, visit));
        self.answers.values_mut().for_each(|answers| answers.each_row(visit));
    }

    /// Adds one call that has ended. Its attempts sent before `since` have been followed already.
    pub fn absorb(&mut self, call: &Call<'_>, since: Time, terms: &CallTerms) {
        self.tally.absorb(call);
        let (run, mark) = self.run_of(call.table(), call.first().run);
        self.runs[run].absorb(call, terms);
        self.absorb_senders(call, run);
        let layered = layers::absorb(&mut self.layers, call);
        let sent = call.in_send_order();
        self.runs[run].terminal_failures.follow(&sent, since);
        for (index, (scope, origin)) in scopes_of(call).into_iter().enumerate() {
            let (place, _) = self.places_of(call.table(), origin);
            if call.is_untimed() {
                // Nothing of it can be counted over time.
                continue;
            }
            let tally = &mut self.scopes[place];
            if index == 0 {
                tally.absorb(call, scope, layered)
            } else {
                tally.absorb_attempts(call, scope)
            }
            tally.instants.follow(&sent, mark, scope, since, terms);
        }
        self.note(&sent, since, terms);
        answers::absorb(&mut self.answers, call);
        if call.attempts().any(|attempt| attempt.failed()) {
            self.absorb_failures(call);
            self.backoffs.absorb(call, terms);
        }
    }

    #[inline]
    pub(super) fn run_of(&mut self, table: &AttemptTable, run: Symbol) -> (usize, RunMark) {
        let FleetStats { runs, known_runs, .. } = self;
        known_runs.get(run, run.list_index(), || {
            let entry = runs.entry(run);
            let place = entry.index();
            entry.or_default();
            (place, RunMark::of(table, run))
        })
    }

    #[inline]
    pub(super) fn places_of(&mut self, table: &AttemptTable, origin: OriginId) -> (usize, usize) {
        let FleetStats { scopes, senders, known_origins, .. } = self;
        known_origins.get(origin, origin.0 as usize, || {
            let (scope, sender) = (scopes.entry(table.origin_of(origin).scope()), senders.entry(origin));
            let places = (scope.index(), sender.index());
            scope.or_default();
            sender.or_default();
            places
        })
    }

    #[inline]
    pub(super) fn asker_of(&mut self, table: &AttemptTable, attempt: &Attempt) -> usize {
        let FleetStats { answers, known_askers, .. } = self;
        let (origin, stream) = (attempt.origin, attempt.flags.has(Flags::STREAM));
        known_askers.get((origin, stream), origin.0 as usize * 2 + usize::from(stream), || {
            let entry = answers.entry(Asker::of(table.origin(attempt), stream));
            let place = entry.index();
            entry.or_default();
            place
        })
    }

    pub(super) fn begin(&mut self, sent: Time) {
        self.begun = Some(self.begun.map_or(sent, |before| before.min(sent)));
    }

    /// Follows a call that may still continue: adds its attempts sent at `since` or later to the short-term counts.
    pub fn follow(&mut self, call: &Call<'_>, since: Time, terms: &CallTerms) {
        let sent = call.in_send_order();
        let (run, mark) = self.run_of(call.table(), call.first().run);
        self.runs[run].terminal_failures.follow(&sent, since);
        for (scope, origin) in scopes_of(call).into_iter().filter(|_| !call.is_untimed()) {
            let (place, _) = self.places_of(call.table(), origin);
            self.scopes[place].instants.follow(&sent, mark, scope, since, terms);
        }
        self.note(&sent, since, terms);
    }

    fn note(&mut self, sent: &Call<'_>, since: Time, terms: &CallTerms) {
        if sent.is_untimed() {
            return;
        }
        self.begin(sent.first().sent);
        self.under_way.follow(sent, since);
        if sent.len() > 1 {
            self.backoffs.follow(sent, since, terms);
        }
    }

    /// Takes over the short-term counts of other calls of the same table, none of which are settled.
    pub fn take_instants(&mut self, table: &AttemptTable, other: &mut FleetStats) {
        for (scope, tally) in other.scopes.iter_mut().filter(|(_, tally)| tally.instants.len() > 0) {
            let instants = std::mem::take(&mut tally.instants);
            self.scopes.entry(*scope).or_default().instants.merge(table, instants);
        }
        for (run, tally) in other.runs.iter_mut().filter(|(_, tally)| tally.terminal_failures.is_waiting()) {
            let terminal_failures = std::mem::take(&mut tally.terminal_failures);
            self.runs.entry(*run).or_default().terminal_failures.merge(terminal_failures);
        }
        self.backoffs.take_concurrent_waits(table, &mut other.backoffs);
        self.under_way.take_waiting(&mut other.under_way);
        other.begun.into_iter().for_each(|begun| self.begin(begun));
    }

    /// Returns the number of entries still kept one by one because they are not judged or may affect others.
    #[must_use]
    pub fn instants(&self) -> usize {
        self.scopes.values().map(|tally| tally.instants.len()).sum()
    }

    /// Judges short-term counts as far as they are final, given that nothing sent before `until` is still to come.
    pub fn settle(&mut self, table: &AttemptTable, until: Time, terms: &Terms) {
        (self.by_service, self.worst_incidents) = (OnceLock::new(), OnceLock::new());
        let Some(begin) = self.begun else { return };
        let last = self.runs.values().map(|run| run.last).max();
        // The end is unknown while more may follow.
        let end = last.filter(|_| until == Time(i64::MAX)).unwrap_or(Time(i64::MAX));
        for (scope, tally) in &mut self.scopes {
            tally.instants.settle(table, until, LogRange { begin, end }, terms);
            self.failure_clusters.follow(Service::of(scope), tally.instants.take_failures());
        }
        self.failure_clusters.settle(until);
        self.under_way.settle(until);
        self.runs.values_mut().for_each(|run| run.terminal_failures.settle(until));
        self.backoffs.settle(table, until);
    }

    fn absorb_failures(&mut self, call: &Call<'_>) {
        recovery::absorb(&mut self.recoveries, call);
        if !call.is_untimed() {
            self.failure_clusters.absorb(call);
        }
        for (position, class) in classes::absorb(&mut self.classes, call) {
            if class.is_cap() && !call.is_untimed() {
                self.absorb_cap(call, position, class);
            }
        }
    }

    fn absorb_cap(&mut self, call: &Call<'_>, position: usize, class: Class) {
        let account = call.origin(position).account();
        let holder = if account.has_account() { Holder::Account(account) } else { Holder::Run(call.first().run) };
        let reopens = call.detail(position).and_then(|detail| detail.reopens);
        self.add_cap(CapKey { holder, class, reopens }, CapTally::of(call, position));
    }

    fn add_cap(&mut self, key: CapKey, tally: CapTally) {
        match self.caps.entry(key) {
            Entry::Occupied(mut known) => known.get_mut().merge(tally),
            Entry::Vacant(free) => {
                free.insert(tally);
            }
        }
    }

    /// Adds the summary of other calls from the same table.
    pub fn merge(&mut self, table: &AttemptTable, other: FleetStats) {
        (self.by_service, self.worst_incidents) = (OnceLock::new(), OnceLock::new());
        self.tally.merge(&other.tally);
        for (run, tally) in other.runs {
            self.runs.entry(run).or_default().merge(tally);
        }
        for (scope, tally) in other.scopes {
            self.scopes.entry(scope).or_default().merge(table, tally);
        }
        for (origin, tally) in other.senders {
            self.senders.entry(origin).or_default().merge(&tally);
        }
        for (key, tally) in other.caps {
            self.add_cap(key, tally);
        }
        for (class, theirs) in other.classes {
            self.classes.entry(class).or_default().merge(theirs);
        }
        self.backoffs.merge(table, other.backoffs);
        recovery::merge(&mut self.recoveries, other.recoveries);
        self.failure_clusters.merge(other.failure_clusters);
        layers::merge(&mut self.layers, other.layers);
        self.under_way.merge(other.under_way);
        answers::merge(&mut self.answers, other.answers);
        self.begun = [self.begun, other.begun].into_iter().flatten().min();
    }

    /// Returns the exhausted caps in the order in which they were first met.
    #[must_use]
    pub fn sorted_caps(&self) -> Vec<(&CapKey, &CapTally)> {
        let mut list: Vec<_> = self.caps.iter().collect();
        list.sort_unstable_by_key(|(key, cap)| (cap.first, cap.last, key.class));
        list
    }
}

impl<'a> Fleet<'a> {
    /// Creates an empty summary.
    #[must_use]
    pub fn new(table: &'a AttemptTable) -> Fleet<'a> {
        Fleet { table, stats: FleetStats::default() }
    }

    /// Adds one call that has ended.
    pub fn absorb(&mut self, call: &Call<'_>, terms: &CallTerms) {
        self.stats.absorb(call, Time(i64::MIN), terms);
    }

    /// Judges all short-term counts; nothing may follow.
    pub fn settle(&mut self, terms: &Terms) {
        self.stats.settle(self.table, Time(i64::MAX), terms);
    }

    /// Adds the summary of other calls of the same table.
    pub fn merge(&mut self, other: Fleet<'a>) {
        self.stats.merge(self.table, other.stats);
    }
}
