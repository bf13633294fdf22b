//! Every command of README.md and of the pages for users: it runs here, or it stands below with the reason why it cannot.
//! `docs.rs` runs what stands in fences.

use crate::ci_recipes::path_with_program;
use crate::common::{self, repo};
use regex::Regex;
use std::path::Path;
use std::process::{Command, Output};

const PAGES: [&str; 12] = [
    "README.md",
    "docs/ci.md",
    "docs/follow.md",
    "docs/install.md",
    "docs/partials.md",
    "docs/recording.md",
    "docs/spark.md",
    "docs/stub.md",
    "integrations/npm/README.md",
    "integrations/pytest/README.md",
    "integrations/python/README.md",
    "samples/README.md",
];

/// What begins a command in indented code, as opposed to lines of a log.
const PROGRAMS: [&str; 14] = [
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
    "python",
    "spark-submit",
    "integrations/",
];

/// What starts the program in an environment of its own: all behind it is run here.
const RUNNERS: [&str; 5] = [
    "uv run retrylens",
    "npx retrylens",
    "python -m retrylens",
    "cargo run --release --",
    "docker run --rm -v \"$PWD/logs:/logs:ro\" retrylens",
];

/// Commands that are not run here, with the reason.
const NOT_RUN: [(&str, &str); 24] = [
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
        "gh attestation verify retrylens-v0.1.0-x86_64-unknown-linux-gnu.tar.gz --repo \"$(gh repo view --json nameWithOwner --jq .nameWithOwner)\"",
        "needs the published release",
    ),
    (
        "sha256sum --check --ignore-missing SHA256SUMS",
        "needs a release; tests/it/install.rs compares the checksums of one",
    ),
    ("retrylens stub --check -- python3 examples/naive_loop.py", "tests/it/serve/check.rs runs it"),
    ("retrylens stub --check -- python3 examples/mended_loop.py", "tests/it/serve/check.rs runs it"),
    ("retrylens stub --check --scenario all -- python3 my_client.py", "tests/it/serve/check.rs has clients of its own"),
    ("retrylens stub --scenario \"529x3,ok\" --log attempts.jsonl", "serves on a fixed port; tests/it/serve/stub.rs"),
    ("retrylens stub --port 8530 --scenario \"529x3,ok\"", "serves on a fixed port; tests/it/serve/stub.rs"),
    ("retrylens record --log attempts.jsonl", "serves on a fixed port; tests/it/serve/record.rs"),
    (
        "retrylens record --log attempts.jsonl --upstream http://127.0.0.1:8530",
        "serves on a fixed port; tests/it/serve/record.rs",
    ),
    ("retrylens record --check -- python3 my_client.py", "asks a provider; tests/it/serve/check.rs"),
    ("python3 my_client.py", "a client of whoever reads the page"),
    ("pip install ./integrations/pytest", "needs a virtual environment; .ci/run tests the plugin"),
    (
        "spark-submit --files /usr/local/bin/retrylens integrations/spark/retrylens_job.py --input 's3a://logs/2026-11-30/*' --output reports/2026-11-30",
        "needs Spark; integrations/spark/check runs the job",
    ),
];

