//! Failures of one class over time, and the stretches in which they cluster.

use super::distinct::Distinct;
use super::flow::Flow;
use super::peaks::{Most, Rate};
use super::row_ref::RowRef;
use super::service::Service;
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, Mergeable, Series, Time};
use foldhash::fast::RandomState;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::HashMap;

/// Failing attempts kept as examples of one stretch.
const EXAMPLES: usize = 3;

/// Attempts that failed with one class in one stretch of time.
#[derive(Clone, Debug)]
pub(super) struct FailureCount {
    /// Attempts.
    failed: u64,
    /// Calls whose first such failure is among them.
    calls: u64,
    runs: Distinct,
    /// When the first and the last of them was sent.
    seen: (Time, Time),
    /// The earliest of them, in order.
    examples: SmallVec<[RowRef; EXAMPLES]>,
}

impl Mergeable for FailureCount {
    fn merge(&mut self, other: &FailureCount) {
        self.failed += other.failed;
        self.calls += other.calls;
        self.runs.merge(&other.runs);
        self.seen = (self.seen.0.min(other.seen.0), self.seen.1.max(other.seen.1));
        self.examples.extend_from_slice(&other.examples);
        self.examples.sort_unstable();
        self.examples.truncate(EXAMPLES);
    }
}

/// Failing attempts within a minute.
#[derive(Debug, Default)]
struct PerMinute {
    rate: Rate,
    /// The most within a minute that ended in a stretch of time.
    most: Series<Most>,
}

/// By service and class.
#[derive(Debug, Default)]
pub struct FailureClusters {
    flares: HashMap<(Service, Class), Series<FailureCount>, RandomState>,
    rates: HashMap<(Service, Class), PerMinute, RandomState>,
}

/// Whether a failure of the class says something about more than the request that failed.
pub(super) fn is_shared(class: Class) -> bool {
    !matches!(
        class,
        Class::InvalidRequest
            | Class::RequestTooLarge
            | Class::RequestOverLimit
            | Class::ContextTooLong
            | Class::ContentPolicy
            | Class::SchemaError
            | Class::Cancelled
            | Class::Conflict
            | Class::NotFound
    )
}

impl FailureClusters {
    /// Takes in the failures of one call.
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        let mut met: SmallVec<[(Service, Class); 4]> = SmallVec::new();
        for (position, attempt) in call.attempts().enumerate() {
            let Some(class) = attempt.class.filter(|class| is_shared(*class)) else { continue };
            let key = (Service::of(&call.origin(position).scope()), class);
            let first = !met.contains(&key);
            if first {
                met.push(key);
            }
            let flare = FailureCount {
                failed: 1,
                calls: u64::from(first),
                runs: Distinct::one(call.table().names.text(attempt.run)),
                seen: (attempt.sent, attempt.sent),
                examples: SmallVec::from_slice(&[RowRef::of(call.table(), call.rows()[position])]),
            };
            self.flares.entry(key).or_default().add(attempt.sent, flare);
        }
    }

    pub(super) fn merge(&mut self, other: FailureClusters) {
        for (key, series) in other.flares {
            self.flares.entry(key).or_default().merge(series);
        }
        for (key, theirs) in other.rates {
            let mine = self.rates.entry(key).or_default();
            mine.rate.merge(theirs.rate);
            mine.most.merge(theirs.most);
        }
    }

    /// Takes in failures of one service as soon as they are read, whether or not their calls are over.
    pub(super) fn follow(&mut self, service: Service, failures: Vec<(Time, Class)>) {
        for (sent, class) in failures {
            self.rates.entry((service, class)).or_default().rate.add(sent);
        }
    }

    /// Counts the failures that were sent before `until`, given that none of them is still to come.
    pub(super) fn settle(&mut self, until: Time) {
        for PerMinute { rate, most } in self.rates.values_mut() {
            rate.settle(until, most);
        }
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let flares = self.flares.values_mut().flat_map(|series| series.each_mut());
        flares.flat_map(|flare| &mut flare.examples).for_each(|spot| visit(&mut spot.row));
    }

    /// Every service and class with its incidents, in time order, given the sends of each service.
    pub fn incidents<'f>(
        &self,
        sends: impl Fn(Service) -> Cow<'f, Series<Flow>>,
    ) -> Vec<(Service, Class, Vec<Incident>)> {
        let mut known: HashMap<(Service, i64), Flows, RandomState> = HashMap::default();
        let mut found = |key: &(Service, Class), series: &Series<FailureCount>| {
            let width = series.width_us().max(STRETCH_US);
            let flows = known.entry((key.0, width)).or_insert_with(|| sends(key.0).no_finer_than(width));
            let mut list = incidents(series, flows);
            if let Some(rate) = self.rates.get(key) {
                list.iter_mut().for_each(|incident| incident.peak_per_min = rate.most_in(incident));
            }
            list
        };
        self.flares.iter().map(|(key, series)| (key.0, key.1, found(key, series))).collect()
    }
}

