//! What else went on while a call was made: on the same limit, and elsewhere.

use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, LimitKind, Scope, Symbol, Time};
use crate::report::Share;
use crate::untrusted::masked;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// Kinds of failures listed for each side.
const SHOWN: usize = 8;

/// Other attempts within a stretch of time around the calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Surroundings {
    /// From.
    pub from: Time,
    /// Until.
    pub until: Time,
    /// Provider, model and account of the calls.
    pub scope: String,
    /// Other attempts on the same provider, model and account that failed, of all there.
    pub here: Share,
    /// How, most frequent first.
    pub here_failures: Vec<Failures>,
    /// Attempts on all others that failed, of all there.
    pub elsewhere: Share,
    /// How and where, most frequent first.
    pub elsewhere_failures: Vec<Failures>,
    /// Of the other attempts on the same scope, those that failed for a reason for which the call failed too.
    pub alike: Share,
    /// What was left of each limit of the scope before the first attempt, and after the last answer.
    pub headroom: Vec<HeadroomAround>,
}

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failures {
    /// Where, if not on the scope of the calls.
    pub scope: Option<String>,
    /// Failure class.
    pub class: &'static str,
    /// Attempts.
    #[serde(rename = "sends")]
    pub attempts: u64,
    /// Calls they are of.
    pub calls: u64,
    /// The first of them.
    pub first: Time,
    /// The last.
    pub last: Time,
}

/// What was left of one limit around the calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeadroomAround {
    /// Which limit.
    pub limit_kind: LimitKind,
    /// The last reading before the first attempt.
    pub before: Option<LimitReading>,
    /// The least while the calls were made.
    pub least: Option<LimitReading>,
    /// The first reading after the last answer.
    pub after: Option<LimitReading>,
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LimitReading {
    /// When.
    pub at: Time,
    /// What was left.
    pub remaining: i64,
    /// Of how much.
    pub limit: i64,
}

/// What [`Surroundings`] are drawn from.
pub(super) struct Around<'c, 'a> {
    calls: &'c [Call<'a>],
    /// The calls meant: they are not part of what is around them.
    meant: HashSet<u32>,
    shown: &'c [&'c Call<'a>],
    window: (Time, Time),
}

/// Counts of one kind of failure: attempts, calls, first and last.
type Count = (u64, u64, Time, Time);

impl<'c, 'a> Around<'c, 'a> {
    /// Of all `calls`, those meant, and of them those shown.
    pub(super) fn new(
        calls: &'c [Call<'a>],
        meant: &[&Call<'a>],
        shown: &'c [&'c Call<'a>],
        window: (Time, Time),
    ) -> Around<'c, 'a> {
        let meant = meant.iter().flat_map(|call| call.rows().iter().copied()).collect();
        Around { calls, meant, shown, window }
    }

