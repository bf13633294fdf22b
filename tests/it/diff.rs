//! `retrylens diff`: what is new, worse, fixed or better, and nothing else.

use crate::common::{self, Ran, run_in};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// A night of `calls` calls, a second apart, of which the first `refused` send a refused key again.
fn night(day: u8, model: &str, calls: u32, refused: u32) -> String {
    let mut log = String::new();
    for call in 0..calls {
        let sends = if call < refused { 2 } else { 1 };
        for attempt in 1..=sends {
            let second = call * 3 + attempt;
            let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
            let status =
                if sends == 2 { r#""status":401,"error_type":"authentication_error""# } else { r#""status":200"# };
            writeln!(
                log,
                r#"{{"ts":"2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}Z","run_id":"{model}-{}","call_id":"{model}-{day}-{call}","attempt":{attempt},{status},"duration_ms":300,"request_id":"req_{model}_{day}_{call}_{attempt}","provider":"openai","model":"{model}"}}"#,
                call / 50
            )
            .unwrap();
        }
    }
    log
}

/// Folders `old` and `new`: samples that are the same, one that only either has, and one model worse, one better.
fn planted() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (side, day, only, refused) in
        [("old", 5, "spend-cap-retried", (5, 60)), ("new", 6, "bad-request-retried", (60, 5))]
    {
        let path = folder.path().join(side);
        std::fs::create_dir(&path).unwrap();
        for sample in ["healthy-run", "two-loops-4x3", only] {
            let name = format!("{sample}.jsonl");
            std::fs::copy(common::repo("samples").join(&name), path.join(&name)).unwrap();
        }
        std::fs::write(path.join("a.jsonl"), night(day, "alpha", 400, refused.0)).unwrap();
        std::fs::write(path.join("b.jsonl"), night(day, "beta", 400, refused.1)).unwrap();
        std::fs::write(path.join("c.jsonl"), night(day, "gamma", 400, 30)).unwrap();
    }
    folder
}

fn diff(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["diff", "--no-config", "--complete"], arguments].concat())
}

/// Problems above info of which this became: rule and model.
fn changed(diff: &Value, change: &str) -> Vec<String> {
    let problems = diff["problems"].as_array().unwrap().iter();
    let mut names: Vec<String> = problems
        .filter(|one| one["change"] == change && one["severity"] != "info")
        .map(|one| format!("{} {}", one["rule"].as_str().unwrap(), one["model"].as_str().unwrap_or("-")))
        .collect();
    names.sort();
    names
}

#[test]
fn what_was_planted_is_named_and_nothing_else() {
    let folder = planted();
    let ran = diff(folder.path(), &["old", "new", "--format", "json"]);
    assert_eq!(ran.code, 1, "{ran:#?}");
    let diff = ran.json();
    assert_eq!(changed(&diff, "new"), ["RL104 claude-sonnet-5-5"]);
    assert_eq!(changed(&diff, "fixed"), ["RL101 claude-sonnet-5-5"]);
    assert_eq!(changed(&diff, "worse"), ["RL106 alpha"]);
    assert_eq!(changed(&diff, "better"), ["RL106 beta"]);
    let same = changed(&diff, "same");
    assert!(
        same.contains(&"RL106 gamma".to_owned()) && same.contains(&"RL401 claude-sonnet-5-5".to_owned()),
        "{same:?}"
    );
    let worse = diff["problems"].as_array().unwrap().iter().find(|one| one["change"] == "worse").unwrap();
    assert_eq!((&worse["old"]["part"], &worse["new"]["part"]), (&5.into(), &60.into()));
    assert!(worse["p_value"].as_f64().unwrap() < 0.001);
}

#[test]
fn a_report_is_as_good_as_its_log() {
    let folder = planted();
    for side in ["old", "new"] {
        let output = format!("json={side}.json");
        run_in(folder.path(), &["analyze", "--no-config", "--complete", "--output", &output, side]);
    }
    let of_logs = diff(folder.path(), &["old", "new", "--format", "json"]).json();
    for sides in [["old.json", "new.json"], ["old.json", "new"], ["old", "new.json"]] {
        let of_reports = diff(folder.path(), &[&sides[..], &["--format", "json"]].concat()).json();
        common::assert_same(
            &common::without(of_reports, &["name"]),
            &common::without(of_logs.clone(), &["name"]),
            "names of problems are not compared",
        );
    }
}

