//! What must not change a verdict: the order of files and lines, threads, how a log is cut into files or shards,
//! the hour, the names of runs and requests, a line delivered twice.

use crate::common;
use crate::common::{assert_same, complete, json, read, report, report_of, without};
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use proptest::prelude::*;
use regex::Regex;
use retrylens::calls::group;
use retrylens::judge::{self, Judgement, horizon, judge_shard};
use retrylens::report::build;
use retrylens::rules::CATALOGUE;
use serde_json::{Value, json as value};
use std::path::{Path, PathBuf};

/// Where a record stands: the only thing the order of lines may change.
const PLACES: &[&str] = &["file", "line"];
/// And what a cut into other files changes besides.
const FILES: &[&str] = &["file", "line", "inputs"];

/// A small generator: the tests need shuffles that repeat, not randomness.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            list.swap(place, self.below(place + 1));
        }
    }
}

fn write(folder: &Path, name: &str, lines: &[String]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    path
}

fn lines_of(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

/// Logs to try every change on: the samples one by one and together, and all captures.
fn logs() -> Vec<(String, Vec<String>)> {
    let mut logs: Vec<(String, Vec<String>)> = common::samples()
        .iter()
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), lines_of(path)))
        .collect();
    logs.push(("all samples".to_owned(), common::samples().iter().flat_map(|path| lines_of(path)).collect()));
    let captures = common::logs_in("tests/captures");
    logs.push(("all captures".to_owned(), captures.iter().flat_map(|path| lines_of(path)).collect()));
    logs
}

fn report_json(files: &[PathBuf]) -> Value {
    json(&report(files))
}

#[test]
fn order_of_files_and_number_of_threads_change_no_byte() {
    let samples: Vec<PathBuf> = common::samples();
    let mut orders = vec![samples.clone(), samples.iter().rev().cloned().collect()];
    let mut shuffled = samples;
    Dice(7).shuffle(&mut shuffled);
    orders.push(shuffled);
    let run = |files: &[PathBuf], threads: &str, format: &str| {
        let ran =
            common::finish(common::program().args(["analyze", "--format", format, "--threads", threads]).args(files));
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        ran.stdout
    };
    for format in ["json", "text"] {
        let first = run(&orders[0], "1", format);
        for (place, order) in orders.iter().enumerate() {
            for threads in ["1", "2", "7"] {
                assert!(run(order, threads, format) == first, "order {place}, {threads} threads, {format}");
            }
        }
    }
}

#[test]
fn order_of_lines_changes_nothing_but_places() {
    let folder = tempfile::tempdir().unwrap();
    for (name, mut lines) in logs() {
        let path = write(folder.path(), "log.jsonl", &lines);
        let before = without(report_json(std::slice::from_ref(&path)), PLACES);
        for seed in 1..4 {
            Dice(seed).shuffle(&mut lines);
            write(folder.path(), "log.jsonl", &lines);
            let after = without(report_json(std::slice::from_ref(&path)), PLACES);
            assert_same(&before, &after, &format!("{name}, shuffled with {seed}"));
        }
    }
}

#[test]
fn cutting_a_log_into_files_changes_nothing_but_places() {
    for (name, lines) in logs() {
        let folder = tempfile::tempdir().unwrap();
        let whole = write(folder.path(), "whole.jsonl", &lines);
        let before = without(report_json(&[whole]), FILES);
        for parts in [2, 3, 5] {
            let size = lines.len().div_ceil(parts).max(1);
            let files: Vec<PathBuf> = lines
                .chunks(size)
                .enumerate()
                .map(|(place, part)| write(folder.path(), &format!("part-{place}.jsonl"), part))
                .collect();
            let after = without(report_json(&files), FILES);
            assert_same(&before, &after, &format!("{name} in {parts} files"));
        }
    }
}

/// Every RFC 3339 time of `text`, later by `delta`, with as many decimals as it needs.
fn shifted(text: &str, delta: TimeDelta) -> String {
    let times = Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z").unwrap();
    times
        .replace_all(text, |found: &regex::Captures<'_>| {
            let time = found[0].parse::<DateTime<Utc>>().unwrap() + delta;
            let form = match time.timestamp_subsec_micros() {
                0 => SecondsFormat::Secs,
                us if us % 1000 == 0 => SecondsFormat::Millis,
                _ => SecondsFormat::Micros,
            };
            time.to_rfc3339_opts(form, true)
        })
        .into_owned()
}

