//! Checks that no finding disappears without notice when a field is no longer logged.
#![allow(clippy::panic, clippy::unwrap_used)]

use super::coverage;
use crate::config::Config;
use crate::judge::{Options, judge};
use crate::rules::{CATALOGUE, Example, Rule};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// Findings that disappear without notice when a field is removed: rule, field or `*`, and why that is right.
const ALLOWED_SILENT_LOSSES: &[(&str, &str, &str)] = &[
    ("RL102", "call_id", "refusals seconds apart are then attempts of one call: RL107"),
    ("RL112", "call_id", "attempts of one body are then one call: RL104"),
    ("RL202", "error", "the record says no more that anything failed"),
    ("RL202", "mid_stream", "an unknown failure, not known to lie inside the stream"),
    ("RL202", "status", "a lost connection, not known to have begun with status 200"),
    ("RL202", "statusCode", "an overload, not known to have begun with status 200"),
    ("RL202", "transport", "an unknown failure, not known to lie inside the stream"),
    ("RL204", "error_type", "an event without a type is another failure: a lost connection"),
    ("RL207", "outcome", "a lost connection that nobody calls a success is RL202"),
    ("RL207", "stream", "answers that are not streams need no stop reason"),
    ("RL304", "call_id", "a counter that begins again is then another call's"),
    ("RL308", "attempt", "after minutes nothing but id and number together says that a call goes on"),
    ("RL308", "call_id", "after minutes nothing but id and number together says that a call goes on"),
    ("RL313", "headers", "a server that asks for no wait contradicts no deadline"),
    ("RL313", "layer", "two first attempts of one id are then two calls"),
    ("RL401", "*", "one of four signs is enough, and the log has fields of the others"),
    ("RL404", "retry_attempt", "a single record without a number is a first attempt"),
    ("RL404", "try", "a single record without a number is a first attempt"),
    ("RL501", "call_id", "attempts of one kind are then one call's, whose retries RL301 judges"),
    ("RL507", "ttft_ms", "the durations are judged then, and did not grow"),
    ("RL602", "call_id", "the key then stands for the id of the call"),
    ("RL605", "request_hash", "an id may stand on several requests, each numbered from one"),
    ("RL609", "exception", "the record says no more that anything failed"),
    ("RL704", "status", "an overload, not known to have come under another status"),
    ("RL802", "aws_request_id", "the response has then no id, and RL801 counts it"),
    ("RL802", "headers", "the response has then no id, and RL801 counts it"),
    ("RL808", "error", "the record says no more that anything failed"),
];

fn may_be_silent(rule: &Rule, key: &str) -> bool {
    ALLOWED_SILENT_LOSSES.iter().any(|(code, known, _)| *code == rule.code && (*known == "*" || *known == key))
}

/// Whether `rule` has a finding in `log`, and whether it reports a missing field.
fn has_finding_or_gap(rule: &'static Rule, config: &str, log: &str) -> (bool, bool) {
    let config = Config::parse(config, Path::new("example")).unwrap_or_else(|error| panic!("{error}"));
    let table = crate::ingest::read_str(log);
    let judgement = judge(&table, &Options { complete: true, settings: config.settings(), ..Options::default() });
    let has_finding = judgement.problems.keys().any(|key| key.rule == rule.code);
    let undecided = judgement.undecided.keys().any(|(code, _)| *code == rule.code);
    let has_gap = coverage(&judgement, &[rule]).iter().any(|gap| gap.rules.contains(&rule.code));
    (has_finding, undecided || has_gap)
}

fn records(log: &str) -> Vec<Map<String, Value>> {
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the findings that disappear when a field is removed although the rule reports no missing field: rule,
/// example and field. Records that are rejected are reported as such.
fn silent_losses() -> Vec<(&'static Rule, usize, String)> {
    let mut found = Vec::new();
    for rule in CATALOGUE {
        for (index, example) in rule.firing.iter().enumerate() {
            let example = Example::of(example);
            let records = records(example.log);
            let keys: BTreeSet<&String> = records.iter().flat_map(Map::keys).collect();
            for key in keys {
                let without = records.iter().cloned().map(|mut record| {
                    record.remove(key);
                    Value::Object(record).to_string() + "\n"
                });
                let log: String = without.collect();
                let rejected = crate::ingest::read_str(&log).rows.len() < records.len();
                if !rejected && has_finding_or_gap(rule, example.config, &log) == (false, false) {
                    found.push((rule, index, key.clone()));
                }
            }
        }
    }
    found
}

#[test]
fn no_finding_disappears_silently() {
    let found = silent_losses();
    let silent: Vec<String> = (found.iter())
        .filter(|(rule, _, key)| !may_be_silent(rule, key))
        .map(|(rule, index, key)| format!("{} example {index} without {key}", rule.code))
        .collect();
    assert!(silent.is_empty(), "{} findings vanish:\n{}", silent.len(), silent.join("\n"));
    for (code, key, _) in ALLOWED_SILENT_LOSSES {
        let is_used = found.iter().any(|(rule, _, known)| rule.code == *code && (*key == "*" || known == key));
        assert!(is_used, "{code} is not silent without {key}");
    }
}
