//! `--anonymize`: nothing of the log's names and words is in any form; what belongs together still does.

use crate::common::{self, Ran, finish, program};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const SALT: &str = "a-salt-of-the-night-shift";

/// Every one of these is in the log, in the field it names, and must be in no output.
const PLANTED: &[&str] = &[
    "plantedrun",
    "plantedcall",
    "plantedreq",
    "plantedorg",
    "plantedkey",
    "plantedspace",
    "plantedhost",
    "plantedmodel",
    "plantedlayer",
    "plantedtype",
    "plantedcode",
    "plantedmessage",
    "plantedtool",
    "plantedfile",
    "plantedidem",
    "10.11.12.13",
    "plantedclient",
    "plantedpod",
    "plantedgateway",
    "plantedbuild",
];

/// One call of every kind that quotes its log: refused, relabelled, throttled with a scope, behind a gateway.
fn planted_log() -> String {
    let mut log = String::new();
    let mut add = |call: usize, attempt: u32, second: usize, more: Value| {
        let mut line = serde_json::json!({
            "ts": format!("2026-01-05T10:{:02}:{:02}Z", second / 60, second % 60), "run_id": "plantedrun-1",
            "call_id": format!("plantedcall-{call}"), "attempt": attempt, "request_id": format!("plantedreq-{call}-{attempt}"),
            "provider": "https://plantedhost.example:8443", "model": "ft:gpt-4o:plantedmodel::x", "org": "plantedorg",
            "api_key_id": "plantedkey", "workspace": "plantedspace", "layer": "plantedlayer", "max_attempts": 1,
            "client": { "name": "plantedclient", "version": "1-plantedbuild" }, "host": "plantedpod",
            "base_url": "https://plantedgateway.example/v1?k=plantedkey", "input_tokens": 10,
        });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        log.push_str(&format!("{line}\n"));
    };
    let body =
        |kind: &str, message: &str| serde_json::json!({"type": "error", "error": {"type": kind, "message": message}});
    for attempt in 1..=3 {
        let second = attempt as usize;
        add(
            1,
            attempt,
            second,
            serde_json::json!({
                "status": 400, "body": body("invalid_request_error", "plantedmessage at 10.11.12.13"),
            }),
        );
        add(
            2,
            attempt,
            10 + second,
            serde_json::json!({
                "status": 418, "error_type": "plantedtype", "error_code": "plantedcode", "error_message": "plantedmessage",
            }),
        );
        add(
            3,
            attempt,
            20 + second,
            serde_json::json!({
                "status": 429, "error_type": "rate_limit_error", "error_message": "plantedmessage", "retry_after": 60,
                "headers": {"anthropic-ratelimit-requests-limit": "50", "anthropic-ratelimit-requests-remaining": "0",
                            "anthropic-ratelimit-requests-reset": "2026-01-05T10:10:00Z"},
            }),
        );
        add(
            4,
            attempt,
            30 + second,
            serde_json::json!({
                "status": 502, "provider": "anthropic", "model": "claude-sonnet-5-5", "error_message": "plantedmessage <html>plantedhost",
            }),
        );
        add(
            5,
            attempt,
            40 + second,
            serde_json::json!({
                "kind": "timeout", "tool": "plantedtool", "side_effect": true, "idempotency_key": format!("plantedidem-{attempt}"),
            }),
        );
        add(
            6,
            attempt,
            50 + second,
            serde_json::json!({
                "status": 429, "error_code": "enforced_spend_limit_reached", "error_type": "rate_limit_error",
            }),
        );
    }
    add(
        7,
        1,
        100,
        serde_json::json!({
            "status": 400, "provider": "anthropic", "error_type": "invalid_request_error", "error_message": "Overloaded plantedmessage",
        }),
    );
    log.push_str("{\"ts\": \"2026-01-05T10:00:00Z\", \"status\": plantedmessage\n");
    log
}

/// A folder whose log has a telling name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plantedfile.jsonl"), planted_log()).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Ran {
    finish(program().current_dir(folder).args(arguments).env_remove("RETRYLENS_SALT").env_remove("GITHUB_STEP_SUMMARY"))
}

fn forms() -> Vec<String> {
    let ran = common::run_in(&common::repo(""), &["analyze", "x", "--output", "nonsense=x"]);
    let known = ran.stderr.split("known formats: ").nth(1).unwrap().split(" (").next().unwrap();
    known.split(", ").map(str::to_owned).collect()
}

/// Every file below `folder`, with its name as the first line of its text.
fn files(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).unwrap();
            found.push((path, format!("{name}\n{}", String::from_utf8_lossy(&bytes))));
        }
    }
    found
}

