//! `retrylens.toml`: what it changes, how mistakes in it are told, and what suppressions do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Ran, codes, run_in};
use retrylens::config::Config;
use retrylens::rules::CATALOGUE;
use serde_json::Value;
use std::path::Path;

/// RL106, an error: a 401 sent again.
const AUTH: &str = r#"{"ts":"2026-01-05T12:00:00Z","run_id":"r-bad","call_id":"c-2","attempt":1,"status":401,"error_type":"authentication_error","request_id":"req_1","provider":"openai","model":"gpt-mini"}
{"ts":"2026-01-05T12:00:02Z","run_id":"r-bad","call_id":"c-2","attempt":2,"status":401,"error_type":"authentication_error","request_id":"req_2","provider":"openai","model":"gpt-mini"}
"#;

/// A wait 70 ms short of its hint: RL301 by default.
const EARLY: &str = r#"{"ts":"2026-05-20T10:00:00.000Z","run_id":"r","call_id":"c","attempt":1,"status":429,"retry_after":1,"error_type":"rate_limit_error","duration_ms":10,"request_id":"req_1"}
{"ts":"2026-05-20T10:00:00.940Z","run_id":"r","call_id":"c","attempt":2,"status":200,"duration_ms":10,"request_id":"req_2"}
"#;

fn folder(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    // The search for a file ends here.
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::write(folder.path().join("auth.jsonl"), AUTH).unwrap();
    std::fs::write(folder.path().join("early.jsonl"), EARLY).unwrap();
    if !config.is_empty() {
        std::fs::write(folder.path().join("retrylens.toml"), config).unwrap();
    }
    folder
}

fn analyze(folder: &Path, arguments: &[&str]) -> Ran {
    run_in(folder, &[&["analyze"], arguments].concat())
}

/// Exit code and report of a log under a configuration.
fn judged(config: &str, arguments: &[&str]) -> (i32, Value) {
    let folder = folder(config);
    let ran = analyze(folder.path(), &[&["--format", "json"], arguments].concat());
    assert!(ran.stderr.is_empty(), "{ran:#?}");
    (ran.code, ran.json())
}

fn severity_of(report: &Value, code: &str) -> Option<String> {
    let problems = report["problems"].as_array().unwrap();
    problems.iter().find(|one| one["rule"] == code).map(|one| one["severity"].as_str().unwrap().to_owned())
}

fn notices(report: &Value) -> Vec<&str> {
    report["notices"].as_array().unwrap().iter().map(|notice| notice.as_str().unwrap()).collect()
}

