//! However a fleet's log is cut or shuffled, its report is the same.

use super::defects;
use super::dice::Dice;
use super::fleet::Fleet;
use super::log::Log;
use super::seeds;
use crate::common::complete;
use crate::common::{assert_same, json, read, report, without};
use rayon::prelude::*;
use retrylens::calls::group;
use retrylens::judge::{Judgement, horizon, judge_shard};
use retrylens::report::build;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the order of lines and the names of files change.
const PLACES: &[&str] = &["file", "line", "inputs"];

fn write(folder: &Path, name: &str, lines: &[String]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>()).unwrap();
    path
}

/// Judged by several, each of whom sees a part of the calls, and merged in some order.
fn by_shards(file: &Path, shards: u64, dice: &mut Dice) -> Value {
    let ingested = read(&[file.to_owned()]);
    let options = complete();
    let (groups, horizon) = (group(&ingested.table), horizon(&ingested.table, options.complete));
    let judged = |shard: u64| judge_shard(&groups, &horizon, &options, move |key| (key >> 9) % shards == shard);
    let mut parts: Vec<Judgement<'_>> = (0..shards).map(judged).collect();
    while parts.len() > 1 {
        let part = parts.swap_remove(dice.whole(0, parts.len() - 1));
        let place = dice.whole(0, parts.len() - 1);
        parts[place].merge(part);
    }
    let mut whole = parts.pop().expect("one is left");
    whole.judge_fleet(&options);
    json(&build(&ingested, &whole, &options.rules))
}

fn keeps_its_report(name: &str, log: &Log, mut dice: Dice) {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = log.lines();
    let file = write(folder.path(), "log.jsonl", &lines);
    let whole = json(&report(std::slice::from_ref(&file)));
    let shards = dice.whole(2, 9) as u64;
    assert_same(&whole, &by_shards(&file, shards, &mut dice), &format!("{name} in {shards} shards"));
    dice.shuffle(&mut lines);
    let cut = dice.whole(0, lines.len());
    let files = [write(folder.path(), "a.jsonl", &lines[..cut]), write(folder.path(), "b.jsonl", &lines[cut..])];
    let shuffled = json(&report(&files));
    assert_same(&without(whole, PLACES), &without(shuffled, PLACES), &format!("{name}, shuffled and cut"));
}

#[test]
fn healthy_fleets_keep_their_report() {
    (0..seeds(6)).into_par_iter().for_each(|seed| {
        keeps_its_report(&format!("healthy fleet {seed}"), &Fleet::healthy(seed).play(), Dice::new(seed));
    });
}

#[test]
fn defective_fleets_keep_their_report() {
    // A few seeds of each tell as much as many.
    let count = seeds(1).min(10);
    let defects = defects::all();
    let logs: Vec<_> = defects.iter().flat_map(|defect| (0..count).map(move |seed| (defect, seed))).collect();
    logs.into_par_iter().for_each(|(defect, seed)| {
        let log = (defect.log)(Dice::new(seed + 77));
        keeps_its_report(&format!("defect of {}, seed {seed}", defect.rule), &log, Dice::new(seed));
    });
}
