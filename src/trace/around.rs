//! Other traffic around a traced call, on the same rate-limit scope and on all others.

use crate::calls::Call;
use crate::classify::Class;
use crate::model::{AttemptTable, LimitKind, Scope, Symbol, Time};
use crate::report::Share;
use crate::untrusted::masked;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// Maximum number of failure kinds listed per side (same scope, elsewhere).
const SHOWN: usize = 8;

/// Attempts of other calls sent in a time window around the traced calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Surroundings {
    /// Start of the window.
    pub from: Time,
    /// End of the window.
    pub until: Time,
    /// Provider, model and account of the first traced call.
    pub scope: String,
    /// Failed attempts, of all other attempts with the same provider, model and account.
    pub here: Share,
    /// Failures counted in `here`, by class, most frequent first.
    pub here_failures: Vec<Failures>,
    /// Failed attempts, of all attempts with another provider, model or account.
    pub elsewhere: Share,
    /// Failures counted in `elsewhere`, by scope and class, most frequent first.
    pub elsewhere_failures: Vec<Failures>,
    /// Of the other attempts on the same scope, those that failed with a class that a traced call met too.
    pub alike: Share,
    /// Remaining quota of each limit of the scope before, during and after the traced calls.
    pub headroom: Vec<HeadroomAround>,
}

/// Failures of one class, within one scope.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Failures {
    /// Provider, model and account; `None` for the scope of the traced calls.
    pub scope: Option<String>,
    /// Failure class.
    pub class: &'static str,
    /// Number of failed attempts.
    #[serde(rename = "sends")]
    pub attempts: u64,
    /// Number of calls these attempts belong to.
    pub calls: u64,
    /// When the first of them was sent.
    pub first: Time,
    /// When the last of them was sent.
    pub last: Time,
}

/// Remaining quota of one rate limit around the traced calls.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeadroomAround {
    /// What the limit counts.
    pub limit_kind: LimitKind,
    /// Last reading before the first attempt was sent.
    pub before: Option<LimitReading>,
    /// Lowest reading while the calls were in progress.
    pub least: Option<LimitReading>,
    /// First reading after the last answer.
    pub after: Option<LimitReading>,
}

/// One reading of a rate limit, from the headers of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LimitReading {
    /// When it was read.
    pub at: Time,
    /// Remaining quota.
    pub remaining: i64,
    /// The limit itself.
    pub limit: i64,
}

/// Inputs from which [`Surroundings`] are computed.
pub(super) struct Around<'c, 'a> {
    calls: &'c [Call<'a>],
    /// Rows of the traced calls, whether shown or not; they are excluded from the counts.
    meant: HashSet<u32>,
    shown: &'c [&'c Call<'a>],
    window: (Time, Time),
}

/// Attempts, calls, time of the first and time of the last attempt.
type Count = (u64, u64, Time, Time);

impl<'c, 'a> Around<'c, 'a> {
    /// `meant` are those of `calls` that the id names, `shown` those of `meant` that are part of the output.
    pub(super) fn new(
        calls: &'c [Call<'a>],
        meant: &[&Call<'a>],
        shown: &'c [&'c Call<'a>],
        window: (Time, Time),
    ) -> Around<'c, 'a> {
        let meant = meant.iter().flat_map(|call| call.rows().iter().copied()).collect();
        Around { calls, meant, shown, window }
    }

    /// Computes the surroundings; `None` if no call is shown.
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

    /// Readings within the window of each limit of `scope`, from rate-limit headers.
    fn headroom(&self, table: &AttemptTable, scope: &Scope) -> Vec<HeadroomAround> {
        let sent = self.shown.iter().map(|call| call.first().sent).min();
        let ended = self.shown.iter().map(|call| call.ended()).max();
        let (Some(sent), Some(ended)) = (sent, ended) else { return Vec::new() };
        let mut list: Vec<HeadroomAround> = Vec::new();
        for (_, limit_kind, readings) in table.headroom.iter().filter(|(of, ..)| of == scope) {
            let readings = readings.series.clone().sorted().1;
            let points = readings.iter().flat_map(|(_, summary)| {
                let limit = summary.lowest.limit;
                let point = |(at, remaining): (Time, i64)| LimitReading { at, remaining, limit };
                [point(summary.first), point((summary.lowest.at, summary.lowest.remaining)), point(summary.last)]
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

/// Returns the counts whose scope fulfils `is_meant`, most frequent first, at most [`SHOWN`].
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
    // Ties are broken by name, not by symbol: symbol numbers depend on the order of the files.
    list.sort_by_key(|one| (std::cmp::Reverse(one.attempts), one.scope.clone(), one.class));
    list.truncate(SHOWN);
    list
}

/// Provider, model and account, joined by spaces, keys masked.
fn named(table: &AttemptTable, scope: &Scope) -> String {
    let names = [scope.provider, scope.model, scope.org, scope.workspace, scope.api_key];
    let names: Vec<&str> = names.iter().filter_map(|symbol: &Symbol| table.names.get(*symbol)).collect();
    if names.is_empty() { "an unnamed scope".to_owned() } else { masked(&names.join(" ")) }
}
