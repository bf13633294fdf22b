//! Anonymized reports.

use super::fields::{Anonymize, fields};
use super::{Anonymizer, Kind};
use crate::model::{Evidence, Input, Reject, Unreadable};
use crate::report::{
    Advice, AttemptRef, Backoff, Finding, Headroom, IncidentRow, LayerRow, LoadRow, NameRow, Problem, RecoveryRow,
    Report, Run,
};
use crate::rules::find;
use crate::simulate::Counterfactual;

impl Anonymizer {
    /// Returns `report` anonymized.
    #[must_use]
    pub fn report(&self, mut report: Report) -> Report {
        let with_known_names = self.with_known_names(names(&report));
        report.anonymize(&with_known_names);
        report
    }
}

fields! { anonymizer;
    Report {
        parts: [
            advice, problems, findings, runs, backoff, headroom, incidents, counterfactual, recovery, load, layers, who, unreadable, inputs,
            rejects
        ]
        kept: [
            schema_version, generator, title, verdict, last_failed, ledger, window, totals, baseline, advice_omitted,
            problems_hidden, findings_omitted, histogram, classes, incidents_omitted, who_omitted, coverage, undecided
        ]
        with: [notices] then: { *notices = withheld_notices(notices.len()) }
    }
    Advice {
        kept: [remedy, until, ended, cost, findings]
        with: [rule, text] then: { *text = fix(rule) }
    }
    Problem {
        names: [provider Provider, model Model, request_ids Request]
        kept: [name, severity, class, count, runs, first_seen, last_seen, cost, known, grew]
        with: [rule, example, fix] then: { (*example, *fix) = (summary(rule), self::fix(rule)) }
    }
    Finding {
        names: [run_id Run, call_id Call, provider Provider, model Model]
        parts: [attempts, evidence]
        kept: [name, severity, confidence, call, class, grouping, cost]
        with: [rule, message, fix] then: { (*message, *fix) = (summary(rule), self::fix(rule)) }
    }
    AttemptRef {
        names: [file File, request_id Request]
        kept: [line, attempt, ts, status, class]
    }
    Run {
        names: [run_id Run, models Model]
        kept: [
            calls, attempts, retries, amplification, histogram, bars, success_by_attempt, outcome, calls_failed, first, last,
            wait_s, wasted_sends, tokens, usd, wasted_tokens, wasted_usd, worst_call_attempts, findings, green_with_retries
        ]
        // The names are sorted anew, since their former order is alphabetical and would reveal something about them.
        with: [] then: { models.sort_unstable() }
    }
    NameRow {
        names: [version Version]
        kept: [calls, calls_failed, attempts, retries, wasted_sends, findings, tokens, usd]
        with: [by, name] then: { anonymizer.rename(Kind::of(*by), name) }
    }
    Backoff {
        names: [provider Provider, layer Layer]
        texts: [client client]
        kept: [
            outer, schedule, jitter, first_s, factor, cap_s, summary, waits, server_requested, unmeasured, resolution, steps
        ]
    }
    Headroom {
        texts: [scope label]
        kept: [limit_kind, limit, min_ratio, bad_readings, resolution_s, points]
    }
    IncidentRow {
        names: [provider Provider, model Model, request_ids Request]
        kept: [class, classes, first, last, failed, sends, sends_exact, calls, runs, runs_exact, peak_per_min, ended]
    }
    // The sentences of its summary contain figures and classes, but no names.
    Counterfactual {
        names: [provider Provider, model Model]
        kept: [
            class, from, calls, capacity, at_once, readings, resolution_s, retry_after_s, observed, replayed, tolerance, holds,
            seeds, course, policies, summary
        ]
    }
    RecoveryRow {
        names: [provider Provider, model Model]
        kept: [
            class, first_attempts, retried, recovered, one_retry, failing_first, failing_again, steps, sends_per_recovery,
            seconds_per_recovery
        ]
    }
    LoadRow {
        texts: [scope label]
        kept: [
            calls, arrivals_per_s, time_in_system_s, concurrency, in_flight_mean, in_flight_peak, in_flight_peak_at, timed,
            offered_per_min, offered_at, requests_limit, refused, amplified, retry_budget, course
        ]
    }
    LayerRow {
        names: [client Client, client_version Version, request_id Request]
        texts: [inner retry_loop, outer retry_loop]
        kept: [rounds, sends_per_round, even, bound, sign, calls, sends]
    }
    Input {
        names: [path File]
        kept: [format, envelope, bytes, ledger, failure]
    }
    Unreadable {
        names: [file File]
        kept: [field, count, line]
        with: [example] then: { *example = "(withheld)".to_owned() }
    }
    Reject {
        names: [file File]
        kept: [line, column]
        // The reason may quote the line.
        with: [reason] then: { *reason = "could not be read".to_owned() }
    }
}

impl Anonymize for (&'static str, Evidence) {
    fn anonymize(&mut self, by: &Anonymizer) {
        match &mut self.1 {
            Evidence::Text(text) => *text = by.word(text),
            Evidence::Word(_) | Evidence::Count(_) | Evidence::Number(_) | Evidence::At(_) | Evidence::Numbers(_) => {}
        }
    }
}

/// Returns the names of the report whose kind is known.
fn names(report: &Report) -> impl Iterator<Item = (Kind, &str)> {
    let group_rows = report.who.iter().filter_map(|row| Some((Kind::of(row.by), row.name.as_deref()?)));
    let runs = report.runs.iter().flat_map(|run| &run.models).map(|model| (Kind::Model, model.as_str()));
    let problems = report
        .problems
        .iter()
        .flat_map(|problem| [(Kind::Provider, problem.provider.as_deref()), (Kind::Model, problem.model.as_deref())]);
    group_rows.chain(runs).chain(problems.filter_map(|(kind, name)| Some((kind, name?))))
}

/// Returns the summary of a rule; the message of a finding may quote the log.
pub(super) fn summary(rule: &str) -> String {
    find(rule).map(|rule| rule.summary.to_owned()).unwrap_or_default()
}

pub(super) fn fix(rule: &str) -> String {
    find(rule).map(|rule| rule.fix.to_owned()).unwrap_or_default()
}

/// Replaces the notices, which may name runs, models and rules of the user.
fn withheld_notices(notices: usize) -> Vec<String> {
    match notices {
        0 => Vec::new(),
        1 => vec!["one notice is withheld: it may hold names".to_owned()],
        more => vec![format!("{more} notices are withheld: they may hold names")],
    }
}
