//! What rules promise over any seed: a healthy fleet is not blamed, and a defect is found, alone.
//!
//! `cargo test --test properties` plays a few seeds; `RETRYLENS_SEEDS=500` so many for each rule.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod client;
mod defects;
mod dice;
mod fleet;
mod healthy;
mod log;
mod provider;

use defects::Defect;
use dice::Dice;
use fleet::Fleet;
use log::Log;
use rayon::prelude::*;
use retrylens::ingest::read_str;
use retrylens::judge::{Options, judge};
use retrylens::rules::{CATALOGUE, Severity};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Seeds of each property.
fn seeds(usual: u64) -> u64 {
    std::env::var("RETRYLENS_SEEDS").ok().map_or(usual, |seeds| seeds.parse().expect("RETRYLENS_SEEDS is a number"))
}

/// What is said of a log: rule, severity, message, of the first finding of each problem.
fn said(log: &Log) -> Vec<(&'static str, Severity, String)> {
    let table = read_str(&log.text());
    let judgement = judge(&table, &Options { complete: true, ..Options::default() });
    let mut said: Vec<(&'static str, Severity, String)> = Vec::new();
    for fold in judgement.folds.values() {
        let worst = fold.kept.values().max_by_key(|kept| kept.severity).expect("a problem has a finding");
        said.push((fold.rule.code, fold.severity, worst.hit.message.clone()));
    }
    said.sort();
    said
}

/// Keeps a log to be looked at.
fn kept(name: &str, log: &Log) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("properties");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    std::fs::write(&path, log.text()).unwrap();
    path
}

#[test]
fn a_healthy_fleet_is_not_blamed() {
    let failed: Vec<String> = (0..seeds(16))
        .into_par_iter()
        .filter_map(|seed| {
            let log = Fleet::healthy(seed).play();
            let loud: Vec<_> = said(&log).into_iter().filter(|(_, severity, _)| *severity > Severity::Info).collect();
            (!loud.is_empty()).then(|| {
                let path = kept(&format!("healthy-{seed}"), &log);
                let words: Vec<String> = loud.iter().map(|(code, _, words)| format!("  {code} {words}")).collect();
                format!("seed {seed}, {}:\n{}", path.display(), words.join("\n"))
            })
        })
        .collect();
    assert!(failed.is_empty(), "{} healthy fleets are blamed:\n{}", failed.len(), failed.join("\n"));
}

/// What became of one log with a defect in it.
struct Trial {
    rule: &'static str,
    seed: u64,
    found: bool,
    /// What else was said above info.
    besides: Vec<(&'static str, String)>,
}

fn try_out(defect: &Defect, seed: u64) -> Trial {
    let number: u64 = defect.rule[2..].parse().expect("a code has a number");
    let log = (defect.log)(Dice::new(seed * 1000 + number));
    let said = said(&log);
    let usual = CATALOGUE.iter().find(|rule| rule.code == defect.rule).expect("a rule of the catalogue").severity;
    let found =
        said.iter().any(|(code, severity, _)| *code == defect.rule && *severity >= usual.min(Severity::Warning));
    let expected = |code: &str| code == defect.rule || defect.also.iter().any(|(other, _)| *other == code);
    let loud = said.into_iter().filter(|(code, severity, _)| *severity > Severity::Info && !expected(code));
    let besides: Vec<_> = loud.map(|(code, _, words)| (code, words)).collect();
    if !found || !besides.is_empty() {
        kept(&format!("{}-{seed}", defect.rule), &log);
    }
    Trial { rule: defect.rule, seed, found, besides }
}

#[test]
fn every_rule_has_its_defect() {
    let defects = defects::all();
    for rule in CATALOGUE {
        assert!(defects.iter().any(|defect| defect.rule == rule.code), "{} has no defect", rule.code);
    }
    for defect in &defects {
        assert!(CATALOGUE.iter().any(|rule| rule.code == defect.rule), "{} is no rule", defect.rule);
    }
}

#[test]
fn a_defect_is_found_and_nothing_else() {
    let defects = defects::all();
    let only = std::env::var("RETRYLENS_RULE").ok();
    let count = seeds(8);
    let jobs: Vec<(&Defect, u64)> = defects
        .iter()
        .filter(|defect| only.as_deref().is_none_or(|only| defect.rule == only))
        .flat_map(|defect| (0..count).map(move |seed| (defect, seed)))
        .collect();
    let trials: Vec<Trial> = jobs.into_par_iter().map(|(defect, seed)| try_out(defect, seed)).collect();
    let mut by_rule: BTreeMap<&str, Vec<&Trial>> = BTreeMap::new();
    trials.iter().for_each(|trial| by_rule.entry(trial.rule).or_default().push(trial));
    let mut wrong = Vec::new();
    for (rule, trials) in &by_rule {
        let found = trials.iter().filter(|trial| trial.found).count();
        let clean = trials.iter().filter(|trial| trial.besides.is_empty()).count();
        println!("{rule}  {} logs  found in {found}  nothing else in {clean}", trials.len());
        for trial in trials {
            if !trial.found {
                wrong.push(format!("  {rule} seed {}: not found", trial.seed));
            }
            for (other, words) in &trial.besides {
                wrong.push(format!("  {rule} seed {}: besides {other} {words}", trial.seed));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
