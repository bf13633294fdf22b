//! Builds a report from a judgement: resolves numbers to names and sorts everything.

use super::finding::{AttemptRef, Finding, Problem};
use super::*;
use crate::ingest::Ingested;
use crate::judge::{Judgement, KeptFinding, ProblemStats, ProblemStatsKey};
use crate::measure::{Covered, Fleet, RunTally, Spent};
use crate::model::{AttemptTable, ReadingSummary, Severity, Symbol, rounded};
use crate::rules::Rule;
use crate::untrusted::masked;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of attempts shown per finding; of a longer call, the first and last are shown.
const MAX_ATTEMPTS_SHOWN: usize = 16;
/// Maximum number of points per headroom series, more than a chart can distinguish.
const MAX_HEADROOM_POINTS: usize = 512;
/// Maximum number of request ids shown per problem.
const MAX_REQUEST_IDS: usize = 3;

/// Builds the report of what was read and judged.
#[must_use]
pub fn build(ingested: &Ingested, judgement: &Judgement<'_>, rules: &[&'static Rule]) -> Report {
    let fleet = &judgement.fleet;
    let problems = problems(fleet.table, judgement);
    let mut findings = findings(fleet.table, judgement);
    findings.sort_by_cached_key(finding_order);
    let coverage = coverage::coverage(judgement, rules);
    let totals = Totals { rules_with_evidence: coverage::with_evidence(&coverage, rules), ..totals(judgement) };
    let missing: Vec<&str> = coverage.iter().map(|gap| gap.field).collect();
    let (advice, advice_omitted) = advice::most_costly(judgement, &problems);
    let kept = findings.len() as u64;
    let (incidents, incidents_omitted) = incidents::incidents(fleet);
    let (who, who_omitted) = by_name::by_name(fleet);
    let all = totals.errors + totals.warnings + totals.infos;
    Report {
        schema_version: SCHEMA_VERSION,
        generator: format!("retrylens {}", env!("CARGO_PKG_VERSION")),
        title: None,
        verdict: verdict::sentences(&totals, &problems, &missing),
        last_failed: classes::last_failed(fleet),
        ledger: ledger(ingested, judgement),
        window: window(fleet),
        notices: notices::of_inputs_times_and_ids(ingested, fleet),
        baseline: None,
        advice,
        advice_omitted,
        findings,
        findings_omitted: all - kept,
        runs: runs(fleet),
        histogram: Histogram { bars: fleet_bars(fleet) },
        classes: classes::classes(fleet),
        backoff: backoff::backoff(fleet.table, &fleet.backoffs),
        headroom: headroom(fleet),
        incidents,
        incidents_omitted,
        counterfactual: None,
        recovery: recovery::recovery(fleet),
        load: load::load(fleet),
        layers: layers::layers(fleet),
        who,
        who_omitted,
        coverage,
        undecided: coverage::undecided(judgement),
        unreadable: ingested.unreadable.clone(),
        inputs: ingested.inputs.clone(),
        rejects: ingested.rejects.clone(),
        totals,
        problems,
        problems_hidden: 0,
    }
}

/// Sort key of findings in the report: severity, then rule, then cost, then time. Names and position come last, so that
/// the order never depends on how the findings were collected.
pub(crate) fn finding_order(finding: &Finding) -> impl Ord + use<> {
    let cost = std::cmp::Reverse((finding.cost.sends, (finding.cost.wait_s * 1000.0) as u64));
    let first = finding.attempts.first();
    (
        std::cmp::Reverse(finding.severity),
        finding.rule,
        cost,
        first.map(|attempt_ref| (attempt_ref.ts, attempt_ref.request_id.clone(), attempt_ref.attempt)),
        finding.run_id.clone(),
        finding.call_id.clone(),
        finding.message.clone(),
        (finding.provider.clone(), finding.model.clone(), finding.class),
        first.map(|attempt_ref| (attempt_ref.file.clone(), attempt_ref.line)),
    )
}

fn ledger(ingested: &Ingested, judgement: &Judgement<'_>) -> Ledger {
    let mut ledger = ingested.ledger();
    let (duplicates, views) = (judgement.fleet.tally.duplicates, judgement.fleet.tally.views);
    ledger.attempts -= duplicates + views + judgement.left_out;
    ledger.duplicates += duplicates;
    ledger.views += views;
    ledger.skipped += judgement.left_out;
    ledger.filtered += judgement.left_out;
    ledger
}

