//! What the judgement does not rest on, and why: fields that are absent, calls that could not be judged, values
//! that could not be read.

use super::Share;
use crate::judge::Judgement;
use crate::measure::Fleet;
use crate::model::Scope;
use crate::rules::{Field, Rule};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

#[cfg(test)]
mod tests;

/// Rules that could not judge, and what they lack.
#[derive(Clone, Debug, Serialize)]
pub struct Coverage {
    /// Rule codes.
    pub rules: Vec<&'static str>,
    /// The field that would enable them.
    pub field: &'static str,
    /// Attempts that carry it, of those that should.
    pub present: Share,
}

/// Calls that a rule would have had to judge and could not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Undecided {
    /// Rule code.
    pub rule: &'static str,
    /// The field it lacks.
    pub field: &'static str,
    /// How many calls.
    pub calls: u64,
}

/// Rules without evidence, gathered by the field they lack. A rule that found something had enough of it.
pub(super) fn coverage(judgement: &Judgement<'_>, rules: &[&'static Rule]) -> Vec<Coverage> {
    let fleet = &judgement.fleet;
    let spoke: BTreeSet<&str> = judgement.folds.keys().map(|key| key.rule).collect();
    let mut by_field: BTreeMap<Field, Vec<&'static str>> = BTreeMap::new();
    for rule in rules.iter().filter(|rule| !spoke.contains(rule.code)) {
        for field in rule.needs {
            by_field.entry(*field).or_default().push(rule.code);
        }
    }
    let mut gaps: Vec<Coverage> = Vec::new();
    for (field, rules) in by_field {
        let present = presence(fleet, field);
        if present.of == 0 || present.count > 0 {
            continue;
        }
        // What logs spell alike may be needed of different attempts.
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

/// How many of `rules` lack none of their fields.
pub(super) fn with_evidence(coverage: &[Coverage], rules: &[&'static Rule]) -> Share {
    let lacks = |rule: &&&Rule| coverage.iter().any(|gap| gap.rules.contains(&rule.code));
    let of = rules.len() as u64;
    Share { count: of - rules.iter().filter(lacks).count() as u64, of }
}

/// Calls that could not be judged, by rule.
pub(super) fn undecided(judgement: &Judgement<'_>) -> Vec<Undecided> {
    let each = judgement.undecided.iter();
    each.map(|((rule, field), calls)| Undecided { rule, field: field.name(), calls: *calls }).collect()
}

fn presence(fleet: &Fleet<'_>, field: Field) -> Share {
    let tally = &fleet.tally;
    let (count, of) = match field {
        Field::Time => (tally.sends - tally.untimed, tally.sends),
        Field::CallIdentity => (tally.with_call_identity, tally.sends),
        Field::RetryAfter => (tally.with_hint, tally.may_hint),
        Field::Duration => (tally.with_duration, tally.sends),
        Field::Counters => (tally.with_counter, tally.sends),
        Field::DeclaredCap => (tally.with_cap, tally.sends),
        Field::Headroom => (tally.with_headroom, tally.sends),
        Field::ShouldRetry => (tally.with_server_word, tally.failures),
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
        Field::FirstToken => (paced(fleet), tally.sends),
        Field::Account => (drawn_on(fleet, |scope| scope.names_account()), tally.sends),
        Field::Provider => (drawn_on(fleet, |scope| scope.provider.is_some()), tally.sends),
        Field::Model => (drawn_on(fleet, |scope| scope.model.is_some()), tally.sends),
        Field::SendsBeneath => (tally.with_sends_beneath, tally.sends),
        Field::ErrorText => (tally.with_error_text, tally.failures),
        Field::ErrorType => (tally.with_error_type, tally.failures),
        Field::Identity => (tally.identified, tally.sends),
        // Named of single calls only.
        Field::Organisation | Field::Layer | Field::Timeout => (0, 0),
    };
    Share { count, of }
}

/// Calls on scopes that `named` accepts.
fn drawn_on(fleet: &Fleet<'_>, named: fn(&Scope) -> bool) -> u64 {
    fleet.scopes.iter().filter(|(scope, _)| named(scope)).map(|(_, tally)| tally.load.calls.max(1)).sum()
}

/// Runs of whose answers the speed is known.
fn paced(fleet: &Fleet<'_>) -> u64 {
    fleet.runs.values().filter(|run| run.paces.iter().next().is_some()).count() as u64
}
