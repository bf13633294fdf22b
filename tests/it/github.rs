//! GitHub Actions: annotations on standard output, Markdown in the job summary.

use crate::common::{self, Ran, finish, program, repo};
use std::path::Path;

fn github(arguments: &[&str], summary: Option<&Path>) -> Ran {
    let mut command = program();
    command.args(["analyze", "--format", "github"]).args(arguments).env_remove("GITHUB_STEP_SUMMARY");
    if let Some(path) = summary {
        command.env("GITHUB_STEP_SUMMARY", path);
    }
    finish(&mut command)
}

fn commands(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().filter(|line| line.starts_with("::")).collect()
}

#[test]
fn ten_annotations_at_most_the_worst_first() {
    let ran = github(&["samples", "--complete"], None);
    let commands = commands(&ran);
    assert_eq!((ran.code, commands.len()), (1, 10));
    assert!(
        commands[0].starts_with("::error file=samples/spend-cap-retried.jsonl,line=1,title=RL101 spend-cap-retried::")
    );
    let problems = common::report(&common::samples()).problems.len();
    let more = format!("::notice title=retrylens::{} more problems in the job summary and in the report", problems - 9);
    assert_eq!(commands[9], more);
    let few = github(&["samples/spend-cap-retried.jsonl"], None);
    assert_eq!(self::commands(&few).len(), 1);
}

#[test]
fn a_log_commands_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let evil = "x\n::error::owned\r\n::set-output name=a::b%0A::stop-commands::t";
    let line = |attempt: u32| {
        serde_json::json!({
            "ts": format!("2026-01-05T10:00:0{attempt}Z"), "run_id": evil, "call_id": evil, "attempt": attempt,
            "provider": evil, "model": evil, "status": 418, "error_type": evil, "error_message": evil,
        })
    };
    std::fs::write(folder.path().join("a:b,c%.jsonl"), format!("{}\n{}\n", line(1), line(2))).unwrap();
    let summary = folder.path().join("summary");
    let ran = finish(
        program()
            .current_dir(folder.path())
            .args(["analyze", "--format", "github", "."])
            .env("GITHUB_STEP_SUMMARY", &summary),
    );
    assert!(!commands(&ran).is_empty());
    for command in ran.stdout.lines().filter(|line| line.trim_start().starts_with("::")) {
        assert!(command.contains("title=RL") || command.contains("title=retrylens"), "{command}");
        assert!(!command.contains("file=") || command.contains("file=a%3Ab%2Cc%25.jsonl,line=1,"), "{command}");
    }
    assert!(ran.stdout.contains("%250A"), "a percent sign is one: {}", ran.stdout);
    assert!(std::fs::read_to_string(summary).unwrap().lines().all(|line| !line.trim_start().starts_with("::")));
}

#[test]
fn the_summary_is_added_to_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.md");
    std::fs::write(&path, "## an earlier step").unwrap();
    github(&["samples"], Some(&path));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("## an earlier step\n\n## ❌ retrylens: "));
    let markdown = common::run_in(&repo(""), &["analyze", "--format", "markdown", "samples"]).stdout;
    assert!(text.ends_with(&markdown));
    // Any other form leaves it alone.
    finish(program().args(["analyze", "samples"]).env("GITHUB_STEP_SUMMARY", &path));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    std::fs::remove_file(&path).unwrap();
    github(&["samples"], Some(&path));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), markdown);
}

#[test]
fn a_full_summary_is_left_alone_and_one_that_cannot_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.md");
    std::fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
    let full = github(&["samples"], Some(&path));
    assert_eq!(full.code, 1);
    assert!(full.stderr.contains("nothing was added to it"), "{}", full.stderr);
    assert_eq!(path.metadata().unwrap().len(), 1 << 20);
    let lost = github(&["samples"], Some(&folder.path().join("no/such/folder/summary.md")));
    assert_eq!(lost.code, 74);
    assert!(lost.stderr.contains("cannot write"), "{}", lost.stderr);
}

#[test]
fn what_a_baseline_knows_comes_last_as_a_notice() {
    let folder = tempfile::tempdir().unwrap();
    let last = folder.path().join("last.json").display().to_string();
    let (bad, more) = ("samples/spend-cap-retried.jsonl", "samples/bad-request-retried.jsonl");
    common::run_in(&repo(""), &["analyze", bad, "--output", &format!("json={last}")]);
    let ran = github(&[bad, more, "--baseline", &last], None);
    let commands = commands(&ran);
    assert!(commands[0].starts_with("::error ") && commands[0].contains("RL104"), "{commands:?}");
    assert!(commands[1].starts_with("::notice ") && commands[1].contains("RL101"), "{commands:?}");
}