fn window(fleet: &Fleet<'_>) -> Option<Window> {
    fleet.covered().map(|covered| Window { first: covered.first, last: covered.last })
}

fn totals(judgement: &Judgement<'_>) -> Totals {
    let fleet = &judgement.fleet;
    let tally = &fleet.tally;
    let green: Vec<&RunTally> = fleet.runs.values().filter(|run| run.outcome() == Outcome::Ok).collect();
    let count = |severity: Severity| judgement.problems.values().map(|stats| stats.counts[severity as usize]).sum();
    let (mut spent, mut wasted) = (Spent::default(), Spent::default());
    for run in fleet.runs.values() {
        spent.add(run.spent);
        wasted.add(run.wasted_spent);
    }
    Totals {
        calls: tally.all_calls(),
        calls_ok: tally.ended(Outcome::Ok),
        calls_failed: tally.ended(Outcome::Failed),
        calls_open: tally.ended(Outcome::Open),
        runs: fleet.runs.len() as u64,
        runs_failed: fleet.runs.values().filter(|run| run.outcome() == Outcome::Failed).count() as u64,
        sends: tally.sends,
        attempts_implied: tally.implied,
        attempts_upstream: tally.implied - tally.containing,
        retries: fleet.runs.values().map(|run| run.retries).sum(),
        amplification: amplification(tally.sends, tally.all_calls()),
        wasted_sends: judgement.wasted,
        wait_s: seconds(tally.waited_us),
        waits_measured: Share { count: tally.waits_measured, of: tally.waits },
        green_runs: green.len() as u64,
        green_runs_with_retries: green.iter().filter(|run| run.retries > 0).count() as u64,
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        infos: count(Severity::Info),
        suppressed: judgement.suppressed,
        with_request_id: Share { count: tally.with_request_id, of: tally.responses },
        hinted_429: Share { count: tally.hinted, of: tally.rejected },
        with_headroom: Share { count: tally.with_headroom, of: tally.sends },
        joined_by_guess: Share {
            count: fleet.runs.values().map(|run| run.guessed_calls).sum(),
            of: fleet.runs.values().map(|run| run.retried_calls).sum(),
        },
        rules_with_evidence: Share::default(),
        tokens: spent.known_tokens(),
        cache_tokens: spent.cache_tokens,
        usd: spent.usd(),
        wasted_tokens: wasted.known_tokens(),
        wasted_usd: wasted.usd(),
        with_tokens: Share { count: spent.with_tokens, of: tally.sends },
        with_cost: Share { count: spent.with_cost, of: tally.sends },
    }
}

fn amplification(sends: u64, calls: u64) -> f64 {
    if calls == 0 { 0.0 } else { rounded(sends as f64 / calls as f64) }
}

fn seconds(us: i64) -> f64 {
    rounded(us as f64 / 1e6)
}

/// Returns problems in the order of the report: most severe first, then most costly.
fn sorted_problem_stats<'j>(
    table: &AttemptTable,
    judgement: &'j Judgement<'_>,
) -> Vec<(&'j ProblemStatsKey, &'j ProblemStats)> {
    let mut all_stats: Vec<_> = judgement.problems.iter().collect();
    all_stats.sort_by_key(|(key, stats)| {
        let name = |symbol| table.names.text(symbol);
        (
            std::cmp::Reverse((stats.severity, stats.cost.sends, stats.cost.wait_us)),
            key.rule,
            name(key.provider),
            name(key.model),
            key.class,
        )
    });
    all_stats
}

fn problems(table: &AttemptTable, judgement: &Judgement<'_>) -> Vec<Problem> {
    let masked_name = |symbol: Symbol| table.names.get(symbol).map(masked);
    sorted_problem_stats(table, judgement)
        .into_iter()
        .map(|(key, stats)| {
            let example = stats.kept.values().next();
            Problem {
                rule: key.rule,
                name: stats.rule.name,
                severity: stats.severity,
                provider: masked_name(key.provider),
                model: masked_name(key.model),
                class: key.class.map(|class| class.name()),
                count: stats.total(),
                runs: stats.runs.len() as u64,
                first_seen: stats.seen.0,
                last_seen: stats.seen.1,
                cost: stats.cost.cost(),
                example: example.map(|kept| masked(&kept.hit.message)).unwrap_or_default(),
                request_ids: request_ids(table, stats),
                fix: example.map(|kept| fix(stats.rule, kept)).unwrap_or_default(),
                known: false,
                grew: false,
            }
        })
        .collect()
}