/// Writes everything there is to write.
fn write_all(folder: &Path, inputs: &[&str], out: &str, anonymize: &str) -> Ran {
    std::fs::create_dir_all(folder.join(out)).unwrap();
    let outputs: Vec<String> = forms().iter().map(|form| format!("{form}={out}/report.{form}")).collect();
    let (tables, charts) = (format!("csv={out}/tables"), format!("{out}/charts"));
    let mut arguments = vec!["analyze", "--complete", "--verbose", "--max-rejected", "100", "--charts", &charts];
    arguments.extend(inputs);
    arguments.extend(["--output", &tables]);
    for output in &outputs {
        arguments.extend(["--output", output]);
    }
    if !anonymize.is_empty() {
        arguments.push(anonymize);
    }
    run(folder, &arguments)
}

#[test]
fn no_form_holds_what_was_planted() {
    let folder = folder();
    let open = write_all(folder.path(), &["plantedfile.jsonl"], "open", "");
    let shut = write_all(folder.path(), &["plantedfile.jsonl"], "shut", &format!("--anonymize={SALT}"));
    assert_eq!((open.code, shut.code), (1, 1), "{shut:#?}");
    let before: String = files(&folder.path().join("open")).into_iter().map(|(_, text)| text).collect();
    // The test would prove nothing of what no form shows anyway; keys of idempotency are such.
    let shown: Vec<&&str> = PLANTED.iter().filter(|word| before.contains(**word)).collect();
    for word in [
        "plantedrun",
        "plantedcall",
        "plantedreq",
        "plantedhost",
        "plantedmodel",
        "plantedlayer",
        "plantedtype",
        "plantedcode",
        "plantedmessage",
        "plantedfile",
        "plantedorg",
        "plantedtool",
    ] {
        assert!(shown.contains(&&word), "{word} is nowhere in the open reports: plant it better");
    }
    let written = files(&folder.path().join("shut"));
    assert!(written.len() > 12, "{written:#?}");
    for (path, text) in &written {
        for word in PLANTED {
            assert!(!text.contains(word), "{word} in {}", path.display());
        }
        assert!(!text.contains(SALT), "the salt in {}", path.display());
    }
    for word in PLANTED {
        assert!(!shut.stdout.contains(word), "{word} on standard output: {}", shut.stdout);
    }
}

#[test]
fn traces_hold_none_of_it_either() {
    let folder = folder();
    let (mut ids, anonymize) = (0, format!("--anonymize={SALT}"));
    for id in ["plantedreq-3-1", "plantedreq-3", "plantedcall-2", "plantedrun-1", "plantedorg", "plantedmessage"] {
        for format in ["text", "json"] {
            let ran =
                run(folder.path(), &["trace", id, "plantedfile.jsonl", "--verbose", "--format", format, &anonymize]);
            assert!(ran.code <= 1, "{ran:#?}");
            for word in PLANTED {
                assert!(!ran.stdout.contains(word), "{word} in the {format} of {id}: {}", ran.stdout);
            }
            ids += 1;
        }
    }
    assert_eq!(ids, 12);
}

#[test]
fn comparisons_hold_none_of_it_either() {
    let folder = folder();
    let night = "json=plantedfile-night.json";
    run(folder.path(), &["analyze", "plantedfile.jsonl", "--complete", "--quiet", "--output", night]);
    std::fs::write(
        folder.path().join("plantedfile-calm.jsonl"),
        "{\"ts\":\"2026-01-06T10:00:00Z\",\"run_id\":\"plantedrun-2\",\"call_id\":\"c\",\"model\":\"plantedmodel\",\"status\":200}\n",
    )
    .unwrap();
    let calm = "json=plantedfile-calm.json";
    run(folder.path(), &["analyze", "plantedfile-calm.jsonl", "--complete", "--quiet", "--output", calm]);
    let anonymize = format!("--anonymize={SALT}");
    for format in ["text", "json", "markdown", "html"] {
        for compared in [
            &["diff", "plantedfile-calm.jsonl", "plantedfile.jsonl"][..],
            &["diff", "plantedfile-night.json", "plantedfile-calm.json"],
            &["trend", "plantedfile-night.json", "plantedfile-calm.json"],
        ] {
            let open = run(folder.path(), &[compared, &["--verbose", "--format", format]].concat());
            assert!(open.stdout.contains("planted"), "{compared:?} in {format}: nothing to hide: {open:#?}");
            let shut = run(folder.path(), &[compared, &["--verbose", "--format", format, &anonymize]].concat());
            assert!(shut.code <= 1 && shut.stdout.contains("RL104"), "{compared:?} in {format}: {shut:#?}");
            for word in PLANTED {
                assert!(!shut.stdout.contains(word), "{word} in {compared:?} in {format}: {}", shut.stdout);
            }
        }
    }
}

