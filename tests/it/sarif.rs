//! SARIF: valid by its schema, within the limits of code scanning, the same alert every night.

use crate::common;
use retrylens::rules::CATALOGUE;
use serde_json::Value;
use std::path::Path;

fn sarif(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["analyze", "--format", "sarif"], arguments].concat();
    common::run_in(folder, &arguments).json()
}

fn run(log: &Value) -> &Value {
    &log["runs"][0]
}

#[track_caller]
fn assert_valid(log: &Value) {
    let text = std::fs::read_to_string(common::repo("tests/schemas/sarif-2.1.0.json")).unwrap();
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    // One of its patterns has a bracket too many and is no regular expression to a strict reader.
    for of in ["run", "toolComponent"] {
        let language = schema.pointer_mut(&format!("/definitions/{of}/properties/language")).unwrap();
        let pattern = language.as_object_mut().unwrap().remove("pattern").unwrap();
        assert_eq!(pattern, "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$");
    }
    assert!(!log.to_string().contains("\"language\""), "nothing is said that this pattern would have checked");
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(log).map(|error| format!("{}: {error}", error.instance_path())).take(5).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn it_fits_its_schema() {
    for folder in ["samples", "tests/captures", "tests/cases"] {
        assert_valid(&sarif(&common::repo(""), &[folder]));
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("a.jsonl"),
        "{\"ts\":\"2026-01-05T10:00:00Z\",\"status\":200}\n{\"ts\": broken\n",
    )
    .unwrap();
    let log = sarif(folder.path(), &["a.jsonl", "--max-rejected", "100"]);
    assert_valid(&log);
    assert!(log.to_string().contains("1 of 2 lines could not be read"));
}

#[test]
fn all_rules_are_declared_and_every_result_has_one() {
    let log = sarif(&common::repo(""), &["samples"]);
    let rules = run(&log)["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), CATALOGUE.len());
    for (rule, known) in rules.iter().zip(CATALOGUE) {
        assert_eq!(rule["id"], known.code);
        for text in ["/help/text", "/help/markdown", "/fullDescription/text", "/properties/scope"] {
            assert!(
                rule.pointer(text).and_then(Value::as_str).is_some_and(|text| !text.is_empty()),
                "{text}: {rule:#}"
            );
        }
        assert!(rule["properties"]["tags"].as_array().unwrap().len() <= 10);
    }
    let report = common::json(&common::report(&common::samples()));
    let results = run(&log)["results"].as_array().unwrap();
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(results.len(), problems.len());
    for (result, problem) in results.iter().zip(problems) {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
        assert_eq!((&result["ruleId"], &result["occurrenceCount"]), (&problem["rule"], &problem["count"]));
        let level = match problem["severity"].as_str().unwrap() {
            "info" => "note",
            level => level,
        };
        assert_eq!(result["level"], level);
        assert!(result["relatedLocations"].as_array().unwrap().len() <= 20);
    }
    assert_eq!(run(&log)["invocations"][0]["exitCode"], 1);
}

#[test]
fn places_are_relative_and_encoded() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("my logs")).unwrap();
    std::fs::copy(common::repo("samples/spend-cap-retried.jsonl"), folder.path().join("my logs/a#1%.jsonl")).unwrap();
    let log = sarif(folder.path(), &["my logs"]);
    let place = &run(&log)["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "my%20logs/a%231%25.jsonl");
    assert_eq!(place["region"]["startLine"], 1);
}

/// The same problem in another night: other times, ids and file.
#[test]
fn an_alert_stays_the_same_from_night_to_night() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(common::repo("samples/spend-cap-retried.jsonl")).unwrap();
    std::fs::write(folder.path().join("one.jsonl"), &text).unwrap();
    let other = text.replace("2026-11-29", "2026-11-30").replace("req_011", "req_999").replace("run-", "night-");
    assert_ne!(text, other);
    std::fs::write(folder.path().join("two.jsonl"), other).unwrap();
    let fingerprints = |name: &str| {
        let log = sarif(folder.path(), &[name]);
        run(&log)["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["partialFingerprints"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(fingerprints("one.jsonl"), fingerprints("two.jsonl"));
}

#[test]
fn a_baseline_tells_new_from_known() {
    let folder = tempfile::tempdir().unwrap();
    let (bad, more) = ("samples/spend-cap-retried.jsonl", "samples/bad-request-retried.jsonl");
    let last = folder.path().join("last.json").display().to_string();
    common::run_in(&common::repo(""), &["analyze", bad, "--output", &format!("json={last}")]);
    let log = sarif(&common::repo(""), &[bad, more, "--baseline", &last]);
    assert_valid(&log);
    let states: Vec<(&str, &str)> = run(&log)["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["ruleId"].as_str().unwrap(), one["baselineState"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("RL101", "unchanged"), ("RL104", "new")]);
    assert!(run(&sarif(&common::repo(""), &[bad]))["results"][0].get("baselineState").is_none());
}
