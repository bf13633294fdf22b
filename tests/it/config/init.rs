//! `retrylens config init`: a file to start from.

use super::folder;
use crate::common::{repo, run_in};
use retrylens::config::Config;
use std::path::Path;

/// The file with every line switched on that can be.
fn switched_on(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with([' ', ':', '#']) => format!("{rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[track_caller]
fn assert_valid(text: &str) -> Config {
    let on = switched_on(text);
    assert!(Config::parse(text, Path::new("f")).is_ok(), "{text}");
    Config::parse(&on, Path::new("f")).unwrap_or_else(|error| panic!("{error}\n{on}"))
}

#[test]
fn what_a_log_holds_is_a_valid_file_switched_off_and_on() {
    let folder = folder("");
    let samples = repo("samples").display().to_string();
    let ran = run_in(folder.path(), &["config", "init", &samples]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{ran:#?}");
    let text = std::fs::read_to_string(folder.path().join("retrylens.toml")).unwrap();
    assert!(text.starts_with("#:schema ./.retrylens.schema.json\n"), "{text}");
    for line in
        ["#[rules.RL101] # spend-cap-retried", "#provider = \"anthropic\"", "#rule = \"RL401\"", "#base_s = 0.5"]
    {
        assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
    }
    let on = assert_valid(&text);
    assert!(on.suppress.len() > 3 && on.policies.iter().count() > 1);
    // As it is written, the file changes nothing; what it offers holds.
    let report =
        |arguments: &[&str]| run_in(folder.path(), &[&["analyze", "--format", "json", &samples], arguments].concat());
    assert_eq!(report(&[]).stdout, report(&["--no-config"]).stdout);
    std::fs::write(folder.path().join("on.toml"), switched_on(&text)).unwrap();
    let suppressed = report(&["--config", "on.toml"]).json()["totals"]["suppressed"].clone();
    assert!(suppressed.as_u64().unwrap() > 0, "{suppressed}");
}

#[test]
fn the_schema_beside_it_is_that_of_the_program() {
    let folder = folder("");
    assert_eq!(run_in(folder.path(), &["config", "init"]).code, 0);
    let schema = std::fs::read_to_string(folder.path().join(".retrylens.schema.json")).unwrap();
    assert_eq!(schema, run_in(folder.path(), &["config", "schema"]).stdout);
    assert_valid(&std::fs::read_to_string(folder.path().join("retrylens.toml")).unwrap());
}

#[test]
fn a_file_that_is_there_stays_unless_forced() {
    let folder = folder("ignore = [\"RL8\"]");
    let refused = run_in(folder.path(), &["config", "init"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(folder.path().join("retrylens.toml")).unwrap(), "ignore = [\"RL8\"]");
    assert_eq!(run_in(folder.path(), &["config", "init", "--force", "auth.jsonl"]).code, 0);
    let written = std::fs::read_to_string(folder.path().join("retrylens.toml")).unwrap();
    assert!(written.contains("#[rules.RL106]"), "{written}");
}

#[test]
fn a_log_with_words_of_its_own_can_be_read_with_the_file() {
    let folder = folder("");
    let line = |second: u32| {
        format!("{{\"ts\":\"2026-01-05T10:00:0{second}Z\",\"call_id\":\"c\",\"model\":\"m\",\"answer_code\":401}}\n")
    };
    std::fs::write(folder.path().join("own.jsonl"), line(1) + &line(2)).unwrap();
    assert_eq!(run_in(folder.path(), &["analyze", "own.jsonl"]).code, 3);
    let printed = run_in(folder.path(), &["config", "init", "own.jsonl", "--output", "-"]);
    assert_eq!(printed.code, 0, "{printed:#?}");
    assert!(printed.stdout.contains("[fields]\n\"answer_code\" = \"status\"\n"), "{}", printed.stdout);
    std::fs::write(folder.path().join("own.toml"), &printed.stdout).unwrap();
    let read = run_in(folder.path(), &["analyze", "--config", "own.toml", "--format", "json", "own.jsonl"]);
    assert_eq!(read.json()["totals"]["sends"], 2, "{read:#?}");
}

#[test]
fn names_of_the_log_do_not_write_the_file() {
    let folder = folder("");
    let names = ["a\\\"]\\n[rules.RL101]\\nenabled = false", "b\\u202e\\u001b[2J", "c # \\\\ '''", "d*?[x]"];
    let line = |(at, name): (usize, &&str)| {
        let rest = r#""status":401,"error_type":"authentication_error","input_tokens":5"#;
        format!(
            "{{\"ts\":\"2026-01-05T10:00:0{at}Z\",\"call_id\":\"{}\",\"provider\":\"{name}\",\"model\":\"{name}\",{rest}}}\n",
            at / 2
        )
    };
    let twice = names.iter().flat_map(|name| [name, name]).enumerate().map(line).collect::<String>();
    std::fs::write(folder.path().join("hostile.jsonl"), twice).unwrap();
    let printed = run_in(folder.path(), &["config", "init", "hostile.jsonl", "--output", "-"]);
    assert_eq!(printed.code, 0, "{printed:#?}");
    assert!(!printed.stdout.contains(['\u{1b}', '\u{202e}']), "{}", printed.stdout);
    assert!(Config::parse(&printed.stdout, Path::new("f")).unwrap().rules.is_empty());
    let on = assert_valid(&printed.stdout);
    assert_ne!(on.rules["RL106"].enabled, Some(false));
    assert!(!on.rules.contains_key("RL101"), "{}", printed.stdout);
    let policies: Vec<_> = on.policies.iter().filter_map(|policy| policy.provider.clone()).collect();
    assert!(policies.iter().any(|name| name.matches("d*?[x]") && !name.matches("dxx")), "{policies:?}");
}
