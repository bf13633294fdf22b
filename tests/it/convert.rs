//! `retrylens convert`: any log as a native one, which is judged as its source is.

use crate::common::{self, Ran, run_in};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Every log of `folder` and of the folders in it.
fn logs(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![common::repo(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.retain(|path| !path.ends_with("README.md") && !path.ends_with("expected.json"));
    found.sort();
    found
}

fn analyze(path: &Path) -> Ran {
    let name = path.file_name().unwrap().to_str().unwrap();
    let folder = path.parent().unwrap();
    run_in(folder, &["analyze", "--no-config", "--complete", "--max-rejected", "100", "--format", "json", name])
}

/// A report without what tells where attempts stand, and how their log was read.
fn judged(mut report: Value) -> Value {
    let report_object = report.as_object_mut().unwrap();
    let attempts = report_object["ledger"]["attempts"].clone();
    for key in ["inputs", "ledger", "notices", "rejects", "generator", "title"] {
        report_object.remove(key);
    }
    report_object.insert("attempts".to_owned(), attempts);
    forget_places(&mut report);
    report
}

fn forget_places(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for key in ["file", "line"] {
                members.remove(key);
            }
            members.values_mut().for_each(forget_places);
        }
        Value::Array(list) => list.iter_mut().for_each(forget_places),
        _ => {}
    }
}

/// Where two values differ first.
fn difference(path: &str, a: &Value, b: &Value) -> Option<String> {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let of =
                |members: &serde_json::Map<String, Value>, key: &str| members.get(key).cloned().unwrap_or_default();
            keys.into_iter().find_map(|key| difference(&format!("{path}.{key}"), &of(a, key), &of(b, key)))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(nth, (a, b))| difference(&format!("{path}[{nth}]"), a, b))
        }
        _ => (a != b).then(|| format!("{path}: {a} became {b}")),
    }
}

/// What is wrong with the conversion of a log.
fn shortcoming(path: &Path) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let source = analyze(path);
    let output = folder.path().join("attempts.jsonl");
    let name = path.file_name().unwrap().to_str().unwrap();
    let (from, to) = (path.parent().unwrap(), output.to_str().unwrap());
    let ran = run_in(from, &["convert", "--no-config", "--max-rejected", "100", name, "--output", to]);
    if source.code == 3 {
        return (ran.code != 3 || output.exists()).then(|| format!("no attempt to convert, and yet {ran:?}"));
    }
    if ran.code != 0 {
        return Some(format!("{ran:?}"));
    }
    difference("", &judged(source.json()), &judged(analyze(&output).json()))
}

#[test]
fn what_was_converted_is_judged_as_its_source_is() {
    use rayon::prelude::*;
    let logs: Vec<PathBuf> = ["tests/formats", "samples", "tests/captures", "tests/loggers", "tests/odd"]
        .into_iter()
        .flat_map(logs)
        .filter(|path| !path.to_str().unwrap().ends_with("README.md"))
        .collect();
    assert!(logs.len() > 100, "{logs:?}");
    let wrong: Vec<String> =
        logs.par_iter().filter_map(|path| Some(format!("{}: {}", path.display(), shortcoming(path)?))).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), logs.len(), wrong.join("\n"));
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
    folder
}

const LOGFMT: &str = "ts=2026-01-05T10:00:00Z call_id=call-1 status=503 attempt=1 msg=\"sk-ant-api03-AbCdEfGh1234567890abcdefghij refused\" error_message=\"key sk-ant-api03-AbCdEfGh1234567890abcdefghij refused\"
some words
ts=2026-01-05T10:00:04Z call_id=call-1 status=200 attempt=2
";
const NATIVE: &str = r#"{"ts":"2026-01-05T11:00:00Z","request_id":"req_9","status":200,"duration_ms":5,"prompt":"a long text"}

