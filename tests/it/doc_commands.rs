//! Every command of README.md and of the pages on installing and running in CI: it runs here, or it stands below with
//! the reason why it cannot.

use crate::common::{self, repo};
use std::path::Path;
use std::process::{Command, Output};

const PAGES: [&str; 3] = ["README.md", "docs/install.md", "docs/ci.md"];

/// What begins a command in indented code, as opposed to lines of a log.
const PROGRAMS: [&str; 13] = [
    "retrylens",
    "pip",
    "npm",
    "npx",
    "uv",
    "cargo",
    "docker",
    "sha256sum",
    "gh",
    "brew",
    "uvx",
    "python3",
    "integrations/",
];

/// What starts the program in an environment of its own: all behind it is run here.
const RUNNERS: [&str; 3] = ["uv run retrylens", "npx retrylens", "docker run --rm -v \"$PWD/logs:/logs:ro\" retrylens"];

/// Commands that are not run here, with the reason.
const NOT_RUN: [(&str, &str); 15] = [
    ("pip install retrylens", "needs the published package; integrations/check installs the wheel"),
    ("npm install --save-dev retrylens", "needs the published package; integrations/check installs the npm packages"),
    ("uv add --dev retrylens", "needs the published package; integrations/check installs the wheel"),
    ("cargo install --locked --path .", "compiles for minutes; .ci/run makes the same build"),
    ("uvx retrylens", "needs the published package; integrations/check installs the wheel"),
    ("npx retrylens", "needs the published package; integrations/check installs the npm packages"),
    ("brew install ./retrylens.rb", "needs Homebrew; integrations/check makes the formula"),
    ("cargo binstall retrylens", "needs the published package"),
    ("cargo install --locked retrylens", "needs the published package"),
    ("integrations/install --to DIR", "tests/it/install.rs runs it"),
    ("docker build -f integrations/docker/Dockerfile -t retrylens .", "needs a container runtime"),
    (
        "gh attestation verify retrylens-v0.1.0-x86_64-unknown-linux-gnu.tar.gz --repo OWNER/retrylens",
        "needs the published release",
    ),
    (
        "sha256sum --check --ignore-missing SHA256SUMS",
        "needs a release; tests/it/install.rs compares the checksums of one",
    ),
    ("retrylens stub --check -- python3 examples/naive_loop.py", "tests/it/serve/check.rs runs it"),
    ("retrylens stub --check -- python3 examples/mended_loop.py", "tests/it/serve/check.rs runs it"),
];

fn page(path: &str) -> String {
    std::fs::read_to_string(repo(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A command without what is said behind it.
fn bare(line: &str) -> String {
    line.split(" # ").next().unwrap_or_default().trim().to_owned()
}

/// Lines of indented code outside fences that begin with a program.
fn indented(text: &str) -> Vec<String> {
    let (mut fenced, mut found) = (false, Vec::new());
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        let Some(line) = line.strip_prefix("    ").filter(|_| !fenced) else { continue };
        found.extend(PROGRAMS.iter().any(|program| line.starts_with(program)).then(|| bare(line)));
    }
    found
}

/// Commands in the second column of tables.
fn tabled(text: &str) -> Vec<String> {
    let cells = text.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').nth(1));
    let quoted = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    quoted.filter(|word| PROGRAMS.iter().any(|program| word.starts_with(program))).map(str::to_owned).collect()
}

/// What steps of YAML run.
fn steps(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.trim().strip_prefix("- run: ")).map(str::to_owned).collect()
}

/// Runs a command where `logs` holds the samples and `last.json` a report of them.
fn run(command: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    for path in common::samples() {
        std::fs::copy(&path, logs.join(path.file_name().unwrap())).unwrap();
    }
    common::run_in(folder.path(), &["analyze", "--complete", "--output", "json=last.json", "logs"]);
    shell(command, folder.path())
}

fn shell(command: &str, folder: &Path) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("retrylens").display().to_string();
    let script = format!("retrylens() {{ '{program}' \"$@\"; }}\n{command}");
    Command::new("sh").arg("-c").arg(script).current_dir(folder).output().unwrap()
}

/// The same without the runner, and with the folder that a container would see.
fn here(command: &str) -> String {
    let runner = RUNNERS.iter().find(|runner| command.starts_with(**runner));
    let own = runner.map_or(command.to_owned(), |runner| format!("retrylens{}", &command[runner.len()..]));
    own.replace(" /logs", " logs")
}

