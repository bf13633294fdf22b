//! Failures of one kind over time, and the incidents in which they cluster.

use super::distinct::Distinct;
use super::flow::Flow;
use super::peaks::{Maximum, Rate};
use super::row_ref::RowRef;
use super::service::Service;
use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, Mergeable, Time, TimeSeries};
use foldhash::fast::RandomState;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Failed attempts kept as examples for each bucket.
const EXAMPLES: usize = 3;

/// Number of attempts by class.
type ClassCounts = SmallVec<[(Class, u64); 2]>;

/// Failures of one kind in one time bucket.
#[derive(Clone, Debug)]
pub(super) struct FailureCount {
    /// Number of attempts.
    failed: u64,
    /// Number of attempts by class.
    classes: ClassCounts,
    /// Calls whose first failure of this kind is among them.
    calls: u64,
    runs: Distinct,
    /// Send times of the first and the last of them.
    seen: (Time, Time),
    /// The earliest of them, in order.
    examples: SmallVec<[RowRef; EXAMPLES]>,
}

impl Mergeable for FailureCount {
    fn merge(&mut self, other: &FailureCount) {
        self.failed += other.failed;
        add(&mut self.classes, &other.classes);
        self.calls += other.calls;
        self.runs.merge(&other.runs);
        self.seen = (self.seen.0.min(other.seen.0), self.seen.1.max(other.seen.1));
        for example in &other.examples {
            let place = self.examples.partition_point(|known| known < example);
            if place < EXAMPLES {
                self.examples.truncate(EXAMPLES - 1);
                self.examples.insert(place, *example);
            }
        }
    }
}

fn add(mine: &mut ClassCounts, theirs: &[(Class, u64)]) {
    for (class, attempts) in theirs {
        match mine.iter_mut().find(|(flows_by_width, _)| flows_by_width == class) {
            Some((_, flows_by_width)) => *flows_by_width += attempts,
            None => mine.push((*class, *attempts)),
        }
    }
}

/// Failed attempts within a minute.
#[derive(Debug, Default)]
struct PerMinute {
    rate: Rate,
    /// Largest number within a minute, by the time bucket in which the minute ended.
    peaks: TimeSeries<Maximum>,
}

/// Failures by service and kind.
#[derive(Debug, Default)]
pub struct FailureClusters {
    series: HashMap<(Service, FailureKind), TimeSeries<FailureCount>, RandomState>,
    rates: HashMap<(Service, FailureKind), PerMinute, RandomState>,
}

/// Returns whether a failure of the class may affect other requests than the one that failed.
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

/// Kind of failure, which groups related classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FailureKind {
    /// The service, or the path to it, is down or short of capacity. One outage shows in many ways: as an overload
    /// reported by the service, as a 503 of a proxy in front, as a timeout, or as no response.
    Outage,
    /// The caller's own rate limit.
    RateLimit,
    /// Any other class, as a kind of its own.
    Other(Class),
}

impl FailureKind {
    fn of(class: Class) -> FailureKind {
        match class {
            Class::Overloaded | Class::GatewayError | Class::ServerError | Class::Timeout | Class::Connection => {
                FailureKind::Outage
            }
            Class::RateLimited | Class::UnexplainedRateLimit => FailureKind::RateLimit,
            other => FailureKind::Other(other),
        }
    }
}

impl FailureClusters {
    /// Adds the failures of one call.
    pub(super) fn absorb(&mut self, call: &Call<'_>) {
        let mut seen_kinds: SmallVec<[(Service, FailureKind); 4]> = SmallVec::new();
        for (position, attempt) in call.attempts().enumerate() {
            let Some(class) = attempt.class.filter(|class| is_shared(*class)) else { continue };
            let key = (Service::of(&call.origin(position).scope()), FailureKind::of(class));
            let first = !seen_kinds.contains(&key);
            if first {
                seen_kinds.push(key);
            }
            let bucket = FailureCount {
                failed: 1,
                classes: SmallVec::from_slice(&[(class, 1)]),
                calls: u64::from(first),
                runs: Distinct::one(call.table().names.text(attempt.run)),
                seen: (attempt.sent, attempt.sent),
                examples: SmallVec::from_slice(&[RowRef::of(call.table(), call.rows()[position])]),
            };
            self.series.entry(key).or_default().add(attempt.sent, bucket);
        }
    }