/// Incidents, and how many there are besides.
pub type WorstIncidents = (Vec<(Service, Class, Incident)>, u64);

/// A stretch of time in which failures of one class clustered.
#[derive(Clone, Debug)]
pub struct Incident {
    /// When the first failing attempt was sent, and the last.
    pub seen: (Time, Time),
    /// Failing attempts.
    pub failed: u64,
    /// Sends to the service in the stretches of time it covers.
    pub sends: u64,
    /// Calls that first failed so in it.
    pub calls: u64,
    /// Runs hit, and whether the number is exact.
    pub runs: (u64, bool),
    /// The most failing attempts within a minute.
    pub peak_per_min: u64,
    /// The first send afterwards that succeeded.
    pub recovered: bool,
    /// The earliest failing attempts.
    pub examples: Vec<RowRef>,
    hit: Distinct,
}

/// Stretches of 2^24 µs, some 17 s: an outage that is over sooner is met by one retry.
const STRETCH_US: i64 = 1 << 24;
/// Failures this far apart belong to one incident: the longest wait that retry loops choose of themselves.
const GAP_US: i64 = crate::calls::LONGEST_PLAUSIBLE_WAIT_US;
/// One send in so many fails, at least.
const ONE_IN: u64 = 5;
/// Least failing attempts.
const LEAST_FAILED: u64 = 5;
/// Least calls, where they all belong to one run.
const LEAST_CALLS: u64 = 3;

/// Sends in stretches of so many µs.
type Flows = (i64, Vec<(Time, Flow)>);

fn incidents(failures: &Series<FailureCount>, (width, flow): &Flows) -> Vec<Incident> {
    let (width, failures) = failures.no_finer_than(*width);
    let sent = |from: Time, until: Time| -> u64 {
        let first = flow.partition_point(|(at, _)| *at < from);
        flow[first..].iter().take_while(|(at, _)| *at < until).map(|(_, flow)| flow.sends).sum()
    };
    let mut list: Vec<Incident> = Vec::new();
    for (at, flare) in failures {
        let here = sent(at, at.plus_us(width));
        if flare.failed * ONE_IN < here {
            continue;
        }
        match list.last_mut() {
            Some(last) if flare.seen.0.us_since(last.seen.1) <= GAP_US => last.extend(&flare, here),
            _ => list.push(Incident::of(&flare, here)),
        }
    }
    list.retain(|incident| {
        let cluster = incident.runs.0 >= 2 || incident.calls >= LEAST_CALLS;
        cluster && incident.failed >= LEAST_FAILED
    });
    let ok = flow.iter().filter_map(|(_, flow)| flow.last_ok).max();
    for incident in &mut list {
        incident.recovered = ok.is_some_and(|ok| ok > incident.seen.1);
    }
    list
}

impl Incident {
    fn of(flare: &FailureCount, sends: u64) -> Incident {
        Incident {
            seen: flare.seen,
            failed: flare.failed,
            sends,
            calls: flare.calls,
            runs: flare.runs.count(),
            peak_per_min: 0,
            recovered: false,
            examples: flare.examples.to_vec(),
            hit: flare.runs.clone(),
        }
    }

    fn extend(&mut self, flare: &FailureCount, sends: u64) {
        self.seen.1 = self.seen.1.max(flare.seen.1);
        self.failed += flare.failed;
        self.sends += sends;
        self.calls += flare.calls;
        self.hit.merge(&flare.runs);
        self.runs = self.hit.count();
        self.examples.extend(flare.examples.iter().copied());
        self.examples.truncate(EXAMPLES);
    }

    /// The service's id of the earliest failing attempts, where logged.
    pub fn request_ids<'t>(&self, table: &'t AttemptTable) -> impl Iterator<Item = &'t str> + use<'t, '_> {
        self.examples.iter().filter_map(|spot| {
            let detail = table.detail(&table.rows[spot.row as usize])?;
            table.text(detail.request_id)
        })
    }
}

impl PerMinute {
    /// The most failing attempts of an incident within a minute.
    fn most_in(&self, incident: &Incident) -> u64 {
        let (width, most) = self.most.by_time();
        let within = most.iter().filter(|(at, _)| *at <= incident.seen.1 && at.plus_us(width) > incident.seen.0);
        within.map(|(_, most)| most.0.min(incident.failed)).max().unwrap_or(0)
    }
}
