//! Severity, confidence, cost and order of findings.

use super::{Options, ProblemCost, Rank};
use crate::calls::{Call, Grouping};
use crate::model::{AttemptTable, CallFacts, Confidence, Severity, Time};
use crate::rules::{Hit, Rule};
use foldhash::fast::RandomState;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::hash::BuildHasher;

/// Keeps each excess attempt of a call only in the most severe hit that counts it, and in none if some hit counts it as
/// wasted.
pub(super) fn count_excess_once(hits: &mut [(&'static Rule, bool, Hit)]) {
    if hits.iter().all(|(_, _, hit)| hit.excess.is_empty()) {
        return;
    }
    let mut counted: HashSet<u32, RandomState> =
        hits.iter().flat_map(|(_, _, hit)| hit.wasted.iter().copied()).collect();
    let mut order: Vec<&mut (&'static Rule, bool, Hit)> = hits.iter_mut().collect();
    order.sort_by_key(|(rule, reported, hit)| Reverse((*reported, hit.severity.unwrap_or(rule.severity))));
    for (_, _, hit) in order {
        hit.excess.retain(|row| counted.insert(*row));
    }
}

pub(super) fn facts(call: &Call<'_>) -> CallFacts {
    CallFacts {
        outcome: call.outcome,
        attempts: call.len() as u32,
        elapsed_s: call.ended().s_since(call.first().sent).max(0.0),
    }
}

/// Returns severity and confidence of a finding. If the call was grouped by inference, the severity is at most a
/// warning.
pub(super) fn weigh(rule: &Rule, hit: &Hit, grouping: Option<Grouping>, options: &Options) -> (Severity, Confidence) {
    let configured = options.severities.get(rule.code).copied();
    let severity = configured.or(hit.severity).unwrap_or(rule.severity);
    match grouping {
        Some(Grouping::Inferred) => (severity.min(Severity::Warning), hit.confidence.min(Confidence::Low)),
        Some(Grouping::Counter | Grouping::Body) => (severity, hit.confidence.min(Confidence::Medium)),
        Some(Grouping::Explicit) | None => (severity, hit.confidence),
    }
}

pub(super) fn cost_of(table: &AttemptTable, hit: &Hit) -> ProblemCost {
    let usage = || hit.wasted.iter().map(|row| table.usage(*row as usize));
    let non_zero = |sum: u64| (sum > 0).then_some(sum);
    ProblemCost {
        sends: hit.wasted.len() as u64 + hit.wasted_more + hit.shared_waste,
        excess: hit.excess.len() as u64 + hit.excess_more,
        wait_us: (hit.wait_s * 1e6).round().max(0.0) as u64,
        tokens: non_zero(usage().map(|u| u64::from(u.input_tokens) + u64::from(u.output_tokens)).sum()),
        micro_usd: non_zero(usage().map(|u| u64::from(u.cost_micro_usd)).sum()),
    }
}

pub(super) fn rank_of(table: &AttemptTable, hit: &Hit) -> Rank {
    // A fleet rule may report two findings with the same first row, which differ in the hash of their messages.
    let message_hash = foldhash::fast::FixedState::with_seed(0).hash_one(&hit.message);
    hit.rows.first().map_or((Time(0), 0, 0, message_hash, 0, 0), |row| {
        let row = &table.rows[*row as usize];
        (row.sent, row.identity, row.number, message_hash, row.file, row.line)
    })
}