/// All ids of real logs, in every form.
#[test]
fn no_id_of_a_real_log_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [common::repo("samples").display().to_string(), common::repo("tests/captures").display().to_string()];
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    assert_eq!(write_all(folder.path(), &inputs, "out", &format!("--anonymize={SALT}")).code, 1);
    let mut ids = BTreeSet::new();
    for file in common::logs_in("samples").into_iter().chain(common::logs_in("tests/captures")) {
        ids.insert(file.file_name().unwrap().to_string_lossy().into_owned());
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            for key in ["run_id", "call_id", "request_id", "org", "api_key_id", "workspace"] {
                ids.extend(line[key].as_str().filter(|id| id.len() > 5).map(str::to_owned));
            }
        }
    }
    assert!(ids.len() > 500, "{}", ids.len());
    for (path, text) in files(&folder.path().join("out")) {
        if path.extension().is_some_and(|ending| ending == "png") {
            continue;
        }
        let words: BTreeSet<&str> = text.split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c))).collect();
        let left: Vec<&String> = ids.iter().filter(|id| words.contains(id.as_str())).collect();
        assert!(left.is_empty(), "{left:?} in {}", path.display());
    }
}

#[test]
fn a_salt_makes_the_same_bytes_and_no_salt_never_twice() {
    let folder = folder();
    let json = |anonymize: &str| {
        let ran = run(
            folder.path(),
            &["analyze", "--format", "json", "--max-rejected", "100", "plantedfile.jsonl", anonymize],
        );
        assert_eq!(ran.code, 1, "{ran:#?}");
        ran.stdout
    };
    let salted = format!("--anonymize={SALT}");
    assert_eq!(json(&salted), json(&salted));
    assert_ne!(json(&salted), json(&format!("{salted}2")));
    assert_ne!(json("--anonymize"), json("--anonymize"));
    let from_the_environment = finish(
        program()
            .current_dir(folder.path())
            .args(["analyze", "--format", "json", "--max-rejected", "100", "plantedfile.jsonl", "--anonymize"])
            .env("RETRYLENS_SALT", SALT),
    );
    assert_eq!(from_the_environment.stdout, json(&salted));
}

#[test]
fn what_belongs_together_still_does() {
    let folder = folder();
    write_all(folder.path(), &["plantedfile.jsonl"], "open", "");
    write_all(folder.path(), &["plantedfile.jsonl"], "shut", &format!("--anonymize={SALT}"));
    let report = |out: &str| -> Value {
        serde_json::from_slice(&std::fs::read(folder.path().join(out).join("report.json")).unwrap()).unwrap()
    };
    let (open, shut) = (report("open"), report("shut"));
    for same in ["verdict", "totals", "ledger", "window", "histogram", "classes"] {
        assert_eq!(open[same], shut[same], "{same}");
    }
    let shape = |report: &Value| -> Vec<(Value, Value, Value)> {
        let findings = report["findings"].as_array().unwrap().iter();
        findings.map(|one| (one["rule"].clone(), one["cost"].clone(), one["attempts"][0]["ts"].clone())).collect()
    };
    assert_eq!(shape(&open), shape(&shut));
    // Ids of the report are those of the tables.
    let column = |table: &str, name: &str| -> BTreeSet<String> {
        let mut csv = csv::Reader::from_path(folder.path().join(format!("shut/tables/{table}.csv"))).unwrap();
        let at = csv.headers().unwrap().iter().position(|head| head == name).unwrap();
        csv.records().map(|row| row.unwrap()[at].to_owned()).collect()
    };
    let requests = column("attempts", "request_id");
    assert_eq!(requests.len(), 19);
    for finding in shut["findings"].as_array().unwrap() {
        for at in finding["attempts"].as_array().unwrap() {
            assert!(requests.contains(at["request_id"].as_str().unwrap()), "{at}");
        }
    }
    assert_eq!(column("attempts", "run_id"), column("runs", "run_id"));
    assert_eq!(column("attempts", "call_id"), column("calls", "call_id"));
    assert_eq!(column("attempts", "file"), BTreeSet::from([shut["inputs"][0]["path"].as_str().unwrap().to_owned()]));
    // Public names say nothing of whose log it is.
    assert!(column("attempts", "model").contains("claude-sonnet-5-5"));
    assert!(column("attempts", "error_type").contains("rate_limit_error"));
}

#[test]
fn what_would_give_names_away_is_refused() {
    let folder = folder();
    for (arguments, says) in [
        (["--anonymize=short", "--quiet"], "fewer than 16 characters"),
        (["--anonymize", "--rejects=r.jsonl"], "--rejects writes lines of the log as they are"),
    ] {
        let ran = run(folder.path(), &[&["analyze", "plantedfile.jsonl"][..], &arguments].concat());
        assert_eq!(ran.code, 2, "{ran:#?}");
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}
