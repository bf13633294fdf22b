//! `retrylens analyze --explain-input`: how the first records of a log are read, and what is missing.

use crate::common::{codes, repo, run_in};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One call in words of its own, with a key and what commands a terminal.
const OWN: &str = r#"{"when":"2026-01-05T12:00:00Z","job":{"name":"r-bad","step_id":"c-2"},"try_nr":1,"reply":401,"why":"authentication_error","upstream":{"request":"req_1"},"vendor":"openai","spent_secs":1.5,"note":"\u001b[31m sk-ant-api03-AbCdEfGh1234567890abcdefghij"}
{"when":"2026-01-05T12:00:02Z","job":{"name":"r-bad","step_id":"c-2"},"try_nr":2,"reply":401,"why":"authentication_error","upstream":{"request":"req_2"},"vendor":"openai","spent_secs":1.5}
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::write(folder.path().join("own.jsonl"), OWN).unwrap();
    folder
}

fn explain(folder: &Path, name: &str) -> Value {
    let ran = run_in(folder, &["analyze", "--no-config", "--format", "json", "--explain-input", name]);
    assert_eq!(ran.code, 0, "{name}: {ran:?}");
    ran.json()
}

fn keys<'v>(record: &'v Value, field: &str) -> Vec<&'v str> {
    let fields = record["fields"].as_array().unwrap();
    let one = fields.iter().find(|one| one["field"] == field).unwrap_or_else(|| panic!("no {field}: {record}"));
    one["keys"].as_array().unwrap().iter().map(|key| key.as_str().unwrap()).collect()
}

