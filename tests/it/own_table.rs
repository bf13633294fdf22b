//! The table of attempts as Parquet, read back as a log.

use crate::common::{self, Ran, repo, run_in};
use retrylens::ingest::{self, Source};
use serde_json::Value;
use std::path::Path;

/// Writes the tables of a log as CSV and as Parquet, and returns its report.
fn written(folder: &Path, sample: &str) -> Value {
    std::fs::copy(repo("samples").join(sample), folder.join("log.jsonl")).unwrap();
    analyze(folder, &["log.jsonl", "--output", "csv=tables", "--output", "parquet=tables"]).json()
}

fn analyze(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["analyze", "--no-config", "--complete", "--format", "json"], arguments].concat())
}

/// What a report holds of calls, attempts, failures and findings; `paths` and line numbers left out.
fn judged(report: &Value) -> Value {
    let told: Vec<Value> = ["rule", "severity", "confidence", "message", "run_id", "call_id", "cost"]
        .iter()
        .map(|key| report["findings"].as_array().unwrap().iter().map(|finding| finding[*key].clone()).collect())
        .collect();
    serde_json::json!([report["totals"], report["classes"], report["recovery"], report["runs"], report["window"], told])
}

#[test]
fn parquet_is_read_back_as_csv_is() {
    for sample in common::samples() {
        let sample = sample.file_name().unwrap().to_str().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let log = written(folder.path(), sample);
        let parquet = analyze(folder.path(), &["tables/attempts.parquet"]).json();
        let csv = analyze(folder.path(), &["tables/attempts.csv"]).json();
        assert_eq!(judged(&parquet), judged(&csv), "{sample}");
        for key in ["calls", "calls_failed", "runs", "sends", "retries", "tokens", "usd"] {
            assert_eq!(parquet["totals"][key], log["totals"][key], "{sample}: {key}");
        }
        for key in ["classes", "window", "layers", "recovery"] {
            assert_eq!(parquet[key], log[key], "{sample}: {key}");
        }
        assert_eq!(parquet["ledger"]["lines"], log["ledger"]["attempts"], "{sample}");
    }
}

#[test]
fn rows_are_numbered_and_ids_are_found_in_them() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "spend-cap-retried.jsonl");
    let traced = |file: &str| {
        let ran = run_in(folder.path(), &["trace", "--no-config", "--format", "json", "req_011CstubprVFw", file]);
        let sends = ran.json()["traces"][0]["calls"][0]["sends"].clone();
        let of = |key: &str| -> Vec<Value> { sends.as_array().unwrap().iter().map(|send| send[key].clone()).collect() };
        (of("request_id"), of("class"), of("line"))
    };
    let (csv, parquet) = (traced("tables/attempts.csv"), traced("tables/attempts.parquet"));
    assert_eq!((&parquet.0, &parquet.1), (&csv.0, &csv.1));
    // The line of names is the first of the CSV.
    let rows: Vec<u64> = parquet.2.iter().map(|row| row.as_u64().unwrap() + 1).collect();
    assert_eq!(rows, csv.2.iter().map(|line| line.as_u64().unwrap()).collect::<Vec<u64>>());
}

#[test]
fn parquet_may_be_packed_or_piped() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "two-loops-4x3.jsonl");
    let expected = judged(&analyze(folder.path(), &["tables/attempts.parquet"]).json());
    let bytes = std::fs::read(folder.path().join("tables/attempts.parquet")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, &bytes).unwrap();
    std::fs::write(folder.path().join("a.gz"), gzip.finish().unwrap()).unwrap();
    std::fs::write(folder.path().join("a.zst"), zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
    for file in ["a.gz", "a.zst"] {
        assert_eq!(judged(&analyze(folder.path(), &[file]).json()), expected, "{file}");
    }
    let arguments = ["analyze", "--no-config", "--complete", "--format", "json", "-"];
    let ran = common::finish(common::program().args(arguments).write_stdin(bytes));
    assert_eq!(judged(&ran.json()), expected);
}

#[test]
fn other_tables_are_refused_by_the_columns_they_lack() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "two-loops-4x3.jsonl");
    for (table, lacks) in [("calls", "ts, class, bucket, cost_source"), ("findings", "ts, bucket, cost_source, call")] {
        let ran = analyze(folder.path(), &[&format!("tables/{table}.parquet")]);
        assert_eq!((ran.code, ran.stdout.as_str()), (74, ""), "{ran:#?}");
        let told = format!("it is a Parquet file without the columns {lacks}: of Parquet, only the table of attempts");
        assert!(ran.stderr.contains(&told), "{ran:#?}");
    }
}

#[test]
fn a_table_that_is_cut_off_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "two-loops-4x3.jsonl");
    let bytes = std::fs::read(folder.path().join("tables/attempts.parquet")).unwrap();
    for length in [4, 11, 12, 100, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(folder.path().join("cut.parquet"), &bytes[..length]).unwrap();
        let ran = analyze(folder.path(), &["cut.parquet"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (74, ""), "{length}: {ran:#?}");
        assert!(
            ran.stderr.contains("cannot read cut.parquet: it is a damaged Parquet file: it is cut off"),
            "{ran:#?}"
        );
    }
}

/// Damage anywhere leads to an error or to other rows, never to a panic.
#[test]
fn damage_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), "two-loops-4x3.jsonl");
    let bytes = std::fs::read(folder.path().join("tables/attempts.parquet")).unwrap();
    let path = folder.path().join("damaged.parquet");
    let (mut all, mut read_whole) = (0, 0);
    for (nth, at) in (4..bytes.len() - 4).step_by(17).enumerate() {
        let mut damaged = bytes.clone();
        damaged[at] = [0x00, 0x7f, 0xff, !damaged[at]][nth % 4];
        std::fs::write(&path, damaged).unwrap();
        let read = ingest::read(&[Source::File(path.clone())], &ingest::Options::default(), &|_| {});
        all += 1;
        read_whole += usize::from(read.is_ok_and(|read| read.inputs[0].failure.is_none()));
    }
    assert!(read_whole < all / 2, "{read_whole} of {all}");
}
