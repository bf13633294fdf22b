//! Packed logs, and formats whose lines depend on those before, in partials and in a state.

use super::{assert_equal, judged, run};
use crate::common::{repo, run_in};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;

/// Logs whose lines depend on those before.
const ORDERED: [&str; 4] = ["python-sdk/info.log", "node-sdk/debug.log", "litellm-log/proxy.log", "csv/attempts.csv"];

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(text, 3).unwrap()
}

/// One native attempt a line, every fourth a retry.
fn lines(numbers: std::ops::Range<usize>) -> String {
    let line = |nth: usize| {
        let (call, attempt) = (nth / 4 * 4 + nth % 4 / 2, 1 + nth % 4 % 2);
        let status = if nth % 4 == 0 { 529 } else { 200 };
        format!(
            "{{\"ts\":\"2026-01-05T10:{:02}:{:02}Z\",\"run_id\":\"r\",\"call_id\":\"c-{call}\",\"attempt\":{attempt},\"status\":{status}}}\n",
            nth / 60 % 60,
            nth % 60
        )
    };
    numbers.map(line).collect()
}

fn merged(folder: &Path, logs: &[String]) -> Vec<String> {
    let partial = |log: &String| {
        let partial = format!("{}.rlp", log.replace('/', "-"));
        run(folder, &["analyze", log, "--partial", &partial]);
        partial
    };
    logs.iter().map(partial).collect()
}

#[test]
fn packed_logs_merge_to_the_report_of_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [lines(0..41), lines(41..97), lines(97..120)];
    let stored = [("a.jsonl", texts[0].clone().into()), ("b.jsonl.gz", gzip(texts[1].as_bytes()))];
    for (name, bytes) in stored.into_iter().chain([("c.jsonl.zst", zstd(texts[2].as_bytes()))]) {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let logs = ["a.jsonl", "b.jsonl.gz", "c.jsonl.zst"].map(str::to_owned);
    let whole = judged(folder.path(), "analyze", &logs);
    let partials = merged(folder.path(), &logs);
    assert_equal(&whole, &judged(folder.path(), "merge", &partials), "packed");
}

#[test]
fn an_archive_is_named_and_counts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), lines(0..8)).unwrap();
    let mut header = vec![0_u8; 512];
    header[..7].copy_from_slice(b"a.jsonl");
    header[257..262].copy_from_slice(b"ustar");
    let archive = [header, lines(0..8).into()].concat();
    std::fs::write(folder.path().join("b.tar"), &archive).unwrap();
    std::fs::write(folder.path().join("c.tar.gz"), gzip(&archive)).unwrap();
    for how in [["--partial", "all.rlp"], ["--state", "state"]] {
        let arguments = [&["analyze", "a.jsonl", "b.tar", "c.tar.gz", "--format", "json"][..], &how].concat();
        let ran = run_in(folder.path(), &arguments);
        assert_eq!(ran.code, 74, "{ran:#?}");
        assert!(ran.stderr.contains("b.tar") && ran.stderr.contains("c.tar.gz"), "{ran:#?}");
        assert_eq!(ran.json()["totals"]["sends"], 8, "{how:?}");
    }
}

#[test]
fn ordered_logs_that_grow_are_read_anew_by_a_state() {
    for name in ORDERED {
        let folder = tempfile::tempdir().unwrap();
        let log = std::fs::read(repo("tests/formats").join(name)).unwrap();
        let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
        let file = Path::new(name).file_name().unwrap().to_str().unwrap();
        let packed = format!("{file}.gz");
        let mut reports = 0;
        for step in 1..=3 {
            let text = lines[..lines.len() * step / 3].concat();
            std::fs::write(folder.path().join(file), &text).unwrap();
            std::fs::write(folder.path().join(&packed), gzip(&text)).unwrap();
            for log in [file, &packed] {
                let state = ["--state", if log == file { "plain" } else { "packed" }];
                let arguments = ["analyze", log, "--format", "json"];
                let (state, whole) =
                    (run_in(folder.path(), &[&arguments[..], &state].concat()), run_in(folder.path(), &arguments));
                assert_eq!((state.code, &state.stdout), (whole.code, &whole.stdout), "{name}, {log}, step {step}");
                reports += usize::from(!whole.stdout.is_empty());
            }
        }
        assert!(reports >= 2, "{name}");
    }
}

#[test]
fn a_packed_log_goes_on_where_the_state_has_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let read = || {
        let (arguments, state) = (["analyze", "logs", "--format", "json"], ["--state", "state"]);
        (run(folder.path(), &[&arguments[..], &state].concat()), run(folder.path(), &arguments))
    };
    let path = |name: &str| folder.path().join("logs").join(name);
    std::fs::create_dir(folder.path().join("logs")).unwrap();
    std::fs::write(path("app.jsonl"), lines(0..60)).unwrap();
    read();
    // It grows once more before it is packed; then another one begins.
    std::fs::remove_file(path("app.jsonl")).unwrap();
    std::fs::write(path("app.jsonl.1.zst"), zstd(lines(0..80).as_bytes())).unwrap();
    std::fs::write(path("app.jsonl"), lines(80..99)).unwrap();
    let (state, whole) = read();
    assert_eq!(state.stdout, whole.stdout);
    assert_eq!(state.json()["ledger"]["lines"], 99);
}