#[test]
fn a_report_against_itself_is_no_change() {
    let folder = planted();
    run_in(folder.path(), &["analyze", "--complete", "--output", "json=old.json", "old"]);
    let ran = diff(folder.path(), &["old.json", "old.json", "--fail-on", "info"]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stdout.starts_with("No change: the same"), "{}", ran.stdout);
    let found = diff(folder.path(), &["old.json", "old.json", "--format", "json"]).json();
    assert!(found["problems"].as_array().unwrap().iter().all(|one| one["change"] == "same"));
    assert!(found["measures"].as_array().unwrap().iter().all(|one| one["change"] == "same"));
}

#[test]
fn twice_the_traffic_is_no_change() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("old.jsonl"), night(5, "alpha", 500, 20)).unwrap();
    std::fs::write(folder.path().join("new.jsonl"), night(6, "alpha", 1000, 40)).unwrap();
    for sides in [["old.jsonl", "new.jsonl"], ["new.jsonl", "old.jsonl"]] {
        let ran = diff(folder.path(), &sides);
        assert_eq!(ran.code, 0, "{ran:#?}");
        assert!(ran.stdout.starts_with("No change"), "{}", ran.stdout);
    }
    // More findings than before, and fewer of each hundred calls, is better.
    std::fs::write(folder.path().join("new.jsonl"), night(6, "alpha", 4000, 40)).unwrap();
    let found = diff(folder.path(), &["old.jsonl", "new.jsonl", "--format", "json"]).json();
    assert_eq!(changed(&found, "better"), ["RL106 alpha"]);
}

#[test]
fn the_exit_code_follows_what_is_new_or_worse() {
    let folder = tempfile::tempdir().unwrap();
    let write =
        |name: &str, refused| std::fs::write(folder.path().join(name), night(5, "alpha", 500, refused)).unwrap();
    write("few.jsonl", 5);
    write("many.jsonl", 100);
    write("none.jsonl", 0);
    for (old, new, fail_on, code) in [
        ("few.jsonl", "many.jsonl", "error", 1),
        ("few.jsonl", "many.jsonl", "never", 0),
        ("many.jsonl", "few.jsonl", "info", 0),
        ("none.jsonl", "few.jsonl", "error", 1),
        ("few.jsonl", "none.jsonl", "info", 0),
    ] {
        let ran = diff(folder.path(), &[old, new, "--fail-on", fail_on]);
        assert_eq!(ran.code, code, "{old} {new}: {ran:#?}");
    }
}

