//! Plays logs, judges them, and keeps count.

use super::defects::{self, Defect};
use super::dice::Dice;
use super::fleet::Fleet;
use super::log::Log;
use rayon::prelude::*;
use retrylens::config::Config;
use retrylens::ingest::read_str;
use retrylens::judge::{Options, judge};
use retrylens::model::Severity;
use retrylens::rules::{Rule, Settings, find};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What is said of a log: rule, worst severity, and the words of one finding of that severity.
fn said(log: &Log, settings: Settings) -> Vec<(&'static str, Severity, String)> {
    let table = read_str(&log.text());
    let judgement = judge(&table, &Options { complete: true, settings, ..Options::default() });
    let mut said: Vec<(&'static str, Severity, String)> = Vec::new();
    for fold in judgement.problems.values() {
        let worst = fold.kept.values().max_by_key(|kept| kept.severity).expect("a problem has a finding");
        said.push((fold.rule.code, fold.severity, worst.hit.message.clone()));
    }
    said.sort();
    said
}

/// Keeps a log to be looked at, and says where.
fn kept(name: &str, log: &Log) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("properties");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}.jsonl"));
    std::fs::write(&path, log.text()).unwrap();
    path
}

/// Healthy fleets of which something is said above info, in words.
pub(crate) fn blamed(count: u64) -> Vec<String> {
    let judged = (0..count).into_par_iter().filter_map(|seed| {
        let log = Fleet::healthy(seed).play();
        let loud: Vec<_> =
            said(&log, Settings::default()).into_iter().filter(|(_, severity, _)| *severity > Severity::Info).collect();
        (!loud.is_empty()).then(|| {
            let path = kept(&format!("healthy-{seed}"), &log);
            let words: Vec<String> = loud.iter().map(|(code, _, words)| format!("  {code} {words}")).collect();
            format!("seed {seed}, {}:\n{}", path.display(), words.join("\n"))
        })
    });
    judged.collect()
}

/// How the logs with one defect were judged.
pub(crate) struct Score {
    rule: &'static Rule,
    defect: Defect,
    logs: u64,
    found: u64,
    /// Nothing else was said above info, but what the defect declares.
    alone: u64,
    /// Each log that was judged wrongly, in words.
    pub(crate) wrong: Vec<String>,
}

impl Score {
    /// How to write the document anew.
    pub(crate) const HOW: &'static str = "cargo bench --bench accuracy > docs/properties.md";

    /// A row of the table for people who watch.
    pub(crate) fn line(&self) -> String {
        let share = |count: u64| 100.0 * count as f64 / self.logs as f64;
        let (found, alone) = (share(self.found), share(self.alone));
        format!("{}  {:>4} logs  recall {found:>5.1}%  precision {alone:>5.1}%", self.rule.code, self.logs)
    }
}

/// Judges so many logs of every defect, or of those of one rule.
pub(crate) fn scores(count: u64, only: Option<&str>) -> Vec<Score> {
    let defects: Vec<(&'static Rule, Defect)> = defects::all()
        .into_iter()
        .filter(|defect| only.is_none_or(|only| defect.rule == only))
        .filter_map(|defect| Some((find(defect.rule)?, defect)))
        .collect();
    let mut scores: Vec<Score> = defects.into_par_iter().map(|(rule, defect)| score(rule, defect, count)).collect();
    scores.sort_by_key(|score| score.rule.code);
    scores
}

fn score(rule: &'static Rule, defect: Defect, count: u64) -> Score {
    let mut score = Score { rule, defect, logs: count, found: 0, alone: 0, wrong: Vec::new() };
    let trials: Vec<(bool, Vec<String>)> =
        (0..count).into_par_iter().map(|seed| try_out(&defect, rule, seed)).collect();
    for (found, wrong) in trials {
        score.found += u64::from(found);
        score.alone += u64::from(wrong.iter().all(|words| words.ends_with(NOT_FOUND)));
        score.wrong.extend(wrong);
    }
    score
}

const NOT_FOUND: &str = "not found";

/// Whether the defect was found, and what is wrong with the verdict.
fn try_out(defect: &Defect, rule: &Rule, seed: u64) -> (bool, Vec<String>) {
    let number: u64 = defect.rule[2..].parse().expect("a code has a number");
    let log = (defect.log)(Dice::new(seed * 1000 + number));
    let said = said(&log, configured(defect));
    // A rule whose findings are for information is found as that.
    let least = rule.severity.min(Severity::Warning);
    let found = said.iter().any(|(code, severity, _)| *code == rule.code && *severity >= least);
    let expected = |code: &str| code == rule.code || defect.also.iter().any(|(other, _)| *other == code);
    let besides = said.into_iter().filter(|(code, severity, _)| *severity > Severity::Info && !expected(code));
    let mut wrong: Vec<String> = besides.map(|(code, _, words)| format!("besides {code}: {words}")).collect();
    if !found {
        wrong.push(NOT_FOUND.to_owned());
    }
    if !wrong.is_empty() {
        let path = kept(&format!("{}-{seed}", rule.code), &log);
        let head = format!("  {} seed {seed}, {}: ", rule.code, path.display());
        wrong.iter_mut().for_each(|words| words.insert_str(0, &head));
    }
    (found, wrong)
}

fn configured(defect: &Defect) -> Settings {
    let config = Config::parse(defect.config, Path::new("retrylens.toml"));
    config.unwrap_or_else(|mistake| panic!("{}: {mistake}", defect.rule)).settings()
}

/// The document.
pub(crate) fn page(count: u64, blamed: usize, scores: &[Score]) -> String {
    let mut page = String::from("# What the rules find, and what they leave alone\n\n");
    let logs: u64 = scores.iter().map(|score| score.logs).sum();
    let _ = writeln!(
        page,
        "Made by `{}`.\nSimulated fleets of 1 to 200 workers meet outages and rate limits; their logs are judged by all \
         rules.\n\n- **Healthy fleets**, with jitter, hints obeyed, attempts and time bounded, and a shared gate: \
         {blamed} of {count} are blamed for anything above info.\n- **Defects**: {logs} logs of fleets that are healthy \
         but for one defect. *Recall* is the share in which its rule speaks (above info, unless all its findings are \
         information); *precision* the share in which no other rule speaks above info, but for those that the last \
         column names, because the defect is theirs too.\n",
        Score::HOW
    );
    page.push_str("| rule | name | logs | recall | precision | besides |\n| --- | --- | --- | --- | --- | --- |\n");
    for score in scores {
        let share = |count: u64| format!("{:.1}%", 100.0 * count as f64 / score.logs as f64);
        let besides: Vec<String> = score.defect.also.iter().map(|(code, why)| format!("{code}: {why}")).collect();
        let (code, name, besides) = (score.rule.code, score.rule.name, besides.join("; "));
        let _ = writeln!(
            page,
            "| {code} | {name} | {} | {} | {} | {besides} |",
            score.logs,
            share(score.found),
            share(score.alone)
        );
    }
    page
}
