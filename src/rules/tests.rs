//! Tests of every example of every rule, and of the metadata in the catalogue.
#![allow(clippy::panic)]

use super::{CATALOGUE, Example, Rule, find};
use crate::config::Config;
use crate::judge::{Options, judge};
use crate::model::Severity;
use std::collections::BTreeSet;
use std::path::Path;

/// Returns the options that an example is judged by.
fn options(example: Example<'_>) -> Options {
    let config = Config::parse(example.config, Path::new("example")).unwrap_or_else(|error| panic!("{error}"));
    Options { complete: true, settings: config.settings(), ..Options::default() }
}

/// Returns the codes of the rules with findings in an example.
pub(super) fn found(example: &str) -> BTreeSet<&'static str> {
    let example = Example::of(example);
    let table = crate::ingest::read_str(example.log);
    assert!(!table.rows.is_empty(), "no attempt was read from\n{}", example.log);
    let options = options(example);
    judge(&table, &options).problems.keys().map(|key| key.rule).collect()
}

fn assert_examples(examples: impl Fn(&Rule) -> &'static [&'static str], must_fire: bool) {
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
    assert_examples(|rule| rule.firing, true);
}

#[test]
fn near_misses_do_not_fire() {
    assert_examples(|rule| rule.near_misses, false);
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
        for sentence in rule.exceptions() {
            assert!(sentence.ends_with('.') && !sentence.contains("  "), "{}: {sentence}", rule.code);
        }
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
            for problem in judge(&table, &options).problems.values() {
                for kept in problem.kept.values() {
                    let message = &kept.hit.message;
                    assert!(!message.ends_with('.'), "{}: {message}", problem.rule.code);
                    assert!(!message.contains("  ") && !message.contains('\n'), "{}: {message}", problem.rule.code);
                }
            }
        }
    }
}

/// A log and its expected finding: rule, severity, words that the message or fix contains, and words that neither
/// contains.
type ExpectedFinding = (&'static str, (&'static str, Severity, &'static str, &'static str));

/// Attempts of one call, each with its time and these fields.
macro_rules! call {
    ($($ts:literal $fields:literal),+ $(,)?) => {
        concat!($(r#"{"run_id":"r","call_id":"c","ts":"2026-05-20T10:00:"#, $ts, r#"Z","#, $fields, "}\n"),+)
    };
}

const EXPECTED_FINDINGS: &[ExpectedFinding] = &[
    // A refusal that ended is not an error, and nothing says that it could not end.
    (
        call!(
            "00" r#""attempt":1,"status":429,"error_code":"insufficient_quota""#,
            "05" r#""attempt":2,"status":429,"error_code":"insufficient_quota""#,
            "15" r#""attempt":3,"status":200"#,
        ),
        ("RL107", Severity::Info, "a later attempt of the call succeeded", "does not refill"),
    ),
    (
        call!(
            "00" r#""attempt":1,"status":402,"should_retry":true"#,
            "03" r#""attempt":2,"status":200"#,
        ),
        ("RL106", Severity::Info, "a later attempt of the call succeeded", "no attempt"),
    ),
    (
        call!(
            "00" r#""attempt":1,"status":429,"error_code":"insufficient_quota""#,
            "05" r#""attempt":2,"status":429,"error_code":"insufficient_quota","decision":"fail""#,
        ),
        ("RL107", Severity::Error, "waiting does not refill it", "succeeded"),
    ),
    // The counter of the SDK stays at 0, so the loop around it retried.
    (
        call!(
            "00.0" r#""attempt":1,"sdk_retry_count":0,"status":429,"retry_after":75,"duration_ms":20,"client":{"name":"Anthropic/Python","version":"0.73.0"}"#,
            "02.2" r#""attempt":2,"sdk_retry_count":0,"status":200,"duration_ms":20,"client":{"name":"Anthropic/Python","version":"0.73.0"}"#,
        ),
        ("RL301", Severity::Error, "the loop around it did not read the hint", "discards"),
    ),
    (
        call!(
            "00.0" r#""sdk_retry_count":0,"status":429,"retry_after":75,"duration_ms":20,"client":{"name":"Anthropic/Python","version":"0.73.0"}"#,
            "00.5" r#""sdk_retry_count":1,"status":200,"duration_ms":20,"client":{"name":"Anthropic/Python","version":"0.73.0"}"#,
        ),
        ("RL301", Severity::Error, "discards a hint over 60 s", "loop around"),
    ),
    (
        call!(
            "00.0" r#""attempt":1,"status":429,"retry_after":50,"duration_ms":20,"delay_ms":30000"#,
            "30.1" r#""attempt":2,"status":200,"duration_ms":20"#,
        ),
        ("RL301", Severity::Error, "had planned to wait 30 s", "60 s"),
    ),
    // The fix depends on the client.
    (
        call!(
            "00.0" r#""attempt":1,"status":529,"duration_ms":20,"client":{"name":"ai","version":"7.0.1"}"#,
            "02.0" r#""attempt":2,"status":529,"duration_ms":20,"client":{"name":"ai","version":"7.0.1"}"#,
            "06.1" r#""attempt":3,"status":529,"duration_ms":20,"client":{"name":"ai","version":"7.0.1"}"#,
        ),
        ("RL203", Severity::Warning, "five 62 s", "max_retries"),
    ),
    (
        call!(
            "00.0" r#""attempt":1,"status":529,"duration_ms":20,"client":{"name":"in-house","version":"1"}"#,
            "02.0" r#""attempt":2,"status":529,"duration_ms":20,"client":{"name":"in-house","version":"1"}"#,
        ),
        ("RL203", Severity::Warning, "a fair budget waits 10 s", "SDK"),
    ),
    // The sum includes only what the sentence is about.
    (
        call!(
            "00" r#""attempt":1,"status":503,"retry_after":4,"duration_ms":0"#,
            "04" r#""attempt":2,"status":503,"retry_after":4,"duration_ms":0"#,
            "08" r#""attempt":3,"status":503,"retry_after":4,"duration_ms":0"#,
            "12" r#""attempt":4,"status":503,"retry_after":4,"duration_ms":0"#,
            "16" r#""attempt":5,"status":503,"retry_after":4,"duration_ms":0"#,
            "20" r#""attempt":6,"status":503,"retry_after":4,"duration_ms":0"#,
            "50" r#""attempt":7,"status":503,"retry_after":4,"duration_ms":0"#,
        ),
        ("RL312", Severity::Warning, "waited 20 s over 5 waits", "50 s"),
    ),
];

#[test]
fn findings_say_what_the_log_shows() {
    for (log, (code, severity, word, forbidden)) in EXPECTED_FINDINGS {
        let table = crate::ingest::read_str(log);
        let judgement = judge(&table, &Options { complete: true, ..Options::default() });
        let problem = judgement.problems.values().find(|problem| problem.rule.code == *code);
        let kept = problem.and_then(|problem| problem.kept.values().next());
        let kept = kept.unwrap_or_else(|| panic!("no {code} in\n{log}"));
        let text =
            format!("{} / {}", kept.hit.message, kept.hit.fix.as_deref().unwrap_or(problem.map_or("", |f| f.rule.fix)));
        assert_eq!(kept.severity, *severity, "{code}: {text}");
        assert!(text.contains(word) && !text.contains(forbidden), "{code}: {text}");
    }
}