#[test]
fn what_is_neither_report_nor_log_is_said_to_be_neither() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("log.jsonl", &night(5, "alpha", 10, 1));
    write("newer.json", r#"{"schema_version": 9, "generator": "retrylens 7", "problems": []}"#);
    write("torn.json", r#"{"schema_version": 1, "generator": "retrylens 0.1.0", "problems": []}"#);
    write("prose.txt", "nothing of the kind\n");
    write("other.json", "{\n  \"a\": 1\n}\n");
    assert_eq!(diff(folder.path(), &["log.jsonl", "log.jsonl", "--output", "json=diff.json"]).code, 0);
    for (file, code, complaint) in [
        ("newer.json", 2, "newer.json: a report of schema version 9, which a newer retrylens wrote"),
        (
            "torn.json",
            2,
            "torn.json: no JSON report of retrylens, as `analyze --output json=FILE` writes: missing field",
        ),
        ("diff.json", 2, "diff.json: a diff of retrylens, not a report"),
        ("prose.txt", 3, "prose.txt is neither a JSON report of retrylens nor a log"),
        ("other.json", 3, "other.json is neither a JSON report of retrylens nor a log"),
        ("none.json", 3, "none.json"),
    ] {
        for sides in [[file, "log.jsonl"], ["log.jsonl", file]] {
            let ran = diff(folder.path(), &sides);
            assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{ran:#?}");
            assert!(ran.stderr.contains(complaint) && ran.stderr.lines().count() == 1, "{ran:#?}");
        }
    }
    let ran = diff(folder.path(), &["-", "-"]);
    assert!(ran.code == 2 && ran.stderr.contains("one of the two sides"), "{ran:#?}");
}

#[test]
fn a_report_that_leaves_problems_out_is_said_to() {
    let folder = planted();
    run_in(folder.path(), &["analyze", "--complete", "--min-severity", "error", "--output", "json=old.json", "old"]);
    let notices = diff(folder.path(), &["old.json", "new", "--format", "json"]).json()["notices"].to_string();
    assert!(notices.contains("old.json leaves out") && notices.contains("--min-severity"), "{notices}");
    let none = diff(folder.path(), &["old", "new", "--format", "json"]).json()["notices"].to_string();
    assert!(!none.contains("leaves out"), "{none}");
}

#[test]
fn filters_are_for_logs() {
    let folder = planted();
    run_in(folder.path(), &["analyze", "--output", "json=old.json", "old"]);
    let ran = diff(folder.path(), &["old.json", "new", "--model", "alpha"]);
    assert!(ran.code == 2 && ran.stderr.contains("old.json is a report: --model chooses calls of logs"), "{ran:#?}");
    let found = diff(folder.path(), &["old", "new", "--model", "alpha", "--threads", "1", "--format", "json"]).json();
    assert_eq!((&found["old"]["calls"], changed(&found, "better").len()), (&400.into(), 0));
    let ran = diff(folder.path(), &["old", "new", "--model", "omega"]);
    assert!(ran.code == 3 && ran.stdout.is_empty() && ran.stderr.lines().count() == 1, "{ran:#?}");
}

#[test]
fn every_form_says_the_same() {
    let folder = planted();
    let outputs = ["text=d.txt", "json=d.json", "markdown=d.md", "html=d.html"];
    let arguments: Vec<&str> =
        ["old", "new"].into_iter().chain(outputs.iter().flat_map(|one| ["--output", one])).collect();
    assert_eq!(diff(folder.path(), &arguments).code, 1);
    for (file, form) in [("d.txt", "text"), ("d.json", "json"), ("d.md", "markdown"), ("d.html", "html")] {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        let printed = diff(folder.path(), &["old", "new", "--format", form]).stdout;
        assert!(text == printed, "{file} is not what --format {form} prints");
        for word in ["auth-retried", "alpha", "spend-cap-retried"] {
            assert!(text.contains(word), "{file} lacks {word}");
        }
    }
    let text = std::fs::read_to_string(folder.path().join("d.txt")).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let again = diff(folder.path(), &["old", "new", "--output", "json=old/a.jsonl"]);
    assert!(again.code == 2 && again.stderr.contains("is an input"), "{again:#?}");
}

#[test]
fn hostile_text_has_no_power_in_any_form() {
    let folder = tempfile::tempdir().unwrap();
    let bad = r#"</script><img src=x onerror=alert(1)>`|](x)\u001b[2J\u202e\n sk-ant-api03-abcdefghijklmnop"#;
    std::fs::write(folder.path().join("old.jsonl"), night(5, "alpha", 50, 0)).unwrap();
    std::fs::write(
        folder.path().join("new.jsonl"),
        night(6, "alpha", 50, 9).replace(r#""model":"alpha""#, &format!(r#""model":"{bad}""#)),
    )
    .unwrap();
    for form in ["text", "json", "markdown", "html"] {
        let shown = diff(folder.path(), &["old.jsonl", "new.jsonl", "--format", form]).stdout;
        assert!(!shown.contains("abcdefghijklmnop"), "a key in {form}");
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}' && form != "json"), "{form}");
        if form == "html" {
            assert!(!shown.contains("<img"), "markup in {form}");
        }
        if form == "markdown" {
            let rows: Vec<&str> =
                shown.lines().filter(|line| line.starts_with("| ") && line.contains("RL106")).collect();
            assert!(rows.len() == 1 && rows[0].contains(r"\`\|\](x)"), "{rows:?}");
        }
    }
}
