//! Turns the result of a search into the calls behind each id.

use super::around::Around;
use super::wait::wait_source;
use super::*;
use crate::calls::{Call, Horizon, group};
use crate::classify;
use crate::ingest::{Filter, IdField};
use crate::judge::{self, CallRules, Judgement, KeptFinding, horizon};
use crate::measure::{CallTerms, Spent};
use crate::model::{AttemptTable, Flags, Origin, Severity, Symbol, Time};
use crate::report::build::{attempt_ref, finding_order, findings};
use crate::trace::{Answer, Found};
use crate::untrusted::masked;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Maximum number of lines of one trace read back for their other ids and for `--raw`.
const QUOTED: usize = 512;

/// Builds the traces of `ids`, the ids that `found` is the result of; `options` sets how their calls are judged. If
/// `raw`, each attempt includes the text of its record.
#[must_use]
pub fn traces(found: &Found, ids: &[String], options: &judge::Options, raw: bool) -> Traces {
    let complete = options.complete;
    let table = &found.table;
    let known = horizon(table, complete);
    let end = known.data_end.max(found.end.unwrap_or(Time(i64::MIN)));
    let calls = settled(table, &Horizon { data_end: end, ..known });
    let (calls, left_out): (Vec<Call<'_>>, Vec<Call<'_>>) =
        calls.into_iter().partition(|call| options.filter.wants_call(call));
    let fleet = Judged::fleet(&calls, options);
    let mut traces: Vec<Trace> = Vec::new();
    let mut unresolved = Vec::new();
    for (id, answer) in ids.iter().zip(&found.answers) {
        let one = match answer {
            Answer::Found { kind, rows } => follow(id, *kind, rows, &calls, found, &fleet, options),
            _ => None,
        };
        match one {
            Some(mut one) => {
                quote(&mut one, found, raw);
                one.support = support::cases(&one);
                one.same_as = traces.iter().position(|before| is_same(before, &one));
                traces.push(one);
            }
            None => unresolved.push(dead_end(id, answer, &left_out, &options.filter)),
        }
    }
    Traces {
        schema_version: TRACE_SCHEMA_VERSION,
        generator: format!("retrylens {}", env!("CARGO_PKG_VERSION")),
        traces,
        unresolved,
        searched: SearchExtent {
            inputs: found.searched.clone(),
            bytes: found.searched.iter().map(|input| input.bytes).sum(),
            bytes_parsed: found.bytes_parsed,
            bytes_compared: found.bytes_compared,
            attempts: table.rows.len() as u64,
        },
    }
}

fn dead_end(id: &str, answer: &Answer, left_out: &[Call<'_>], filter: &Filter) -> Unresolved {
    let mut one = Unresolved { id: masked(id), ..Unresolved::default() };
    match answer {
        Answer::Found { rows, .. } => {
            one.is_no_attempt = rows.is_empty();
            let meant = left_out.iter().filter(|call| call.all_rows().any(|row| rows.contains(&row)));
            let options: BTreeSet<String> = meant.flat_map(|call| filter.rejects(call)).collect();
            one.left_out_by = options.into_iter().collect();
        }
        Answer::Ambiguous { candidates, more } => {
            one.candidates.clone_from(candidates);
            one.candidates.iter_mut().for_each(|candidate| candidate.id = masked(&candidate.id));
            one.more = *more;
        }
        Answer::Nowhere(near) => {
            one.near.clone_from(near);
            one.near.iter_mut().for_each(|near| near.id = masked(&near.id));
        }
    }
    one
}

fn is_same(a: &Trace, b: &Trace) -> bool {
    let places = |trace: &Trace| -> BTreeSet<(u32, u32)> {
        trace.calls.iter().flat_map(|call| &call.attempts).map(|attempt| attempt.place).collect()
    };
    a.calls_omitted == 0 && b.calls_omitted == 0 && places(a) == places(b)
}

/// Groups the table into calls.
fn settled<'t>(table: &'t AttemptTable, horizon: &Horizon) -> Vec<Call<'t>> {
    let groups = group(table);
    let mut calls = Vec::new();
    for piece in groups.pieces() {
        groups.calls(piece, horizon, |_| true, |call| calls.push(call.clone()));
    }
    calls
}

