//! A field that is no longer logged never makes a finding vanish in silence.
#![allow(clippy::panic, clippy::unwrap_used)]

use super::coverage;
use crate::config::Config;
use crate::judge::{Options, judge};
use crate::rules::{CATALOGUE, Example, Rule};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;

/// What says that something happened at all: without it the log tells of another event, or of none.
const EVENTS: [&str; 12] = [
    "ts",
    "timestamp",
    "status",
    "status_code",
    "statusCode",
    "error_type",
    "error_code",
    "error_message",
    "error",
    "kind",
    "exception",
    "transport",
];

/// Whether `rule` speaks of `log`, and whether it says what it lacks.
fn speaks_or_tells(rule: &'static Rule, config: &str, log: &str) -> (bool, bool) {
    let config = Config::parse(config, Path::new("example")).unwrap_or_else(|mistake| panic!("{mistake}"));
    let table = crate::ingest::read_str(log);
    let judgement = judge(&table, &Options { complete: true, settings: config.settings(), ..Options::default() });
    let speaks = judgement.folds.keys().any(|key| key.rule == rule.code);
    let undecided = judgement.undecided.keys().any(|(code, _)| *code == rule.code);
    let lacks = coverage(&judgement.fleet, &[rule]).iter().any(|gap| gap.rules.contains(&rule.code));
    (speaks, undecided || lacks)
}

fn records(log: &str) -> Vec<Map<String, Value>> {
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn without_a_field_a_finding_stays_or_the_rule_says_what_it_lacks() {
    let mut silent = Vec::new();
    for rule in CATALOGUE {
        for (index, example) in rule.firing.iter().enumerate() {
            let example = Example::of(example);
            let records = records(example.log);
            let keys: BTreeSet<&String> = records.iter().flat_map(Map::keys).collect();
            for key in keys.into_iter().filter(|key| !EVENTS.contains(&key.as_str())) {
                let mut without = records.clone();
                without.iter_mut().for_each(|record| {
                    record.remove(key);
                });
                let log: String = without.into_iter().map(|record| Value::Object(record).to_string() + "\n").collect();
                let (speaks, tells) = speaks_or_tells(rule, example.config, &log);
                if !speaks && !tells {
                    silent.push(format!("{} example {index} without {key}", rule.code));
                }
            }
        }
    }
    assert!(silent.is_empty(), "{} findings vanish:\n{}", silent.len(), silent.join("\n"));
}
