//! What is read from logs and traces of coding agents: every attempt of each fixture, and on which line it stands.

use crate::common::{self, run_in};
use retrylens::ingest::{self, Ingested, Source};
use std::path::{Path, PathBuf};

/// Folders of fixtures whose attempts are listed here.
const FORMATS: [&str; 7] =
    ["claude-code", "claude-debug", "claude-stream-json", "copilot-events", "otel-js-console", "otlp", "qwen-code"];

/// Every fixture, with the name of its format.
fn fixtures() -> Vec<(&'static str, PathBuf)> {
    let mut all = Vec::new();
    for format in FORMATS {
        let folder = std::fs::read_dir(common::repo("tests/formats").join(format)).unwrap();
        all.extend(folder.map(|file| (format, file.unwrap().path())));
    }
    all.sort();
    all
}

fn read(path: &Path, options: &ingest::Options) -> Ingested {
    ingest::read(&[Source::File(path.to_owned())], options, &|_| {}).unwrap()
}

/// One line an attempt, in the order of time.
fn attempts(ingested: &Ingested) -> Vec<String> {
    let table = &ingested.table;
    let mut rows: Vec<_> = table.rows.iter().collect();
    rows.sort_by_key(|row| (row.sent, row.file, row.line));
    let list = |row: &&retrylens::model::Attempt| {
        let detail = table.detail(row);
        let name = |symbol| table.names.get(symbol).unwrap_or("-").to_owned();
        let resends = detail.map_or(0, |detail| detail.resends);
        let us = |us: Option<i64>| us.map_or("-".to_owned(), |us| format!("{}", us / 1000));
        let number = if row.number == 0 { "-".to_owned() } else { row.number.to_string() };
        format!(
            "line {} {} run {} call {} attempt {number} status {} {} {} request {} took {} planned {} hint {}{}",
            table.line(row),
            row.sent.utc().format("%m-%d %H:%M:%S%.3f"),
            name(row.run),
            table.call_id(row).unwrap_or("-"),
            row.status,
            row.class.map_or("ok", |class| class.name()),
            name(table.origin(row).model),
            table.request_id(row).unwrap_or("-"),
            us(row.duration.as_us()),
            us(detail.and_then(|detail| detail.planned_us)),
            us(detail.and_then(|detail| detail.hint_us)),
            if resends > 0 { format!(" resends {resends}") } else { String::new() },
        )
    };
    rows.iter().map(list).collect()
}

#[test]
fn every_attempt_of_each_fixture() {
    let options = ingest::Options { keep_ids: true, ..ingest::Options::default() };
    for (format, path) in fixtures() {
        let ingested = read(&path, &options);
        assert_eq!(ingested.inputs[0].format, format, "{}", path.display());
        let name = format!("{format}_{}", path.file_stem().unwrap().to_string_lossy());
        insta::assert_snapshot!(name, attempts(&ingested).join("\n"));
    }
}

/// Every line is accounted for, whatever the input is packed in and however much of it is held in memory.
#[test]
fn packing_and_bounded_memory_change_nothing() {
    for (_, path) in fixtures() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(&path, folder.path().join("log")).unwrap();
        let packed = zstd::encode_all(std::fs::File::open(&path).unwrap(), 1).unwrap();
        std::fs::write(folder.path().join("log.zst"), packed).unwrap();
        let facts = |arguments: &[&str]| {
            let ran = run_in(
                folder.path(),
                &[&["analyze", "--no-config", "--complete", "--format", "json"], arguments].concat(),
            );
            let report = ran.json();
            let of = |what: &str| report["ledger"][what].as_u64().unwrap();
            let told = of("attempts")
                + of("duplicates")
                + of("views")
                + of("filtered")
                + of("skipped")
                + of("rejected")
                + of("blank");
            assert_eq!((of("lines"), of("rejected")), (told, 0), "{} {arguments:?}", path.display());
            (report["totals"].clone(), report["problems"].clone())
        };
        let plain = facts(&["log"]);
        for arguments in [&["log", "--memory", "bounded"][..], &["log.zst"], &["log.zst", "--memory", "bounded"]] {
            let other = facts(arguments);
            assert_eq!(plain.0["calls"], other.0["calls"], "{} {arguments:?}", path.display());
            assert_eq!(plain.1.as_array().unwrap().len(), other.1.as_array().unwrap().len(), "{}", path.display());
        }
    }
}

/// Log lines of any program may quote a line of these formats: they are no such log.
#[test]
fn a_line_that_is_quoted_makes_no_format() {
    let own = r#"{"ts":"2026-10-01T10:00:00Z","call_id":"c","attempt":1,"status":200,"model":"m","note":"NOTE"}"#;
    for (format, path) in fixtures() {
        let text = std::fs::read_to_string(&path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let quote = |line: &str| own.replace("NOTE", &line.replace('\\', "\\\\").replace('"', "\\\""));
        let log: String = text.lines().take(60).map(|line| quote(line) + "\n").collect();
        let log_path = folder.path().join("log.jsonl");
        std::fs::write(&log_path, log).unwrap();
        let ingested = read(&log_path, &ingest::Options::default());
        assert_eq!(ingested.inputs[0].format, "native", "{format} {}", path.display());
    }
}

/// What breaks off, or is not what it seems, is told: nothing panics.
#[test]
fn hostile_input_is_told() {
    for (_, path) in fixtures() {
        let text = std::fs::read(&path).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        for step in [7, 61, 353] {
            for cut in (1..text.len()).step_by(text.len() / 12 + step) {
                std::fs::write(&log, &text[..cut]).unwrap();
                read(&log, &ingest::Options::default());
                let odd: Vec<u8> = text.iter().map(|byte| if *byte == b'5' { b'-' } else { *byte }).collect();
                std::fs::write(&log, &odd[..cut]).unwrap();
                read(&log, &ingest::Options::default());
            }
        }
    }
}