/// Builds the trace of one id; `None` if no call contains any of `rows`.
fn follow(
    id: &str,
    kind: Kind,
    rows: &[u32],
    calls: &[Call<'_>],
    found: &Found,
    fleet: &Judged<'_>,
    options: &judge::Options,
) -> Option<Trace> {
    let (kind, rows) = narrow(id, kind, &found.table, rows);
    let meant: Vec<&Call<'_>> = calls.iter().filter(|call| call.all_rows().any(|row| rows.contains(&row))).collect();
    let shown = worst(&meant, fleet, options);
    let alike = namesakes(&shown, calls);
    let others = |call: &Call<'_>| {
        let count = call.id().and_then(|id| alike.get(&(call.first().run, id)));
        count.map_or(0, |count| count.saturating_sub(1))
    };
    (!shown.is_empty()).then(|| Trace {
        id: masked(id),
        matched: kind,
        same_as: None,
        surroundings: found.window.and_then(|window| Around::new(calls, &meant, &shown, window).tell()),
        calls: shown
            .iter()
            .map(|call| TracedCall {
                peers: found.window.and_then(|window| peers::peers(call, calls, window)),
                ..call_of(call, others(call), &rows, fleet, options)
            })
            .collect(),
        calls_omitted: (meant.len() - shown.len()) as u64,
        support: Vec::new(),
    })
}

/// Returns the calls to show, in time order: all, or the [`CALLS_SHOWN`] with the worst findings and outcomes.
fn worst<'c, 'a>(meant: &[&'c Call<'a>], fleet: &Judged<'a>, options: &judge::Options) -> Vec<&'c Call<'a>> {
    let order = |call: &&Call<'_>| (call.first().sent, call.id().map(str::to_owned));
    let mut shown = meant.to_vec();
    if meant.len() > CALLS_SHOWN {
        let trouble = |call: &Call<'a>| (fleet.worst(call, options), call.outcome != Outcome::Ok, call.len());
        shown.sort_by_cached_key(|call| (std::cmp::Reverse(trouble(call)), order(call)));
        shown.truncate(CALLS_SHOWN);
    }
    shown.sort_by_cached_key(order);
    shown
}

/// Narrows a mention to a request or call id: the search matches bytes, so an id in a place that only parsing reveals
/// is reported as a mention.
fn narrow(id: &str, kind: Kind, table: &AttemptTable, rows: &[u32]) -> (Kind, HashSet<u32>) {
    if kind == Kind::Mention {
        let request = |row: u32| table.request_id(&table.rows[row as usize]);
        let call = |row: u32| table.call_id(&table.rows[row as usize]);
        let of = |field: &dyn Fn(u32) -> bool| rows.iter().copied().filter(|row| field(*row)).collect();
        let request: HashSet<u32> = of(&|row| request(row) == Some(id));
        let call: HashSet<u32> = of(&|row| call(row) == Some(id));
        for (kind, named) in [(Kind::Request, request), (Kind::Call, call)] {
            if !named.is_empty() {
                return (kind, named);
            }
        }
    }
    (kind, rows.iter().copied().collect())
}

/// Findings of the run and fleet rules over everything that was read.
struct Judged<'a> {
    judgement: Option<Judgement<'a>>,
    /// Highest severity among the findings that cite each row.
    by_row: HashMap<u32, Severity>,
}

