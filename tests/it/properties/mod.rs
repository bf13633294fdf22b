//! What rules promise over any seed: a healthy fleet is not blamed, a defect is found, and nothing else is.
//!
//! Fleets of simulated clients call a simulated provider (`fleet.rs`, `healthy.rs`), and their logs are judged.
//! `defects/` has at least one defect for every rule: a client that behaves wrongly, or a log that looks as if.
//!
//! ```text
//! cargo test --test it properties                                     some seeds a rule
//! RETRYLENS_SEEDS=500 cargo test --test it properties -- --nocapture  so many, and a table
//! RETRYLENS_RULE=RL301 cargo test --test it properties::a_defect      one rule
//! cargo bench --bench accuracy > docs/properties.md                   500 seeds, as a page
//! ```
//!
//! Logs that are judged wrongly are kept; the message says where.

mod client;
mod defects;
mod dice;
mod fleet;
mod healthy;
mod log;
mod merging;
mod provider;
mod trial;

use crate::common;
use retrylens::rules::CATALOGUE;
use trial::{Score, blamed, scores};

/// Seeds of each property: as many as asked for, or so many.
fn seeds(usual: u64) -> u64 {
    let asked = std::env::var("RETRYLENS_SEEDS").ok();
    asked.map_or(usual, |seeds| seeds.parse().expect("RETRYLENS_SEEDS is a number"))
}

#[test]
fn a_healthy_fleet_is_not_blamed() {
    let wrong = blamed(seeds(24));
    assert!(wrong.is_empty(), "{} healthy fleets are blamed:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_has_its_defect() {
    let defects = defects::all();
    for rule in CATALOGUE {
        assert!(defects.iter().any(|defect| defect.rule == rule.code), "{} has no defect", rule.code);
    }
    let is_known = |code: &str| CATALOGUE.iter().any(|rule| rule.code == code);
    for defect in &defects {
        assert!(is_known(defect.rule), "{} is no rule", defect.rule);
        assert!(defect.also.iter().all(|(other, _)| is_known(other)), "beside {}", defect.rule);
    }
    for (other, reason) in defects.iter().flat_map(|defect| defect.also) {
        assert!(!reason.is_empty(), "why {other}?");
    }
}

#[test]
fn a_defect_is_found_and_nothing_else() {
    let only = std::env::var("RETRYLENS_RULE").ok();
    let scores = scores(seeds(8), only.as_deref());
    for score in &scores {
        println!("{}", score.line());
    }
    let wrong: Vec<&String> = scores.iter().flat_map(|score| &score.wrong).collect();
    let words: Vec<&str> = wrong.iter().map(|words| words.as_str()).collect();
    assert!(words.is_empty(), "{} logs are judged wrongly:\n{}", words.len(), words.join("\n"));
}

/// The page of accuracy, from `count` logs of each kind.
pub(crate) fn page(count: u64) -> String {
    trial::page(count, blamed(count).len(), &scores(count, None))
}

#[test]
fn the_page_has_a_row_for_each_rule() {
    let page = page(1);
    for rule in CATALOGUE {
        assert!(page.contains(&format!("\n| {} | {} |", rule.code, rule.name)), "{}", rule.code);
    }
}

#[test]
fn the_table_names_the_rules() {
    let page = std::fs::read_to_string(common::repo("docs/properties.md")).unwrap();
    for row in page.lines().filter(|line| line.starts_with("| RL")) {
        let code = row.split_whitespace().nth(1).expect("a row begins with a code");
        assert!(
            CATALOGUE.iter().any(|rule| rule.code == code),
            "docs/properties.md: {code} is no rule: {}",
            Score::HOW
        );
    }
}
