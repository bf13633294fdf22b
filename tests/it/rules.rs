//! `retrylens rules` and `retrylens explain`: the catalogue as users and programs see it.

use crate::common::{Ran, repo, run_in};
use retrylens::config::Config;
use retrylens::ingest::{self, Ingested};
use retrylens::judge::{Options, judge};
use retrylens::model::{Input, Ledger};
use retrylens::render::text::{self, TextOptions};
use retrylens::report::build;
use retrylens::rules::{CATALOGUE, Example};
use std::path::Path;

fn run(arguments: &[&str]) -> Ran {
    run_in(&repo(""), arguments)
}

fn assert_fits(ran: &Ran) {
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stderr.is_empty() && !ran.stdout.contains('\x1b'), "{ran:#?}");
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line}");
    }
}

/// On one line, however it was wrapped.
fn flat(ran: &Ran) -> String {
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_list_has_every_rule_once() {
    let ran = run(&["rules"]);
    assert_fits(&ran);
    for rule in CATALOGUE {
        let entries = ran.stdout.lines().filter(|line| line.trim_start().starts_with(rule.code)).collect::<Vec<_>>();
        assert_eq!(entries.len(), 1, "{}", rule.code);
        assert!(entries[0].contains(rule.name) && entries[0].contains(rule.severity.name()), "{}", entries[0]);
        assert!(flat(&ran).contains(rule.summary), "{}", rule.summary);
    }
}

#[test]
fn every_rule_belongs_to_a_family() {
    assert!(!run(&["rules"]).stdout.contains("OTHER"));
}

#[test]
fn json_is_complete() {
    let ran = run(&["rules", "--format", "json"]);
    assert_eq!(ran.code, 0);
    let rules = ran.json();
    let rules = rules.as_array().unwrap();
    assert_eq!(rules.len(), CATALOGUE.len());
    for (json, rule) in rules.iter().zip(CATALOGUE) {
        let texts = [
            ("code", rule.code),
            ("name", rule.name),
            ("severity", rule.severity.name()),
            ("summary", rule.summary),
            ("why", rule.why),
            ("fix", rule.fix),
            ("source", rule.source),
        ];
        for (key, text) in texts {
            assert_eq!(json[key], text, "{}: {key}", rule.code);
        }
        let scope = json["scope"].as_str().unwrap();
        assert!(["attempt", "call", "run", "fleet"].contains(&scope), "{scope}");
        let needs: Vec<&str> = json["needs"].as_array().unwrap().iter().map(|need| need.as_str().unwrap()).collect();
        assert_eq!(needs, rule.needs.iter().map(|field| field.name()).collect::<Vec<_>>());
        let settings = json["settings"].as_array().unwrap();
        assert_eq!(settings.len(), rule.settings.len(), "{}", rule.code);
        for (json, setting) in settings.iter().zip(rule.settings) {
            assert_eq!(json["name"], setting.name);
            assert_eq!(json["default"].as_f64(), Some(setting.default));
            assert_eq!((&json["unit"], &json["meaning"]), (&setting.unit.into(), &setting.meaning.into()));
        }
        assert!(json["exceptions"].as_array().unwrap().iter().all(|exception| exception.is_string()), "{}", rule.code);
        assert_eq!(json.as_object().unwrap().len(), 11, "no key beyond those: {json}");
    }
}

#[test]
fn markdown_is_a_table() {
    let ran = run(&["rules", "--format", "markdown"]);
    assert_eq!(ran.code, 0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), CATALOGUE.len() + 2);
    for line in lines {
        let bars = line.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 6, "{line}");
    }
}

#[test]
fn every_rule_is_explained() {
    let codes: Vec<&str> = CATALOGUE.iter().map(|rule| rule.code).collect();
    let ran = run(&[&["explain"], codes.as_slice()].concat());
    assert_fits(&ran);
    let shown = flat(&ran);
    for rule in CATALOGUE {
        for text in [rule.summary, rule.why, rule.fix, rule.source] {
            assert!(shown.contains(text), "{} lacks: {text}", rule.code);
        }
        for setting in rule.settings {
            let value = format!("{} {} {}", setting.name, setting.default, setting.unit);
            assert!(shown.contains(value.trim_end()), "{}: {value}", rule.code);
        }
    }
    for part in ["FIRES", "STAYS SILENT"] {
        let count = ran.stdout.lines().filter(|line| line.starts_with(part)).count();
        assert_eq!(count, CATALOGUE.len(), "{part}");
    }
}

