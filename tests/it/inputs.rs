//! One scenario in every format and in every envelope: told without a flag, judged alike.

use crate::common::{self, Ran, run_in};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn analyze(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["analyze", "--no-config", "--complete"], arguments].concat())
}

/// Every fixture: the folder is named after its format.
fn fixtures() -> Vec<(String, PathBuf)> {
    let mut all = Vec::new();
    for folder in std::fs::read_dir(common::repo("tests/formats")).unwrap() {
        let folder = folder.unwrap().path();
        let format = folder.file_name().unwrap().to_string_lossy().into_owned();
        all.extend(std::fs::read_dir(&folder).unwrap().map(|file| (format.clone(), file.unwrap().path())));
    }
    all.sort();
    all
}

/// The fixtures that hold the scenario: 27 attempts of 23 calls, of which one fails on a spend cap that is retried.
fn scenarios() -> Vec<(String, PathBuf)> {
    let known = ["native", "logfmt", "csv"];
    fixtures().into_iter().filter(|(format, _)| known.contains(&format.as_str())).collect()
}

fn facts(report: &Value) -> ([u64; 3], bool) {
    let totals = &report["totals"];
    let attempts = totals.get("attempts").unwrap_or(&totals["sends"]);
    let counts = [attempts, &totals["calls"], &totals["calls_failed"]].map(|count| count.as_u64().unwrap());
    (counts, report["findings"].as_array().unwrap().iter().any(|finding| finding["rule"] == "RL101"))
}

#[test]
fn one_scenario_reads_alike_in_every_format_and_envelope() {
    for (format, path) in scenarios() {
        let ran = analyze(path.parent().unwrap(), &[path.file_name().unwrap().to_str().unwrap(), "--format", "json"]);
        let (report, name) = (ran.json(), path.display());
        assert_eq!(report["inputs"][0]["format"], format.as_str(), "{name}");
        assert_eq!(facts(&report), ([27, 23, 1], true), "{name}: {}", report["inputs"]);
        let ledger = &report["ledger"];
        let of = |what: &str| ledger[what].as_u64().unwrap();
        let told = of("attempts")
            + of("duplicates")
            + of("views")
            + of("filtered")
            + of("skipped")
            + of("rejected")
            + of("blank");
        assert_eq!(of("lines"), told, "{name}: {ledger}");
        assert_eq!(of("rejected"), 0, "{name}: {ledger}");
    }
}

#[test]
fn bounded_memory_packing_and_windows_change_nothing() {
    for (_, path) in scenarios() {
        let folder = tempfile::tempdir().unwrap();
        let text = std::fs::read(&path).unwrap();
        let file = std::fs::File::create(folder.path().join("log.gz")).unwrap();
        let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        std::io::Write::write_all(&mut packed, &text).unwrap();
        packed.finish().unwrap();
        std::fs::write(folder.path().join("log"), &text).unwrap();
        for arguments in [&["log", "--memory", "bounded"][..], &["log.gz"], &["log.gz", "--memory", "bounded"]] {
            let ran = analyze(folder.path(), &[arguments, &["--format", "json"]].concat());
            assert_eq!(facts(&ran.json()), ([27, 23, 1], true), "{} {arguments:?}", path.display());
        }
    }
}

