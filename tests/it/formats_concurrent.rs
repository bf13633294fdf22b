//! Logs of concurrent calls whose lines name no request.

use crate::common::{json, judged, run_in};
use std::collections::BTreeMap;

const URL: &str = "https://api.anthropic.example/v1/messages";

/// Lines of an SDK at 10:00, each written at a time in ms: `key` of a request sent, status, or announced wait in ms.
enum Line {
    Sent(Option<&'static str>),
    Status(u16),
    Retry(u32),
}

fn log(lines: &[(u32, Line)]) -> String {
    let one = |(ms, line): &(u32, Line)| {
        let stamp = format!("2026-05-20 10:00:{:02},{:03}", ms / 1000, ms % 1000);
        let sdk = |message: String| format!("{stamp} DEBUG anthropic._base_client {message}\n");
        match line {
            Line::Sent(key) => {
                let key = key.map_or(String::new(), |key| format!("'idempotency_key': '{key}', "));
                sdk(format!("Request options: {{'method': 'post', {key}'json_data': {{'model': 'm'}}}}"))
                    + &sdk(format!("Sending HTTP Request: POST {URL}"))
            }
            Line::Status(status) => sdk(format!("HTTP Response: POST {URL} \"{status} \" Headers({{}})")),
            Line::Retry(ms) => sdk(format!("Retrying request to /v1/messages in 0.{ms:03}500 seconds")),
        }
    };
    lines.iter().map(one).collect()
}

/// The statuses of each call; the first call of a log has no name.
fn statuses_by_call(log: &str) -> BTreeMap<String, Vec<u64>> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sdk.log"), log).unwrap();
    let converted = run_in(folder.path(), &["convert", "sdk.log"]).stdout;
    let mut calls: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for line in converted.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let call = line["call_id"].as_str().unwrap_or("first").to_owned();
        calls.entry(call).or_default().push(line["status"].as_u64().unwrap());
    }
    calls
}

/// Two calls at once, of which each could have been the one that failed and was retried.
fn overlapping() -> String {
    use Line::{Retry, Sent, Status};
    log(&[
        (0, Sent(None)),
        (100, Sent(None)),
        (200, Status(529)),
        (201, Retry(450)),
        (500, Status(529)),
        (652, Sent(None)),
        (900, Status(200)),
    ])
}

#[test]
fn of_concurrent_calls_the_report_says_that_the_log_cannot_tell_them_apart() {
    let report = json(&judged(overlapping().as_bytes()));
    let notices = report["notices"].to_string();
    assert!(notices.contains("2 of 2 calls overlap others"), "{notices}");
    let findings = report["findings"].as_array().unwrap();
    let blaming = |finding: &&serde_json::Value| finding["severity"] == "error" || finding["rule"] == "RL201";
    for finding in findings.iter().filter(blaming) {
        assert_eq!((&finding["severity"], &finding["confidence"]), (&"info".into(), &"low".into()), "{finding}");
    }
    assert_eq!(report["totals"]["sends"], 3, "what the lines show without a guess");
}

#[test]
fn the_same_calls_one_after_the_other_are_no_guess() {
    use Line::{Retry, Sent, Status};
    let log = log(&[
        (0, Sent(None)),
        (100, Status(529)),
        (101, Retry(450)),
        (552, Sent(None)),
        (700, Status(200)),
        (800, Sent(None)),
        (900, Status(529)),
    ]);
    let report = json(&judged(log.as_bytes()));
    assert!(!report["notices"].to_string().contains("overlap"), "{}", report["notices"]);
    assert_eq!(report["totals"]["joined_by_guess"]["count"], 0);
}

#[test]
fn what_a_converted_log_cannot_tell_it_still_cannot_tell() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sdk.log"), overlapping()).unwrap();
    let converted = run_in(folder.path(), &["convert", "sdk.log"]).stdout;
    let lines: Vec<serde_json::Value> = converted.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["call_guessed"] == true), "{converted}");
    assert_eq!(json(&judged(converted.as_bytes()))["notices"].to_string().matches("2 of 2 calls overlap").count(), 1);
}

#[test]
fn a_response_goes_to_the_call_whose_key_shows_that_it_was_retried() {
    use Line::{Retry, Sent, Status};
    let log = log(&[
        (0, Sent(Some("first"))),
        (100, Sent(Some("second"))),
        // Of `second`, although `first` has waited longer.
        (200, Status(200)),
        (300, Sent(Some("third"))),
        (400, Status(529)),
        (401, Retry(450)),
        (852, Sent(Some("first"))),
        (900, Status(200)),
        (950, Status(200)),
    ]);
    let calls = statuses_by_call(&log);
    assert_eq!(calls["first"], [529, 200]);
    assert_eq!((&calls["second"], &calls["third"]), (&vec![200], &vec![200]));
}

#[test]
fn responses_go_round_where_no_two_calls_could_have_got_each_others() {
    use Line::{Retry, Sent, Status};
    let log = log(&[
        (0, Sent(Some("first"))),
        (100, Sent(Some("second"))),
        // Of `second` and then of `third`, although the calls before them have waited longer.
        (200, Status(200)),
        (300, Sent(Some("third"))),
        (400, Status(200)),
        // Of `first`, which had its answer of `second` before `third` was sent.
        (500, Status(529)),
        (501, Retry(450)),
        (952, Sent(Some("first"))),
        (1_100, Status(200)),
    ]);
    let calls = statuses_by_call(&log);
    assert_eq!(calls["first"], [529, 200]);
    assert_eq!((&calls["second"], &calls["third"]), (&vec![200], &vec![200]));
}
