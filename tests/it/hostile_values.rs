//! Values at the edge of what a form can hold: characters XML has no place for, times beyond the calendar, keys.

use crate::common;

/// A call that failed twice with a refused request, its words and names made of `text`.
fn log(text: &str) -> String {
    let line = |n: u32| {
        serde_json::json!({
            "ts": format!("2026-01-05T10:00:0{n}Z"), "run_id": format!("run{text}"), "call_id": format!("call{text}"),
            "attempt": n, "request_id": format!("req{n}{text}"), "model": format!("model{text}"), "status": 400,
            "error_type": format!("invalid_request_error{text}"), "error_message": format!("wrong{text}words"),
            "duration_ms": 10,
        })
        .to_string()
            + "\n"
    };
    line(1) + &line(2)
}

fn analyzed(log: &str, form: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), log).unwrap();
    let ran = common::run_in(folder.path(), &["analyze", "--complete", "--format", form, "log.jsonl"]);
    assert!([0, 1].contains(&ran.code), "{ran:#?}");
    ran.stdout
}

/// XML 1.0, production 2: `Char`.
fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
}

#[test]
fn junit_is_xml_whatever_the_log_holds() {
    // Every control, and the neighbourhood of each border of what XML allows.
    let borders = [0x0, 0x7f, 0xd7ff, 0xe000, 0xfdd0, 0xfffd, 0x10000, 0x1ffff, 0x10fffe];
    let characters: String =
        borders.iter().flat_map(|at| (at - at.min(&4)..at + 0x21).filter_map(char::from_u32)).collect();
    let xml = analyzed(&log(&characters), "junit");
    let illegal: Vec<char> = xml.chars().filter(|c| !is_xml(*c)).collect();
    assert!(illegal.is_empty(), "{illegal:?}");
    quick_junit::Report::deserialize_from_str(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
}

#[test]
fn times_at_the_end_of_the_calendar_stay_times() {
    let line = |ts: &str, n: u32| {
        format!(
            r#"{{"ts":"{ts}","run_id":"r","call_id":"c","attempt":{n},"status":429,"retry_after":9000000,"duration_ms":400000000}}"#
        ) + "\n"
    };
    let log = line("9999-12-31T23:59:58Z", 1) + &line("9999-12-31T23:59:59Z", 2);
    let report: serde_json::Value = serde_json::from_str(&analyzed(&log, "json")).unwrap();
    let schema: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(common::repo("docs/report.schema.json")).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&report).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert_eq!(report["window"]["last"], "9999-12-31T23:59:59.999999Z");
    // The year 0 is on no calendar: such a line is named, not moved.
    let rejected = common::judged((line("0000-01-01T00:00:00Z", 1) + &line("2026-01-05T10:00:00Z", 2)).as_bytes());
    assert_eq!((rejected.ledger.rejected, rejected.ledger.attempts), (1, 1));
}

#[test]
fn a_key_in_the_name_of_a_file_is_masked_in_every_form() {
    let secret = "0a1b2c3d4e5f6a7b8c9d";
    let folder = tempfile::tempdir().unwrap();
    let name = format!("sk-{secret}.jsonl");
    std::fs::write(folder.path().join(&name), log("") + "{\"ts\": broken\n").unwrap();
    for form in ["text", "html", "json", "ndjson", "markdown", "sarif", "junit", "github"] {
        let ran = common::run_in(folder.path(), &["analyze", "--format", form, "--max-rejected", "0", "-v", &name]);
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{form}: {ran:#?}");
    }
    for form in ["text", "json", "markdown", "html"] {
        let ran = common::run_in(folder.path(), &["trace", "--format", form, "req1", &name]);
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{form}: {ran:#?}");
    }
}

#[test]
fn names_of_models_and_files_are_no_keys() {
    let text = "hf-mistral-7b-instruct-v3";
    let report = common::judged(log(&format!(" {text}")).as_bytes());
    let json = common::json(&report).to_string();
    assert!(json.contains(text) && !json.contains("[masked]"), "{json}");
}

#[test]
fn a_reason_quotes_no_key() {
    let key = format!("sk-ant-api03-{}", "REJ".repeat(8));
    let folder = tempfile::tempdir().unwrap();
    let ok = r#"{"ts":"2026-01-05T10:00:00Z","status":200}"#;
    std::fs::write(folder.path().join("a.jsonl"), format!("{{\"ts\":\"{key}\",\"status\":200}}\n{ok}\n")).unwrap();
    for form in ["text", "json"] {
        let ran = common::run_in(
            folder.path(),
            &["analyze", "a.jsonl", "--format", form, "--rejects", "r.jsonl", "--verbose"],
        );
        let rejects = std::fs::read_to_string(folder.path().join("r.jsonl")).unwrap();
        let all = [ran.stdout, ran.stderr, rejects].concat();
        assert!(all.contains("is no time") && !all.contains(&key), "{all}");
    }
}