/// The report of `lines` sent later by `delta`, its times set back. `reopening` is a turn of the month, the one
/// time that does not move with a log.
fn report_of_shifted(lines: &[String], delta: TimeDelta, folder: &Path, reopening: &str) -> Value {
    let later: Vec<String> = lines.iter().map(|line| shifted(line, delta)).collect();
    let report = without(report_json(&[write(folder, "log.jsonl", &later)]), FILES).to_string();
    let back = shifted(&report.replace(reopening, "REOPENS"), -delta).replace("REOPENS", reopening);
    serde_json::from_str(&back).unwrap()
}

/// Time is summed up in buckets of 2^n µs; a shift by a multiple of all of them moves every bucket whole.
fn whole_buckets(count: i64) -> TimeDelta {
    TimeDelta::microseconds(count << 40)
}

/// What a shift by part of a bucket leaves exactly as it was: who is blamed for what, and what it cost. Which attempts
/// stand as examples of a fleet's trouble, rates over some buckets and the points of a curve may move a little.
fn verdict_of(report: Value) -> Value {
    let loose = [
        "attempts",
        "request_ids",
        "headroom",
        "evidence",
        "message",
        "example",
        "first_seen",
        "last_seen",
        "incidents",
        "load",
    ];
    without(report, &loose)
}

#[test]
fn shifting_the_hour_shifts_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let reopening = "2026-12-01T00:00:00Z";
    for (name, lines) in logs() {
        let before = without(report_json(&[write(folder.path(), "log.jsonl", &lines)]), FILES);
        // Times inside a month, since a monthly cap reopens at the turn of it.
        for count in [-1, -2] {
            let after = report_of_shifted(&lines, whole_buckets(count), folder.path(), reopening);
            assert_same(&before, &after, &format!("{name}, shifted by {count} whole buckets"));
        }
        let before = verdict_of(before);
        for delta in [TimeDelta::hours(-1), TimeDelta::days(-11), TimeDelta::microseconds(-4_567_890_123)] {
            let after = verdict_of(report_of_shifted(&lines, delta, folder.path(), reopening));
            assert_same(&before, &after, &format!("{name}, shifted by {delta}"));
        }
    }
}

/// Ids turned round: no order and no prefix of them survives, and doing it twice gives the first ones back.
fn renamed(text: &str) -> String {
    let ids = Regex::new(r"run-([0-9a-f]{10})|req_011Cstu([A-Za-z0-9]+)").unwrap();
    ids.replace_all(text, |found: &regex::Captures<'_>| {
        let turned = |part: &str| part.chars().rev().collect::<String>();
        match (found.get(1), found.get(2)) {
            (Some(run), _) => format!("run-{}", turned(run.as_str())),
            (_, Some(request)) => format!("req_011Cstu{}", turned(request.as_str())),
            _ => unreachable!("one of the two matched"),
        }
    })
    .into_owned()
}

/// Lists in one order, whatever the names in them are.
fn sorted(mut report: Value) -> Value {
    for list in ["findings", "runs", "problems", "headroom", "inputs"] {
        if let Some(list) = report.get_mut(list).and_then(Value::as_array_mut) {
            list.sort_by_cached_key(Value::to_string);
        }
    }
    // Many runs are estimated, by fingerprints of their names.
    for incident in report.get_mut("incidents").and_then(Value::as_array_mut).into_iter().flatten() {
        if incident["runs_exact"] == false {
            incident["runs"] = Value::Null;
        }
    }
    report
}

#[test]
fn renaming_ids_renames_them_in_the_report() {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in logs() {
        let path = write(folder.path(), "log.jsonl", &lines);
        let before = sorted(report_json(std::slice::from_ref(&path)));
        let other: Vec<String> = lines.iter().map(|line| renamed(line)).collect();
        assert_ne!(lines, other);
        write(folder.path(), "log.jsonl", &other);
        let after = report_json(std::slice::from_ref(&path));
        let back: Value = serde_json::from_str(&renamed(&after.to_string())).unwrap();
        assert_same(&before, &sorted(back), &format!("{name}, renamed"));
    }
}

