//! Shapes of retry trouble as people's own loggers write them, with what must and must not be said of them:
//! `tests/cases/expected.json`.

use crate::common;
use serde_json::Value;
use std::path::PathBuf;

/// Cases not judged right yet, each with what is lacking. Once one is, the test asks to take it off this list.
const NOT_YET: &[(&str, &str)] = &[];

fn list<'v>(expected: &'v Value, key: &str) -> Vec<&'v str> {
    expected[key].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect()
}

fn shortcomings(expected: &Value) -> Vec<String> {
    let files: Vec<PathBuf> =
        list(expected, "native").into_iter().map(|name| common::repo("tests/cases").join(name)).collect();
    let report = common::report(&files);
    common::assert_balanced(&report);
    let report = common::json(&report);
    let found = common::codes(&report);
    let mut wrong = Vec::new();
    if found.is_empty() && report["totals"]["sends"] == 0 {
        wrong.push("no attempt was read".to_owned());
    }
    for code in list(expected, "must") {
        if !found.contains(&code) {
            wrong.push(format!("missing {code}"));
        }
    }
    let any = list(expected, "must_any");
    if !any.is_empty() && !any.iter().any(|code| found.contains(code)) {
        wrong.push(format!("none of {any:?}, found {found:?}"));
    }
    for code in list(expected, "must_not") {
        if found.contains(&code) {
            wrong.push(format!("false {code}"));
        }
    }
    if expected["quiet"] == true {
        let findings = report["findings"].as_array().unwrap();
        let loud: Vec<&Value> = findings.iter().filter(|f| f["severity"] != "info").map(|f| &f["rule"]).collect();
        if !loud.is_empty() {
            wrong.push(format!("healthy, yet {loud:?}"));
        }
    }
    wrong
}

#[test]
fn cases_are_judged_right() {
    let text = std::fs::read_to_string(common::repo("tests/cases/expected.json")).unwrap();
    let Value::Object(all) = serde_json::from_str(&text).unwrap() else { panic!("an object") };
    assert!(all.len() >= 15, "only {} cases", all.len());
    let mut wrong = Vec::new();
    for (number, expected) in &all {
        let reasons = shortcomings(expected).join("; ");
        let name = format!("{number} {}", expected["name"].as_str().unwrap());
        match NOT_YET.iter().find(|(known, _)| known == number) {
            None if !reasons.is_empty() => wrong.push(format!("{name}: {reasons}")),
            Some((_, why)) if reasons.is_empty() => {
                wrong.push(format!("{name} is judged right now: take it off NOT_YET (\"{why}\")"));
            }
            _ => {}
        }
    }
    for (number, _) in NOT_YET {
        if !all.contains_key(*number) {
            wrong.push(format!("NOT_YET names a case {number} that does not exist"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}
