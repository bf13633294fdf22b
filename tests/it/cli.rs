//! The command line: what is printed where, and with which exit code the program ends.

use crate::common::{self, Ran, finish, program, repo, run_in};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

const OK: &str = r#"{"ts":"2026-01-05T10:00:00Z","run_id":"r-ok","call_id":"c-1","attempt":1,"status":200,"request_id":"req_ok_1","provider":"anthropic","model":"claude-sonnet"}"#;
const FAILED: &str = r#"{"ts":"2026-01-05T12:00:00Z","run_id":"r-bad","call_id":"c-2","attempt":1,"status":401,"error_type":"authentication_error","request_id":"req_bad_1","provider":"openai","model":"gpt-mini"}
{"ts":"2026-01-05T12:00:02Z","run_id":"r-bad","call_id":"c-2","attempt":2,"status":401,"error_type":"authentication_error","request_id":"req_bad_2","provider":"openai","model":"gpt-mini"}"#;

/// A folder with `ok.jsonl`, `bad.jsonl` (RL106, an error) and whatever a test adds.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ok.jsonl"), format!("{OK}\n")).unwrap();
    std::fs::write(folder.path().join("bad.jsonl"), format!("{FAILED}\n")).unwrap();
    folder
}

#[track_caller]
fn assert_ends(ran: &Ran, code: i32, complaint: &str) {
    assert_eq!(ran.code, code, "{ran:#?}");
    assert!(ran.stderr.contains(complaint), "standard error lacks {complaint:?}: {ran:#?}");
    if code == 2 || code == 3 || code == 74 {
        assert!(ran.stdout.is_empty(), "a complaint goes to standard error only: {ran:#?}");
        assert!(!ran.stderr.is_empty() && !ran.stderr.contains("panicked"), "{ran:#?}");
    }
}

fn analyze(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["analyze"], arguments].concat())
}

fn report(folder: &Path, arguments: &[&str]) -> Value {
    analyze(folder, &[&["--format", "json"], arguments].concat()).json()
}

// Help, version, mistakes

#[test]
fn help_is_printed_and_names_every_exit_code() {
    for arguments in [&["--help"][..], &["help"], &["analyze", "--help"], &["help", "trace"]] {
        let ran = run_in(&repo(""), arguments);
        assert_ends(&ran, 0, "");
        assert!(ran.stderr.is_empty());
        for code in ["0", "1", "2", "3", "4", "74"] {
            assert!(
                ran.stdout.lines().any(|line| line.starts_with(&format!("  {code} "))),
                "{arguments:?} lacks {code}"
            );
        }
        let widest = ran.stdout.lines().map(str::len).max().unwrap();
        assert!(widest <= 100, "{arguments:?} is {widest} columns wide");
    }
    let ran = run_in(&repo(""), &["analyze", "-h"]);
    for option in ["--since", "--select", "--fail-on", "--output", "--charts", "--rejects", "--threads", "--complete"] {
        assert!(ran.stdout.contains(option), "analyze -h lacks {option}");
    }
}

#[test]
fn version_is_the_packages() {
    let ran = run_in(&repo(""), &["--version"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, concat!("retrylens ", env!("CARGO_PKG_VERSION"), "\n")));
}

#[test]
fn mistyped_words_get_a_suggestion() {
    let folder = folder();
    for (arguments, suggestion) in [
        (&["anlyze", "ok.jsonl"][..], "'analyze'"),
        (&["analyze", "--formt", "json", "ok.jsonl"], "'--format'"),
        (&["analyze", "--slect", "RL1", "ok.jsonl"], "'--select'"),
        (&["analyze", "--format", "jsn", "ok.jsonl"], "json"),
        (&["analyze", "--fail-on", "eror", "ok.jsonl"], "error"),
        (&["trace", "req_ok_1", "--complet", "ok.jsonl"], "'--complete'"),
    ] {
        assert_ends(&run_in(folder.path(), arguments), 2, suggestion);
    }
}