/// Returns the first request ids of failed attempts of the problem. The support of a provider asks for them.
fn request_ids(table: &AttemptTable, stats: &ProblemStats) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for row in stats.kept.values().flat_map(|kept| kept.hit.rows.iter()) {
        let row = &table.rows[*row as usize];
        let id = table.request_id(row);
        if let Some(id) = id
            && row.failed()
            && !ids.iter().any(|known| known == id)
        {
            ids.push(masked(id));
        }
        if ids.len() == MAX_REQUEST_IDS {
            break;
        }
    }
    ids
}

fn fix(rule: &Rule, kept: &KeptFinding) -> String {
    kept.hit.fix.as_deref().unwrap_or(rule.fix).to_owned()
}

pub(crate) fn findings(table: &AttemptTable, judgement: &Judgement<'_>) -> Vec<Finding> {
    let masked_name = |symbol: Symbol| table.names.get(symbol).map(masked);
    let mut list = Vec::new();
    for (key, stats) in &judgement.problems {
        for kept in stats.kept.values() {
            list.push(Finding {
                rule: stats.rule.code,
                name: stats.rule.name,
                severity: kept.severity,
                confidence: kept.confidence,
                message: masked(&kept.hit.message),
                run_id: masked_name(kept.run),
                call_id: kept.call_id.as_deref().map(masked),
                call: kept.call,
                provider: masked_name(key.provider),
                model: masked_name(key.model),
                class: key.class.map(|class| class.name()),
                grouping: kept.grouping.map(|grouping| grouping.name()),
                attempts: attempt_refs(table, &kept.hit.rows),
                evidence: kept.hit.evidence.clone(),
                cost: kept.cost.cost(),
                fix: fix(stats.rule, kept),
            });
        }
    }
    list
}

fn attempt_refs(table: &AttemptTable, rows: &[u32]) -> Vec<AttemptRef> {
    let half = MAX_ATTEMPTS_SHOWN / 2;
    let shown = rows
        .iter()
        .enumerate()
        .filter(|(index, _)| rows.len() <= MAX_ATTEMPTS_SHOWN || *index < half || *index >= rows.len() - half);
    shown.map(|(index, row)| attempt_ref(table, *row, index)).collect()
}

/// Converts an attempt to evidence.
pub(crate) fn attempt_ref(table: &AttemptTable, row: u32, index: usize) -> AttemptRef {
    let row = &table.rows[row as usize];
    let request_id = table.request_id(row);
    AttemptRef {
        file: table.files.get(row.file as usize).cloned().unwrap_or_default(),
        line: table.line(row),
        request_id: request_id.map(masked),
        attempt: if row.number > 0 { row.number } else { (index + 1).min(usize::from(u16::MAX)) as u16 },
        ts: row.sent,
        status: (row.status > 0).then_some(row.status),
        class: row.class.map(|class| class.name()),
    }
}

fn fleet_bars(fleet: &Fleet<'_>) -> BTreeMap<u32, Bar> {
    let mut bars: BTreeMap<u32, Bar> = BTreeMap::new();
    for (attempts, bar) in fleet.runs.values().flat_map(RunTally::bars) {
        let sum = bars.entry(attempts).or_default();
        sum.ok += bar.ok;
        sum.failed += bar.failed;
        sum.open += bar.open;
    }
    bars
}

fn runs(fleet: &Fleet<'_>) -> Vec<Run> {
    let covered = fleet.covered();
    let runs = fleet.sorted_runs().into_iter();
    let mut runs: Vec<Run> = runs.map(|(name, _, tally)| run(fleet, name, tally, covered)).collect();
    // The sort is stable, so equal runs stay sorted by name.
    runs.sort_by_key(|run| {
        let is_failed = run.outcome == Outcome::Failed;
        std::cmp::Reverse((is_failed, run.findings, run.wasted_sends, run.retries, (run.wait_s * 1000.0) as u64))
    });
    runs
}

