//! `analyze --follow`: what grows is read on, and the end is what `analyze` says of the whole.

use crate::common::{self, complete, logs_in, read, report_of, run_in};
use retrylens::ingest::{self, Following, Growth, Source};
use retrylens::render::json;
use retrylens::report::Report;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

fn bytes(report: &Report) -> String {
    let mut out = Vec::new();
    json::render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn grow(path: &Path, text: &[u8]) {
    File::options().append(true).create(true).open(path).unwrap().write_all(text).unwrap();
}

/// Feeds logs to a folder by turns, a part of each at a time, and follows them: their report, and that of the whole.
/// `None` where they cannot be followed.
fn followed(logs: &[PathBuf], parts: usize) -> Option<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let copies: Vec<PathBuf> = logs.iter().map(|log| folder.path().join(log.file_name().unwrap())).collect();
    copies.iter().for_each(|copy| grow(copy, b""));
    let texts: Vec<Vec<u8>> = logs.iter().map(|log| std::fs::read(log).unwrap()).collect();
    let sources: Vec<Source> = copies.iter().cloned().map(Source::File).collect();
    let start = || Following::new(&sources, &ingest::Options::default()).unwrap();
    let mut following = start()?;
    for part in 0..parts {
        for (copy, text) in copies.iter().zip(&texts) {
            grow(copy, &text[text.len() * part / parts..text.len() * (part + 1) / parts]);
        }
        let to_end = part + 1 == parts;
        while following.read_on(to_end, &|_| {}).unwrap() == Growth::Replaced {
            following = start()?;
        }
        // A look at what is there so far changes nothing.
        let so_far = following.so_far().unwrap();
        if !so_far.table.rows.is_empty() {
            report_of(so_far, &complete());
        }
    }
    let end = bytes(&report_of(&following.finish().unwrap(), &complete()));
    Some((end, bytes(&report_of(&read(&copies), &complete()))))
}

#[test]
fn logs_read_bit_by_bit_give_the_report_of_the_whole() {
    let folders = ["samples", "tests/captures", "tests/cases", "tests/loggers", "tests/odd"];
    let (mut equal, mut not_followed) = (0, 0);
    let mut check = |logs: &[PathBuf], parts: usize| match followed(logs, parts) {
        Some((end, whole)) => {
            assert!(end == whole, "{logs:?} in {parts} parts:\n{end}\n\n{whole}");
            equal += 1;
        }
        None => not_followed += 1,
    };
    for folder in folders {
        logs_in(folder).iter().for_each(|log| check(std::slice::from_ref(log), 3));
        check(&logs_in(folder), 7);
    }
    assert!(equal > 60 && not_followed < equal, "{equal} equal, {not_followed} could not be followed");
}

struct Followed {
    child: Child,
    said: BufReader<ChildStderr>,
}

impl Followed {
    fn start(folder: &Path, arguments: &[&str]) -> Followed {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("retrylens"))
            .args(["analyze", "--follow=0.1"])
            .args(arguments)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let said = BufReader::new(child.stderr.take().unwrap());
        Followed { child, said }
    }

    /// Reads what it says up to a line that holds `text`.
    #[track_caller]
    fn says(&mut self, text: &str) {
        let mut all = String::new();
        loop {
            let from = all.len();
            assert!(self.said.read_line(&mut all).unwrap() > 0, "it never said {text}: {all}");
            if all[from..].contains(text) {
                return;
            }
        }
    }

    /// Interrupts it: its exit code and what it printed.
    fn end(self) -> (Option<i32>, String) {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().expect("`kill`");
        assert!(sent.success());
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }
}

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(common::repo(&format!("samples/{name}.jsonl"))).unwrap()
}