#[test]
fn one_alone_and_in_any_case() {
    for rule in CATALOGUE {
        let lower = run(&["explain", &rule.code.to_lowercase()]);
        assert_fits(&lower);
        assert!(lower.stdout.starts_with(&format!("{} {}  ", rule.code, rule.name)), "{}", lower.stdout);
        assert_eq!(run(&["explain", &rule.name.to_uppercase()]).stdout, lower.stdout);
    }
}

#[test]
fn explanations_are_json_too() {
    let ran = run(&["explain", "rl301", "RL101", "--format", "json"]);
    let rules = ran.json();
    assert_eq!((ran.code, &rules[0]["code"], &rules[1]["code"]), (0, &"RL301".into(), &"RL101".into()));
    assert_eq!(rules.as_array().unwrap().len(), 2);
}

#[test]
fn an_unknown_rule_ends_with_2_and_a_suggestion() {
    for (word, suggestion) in [
        ("RL10", "RL101 spend-cap-retried"),
        ("RL1O1", "RL101 spend-cap-retried"),
        ("spend-cap-retryed", "RL101 spend-cap-retried"),
        ("layered", "RL401 hidden-layered-retries"),
        ("zzzzzzzz", "`retrylens rules` lists all"),
        ("", "`retrylens rules` lists all"),
    ] {
        let ran = run(&["explain", "RL301", word]);
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.stdout.is_empty(), "nothing is explained by halves: {ran:#?}");
        assert!(ran.stderr.contains(&format!("no rule `{word}`")) && ran.stderr.contains(suggestion), "{ran:#?}");
    }
    assert_eq!(run(&["explain"]).code, 2);
}

#[test]
fn the_page_of_rules_is_complete() {
    let page = run(&["rules", "--format", "markdown", "--long"]).stdout;
    for rule in CATALOGUE {
        assert!(page.contains(&format!("\n### {} {}\n", rule.code, rule.name)), "{}", rule.code);
        for setting in rule.settings {
            assert!(page.contains(&format!("| `{}` | {}", setting.name, setting.default)), "{}", rule.code);
        }
    }
    assert_eq!(page.matches("\n```json\n").count(), CATALOGUE.len());
    assert_eq!(run(&["rules", "--long"]).code, 2);
}

/// The problems of a log as the text report has them: from the heading to the line on how to explain them.
fn problems(text: &str) -> &str {
    let start = text.find("\nPROBLEMS").unwrap();
    let shown = &text[start..];
    shown[..shown.find("\n  why: ").unwrap()].trim_start().split_once('\n').unwrap().1
}

/// What a user reads of the first example in which each rule fires.
#[test]
fn what_each_rule_says() {
    let mut all = String::new();
    for rule in CATALOGUE {
        let example = Example::of(rule.firing[0]);
        let config = Config::parse(example.config, Path::new("example")).unwrap();
        let table = ingest::read_str(example.log);
        let attempts = table.rows.len() as u64;
        let ledger = Ledger { lines: attempts, attempts, ..Ledger::default() };
        let input = Input { path: "log".into(), format: "native", bytes: 0, ledger, failure: None, envelope: None };
        let ingested = Ingested { table, inputs: vec![input], ..Ingested::default() };
        let options = Options { complete: true, settings: config.settings(), rules: vec![rule], ..Options::default() };
        let report = build(&ingested, &judge(&ingested.table, &options), &[rule]);
        let mut page = Vec::new();
        text::render(&report, &TextOptions { width: 80, ..TextOptions::default() }, &mut page).unwrap();
        all.push_str(problems(&String::from_utf8(page).unwrap()).trim_end());
        all.push('\n');
    }
    insta::assert_snapshot!("what_each_rule_says", all);
}