/// Clamps a time of a run to the time that the log covers. Not to be used for a run that lies wholly outside of it.
fn clamp_to(covered: Covered, at: Time) -> Time {
    at.clamp(covered.first, covered.last)
}

fn run(fleet: &Fleet<'_>, name: &str, tally: &RunTally, covered: Option<Covered>) -> Run {
    let covered = covered.filter(|covered| tally.last >= covered.first && tally.first <= covered.last);
    let models: BTreeSet<&str> = tally.models.iter().map(|model| fleet.table.names.text(*model)).collect();
    let [infos, warnings, errors] = tally.findings;
    let bars = tally.bars();
    Run {
        run_id: masked(name),
        calls: tally.calls(),
        attempts: tally.sends,
        retries: tally.retries,
        amplification: amplification(tally.sends, tally.calls()),
        histogram: bars.iter().map(|(attempts, bar)| (*attempts, bar.calls())).collect(),
        outcome: tally.outcome(),
        calls_failed: tally.ended(Outcome::Failed),
        first: covered.map_or(tally.first, |covered| clamp_to(covered, tally.first)),
        last: covered.map_or(tally.last, |covered| clamp_to(covered, tally.last)),
        wait_s: seconds(tally.waited.us),
        wasted_sends: tally.wasted,
        tokens: tally.spent.known_tokens(),
        usd: tally.spent.usd(),
        wasted_tokens: tally.wasted_spent.known_tokens(),
        wasted_usd: tally.wasted_spent.usd(),
        worst_call_attempts: bars.keys().next_back().copied().unwrap_or(0),
        bars: Histogram { bars },
        success_by_attempt: tally.success_by_attempt(),
        models: models.into_iter().map(masked).collect(),
        findings: [errors, warnings, infos],
        green_with_retries: tally.outcome() == Outcome::Ok && tally.retries > 0,
    }
}

fn headroom(fleet: &Fleet<'_>) -> Vec<Headroom> {
    let mut list: Vec<Headroom> = Vec::new();
    let Some(window) = window(fleet) else { return list };
    for (scope, kind, limit_track) in fleet.table.headroom.iter().filter(|(scope, ..)| fleet.scopes.contains_key(scope))
    {
        let (width, mut readings) = limit_track.series.at_most(MAX_HEADROOM_POINTS);
        // A limit is shared, so readings by other calls are included, within the time of the calls that were judged.
        readings.retain(|(at, _)| at.plus_us(width) > window.first && *at <= window.last);
        let Some((_, last)) = readings.last() else { continue };
        let flow = fleet.scopes.get(&scope).map(|tally| tally.flow.by_time().1).unwrap_or_default();
        let lowest = readings.iter().map(|(_, summary)| summary.min_ratio()).fold(f64::INFINITY, f64::min);
        list.push(Headroom {
            scope: masked(&fleet.scope_label(&scope)),
            limit_kind: kind,
            limit: last.lowest.limit,
            min_ratio: rounded(lowest),
            bad_readings: limit_track.sentinel_seen,
            resolution_s: rounded(width as f64 / 1e6),
            points: points(&readings, width, &flow),
        });
    }
    list.sort_by(|a, b| (&a.scope, a.limit_kind).cmp(&(&b.scope, b.limit_kind)));
    list
}

fn points(
    readings: &[(Time, ReadingSummary)],
    width: i64,
    flow: &[(Time, &crate::measure::Flow)],
) -> Vec<HeadroomPoint> {
    let mut refusals = flow.iter().filter(|(_, flow)| flow.rejected + flow.overloaded > 0).peekable();
    let mut points = Vec::with_capacity(readings.len());
    for (index, (at, summary)) in readings.iter().enumerate() {
        // A refusal is counted in the bucket in which it came, or in the latest bucket before it that has a reading.
        let end = readings.get(index + 1).map_or(Time(i64::MAX), |(next, _)| (*next).max(at.plus_us(width)));
        let (mut rejected, mut overloaded) = (0, 0);
        while let Some((_, flow)) = refusals.next_if(|(when, _)| *when < end) {
            rejected += flow.rejected;
            overloaded += flow.overloaded;
        }
        points.push(HeadroomPoint {
            at: *at,
            first: summary.first.1,
            min: summary.lowest.remaining,
            last: summary.last.1,
            limit: summary.lowest.limit,
            rejected,
            overloaded,
        });
    }
    points
}
