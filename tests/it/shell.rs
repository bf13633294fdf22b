//! Completions and manual pages name every command and option.

use crate::common::{repo, run_in};
use clap::{Command, CommandFactory};
use retrylens::cli::Cli;
use std::collections::BTreeSet;

/// Every command, by the words that call it: `analyze`, `config show`.
fn commands() -> Vec<(String, Command)> {
    fn below(command: &Command, path: &str, into: &mut Vec<(String, Command)>) {
        for one in command.get_subcommands() {
            let path = format!("{path} {}", one.get_name()).trim().to_owned();
            into.push((path.clone(), one.clone()));
            below(one, &path, into);
        }
    }
    let mut all = Vec::new();
    below(&Cli::command(), "", &mut all);
    assert!(all.len() > 12, "{all:?}");
    all
}

fn options(command: &Command) -> BTreeSet<String> {
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    shown.filter_map(|argument| Some(argument.get_long()?.to_owned())).collect()
}

#[test]
fn completions_of_every_shell_name_every_command_and_option() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run_in(&repo(""), &["completions", shell]);
        assert_eq!((script.code, script.stderr.as_str()), (0, ""), "{shell}");
        for (path, command) in commands() {
            let name = command.get_name();
            assert!(script.stdout.contains(name), "{shell}: {path}");
            for option in options(&command) {
                // fish spells `--name` as `-l name`.
                let spelled = if shell == "fish" { format!("-l {option}") } else { format!("--{option}") };
                assert!(script.stdout.contains(&spelled), "{shell}: {path} --{option}");
            }
        }
    }
    assert_eq!(run_in(&repo(""), &["completions", "tcsh"]).code, 2);
}

#[cfg(unix)]
#[test]
fn bash_completes_commands() {
    let script = run_in(&repo(""), &["completions", "bash"]).stdout;
    let ask = |words: &[&str]| {
        let list = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let last = words.len() - 1;
        let ask = format!(
            "{script}\nCOMP_WORDS=({list}); COMP_CWORD={last}; _retrylens retrylens '{}' '{}'; echo \"${{COMPREPLY[@]}}\"",
            words[last],
            words[last - 1]
        );
        let ran = std::process::Command::new("bash").args(["--norc", "-c", &ask]).output().expect("bash");
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(ask(&["retrylens", "ana"]), "analyze");
    assert_eq!(ask(&["retrylens", "config", "ini"]), "init");
    assert_eq!(ask(&["retrylens", "analyze", "--fol"]), "--follow");
}

#[test]
fn manual_pages_name_every_command_and_option() {
    let folder = tempfile::tempdir().unwrap();
    let written = run_in(folder.path(), &["man", "--dir", "man1"]);
    assert_eq!((written.code, written.stderr.as_str()), (0, ""));
    // Roff escapes hyphens.
    let read = |name: &str| std::fs::read_to_string(folder.path().join("man1").join(name)).unwrap().replace("\\-", "-");
    let program = read("retrylens.1");
    assert!(program.contains("reading or writing failed"), "exit codes are on the page: {program}");
    for (path, command) in commands() {
        let page = read(&format!("retrylens-{}.1", path.replace(' ', "-")));
        assert!(path.contains(' ') || program.contains(&format!("retrylens-{path}(1)")), "{path}");
        for option in options(&command) {
            assert!(page.contains(&format!("--{option}")), "{path} --{option}");
        }
        let printed = run_in(folder.path(), &[&["man"], path.split(' ').collect::<Vec<_>>().as_slice()].concat());
        assert_eq!(printed.stdout.replace("\\-", "-"), page, "{path}");
    }
    let unknown = run_in(folder.path(), &["man", "analyse"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean `analyze`"), "{}", unknown.stderr);
}
