//! `--state`: files that grow, are rotated, copied and packed while the program is killed again and again lose nothing and
//! count nothing twice.

use super::{Dice, run};
use crate::common::{Ran, run_in};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const REPORT: [&str; 4] = ["analyze", "logs", "--format", "json"];

/// Logs in `logs/`, and what becomes of them.
struct Logs {
    folder: tempfile::TempDir,
    dice: Dice,
    written: usize,
    rotated: usize,
}

impl Logs {
    fn new(seed: u64) -> Logs {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        let mut logs = Logs { folder, dice: Dice(seed), written: 0, rotated: 0 };
        logs.write(5);
        logs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("logs").join(name)
    }

    /// Appends lines, each in two writes: a reader may see half of one.
    fn write(&mut self, lines: usize) {
        let mut file = File::options().append(true).create(true).open(self.path("app.jsonl")).unwrap();
        for _ in 0..lines {
            let nth = self.written;
            self.written += 1;
            let (status, error) =
                if nth.is_multiple_of(4) { (529, r#","error_type":"overloaded_error""#) } else { (200, "") };
            let text = format!(
                "{{\"ts\":\"2026-01-05T10:{:02}:{:02}Z\",\"run_id\":\"run-{}\",\"call_id\":\"c-{}\",\"attempt\":{},\
                 \"request_id\":\"req_{nth:030}\",\"model\":\"claude-5\",\"provider\":\"anthropic\",\"duration_ms\":812.5,\
                 \"status\":{status}{error}}}\n",
                nth / 60 % 60,
                nth % 60,
                nth % 3,
                nth / 2,
                nth % 2 + 1,
            );
            let half = self.dice.below(text.len());
            file.write_all(&text.as_bytes()[..half]).unwrap();
            file.write_all(&text.as_bytes()[half..]).unwrap();
        }
    }

    /// What a log rotation does: the log gets another name, or is copied and emptied; an older one is packed.
    fn rotate(&mut self) {
        let old = self.path(&format!("app.jsonl.{}", self.rotated));
        self.rotated += 1;
        let new = self.path(&format!("app.jsonl.{}", self.rotated));
        if self.dice.below(2) == 0 {
            std::fs::rename(self.path("app.jsonl"), new).unwrap();
        } else {
            std::fs::copy(self.path("app.jsonl"), new).unwrap();
            File::options().write(true).open(self.path("app.jsonl")).unwrap().set_len(0).unwrap();
        }
        self.write(3);
        if old.is_file() {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&std::fs::read(&old).unwrap()).unwrap();
            let half = self.path("being-packed");
            std::fs::write(&half, packed.finish().unwrap()).unwrap();
            std::fs::rename(half, old.with_extension(format!("{}.gz", self.rotated - 1))).unwrap();
            std::fs::remove_file(old).unwrap();
        }
    }

    fn change(&mut self) {
        let lines = self.dice.below(6);
        match self.dice.below(4) {
            0 => self.rotate(),
            _ => self.write(lines),
        }
    }

    /// Starts the program, changes the logs meanwhile, and kills it after a while.
    fn run_and_kill(&mut self) {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("retrylens"))
            .args(REPORT)
            .args(["--state", "state"])
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        for _ in 0..self.dice.below(4) {
            std::thread::sleep(Duration::from_micros(self.dice.below(8_000) as u64));
            self.change();
        }
        std::thread::sleep(Duration::from_micros(self.dice.below(20_000) as u64));
        // SIGKILL; it may have ended before.
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn with_state(&self) -> Ran {
        run(self.folder.path(), &[REPORT.as_slice(), &["--state", "state"]].concat())
    }

    /// Fails unless the state gives the report of all logs read at once.
    fn check(&self, what: &str) {
        let (state, whole) = (self.with_state(), run(self.folder.path(), &REPORT));
        assert_eq!(state.json()["ledger"]["lines"], self.written, "{what}: every line counts once");
        assert!(state.stdout == whole.stdout, "{what}:\n{}\n---\n{}", state.stdout, whole.stdout);
    }
}

/// How many runs are killed: `RETRYLENS_KILLS`, or a few.
fn kills() -> u64 {
    std::env::var("RETRYLENS_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

#[test]
fn killed_at_any_moment_it_neither_loses_nor_counts_twice() {
    for round in 0..kills().div_ceil(5) {
        let mut logs = Logs::new(round);
        for _ in 0..5 {
            logs.run_and_kill();
            logs.change();
        }
        logs.check(&format!("round {round}"));
        logs.check(&format!("round {round}, nothing new"));
    }
}

#[test]
fn only_what_is_new_is_read() {
    let mut logs = Logs::new(7);
    logs.check("at first");
    let partials =
        || super::files_of(&logs.folder.path().join("state")).keys().filter(|name| name.ends_with(".rlp")).count();
    assert_eq!(partials(), 1);
    logs.with_state();
    assert_eq!(partials(), 1, "nothing is new");
    // What was read is gone: it is known all the same.
    let first = std::fs::read(logs.path("app.jsonl")).unwrap();
    std::fs::remove_file(logs.path("app.jsonl")).unwrap();
    let written = logs.written;
    logs.write(4);
    let report = logs.with_state().json();
    assert_eq!(report["ledger"]["lines"], written + 4, "{} bytes are gone", first.len());
    let all = run_in(logs.folder.path(), &[REPORT.as_slice(), &["--state", "state", "--keep", "1d"]].concat());
    assert_eq!(all.code, 3, "all of it is older: {all:#?}");
}

#[test]
fn attempts_are_forgotten_by_the_day_they_were_sent() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("logs")).unwrap();
    let day_s = 86_400;
    let today = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() / day_s * day_s;
    let line = |days: u64, second: u64| {
        let ts = (today - days * day_s + second) * 1000;
        let headers = r#""x-ratelimit-limit-requests":"50","x-ratelimit-remaining-requests":"7""#;
        format!("{{\"ts\":{ts},\"call_id\":\"c-{days}-{second}\",\"status\":200,\"headers\":{{{headers}}}}}\n")
    };
    // The first of the kept days begins at midnight, UTC.
    let old = line(40, 5) + &line(31, 9) + &line(31, day_s - 1);
    let kept = line(30, 0) + &line(30, 7) + &line(2, 7);
    let path = folder.path().join("logs/app.jsonl");
    std::fs::write(&path, format!("{old}{kept}")).unwrap();
    let lines = |arguments: &[&str]| {
        let report = run(folder.path(), &[REPORT.as_slice(), &["--state", "state"], arguments].concat()).json();
        (report["ledger"]["lines"].as_u64(), report["ledger"]["attempts"].as_u64(), report["totals"]["sends"].as_u64())
    };
    assert_eq!(lines(&[]), (Some(6), Some(6), Some(6)));
    assert_eq!(lines(&["--keep", "30d"]), (Some(3), Some(3), Some(3)));
    // An old line that comes late is forgotten at once, and a last line without its end, too.
    let late = line(35, 1) + line(33, 1).trim_end();
    File::options().append(true).open(&path).unwrap().write_all(late.as_bytes()).unwrap();
    assert_eq!(lines(&["--keep", "30d"]), (Some(3), Some(3), Some(3)));
    std::fs::remove_file(&path).unwrap();
    std::fs::write(folder.path().join("logs/other.jsonl"), line(1, 1)).unwrap();
    assert_eq!(lines(&[]), (Some(4), Some(4), Some(4)), "what was forgotten stays so");
}

#[test]
fn a_state_whose_logs_are_gone_is_reported_and_says_so() {
    let logs = Logs::new(4);
    let folder = logs.folder.path();
    let sends = |arguments: &[&str], code: i32, words: &[&str]| {
        let ran = run_in(folder, &[arguments, &["--format", "json", "--state", "state"]].concat());
        assert!(ran.code == code && words.iter().all(|word| ran.stderr.contains(word)), "{arguments:?}: {ran:#?}");
        let report = ran.json();
        let notices = report["notices"].to_string();
        assert!(words.iter().all(|word| notices.contains(word)), "{arguments:?}: {notices}");
        report["totals"]["sends"].as_u64().unwrap()
    };
    let whole = logs.with_state().json()["totals"]["sends"].as_u64().unwrap();
    std::fs::remove_file(logs.path("app.jsonl")).unwrap();
    let held = "Nothing new was read: the report is about what the state holds";
    assert_eq!(sends(&["analyze", "logs"], 0, &["no log in logs", held]), whole);
    assert_eq!(sends(&["analyze", "logs/*.jsonl"], 0, &["logs/*.jsonl", held]), whole);
    assert_eq!(sends(&["analyze", "logs/app.jsonl"], 74, &["logs/app.jsonl", "could not be read"]), whole);
    std::fs::remove_dir(folder.join("logs")).unwrap();
    assert_eq!(sends(&["analyze", "logs"], 74, &["logs", "could not be read"]), whole);
    // Where the state holds nothing either, there is nothing to report.
    let ran = run_in(folder, &["analyze", "logs", "--state", "empty"]);
    assert!(ran.code == 3 && ran.stderr.contains("logs"), "{ran:#?}");
}

#[test]
fn every_kind_of_rotation_is_recognised() {
    for seed in 0..6 {
        let mut logs = Logs::new(seed);
        for step in 0..6 {
            logs.check(&format!("seed {seed}, step {step}"));
            logs.write(2);
            logs.rotate();
        }
        logs.check(&format!("seed {seed}, at the end"));
    }
}

impl Logs {
    /// Begins the log anew with lines that every log begins with, more than it is first known by, and some of its own.
    fn begin_alike(&mut self) {
        let banner: String = (0..80).map(|nth| format!("worker starts, setting {nth:04} = {:060}\n", 7)).collect();
        std::fs::write(self.path("app.jsonl"), banner).unwrap();
        self.written += 80;
        self.write(6);
    }
}

#[test]
fn logs_that_begin_alike_are_told_apart() {
    let mut logs = Logs::new(2);
    logs.written = 0;
    logs.begin_alike();
    logs.check("at first");
    std::fs::rename(logs.path("app.jsonl"), logs.path("app.jsonl.1")).unwrap();
    logs.begin_alike();
    logs.check("renamed");
    std::fs::copy(logs.path("app.jsonl"), logs.path("app.jsonl.2")).unwrap();
    logs.begin_alike();
    logs.check("copied and truncated");
    // Another log begins as this one did, and goes on by itself.
    let begun = std::fs::read(logs.path("app.jsonl")).unwrap();
    logs.write(6);
    logs.check("grown");
    std::fs::rename(logs.path("app.jsonl"), logs.path("other.jsonl")).unwrap();
    std::fs::write(logs.path("app.jsonl"), begun).unwrap();
    logs.written += 86;
    logs.write(6);
    logs.check("forked");
}

#[test]
fn a_line_without_its_end_is_judged_and_read_again() {
    let logs = Logs::new(1);
    let text = std::fs::read_to_string(logs.path("app.jsonl")).unwrap();
    let cut = text.len() - 9;
    std::fs::write(logs.path("app.jsonl"), &text[..text.len() - 1]).unwrap();
    logs.check("without a newline");
    File::options().append(true).open(logs.path("app.jsonl")).unwrap().write_all(b"\n").unwrap();
    logs.check("with it");
    assert!(cut > 0);
}

fn refused(folder: &Path, arguments: &[&str], code: i32, words: &str) {
    let ran = run_in(folder, &[REPORT.as_slice(), &["--state", "state"], arguments].concat());
    assert!(ran.code == code && ran.stderr.contains(words) && ran.stdout.is_empty(), "{words}: {ran:#?}");
}

#[test]
fn a_state_is_of_one_process_and_of_one_way_of_reading() {
    let logs = Logs::new(3);
    let folder = logs.folder.path();
    logs.check("before");
    refused(folder, &["--tz", "+02:00"], 2, "--tz");
    refused(folder, &["--memory", "bounded"], 2, "--memory");
    let lock = File::options().write(true).open(folder.join("state/lock")).unwrap();
    lock.lock().unwrap();
    refused(folder, &[], 74, "in use by another process");
    drop(lock);
    let partial = folder.join("state/00000002.rlp");
    let mut bytes = std::fs::read(&partial).unwrap();
    bytes.pop();
    std::fs::write(&partial, bytes).unwrap();
    refused(folder, &[], 74, "cut off");
    std::fs::write(folder.join("state/manifest"), "{").unwrap();
    refused(folder, &[], 74, "manifest is damaged");
}