#[test]
fn delivering_every_line_twice_is_counted_and_changes_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = complete();
    // Duplicate lines are what this rule speaks of.
    options.rules.retain(|rule| rule.code != "RL806");
    for (name, lines) in logs() {
        let path = write(folder.path(), "log.jsonl", &lines);
        let before = json(&report_of(&read(std::slice::from_ref(&path)), &options));
        let mut twice: Vec<String> = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
        for order in ["beside one another", "shuffled"] {
            write(folder.path(), "log.jsonl", &twice);
            let after = json(&report_of(&read(std::slice::from_ref(&path)), &options));
            let what = format!("{name}, every line twice, {order}");
            let doubled = value!(lines.len());
            assert_eq!(after["ledger"]["duplicates"], doubled, "{what}");
            assert_eq!(after["ledger"]["attempts"], before["ledger"]["attempts"], "{what}");
            let ignored = &["file", "line", "inputs", "ledger"];
            assert_same(&without(before.clone(), ignored), &without(after, ignored), &what);
            Dice(3).shuffle(&mut twice);
        }
    }
}

/// Judges in shards of calls, merged in an order of its own.
fn judged_in_shards(files: &[PathBuf], shards: u64, seed: u64) -> Value {
    let ingested = read(files);
    let options = complete();
    let groups = group(&ingested.table);
    let horizon = horizon(&ingested.table, options.complete);
    let mut parts: Vec<Judgement<'_>> =
        (0..shards).map(|shard| judge_shard(&groups, &horizon, &options, |key| (key >> 7) % shards == shard)).collect();
    Dice(seed).shuffle(&mut parts);
    // Not one after the other only: what merges must do so in any tree.
    while parts.len() > 1 {
        let part = parts.pop().unwrap();
        let place = Dice(seed + parts.len() as u64).below(parts.len());
        parts[place].merge(part);
    }
    let mut whole = parts.pop().unwrap();
    whole.judge_fleet(&options);
    json(&build(&ingested, &whole, &options.rules))
}

#[test]
fn shards_judged_apart_equal_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in logs() {
        let files = [write(folder.path(), "log.jsonl", &lines)];
        let whole = report_json(&files);
        for (shards, seed) in [(2, 1), (2, 2), (3, 3), (16, 4), (61, 5)] {
            assert_same(&whole, &judged_in_shards(&files, shards, seed), &format!("{name} in {shards} shards"));
        }
    }
}

#[test]
fn a_rule_left_out_takes_its_findings_with_it_and_no_others() {
    let files = common::logs_in("tests/captures");
    let ingested = read(&files);
    let all = report_of(&ingested, &complete());
    for rule in CATALOGUE {
        let rules: Vec<_> = CATALOGUE.iter().filter(|other| other.code != rule.code).collect();
        let options = judge::Options { rules, ..complete() };
        let rest = report_of(&ingested, &options);
        let expected: Vec<Value> = all
            .findings
            .iter()
            .filter(|finding| finding.rule != rule.code)
            .map(|finding| serde_json::to_value(finding).unwrap())
            .collect();
        let got: Vec<Value> = rest.findings.iter().map(|finding| serde_json::to_value(finding).unwrap()).collect();
        assert_same(&Value::Array(expected), &Value::Array(got), &format!("without {}", rule.code));
    }
}

/// One failing answer or a success, as the fields of a record.
fn answer() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => Just(value!({ "status": 200, "outcome": "ok", "input_tokens": 900, "output_tokens": 50 })),
        3 => Just(value!({ "status": 529, "error_type": "overloaded_error", "error_message": "Overloaded" })),
        2 => (0_u32..90).prop_map(|hint| value!({ "status": 429, "error_type": "rate_limit_error", "retry_after": hint })),
        1 => Just(value!({ "status": 429, "error_type": "rate_limit_error", "error_message": "Error" })),
        1 => Just(value!({ "status": 429, "error_code": "enforced_spend_limit_reached", "error_type": "rate_limit_error" })),
        1 => Just(value!({ "status": 429, "error": { "type": "insufficient_quota", "code": "insufficient_quota" } })),
        1 => Just(value!({ "status": 400, "error_type": "invalid_request_error", "error_message": "max_tokens: Field required" })),
        1 => Just(value!({ "status": 401, "error_type": "authentication_error" })),
        1 => Just(value!({ "status": 500, "error_type": "api_error", "headers": { "x-should-retry": "false" } })),
        1 => Just(value!({ "kind": "timeout", "side_effect": true, "output_tokens": 400 })),
        1 => Just(value!({ "status": 200, "mid_stream": true, "error_type": "overloaded_error", "delivered": 3 })),
        1 => Just(value!({ "status": 418 })),
        1 => (0_i64..60).prop_map(|left| value!({ "status": 200, "headers": {
            "anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": left.to_string(),
            "anthropic-ratelimit-requests-reset": "2026-01-05T10:30:00Z" } })),
    ]
}

