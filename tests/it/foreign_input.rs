//! Inputs that are no logs, or the same log again: said, and never judged as attempts.

use crate::common::{Ran, repo, run_in};
use serde_json::{Value, json};
use std::path::Path;

/// Attempts of two calls, the first of which failed and was sent again.
fn log(ids: bool) -> String {
    let attempt = |n: u32, status: u16| {
        let id = if ids { json!(format!("req_{n}")) } else { Value::Null };
        let line = json!({"ts": format!("2026-03-04T05:06:{:02}.{n}07Z", 10 + 2 * n), "model": "m", "provider": "p",
                          "status": status, "duration_ms": 700 + n, "request_id": id});
        format!("{line}\n")
    };
    [(1, 429), (2, 200), (3, 200)].map(|(n, status)| attempt(n, status)).concat()
}

fn analyzed(folder: &Path, inputs: &[&str]) -> (Ran, Value) {
    let arguments = [&["analyze", "--no-config", "--format", "json"], inputs].concat();
    let ran = run_in(folder, &arguments);
    assert!([0, 1].contains(&ran.code), "{ran:#?}");
    let report = ran.json();
    (ran, report)
}

fn notices(report: &Value) -> String {
    report["notices"].as_array().unwrap().iter().map(|notice| notice.as_str().unwrap().to_owned() + "\n").collect()
}

#[test]
fn outputs_of_this_program_beside_logs_are_named_and_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let sample = std::fs::read(repo("samples/spend-cap-retried.jsonl")).unwrap();
    std::fs::write(folder.path().join("log.jsonl"), &sample).unwrap();
    let forms = ["ndjson=findings.ndjson", "sarif=scan.sarif", "junit=junit.xml", "csv=tables"];
    let outputs: Vec<&str> = forms.iter().flat_map(|form| ["--output", form]).collect();
    run_in(folder.path(), &[&["analyze", "--no-config", "log.jsonl"], &outputs[..]].concat());
    let (_, alone) = analyzed(folder.path(), &["log.jsonl"]);
    for (output, what) in [
        ("findings.ndjson", "a list of findings of retrylens"),
        ("scan.sarif", "a SARIF report"),
        ("junit.xml", "a JUnit report"),
        ("tables/findings.csv", "a table of findings of retrylens"),
        ("tables/calls.csv", "a table of calls of retrylens"),
        ("tables/runs.csv", "a table of runs of retrylens"),
    ] {
        let (_, beside) = analyzed(folder.path(), &["log.jsonl", output]);
        assert_eq!(beside["totals"], alone["totals"], "{output}");
        let told = format!("{output}: it is {what}, not a log: its lines are left out");
        assert!(notices(&beside).contains(&told), "{}", notices(&beside));
        let ran = run_in(folder.path(), &["analyze", "--no-config", output]);
        assert_eq!(ran.code, 3, "{ran:#?}");
        assert!(ran.stderr.contains(&format!("it is {what}, not a log")), "{ran:#?}");
    }
}

#[test]
fn a_table_of_attempts_is_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let sample = std::fs::read_to_string(repo("samples/spend-cap-retried.jsonl")).unwrap();
    let without_status = r#"{"ts":"2026-11-29T18:04:00Z","call_id":"t","attempt":1,"kind":"timeout","duration_ms":900}
{"ts":"2026-11-29T18:04:02Z","call_id":"t","attempt":2,"exception":"ECONNRESET","duration_ms":900}
{"ts":"2026-11-29T18:04:05Z","call_id":"t","attempt":3,"outcome":"ok","duration_ms":900,"cost_usd":0.5}
"#;
    std::fs::write(folder.path().join("log.jsonl"), sample + without_status).unwrap();
    run_in(folder.path(), &["analyze", "--no-config", "log.jsonl", "--output", "csv=tables"]);
    let (_, log) = analyzed(folder.path(), &["log.jsonl"]);
    let (_, table) = analyzed(folder.path(), &["tables/attempts.csv"]);
    for key in ["calls", "calls_failed", "runs", "sends", "retries", "tokens", "usd"] {
        assert_eq!(table["totals"][key], log["totals"][key], "{key}");
    }
    assert_eq!(table["classes"], log["classes"]);
    assert_eq!(table["inputs"][0]["format"], "csv");
}