#[track_caller]
fn assert_complains(config: &str, complaint: &str) {
    let folder = folder(config);
    for arguments in [&["analyze", "auth.jsonl"][..], &["config", "show"]] {
        let ran = run_in(folder.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{config}: {ran:#?}");
        assert_eq!(ran.stderr.trim_end(), format!("retrylens: retrylens.toml:{complaint}"), "{config}");
    }
}

// What a file changes

#[test]
fn thresholds_severities_and_rules_are_changed() {
    let (code, report) = judged("", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301").as_deref()), (1, Some("error")));
    let (code, report) = judged("[rules.RL301]\ntolerance_ms = 80\n", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301")), (0, None));
    let (code, report) = judged("[rules.RL301]\ntolerance_share = 0.08\n", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301")), (0, None));
    let (code, report) = judged("[rules.rl301]\nseverity = \"warning\"\n", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301").as_deref()), (0, Some("warning")));
    let (code, report) = judged("[rules.RL301]\nenabled = false\n", &["early.jsonl"]);
    assert_eq!((code, severity_of(&report, "RL301")), (0, None));
}

#[test]
fn select_and_ignore_take_codes_and_prefixes() {
    for (config, arguments, fires) in [
        ("ignore = [\"RL106\"]", &[][..], false),
        ("ignore = [\"rl1\", \"RL8\"]", &[], false),
        ("select = [\"RL3\"]", &[], false),
        ("select = [\"RL3\", \"RL1\"]", &[], true),
        ("ignore = [\"RL1\"]\n[rules.RL106]\nenabled = true", &[], true),
        // The command line outranks the file.
        ("ignore = [\"RL106\"]", &["--select", "RL106"], true),
        ("select = [\"RL106\"]", &["--ignore", "RL1"], false),
        ("ignore = [\"RL106\"]", &["--no-config"], true),
    ] {
        let (code, report) = judged(config, &[&["auth.jsonl"], arguments].concat());
        assert_eq!(codes(&report).contains(&"RL106"), fires, "{config} {arguments:?}");
        assert_eq!(code, i32::from(fires), "{config} {arguments:?}");
    }
}

#[test]
fn the_file_is_found_upward_and_no_further_than_the_repository() {
    let outside = tempfile::tempdir().unwrap();
    let inner = outside.path().join("repository/logs/night");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("auth.jsonl"), AUTH).unwrap();
    let config = "ignore = [\"RL106\"]\n";
    std::fs::write(outside.path().join("retrylens.toml"), config).unwrap();
    assert_eq!(analyze(&inner, &["auth.jsonl"]).code, 0);
    std::fs::create_dir(outside.path().join("repository/.git")).unwrap();
    assert_eq!(analyze(&inner, &["auth.jsonl"]).code, 1);
    std::fs::write(outside.path().join("repository/retrylens.toml"), config).unwrap();
    assert_eq!(analyze(&inner, &["auth.jsonl"]).code, 0);
    assert_eq!(analyze(&inner, &["--no-config", "auth.jsonl"]).code, 1);
}

#[test]
fn a_file_may_be_named() {
    let folder = folder("ignore = [\"RL106\"]\n");
    std::fs::write(folder.path().join("other.toml"), "").unwrap();
    assert_eq!(analyze(folder.path(), &["--config", "other.toml", "auth.jsonl"]).code, 1);
    let ran = analyze(folder.path(), &["--config", "none.toml", "auth.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("cannot read none.toml"), "{ran:#?}");
    assert_eq!(analyze(folder.path(), &["--config", "other.toml", "--no-config", "auth.jsonl"]).code, 2);
}

// Mistakes

#[test]
fn mistakes_are_told_with_their_place_and_what_was_meant() {
    for (config, complaint) in [
        ("selct = []", "1:1: no key `selct` here; did you mean `select`?"),
        ("colour = 1", "1:1: no key `colour` here; the file may have select, ignore, rules, suppress"),
        ("select = [\"RL1\",\n  \"RL10l\"]", "2:3: no rule `RL10l`; did you mean `RL101` or `RL102`?"),
        ("ignore = [\"auth-retried\"]", "1:11: no rule `auth-retried`; did you mean `RL106`?"),
        ("ignore = \"RL1\"", "1:10: `ignore` must be a list, not a string"),
        ("[rules.XYZ]", "1:8: no rule `XYZ`; `retrylens rules` lists all"),
        ("\n[rules.RL301]\n  tolerence_ms = 80", "3:3: no key `tolerence_ms` here; did you mean `tolerance_ms`?"),
        ("[rules.RL301]\nseverity = \"warn\"", "2:12: no severity `warn`; did you mean `warning`?"),
        ("[rules.RL301]\nseverity = \"fatal\"", "2:12: no severity `fatal`; there are error, warning, info"),
        ("[rules.RL301]\ntolerance_ms = \"80\"", "2:16: `tolerance_ms` must be a number, not a string"),
        ("[rules.RL301]\ntolerance_ms = -1", "2:16: `tolerance_ms` must be 0 or more"),
        ("[rules.RL301]\ntolerance_ms = nan", "2:16: `tolerance_ms` must be 0 or more"),
        ("[rules.RL301]\nenabled = 1", "2:11: `enabled` must be true or false, not a number"),
        ("[[suppress]]\nrule = \"RL106\"", "1:1: this entry of `suppress` has no `reason`"),
        ("[[suppress]]\nreason = \"x\"", "1:1: this entry of `suppress` has no `rule`"),
        ("[[suppress]]\nrule = \"RL106\"\nreason = \" \"", "3:10: `reason` must say why"),
        ("[[suppress]]\nrule = \"RL106\"\nreson = \"x\"", "3:1: no key `reson` here; did you mean `reason`?"),
        ("[[suppress]]\nclass = \"overload\"", "2:9: no class `overload`; did you mean `overloaded`?"),
        ("[[suppress]]\nexpires = \"soon\"", "2:11: `expires` must be a date such as 2026-12-31"),
    ] {
        assert_complains(config, complaint);
    }
}

#[test]
fn what_is_no_toml_is_said_to_be_none() {
    let folder = folder("select = [\"RL1\"\n[rules]\n");
    let ran = analyze(folder.path(), &["auth.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("retrylens: retrylens.toml:2:") && ran.stderr.contains("not TOML: "), "{ran:#?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
}

// Suppressions

const ACCEPTED: &str = "[[suppress]]\nrule = \"RL1\"\nreason = \"the key is being replaced\"\n";

#[test]
fn what_is_suppressed_counts_as_that_and_as_nothing_else() {
    let (code, whole) = judged("", &["auth.jsonl"]);
    assert_eq!((code, &whole["totals"]["suppressed"]), (1, &0.into()));
    assert!(whole["totals"]["wasted_sends"].as_u64().unwrap() > 0);
    let (code, report) = judged(ACCEPTED, &["auth.jsonl"]);
    assert_eq!((code, &report["totals"]["suppressed"], &report["totals"]["errors"]), (0, &1.into(), &0.into()));
    assert_eq!(report["totals"]["wasted_sends"], 0);
    assert_eq!(report["runs"][0]["wasted_sends"], 0);
    assert!(!codes(&report).contains(&"RL106"));
    assert!(notices(&report).is_empty());
    let shown = analyze(folder(ACCEPTED).path(), &["auth.jsonl"]).stdout;
    assert!(shown.contains("1 finding suppressed"), "{shown}");
}

#[test]
fn suppressions_hold_where_their_patterns_match() {
    for (pattern, holds) in [
        ("run = \"r-*\"", true),
        ("run = \"night-*\"", false),
        ("model = \"gpt-mini\"", true),
        ("model = \"gpt\"", false),
        ("provider = \"open??\"", true),
        ("class = \"authentication\"", true),
        ("class = \"rate_*\"", false),
        ("run = \"*\"\nmodel = \"gpt*\"\nprovider = \"anthropic\"", false),
    ] {
        let (code, report) = judged(&format!("{ACCEPTED}{pattern}\n"), &["auth.jsonl"]);
        assert_eq!(code, i32::from(!holds), "{pattern}");
        assert_eq!(notices(&report).len(), usize::from(!holds), "{pattern}");
    }
}

#[test]
fn suppressions_that_do_nothing_are_noticed() {
    let unused = "[[suppress]]\nrule = \"RL501\"\nreason = \"one gate a host\"\n";
    let (code, report) = judged(&format!("{ACCEPTED}{unused}"), &["auth.jsonl"]);
    assert_eq!(code, 0, "unused suppressions do not fail");
    assert_eq!(notices(&report), ["suppression of RL501 (line 4: one gate a host) covers nothing here"]);
    let shown = analyze(folder(unused).path(), &["auth.jsonl"]).stdout;
    assert!(shown.contains("! suppression of RL501"), "{shown}");
    // A rule that does not judge finds nothing to suppress.
    let (_, report) = judged(&format!("ignore = [\"RL5\"]\n{unused}"), &["auth.jsonl"]);
    assert!(notices(&report).is_empty());
}

#[test]
fn an_expired_suppression_holds_no_longer() {
    for date in ["2020-01-01", "\"2020-01-01\""] {
        let (code, report) = judged(&format!("{ACCEPTED}expires = {date}\n"), &["auth.jsonl"]);
        assert_eq!((code, &report["totals"]["suppressed"]), (1, &0.into()));
        let told = "suppression of RL1 (line 1: the key is being replaced) has expired on 2020-01-01: \
                    its findings count again";
        assert_eq!(notices(&report), [told]);
    }
    let (code, _) = judged(&format!("{ACCEPTED}expires = 2999-12-31\n"), &["auth.jsonl"]);
    assert_eq!(code, 0);
}

#[test]
fn fleet_findings_are_suppressed_too() {
    let log = common::repo("samples/fan-out.jsonl").display().to_string();
    let (_, report) = judged("", &[&log]);
    let fleet: Vec<&str> = codes(&report).into_iter().filter(|code| code.starts_with("RL5")).collect();
    assert!(!fleet.is_empty());
    let config = "[[suppress]]\nrule = \"RL5\"\nreason = \"a test of load\"\n";
    let (_, report) = judged(config, &[&log]);
    assert!(codes(&report).iter().all(|code| !code.starts_with("RL5")));
    assert!(report["totals"]["suppressed"].as_u64().unwrap() >= fleet.len() as u64);
}

// retrylens config

const EVERYTHING: &str = r#"select = ["RL1", "rl3"]
ignore = ["RL304"]

[rules.RL301]
severity = "warning"
enabled = true
tolerance_ms = 80
tolerance_share = 0.05

[[suppress]]
rule = "RL1"
run = "night-*"
model = "gpt*"
provider = "open?i"
class = "authentication"
reason = "say \"no\""
expires = 2999-12-31
"#;

#[test]
fn show_prints_a_file_that_says_the_same() {
    let folder = folder(EVERYTHING);
    let first = run_in(folder.path(), &["config", "show"]);
    assert_eq!(first.code, 0, "{first:#?}");
    for line in
        ["# from retrylens.toml", "tolerance_ms = 80 # default: 50", "severity = \"warning\" # default: \"error\""]
    {
        assert!(first.stdout.lines().any(|shown| shown == line), "{line}: {}", first.stdout);
    }
    std::fs::write(folder.path().join("again.toml"), &first.stdout).unwrap();
    let second = run_in(folder.path(), &["config", "show", "--config", "again.toml"]);
    let rest = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(rest(&first.stdout), rest(&second.stdout));
    let none = run_in(folder.path(), &["config", "show", "--no-config"]).stdout;
    assert!(none.starts_with("# defaults: no retrylens.toml\n") && !none.contains("# default:"), "{none}");
    for rule in CATALOGUE {
        assert!(none.contains(&format!("[rules.{}] # {}\n", rule.code, rule.name)), "{}", rule.code);
    }
}

#[test]
fn the_schema_accepts_what_the_program_accepts() {
    let folder = folder("");
    let schema = run_in(folder.path(), &["config", "schema"]).json();
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    for config in ["", EVERYTHING, ACCEPTED, "[rules.RL301]\ntolerance_ms = 80"] {
        assert!(Config::parse(config, Path::new("f")).is_ok(), "{config}");
        // Dates have no JSON form.
        let json: Value = toml::from_str(&config.replace("2999-12-31", "\"2999-12-31\"")).unwrap();
        assert!(schema.is_valid(&json), "{config}: {:?}", schema.iter_errors(&json).next());
    }
    for config in ["selct = []", "[rules.RL301]\nsevrity = \"info\"", "[rules.RL301]\nseverity = \"warn\"", "[rules.X]"]
    {
        assert!(Config::parse(config, Path::new("f")).is_err(), "{config}");
        let json: Value = toml::from_str(config).unwrap();
        assert!(!schema.is_valid(&json), "{config}");
    }
}

#[test]
fn every_threshold_of_the_catalogue_can_be_set() {
    for rule in CATALOGUE {
        for setting in rule.settings {
            let config = format!("[rules.{}]\n{} = 3\n", rule.code, setting.name);
            let config = Config::parse(&config, Path::new("f")).unwrap();
            assert_eq!(config.settings().get(rule.code, setting), 3.0);
        }
    }
}
