//! The README does not lie: its commands run, its excerpts are what they print, its tables are the program's.

use crate::common;
use retrylens::rules::CATALOGUE;
use std::path::Path;
use std::process::Command;

fn readme() -> String {
    std::fs::read_to_string(common::repo("README.md")).unwrap()
}

/// The code blocks of one kind.
fn blocks<'t>(text: &'t str, kind: &str) -> Vec<Vec<&'t str>> {
    let mut blocks = Vec::new();
    let mut open: Option<Vec<&str>> = None;
    for line in text.lines() {
        match &mut open {
            None if line == format!("```{kind}") => open = Some(Vec::new()),
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some(lines) => lines.push(line),
            None => {}
        }
    }
    assert!(open.is_none(), "a block of {kind} is not closed");
    blocks
}

/// The part of the README below a heading.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let start = text.find(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    let rest = &text[start + 1..];
    rest[3..].find("\n## ").map_or(rest, |end| &rest[..end + 3])
}

/// Runs a command of the README in a folder that has the samples, with the program as it is built now.
fn run(command: &str, folder: &Path) -> (i32, String, String) {
    let program = assert_cmd::cargo::cargo_bin!("retrylens").display().to_string();
    let command = command.replace("cargo run --release --", "retrylens");
    let shell = format!("retrylens() {{ '{program}' \"$@\"; }}\n{command}");
    let output = Command::new("sh").arg("-c").arg(shell).current_dir(folder).output().unwrap();
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn folder_with_samples() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("samples")).unwrap();
    for path in common::samples() {
        std::fs::copy(&path, folder.path().join("samples").join(path.file_name().unwrap())).unwrap();
    }
    folder
}

/// Commands the tests cannot run: they are the tests.
const NOT_RUN: &[&str] = &["cargo test"];

#[test]
fn the_quickstart_is_two_commands() {
    let text = readme();
    let blocks = blocks(section(&text, "Quickstart"), "sh");
    let commands: Vec<&str> = blocks[0].to_vec();
    assert_eq!(commands, ["cargo run --release -- analyze samples/*.jsonl", "cargo test"]);
}

#[cfg(unix)]
#[test]
fn commands_run() {
    let text = readme();
    let mut ran = 0;
    for block in blocks(&text, "sh") {
        let folder = folder_with_samples();
        for command in block.iter().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if NOT_RUN.contains(command) {
                continue;
            }
            let (code, stdout, stderr) = run(command, folder.path());
            // 1 is a verdict, and that of the samples.
            assert!(code == 0 || code == 1, "`{command}` ends with {code}: {stderr}");
            assert!(stderr.is_empty(), "`{command}` complains: {stderr}");
            assert!(!stdout.is_empty() || command.contains('>'), "`{command}` prints nothing");
            ran += 1;
        }
    }
    assert!(ran >= 5, "only {ran} commands");
}

#[cfg(unix)]
#[test]
fn excerpts_are_what_is_printed() {
    let text = readme();
    let blocks = blocks(&text, "console");
    assert!(!blocks.is_empty(), "no excerpts");
    for block in blocks {
        let command = block[0].strip_prefix("$ ").unwrap_or_else(|| panic!("no command in {block:?}"));
        let folder = folder_with_samples();
        let (_, stdout, _) = run(command, folder.path());
        let mut rest = stdout.lines();
        for line in block[1..].iter().filter(|line| !matches!(line.trim(), "..." | "")) {
            assert!(
                rest.any(|printed| printed == *line),
                "`{command}` does not print (in this place):\n{line}\n\n{stdout}"
            );
        }
    }
}

/// A table between two marks is what it should be; with `RETRYLENS_UPDATE=1` it is made so.
fn assert_table(mark: &str, expected: &str) {
    let text = readme();
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let start = text.find(&begin).unwrap_or_else(|| panic!("no {begin}")) + begin.len();
    let stop = start + text[start..].find(&end).unwrap_or_else(|| panic!("no {end}"));
    if text[start..stop] != *expected {
        if std::env::var_os("RETRYLENS_UPDATE").is_some() {
            let updated = format!("{}{expected}{}", &text[..start], &text[stop..]);
            std::fs::write(common::repo("README.md"), updated).unwrap();
            return;
        }
        panic!("the table {mark} is stale: run RETRYLENS_UPDATE=1 cargo test --test it readme::\n{expected}");
    }
}

#[test]
fn the_rules_are_those_of_the_catalogue() {
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let rows: String = CATALOGUE
        .iter()
        .map(|rule| format!("| {} | {} | {} | {} |\n", rule.code, rule.name, rule.severity.name(), cell(rule.summary)))
        .collect();
    assert_table("rules", &format!("| code | name | severity | fires when |\n| --- | --- | --- | --- |\n{rows}"));
}

/// Words in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_fields_are_those_that_are_read() {
    let source = std::fs::read_to_string(common::repo("src/ingest/native/fields.rs")).unwrap();
    let table = &source[source.find("const SPELLINGS").unwrap()..];
    let table = &table[..table.find("\n];").unwrap()];
    let known: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
    assert!(known.len() > 100);
    let text = readme();
    let formats = section(&text, "What it reads");
    let told: Vec<&str> = formats
        .lines()
        .filter(|line| line.starts_with("| `"))
        .flat_map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            [quoted(cells[0]), quoted(cells.get(3).copied().unwrap_or_default())].concat()
        })
        .collect();
    let missing: Vec<&&str> = known.iter().filter(|name| !told.contains(*name)).collect();
    assert!(missing.is_empty(), "read, and not in README.md: {missing:?}");
    let invented: Vec<&&str> = told.iter().filter(|name| !known.contains(*name)).collect();
    assert!(invented.is_empty(), "in README.md, and not read: {invented:?}");
}

#[test]
fn exit_codes_are_those_of_the_help() {
    let help = common::run_in(&common::repo(""), &["--help"]).stdout;
    let codes = |text: &str, start: &str| -> Vec<String> {
        text.lines()
            .filter_map(|line| line.strip_prefix(start)?.split([' ', '|']).find(|word| !word.is_empty()))
            .filter(|word| word.chars().all(|c| c.is_ascii_digit()))
            .map(str::to_owned)
            .collect()
    };
    let text = readme();
    let told = codes(section(&text, "Exit codes"), "| ");
    let helped = codes(&help[help.find("Exit codes").unwrap()..], "  ");
    assert_eq!(told, helped);
    assert_eq!(told, ["0", "1", "2", "3", "4", "74", "130"]);
}

#[test]
fn links_and_pictures_lead_somewhere() {
    for name in ["README.md", "samples/README.md", "reports/README.md", "CHANGELOG.md"] {
        let path = common::repo(name);
        let text = std::fs::read_to_string(&path).unwrap();
        for (at, _) in text.match_indices("](") {
            let target = &text[at + 2..at + 2 + text[at + 2..].find(')').unwrap()];
            if target.starts_with("http") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if !file.is_empty() {
                assert!(path.parent().unwrap().join(file).exists(), "{name} links to {target}");
            } else {
                let slug =
                    |line: &str| line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-").replace('`', "");
                assert!(
                    text.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == anchor),
                    "{name}: {target}"
                );
            }
        }
    }
}
