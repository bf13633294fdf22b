//! What the first logs of a newcomer hold: lines twice, a last line that announces more, values that cannot be, words of a
//! logger, hosts instead of names.

use crate::common::{self, run_in};
use serde_json::{Value, json};

/// The report of a log of this name.
fn report_of(name: &str, log: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), log).unwrap();
    let ran = run_in(folder.path(), &["analyze", "--no-config", "--format", "json", name]);
    assert!([0, 1, 4].contains(&ran.code), "{ran:#?}");
    ran.json()
}

/// What `convert` makes of it, line by line.
fn converted(name: &str, log: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), log).unwrap();
    let ran = run_in(folder.path(), &["convert", "--no-config", name]);
    assert!([0, 4].contains(&ran.code), "{ran:#?}");
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn notices(report: &Value) -> String {
    report["notices"].to_string()
}

#[test]
fn lines_twice_raise_no_doubt_about_units() {
    let attempt = |call: u32, n: u32, second: u32, status: u16| {
        format!(
            "{{\"ts\":\"2026-03-04T05:{call:02}:{second:02}Z\",\"run_id\":\"r\",\"call_id\":\"c{call}\",\"attempt\":{n},\
             \"status\":{status},\"duration_ms\":1500}}\n"
        )
    };
    let calls: Vec<String> = (0..4).flat_map(|call| [attempt(call, 1, 10, 529), attempt(call, 2, 20, 200)]).collect();
    let twice: String = calls.iter().flat_map(|line| [line.as_str(), line.as_str()]).collect();
    let doubt = "cannot be in the unit";
    let report = report_of("log.jsonl", &twice);
    assert!(!notices(&report).contains(doubt), "{}", notices(&report));
    assert_eq!(report["ledger"]["duplicates"], 8);
    let wrong = calls.concat().replace("1500", "1500000000");
    assert!(notices(&report_of("log.jsonl", &wrong)).contains(doubt));
}

#[test]
fn a_retry_that_is_announced_last_is_open() {
    let log =
        "2026-03-04 05:06:07,250 INFO openai._base_client Retrying request to /chat/completions in 0.45 seconds\n";
    let report = report_of("app.log", log);
    let totals = &report["totals"];
    assert_eq!((&totals["calls_open"], &totals["calls_failed"]), (&json!(1), &json!(0)), "{totals}");
    // The log ends long after the retry was due.
    let later = "2026-03-04 06:06:07,250 INFO httpx HTTP Request: POST https://api.openai.com/v1/embeddings \
                 \"HTTP/1.1 200 OK\"\n";
    let totals = &report_of("app.log", &format!("{log}{later}"))["totals"];
    assert_eq!((&totals["calls_ok"], &totals["calls_failed"]), (&json!(1), &json!(1)), "{totals}");
}

#[test]
fn a_client_that_went_away_cancelled_its_request() {
    let line = |status: &str, rest: &str| {
        format!(
            "10.0.0.7 - - [04/Mar/2026:05:06:07 +0000] \"POST /v1/messages HTTP/1.1\" {status} 0 \"-\" \"c/1\"{rest}\n"
        )
    };
    let upstreams = " upstream_status=\"502, -\" upstream_response_time=\"0.5, 2.0\" request_time=\"2.5\"";
    let log = line("499", "") + &line("499", upstreams);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    std::fs::write(&path, &log).unwrap();
    let ingested = common::read(&[path]);
    let classes: Vec<&str> = ingested.table.rows.iter().filter_map(|row| row.class).map(|class| class.name()).collect();
    assert_eq!(classes, ["cancelled", "gateway_error", "cancelled"]);
}

#[test]
fn values_that_cannot_be_are_told_and_not_used() {
    let log = "{\"ts\":\"2026-03-04T05:06:07Z\",\"call_id\":\"c\",\"status\":200,\"duration_ms\":1e300,\"input_tokens\":1e20}\n\
               {\"ts\":\"2026-03-04T05:06:09Z\",\"call_id\":\"d\",\"status\":99999,\"outcome\":\"ok\",\"duration_ms\":5}\n\
               {\"ts\":\"2026-03-04T05:06:10Z\",\"call_id\":\"e\",\"status\":99999,\"duration_ms\":5}\n\
               {\"ts\":\"2026-03-04T05:06:11Z\",\"call_id\":\"f\",\"status\":429,\"retry_after\":1e300,\"planned_wait_s\":1e200}\n";
    let report = report_of("log.jsonl", log);
    let unreadable: Vec<(&str, &str)> = report["unreadable"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["field"].as_str().unwrap(), one["example"].as_str().unwrap()))
        .collect();
    let fields: Vec<&str> = unreadable.iter().map(|(field, _)| *field).collect();
    assert_eq!(fields, ["duration_ms", "input_tokens", "planned_wait_s", "status"], "{unreadable:?}");
    assert_eq!(unreadable.iter().map(|(_, example)| *example).collect::<Vec<_>>(), ["1e300", "1e20", "1e200", "99999"]);
    assert!(!notices(&report).contains("cannot be in the unit"), "{}", notices(&report));
    assert_eq!(report["ledger"]["rejected"], 1);
    assert!(report["rejects"][0]["reason"].as_str().unwrap().contains("`status` is no HTTP status: 99999"));
    let lines = converted("log.jsonl", log);
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line.to_string().len() < 400), "{lines:?}");
    // They are told again when the record is read again.
    assert_eq!((&lines[0]["duration_ms"], &lines[1]["status"]), (&json!("1e300"), &json!("99999")), "{lines:?}");
}

