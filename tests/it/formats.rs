//! What holds for every form of the report: the same bytes, the same exit code, the same choice of what is shown.

use crate::common::{self, Ran, finish, program, repo};
use std::path::Path;

/// Forms that are one text, as the help lists them.
fn forms() -> Vec<String> {
    let ran = common::run_in(&repo(""), &["analyze", "x", "--output", "nonsense=x"]);
    let known = ran.stderr.split("known formats: ").nth(1).unwrap().split(" (").next().unwrap();
    let forms: Vec<String> = known.split(", ").map(str::to_owned).collect();
    assert!(forms.len() >= 7, "{forms:?}");
    forms
}

fn analyze(arguments: &[&str]) -> Ran {
    finish(program().arg("analyze").args(arguments).env_remove("GITHUB_STEP_SUMMARY"))
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for form in forms() {
        let one = analyze(&["samples", "tests/cases", "--format", &form, "--threads", "1"]);
        let two = analyze(&["tests/cases", "samples", "--format", &form, "--threads", "2"]);
        assert!(!one.stdout.is_empty(), "{form}");
        assert!(one.stdout == two.stdout, "{form} differs");
    }
}

#[test]
fn every_form_ends_with_the_same_code() {
    let cases: [(&[&str], i32); 6] = [
        (&["samples/spend-cap-retried.jsonl"], 1),
        (&["samples/spend-cap-retried.jsonl", "--fail-on", "never"], 0),
        (&["samples/spend-cap-retried.jsonl", "--ignore", "RL101"], 0),
        (&["samples/fan-out.jsonl", "--min-severity", "error", "--fail-on", "warning"], 1),
        (&["tests/odd/40-only-noise.log"], 3),
        (&["tests/odd/03-truncated-tail.jsonl"], 4),
    ];
    for form in forms() {
        for (arguments, code) in cases {
            assert_eq!(analyze(&[arguments, &["--format", &form]].concat()).code, code, "{form} {arguments:?}");
        }
    }
}

#[test]
fn a_report_that_cannot_be_written_is_said() {
    for form in forms() {
        let ran = analyze(&["samples", "--output", &format!("{form}=/no/such/folder/report")]);
        assert_eq!(ran.code, 74, "{form}");
        assert!(ran.stderr.contains("cannot write /no/such/folder/report"), "{form}: {}", ran.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    for form in forms() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let program = assert_cmd::cargo::cargo_bin!("retrylens");
        let output = std::process::Command::new(program)
            .args(["analyze", "samples", "--format", &form])
            .current_dir(repo(""))
            .env_remove("GITHUB_STEP_SUMMARY")
            .stdout(full)
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(74), "{form}: {stderr}");
        assert!(stderr.contains("cannot write the report"), "{form}: {stderr}");
    }
}

#[test]
fn min_severity_decides_what_is_shown_in_every_form() {
    for form in forms() {
        let shown = |least: &str| analyze(&["samples", "--format", &form, "--min-severity", least]).stdout;
        // Rules of the catalogue are declared in SARIF; elsewhere a name stands for a problem.
        let word = |rule: &str| if form == "sarif" { format!("\"ruleId\": \"{rule}\"") } else { rule.to_owned() };
        let all = shown("info");
        let errors = shown("error");
        assert!(errors.contains(&word("RL101")), "{form}: {errors}");
        for milder in ["RL203", "RL506", "RL804"] {
            assert!(!errors.contains(&word(milder)), "{form} shows {milder}: {errors}");
        }
        // Annotations are ten at most.
        assert!(form == "github" || all.contains(&word("RL804")), "{form}");
    }
}

#[test]
fn files_hold_what_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    for form in forms() {
        let path = folder.path().join(&form);
        let printed = analyze(&["samples", "--format", &form]).stdout;
        let output = format!("{form}={}", path.display());
        assert_eq!(analyze(&["samples", "--output", &output]).code, 1);
        assert_eq!(read(&path), printed, "{form}");
        assert_eq!(analyze(&["samples", "--output", &format!("{form}=-")]).stdout, printed, "{form}");
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