{"ts":"2026-01-05T11:00:00Z","request_id":"req_9""#;

#[test]
fn attempts_keep_their_order_and_lose_their_keys_and_every_line_is_told() {
    let folder = folder(&[("a.log", LOGFMT), ("b.jsonl", NATIVE)]);
    let ran = run_in(folder.path(), &["convert", "a.log", "b.jsonl", "--max-rejected", "50"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let times: Vec<&str> = lines.iter().map(|line| line["started_at"].as_str().unwrap()).collect();
    assert_eq!(times, ["2026-01-05T10:00:00Z", "2026-01-05T10:00:04Z", "2026-01-05T11:00:00Z"]);
    assert_eq!(lines[2]["request_id"], "req_9");
    assert_eq!(lines[2]["converted_from"], "file:b.jsonl");
    assert!(ran.stdout.contains("[masked]") && !ran.stdout.contains("AbCdEfGh"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("a long text"), "{}", ran.stdout);
    let told = "3 attempts written of 2 inputs: 6 lines read, 1 skipped as no attempts, 1 unreadable, 1 blank";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    let ran = run_in(folder.path(), &["convert", "a.log", "b.jsonl"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(
        ran.stderr.contains("1 of 6 lines could not be read") && ran.stderr.contains("b.jsonl:3"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_ending_of_the_name_says_how_it_is_packed() {
    let folder = folder(&[("a.log", LOGFMT)]);
    let plain = run_in(folder.path(), &["convert", "a.log", "--quiet"]);
    for name in ["out.jsonl", "out.jsonl.gz", "out.jsonl.zst"] {
        let ran = run_in(folder.path(), &["convert", "a.log", "--output", name]);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:?}");
        assert!(ran.stderr.contains(&format!("{name}: 2 attempts written")), "{}", ran.stderr);
        let again = run_in(folder.path(), &["convert", name, "--quiet"]);
        assert_eq!(again.stdout, plain.stdout, "{name}");
    }
    let gzip = std::fs::read(folder.path().join("out.jsonl.gz")).unwrap();
    let zstd = std::fs::read(folder.path().join("out.jsonl.zst")).unwrap();
    assert!(gzip.starts_with(&[0x1f, 0x8b]) && zstd.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
}

#[test]
fn nothing_is_overwritten_that_should_not_be() {
    let folder = folder(&[("a.log", LOGFMT), ("words.log", "nothing\nof note\n"), ("out.jsonl", "kept")]);
    let ran = run_in(folder.path(), &["convert", "a.log", "--output", "./a.log"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("is an input"), "{}", ran.stderr);
    let ran = run_in(folder.path(), &["convert", "words.log", "--output", "out.jsonl"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stderr.contains("no attempt found in words.log"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(folder.path().join("out.jsonl")).unwrap(), "kept");
    let ran = run_in(folder.path(), &["convert", "a.log", "--output", "nowhere/out.jsonl"]);
    assert_eq!(ran.code, 74, "{ran:?}");
}

#[test]
fn many_blocks_and_threads_give_the_same_bytes() {
    let line = |nth: u32| format!("{{\"ts\":{},\"request_id\":\"req_{nth}\",\"status\":200}}\n", 1_767_607_200 + nth);
    let text: String = (0..120_000).map(line).collect();
    let folder = folder(&[("log.jsonl", &text)]);
    let one = run_in(folder.path(), &["convert", "log.jsonl", "--threads", "1", "--quiet"]);
    let four = run_in(folder.path(), &["convert", "log.jsonl", "--threads", "4", "--quiet"]);
    assert!(one.stdout == four.stdout);
    let ids: Vec<&str> = one.stdout.lines().filter_map(|line| line.split("req_").nth(1)?.split('"').next()).collect();
    assert!(ids.len() == 120_000 && ids.iter().enumerate().all(|(nth, id)| *id == nth.to_string()));
}

#[test]
fn an_id_of_the_source_is_found_in_what_was_converted() {
    let folder = folder(&[("a.log", LOGFMT), ("b.jsonl", NATIVE)]);
    run_in(folder.path(), &["convert", "a.log", "b.jsonl", "--output", "all.jsonl", "--max-rejected", "50"]);
    for id in ["req_9", "call-1"] {
        let ran = run_in(folder.path(), &["trace", "--id", id, "--format", "json", "all.jsonl"]);
        assert_eq!(ran.json()["traces"][0]["id"], id, "{ran:?}");
    }
}