    pub(super) fn merge(&mut self, other: FailureClusters) {
        for (key, series) in other.series {
            self.series.entry(key).or_default().merge(series);
        }
        for (key, theirs) in other.rates {
            let mine = self.rates.entry(key).or_default();
            mine.rate.merge(theirs.rate);
            mine.peaks.merge(theirs.peaks);
        }
    }

    /// Adds failures of one service as soon as they are read, whether or not their calls have ended.
    pub(super) fn add_failures(&mut self, service: Service, failures: Vec<(Time, Class)>) {
        for (sent, class) in failures {
            self.rates.entry((service, FailureKind::of(class))).or_default().rate.add(sent);
        }
    }

    /// Counts the failures sent before `until`, given that none of them is still to come.
    pub(super) fn settle(&mut self, until: Time) {
        for PerMinute { rate, peaks } in self.rates.values_mut() {
            rate.settle(until, peaks);
        }
    }

    pub(super) fn each_row(&mut self, visit: &mut dyn FnMut(&mut u32)) {
        let series = self.series.values_mut().flat_map(|series| series.each_mut());
        series.flat_map(|bucket| &mut bucket.examples).for_each(|example| visit(&mut example.row));
    }

    /// Returns the incidents of every service and kind of failure in time order, given the sends of each service.
    pub fn incidents<'f>(&self, sends: impl Fn(Service) -> Cow<'f, TimeSeries<Flow>>) -> Vec<(Service, Vec<Incident>)> {
        let mut flows_by_width: HashMap<(Service, i64), Flows, RandomState> = HashMap::default();
        let mut found = |key: &(Service, FailureKind), series: &TimeSeries<FailureCount>| {
            let width = series.width_us().max(MIN_BUCKET_US);
            let flows = flows_by_width.entry((key.0, width)).or_insert_with(|| sends(key.0).no_finer_than(width));
            let mut list = incidents(series, flows);
            if let Some(rate) = self.rates.get(key) {
                list.iter_mut().for_each(|incident| incident.peak_per_min = rate.peak_within(incident));
            }
            if !list.is_empty() {
                let sends = sends(key.0);
                list.iter_mut().for_each(|incident| incident.count_sends(&sends));
            }
            list
        };
        self.series.iter().map(|(key, series)| (key.0, found(key, series))).collect()
    }
}

/// The worst incidents of a fleet in time order, and the number of others.
pub type WorstIncidents = (Vec<(Service, Incident)>, u64);

/// A period in which failures of one kind clustered.
#[derive(Clone, Debug)]
pub struct Incident {
    /// Number of failed attempts by class, the most frequent first.
    pub classes: SmallVec<[(Class, u64); 2]>,
    /// Send times of the first and the last failed attempt.
    pub seen: (Time, Time),
    /// Number of failed attempts.
    pub failed: u64,
    /// Sends to the service from its first to its last failed attempt.
    pub sends: u64,
    /// Whether `sends` is exact; otherwise it includes all sends of the time buckets at its ends.
    pub sends_exact: bool,
    /// Calls whose first failure of this kind is in it.
    pub calls: u64,
    /// Number of runs affected, and whether it is exact.
    pub runs: (u64, bool),
    /// Largest number of failed attempts within a minute.
    pub peak_per_min: u64,
    /// Whether a later send succeeded.
    pub recovered: bool,
    /// The earliest failed attempts.
    pub examples: Vec<RowRef>,
    run_set: Distinct,
}

/// Smallest bucket width, in µs: 2^24 µs are some 17 s. A retry usually succeeds after a shorter outage, which is no
/// incident.
const MIN_BUCKET_US: i64 = 1 << 24;
/// Largest gap between failures of one incident, in µs: the longest wait retry loops choose by themselves.
const GAP_US: i64 = crate::calls::LONGEST_PLAUSIBLE_WAIT_US;
/// In every bucket of an incident, at least one in this many sends fails.
const MIN_FAILED_ONE_IN: u64 = 5;
/// Minimum number of failed attempts.
const MIN_FAILED: u64 = 5;
/// Minimum number of calls if all belong to one run.
const MIN_CALLS: u64 = 3;

