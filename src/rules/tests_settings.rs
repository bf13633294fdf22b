//! Tests that every threshold matters: some value of it changes the findings in an example of its rule.
#![allow(clippy::panic)]

use super::{CATALOGUE, Example, Rule, Setting, Settings};
use crate::config::Config;
use crate::judge::{Options, judge};
use crate::model::AttemptTable;
use std::path::Path;

/// Factors that a default is multiplied by, and values that replace it.
const FACTORS: [f64; 10] = [0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 1.1, 2.0, 10.0, 1000.0];
const VALUES: [f64; 3] = [-1.0, 1.0, 40.0];

/// Returns severity, confidence, message and evidence of each finding of the rule `code`.
fn findings(code: &str, table: &AttemptTable, settings: Settings) -> Vec<String> {
    let judgement = judge(table, &Options { complete: true, settings, ..Options::default() });
    let problems = judgement.problems.values().filter(|problem| problem.rule.code == code);
    let kept = problems.flat_map(|problem| problem.kept.values());
    let mut findings: Vec<String> = kept
        .map(|kept| format!("{:?} {:?} {} {:?}", kept.severity, kept.confidence, kept.hit.message, kept.hit.evidence))
        .collect();
    findings.sort();
    findings
}

/// Returns whether some value of `setting` of the rule `owner` changes the findings of `rule` in one of its examples.
fn changes_findings(rule: &Rule, owner: &'static str, setting: &Setting) -> bool {
    rule.firing.iter().chain(rule.near_misses).any(|example| {
        let example = Example::of(example);
        let config = Config::parse(example.config, Path::new("example")).unwrap_or_else(|wrong| panic!("{wrong}"));
        let table = crate::ingest::read_str(example.log);
        let policies = config.settings().policies;
        let before = findings(rule.code, &table, Settings::default().declaring(policies.clone()));
        let values = FACTORS.iter().map(|factor| setting.default * factor).chain(VALUES);
        values.into_iter().any(|value| {
            let changed = Settings::with([(owner, setting.name, value)]).declaring(policies.clone());
            findings(rule.code, &table, changed) != before
        })
    })
}

#[test]
fn every_setting_decides_something() {
    let mut unused = Vec::new();
    for rule in CATALOGUE {
        let without_effect = rule.settings.iter().filter(|setting| !changes_findings(rule, rule.code, setting));
        unused.extend(without_effect.map(|setting| format!("{} {}", rule.code, setting.name)));
    }
    assert!(unused.is_empty(), "no example is judged otherwise when these change, add one near the value: {unused:?}");
}

/// Thresholds that other rules use: owner, setting, user.
const SHARED_SETTINGS: &[(&str, &str, &str)] = &[
    ("RL301", "tolerance_share", "RL312"),
    ("RL301", "tolerance_share", "RL501"),
    ("RL304", "chance", "RL203"),
    ("RL304", "no_wait_ms", "RL203"),
    ("RL304", "no_wait_ms", "RL303"),
    ("RL206", "worth_s", "RL204"),
    ("RL206", "worth_s", "RL201"),
    ("RL206", "cap_s", "RL313"),
    ("RL206", "worth_s", "RL606"),
    ("RL315", "factor", "RL308"),
    ("RL403", "growth", "RL405"),
    ("RL603", "tokens_per_s", "RL604"),
];

#[test]
fn rules_that_use_a_setting_of_another_follow_its_change() {
    for (owner, name, follower) in SHARED_SETTINGS {
        let found = |code: &str| super::find(code).unwrap_or_else(|| panic!("{code} is no rule"));
        let owner = found(owner);
        let setting = owner.settings.iter().find(|setting| setting.name == *name);
        let setting = setting.unwrap_or_else(|| panic!("{} has no {name}", owner.code));
        assert!(
            changes_findings(found(follower), owner.code, setting),
            "{follower} does not follow {} {name}",
            owner.code
        );
    }
}