    /// Counts everything; `None` where no call is shown.
    pub(super) fn tell(&self) -> Option<Surroundings> {
        let first = self.shown.first()?;
        let table = first.table();
        let scopes: HashSet<Scope> = self.shown.iter().flat_map(|call| scopes(call)).collect();
        let met: HashSet<Class> =
            self.shown.iter().flat_map(|call| call.attempts()).filter_map(|attempt| attempt.class).collect();
        let (mut here, mut elsewhere, mut alike) = (Share::default(), Share::default(), 0);
        let mut counts: BTreeMap<(Option<Scope>, &'static str), Count> = BTreeMap::new();
        for call in self.calls.iter().filter(|call| !self.meant.contains(&call.rows()[0])) {
            let mut seen = HashSet::new();
            for position in 0..call.len() {
                let attempt = call.at(position);
                if attempt.sent < self.window.0 || attempt.sent > self.window.1 {
                    continue;
                }
                let scope = call.origin(position).scope();
                let is_here = scopes.contains(&scope);
                let side = if is_here { &mut here } else { &mut elsewhere };
                side.of += 1;
                let Some(class) = attempt.class else { continue };
                side.count += 1;
                alike += u64::from(is_here && met.contains(&class));
                let key = ((!is_here).then_some(scope), class.name());
                let count = counts.entry(key).or_insert((0, 0, attempt.sent, attempt.sent));
                count.0 += 1;
                count.1 += u64::from(seen.insert(key));
                count.2 = count.2.min(attempt.sent);
                count.3 = count.3.max(attempt.sent);
            }
        }
        Some(Surroundings {
            from: self.window.0,
            until: self.window.1,
            scope: named(table, &first.origin(0).scope()),
            here_failures: failures(table, &counts, |scope| scope.is_none()),
            elsewhere_failures: failures(table, &counts, |scope| scope.is_some()),
            alike: Share { count: alike, of: here.of },
            here,
            elsewhere,
            headroom: self.headroom(table, &first.origin(0).scope()),
        })
    }

    /// Readings of the scope of the first call, from the headers that were read.
    fn headroom(&self, table: &AttemptTable, scope: &Scope) -> Vec<HeadroomAround> {
        let sent = self.shown.iter().map(|call| call.first().sent).min();
        let ended = self.shown.iter().map(|call| call.ended()).max();
        let (Some(sent), Some(ended)) = (sent, ended) else { return Vec::new() };
        let mut list: Vec<HeadroomAround> = Vec::new();
        for (_, limit_kind, track) in table.gauges.iter().filter(|(of, ..)| of == scope) {
            let readings = track.series.clone().sorted().1;
            let points = readings.iter().flat_map(|(_, gauge)| {
                let limit = gauge.min.1;
                let point = |(at, remaining): (Time, i64)| LimitReading { at, remaining, limit };
                [point(gauge.first), point((gauge.min.2, gauge.min.0)), point(gauge.last)]
            });
            let points: Vec<LimitReading> =
                points.filter(|point| self.window.0 <= point.at && point.at <= self.window.1).collect();
            let at = |point: &LimitReading| (point.at, point.remaining);
            let around = HeadroomAround {
                limit_kind,
                before: points.iter().filter(|point| point.at < sent).max_by_key(|point| at(point)).copied(),
                least: points
                    .iter()
                    .filter(|point| sent <= point.at && point.at <= ended)
                    .min_by_key(|point| (point.remaining, point.at))
                    .copied(),
                after: points.iter().filter(|point| point.at > ended).min_by_key(|point| at(point)).copied(),
            };
            if around.before.or(around.least).or(around.after).is_some() {
                list.push(around);
            }
        }
        list.sort_by_key(|one| one.limit_kind);
        list
    }
}

fn scopes<'c>(call: &'c Call<'_>) -> impl Iterator<Item = Scope> + 'c {
    (0..call.len()).map(|position| call.origin(position).scope())
}

/// The counts of one side, most frequent first.
fn failures(
    table: &AttemptTable,
    counts: &BTreeMap<(Option<Scope>, &'static str), Count>,
    is_meant: impl Fn(Option<Scope>) -> bool,
) -> Vec<Failures> {
    let mut list: Vec<Failures> = counts
        .iter()
        .filter(|((scope, _), _)| is_meant(*scope))
        .map(|((scope, class), (attempts, calls, first, last))| Failures {
            scope: scope.map(|scope| named(table, &scope)),
            class,
            attempts: *attempts,
            calls: *calls,
            first: *first,
            last: *last,
        })
        .collect();
    // By name where equally many: the numbers of names depend on the order of files.
    list.sort_by_key(|one| (std::cmp::Reverse(one.attempts), one.scope.clone(), one.class));
    list.truncate(SHOWN);
    list
}

/// Provider, model and account in words.
fn named(table: &AttemptTable, scope: &Scope) -> String {
    let names = [scope.provider, scope.model, scope.org, scope.workspace, scope.api_key];
    let names: Vec<&str> = names.iter().filter_map(|symbol: &Symbol| table.names.get(*symbol)).collect();
    if names.is_empty() { "an unnamed scope".to_owned() } else { masked(&names.join(" ")) }
}