#[test]
fn lines_stay_those_of_the_file() {
    for (name, line) in [("docker.log", 5), ("array_pretty.json", 50), ("cri.log", 5), ("syslog.log", 5)] {
        let path = common::repo("tests/formats/native").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let ran = analyze(path.parent().unwrap(), &[name, "--format", "json"]);
        let report = ran.json();
        let finding = report["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "RL101");
        let shown = finding.unwrap().to_string();
        assert!(shown.contains(&format!("\"line\":{line}")), "{name}: {shown}");
        let at = text.lines().nth(line - 1).unwrap();
        assert!(at.contains("c3") || at.trim() == "{", "{name}: {at}");
    }
}

#[test]
fn a_time_that_only_the_envelope_has_is_the_end_of_the_attempt() {
    let path = common::repo("tests/formats/native/syslog.log");
    let ran = analyze(path.parent().unwrap(), &["syslog.log", "--format", "json"]);
    let report = ran.json();
    assert_eq!(report["inputs"][0]["envelope"], "syslog (RFC 5424)");
    assert!(
        report["period"].to_string().contains("2026-11-29T09:59:59.200Z")
            || report.to_string().contains("09:59:59.200Z")
    );
}

#[test]
fn a_format_that_is_named_reads_every_input_or_says_where_it_does_not_fit() {
    let folder = common::repo("tests/formats");
    let named = analyze(&folder, &["logfmt/attempts.log", "--input-format", "logfmt", "--format", "json", "-v"]);
    assert_eq!(facts(&named.json()), ([27, 23, 1], true));
    assert!(named.stderr.contains("logfmt/attempts.log: plain; logfmt: named by --input-format"), "{}", named.stderr);
    let misfit = analyze(&folder, &["native/array_pretty.json", "--input-format", "logfmt"]);
    assert_eq!(misfit.code, 3, "{misfit:?}");
    assert!(misfit.stderr.contains("--input-format logfmt: line 2 does not fit"), "{}", misfit.stderr);
    let unknown = analyze(&folder, &["logfmt/attempts.log", "--input-format", "log"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("there are"), "{}", unknown.stderr);
}

#[test]
fn what_is_read_is_listed() {
    let ran = run_in(&common::repo(""), &["formats"]);
    for name in ["native", "logfmt", "csv", "docker json-file", "CRI"] {
        assert!(ran.stdout.contains(name), "{name}: {}", ran.stdout);
    }
    let json = run_in(&common::repo(""), &["formats", "--format", "json"]).json();
    let mut folders: Vec<String> = fixtures().into_iter().map(|(format, _)| format).collect();
    folders.dedup();
    let formats = json["formats"].as_array().unwrap();
    let page = std::fs::read_to_string(common::repo("docs/formats.md")).unwrap();
    for described in formats.iter().chain(json["envelopes"].as_array().unwrap()) {
        let name = described["name"].as_str().unwrap();
        assert!(page.contains(name), "docs/formats.md does not name {name}");
    }
    for format in formats {
        let name = format["name"].as_str().unwrap();
        assert!(folders.iter().any(|folder| folder == name), "{name} has no fixture under tests/formats");
    }
}

/// A line of a logger, by its time in ms and its message.
type Spelling<'s> = &'s dyn Fn(i64, &str) -> Value;

/// Loggers that write JSON around the lines of an SDK.
#[test]
fn text_under_a_message_is_read() {
    let url = "https://api.anthropic.com/v1/messages";
    let answer = |status: &str| format!("HTTP Request: POST {url} \"HTTP/1.1 {status}\"");
    let lines = [
        (250, answer("529 ")),
        (251, "Retrying request to /v1/messages in 0.480000 seconds".to_owned()),
        (990, answer("200 OK") + "\nand a second line"),
    ];
    let at = |ms: i64| format!("2026-03-02T07:00:01.{ms:03}Z");
    let epoch = |ms: i64| 1_772_434_801_000 + ms;
    let spelled: [Spelling<'_>; 5] = [
        &|ms, text| serde_json::json!({"event": text, "level": "info", "timestamp": at(ms), "logger": "httpx"}),
        &|ms, text| serde_json::json!({"message": text, "levelname": "INFO", "asctime": at(ms).replace('.', ",")}),
        &|ms, text| serde_json::json!({"level": 30, "time": epoch(ms), "msg": text}),
        &|ms, text| serde_json::json!({"textPayload": text, "timestamp": at(ms), "severity": "INFO"}),
        &|ms, text| {
            let time = serde_json::json!({"repr": at(ms), "timestamp": epoch(ms) as f64 / 1e3});
            serde_json::json!({"text": "x", "record": {"message": text, "time": time}})
        },
    ];
    for spell in spelled {
        let folder = tempfile::tempdir().unwrap();
        let log: String = lines.iter().map(|(ms, text)| format!("{}\n", spell(*ms, text))).collect();
        std::fs::write(folder.path().join("log"), &log).unwrap();
        let report = analyze(folder.path(), &["log", "--format", "json"]).json();
        assert_eq!(report["inputs"][0]["envelope"], "text in a message", "{log}");
        assert_eq!(facts(&report), ([2, 1, 0], false), "{log}");
        let ledger = &report["ledger"];
        let of = |what: &str| ledger[what].as_u64().unwrap();
        assert_eq!(of("lines"), of("attempts") + of("skipped") + of("blank") + of("rejected"), "{log}");
        assert_eq!(report["window"]["first"], "2026-03-02T07:00:01.250Z", "{log}");
    }
}

/// What `--output csv` writes gives the same calls and the same findings again.
#[test]
fn tables_are_read_back() {
    for sample in ["spend-cap-retried", "two-loops-4x3", "hint-of-90s-discarded"] {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("{sample}.jsonl");
        std::fs::copy(common::repo("samples").join(&name), folder.path().join(&name)).unwrap();
        let first = analyze(folder.path(), &[&name, "--format", "json", "--output", "csv=tables"]).json();
        let again = analyze(folder.path(), &["tables/attempts.csv", "--format", "json"]).json();
        let facts = |report: &Value| {
            let rules: Vec<Value> =
                report["problems"].as_array().unwrap().iter().map(|one| one["rule"].clone()).collect();
            (self::facts(report), rules)
        };
        assert_eq!(facts(&first), facts(&again), "{sample}");
    }
}

#[test]
fn an_id_is_found_in_every_format_and_envelope_on_the_line_of_the_file() {
    for (_, path) in scenarios() {
        let (folder, file) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
        let analysis = analyze(folder, &[file, "--format", "json"]).json();
        let finding =
            analysis["findings"].as_array().unwrap().iter().find(|finding| finding["rule"] == "RL101").cloned();
        let analysed: Vec<Value> = finding.unwrap()["attempts"].as_array().unwrap().clone();
        let folder_of_pack = tempfile::tempdir().unwrap();
        let packed = zstd::encode_all(std::fs::File::open(&path).unwrap(), 1).unwrap();
        std::fs::write(folder_of_pack.path().join(file), packed).unwrap();
        for folder in [folder, folder_of_pack.path()] {
            let ran = run_in(folder, &["trace", "req_0006abc", file, "--no-config", "--format", "json"]);
            let trace = ran.json();
            let sends = trace["traces"][0]["calls"][0]["sends"].as_array().unwrap();
            let of =
                |sighting: &Value| (sighting["request_id"].clone(), sighting["line"].clone(), sighting["ts"].clone());
            let traced: Vec<_> = sends.iter().map(of).collect();
            assert_eq!(traced, analysed.iter().map(of).collect::<Vec<_>>(), "{}", path.display());
        }
    }
}

/// Formats whose fixtures name nothing: no request, no call, no run.
const NAMELESS: [&str; 3] = ["copilot-events", "llmock", "own-lines"];

#[test]
fn trace_finds_an_id_of_every_fixture() {
    use rayon::prelude::*;
    let found: std::collections::BTreeSet<String> = fixtures()
        .par_iter()
        .filter_map(|(format, path)| {
            let (folder, file) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
            let converted = run_in(folder, &["convert", "--no-config", "--quiet", "--max-rejected", "100", file]);
            let lines = converted.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let mut ids = lines.filter_map(|line| {
                let mut ids = ["request_id", "call_id", "run_id"].iter().filter_map(|key| line[key].as_str());
                ids.find(|id| id.len() >= 3).map(str::to_owned)
            });
            let id = ids.next()?;
            let ran = run_in(folder, &["trace", "--no-config", "--format", "json", "--id", &id, file]);
            assert!(ran.code <= 1, "{}: {id}: {ran:?}", path.display());
            let trace = ran.json();
            let sends = trace["traces"][0]["calls"][0]["sends"].as_array().unwrap();
            assert!(!sends.is_empty(), "{}: {id}: {trace}", path.display());
            Some(format.clone())
        })
        .collect();
    for (format, _) in fixtures() {
        assert!(
            found.contains(&format) || NAMELESS.contains(&format.as_str()),
            "no id of tests/formats/{format} was looked for: give its log an id of 3 letters or more, or add it to NAMELESS"
        );
    }
}