impl<'a> Judged<'a> {
    fn fleet(calls: &[Call<'a>], options: &judge::Options) -> Judged<'a> {
        let mut by_row = HashMap::new();
        let Some(first) = calls.first() else { return Judged { judgement: None, by_row } };
        let mut judgement = Judgement::new(first.table());
        let none = CallRules::none(options);
        calls.iter().for_each(|call| judgement.absorb(call, &none, options));
        judgement.judge_fleet(options);
        // A finding that rests on the absence of something cannot be judged from part of a log.
        judgement
            .problems
            .values_mut()
            .for_each(|problem| problem.kept.retain(|_, kept| kept.severity > Severity::Info));
        for kept in judgement.problems.values().flat_map(|problem| problem.kept.values()) {
            for row in &kept.hit.rows {
                by_row.entry(*row).and_modify(|worst| *worst = kept.severity.max(*worst)).or_insert(kept.severity);
            }
        }
        Judged { judgement: Some(judgement), by_row }
    }

    /// Returns the severity of the worst finding of `call`, or of a run or the fleet that cites one of its rows.
    fn worst(&self, call: &Call<'a>, options: &judge::Options) -> Option<Severity> {
        let of_others = call.rows().iter().filter_map(|row| self.by_row.get(row).copied()).max();
        if call.succeeded_at_once() {
            return of_others;
        }
        let mut judgement = Judgement::new(call.table());
        judgement.absorb(call, &CallRules::of(options), options);
        judgement.problems.values().map(|problem| problem.severity).max().max(of_others)
    }

    /// Returns the run and fleet findings that cite an attempt of `call`.
    fn of(&self, call: &Call<'_>) -> Vec<Finding> {
        let Some(judgement) = &self.judgement else { return Vec::new() };
        let mut mine = Judgement::new(call.table());
        let is_mine = |kept: &KeptFinding| kept.hit.rows.iter().any(|row| call.rows().contains(row));
        for (key, problem) in judgement.problems.iter().filter(|(_, problem)| problem.kept.values().any(is_mine)) {
            let mut problem = problem.clone();
            problem.kept.retain(|_, kept| is_mine(kept));
            mine.problems.insert(*key, problem);
        }
        findings(call.table(), &mine)
    }
}

/// Counts, for each call id shown, the calls with that id in the same run.
fn namesakes<'a>(shown: &[&Call<'a>], calls: &[Call<'a>]) -> HashMap<(Symbol, &'a str), u64> {
    let key = |call: &Call<'a>| Some((call.first().run, call.id()?));
    let mut counts: HashMap<(Symbol, &str), u64> = shown.iter().filter_map(|call| Some((key(call)?, 0))).collect();
    for key in calls.iter().filter_map(key) {
        counts.entry(key).and_modify(|count| *count += 1);
    }
    counts
}

fn call_of(
    call: &Call<'_>,
    namesakes: u64,
    named: &HashSet<u32>,
    fleet: &Judged<'_>,
    options: &judge::Options,
) -> TracedCall {
    let table = call.table();
    let text = |symbol| table.names.get(symbol).map(masked);
    let mut judgement = Judgement::new(table);
    let rules = CallRules::of(options);
    judgement.absorb(call, &rules, options);
    let mut found = findings(table, &judgement);
    found.extend(fleet.of(call));
    found.sort_by_cached_key(finding_order);
    let origin = call.origin(0);
    let mut spent = Spent::default();
    call.attempts().zip(call.rows()).for_each(|(attempt, row)| spent.add(Spent::of(table, attempt, *row)));
    TracedCall {
        run_id: text(call.first().run),
        call_id: call.id().map(masked),
        provider: text(origin.provider),
        model: text(origin.model),
        account: joined(table, &account(origin)),
        client: joined(table, &[origin.client, origin.client_version]),
        grouping: call.grouping.name(),
        namesakes,
        outcome: call.outcome,
        attempts_implied: call.attempts_implied(),
        waited_s: call.waited().s(),
        tokens: spent.known_tokens(),
        usd: spent.usd(),
        attempts: (0..call.len()).map(|position| traced(call, position, named, rules.terms())).collect(),
        findings: found,
        suppressed: judgement.suppressed,
        peers: None,
    }
}

/// Organisation, workspace and API key.
fn account(origin: &Origin) -> [Symbol; 3] {
    [origin.org, origin.workspace, origin.api_key]
}

/// Joins the names that are set with spaces, keys masked; `None` if none is set.
fn joined(table: &AttemptTable, names: &[Symbol]) -> Option<String> {
    let names: Vec<&str> = names.iter().filter_map(|symbol| table.names.get(*symbol)).collect();
    (!names.is_empty()).then(|| masked(&names.join(" ")))
}

fn traced(call: &Call<'_>, position: usize, named: &HashSet<u32>, terms: &CallTerms) -> TracedAttempt {
    let (row, attempt) = (call.rows()[position], call.at(position));
    let wait = call.wait_before(position);
    let hint_us = call.hint_us(position);
    let bucket = attempt.bucket();
    let action = attempt.class.zip(bucket).map(|(class, bucket)| {
        classify::action_for(class, bucket, attempt.flags.has(Flags::SIDE_EFFECT), hint_us.is_some())
    });
    let detail = call.detail(position);
    let text = |symbol: Option<Symbol>| call.table().names.get(symbol?).map(masked);
    TracedAttempt {
        attempt_ref: attempt_ref(call.table(), row, position),
        named: named.contains(&row) || call.views_of(row).any(|view| named.contains(&view)),
        platform_id: None,
        layer: text(Some(call.origin(position).layer)),
        unseen_beneath: call.unseen_beneath(position),
        views: call.views_of(row).map(|view| view_at(call.table(), view, position)).collect(),
        sdk_retry_count: attempt.sdk_count(),
        duration_ms: attempt.duration.as_ms(),
        answered: attempt.duration.as_us().map(|us| attempt.sent.plus_us(us)),
        bucket: bucket.map(|bucket| bucket.name()),
        action: action.map(|action| action.name()),
        error_type: text(detail.map(|detail| detail.error_type)),
        error_code: text(detail.map(|detail| detail.error_code)),
        message: text(detail.map(|detail| detail.message)),
        hint_s: hint_us.map(|us| us as f64 / 1e6),
        hint_source: detail.filter(|_| hint_us.is_some()).map(|detail| detail.hint_source.name()),
        mid_stream: attempt.flags.has(Flags::MID_STREAM),
        waited_s: wait.map(|wait| wait.s()),
        wait_source: wait.map(|wait| wait_source(call, position, wait.us, terms)),
        raw: None,
        place: (attempt.file, attempt.line),
    }
}

/// Describes the attempt at `position` as recorded by the row `view` of another log.
fn view_at(table: &AttemptTable, view: u32, position: usize) -> TracedView {
    let row = &table.rows[view as usize];
    TracedView {
        attempt_ref: attempt_ref(table, view, position),
        format: table.format(row.file),
        layer: table.names.get(table.origin(row).layer).map(masked),
        duration_ms: row.duration.as_ms(),
    }
}

/// Reads the lines of the attempts back, for ids that the table does not store and, if `raw`, for their text.
fn quote(trace: &mut Trace, found: &Found, raw: bool) {
    let attempts = || trace.calls.iter().flat_map(|call| &call.attempts);
    let places: BTreeSet<(u32, u32)> = attempts().map(|attempt| attempt.place).take(QUOTED).collect();
    let quoted = found.quote(&places, |line| {
        let ids = found.ids_of(line);
        let of = |wanted| ids.iter().find(|(field, _)| *field == wanted).map(|(_, id)| masked(id));
        (of(IdField::Platform), of(IdField::Request), raw.then(|| masked(line)))
    });
    for attempt in trace.calls.iter_mut().flat_map(|call| &mut call.attempts) {
        let Some((platform, request, raw)) = quoted.get(&attempt.place) else { continue };
        attempt.platform_id.clone_from(platform);
        attempt.raw.clone_from(raw);
        // A log may record the platform's id alone.
        attempt.attempt_ref.request_id = attempt.attempt_ref.request_id.take().or_else(|| request.clone());
    }
}