#[test]
fn findings_are_told_while_the_log_grows_and_the_end_is_that_of_analyze() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("logs/a.jsonl");
    std::fs::create_dir(folder.path().join("logs")).unwrap();
    let rest = ["--complete", "--output", "json=report.json", "--output", "html=page.html", "logs"];
    let mut program = Followed::start(folder.path(), &rest);
    program.says("waiting");
    let text = sample("spend-cap-retried");
    // A line that is not whole is left for later.
    grow(&log, &text[..text.len() - 30]);
    program.says("error RL101 spend-cap-retried, anthropic");
    grow(&log, &text[text.len() - 30..]);
    let first: Value = serde_json::from_slice(&std::fs::read(folder.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(first["totals"]["calls"], 1);
    // Another log in the folder is taken in too.
    grow(&folder.path().join("logs/b.jsonl"), &sample("openai-quota-retried"));
    program.says("error RL107");
    let (code, printed) = program.end();
    let whole = run_in(
        folder.path(),
        &["analyze", "--complete", "--output", "json=whole.json", "--output", "html=whole.html", "logs"],
    );
    assert_eq!((code, printed), (Some(1), whole.stdout), "the end is what analyze says");
    for (followed, whole) in [("report.json", "whole.json"), ("page.html", "whole.html")] {
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(read(followed) == read(whole), "{followed}");
    }
}

#[test]
fn a_report_is_never_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let (log, report) = (folder.path().join("a.jsonl"), folder.path().join("report.json"));
    grow(&log, &sample("spend-cap-retried"));
    let mut program = Followed::start(folder.path(), &["--output", "json=report.json", "a.jsonl"]);
    program.says("RL101");
    let text = sample("headroom-drain");
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        grow(&log, line);
        let read = std::fs::read(&report).unwrap();
        assert!(serde_json::from_slice::<Value>(&read).is_ok(), "{} bytes are no JSON", read.len());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(program.end().0, Some(1));
}

#[test]
fn a_rotated_log_and_one_that_is_read_from_its_front() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("a.jsonl");
    grow(&log, &sample("spend-cap-retried"));
    // A table: its lines mean nothing without the first.
    let table = folder.path().join("b.csv");
    let mut program = Followed::start(folder.path(), &["--format", "json", "a.jsonl"]);
    program.says("RL101");
    std::fs::rename(&log, folder.path().join("a.old")).unwrap();
    grow(&log, &sample("openai-quota-retried"));
    program.says("replaced");
    program.says("RL107");
    let (code, printed) = program.end();
    assert_eq!((code, printed), (Some(1), run_in(folder.path(), &["analyze", "--format", "json", "a.jsonl"]).stdout));

    grow(&table, b"ts,call_id,attempt,status,error_type\n2026-01-05T10:00:00Z,c,1,401,authentication_error\n");
    let mut program = Followed::start(folder.path(), &["--complete", "b.csv"]);
    let begun = Instant::now();
    grow(&table, b"2026-01-05T10:00:01Z,c,2,401,authentication_error\n");
    program.says("RL106");
    assert!(begun.elapsed() < Duration::from_secs(60));
    let (code, printed) = program.end();
    assert_eq!((code, printed), (Some(1), run_in(folder.path(), &["analyze", "--complete", "b.csv"]).stdout));
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let refused = run_in(&common::repo(""), &["analyze", "--follow", "-"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("standard input"), "{}", refused.stderr);
    let refused = run_in(&common::repo(""), &["analyze", "--follow=0", "samples"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("between 0.1 and 3600"), "{}", refused.stderr);
}

#[test]
fn the_end_of_a_log_without_attempts_says_what_was_read() {
    let folder = tempfile::tempdir().unwrap();
    grow(&folder.path().join("words.log"), b"starting\n");
    let mut program = Followed::start(folder.path(), &["words.log"]);
    program.says("waiting");
    assert!(Command::new("kill").args(["-INT", &program.child.id().to_string()]).status().unwrap().success());
    program.says("1 skipped as no attempts, 0 unreadable, 0 blank. An attempt is a record");
    assert_eq!(program.child.wait().unwrap().code(), Some(3));
}
