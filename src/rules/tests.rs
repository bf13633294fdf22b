//! Every example of every rule, and what the catalogue promises of its entries.
#![allow(clippy::panic)]

use super::{CATALOGUE, Example, Rule, find};
use crate::config::Config;
use crate::judge::{Options, judge};
use std::collections::BTreeSet;
use std::path::Path;

/// The options an example is judged by.
fn options(example: Example<'_>) -> Options {
    let config = Config::parse(example.config, Path::new("example")).unwrap_or_else(|mistake| panic!("{mistake}"));
    Options { complete: true, settings: config.settings(), ..Options::default() }
}

/// Codes found in an example that is read and judged alone.
fn found(example: &str) -> BTreeSet<&'static str> {
    let example = Example::of(example);
    let table = crate::ingest::read_str(example.log);
    assert!(!table.rows.is_empty(), "no attempt was read from\n{}", example.log);
    let options = options(example);
    judge(&table, &options).folds.keys().map(|key| key.rule).collect()
}

fn each(examples: impl Fn(&Rule) -> &'static [&'static str], must_fire: bool) {
    let mut wrong = Vec::new();
    for rule in CATALOGUE {
        for (index, log) in examples(rule).iter().enumerate() {
            let found = found(log);
            if found.contains(rule.code) != must_fire {
                wrong.push(format!("{} example {index}: found {found:?} in\n{log}\n", rule.code));
            }
        }
    }
    assert!(wrong.is_empty(), "{} examples go wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn firing_examples_fire() {
    each(|rule| rule.firing, true);
}

#[test]
fn near_misses_do_not_fire() {
    each(|rule| rule.near_misses, false);
}

#[test]
fn every_record_of_an_example_is_an_attempt() {
    for rule in CATALOGUE {
        for example in rule.firing.iter().chain(rule.near_misses) {
            let log = Example::of(example).log;
            assert_eq!(crate::ingest::read_str(log).rows.len(), log.lines().count(), "{}:\n{log}", rule.code);
        }
    }
}

#[test]
fn every_rule_has_examples_of_both_kinds() {
    for rule in CATALOGUE {
        assert!(rule.firing.len() >= 2, "{} has {} firing examples", rule.code, rule.firing.len());
        assert!(rule.near_misses.len() >= 2, "{} has {} near misses", rule.code, rule.near_misses.len());
    }
}

#[test]
fn metadata_is_complete() {
    for rule in CATALOGUE {
        for (what, text) in [
            ("name", rule.name),
            ("summary", rule.summary),
            ("why", rule.why),
            ("fix", rule.fix),
            ("source", rule.source),
        ] {
            assert!(!text.trim().is_empty(), "{} has no {what}", rule.code);
            assert!(!text.contains("  "), "{}: {what} has a run of blanks", rule.code);
        }
        assert!(rule.summary.ends_with('.'), "{}: the summary is a sentence", rule.code);
        let hyphenated =
            rule.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        assert!(hyphenated, "{}: {} is no hyphenated name", rule.code, rule.name);
        for setting in rule.settings {
            assert!(
                !setting.name.is_empty() && !setting.meaning.is_empty(),
                "{}: a setting says too little",
                rule.code
            );
            assert!(setting.default.is_finite(), "{}: {} has no default", rule.code, setting.name);
        }
    }
}

#[test]
fn codes_are_unique_and_in_order() {
    assert!(CATALOGUE.is_sorted_by(|a, b| a.code < b.code), "codes repeat or stand out of order");
    let names: BTreeSet<&str> = CATALOGUE.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), CATALOGUE.len(), "two rules share a name");
    for rule in CATALOGUE {
        let digits = rule.code.strip_prefix("RL").unwrap_or_default();
        assert!(digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{} is no code", rule.code);
        assert_eq!(find(&rule.code.to_lowercase()).map(|found| found.code), Some(rule.code));
    }
}

#[test]
fn messages_are_plain_sentences() {
    for rule in CATALOGUE {
        for example in rule.firing {
            let example = Example::of(example);
            let table = crate::ingest::read_str(example.log);
            let options = options(example);
            for fold in judge(&table, &options).folds.values() {
                for kept in fold.kept.values() {
                    let message = &kept.hit.message;
                    assert!(!message.ends_with('.'), "{}: {message}", fold.rule.code);
                    assert!(!message.contains("  ") && !message.contains('\n'), "{}: {message}", fold.rule.code);
                }
            }
        }
    }
}
