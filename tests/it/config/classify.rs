//! Failures of a provider's own.

use super::{analyze, folder};
use crate::common::{finish, program, run_in};
use serde_json::Value;

/// Two sends of a house gateway's "try later", which is no code of any provider known.
const HOUSE: &str = r#"{"ts":"2026-01-05T12:00:00Z","run_id":"r","call_id":"c","attempt":1,"status":400,"error_code":"E77","error_message":"The GPU pool is drained","provider":"house","model":"m"}
{"ts":"2026-01-05T12:00:02Z","run_id":"r","call_id":"c","attempt":2,"status":200,"provider":"house","model":"m"}
"#;

/// The class of the first send, as `analyze` sees it.
fn class(row: &str) -> Value {
    let folder = folder(&if row.is_empty() { String::new() } else { format!("[[classify]]\n{row}\n") });
    std::fs::write(folder.path().join("house.jsonl"), HOUSE).unwrap();
    let report = analyze(folder.path(), &["--format", "json", "house.jsonl"]).json();
    report["classes"][0]["class"].clone()
}

#[test]
fn a_row_goes_before_the_built_in_table_where_all_of_it_fits() {
    assert_eq!(class(""), "invalid_request");
    for (row, fits) in [
        ("code = \"E77\"\nclass = \"overloaded\"", true),
        ("code = \"E7?\"\nprovider = \"HOUSE\"\nclass = \"overloaded\"", true),
        ("message = \"*pool is DRAINED*\"\nclass = \"overloaded\"", true),
        ("status = 400\nclass = \"overloaded\"", true),
        ("status = 400\nprovider = \"openai\"\nclass = \"overloaded\"", false),
        ("code = \"e77\"\nclass = \"overloaded\"", false),
        ("code = \"E77\"\ntype = \"*\"\nclass = \"overloaded\"", false),
        ("message = \"drained\"\nclass = \"overloaded\"", false),
    ] {
        assert_eq!(class(row), if fits { "overloaded" } else { "invalid_request" }, "{row}");
    }
}

#[test]
fn the_first_row_that_fits_decides() {
    let rows = "code = \"E77\"\nclass = \"server_error\"\n[[classify]]\nstatus = 400\nclass = \"overloaded\"";
    assert_eq!(class(rows), "server_error");
}

#[test]
fn classify_and_trace_follow_the_rows() {
    let folder = folder("[[classify]]\nprovider = \"house\"\ncode = \"E77\"\nclass = \"overloaded\"\n");
    std::fs::write(folder.path().join("house.jsonl"), HOUSE).unwrap();
    let body = r#"{"error":{"code":"E77","message":"try later"}}"#;
    let classify = |more: &[&str]| {
        let arguments = [&["classify", "--status", "400", "--format", "json"], more].concat();
        finish(program().current_dir(folder.path()).args(arguments).write_stdin(body)).json()
    };
    let answer = classify(&["--provider", "house"]);
    assert_eq!((&answer["class"], &answer["decided_by"]), (&"overloaded".into(), &"configuration".into()));
    assert_eq!(answer["evidence"], "[[classify]] of line 1");
    assert_eq!(classify(&["--provider", "other"])["class"], "invalid_request");
    assert_eq!(classify(&["--provider", "house", "--no-config"])["class"], "invalid_request");
    let ran = run_in(folder.path(), &["trace", "house", "house.jsonl", "--format", "json"]);
    assert_eq!(ran.json()["traces"][0]["calls"][0]["sends"][0]["class"], "overloaded", "{ran:#?}");
}
