//! Inputs that cannot be read to their end, and readers that stop listening: everything else is judged all the same.

use crate::common::{self, Ran};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Attempts of calls that failed with a refused request, and retried it: one call a name, two attempts each.
fn log(names: &[&str]) -> String {
    let line = |name: &&str| {
        let at = |n: u32, ms: u32| {
            format!(
                r#"{{"ts":"2026-01-05T10:00:0{n}.{ms:03}Z","run_id":"r","call_id":"{name}","attempt":{n},"request_id":"{name}-{n}","status":400,"error_type":"invalid_request_error","duration_ms":10}}"#
            ) + "\n"
        };
        at(1, 0) + &at(2, 5)
    };
    names.iter().map(line).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// A folder with a whole log, a packed one that breaks off in its last call, and a file that is no gzip although it
/// begins like one.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("a-whole.jsonl", log(&["one"]).as_bytes());
    let packed = gzip(&log(&["two", "three"]));
    write("b-cut.jsonl.gz", &packed[..packed.len() - 60]);
    write("c-broken.log", &[0x1f, 0x8b, 0xff, 0xff, 0xff]);
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Ran {
    common::run_in(folder, arguments)
}

#[test]
fn what_could_be_read_is_judged_and_the_rest_is_named() {
    let folder = folder();
    for memory in ["whole", "bounded"] {
        let ran = run(folder.path(), &["analyze", "--format", "json", "--complete", "--memory", memory, "."]);
        assert_eq!(ran.code, 74, "{memory}: {ran:#?}");
        assert!(ran.stderr.contains("2 of 3 inputs could not be read to the end"), "{}", ran.stderr);
        assert!(ran.stderr.contains("b-cut.jsonl.gz (") && ran.stderr.contains("c-broken.log ("), "{}", ran.stderr);
        let report = ran.json();
        let failures: Vec<bool> =
            report["inputs"].as_array().unwrap().iter().map(|input| input["failure"].is_string()).collect();
        assert_eq!(failures, [false, true, true], "{memory}");
        // Two whole calls, and the first attempt of the third; its second is a line cut in the middle.
        assert_eq!(report["totals"]["sends"], 5, "{memory}");
        assert_eq!(report["ledger"]["rejected"], 1, "{memory}");
        assert_eq!(report["totals"]["errors"], 2, "{memory}");
        let notices = report["notices"].to_string();
        assert!(notices.contains("2 of 3 inputs could not be read to the end"), "{notices}");
    }
}

#[test]
fn every_form_says_so() {
    let folder = folder();
    for form in ["text", "html", "markdown", "junit", "sarif"] {
        let ran = run(folder.path(), &["analyze", "--format", form, "."]);
        assert_eq!(ran.code, 74, "{form}");
        let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("2 of 3 inputs could not be read"), "{form}: {words}");
    }
}

#[test]
fn names_stay_private_in_an_anonymised_report() {
    let folder = folder();
    let ran = run(folder.path(), &["analyze", "--anonymize", "--format", "json", "."]);
    assert!(ran.stdout.contains("inputs could not be read to the end"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("b-cut") && !ran.stdout.contains("c-broken"), "{}", ran.stdout);
}

#[test]
fn an_id_is_found_in_what_can_be_read() {
    let folder = folder();
    for id in ["one-1", "two-2"] {
        let ran = run(folder.path(), &["trace", id, "."]);
        assert_eq!(ran.code, 74, "{ran:#?}");
        assert!(ran.stderr.contains("2 of 3 inputs could not be read to the end"), "{}", ran.stderr);
        assert!(ran.stdout.contains(id), "{}", ran.stdout);
    }
}

#[test]
fn a_comparison_says_that_it_lacks_a_part() {
    let folder = folder();
    let ran = run(folder.path(), &["diff", "a-whole.jsonl", "b-cut.jsonl.gz"]);
    assert_eq!(ran.code, 74, "{ran:#?}");
    assert!(ran.stderr.contains("1 of 1 input could not be read to the end"), "{}", ran.stderr);
}

#[test]
fn where_nothing_can_be_read_nothing_is_reported() {
    let folder = folder();
    let broken = run(folder.path(), &["analyze", "c-broken.log"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (74, ""), "{broken:#?}");
    assert!(broken.stderr.contains("cannot read c-broken.log: "), "{}", broken.stderr);
    let trace = run(folder.path(), &["trace", "one-1", "c-broken.log"]);
    assert_eq!((trace.code, trace.stdout.as_str()), (74, ""), "{trace:#?}");
    // Of names mistyped, nothing is left to be judged.
    let missing = run(folder.path(), &["analyze", "elsewhere.jsonl", "nowhere.jsonl"]);
    assert_eq!((missing.code, missing.stdout.as_str()), (3, ""), "{missing:#?}");
    assert!(missing.stderr.contains("elsewhere.jsonl"), "{}", missing.stderr);
}

/// `retrylens analyze | head -1`: whoever reads has seen enough, and the verdict is as it was.
#[test]
fn a_reader_that_leaves_does_not_change_the_exit_code() {
    let folder = folder();
    let code = |arguments: &[&str]| {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("retrylens"))
            .args(arguments)
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        child.wait().unwrap().code()
    };
    for form in ["text", "json", "html"] {
        assert_eq!(code(&["analyze", "--format", form, "a-whole.jsonl"]), Some(1), "{form}");
        assert_eq!(code(&["analyze", "--format", form, "--fail-on", "never", "a-whole.jsonl"]), Some(0), "{form}");
    }
    assert_eq!(code(&["trace", "one-1", "a-whole.jsonl"]), Some(1));
    assert_eq!(code(&["rules"]), Some(0));
}