#[test]
fn wrong_usage_ends_with_2_and_says_what_is_wrong() {
    let folder = folder();
    for (arguments, complaint) in [
        (&[][..], "Usage"),
        (&["analyze"], "<INPUT>"),
        (&["trace", "req_ok_1"], "no input to look for `req_ok_1` in"),
        (&["trace", "", "ok.jsonl"], "the id is empty"),
        (&["analyze", "--since", "tomorrow", "ok.jsonl"], "--since: `tomorrow` is no time"),
        (&["analyze", "--until", "2026-13-01", "ok.jsonl"], "--until: `2026-13-01` is no time"),
        (&["analyze", "--since", "2026-02-01", "--until", "2026-01-01", "ok.jsonl"], "is not before --until"),
        (&["analyze", "--tz", "Mars/Base", "ok.jsonl"], "`Mars/Base` is no time zone"),
        (&["analyze", "--threads", "0", "ok.jsonl"], "--threads <N>': give a whole number from 1 to 1024"),
        (&["analyze", "--threads", "many", "ok.jsonl"], "--threads <N>': give a whole number from 1 to 1024"),
        (&["classify", "--status", "abc", "ok.jsonl"], "--status <N>': give an HTTP status from 100 to 599"),
        (&["analyze", "--max-rejected", "101", "ok.jsonl"], "between 0 and 100"),
        (&["analyze", "--max-rejected", "NaN", "ok.jsonl"], "between 0 and 100"),
        (&["analyze", "--select", "RL999", "ok.jsonl"], "--select: no rule `RL999`"),
        (&["analyze", "--ignore", "RL1,XX", "ok.jsonl"], "--ignore: no rule `XX`"),
        (&["analyze", "--select", "RL1", "--ignore", "RL1", "ok.jsonl"], "no rule is left to judge by"),
        (&["analyze", "--what-if", "nothing", "ok.jsonl"], "--what-if: no policy `nothing`"),
        (&["analyze", "--anonymize=", "ok.jsonl"], "--anonymize=: the salt is empty"),
        (&["analyze", "--org", "", "ok.jsonl"], "a value is required for '--org <NAME>'"),
        (&["analyze", "--state", "s", "-o", "json=s/manifest", "ok.jsonl"], "s/manifest is in the folder of --state"),
        (&["analyze", "--state", "s", "-o", "csv=./s/../s", "ok.jsonl"], "is in the folder of --state"),
        (&["analyze", "--state", "s", "--charts", "s/charts", "ok.jsonl"], "s/charts is in the folder of --state"),
        (&["config", "init", "--since", "2h"], "--since chooses among the calls of a log"),
        (&["trend", "ok.jsonl"], "no JSON report of retrylens, as `analyze --output json=FILE` writes"),
        (&["analyze", "--select", "", "ok.jsonl"], "no rule ``"),
        (&["analyze", "--output", "xlsx=out.xlsx", "ok.jsonl"], "no format `xlsx`"),
        (&["analyze", "--output", "json", "ok.jsonl"], "FORMAT=PATH"),
        (&["analyze", "--output", "json=", "ok.jsonl"], "no path"),
    ] {
        assert_ends(&run_in(folder.path(), arguments), 2, complaint);
    }
    assert!(!folder.path().join("out.xlsx").exists());
    assert!(!folder.path().join("s").exists());
}

#[test]
fn the_page_is_as_wide_as_columns_says() {
    let widest = |columns: &str| {
        let mut command = common::program();
        let ran =
            common::finish(command.env("COLUMNS", columns).args(["analyze", "--verbose", "samples/fan-out.jsonl"]));
        ran.stdout.lines().map(|line| line.chars().count()).max().unwrap()
    };
    let [narrow, usual, wide, wrong] = ["60", "80", "110", "many"].map(widest);
    assert!(narrow <= 60 && narrow < usual && usual <= 80 && usual < wide && wide <= 110, "{narrow} {usual} {wide}");
    assert_eq!(wrong, usual);
}

#[test]
fn columns_are_explained_where_they_are_shown() {
    let load = |columns: &str| {
        let mut command = common::program();
        let ran =
            common::finish(command.env("COLUMNS", columns).args(["analyze", "--verbose", "samples/fan-out.jsonl"]));
        let load =
            ran.stdout.split("\nLOAD").nth(1).expect("a section on load").split("\n\n").next().unwrap().to_owned();
        [load.contains("at once  "), load.contains("At once:"), load.contains("Peak:")]
    };
    assert_eq!((load("80"), load("110")), ([false, false, true], [true, true, true]));
}

#[test]
fn an_unknown_rule_is_answered_with_those_that_may_be_meant() {
    let folder = folder();
    for (word, meant) in [
        ("RL10l", "did you mean RL101 spend-cap-retried or RL102 run-continued-past-spend-cap?"),
        ("gate-ignord", "did you mean RL501 gate-ignored?"),
        ("RL999", "(`retrylens rules` lists all)"),
    ] {
        let ran = analyze(folder.path(), &["--select", word, "ok.jsonl"]);
        assert!(ran.code == 2 && ran.stderr.contains(meant), "{ran:#?}");
    }
    assert_eq!(analyze(folder.path(), &["--select", "gate-ignored,RL1", "ok.jsonl"]).code, 0);
}

// Exit codes

