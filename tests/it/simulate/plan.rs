//! `retrylens plan`.

use crate::common::{repo, run_in};
use retrylens::config::Config;
use std::path::Path;

#[test]
fn figures_are_those_of_the_formulas() {
    let arguments = ["--attempts", "10", "--layers", "4x3", "--rate", "50", "--time", "8", "--tokens", "8000"];
    let further = ["--attempts-per-call", "4", "--token-limit", "48000000", "--no-config", "--format", "json"];
    let plan = run_in(&repo(""), &[&["plan"], &arguments[..], &further].concat()).json();
    let totals: Vec<f64> =
        plan["schedule"].as_array().unwrap().iter().filter_map(|row| row["total_s"].as_f64()).collect();
    assert_eq!(totals, [0.5, 1.5, 3.5, 7.5, 15.5, 23.5, 31.5, 39.5, 47.5]);
    assert_eq!(
        (&plan["recovery"][2]["success"], &plan["recovery"][2]["expected_attempts"]),
        (&0.875.into(), &1.875.into())
    );
    assert_eq!(plan["layers"]["product"], 12);
    assert_eq!((&plan["timeouts"][0]["timeout_s"], &plan["timeouts"][1]["timeout_s"]), (&95.0.into(), &14.0.into()));
    assert_eq!((&plan["load"]["concurrency"], &plan["tokens"]["tokens_per_min"]), (&400.0.into(), &96e6.into()));
}

#[test]
fn what_is_written_is_what_is_read() {
    let arguments = ["plan", "--no-config", "--attempts", "5", "--base", "1", "--cap", "30", "--jitter", "sdk"];
    let written = run_in(&repo(""), &[&arguments[..], &["--write-policy"]].concat()).stdout;
    let config = Config::parse(&written, Path::new("retrylens.toml")).expect("a configuration");
    let policy = config.policies.iter().next().expect("a policy");
    let waits = policy.schedule.expect("a schedule");
    assert_eq!((policy.max_attempts, waits.base_s, waits.cap_s, waits.nominal_s(3)), (Some(5), 1.0, 30.0, 4.0));
    assert_eq!(waits.allowed_s(3), 3.0..=4.0);
    for name in ["Python", "TypeScript", "tenacity", "LiteLLM", "Vercel AI SDK"] {
        assert!(written.contains(name), "{name}");
    }
    // And it is planned by what it declares.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("retrylens.toml"), &written).unwrap();
    let again = run_in(folder.path(), &["plan", "--format", "json"]).json();
    assert_eq!(again["max_attempts"], serde_json::json!({ "value": 5, "source": "declared" }));
    assert_eq!(again["schedule"][3]["total_s"], 15.0);
}

#[test]
fn a_log_fills_in_what_is_not_given() {
    let arguments = ["plan", "--no-config", "--from-log", "samples/fan-out.jsonl", "--format", "json"];
    let plan = run_in(&repo(""), &arguments).json();
    assert_eq!(
        (&plan["success"]["source"], &plan["load"]["arrivals_per_s"]["source"]),
        (&"measured".into(), &"measured".into())
    );
    let given = run_in(&repo(""), &[&arguments[..], &["--success", "0.5"]].concat()).json();
    assert_eq!(given["success"]["source"], "given");
}

#[test]
fn every_form_is_written() {
    for form in ["text", "markdown", "html"] {
        let ran = run_in(
            &repo(""),
            &["plan", "--no-config", "--rate", "50", "--time", "8", "--pool", "50", "--fan-out", "9", "--format", form],
        );
        assert_eq!(ran.code, 0, "{form}");
        assert!(ran.stdout.contains("47.5") && ran.stdout.contains("400"), "{form}");
    }
}

#[test]
fn wrong_input_is_told_what_is_wanted() {
    for (arguments, part) in [
        (&["--success", "0"][..], "above 0 and up to 1"),
        (&["--layers", "4x"], "as in 4x3"),
        (&["--jitter", "ful"], "did you mean `full`"),
        (&["--rate", "0"], "above 0"),
        (&["--attempts-per-call", "0.5"], "number of 1 or more"),
        (&["--layer", "4x3"], "--layer chooses among the calls of a log"),
        (&["--write-policy", "--format", "html"], "text, markdown and json"),
        (&["--write-policy", "--output", "html=x.html"], "text, markdown and json"),
    ] {
        let ran = run_in(&repo(""), &[&["plan"], arguments].concat());
        assert_eq!(ran.code, 2, "{arguments:?}");
        assert!(ran.stderr.contains(part), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_log_of_which_nothing_is_left_is_no_plan() {
    let ran = run_in(&repo(""), &["plan", "--no-config", "--from-log", "samples/fan-out.jsonl", "--model", "no-such"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    assert!(ran.stderr.contains("no model `no-such` in the log"), "{}", ran.stderr);
}

#[test]
fn figures_that_come_to_nothing_are_named_with_what_they_lack() {
    for (arguments, said) in [
        (&["--rate", "9"][..], "--rate is of no use here: it needs --time, or --tokens"),
        (&["--time", "9"], "--time is of no use here: it needs --rate"),
        (&["--pool", "9"], "--pool is of no use here: it needs --rate and --time"),
        (&["--tokens", "9"], "--tokens is of no use here: it needs --rate"),
        (&["--attempts-per-call", "2"], "--attempts-per-call is of no use here: it needs --rate and --tokens"),
        (&["--token-limit", "9"], "--token-limit is of no use here: it needs --rate and --tokens"),
        (&["--request-limit", "9"], "--request-limit is of no use here: it needs --fan-out"),
        (
            &["--fan-out", "9", "--rate", "2", "--time", "3"],
            "--fan-out is of no use here: it needs --request-limit, or",
        ),
        (&["--fan-out", "9", "--request-limit", "60"], ""),
        (&["--rate", "9", "--time", "2", "--pool", "9", "--fan-out", "9"], ""),
    ] {
        let ran = run_in(&repo(""), &[&["plan", "--no-config"], arguments].concat());
        assert_eq!(ran.code, 0, "{arguments:?}");
        assert!(
            ran.stderr.contains(said) && (said.is_empty() == ran.stderr.is_empty()),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
}