/// Bucket width in µs, and sends by bucket.
type Flows = (i64, Vec<(Time, Flow)>);

fn incidents(failures: &TimeSeries<FailureCount>, (width, flow): &Flows) -> Vec<Incident> {
    let (width, failures) = failures.no_finer_than(*width);
    let sent = |from: Time, until: Time| -> u64 {
        let first = flow.partition_point(|(at, _)| *at < from);
        flow[first..].iter().take_while(|(at, _)| *at < until).map(|(_, flow)| flow.sends).sum()
    };
    let mut list: Vec<Incident> = Vec::new();
    for (at, bucket) in failures {
        let sends_in_bucket = sent(at, at.plus_us(width));
        if bucket.failed * MIN_FAILED_ONE_IN < sends_in_bucket {
            continue;
        }
        match list.last_mut() {
            Some(last) if bucket.seen.0.us_since(last.seen.1) <= GAP_US => last.extend(&bucket),
            _ => list.push(Incident::of(&bucket)),
        }
    }
    list.retain(|incident| {
        let cluster = incident.runs.0 >= 2 || incident.calls >= MIN_CALLS;
        cluster && incident.failed >= MIN_FAILED
    });
    let ok = flow.iter().filter_map(|(_, flow)| flow.last_ok).max();
    for incident in &mut list {
        incident.classes.sort_unstable_by_key(|(class, attempts)| (Reverse(*attempts), *class));
        incident.recovered = ok.is_some_and(|ok| ok > incident.seen.1);
    }
    list
}

impl Incident {
    fn of(bucket: &FailureCount) -> Incident {
        Incident {
            classes: bucket.classes.clone(),
            seen: bucket.seen,
            failed: bucket.failed,
            sends: bucket.failed,
            sends_exact: false,
            calls: bucket.calls,
            runs: bucket.runs.count(),
            peak_per_min: 0,
            recovered: false,
            examples: bucket.examples.to_vec(),
            run_set: bucket.runs.clone(),
        }
    }

    fn extend(&mut self, bucket: &FailureCount) {
        self.seen.1 = self.seen.1.max(bucket.seen.1);
        self.failed += bucket.failed;
        add(&mut self.classes, &bucket.classes);
        self.calls += bucket.calls;
        self.run_set.merge(&bucket.runs);
        self.runs = self.run_set.count();
        self.examples.extend(bucket.examples.iter().copied());
        self.examples.truncate(EXAMPLES);
    }

    /// Counts the sends to the service while it lasted.
    fn count_sends(&mut self, flow: &TimeSeries<Flow>) {
        let (from, until) = self.seen;
        let span = |flow: &Flow| Some((flow.first?.sent, flow.last?));
        let within = flow.iter().filter_map(|(_, flow)| Some((flow.sends, span(flow)?)));
        let within = within.filter(|(_, (first, last))| *first <= until && *last >= from);
        (self.sends, self.sends_exact) = within.fold((0, true), |(sum, exact), (sends, (first, last))| {
            (sum + sends, exact && first >= from && last <= until)
        });
    }

    /// Returns the class of most of its failed attempts.
    #[must_use]
    pub fn class(&self) -> Class {
        self.classes.first().map_or(Class::Unknown, |(class, _)| *class)
    }

    /// Returns the provider's request ids of the earliest failed attempts, if logged.
    pub fn request_ids<'t>(&self, table: &'t AttemptTable) -> impl Iterator<Item = &'t str> + use<'t, '_> {
        self.examples.iter().filter_map(|example| {
            let detail = table.detail(&table.rows[example.row as usize])?;
            table.text(detail.request_id)
        })
    }
}

impl PerMinute {
    /// Returns the largest number of failed attempts of an incident within a minute.
    fn peak_within(&self, incident: &Incident) -> u64 {
        let (width, peaks) = self.peaks.by_time();
        let within = peaks.iter().filter(|(at, _)| *at <= incident.seen.1 && at.plus_us(width) > incident.seen.0);
        within.map(|(_, peaks)| peaks.0.min(incident.failed)).max().unwrap_or(0)
    }
}