/// A call: where it starts, its answers, and the waits between them in ms.
fn call() -> impl Strategy<Value = (u32, u32, Vec<(Value, u32, u32)>)> {
    let waits = prop_oneof![0_u32..60, 400_u32..600, 900_u32..1100, 1_900_u32..9_000, 9_000_u32..95_000];
    let attempt = (answer(), 5_u32..900, waits);
    (0_u32..4, 0_u32..600_000, proptest::collection::vec(attempt, 1..8))
}

/// The records of some calls in the order they were sent. No two are sent at the same time.
fn log() -> impl Strategy<Value = Vec<String>> {
    let counted = any::<(bool, bool)>();
    (proptest::collection::vec(call(), 1..40), counted).prop_map(|(calls, (counted, declared))| {
        let mut records: Vec<(u64, Value)> = Vec::new();
        for (place, (run, start, attempts)) in calls.into_iter().enumerate() {
            let mut at_us = u64::from(start) * 1000 + place as u64;
            let cap = attempts.len();
            for (number, (mut record, duration, wait)) in attempts.into_iter().enumerate() {
                let fields = record.as_object_mut().unwrap();
                let ts = DateTime::<Utc>::from_timestamp_micros(1_767_607_200_000_000 + at_us as i64).unwrap();
                fields.insert("ts".into(), ts.to_rfc3339_opts(SecondsFormat::Micros, true).into());
                fields.insert("run_id".into(), format!("run-{run}").into());
                fields.insert("call_id".into(), format!("c-{place}").into());
                fields.insert("request_id".into(), format!("req_{place}_{number}").into());
                fields.insert("provider".into(), if run == 3 { "openai" } else { "anthropic" }.into());
                fields.insert("model".into(), if place % 5 == 0 { "small" } else { "large" }.into());
                fields.insert("duration_ms".into(), duration.into());
                if counted {
                    fields.insert("attempt".into(), (number + 1).into());
                }
                if declared {
                    fields.insert("max_attempts".into(), cap.min(3).into());
                }
                records.push((at_us, record));
                at_us += u64::from(duration) * 1000 + u64::from(wait) * 1000;
            }
        }
        records.sort_by_key(|(at, _)| *at);
        records.into_iter().map(|(_, record)| record.to_string()).collect()
    })
}

