//! What the tests share: the program, the library in one call, and logs to judge.

pub(crate) mod schema;

use retrylens::ingest::{self, Ingested, Source};
use retrylens::judge::{self, judge};
use retrylens::report::{Report, build};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A path of the repository.
pub(crate) fn repo(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The program, to be run in the repository's root.
pub(crate) fn program() -> assert_cmd::Command {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("retrylens");
    command.current_dir(repo("")).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

/// What one run of the program came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("no JSON: {error}\n{self:#?}"))
    }
}

/// Runs a prepared command to its end.
pub(crate) fn finish(command: &mut assert_cmd::Command) -> Ran {
    let output = command.output().expect("the program starts");
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
    }
}

/// Runs the program in `folder`.
pub(crate) fn run_in(folder: &Path, arguments: &[&str]) -> Ran {
    finish(program().current_dir(folder).args(arguments))
}

/// The samples, in order.
pub(crate) fn samples() -> Vec<PathBuf> {
    logs_in("samples")
}

/// The logs of a folder of the repository, in order.
pub(crate) fn logs_in(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(repo(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no logs in {folder}");
    files
}

/// Reads files as they stand.
pub(crate) fn read(files: &[PathBuf]) -> Ingested {
    let sources: Vec<Source> = files.iter().cloned().map(Source::File).collect();
    ingest::read(&sources, &ingest::Options::default(), &|_| {}).unwrap()
}

/// How the tests judge: nothing follows the data.
pub(crate) fn complete() -> judge::Options {
    judge::Options { complete: true, ..judge::Options::default() }
}

/// Reads, judges and reports files, by every rule.
pub(crate) fn report(files: &[PathBuf]) -> Report {
    report_of(&read(files), &complete())
}

/// Judges and reports what was read.
pub(crate) fn report_of(ingested: &Ingested, options: &judge::Options) -> Report {
    build(ingested, &judge(&ingested.table, options), &options.rules)
}

/// The report as other programs see it.
pub(crate) fn json(report: &Report) -> Value {
    serde_json::to_value(report).unwrap()
}

/// Judges a log given as bytes.
pub(crate) fn judged(log: &[u8]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, log).unwrap();
    report(&[path])
}

/// The codes of the findings of a report in its JSON form.
pub(crate) fn codes(report: &Value) -> Vec<&str> {
    let mut codes: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Fails unless `lines = attempts + skipped + rejected + blank + duplicates + views`, in all and input by input.
pub(crate) fn assert_balanced(report: &Report) {
    let whole = std::iter::once(("all inputs", &report.ledger));
    for (name, ledger) in whole.chain(report.inputs.iter().map(|input| (input.path.as_str(), &input.ledger))) {
        let sum = ledger.attempts + ledger.skipped + ledger.rejected + ledger.blank + ledger.duplicates + ledger.views;
        assert_eq!(ledger.lines, sum, "{name}: {ledger:?}");
        assert!(ledger.filtered <= ledger.skipped, "{name}: {ledger:?}");
    }
    assert_eq!(report.ledger.attempts, report.totals.sends, "every attempt of the ledger is a send");
}

/// Removes keys wherever they stand.
pub(crate) fn without(mut value: Value, keys: &[&str]) -> Value {
    fn strip(value: &mut Value, keys: &[&str]) {
        match value {
            Value::Object(map) => {
                map.retain(|key, _| !keys.contains(&key.as_str()));
                map.values_mut().for_each(|value| strip(value, keys));
            }
            Value::Array(list) => list.iter_mut().for_each(|value| strip(value, keys)),
            _ => {}
        }
    }
    strip(&mut value, keys);
    value
}

/// Says where two values part first: whole reports are too long to read.
pub(crate) fn first_difference(left: &Value, right: &Value, path: &str) -> Option<String> {
    match (left, right) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let none = Value::Null;
                first_difference(a.get(key).unwrap_or(&none), b.get(key).unwrap_or(&none), &format!("{path}.{key}"))
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(place, (a, b))| first_difference(a, b, &format!("{path}[{place}]")))
        }
        _ if left == right => None,
        _ => Some(format!("{path}: {left} against {right}")),
    }
}

/// Fails where two values part, and says where.
#[track_caller]
pub(crate) fn assert_same(left: &Value, right: &Value, what: &str) {
    if let Some(difference) = first_difference(left, right, "report") {
        panic!("{what}: {difference}");
    }
}