#[test]
fn binary_files_are_refused_and_everything_else_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let line = r#"{"ts":"2026-03-04T05:06:07Z","call_id":"c","attempt":1,"status":529}"#;
    let elf = [&b"\x7fELF\x02\x01\x01\0\0\0"[..], line.as_bytes(), b"\n\0\0\x01"].concat();
    let other = [b"\x01\0\0", line.as_bytes(), b"\0\n\0\x02"].concat();
    let bytes = (0..5000_u32).map(|n| (n * 7 % 251) as u8).collect();
    for (name, bytes) in [("program", &elf), ("data.bin", &other), ("binary.dat", &bytes)] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let ran = run_in(folder.path(), &["analyze", "--no-config", name]);
        assert_eq!((ran.code, ran.stdout.as_str()), (74, ""), "{ran:#?}");
        assert!(ran.stderr.contains(&format!("cannot read {name}: it is no log: ")), "{ran:#?}");
        std::fs::write(folder.path().join("log.jsonl"), log(true)).unwrap();
        let ran = run_in(folder.path(), &["analyze", "--no-config", "--format", "json", "log.jsonl", name]);
        assert_eq!((ran.code, ran.json()["totals"]["sends"].clone()), (74, json!(3)), "{ran:#?}");
        assert!(ran.stderr.contains(name), "{ran:#?}");
    }
    // A log that was rotated under its writer begins with a hole.
    std::fs::write(folder.path().join("log.jsonl"), ["\0".repeat(5000), log(true)].concat()).unwrap();
    assert_eq!(analyzed(folder.path(), &["log.jsonl"]).1["totals"]["sends"], 3);
}

#[test]
fn tar_archives_are_refused_plain_and_packed() {
    let folder = tempfile::tempdir().unwrap();
    let mut tar = [&b"log.jsonl"[..], &[0; 248], b"ustar  \0"].concat();
    tar.resize(512, 0);
    tar.extend(log(true).repeat(30).bytes());
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packer, &tar).unwrap();
    for (name, bytes) in [("logs.tar", tar), ("logs.tar.gz", packer.finish().unwrap())] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        for arguments in [&["analyze", "--no-config", name][..], &["trace", "req_1", name], &["convert", name]] {
            let ran = run_in(folder.path(), arguments);
            assert_eq!((ran.code, ran.stdout.as_str()), (74, ""), "{ran:#?}");
            assert!(ran.stderr.contains("it is no log: a tar archive"), "{ran:#?}");
        }
    }
}

#[test]
fn the_same_log_twice_counts_once_and_is_said_where_no_id_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("log.jsonl"), log(false)).unwrap();
    let converted = run_in(folder.path(), &["convert", "--no-config", "log.jsonl"]).stdout;
    std::fs::write(path("converted.jsonl"), converted).unwrap();
    let packed = zstd::encode_all(log(false).as_bytes(), 3).unwrap();
    std::fs::write(path("log.jsonl.zst"), packed).unwrap();
    let csv = "ts,model,provider,status,duration_ms\n2026-03-04T05:06:12.107Z,m,p,429,701\n\
               2026-03-04T05:06:14.207Z,m,p,200,702\n2026-03-04T05:06:16.307Z,m,p,200,703\n";
    std::fs::write(path("other.csv"), csv).unwrap();
    let told = |first: &str, copy: &str| format!("{first} and {copy} hold the same 3 attempts");
    for (first, copy) in [("log.jsonl", "log.jsonl.zst"), ("log.jsonl", "other.csv"), ("converted.jsonl", "log.jsonl")]
    {
        let (_, report) = analyzed(folder.path(), &[copy, first]);
        assert!(notices(&report).contains(&told(first, copy)), "{}", notices(&report));
        assert!(notices(&report).contains("counted once"), "{}", notices(&report));
        let ledger = &report["ledger"];
        let copies = ["duplicates", "views"].map(|key| ledger[key].as_u64().unwrap()).iter().sum::<u64>();
        assert_eq!((&ledger["attempts"], copies), (&3.into(), 3), "every line is accounted for: {report:#}");
    }
    std::fs::write(path("other.jsonl"), log(false).replace("\"status\":429", "\"status\":529")).unwrap();
    std::fs::write(path("one.jsonl"), log(false).lines().next().unwrap()).unwrap();
    for other in ["other.jsonl", "one.jsonl"] {
        let (_, report) = analyzed(folder.path(), &["log.jsonl", other]);
        assert!(!notices(&report).contains("hold the same"), "{}", notices(&report));
    }
}