/// The same records without what names their call: the grouping is then inferred.
fn nameless(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .map(|line| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record.as_object_mut().unwrap().remove("call_id");
            record.to_string()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_logs_keep_their_verdict(lines in log(), seed in any::<u64>(), named in any::<bool>()) {
        let lines = if named { lines } else { nameless(&lines) };
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "log.jsonl", &lines);
        let files = std::slice::from_ref(&file);
        let whole = report_json(files);
        let placeless = without(whole.clone(), FILES);

        prop_assert_eq!(common::first_difference(&whole, &judged_in_shards(files, 5, seed >> 1), "shards"), None);

        let mut shuffled = lines.clone();
        Dice(seed).shuffle(&mut shuffled);
        let (left, right) = shuffled.split_at(shuffled.len() / 3);
        let cut = [write(folder.path(), "a.jsonl", left), write(folder.path(), "b.jsonl", right)];
        let after = without(report_json(&cut), FILES);
        prop_assert_eq!(common::first_difference(&placeless, &after, "shuffled and cut"), None);

        let reopening = "2026-02-01T00:00:00Z";
        let later = report_of_shifted(&lines, whole_buckets(1), folder.path(), reopening);
        prop_assert_eq!(common::first_difference(&placeless, &later, "shifted by whole buckets"), None);

        let mut options = complete();
        options.rules.retain(|rule| rule.code != "RL806");
        let once = json(&report_of(&read(&[write(folder.path(), "log.jsonl", &lines)]), &options));
        let mut twice: Vec<String> = lines.iter().chain(&lines).cloned().collect();
        Dice(seed ^ 1).shuffle(&mut twice);
        let twice = json(&report_of(&read(&[write(folder.path(), "log.jsonl", &twice)]), &options));
        prop_assert_eq!(twice["ledger"]["duplicates"].as_u64(), Some(lines.len() as u64));
        let ignored = &["file", "line", "inputs", "ledger"];
        prop_assert_eq!(common::first_difference(&without(once, ignored), &without(twice, ignored), "twice"), None);
    }

    /// The ladder of the official SDKs, obeyed hints and a success in the end: nothing above info, over any seed.
    #[test]
    fn a_compliant_client_is_not_blamed(
        calls in proptest::collection::vec((0_u32..1_000_000, proptest::collection::vec((0_u32..1000, any::<bool>()), 0..3)), 1..60),
    ) {
        let mut lines = Vec::new();
        for (place, (start, failures)) in calls.into_iter().enumerate() {
            // One worker: each call starts long after the one before.
            let mut at_ms = u64::from(start % 20_000) + place as u64 * 120_000;
            let all = failures.len();
            for (number, (jitter, limited)) in failures.into_iter().chain([(0, false)]).enumerate() {
                let ts = DateTime::<Utc>::from_timestamp_millis(1_767_607_200_000 + at_ms as i64).unwrap();
                let mut record = value!({
                    "ts": ts.to_rfc3339_opts(SecondsFormat::Millis, true), "run_id": "r", "call_id": format!("c{place}"),
                    "attempt": number + 1, "request_id": format!("req_{place}_{number}"), "provider": "anthropic",
                    "model": "m", "duration_ms": 300,
                });
                let fields = record.as_object_mut().unwrap();
                let mut wait = 500.0 * 2_f64.powi(number as i32) * (0.75 + 0.25 * f64::from(jitter) / 1000.0);
                if number == all {
                    fields.insert("status".into(), 200.into());
                } else if limited {
                    fields.insert("status".into(), 429.into());
                    fields.insert("error_type".into(), "rate_limit_error".into());
                    fields.insert("retry_after".into(), 2.into());
                    wait = 2_010.0;
                } else {
                    fields.insert("status".into(), 529.into());
                    fields.insert("error_type".into(), "overloaded_error".into());
                }
                at_ms += 300 + wait as u64 + 1;
                lines.push(record.to_string());
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let report = report(&[write(folder.path(), "log.jsonl", &lines)]);
        let loud: Vec<String> = report
            .findings
            .iter()
            .filter(|finding| finding.severity > retrylens::model::Severity::Info)
            .map(|finding| format!("{}: {}", finding.rule, finding.message))
            .collect();
        prop_assert!(loud.is_empty(), "{loud:?}");
    }
}

/// The same record in other letters: keys in another order, blanks, escapes, members nobody asked for.
fn respelled(line: &str, dice: &mut Dice) -> String {
    let Value::Object(record) = serde_json::from_str(line).unwrap() else { panic!("an object") };
    let mut members: Vec<String> = record
        .iter()
        .map(|(key, member)| {
            let mut text = member.to_string();
            if let (Value::String(words), 0) = (member, dice.below(4)) {
                let escaped: String = words.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                text = format!("\"{escaped}\"");
            }
            let blank = [" ", "", "  ", "\t"][dice.below(4)];
            format!("\"{key}\"{blank}:{blank}{text}")
        })
        .collect();
    let foreign = [
        "\"unasked\":{\"a\":[1,{\"b\":\"}\\\"{\"}],\"status\":500}",
        "\"note\":\"é😀\\\\\"",
        "\"n\":-1.5e-7",
        "\"z\":null",
    ];
    for member in &foreign[..dice.below(foreign.len() + 1)] {
        members.push((*member).to_owned());
    }
    dice.shuffle(&mut members);
    format!("{{{}}}", members.join([",", ", ", " ,"][dice.below(3)]))
}

#[test]
fn other_spellings_of_the_same_json_are_the_same_records() {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in logs() {
        let path = write(folder.path(), "log.jsonl", &lines);
        let before = without(report_json(std::slice::from_ref(&path)), &["inputs"]);
        for seed in 1..5 {
            let mut dice = Dice(seed);
            // Now and then only, too: a reader that learns a log's habits must notice what breaks them.
            let rarely = seed % 2 == 0;
            let other: Vec<String> = lines
                .iter()
                .map(|line| if rarely && dice.below(5) > 0 { line.clone() } else { respelled(line, &mut dice) })
                .collect();
            write(folder.path(), "log.jsonl", &other);
            let after = without(report_json(std::slice::from_ref(&path)), &["inputs"]);
            assert_same(&before, &after, &format!("{name}, respelled with {seed}"));
        }
    }
}
