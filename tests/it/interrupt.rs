//! An interrupt leaves no half-written file, and says what was done.

use crate::common;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn start(arguments: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("retrylens"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Interrupts the program; its exit code and what it said.
fn interrupt(child: Child) -> (Option<i32>, String) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("there is a `kill`");
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn while_reading_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.txt");
    let mut child = start(&["analyze", "-", "--output", &format!("text={}", report.display())]);
    let mut input = child.stdin.take().unwrap();
    // More than a pipe holds: once it is taken, the program reads, and so is ready for the interrupt.
    let line = "{\"ts\":\"2026-01-05T10:00:00Z\",\"call_id\":\"c\",\"status\":200}\n";
    input.write_all(line.repeat(8000).as_bytes()).unwrap();
    let (code, said) = interrupt(child);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("interrupted after") && said.contains("no file was written"), "{said}");
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_trace_of_a_pipe_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("retrylens"))
        .args(["trace", "req_1", "-"])
        .env("TMPDIR", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().unwrap();
    input.write_all("{}\n".repeat(100_000).as_bytes()).unwrap();
    let (code, said) = interrupt(child);
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn while_writing_only_whole_files_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (samples, charts) = (common::repo("samples"), folder.path().join("charts"));
    let child = start(&["analyze", &samples.display().to_string(), "--charts", &charts.display().to_string()]);
    let begun = Instant::now();
    while names_if_there(&charts).len() < 2 {
        assert!(begun.elapsed() < Duration::from_secs(120), "no chart was written");
        std::thread::sleep(Duration::from_millis(5));
    }
    let (code, said) = interrupt(child);
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("nothing else was written"), "{said}");
    for name in names(&charts) {
        let bytes = std::fs::read(charts.join(&name)).unwrap();
        let end: &[u8] = if name.ends_with(".png") { b"IEND\xaeB`\x82" } else { b"</svg>" };
        assert!(bytes.trim_ascii_end().ends_with(end), "{name} is whole");
    }
}

fn names_if_there(folder: &Path) -> Vec<String> {
    if folder.exists() { names(folder) } else { Vec::new() }
}