#[test]
fn each_field_is_shown_with_the_keys_it_comes_from() {
    let folder = folder();
    let line = r#"{"timestamp":"2026-01-05T10:00:00Z","http":{"response":{"status_code":529}},"elapsed_s":1.5,"msg":"x","request_id":"r","error":{"type":"overloaded_error"},"usage":{"prompt_tokens":3}}"#;
    std::fs::write(folder.path().join("log.jsonl"), line).unwrap();
    let explained = explain(folder.path(), "log.jsonl");
    assert_eq!((&explained["format"], &explained["attempts"]), (&"native".into(), &1.into()));
    let record = &explained["records"][0];
    assert_eq!((&record["line"], &record["is_attempt"]), (&1.into(), &true.into()));
    for (field, key) in [
        ("started_at", "timestamp"),
        ("duration_ms", "elapsed_s"),
        ("status", "http.response.status_code"),
        ("error.type", "error.type"),
        ("input_tokens", "usage.prompt_tokens"),
        ("request_id", "request_id"),
    ] {
        assert_eq!(keys(record, field), [key], "{field}");
    }
    assert_eq!(record["ignored"].to_string(), r#"[["msg","x"]]"#);
    assert_eq!(explained["suggestions"].as_array().unwrap().len(), 0);
}

#[test]
fn two_keys_that_make_one_field_are_both_named() {
    let folder = folder();
    let line = r#"{"ended_at":"2026-01-05T10:00:02Z","duration_ms":1500,"status":200,"request_id":"r"}"#;
    std::fs::write(folder.path().join("log.jsonl"), line).unwrap();
    let explained = explain(folder.path(), "log.jsonl");
    assert_eq!(keys(&explained["records"][0], "started_at"), ["duration_ms", "ended_at"]);
}

#[test]
fn the_table_for_unknown_keys_makes_the_log_readable() {
    let folder = folder();
    assert_eq!(run_in(folder.path(), &["analyze", "own.jsonl"]).code, 3);
    let explained = explain(folder.path(), "own.jsonl");
    assert_eq!((&explained["attempts"], &explained["attempts_with_suggestions"]), (&0.into(), &2.into()));
    let table = explained["fields_table"].as_str().unwrap();
    for line in [
        "\"when\" = \"ts\"",
        "\"reply\" = \"status\"",
        "\"upstream.request\" = \"request_id\"",
        "\"job.step_id\" = \"call_id\"",
        "\"spent_secs\" = { field = \"duration_ms\", unit = \"s\" }",
    ] {
        assert!(table.lines().any(|shown| shown == line), "{line}: {table}");
    }
    std::fs::write(folder.path().join("retrylens.toml"), table).unwrap();
    let ran = run_in(folder.path(), &["analyze", "--format", "json", "own.jsonl"]);
    assert!(codes(&ran.json()).contains(&"RL106"), "{ran:?}");
    let again = run_in(folder.path(), &["analyze", "--format", "json", "--explain-input", "own.jsonl"]).json();
    assert_eq!(again["fields_table"], Value::Null, "{again}");
}

#[test]
fn the_text_shows_the_same_without_power_or_keys() {
    let folder = folder();
    let ran = run_in(folder.path(), &["analyze", "--explain-input", "own.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in
        ["own.jsonl: plain; native", "LINE 1  no attempt", "[fields]", "\"when\" = \"ts\"", "2 attempts are read"]
    {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(ran.stdout.contains("[masked]") && !ran.stdout.contains("AbCdEfGh"), "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
    let json = explain(folder.path(), "own.jsonl").to_string();
    assert!(!json.contains("AbCdEfGh"), "{json}");
}

/// Every fixture, and its format.
fn fixtures() -> Vec<(String, PathBuf)> {
    let mut all = Vec::new();
    for folder in std::fs::read_dir(repo("tests/formats")).unwrap() {
        let folder = folder.unwrap().path();
        let format = folder.file_name().unwrap().to_string_lossy().into_owned();
        all.extend(std::fs::read_dir(&folder).unwrap().map(|file| (format.clone(), file.unwrap().path())));
    }
    all.sort();
    all
}

#[test]
fn every_fixture_is_explained_as_it_is_read() {
    use rayon::prelude::*;
    fixtures().par_iter().for_each(|(format, path)| {
        let (folder, name) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
        let explained = explain(folder, name);
        let analyzed = run_in(folder, &["analyze", "--no-config", "--format", "json", "--max-rejected", "100", name]);
        if analyzed.code == 3 {
            assert_eq!(explained["attempts"], 0, "{format} {name}");
            return;
        }
        let report = analyzed.json();
        assert_eq!(explained["format"], report["inputs"][0]["format"], "{format} {name}");
        let ledger = &report["ledger"];
        let all = ["attempts", "duplicates", "views"].iter().map(|what| ledger[what].as_u64().unwrap()).sum::<u64>();
        assert_eq!(explained["attempts"], all, "{format} {name}");
        let first =
            explained["records"].as_array().unwrap().iter().find(|record| record["is_attempt"] == true).unwrap();
        assert!(!first["fields"].as_array().unwrap().is_empty(), "{format} {name}");
    });
}

#[test]
fn keys_are_named_in_every_format_of_json() {
    for (path, field, key) in [
        ("claude-code/session.jsonl", "model", "message.model"),
        ("har/flat.har", "status", "response.status"),
        ("litellm/payloads.jsonl", "model", "model"),
        ("langfuse/observations_v2.jsonl", "model", "provided_model_name"),
        ("qwen-code/events.jsonl", "status", "status_code"),
        ("csv/attempts.csv", "model", "model"),
        ("logfmt/attempts.log", "status", "status"),
    ] {
        let explained = explain(&repo("tests/formats"), path);
        let records = explained["records"].as_array().unwrap();
        let of = |record: &&Value| record["fields"].as_array().unwrap().iter().any(|one| one["field"] == field);
        let record = records.iter().find(of).unwrap_or_else(|| panic!("{path} has no {field}: {explained}"));
        assert!(keys(record, field).contains(&key), "{path}: {record}");
    }
}

#[test]
fn what_does_not_fit_together_is_told() {
    let folder = folder();
    for (arguments, complaint) in [
        (&["--explain-input", "own.jsonl", "own.jsonl"][..], "cannot be used with"),
        (&["--explain-input", "own.jsonl", "--format", "html"], "as text or with --format json"),
        (&["--explain-input", "own.jsonl", "--output", "json=x.json"], "as text or with --format json"),
        (&[], "<INPUT>"),
    ] {
        let ran = run_in(folder.path(), &[&["analyze"], arguments].concat());
        assert!(ran.code == 2 && ran.stderr.contains(complaint), "{arguments:?}: {ran:?}");
    }
    let ran = run_in(folder.path(), &["analyze", "--explain-input", "nowhere.jsonl"]);
    assert!(ran.code == 3 && ran.stderr.contains("nowhere.jsonl"), "{ran:?}");
    std::fs::write(folder.path().join("empty.log"), "").unwrap();
    assert_eq!(explain(folder.path(), "empty.log")["records"].as_array().unwrap().len(), 0);
}
