//! README.md and the pages of docs/ do not lie: their commands run, their excerpts are what is printed, their tables
//! are the program's, their links lead somewhere.

use crate::common;
use std::path::Path;
use std::process::Command;

#[path = "../../examples/generate/pages.rs"]
mod pages;

fn page(path: &str) -> String {
    std::fs::read_to_string(common::repo(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// README.md and every page of docs/, by path.
fn all_pages() -> Vec<(String, String)> {
    let mut paths = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for entry in std::fs::read_dir(common::repo("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        paths.extend(name.ends_with(".md").then(|| format!("docs/{name}")));
    }
    paths.sort();
    assert!(paths.len() > 10, "{paths:?}");
    paths.into_iter().map(|path| (path.clone(), page(&path))).collect()
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
    let text = page("README.md");
    let blocks = blocks(section(&text, "Quickstart"), "sh");
    let commands: Vec<&str> = blocks[0].to_vec();
    assert_eq!(commands, ["cargo run --release -- analyze samples/*.jsonl", "cargo test"]);
}

#[cfg(unix)]
#[test]
fn commands_run() {
    let pages = all_pages();
    let mut ran = 0;
    for block in pages.iter().flat_map(|(_, text)| blocks(text, "sh")) {
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
    assert!(ran >= 15, "only {ran} commands");
}

#[cfg(unix)]
#[test]
fn excerpts_are_what_is_printed() {
    let pages = all_pages();
    let blocks: Vec<Vec<&str>> = pages.iter().flat_map(|(_, text)| blocks(text, "console")).collect();
    assert!(blocks.len() >= 4, "only {} excerpts", blocks.len());
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

/// The program is compiled as an example, and shown without its first lines.
#[test]
fn the_program_in_rust_is_the_example() {
    let (text, example) = (page("docs/output.md"), page("examples/calls_by_model.rs"));
    let shown = blocks(&text, "rust").concat().join("\n");
    let (_, program) = example.split_once("\n\n").expect("a comment, then the program");
    assert_eq!(shown, program.trim_end());
}

#[test]
fn generated_pages_are_current() {
    let program = |arguments: &[&str]| Ok(common::run_in(&common::repo(""), arguments).stdout);
    for (path, expected) in pages::all(&|path| Ok(page(path)), &program).unwrap() {
        assert!(page(path) == expected, "{path} is stale: cargo run --example generate");
    }
}

/// Words in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_fields_are_those_that_are_read() {
    let source = std::fs::read_to_string(common::repo("src/ingest/record/spellings.rs")).unwrap();
    let table = &source[source.find("const SPELLINGS").unwrap()..];
    let table = &table[..table.find("\n];").unwrap()];
    let known: Vec<&str> = table.split('"').skip(1).step_by(2).collect();
    assert!(known.len() > 100);
    let text = page("docs/formats.md");
    let told: Vec<&str> = section(&text, "Fields")
        .lines()
        .filter(|line| line.starts_with("| `"))
        .flat_map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            [quoted(cells[0]), quoted(cells.get(3).copied().unwrap_or_default())].concat()
        })
        .collect();
    let missing: Vec<&&str> = known.iter().filter(|name| !told.contains(*name)).collect();
    assert!(missing.is_empty(), "read, and not in docs/formats.md: {missing:?}");
    let invented: Vec<&&str> = told.iter().filter(|name| !known.contains(*name)).collect();
    assert!(invented.is_empty(), "in docs/formats.md, and not read: {invented:?}");
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
    let text = page("docs/output.md");
    let told = codes(section(&text, "Exit codes"), "| ");
    let helped = codes(&help[help.find("Exit codes").unwrap()..], "  ");
    assert_eq!(told, helped);
    assert_eq!(told, ["0", "1", "2", "3", "4", "74", "130"]);
}

/// The anchor of a heading, as GitHub and the site make it.
fn slug(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    heading.trim_start_matches('#').trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

#[test]
fn links_and_pictures_lead_somewhere() {
    let mut pages = all_pages();
    for path in ["samples/README.md", "reports/README.md", "benches/README.md", "CHANGELOG.md"] {
        pages.push((path.to_owned(), page(path)));
    }
    let has_anchor =
        |text: &str, anchor: &str| text.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == anchor);
    for (path, text) in &pages {
        for (at, _) in text.match_indices("](") {
            let target = &text[at + 2..at + 2 + text[at + 2..].find(')').unwrap()];
            if target.starts_with("http") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = common::repo(path).parent().unwrap().join(file);
            assert!(file.is_empty() || linked.exists(), "{path} links to {target}");
            // Only pages that are shown as a site are bound to it; its links must not lead out.
            assert!(!path.starts_with("docs/") || !file.starts_with(".."), "{path} links out of docs/: {target}");
            if !anchor.is_empty() && (file.is_empty() || file.ends_with(".md")) {
                let text = if file.is_empty() { text.clone() } else { std::fs::read_to_string(linked).unwrap() };
                assert!(has_anchor(&text, anchor), "{path}: {target}");
            }
        }
    }
}

#[test]
fn every_page_is_in_the_menu_of_the_site() {
    let menu = page("mkdocs.yml");
    for (path, _) in all_pages() {
        if let Some(name) = path.strip_prefix("docs/") {
            assert!(menu.contains(&format!(" {name}\n")), "mkdocs.yml does not list {name}");
        }
    }
}