#[test]
fn every_command_runs_or_says_why_not() {
    let (mut ran, mut excused) = (0, Vec::new());
    for path in PAGES {
        let text = page(path);
        for command in indented(&text).into_iter().chain(tabled(&text)).chain(steps(&text)) {
            if let Some((excuse, _)) = NOT_RUN.iter().find(|(known, _)| command == *known) {
                excused.push(*excuse);
                continue;
            }
            let own = here(&command);
            assert!(own.starts_with("retrylens "), "{path}: `{command}` neither runs here nor stands in NOT_RUN");
            let output = run(&own);
            let code = output.status.code();
            // The samples hold errors, and no others than the last report.
            assert!(matches!(code, Some(0 | 1)), "{path}: `{command}` ends with {code:?}: {output:?}");
            assert!(output.stderr.is_empty(), "{path}: `{command}`: {}", String::from_utf8_lossy(&output.stderr));
            ran += 1;
        }
    }
    assert!(ran >= 6, "{ran} commands");
    for (known, reason) in NOT_RUN {
        assert!(excused.contains(&known), "`{known}` is in no page any more: {reason}");
    }
}

/// What stands behind a key of a hook, in the order of the file.
fn hooks() -> Vec<(String, String)> {
    let text = page(".pre-commit-hooks.yaml");
    let of = |line: &str, key: &str| {
        line.trim_start_matches("- ").trim().strip_prefix(key).map(|rest| rest.trim().to_owned())
    };
    let ids = text.lines().filter_map(|line| of(line, "id:"));
    let entries = text.lines().filter_map(|line| of(line, "entry:"));
    ids.zip(entries).collect()
}

/// As pre-commit calls it: the entry, the arguments of the page, the files that changed.
#[test]
fn the_hooks_of_the_page_exist_and_do_what_it_says() {
    let hooks = hooks();
    let text = page("docs/ci.md");
    let shown: Vec<&str> = text.lines().filter(|line| line.trim().starts_with("- { id: ")).collect();
    assert_eq!(shown.len(), hooks.len());
    for ((id, _), line) in hooks.iter().zip(&shown) {
        assert!(line.contains(&format!("id: {id}")), "{id} in {line}");
    }
    let (_, arguments) = shown[0].split_once("args: [").expect("arguments");
    let arguments = arguments.split(']').next().unwrap_or_default().replace(',', " ");
    let folder = tempfile::tempdir().unwrap();
    for (sample, code) in [("spend-cap-retried", 1), ("healthy-run", 0)] {
        let file = repo(&format!("samples/{sample}.jsonl"));
        let output = shell(&format!("{} {arguments} '{}'", hooks[0].1, file.display()), folder.path());
        assert_eq!(output.status.code(), Some(code), "{sample}: {output:?}");
    }
    for (written, code) in [("[policy]\nmax_attempts = 3\n", 0), ("[policy]\nmax_attemps = 3\n", 2)] {
        std::fs::write(folder.path().join("retrylens.toml"), written).unwrap();
        let output = shell(&hooks[1].1, folder.path());
        assert_eq!(output.status.code(), Some(code), "{written}: {output:?}");
    }
}

/// As the cluster calls it, with folders in the place of the two volumes.
#[test]
fn the_job_for_kubernetes_judges_and_writes_its_reports() {
    let text = page("integrations/kubernetes/cronjob.yml");
    let (_, arguments) = text.split_once("              args:\n").expect("arguments");
    let listed = arguments.lines().map_while(|line| line.trim().strip_prefix("- "));
    let folder = tempfile::tempdir().unwrap();
    let reports = folder.path().join("reports");
    std::fs::create_dir(&reports).unwrap();
    let arguments: Vec<String> = listed
        // The samples are older than a day.
        .map(|argument| argument.replace("--since=24h", "--since=2020-01-01"))
        .map(|argument| argument.replace("=/reports", &format!("={}", reports.display())))
        .map(|argument| argument.replace("/logs", &repo("samples").display().to_string()))
        .collect();
    assert!(arguments.len() >= 6, "{arguments:?}");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ran = common::run_in(folder.path(), &arguments);
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert!(reports.join("retries.html").exists() && reports.join("retries.json").exists());
}

/// Every file that waits for the owner of the project is named where a release is described.
#[test]
fn the_recipe_of_a_release_names_every_place_of_the_owner() {
    let text = page("docs/development.md");
    let recipe = &text[text.find("## Recipe: a release").expect("the recipe")..];
    let folders = ["", "docs", "docs/ci", "integrations", "integrations/homebrew", ".github/workflows"];
    let files =
        folders.iter().flat_map(|folder| std::fs::read_dir(repo(folder)).unwrap().map(move |entry| (folder, entry)));
    let mut waiting = 0;
    for (folder, entry) in files {
        let entry = entry.unwrap();
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy()).trim_start_matches('/').to_owned();
        let read = entry.file_type().unwrap().is_file().then(|| std::fs::read_to_string(entry.path()).ok()).flatten();
        if name != "docs/development.md" && read.is_some_and(|text| text.contains("OWNER")) {
            assert!(recipe.contains(&format!("`{name}`")), "{name} is not named in the recipe of a release");
            waiting += 1;
        }
    }
    assert!(waiting >= 6, "{waiting} files");
}