#[test]
fn exit_0_and_1_follow_fail_on() {
    let folder = folder();
    let info = folder.path().join("info.jsonl");
    std::fs::copy(repo("samples/healthy-run.jsonl"), info).unwrap();
    for (arguments, code) in [
        (&["ok.jsonl"][..], 0),
        (&["bad.jsonl"], 1),
        (&["ok.jsonl", "bad.jsonl"], 1),
        (&["--fail-on", "never", "bad.jsonl"], 0),
        (&["--fail-on", "warning", "bad.jsonl"], 1),
        (&["info.jsonl"], 0),
        (&["--fail-on", "warning", "info.jsonl"], 0),
        (&["--fail-on", "info", "info.jsonl"], 1),
        (&["--ignore", "RL106", "bad.jsonl"], 0),
        (&["--min-severity", "error", "--fail-on", "info", "info.jsonl"], 1),
    ] {
        for format in ["text", "json"] {
            let ran = analyze(folder.path(), &[&["--format", format], arguments].concat());
            assert_eq!(ran.code, code, "{arguments:?} as {format}: {ran:#?}");
            assert!(ran.stderr.is_empty(), "{ran:#?}");
        }
    }
}

#[test]
fn exit_3_when_nothing_is_there() {
    let folder = folder();
    std::fs::create_dir_all(folder.path().join("empty")).unwrap();
    std::fs::write(folder.path().join("nothing.jsonl"), "").unwrap();
    std::fs::write(folder.path().join("words.log"), "starting\nlistening on 8080\n").unwrap();
    for (arguments, complaint) in [
        (&["missing.jsonl"][..], "missing.jsonl"),
        (&["empty"], "no log in empty"),
        (&["*.zip"], "no file matches"),
        (&["nothing.jsonl"], "0 lines read"),
        (&["words.log"], "An attempt is a record with a time"),
        (&["--run", "r-none", "ok.jsonl"], "1 attempt was left out by"),
        (&["--since", "2027-01-01", "ok.jsonl"], "left out by --since"),
    ] {
        assert_ends(&analyze(folder.path(), arguments), 3, complaint);
    }
    assert_ends(
        &run_in(folder.path(), &["trace", "req_none", "ok.jsonl", "bad.jsonl"]),
        3,
        "`req_none` is nowhere in 2 inputs (plain), 534 bytes",
    );
}