#[test]
fn the_words_of_a_logger_are_those_of_an_error_where_nothing_else_speaks() {
    let line =
        |members: &str| format!("{{\"ts\":\"2026-03-04T05:06:07Z\",\"call_id\":\"c\",\"attempt\":1,{members}}}\n");
    let words = r#""message":"Your credit balance is too low to access the API""#;
    for (members, message, class) in [
        (format!(r#""status":400,{words}"#), true, "quota_exhausted"),
        (format!(r#""outcome":"error",{words}"#), true, "quota_exhausted"),
        (format!(r#""status":400,"error":{{"message":"max_tokens: required"}},{words}"#), false, "invalid_request"),
        (format!(r#""status":200,{words}"#), false, "ok"),
        // A wait in them is the client's own.
        (r#""status":429,"message":"Rate limit reached. Please try again in 20s.""#.to_owned(), true, "rate_limited"),
    ] {
        let log = line(&members);
        let report = report_of("log.jsonl", &log);
        let found = report["classes"][0]["class"].as_str().unwrap_or("ok").to_owned();
        if class != "rate_limited" {
            assert_eq!(found, class, "{members}");
        }
        let lines = converted("log.jsonl", &log);
        assert_eq!(lines[0].get("message").is_some(), message, "{members}: {lines:?}");
        let again = report_of("log.jsonl", &format!("{}\n", lines[0]));
        assert_eq!(again["classes"], report["classes"], "{members}");
        assert_eq!(report["totals"]["hinted_429"]["count"], 0, "{members}");
    }
}

#[test]
fn hosts_name_the_provider() {
    let openai = "2026-03-04 05:06:07,250 INFO httpx HTTP Request: POST https://api.openai.com/v1/chat/completions \
                  \"HTTP/1.1 429 Too Many Requests\"\n\
                  2026-03-04 05:06:09,250 INFO httpx HTTP Request: POST https://api.openai.com/v1/chat/completions \
                  \"HTTP/1.1 200 OK\"\n";
    let native = |key: &str, value: &str| {
        format!("{{\"ts\":\"2026-03-04T05:06:07Z\",\"call_id\":\"c\",\"status\":429,\"{key}\":\"{value}\"}}\n")
    };
    for (name, log, provider) in [
        ("app.log", openai.to_owned(), Some("openai")),
        ("log.jsonl", native("base_url", "https://api.groq.com/openai/v1"), Some("groq")),
        ("log.jsonl", native("host", "api.anthropic.com"), Some("anthropic")),
        ("log.jsonl", native("host", "worker-7.eu-west-1.compute.amazonaws.com"), None),
        ("log.jsonl", native("base_url", "https://llm.example.com/v1"), None),
    ] {
        let report = report_of(name, &log);
        let who = report["who"].as_array().unwrap();
        let named = who.iter().find(|row| row["by"] == "provider").and_then(|row| row["name"].as_str());
        assert_eq!(named, provider, "{log}");
    }
}

#[test]
fn earlier_failures_that_an_answer_lists_are_attempts_beneath() {
    let line = |n: u32, body: &str| {
        format!("{{\"ts\":\"2026-03-04T05:06:0{n}Z\",\"call_id\":\"c{n}\",\"provider\":\"openrouter\",{body}}}\n")
    };
    let failed = r#""status":502,"body":{"error":{"code":502,"message":"all failed","metadata":{"previous_errors":[{"code":429},{"code":503}]}}}"#;
    let answered =
        r#""status":200,"response":{"id":"g","choices":[],"previous_errors":[{"code":429,"message":"busy"}]}"#;
    let log = line(1, failed) + &line(2, answered);
    let totals = report_of("log.jsonl", &log)["totals"].clone();
    assert_eq!((&totals["sends"], &totals["attempts_implied"], &totals["calls_ok"]), (&json!(2), &json!(5), &json!(1)));
    let again: String = converted("log.jsonl", &log).iter().map(|line| format!("{line}\n")).collect();
    assert_eq!(report_of("log.jsonl", &again)["totals"]["attempts_implied"], 5, "{again}");
}

#[test]
fn the_envelope_of_an_input_is_named() {
    let line = r#"{\"ts\":\"2026-03-04T05:06:07Z\",\"call_id\":\"c\",\"attempt\":1,\"status\":529}"#;
    let log = format!("{{\"log\":\"{line}\\n\",\"stream\":\"stdout\",\"time\":\"2026-03-04T05:06:08Z\"}}\n");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("container.log"), log).unwrap();
    let ran = run_in(folder.path(), &["analyze", "--no-config", "--color", "never", "container.log"]);
    assert!(ran.stdout.contains("native in docker json-file"), "{}", ran.stdout);
}
