//! Limits of the judgement: fields that are absent, and calls that could not be judged.

use super::Share;
use crate::judge::Judgement;
use crate::measure::Fleet;
use crate::model::Scope;
use crate::rules::{Field, Rule};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

/// Rules that could not judge for lack of a field.
#[derive(Clone, Debug, Serialize)]
pub struct Coverage {
    /// Rule codes.
    pub rules: Vec<&'static str>,
    /// Name of the missing field.
    pub field: &'static str,
    /// Attempts that have the field, of all that should.
    pub present: Share,
}

/// Calls that a rule should have judged and could not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Undecided {
    /// Rule code.
    pub rule: &'static str,
    /// Name of the field the rule lacks.
    pub field: &'static str,
    /// Number of calls.
    pub calls: u64,
}

/// Returns the rules without evidence, grouped by the field they lack. A rule that found something had enough evidence.
pub(super) fn coverage(judgement: &Judgement<'_>, rules: &[&'static Rule]) -> Vec<Coverage> {
    let fleet = &judgement.fleet;
    let rules_with_findings: BTreeSet<&str> = judgement.problems.keys().map(|key| key.rule).collect();
    let mut by_field: BTreeMap<Field, Vec<&'static str>> = BTreeMap::new();
    for rule in rules.iter().filter(|rule| !rules_with_findings.contains(rule.code)) {
        for field in rule.needs {
            by_field.entry(*field).or_default().push(rule.code);
        }
    }
    let mut gaps: Vec<Coverage> = Vec::new();
    for (field, rules) in by_field {
        let present = share_with_field(fleet, field);
        if present.of == 0 || present.count > 0 {
            continue;
        }
        // Several fields have the same name in logs and differ in the attempts that should carry them.
        match gaps.iter_mut().find(|gap| gap.field == field.name()) {
            Some(gap) => gap.extend(rules, present),
            None => gaps.push(Coverage { rules, field: field.name(), present }),
        }
    }
    gaps
}

impl Coverage {
    fn extend(&mut self, rules: Vec<&'static str>, present: Share) {
        self.rules.extend(rules);
        self.rules.sort_unstable();
        self.rules.dedup();
        self.present.of = self.present.of.max(present.of);
    }
}

/// Returns the share of `rules` that lack no field.
pub(super) fn with_evidence(coverage: &[Coverage], rules: &[&'static Rule]) -> Share {
    let lacks = |rule: &&&Rule| coverage.iter().any(|gap| gap.rules.contains(&rule.code));
    let of = rules.len() as u64;
    Share { count: of - rules.iter().filter(lacks).count() as u64, of }
}

/// Returns the number of calls that could not be judged, by rule and field.
pub(super) fn undecided(judgement: &Judgement<'_>) -> Vec<Undecided> {
    let each = judgement.undecided.iter();
    each.map(|((rule, field), calls)| Undecided { rule, field: field.name(), calls: *calls }).collect()
}

fn share_with_field(fleet: &Fleet<'_>, field: Field) -> Share {
    let tally = &fleet.tally;
    let (count, of) = match field {
        Field::Time => (tally.sends - tally.untimed, tally.sends),
        Field::CallIdentity => (tally.with_call_identity, tally.sends),
        Field::RetryAfter => (tally.with_hint, tally.may_hint),
        Field::Duration => (tally.with_duration, tally.sends),
        Field::Counters => (tally.with_counter, tally.sends),
        Field::DeclaredCap => (tally.with_cap, tally.sends),
        Field::Headroom => (tally.with_headroom, tally.sends),
        Field::ShouldRetry => (tally.with_retry_advice, tally.failures),
        Field::RequestId => (tally.with_request_id, tally.responses),
        Field::Outcome => (tally.with_outcome, tally.sends),
        Field::StopReason => (tally.with_answer_end, tally.sends),
        Field::ChunkGap => (tally.with_chunk_gap, tally.sends),
        Field::CallId => (tally.with_call_id, tally.sends),
        Field::Repeats => (tally.with_counter + tally.with_hash, tally.sends),
        Field::SideEffect => (tally.with_side_effect, tally.sends),
        Field::IdempotencyKey => (tally.with_key, tally.side_effects),
        Field::RequestHash => (tally.with_hash, tally.failures),
        Field::Delivered => (tally.with_delivered, tally.failures),
        Field::Tool => (tally.with_tool, tally.sends),
        Field::MaxTokens => (tally.with_max_tokens, tally.timeouts),
        Field::FirstToken => (runs_of_known_speed(fleet), tally.sends),
        Field::Account => (calls_on_scopes(fleet, |scope| scope.has_account()), tally.sends),
        Field::Provider => (calls_on_scopes(fleet, |scope| scope.provider.is_some()), tally.sends),
        Field::Model => (calls_on_scopes(fleet, |scope| scope.model.is_some()), tally.sends),
        Field::SendsBeneath => (tally.with_sends_beneath, tally.sends),
        Field::ErrorText => (tally.with_error_text, tally.failures),
        Field::ErrorType => (tally.with_error_type, tally.failures),
        Field::Identity => (tally.identified, tally.sends),
        // Only missed in single calls, not in the whole log.
        Field::Organisation | Field::Layer | Field::Timeout => (0, 0),
    };
    Share { count, of }
}

/// Returns the number of calls on the scopes that `accepts` selects.
fn calls_on_scopes(fleet: &Fleet<'_>, accepts: fn(&Scope) -> bool) -> u64 {
    fleet.scopes.iter().filter(|(scope, _)| accepts(scope)).map(|(_, tally)| tally.load.calls.max(1)).sum()
}

/// Returns the number of runs with at least one response of known speed.
fn runs_of_known_speed(fleet: &Fleet<'_>) -> u64 {
    fleet.runs.values().filter(|run| run.paces.iter().next().is_some()).count() as u64
}
