//! The summary of all calls.

use super::answers::{self, AnswerSource, AnswersBy};
use super::backoff::Backoffs;
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
use super::starts::RunMark;
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
    /// Concurrent calls, counted if the size of a connection pool is declared.
    pub under_way: UnderWay,
    /// How the answers of each client end.
    pub answers: AnswersBy,
    /// Time of the first send.
    pub begins_at: Option<Time>,
    /// Sums by service, computed on first use.
    pub(super) by_service: OnceLock<HashMap<Service, ServiceSums, RandomState>>,
    /// The worst incidents, computed on first use.
    pub(super) worst_incidents: OnceLock<WorstIncidents>,
    /// Sums of the calls of one successful attempt.
    pub(super) pairs: Pairs,
    /// Cached index and mark of each run.
    known_runs: DirectCache<Symbol, (usize, RunMark)>,
    /// Cached indices of the scope and the sender of each origin.
    known_origins: DirectCache<OriginId, (usize, usize)>,
    /// Cached index in `answers` of each origin, with and without streaming.
    known_sources: DirectCache<(OriginId, bool), usize>,
}

/// Sums of one service, over all accounts.
#[derive(Debug, Default)]
pub(super) struct ServiceSums {
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
        let firsts = self.recoveries.values_mut().flat_map(|recovery| [&mut recovery.first, &mut recovery.next.first]);
        firsts.for_each(|first| RowRef::each_row(first, visit));
        self.failure_clusters.each_row(visit);
        self.layers.values_mut().for_each(|tally| RowRef::each_row(&mut tally.first, visit));
        self.answers.values_mut().for_each(|answers| answers.each_row(visit));
    }

    /// Adds one call that has ended. Its attempts sent before `since` are already in the counts over time.
    pub fn absorb(&mut self, call: &Call<'_>, since: Time, terms: &CallTerms) {
        self.tally.absorb(call);
        let (run, mark) = self.run_of(call.table(), call.first().run);
        self.runs[run].absorb(call, terms);
        self.absorb_senders(call, run);
        let layered = layers::absorb(&mut self.layers, call);
        let sent = call.in_send_order();
        self.runs[run].terminal_failures.follow(&sent, since);
        for (nth, (scope, origin)) in scopes_of(call).into_iter().enumerate() {
            let (index, _) = self.indices_of(call.table(), origin);
            if call.is_untimed() {
                // Without times, the call is in no count over time.
                continue;
            }
            let tally = &mut self.scopes[index];
            if nth == 0 {
                tally.absorb(call, scope, layered)
            } else {
                tally.absorb_attempts(call, scope)
            }
            tally.short_window.follow(&sent, mark, scope, since, terms);
        }
        self.follow_over_time(&sent, since, terms);
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
            let index = entry.index();
            entry.or_default();
            (index, RunMark::of(table, run))
        })
    }

    #[inline]
    pub(super) fn indices_of(&mut self, table: &AttemptTable, origin: OriginId) -> (usize, usize) {
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
    pub(super) fn source_index(&mut self, table: &AttemptTable, attempt: &Attempt) -> usize {
        let FleetStats { answers, known_sources, .. } = self;
        let (origin, stream) = (attempt.origin, attempt.flags.has(Flags::STREAM));
        known_sources.get((origin, stream), origin.0 as usize * 2 + usize::from(stream), || {
            let entry = answers.entry(AnswerSource::of(table.origin(attempt), stream));
            let index = entry.index();
            entry.or_default();
            index
        })
    }

    pub(super) fn note_start(&mut self, sent: Time) {
        self.begins_at = Some(self.begins_at.map_or(sent, |before| before.min(sent)));
    }

    /// Adds the attempts of a call that may still continue to the counts over time, if they were sent at `since` or
    /// later.
    pub fn follow(&mut self, call: &Call<'_>, since: Time, terms: &CallTerms) {
        let sent = call.in_send_order();
        let (run, mark) = self.run_of(call.table(), call.first().run);
        self.runs[run].terminal_failures.follow(&sent, since);
        for (scope, origin) in scopes_of(call).into_iter().filter(|_| !call.is_untimed()) {
            let (index, _) = self.indices_of(call.table(), origin);
            self.scopes[index].short_window.follow(&sent, mark, scope, since, terms);
        }
        self.follow_over_time(&sent, since, terms);
    }

    fn follow_over_time(&mut self, sent: &Call<'_>, since: Time, terms: &CallTerms) {
        if sent.is_untimed() {
            return;
        }
        self.note_start(sent.first().sent);
        self.under_way.follow(sent, since);
        if sent.len() > 1 {
            self.backoffs.follow(sent, since, terms);
        }
    }

    /// Moves the short-term counts of other calls of the same table here. None of them may be settled.
    pub fn take_short_windows(&mut self, table: &AttemptTable, other: &mut FleetStats) {
        for (scope, tally) in other.scopes.iter_mut().filter(|(_, tally)| tally.short_window.len() > 0) {
            let short_window = std::mem::take(&mut tally.short_window);
            self.scopes.entry(*scope).or_default().short_window.merge(table, short_window);
        }
        for (run, tally) in other.runs.iter_mut().filter(|(_, tally)| tally.terminal_failures.is_waiting()) {
            let terminal_failures = std::mem::take(&mut tally.terminal_failures);
            self.runs.entry(*run).or_default().terminal_failures.merge(terminal_failures);
        }
        self.backoffs.take_concurrent_waits(table, &mut other.backoffs);
        self.under_way.add_unsettled(&mut other.under_way);
        other.begins_at.into_iter().for_each(|begins_at| self.note_start(begins_at));
    }

    /// Returns the number of entries of the short-term counts, which are kept until they can be judged and no longer
    /// affect others.
    #[must_use]
    pub fn short_window_len(&self) -> usize {
        self.scopes.values().map(|tally| tally.short_window.len()).sum()
    }

    /// Judges short-term counts as far as they are final, given that all attempts sent before `until` have been added.
    pub fn settle(&mut self, table: &AttemptTable, until: Time, terms: &Terms) {
        (self.by_service, self.worst_incidents) = (OnceLock::new(), OnceLock::new());
        let Some(begin) = self.begins_at else { return };
        let last = self.runs.values().map(|run| run.last).max();
        // The end is unknown while further attempts may be added.
        let end = last.filter(|_| until == Time(i64::MAX)).unwrap_or(Time(i64::MAX));
        for (scope, tally) in &mut self.scopes {
            tally.short_window.settle(table, until, LogRange { begin, end }, terms);
            self.failure_clusters.add_failures(Service::of(scope), tally.short_window.take_failures());
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
        self.begins_at = [self.begins_at, other.begins_at].into_iter().flatten().min();
    }

    /// Returns the exhausted caps in the order of their first refusals.
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

    /// Judges all short-term counts. No calls may be added afterwards.
    pub fn settle(&mut self, terms: &Terms) {
        self.stats.settle(self.table, Time(i64::MAX), terms);
    }

    /// Adds the summary of other calls of the same table.
    pub fn merge(&mut self, other: Fleet<'a>) {
        self.stats.merge(self.table, other.stats);
    }
}