#[test]
fn exit_4_when_too_much_is_unreadable_and_the_report_comes_all_the_same() {
    let folder = folder();
    std::fs::write(folder.path().join("torn.jsonl"), format!("{OK}\n{FAILED}\n{{\"ts\":\n")).unwrap();
    // 1 of 4 lines, 25%.
    for (arguments, code) in [
        (&["torn.jsonl"][..], 4),
        (&["--max-rejected", "24.9", "torn.jsonl"], 4),
        (&["--max-rejected", "25", "torn.jsonl"], 1),
        (&["--max-rejected", "100", "--fail-on", "never", "torn.jsonl"], 0),
        (&["--fail-on", "never", "torn.jsonl"], 4),
    ] {
        let ran = analyze(folder.path(), arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:#?}");
        assert!(ran.stdout.contains("RL106"), "{ran:#?}");
    }
}

#[test]
fn exit_74_when_reading_or_writing_fails() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(FAILED.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    std::fs::write(folder.path().join("cut.jsonl.gz"), &gzip[..gzip.len() / 2]).unwrap();
    for (arguments, complaint) in [
        (
            &["cut.jsonl.gz"][..],
            "1 of 1 input could not be read to the end, and what is missing is not judged: cut.jsonl.gz",
        ),
        (&["--output", "json=none/report.json", "ok.jsonl"], "cannot write none/report.json"),
        (&["--output", "text=folder", "ok.jsonl"], "cannot write folder"),
        (&["--rejects", "none/rejects", "ok.jsonl"], "cannot write none/rejects"),
        (&["--charts", "ok.jsonl", "ok.jsonl"], "cannot write ok.jsonl"),
    ] {
        let ran = analyze(folder.path(), arguments);
        assert_ends(&ran, 74, complaint);
        assert!(!ran.stderr.contains(".retrylens-"), "a name only we know is no help: {}", ran.stderr);
    }
    let left: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".retrylens"))
        .collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(assert_cmd::cargo::cargo_bin!("retrylens"))
        .args(["analyze", "samples/healthy-run.jsonl"])
        .current_dir(repo(""))
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(74));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write the report"));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    for format in ["text", "json"] {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("retrylens"))
            .args(["analyze", "--format", format, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Nobody reads by the time there is something to say.
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(FAILED.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        // The verdict is the same, whoever reads it.
        assert_eq!(output.status.code(), Some(1), "{format}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format}");
    }
}

// Inputs

#[test]
fn a_directory_is_searched_for_logs() {
    let folder = folder();
    let logs = folder.path().join("logs/nightly");
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::create_dir_all(folder.path().join("logs/.hidden")).unwrap();
    for name in ["logs/a.jsonl", "logs/nightly/b.log.1", "logs/.hidden/c.jsonl", "logs/d.py"] {
        std::fs::write(folder.path().join(name), format!("{}\n", OK.replace("c-1", name).replace("req_ok_1", name)))
            .unwrap();
    }
    let report = report(folder.path(), &["logs"]);
    let paths: Vec<&str> =
        report["inputs"].as_array().unwrap().iter().map(|input| input["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["logs/a.jsonl", "logs/nightly/b.log.1"]);
    assert_eq!(report["totals"]["calls"], 2);
}

#[test]
fn a_pattern_in_quotes_is_expanded() {
    let folder = folder();
    let report = report(folder.path(), &["**/*.jsonl"]);
    assert_eq!(report["inputs"].as_array().unwrap().len(), 2);
    assert_eq!(report["ledger"]["attempts"], 3);
}

#[test]
fn an_input_named_twice_is_read_once() {
    let folder = folder();
    let report = report(folder.path(), &["ok.jsonl", "ok.jsonl", "*.jsonl"]);
    assert_eq!(report["ledger"]["lines"], 3);
}

#[test]
fn standard_input_and_compressed_files_are_read() {
    let folder = folder();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(FAILED.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::stream::encode_all(FAILED.as_bytes(), 1).unwrap();
    for (name, bytes) in [("plain", FAILED.as_bytes().to_vec()), ("gzip", gzip), ("zstd", zstd)] {
        let ran = finish(program().args(["analyze", "--format", "json", "-"]).write_stdin(bytes.clone()));
        assert_eq!(ran.code, 1, "{name}: {ran:#?}");
        let piped = ran.json();
        assert_eq!(piped["inputs"][0]["path"], "<stdin>", "{name}");
        assert_eq!(piped["ledger"]["attempts"], 2, "{name}");
        std::fs::write(folder.path().join("packed"), bytes).unwrap();
        let named = report(folder.path(), &["packed"]);
        assert_eq!(named["totals"], piped["totals"], "{name}");
    }
}

#[test]
fn filters_leave_out_and_count() {
    let folder = folder();
    let both = ["ok.jsonl", "bad.jsonl"];
    for (arguments, attempts) in [
        (&["--run", "r-ok"][..], 1),
        (&["--run", "r-ok", "--run", "r-bad"], 3),
        (&["--model", "GPT-*"], 2),
        (&["--provider", "anthropic"], 1),
        (&["--provider", "Anthropic", "--model", "*sonnet*"], 1),
        // A call is taken by its first send, and whole.
        (&["--since", "2026-01-05T12:00:00Z"], 2),
        (&["--until", "2026-01-05T12:00:00Z"], 1),
        (&["--since", "2026-01-05", "--until", "2026-01-06"], 3),
        // 12:00 UTC is 13:00 in Berlin.
        (&["--tz", "Europe/Berlin", "--since", "2026-01-05T12:30:00"], 2),
        (&["--tz", "+02:00", "--until", "2026-01-05 12:30"], 1),
    ] {
        let report = report(folder.path(), &[arguments, &both].concat());
        let ledger = &report["ledger"];
        assert_eq!(ledger["attempts"], attempts, "{arguments:?}: {ledger}");
        assert_eq!(ledger["filtered"], 3 - attempts, "{arguments:?}: {ledger}");
        assert_eq!(ledger["skipped"], 3 - attempts, "{arguments:?}: {ledger}");
        assert_eq!(ledger["lines"], 3);
    }
}

#[test]
fn reports_among_logs_are_left_out_and_said_to_be() {
    let folder = folder();
    let dir = folder.path().join("nights");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::copy(folder.path().join("ok.jsonl"), dir.join("ok.jsonl")).unwrap();
    std::fs::write(dir.join("app.json"), std::fs::read(folder.path().join("bad.jsonl")).unwrap()).unwrap();
    let alone = report(folder.path(), &["nights"]);
    run_in(folder.path(), &["analyze", "--output", "json=nights/old.json", "bad.jsonl"]);
    let ran = run_in(folder.path(), &["analyze", "--format", "json", "nights"]);
    assert!(ran.stderr.contains("old.json is a report of retrylens, not a log: left out"), "{ran:#?}");
    assert_eq!((&ran.json()["ledger"], ran.json()["inputs"].as_array().unwrap().len()), (&alone["ledger"], 2));
    let ran = run_in(folder.path(), &["trace", "req_1", "nights"]);
    assert!(ran.stderr.contains("left out"), "{ran:#?}");
    assert_ends(&analyze(folder.path(), &["nights/old.json"]), 3, "is a report of retrylens, not a log: compare it");
}

#[test]
fn a_time_that_clocks_skipped_is_called_that() {
    let folder = tempfile::tempdir().unwrap();
    let log = "{\"ts\":\"2026-03-29 02:30:00\",\"call_id\":\"a\",\"status\":200}\n\
               {\"ts\":\"2026-03-29 03:30:00\",\"call_id\":\"b\",\"status\":200}\n";
    std::fs::write(folder.path().join("log.jsonl"), log).unwrap();
    let options = ["--tz", "Europe/Berlin", "--max-rejected", "100", "log.jsonl"];
    let skipped = report(folder.path(), &options);
    let reason = skipped["rejects"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("\"2026-03-29 02:30:00\" does not exist in Europe/Berlin"), "{reason}");
    assert_eq!(report(folder.path(), &["log.jsonl"])["ledger"]["rejected"], 0, "in UTC it exists");
    let ran = analyze(folder.path(), &["--since", "2026-03-29 02:30", "--tz", "Europe/Berlin", "log.jsonl"]);
    assert_ends(&ran, 2, "`2026-03-29 02:30` does not exist in Europe/Berlin");
}

/// Attempts of two clients, layers, organisations, keys, workspaces, hosts and addresses.
const TWO_OF_EACH: &str = r#"{"ts":"2026-01-05T10:00:00Z","run_id":"night-1","call_id":"a","status":200,"model":"tall-7b","provider":"north","client":{"name":"Acme/Go","version":"1.2.0"},"layer":"sdk","org":"o-1","api_key_id":"k-1","workspace":"w-1","hostname":"pod-a","base_url":"https://one.example.com/v1"}
{"ts":"2026-01-05T10:00:01Z","run_id":"night-2","call_id":"b","status":200,"model":"wide-7b","provider":"south","client":{"name":"Acme/Go","version":"1.3.0"},"layer":"worker","org":"o-2","api_key_id":"k-2","workspace":"w-2","host":{"name":"pod-b"},"endpoint":"/v2/chat?x=1"}
"#;

#[test]
fn every_name_chooses_alike() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), TWO_OF_EACH).unwrap();
    for (option, whole, pattern, wrong, like) in [
        ("--run", "NIGHT-2", "*-2", "nihgt-2", "did you mean `night-2` or `night-1`?"),
        ("--model", "Wide-7b", "wide*", "wide", "did you mean `wide-7b`? (a name is given whole: `*wide*` finds"),
        ("--provider", "south", "s????", "sowth", "did you mean `south`"),
        ("--client", "acme/go 1.3.0", "* 1.3.*", "Acme/Rust", "`Acme/Go`"),
        ("--layer", "Worker", "w*", "wroker", "did you mean `worker`?"),
        ("--org", "O-2", "o-[2-9]", "org", "there are `o-1`, `o-2`"),
        ("--key", "k-2", "?-2", "none", "there are `k-1`, `k-2`"),
        ("--workspace", "W-2", "*2", "prod", "there are `w-1`, `w-2`"),
        ("--host", "pod-b", "*-b", "pod", "did you mean `pod-a` or `pod-b`?"),
        ("--endpoint", "/v2/chat", "/v2/*", "two.example.com", "did you mean `one.example.com`?"),
    ] {
        for memory in ["whole", "bounded"] {
            for name in [whole, pattern] {
                let report = report(folder.path(), &[option, name, "--memory", memory, "log.jsonl"]);
                assert_eq!(report["runs"][0]["run_id"], "night-2", "{option} {name}");
                assert_eq!((&report["ledger"]["attempts"], &report["ledger"]["filtered"]), (&1.into(), &1.into()));
                assert_eq!(report["notices"].to_string(), "[]", "{option} {name}");
            }
            let ran = analyze(folder.path(), &[option, wrong, "--memory", memory, "log.jsonl"]);
            assert_ends(&ran, 3, like);
            let found = report(folder.path(), &[option, whole, option, wrong, "--memory", memory, "log.jsonl"]);
            assert!(found["notices"].to_string().contains(wrong), "{option} {wrong}: {}", found["notices"]);
        }
    }
}

/// A call that fell back to another model, and a later one.
const FALLBACK: &str = r#"{"ts":"2026-01-05T10:00:00Z","run_id":"r","call_id":"a","attempt":1,"status":529,"error_type":"overloaded_error","provider":"anthropic","model":"large","headers":{"anthropic-ratelimit-requests-limit":"50","anthropic-ratelimit-requests-remaining":"9"}}
{"ts":"2026-01-05T10:00:03Z","run_id":"r","call_id":"a","attempt":2,"status":200,"provider":"openai","model":"small"}
{"ts":"2026-01-05T11:00:00Z","run_id":"r","call_id":"b","attempt":1,"status":200,"provider":"openai","model":"small","headers":{"x-ratelimit-limit-requests":"60","x-ratelimit-remaining-requests":"59"}}
"#;

#[test]
fn no_filter_cuts_a_call_apart() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), FALLBACK).unwrap();
    for (arguments, sends, calls, limits) in [
        (&[][..], 3, 2, 2),
        (&["--model", "large"], 2, 1, 1),
        (&["--model", "small"], 3, 2, 2),
        (&["--provider", "anthropic", "--model", "small"], 0, 0, 0),
        (&["--until", "2026-01-05T10:00:01Z"], 2, 1, 1),
        (&["--since", "2026-01-05T10:00:01Z"], 1, 1, 1),
    ] {
        for memory in ["whole", "bounded"] {
            let arguments = [arguments, &["--memory", memory, "log.jsonl"]].concat();
            if sends == 0 {
                assert_ends(&analyze(folder.path(), &arguments), 3, "3 attempts were left out by");
                continue;
            }
            let report = report(folder.path(), &arguments);
            let totals = &report["totals"];
            assert_eq!((&totals["sends"], &totals["calls"]), (&sends.into(), &calls.into()), "{arguments:?}");
            assert_eq!(report["ledger"]["filtered"], 3 - sends, "{arguments:?}");
            assert_eq!(report["headroom"].as_array().unwrap().len(), limits, "{arguments:?}");
        }
    }
    let ran = analyze(folder.path(), &["--model", "large", "--output", "csv=tables", "log.jsonl"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    for (table, rows) in [("attempts", 2), ("calls", 1)] {
        let text = std::fs::read_to_string(folder.path().join(format!("tables/{table}.csv"))).unwrap();
        assert_eq!(text.lines().count(), 1 + rows, "{text}");
    }
}

#[test]
fn a_zone_moves_times_without_one_and_times_shown() {
    let folder = folder();
    std::fs::write(folder.path().join("local.jsonl"), "{\"ts\":\"2026-07-05 10:00:00,250\",\"status\":200}\n").unwrap();
    let utc = report(folder.path(), &["local.jsonl"]);
    assert_eq!(utc["window"]["first"], "2026-07-05T10:00:00.250Z");
    let berlin = report(folder.path(), &["--tz", "Europe/Berlin", "local.jsonl"]);
    assert_eq!(berlin["window"]["first"], "2026-07-05T08:00:00.250Z");
    let shown = analyze(folder.path(), &["--tz", "America/New_York", "bad.jsonl"]).stdout;
    assert!(shown.contains("07:00:00") && !shown.contains("12:00:00"), "{shown}");
}

// Judging

#[test]
fn select_and_ignore_take_codes_and_prefixes_in_any_case() {
    let folder = folder();
    for (arguments, expected) in [
        (&["--select", "RL106"][..], true),
        (&["--select", "rl1"], true),
        (&["--select", "RL2,RL106"], true),
        (&["--select", "RL2"], false),
        (&["--ignore", "rl106"], false),
        (&["--ignore", "RL1"], false),
        (&["--ignore", "RL2"], true),
        (&["--select", "RL1", "--ignore", "RL106"], false),
    ] {
        let report = report(folder.path(), &[arguments, &["bad.jsonl"]].concat());
        assert_eq!(common::codes(&report).contains(&"RL106"), expected, "{arguments:?}");
        assert_eq!(report["ledger"]["attempts"], 2, "{arguments:?}");
    }
}

#[test]
fn complete_closes_what_would_be_open() {
    let folder = folder();
    let lost = "{\"ts\":\"2026-01-05T10:00:00Z\",\"run_id\":\"r\",\"call_id\":\"c\",\"attempt\":1,\"status\":529,\"error_type\":\"overloaded_error\"}\n";
    std::fs::write(folder.path().join("lost.jsonl"), lost).unwrap();
    let open = report(folder.path(), &["lost.jsonl"]);
    assert_eq!((&open["totals"]["calls_open"], &open["totals"]["calls_failed"]), (&1.into(), &0.into()));
    assert!(!common::codes(&open).contains(&"RL201"));
    let closed = report(folder.path(), &["--complete", "lost.jsonl"]);
    assert_eq!((&closed["totals"]["calls_open"], &closed["totals"]["calls_failed"]), (&0.into(), &1.into()));
    assert!(common::codes(&closed).contains(&"RL201"));
}

// Output

#[test]
fn min_severity_hides_and_does_not_forgive() {
    let all = analyze(&repo(""), &["samples/fan-out.jsonl", "samples/spend-cap-retried.jsonl"]);
    let some =
        analyze(&repo(""), &["--min-severity", "error", "samples/fan-out.jsonl", "samples/spend-cap-retried.jsonl"]);
    assert_eq!((all.code, some.code), (1, 1));
    for (problem, hidden) in [("error RL101", false), ("warning RL506", true)] {
        assert!(all.stdout.contains(problem), "{}", all.stdout);
        assert_eq!(!some.stdout.contains(problem), hidden, "{problem}: {}", some.stdout);
    }
}

#[test]
fn reports_go_to_files_beside_the_one_printed() {
    let folder = folder();
    std::fs::write(folder.path().join("report.json"), "an older one").unwrap();
    let printed = analyze(folder.path(), &["bad.jsonl"]).stdout;
    let ran = analyze(folder.path(), &["-o", "json=report.json", "--output", "text=report.txt", "bad.jsonl"]);
    assert_eq!((ran.code, &ran.stdout), (1, &printed));
    assert_eq!(std::fs::read_to_string(folder.path().join("report.txt")).unwrap(), printed);
    let written: Value = serde_json::from_slice(&std::fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(written, report(folder.path(), &["bad.jsonl"]));
}

#[test]
fn a_failed_write_leaves_the_older_report_alone() {
    let folder = folder();
    std::fs::write(folder.path().join("report.txt"), "an older one").unwrap();
    let ran = analyze(folder.path(), &["-o", "text=report.txt", "missing.jsonl"]);
    assert_eq!(ran.code, 3);
    assert_eq!(std::fs::read_to_string(folder.path().join("report.txt")).unwrap(), "an older one");
}

#[test]
fn charts_are_written_in_pairs() {
    let folder = folder();
    let ran = analyze(folder.path(), &["--charts", "new/charts", "bad.jsonl", "ok.jsonl"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    let mut names: Vec<String> = std::fs::read_dir(folder.path().join("new/charts"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.contains(&"retries-fleet.svg".to_owned()), "{names:?}");
    for name in names {
        let bytes = std::fs::read(folder.path().join("new/charts").join(&name)).unwrap();
        match name.split_once('.').unwrap() {
            (stem, "svg") => {
                assert!(bytes.starts_with(b"<svg") || bytes.starts_with(b"<?xml"), "{name}");
                assert!(folder.path().join(format!("new/charts/{stem}.png")).exists(), "{name} has no PNG");
            }
            (stem, "png") => {
                assert!(bytes.starts_with(b"\x89PNG\r\n"), "{name}");
                assert!(folder.path().join(format!("new/charts/{stem}.svg")).exists(), "{name} has no SVG");
            }
            _ => panic!("{name} is no chart"),
        }
    }
}

#[test]
fn rejected_lines_are_written_with_their_text() {
    let folder = folder();
    std::fs::write(folder.path().join("torn.jsonl"), format!("{OK}\n{{\"ts\":\n\n{{\"status\":500,\"attempt\":1}}\n"))
        .unwrap();
    let ran = analyze(folder.path(), &["--rejects", "rejects.jsonl", "torn.jsonl"]);
    assert_eq!(ran.code, 4, "{ran:#?}");
    let rejects: Vec<Value> = std::fs::read_to_string(folder.path().join("rejects.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rejects.len(), 2);
    assert_eq!((&rejects[0]["file"], &rejects[0]["line"]), (&"torn.jsonl".into(), &2.into()));
    assert_eq!(rejects[0]["text"], "{\"ts\":");
    assert!(rejects[0]["reason"].as_str().unwrap().starts_with("cut off"));
    assert_eq!(rejects[1]["line"], 4);
    assert_eq!(rejects[1]["reason"], "an attempt without a time (`ts`)");
}

#[test]
fn colour_is_on_only_when_asked_for_or_on_a_terminal() {
    let folder = folder();
    for (arguments, coloured) in [
        (&[][..], false),
        (&["--color", "never"], false),
        (&["--color", "auto"], false),
        (&["--color", "always"], true),
    ] {
        let ran = analyze(folder.path(), &[arguments, &["bad.jsonl"]].concat());
        assert_eq!(ran.stdout.contains('\u{1b}'), coloured, "{arguments:?}");
    }
}

#[test]
fn the_text_report_fits_80_columns_and_carries_no_control_character() {
    let folder = folder();
    let hostile = "{\"ts\":\"2026-01-05T10:00:00Z\",\"run_id\":\"\\u001b[2J\\u202eevil\",\"call_id\":\"c\",\"status\":418,\"error_message\":\"a\\nb\\u0007\"}\n";
    std::fs::write(folder.path().join("hostile.jsonl"), hostile).unwrap();
    for arguments in [&["hostile.jsonl"][..], &["--verbose", "hostile.jsonl", "bad.jsonl"]] {
        let ran = analyze(folder.path(), arguments);
        let odd = ran.stdout.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(odd, None, "{}", ran.stdout);
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    }
}

// Trace

#[test]
fn trace_finds_a_request_a_call_and_a_run() {
    let folder = folder();
    for (id, matched, code) in [
        ("req_bad_2", "request", 1),
        ("req_bad", "request", 1),
        ("c-2", "call", 1),
        ("r-bad", "run", 1),
        ("r-ok", "run", 0),
    ] {
        let ran = run_in(folder.path(), &["trace", "--format", "json", id, "*.jsonl"]);
        assert_eq!(ran.code, code, "{id}: {ran:#?}");
        let trace = ran.json()["traces"][0].clone();
        assert_eq!(trace["matched"], matched, "{id}");
        assert_eq!(trace["calls"].as_array().unwrap().len(), 1, "{id}");
    }
    let text = run_in(folder.path(), &["trace", "req_bad_2", "bad.jsonl"]);
    for word in ["req_bad_1", "req_bad_2", "bad.jsonl", "401", "authentication", "RL106"] {
        assert!(text.stdout.contains(word), "the trace lacks {word}: {}", text.stdout);
    }
}

#[test]
fn the_words_of_a_mistake_stay_as_they_are() {
    let folder = folder();
    let complaint = |arguments: &[&str]| run_in(folder.path(), arguments).stderr;
    insta::assert_snapshot!(complaint(&["analyze", "missing.jsonl"]), @"retrylens: cannot read missing.jsonl: No such file or directory (os error 2)");
    insta::assert_snapshot!(complaint(&["analyze", "--run", "r-none", "ok.jsonl"]), @"retrylens: no attempt found in ok.jsonl: 1 line read, 0 skipped as no attempts, 0 unreadable, 0 blank; 1 attempt was left out by --run; no run `r-none` in the log; there are `r-ok`");
    insta::assert_snapshot!(complaint(&["trace", "", "ok.jsonl"]), @"retrylens: the id is empty: retrylens trace ID INPUT...");
}

#[test]
fn outputs_never_take_the_place_of_an_input_or_of_each_other() {
    let folder = folder();
    let path = folder.path();
    let log = std::fs::read_to_string(path.join("bad.jsonl")).unwrap();
    for arguments in [
        &["bad.jsonl", "--output", "json=bad.jsonl"][..],
        &["bad.jsonl", "--rejects", "./bad.jsonl"],
        &["bad.jsonl", "--output", "json=a", "--output", "text=./a"],
        &["bad.jsonl", "--output", "csv=-"],
    ] {
        assert_ends(&analyze(path, arguments), 2, "");
    }
    assert_eq!(std::fs::read_to_string(path.join("bad.jsonl")).unwrap(), log);
}

#[cfg(unix)]
#[test]
fn what_a_link_points_to_is_written_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("real.json"), "old").unwrap();
    std::fs::set_permissions(path.join("real.json"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("real.json", path.join("link.json")).unwrap();
    assert_eq!(analyze(path, &["ok.jsonl", "--output", "json=link.json"]).code, 0);
    assert!(path.join("link.json").symlink_metadata().unwrap().is_symlink());
    let real = std::fs::read_to_string(path.join("real.json")).unwrap();
    assert!(real.starts_with('{'), "{real}");
    assert_eq!(path.join("real.json").metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_output_on_standard_output_is_alone_there() {
    let folder = folder();
    let ran = analyze(folder.path(), &["bad.jsonl", "--output", "json=-"]);
    assert!(serde_json::from_str::<Value>(&ran.stdout).is_ok(), "{ran:#?}");
}

#[test]
fn json_is_read_as_a_list_and_over_several_lines() {
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("array.json"), format!("[{OK}]")).unwrap();
    std::fs::write(path.join("pretty.json"), OK.replace('{', "{\n").replace(',', ",\n")).unwrap();
    assert_eq!(analyze(path, &["array.json"]).code, 0);
    assert_eq!(analyze(path, &["pretty.json"]).code, 0);
}

#[test]
fn rules_are_chosen_by_name_too() {
    let folder = folder();
    assert_eq!(analyze(folder.path(), &["bad.jsonl", "--select", "auth-retried"]).code, 1);
    assert_eq!(analyze(folder.path(), &["bad.jsonl", "--ignore", "Auth-Retried"]).code, 0);
}

#[test]
fn keys_leave_in_no_form() {
    let folder = folder();
    let path = folder.path();
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    std::fs::write(path.join("key.jsonl"), FAILED.replace("req_bad_1", key).replace("r-bad", key)).unwrap();
    let ran = analyze(
        path,
        &["key.jsonl", "--format", "json", "--output", "csv=t", "--output", "text=t.txt", "--charts", "c"],
    );
    assert!(!ran.stdout.contains(key), "{ran:#?}");
    for entry in ["t", "c", "."].iter().flat_map(|folder| std::fs::read_dir(path.join(folder)).unwrap()) {
        let entry = entry.unwrap();
        assert!(!entry.file_name().to_string_lossy().contains("abcdefghijklmnop"), "{entry:?}");
        if entry.path().is_file() && entry.file_name() != "key.jsonl" {
            let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
            assert!(!text.contains(key), "{entry:?}");
        }
    }
}

#[test]
fn a_number_below_zero_is_told_what_is_wanted() {
    for (arguments, wanted) in [
        (&["plan", "--base", "-1"][..], "give a number of 0 or more"),
        (&["plan", "--success", "-0.5"], "give a share above 0 and up to 1"),
        (&["simulate", "--cap", "-3"], "give a number above 0"),
        (&["analyze", "--max-rejected", "-1", "log.jsonl"], "give a share between 0 and 100"),
        (&["analyze", "--threads", "-2", "log.jsonl"], "give a whole number from 1"),
        (&["stub", "--port", "-1"], "give a port from 1 to 65535, or 0"),
    ] {
        let ran = run_in(&repo(""), arguments);
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.stderr.contains(wanted) && !ran.stderr.contains("unexpected argument"), "{ran:#?}");
    }
}