fn page(path: &str) -> String {
    std::fs::read_to_string(repo(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A command without what is said behind it.
fn bare(line: &str) -> String {
    line.split(" # ").next().unwrap_or_default().trim().to_owned()
}

/// Lines of indented code outside fences that begin with a program, with those that they go on in.
fn indented(text: &str) -> Vec<String> {
    let (mut fenced, mut found) = (false, Vec::new());
    for line in text.replace("\\\n        ", "").lines() {
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

/// Runs a command where `logs` and `samples` hold the samples, `last.json` a report of them, `attempts.jsonl` one of them,
/// and `a.rlp` and `b.rlp` a partial of one each.
fn run(command: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let logs = folder.path().join("logs");
    std::fs::create_dir(&logs).unwrap();
    for path in common::samples() {
        std::fs::copy(&path, logs.join(path.file_name().unwrap())).unwrap();
    }
    std::os::unix::fs::symlink(&logs, folder.path().join("samples")).unwrap();
    std::fs::copy(logs.join("healthy-run.jsonl"), folder.path().join("attempts.jsonl")).unwrap();
    for (needed, arguments) in [
        ("last.json", &["analyze", "--complete", "--output", "json=last.json", "logs"][..]),
        (".rlp", &["analyze", "logs/healthy-run.jsonl", "--partial", "a.rlp"]),
        (".rlp", &["analyze", "logs/fan-out.jsonl", "--partial", "b.rlp"]),
    ] {
        if command.contains(needed) {
            common::run_in(folder.path(), arguments);
        }
    }
    shell(command, folder.path())
}

fn shell(command: &str, folder: &Path) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("retrylens").display().to_string();
    let script = format!("retrylens() {{ '{program}' \"$@\"; }}\n{command}");
    Command::new("sh").arg("-c").arg(script).current_dir(folder).env("HOME", folder).output().unwrap()
}

/// The same without the runner, and with the folder here in the place of that of a container or a host.
fn here(command: &str) -> String {
    let runner = RUNNERS.iter().find(|runner| command.starts_with(**runner));
    let own = runner.map_or(command.to_owned(), |runner| format!("retrylens{}", &command[runner.len()..]));
    own.replace(" /logs", " logs").replace("/var/log/agents/", "logs/")
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
            // What goes on until it is interrupted is run below.
            if own.contains(" --follow ") {
                continue;
            }
            assert!(own.starts_with("retrylens "), "{path}: `{command}` neither runs here nor stands in NOT_RUN");
            let output = run(&own);
            let code = output.status.code();
            // The samples hold errors, and no others than the last report.
            assert!(matches!(code, Some(0 | 1)), "{path}: `{command}` ends with {code:?}: {output:?}");
            assert!(output.stderr.is_empty(), "{path}: `{command}`: {}", String::from_utf8_lossy(&output.stderr));
            ran += 1;
        }
    }
    assert!(ran >= 14, "{ran} commands");
    for (known, reason) in NOT_RUN {
        assert!(excused.contains(&known), "`{known}` is in no page any more: {reason}");
    }
}

/// A job that ends what follows its log, in the shell of the page: agents that write a sample stand for the job.
#[test]
fn a_job_ends_what_follows_its_log() {
    let text = page("docs/follow.md");
    let (_, behind) = text.split_once("    ./run-the-agents").expect("the job");
    let (job, _) = behind.split_once("\n\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = path_with_program(folder.path());
    let sample = repo("samples/spend-cap-retried.jsonl");
    let agents = format!("run_the_agents() {{ mkdir -p logs; cp '{}' logs/; sleep 0.5; }}\n", sample.display());
    let script = format!("{agents}run_the_agents{job}");
    let ran = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).env("PATH", path).output().unwrap();
    assert_eq!(ran.status.code(), Some(1), "{ran:#?}");
    assert!(std::fs::read_to_string(folder.path().join("retries.html")).unwrap().contains("RL101"));
}

/// Options in the running text of all pages: of the command they are named with, or of any.
#[test]
fn options_of_the_pages_exist() {
    let help = |arguments: &[&str]| common::run_in(&repo(""), &[arguments, &["--help"]].concat()).stdout;
    let top = help(&[]);
    let option = Regex::new(r"(?:^|[ \[=])(--[a-z][a-z-]*)").unwrap();
    let listed = Regex::new(r"(?m)^  ([a-z]+)  ").unwrap();
    let commands: Vec<(String, String)> = (listed.captures_iter(&top).map(|found| found[1].to_owned()))
        .chain(["config init", "config show", "config schema"].map(str::to_owned))
        .map(|name| (name.clone(), help(&name.split(' ').collect::<Vec<_>>())))
        .collect();
    // Of spark-submit, of the job for it, and of cargo.
    let others = page("integrations/spark/retrylens_job.py") + " --files --no-default-features --locked";
    let any = commands.iter().map(|(_, text)| text.as_str()).collect::<String>() + &top + &others;
    let mut seen = 0;
    for entry in std::fs::read_dir(repo("docs")).unwrap().chain(std::fs::read_dir(repo("")).unwrap()) {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap().replace("```", "");
        for span in text.split('`').skip(1).step_by(2).filter(|span| !span.contains("\n\n")) {
            let span = span.split("-- ").next().unwrap_or_default();
            let of = commands.iter().rev().find(|(name, _)| span.starts_with(&format!("retrylens {name} ")));
            let known = match of {
                Some((_, text)) => text,
                None if span.starts_with("--") => &any,
                None => continue,
            };
            for found in option.captures_iter(span) {
                assert!(known.contains(&found[1]), "{}: `{span}` has no {}", path.display(), &found[1]);
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "{seen} options");
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

/// Where the project is published is said in one place: no text names another repository, nor one that does not exist.
#[test]
fn no_text_names_a_repository_but_cargo_toml() {
    let named = Regex::new(r"(?:\.com/|\.org/|uses: |--repo )([\w.-]+/retrylens)\b").unwrap();
    let known = env!("CARGO_PKG_REPOSITORY");
    let mut read = 0;
    for entry in
        ignore::WalkBuilder::new(repo("")).hidden(false).filter_entry(|entry| entry.file_name() != ".git").build()
    {
        let entry = entry.unwrap();
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        read += 1;
        for found in named.captures_iter(&text) {
            let name = &found[1];
            assert!(known.ends_with(&format!("/{name}")), "{} names {name}", entry.path().display());
        }
    }
    assert!(read > 500, "{read} files");
}
