//! Random logs, cut at random into shards, each read apart, and merged in a random tree.

use super::{Dice, assert_equal, judged, run};
use crate::common::{logs_in, repo};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A record of a random log, with what it may be cut by.
struct Line {
    text: String,
    at_ms: u64,
    call: usize,
}

/// Calls with retries, headroom, waits and errors; and lines that are blank, no attempts, broken, or only begin something.
fn log(dice: &mut Dice) -> Vec<Line> {
    let mut lines = Vec::new();
    for call in 0..dice.below(40) + 3 {
        let mut at_ms = dice.below(3_600_000) as u64;
        for number in 1..=dice.below(4) + 1 {
            lines.push(Line { text: attempt(dice, call, number, at_ms), at_ms, call });
            at_ms += 200 + dice.below(20_000) as u64;
        }
        let other = match dice.below(7) {
            0 => String::new(),
            1 => "a word of the program".to_owned(),
            2 => format!(r#"{{"ts":"{}","call_id":"c-{call}","status":"#, time(at_ms)),
            3 => format!(r#"{{"ts":"{}","event":"request started","call_id":"b-{call}","model":"m-1"}}"#, time(at_ms)),
            4 => format!(r#"{{"ts":"{}","model":"m-1","attempt":1,"went":"well","call_id":"u-{call}"}}"#, time(at_ms)),
            5 => format!(r#"{{"ts":"{}","call_id":"m-{call}","status":200,"duration_ms":"long"}}"#, time(at_ms)),
            _ => continue,
        };
        lines.push(Line { text: other, at_ms, call });
    }
    lines.sort_by_key(|line| line.at_ms);
    lines
}

fn time(at_ms: u64) -> String {
    format!(
        "2026-01-05T{:02}:{:02}:{:02}.{:03}Z",
        10 + at_ms / 3_600_000,
        at_ms / 60_000 % 60,
        at_ms / 1000 % 60,
        at_ms % 1000
    )
}

fn attempt(dice: &mut Dice, call: usize, number: usize, at_ms: u64) -> String {
    let mut text = format!(r#"{{"ts":"{}","provider":"anthropic","model":"claude-{}""#, time(at_ms), call % 3);
    let mut add = |member: String| write!(text, ",{member}").unwrap();
    if !call.is_multiple_of(5) {
        add(format!(r#""run_id":"run-{}""#, call % 4));
    }
    if !call.is_multiple_of(7) {
        add(format!(r#""call_id":"c-{call}","attempt":{number}"#));
    }
    add(format!(
        r#""duration_ms":{}.{},"request_id":"req_{:x}""#,
        dice.below(9000),
        dice.below(10),
        dice.below(1 << 30)
    ));
    match dice.below(5) {
        0 => add(r#""status":429,"error_type":"rate_limit_error","error_message":"too many requests","retry_after":7"#
            .to_owned()),
        1 => {
            add(r#""status":529,"error_type":"overloaded_error","error_message":"Overloaded","planned_ms":1500"#
                .to_owned())
        }
        2 => {
            add(format!(r#""status":400,"error_type":"invalid_request_error","error_message":"field {} is bad""#, call))
        }
        _ => add(r#""status":200,"usage":{"input_tokens":812,"output_tokens":64}"#.to_owned()),
    }
    if call.is_multiple_of(3) {
        let left = dice.below(50);
        add(format!(
            r#""headers":{{"anthropic-ratelimit-requests-limit":"50","anthropic-ratelimit-requests-remaining":"{left}"}}"#
        ));
    }
    text + "}"
}

/// The lines of each shard.
fn cut(lines: Vec<Line>, by: usize, shards: usize, dice: &mut Dice) -> Vec<String> {
    let bytes: usize = lines.iter().map(|line| line.text.len() + 1).sum();
    let mut ends: Vec<usize> = (0..shards).map(|_| dice.below(if by == 0 { lines.len() } else { bytes })).collect();
    ends.sort_unstable();
    let mut texts = vec![String::new(); shards];
    let mut before = 0;
    for (nth, line) in lines.into_iter().enumerate() {
        let past = |place: usize| ends.iter().filter(|end| **end <= place).count().min(shards - 1);
        let shard = match by {
            0 => past(nth),
            1 => past(before),
            2 => line.at_ms as usize * shards / 7_200_000,
            _ => line.call % shards,
        };
        before += line.text.len() + 1;
        texts[shard.min(shards - 1)] += &(line.text + "\n");
    }
    texts
}

/// Reads every log into a partial of its own, and merges them two by two, at random, as far as that goes.
fn merged(folder: &Path, logs: &[String], dice: &mut Dice) -> Vec<String> {
    let mut partials = Vec::new();
    for (nth, log) in logs.iter().enumerate() {
        let partial = format!("{nth}.rlp");
        let ran = run(folder, &["analyze", "--partial", &partial, log]);
        assert!(ran.stdout.is_empty(), "{ran:#?}");
        partials.push(partial);
    }
    for nth in 0..dice.below(logs.len()) {
        let (one, two) =
            (partials.swap_remove(dice.below(partials.len())), partials.swap_remove(dice.below(partials.len())));
        let both = format!("merged-{nth}.rlp");
        run(folder, &["merge", &one, &two, "--partial", &both]);
        partials.push(both);
    }
    partials
}

/// How many cuts are tried: `RETRYLENS_CUTS`, or a few.
fn cases() -> u32 {
    std::env::var("RETRYLENS_CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn however_a_log_is_cut_the_partials_give_the_report_of_the_whole(seed: u64, by in 0_usize..4, shards in 1_usize..=20) {
        let mut dice = Dice(seed);
        let folder = tempfile::tempdir().unwrap();
        let texts = cut(log(&mut dice), by, shards, &mut dice);
        let mut logs = Vec::new();
        for (nth, text) in texts.iter().enumerate() {
            logs.push(format!("shard-{nth}.jsonl"));
            std::fs::write(folder.path().join(&logs[nth]), text).unwrap();
        }
        let whole = judged(folder.path(), "analyze", &logs);
        let partials = merged(folder.path(), &logs, &mut dice);
        assert_equal(&whole, &judged(folder.path(), "merge", &partials), &format!("cut by {by} into {shards}"));
    }
}

/// Logs of a folder of the repository, one partial each.
fn assert_merges(logs: Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let logs: Vec<String> = logs.iter().map(|log| log.to_string_lossy().into_owned()).collect();
    let whole = judged(folder.path(), "analyze", &logs);
    let partials = merged(folder.path(), &logs, &mut Dice(logs.len() as u64));
    assert_equal(&whole, &judged(folder.path(), "merge", &partials), &logs[0]);
}

#[test]
fn samples_cases_and_captures_merge_to_the_report_of_the_whole() {
    for folder in ["samples", "tests/cases", "tests/captures", "tests/loggers"] {
        assert_merges(logs_in(folder));
    }
}

#[test]
fn logs_of_every_format_merge_to_the_report_of_the_whole() {
    let mut logs: Vec<PathBuf> =
        super::files_of(&repo("tests/formats")).keys().map(|name| repo("tests/formats").join(name)).collect();
    logs.retain(|log| log.extension().is_none_or(|ending| ending != "md"));
    assert!(logs.len() > 20, "{logs:?}");
    assert_merges(logs);
}
