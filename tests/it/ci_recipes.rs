//! The recipes for CI do what they say: their options exist, and what can run here runs.

use crate::common::{self, repo};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with the program first in `PATH`.
pub(crate) fn path_with_program(folder: &Path) -> String {
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let program = assert_cmd::cargo::cargo_bin!("retrylens");
    std::os::unix::fs::symlink(program, bin.join("retrylens")).unwrap();
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

/// The script of a step of the action or of a workflow.
pub(crate) fn script_of(path: &str, step: &str) -> String {
    let text = std::fs::read_to_string(repo(path)).unwrap();
    let (_, behind) = text.split_once(&format!("- name: {step}\n")).unwrap();
    let (_, script) = behind.split_once("run: |\n").unwrap();
    let indent = &script[..script.find(|c| c != ' ').unwrap()];
    let lines = script.lines().map_while(|line| if line.is_empty() { Some("") } else { line.strip_prefix(indent) });
    lines.map(|line| format!("{line}\n")).collect()
}

fn action(folder: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new("bash");
    // As GitHub runs it.
    command
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script_of("action.yml", "Analyze")])
        .current_dir(folder);
    command.env("PATH", path_with_program(folder)).env("GITHUB_OUTPUT", folder.join("output"));
    command.env("GITHUB_STEP_SUMMARY", folder.join("summary"));
    for (name, value) in
        [("LOGS", ""), ("FAIL_ON", "error"), ("BASELINE", ""), ("REPORTS", "out dir"), ("ARGUMENTS", "")]
    {
        command.env(name, variables.iter().find(|(of, _)| *of == name).map_or(value, |(_, value)| value));
    }
    command.output().unwrap()
}

#[test]
fn the_action_writes_its_reports_and_fails_as_the_program_does() {
    let folder = tempfile::tempdir().unwrap();
    let logs = repo("samples").display().to_string();
    let ran = action(folder.path(), &[("LOGS", &format!("\n{logs}\n")), ("ARGUMENTS", "--complete\n--ignore\nRL8\n")]);
    assert_eq!(ran.status.code(), Some(1), "{ran:#?}");
    for name in ["report.json", "report.html", "report.sarif", "junit.xml"] {
        assert!(folder.path().join("out dir").join(name).metadata().unwrap().len() > 1000, "{name}");
    }
    assert!(String::from_utf8(ran.stdout).unwrap().contains("\n::error file="));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("output"), "exit-code=1\n");
    assert!(read("summary").starts_with("## ❌ retrylens: "));
}

#[test]
fn the_action_takes_a_baseline_that_need_not_exist() {
    let folder = tempfile::tempdir().unwrap();
    let logs = repo("samples/spend-cap-retried.jsonl").display().to_string();
    let first = action(folder.path(), &[("LOGS", &logs), ("BASELINE", "last.json")]);
    assert_eq!(first.status.code(), Some(1), "{first:#?}");
    std::fs::copy(folder.path().join("out dir/report.json"), folder.path().join("last.json")).unwrap();
    std::fs::remove_dir_all(folder.path().join("bin")).unwrap();
    let second = action(folder.path(), &[("LOGS", &logs), ("BASELINE", "last.json")]);
    assert_eq!(second.status.code(), Some(0), "{second:#?}");
}

#[test]
fn the_action_declares_what_its_script_reads() {
    let text = std::fs::read_to_string(repo("action.yml")).unwrap();
    for name in ["logs", "fail-on", "baseline", "reports", "arguments", "version", "sha256"] {
        assert!(
            text.contains(&format!("\n  {name}:\n")) && text.contains(&format!("${{{{ inputs.{name} }}}}")),
            "{name}"
        );
    }
    assert!(!script_of("action.yml", "Analyze").contains("${{"), "an input would be read as a command");
}

#[test]
fn cron_hears_of_what_is_new_and_of_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = path_with_program(folder.path());
    let nightly = |logs: PathBuf| {
        Command::new("sh")
            .arg(repo("docs/ci/nightly.sh"))
            .arg(logs)
            .arg(folder.path().join("state"))
            .env("PATH", &path)
            // The samples are older than a day.
            .env("SINCE", "2020-01-01")
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    let first = nightly(repo("samples"));
    assert_eq!(first.status.code(), Some(1), "{first:#?}");
    assert!(String::from_utf8(first.stdout).unwrap().contains("error RL101"));
    let second = nightly(repo("samples"));
    assert_eq!((second.status.code(), second.stdout.len()), (Some(0), 0), "{:?}", String::from_utf8(second.stderr));
    let broken = nightly(folder.path().join("nowhere"));
    assert_eq!(broken.status.code(), Some(3));
    assert!(String::from_utf8(broken.stderr).unwrap().contains("exit code 3"));
}

#[test]
fn options_of_the_recipes_exist() {
    let help = common::run_in(&repo(""), &["analyze", "--help"]).stdout;
    let recipe = std::fs::read_to_string(repo("docs/ci/gitlab.yml")).unwrap();
    let line = recipe.lines().find(|line| line.contains("retrylens analyze")).unwrap();
    let options: Vec<&str> = line.split_whitespace().filter(|word| word.starts_with("--")).collect();
    assert!(options.len() >= 5, "{line}");
    for option in options {
        assert!(help.contains(option), "{option}");
    }
    let folder = tempfile::tempdir().unwrap();
    let shell = line.trim().trim_start_matches("- ").replace(" logs", &format!(" {}", repo("samples").display()));
    let ran = Command::new("sh")
        .args(["-c", &shell])
        .current_dir(folder.path())
        .env("PATH", path_with_program(folder.path()))
        .output();
    assert_eq!(ran.unwrap().status.code(), Some(1));
    assert!(folder.path().join("junit.xml").exists() && folder.path().join("retries.html").exists());
}

/// What keeps a release from being published with addresses that lead nowhere.
#[test]
fn a_release_needs_its_version_and_its_repository_in_cargo_toml() {
    let script = script_of(".github/workflows/release.yml", "Does Cargo.toml name this release?");
    let folder = tempfile::tempdir().unwrap();
    let says = |manifest: &str| {
        std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]).current_dir(folder.path());
        let ran = command.env("TAG", "v1.2.3").env("REPOSITORY", "https://git.example/o/retrylens").output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stdout).unwrap())
    };
    let (version, repository) = ("version = \"1.2.3\"\n", "repository = \"https://git.example/o/retrylens\"\n");
    assert_eq!(says(&format!("[package]\n{version}{repository}")), (Some(0), String::new()));
    for (manifest, lacks) in [
        (version.to_owned(), "repository = "),
        (format!("{version}# {repository}"), "repository = "),
        (format!("{version}{}", repository.replace("/o/", "/other/")), "repository = "),
        (format!("version = \"1.2.4\"\n{repository}"), "version = "),
    ] {
        let (code, said) = says(&manifest);
        assert!(code == Some(1) && said.contains(&format!("::error::Cargo.toml does not say {lacks}")), "{said}");
    }
}
