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
const EVENTS: [&str; 20] = [
    "ts",
    "timestamp",
    "@timestamp",
    "time",
    "status",
    "status_code",
    "statusCode",
    "error_type",
    "error_code",
    "error_message",
    "error",
    "body",
    "kind",
    "exception",
    "transport",
    "mid_stream",
    "decision",
    "headers",
    "outcome",
    "stream",
];

/// Findings that rest on a field which other logs of the kind need not have: rule, field or `*`, reason.
const OPTIONAL: &[(&str, &str, &str)] = &[
    ("RL101", "org", "another holder: the cap is judged for that"),
    ("RL102", "*", "another holder or grouping: the cap is judged for that"),
    ("RL104", "call_id", "under another key it may be another call"),
    ("RL112", "*", "other calls are not known to be alike"),
    ("RL201", "idempotency_key", "without a key the attempt may rightly end the call"),
    ("RL204", "*", "another run or grouping"),
    ("RL304", "call_id", "a counter that begins anew may be another call's"),
    ("RL304", "delay_ms", "the planned wait stands for a measured one"),
    ("RL307", "*", "attempts without numbers may be several calls"),
    ("RL308", "*", "after minutes nothing but id and number says that a call goes on"),
    ("RL310", "*", "attempts without numbers may be several calls"),
    ("RL311", "*", "attempts without numbers may be several calls"),
    ("RL312", "*", "hints on other statuses are rare"),
    ("RL313", "*", "one of two kinds of budget is compared, whichever the log has"),
    ("RL314", "*", "without ids the same record is a duplicate"),
    ("RL315", "*", "attempts without numbers may be several calls"),
    ("RL401", "*", "one of four signs is enough, whichever the log has"),
    ("RL402", "*", "the count beneath is compared with what the log has"),
    ("RL404", "*", "attempts without numbers may be several calls"),
    ("RL406", "*", "attempts without numbers may be several calls"),
    ("RL407", "*", "another model has another policy"),
    ("RL501", "*", "attempts of one call are told apart from others"),
    ("RL602", "call_id", "the key stands for the call's id"),
    ("RL605", "request_hash", "numbers that begin anew may be several requests"),
    ("RL608", "*", "one of several signs of a repeated tool"),
    ("RL802", "*", "another platform has one id only"),
    ("RL806", "*", "without ids a repeated record is another attempt"),
];

fn is_optional(rule: &Rule, key: &str) -> bool {
    OPTIONAL.iter().any(|(code, known, _)| *code == rule.code && (*known == "*" || *known == key))
}

/// Whether `rule` speaks of `log`, and whether it says what it lacks.
fn speaks_or_tells(rule: &'static Rule, config: &str, log: &str) -> (bool, bool) {
    let config = Config::parse(config, Path::new("example")).unwrap_or_else(|mistake| panic!("{mistake}"));
    let table = crate::ingest::read_str(log);
    let judgement = judge(&table, &Options { complete: true, settings: config.settings(), ..Options::default() });
    let speaks = judgement.folds.keys().any(|key| key.rule == rule.code);
    let undecided = judgement.undecided.keys().any(|(code, _)| *code == rule.code);
    let lacks = coverage(&judgement, &[rule]).iter().any(|gap| gap.rules.contains(&rule.code));
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
            for key in keys.into_iter().filter(|key| !EVENTS.contains(&key.as_str()) && !is_optional(rule, key)) {
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
