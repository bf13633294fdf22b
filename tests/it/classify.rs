//! `retrylens classify`: one error in, what it is and what to do about it out.

use crate::common::{self, Ran, finish, program};
use serde_json::{Value, json};

fn classify(arguments: &[&str], input: &str) -> Ran {
    finish(program().arg("classify").args(arguments).write_stdin(input))
}

/// The answers, one a line.
fn answers(arguments: &[&str], input: &str) -> Vec<Value> {
    let ran = classify(&[&["--format", "json"], arguments].concat(), input);
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stderr.is_empty(), "{ran:#?}");
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn assert_is(arguments: &[&str], input: &str, class: &str, action: &str, decided_by: &str) -> Value {
    let answers = answers(arguments, input);
    assert_eq!(answers.len(), 1, "{answers:?}");
    let got = (&answers[0]["class"], &answers[0]["action"], &answers[0]["decided_by"]);
    assert_eq!(got, (&json!(class), &json!(action), &json!(decided_by)), "{input}");
    answers[0].clone()
}

const EIGHT: &str = r#"{"status":429,"retry_after":20}
{"status":429,"error":{"type":"rate_limit_error","message":"m","details":{"error_code":"enforced_spend_limit_reached"}}}
{"status":529}
{"status":504,"side_effect":true}
{"status":401}
{"kind":"schema_error"}
{"kind":"policy_refusal"}
{"status":418}
"#;

const EIGHT_ACTIONS: [&str; 8] =
    ["wait_then_retry", "stop", "backoff_then_retry", "reconcile", "stop", "repair", "refuse", "unknown_failure"];

#[test]
fn eight_cases_as_records() {
    let actions: Vec<Value> = answers(&[], EIGHT).iter().map(|answer| answer["action"].clone()).collect();
    assert_eq!(actions, EIGHT_ACTIONS);
    let ran = classify(&[], EIGHT);
    let first_words: Vec<&str> = ran.stdout.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!((ran.code, first_words.as_slice()), (0, &EIGHT_ACTIONS[..]));
}

#[test]
fn eight_cases_one_by_one() {
    let spend = r#"{"type":"error","error":{"type":"rate_limit_error","message":"m","details":{"error_code":"enforced_spend_limit_reached"}}}"#;
    let cases: [(&[&str], &str); 8] = [
        (&["--status", "429", "--retry-after", "20"], ""),
        (&["--status", "429"], spend),
        (&["--status", "529"], ""),
        (&["--status", "504", "--side-effect"], ""),
        (&["--status", "401"], ""),
        (&[], "schema_error"),
        (&[], "policy_refusal"),
        (&["--status", "418"], ""),
    ];
    for ((arguments, input), action) in cases.into_iter().zip(EIGHT_ACTIONS) {
        let answer = answers(arguments, input);
        assert_eq!(answer[0]["action"], action, "{arguments:?} {input}");
        let ran = classify(arguments, input);
        assert!(ran.stdout.starts_with(&format!("{action}: ")), "{ran:#?}");
    }
}

#[test]
fn bodies_in_any_nesting() {
    let limit = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"},"request_id":"req_1"}"#;
    assert_is(&[], limit, "rate_limited", "backoff_then_retry", "error_type");
    assert_is(&["--retry-after", "20"], limit, "rate_limited", "wait_then_retry", "error_type");
    let bare = r#"{"type":"overloaded_error","message":"Overloaded"}"#;
    assert_is(&[], bare, "overloaded", "backoff_then_retry", "error_type");
    let openai = r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    assert_is(&["--status", "429", "--provider", "openai"], openai, "quota_exhausted", "stop", "error_code");
    let google = r#"[{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]"#;
    assert_eq!(answers(&[], google)[0]["action"], "backoff_then_retry");
    // Over several lines, as people paste it.
    let pretty = "{\n  \"error\": {\n    \"type\": \"authentication_error\"\n  }\n}\n";
    assert_is(&[], pretty, "authentication", "stop", "error_type");
}

#[test]
fn plain_text_is_read() {
    let printed = "Error code: 429 - {'type': 'error', 'error': {'type': 'rate_limit_error', 'message': 'm', \
                   'details': {'error_code': 'enforced_spend_limit_reached'}}}";
    assert_is(&[], printed, "spend_cap", "stop", "message");
    let agent = r#"529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert_eq!(answers(&[], agent)[0]["class"], "overloaded");
    let event = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n";
    assert_is(&[], event, "overloaded", "backoff_then_retry", "error_type");
    let limit = "You have reached your specified API usage limits. You will regain access on 2026-09-01 at 00:00 UTC.";
    let answer = assert_is(&[], limit, "spend_limit", "stop", "message");
    assert_eq!(answer["reopens_at"], "2026-09-01T00:00:00Z");
    assert_eq!(answer["evidence"], limit);
    assert_eq!(answers(&[], "anthropic.APIConnectionError: Connection error.")[0]["class"], "connection");
    assert_eq!(answers(&["--side-effect"], "httpx.ReadTimeout")[0]["action"], "reconcile");
    assert_eq!(answers(&[], "ECONNRESET")[0]["class"], "connection");
    let traceback =
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nopenai.APITimeoutError: Request timed out.";
    assert_eq!(answers(&[], traceback)[0]["class"], "timeout");
}

#[test]
fn torn_json_is_still_read() {
    let torn = r#"{"type":"error","error":{"type":"overloaded_error","mess"#;
    assert_eq!(answers(&[], torn)[0]["class"], "overloaded");
    let two = format!("{torn}\n{{\"status\":401}}\n");
    let classes: Vec<Value> = answers(&[], &two).iter().map(|answer| answer["class"].clone()).collect();
    assert_eq!(classes, ["overloaded", "authentication"]);
}

#[test]
fn a_record_says_when_access_reopens() {
    let record = r#"{"ts":"2026-01-05T10:00:00Z","status":429,"error_code":"enforced_spend_limit_reached"}"#;
    assert_eq!(answers(&[], record)[0]["reopens_at"], "2026-02-01T00:00:00Z");
    assert!(classify(&[], record).stdout.contains("2026-02-01 00:00:00 UTC"));
}

#[test]
fn thin_evidence_is_said_to_be_thin() {
    let answer = assert_is(&["--status", "429"], "", "unexplained_429", "backoff_then_retry", "status");
    assert_eq!((&answer["low_confidence"], &answer["evidence"]), (&json!(true), &json!("429")));
    assert!(classify(&["--status", "429"], "").stdout.contains("confidence"));
    assert_is(&[], "something broke", "unknown", "unknown_failure", "nothing");
}

#[test]
fn a_success_is_no_failure() {
    let answer = &answers(&[], r#"{"status":200,"outcome":"ok"}"#)[0];
    assert_eq!((&answer["class"], &answer["action"]), (&Value::Null, &Value::Null));
    assert!(classify(&[], r#"{"status":200,"outcome":"ok"}"#).stdout.starts_with("no failure"));
}

#[test]
fn options_outrank_the_text() {
    let answer = &answers(&["--status", "529"], r#"{"status":400}"#)[0];
    assert_eq!(answer["class"], "overloaded");
    let answer = &answers(&["--retry-after", "7"], r#"{"status":429,"headers":{"retry-after-ms":"1000"}}"#)[0];
    assert_eq!(answer["wait_s"], 7.0);
}

#[test]
fn keys_are_masked_and_controls_do_not_reach_the_terminal() {
    let text = "Incorrect API key provided: sk-ant-REDACTED. \u{1b}[31mred";
    for format in ["text", "json"] {
        let ran = classify(&["--format", format, "--status", "401"], text);
        assert!(!ran.stdout.contains("abcdefghijkl") && !ran.stdout.contains('\u{1b}'), "{ran:#?}");
    }
}

#[test]
fn a_file_or_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("body.json"), r#"{"status":401}"#).unwrap();
    let ran = common::run_in(folder.path(), &["classify", "body.json", "--format", "json"]);
    assert_eq!(ran.json()["action"], "stop");
    assert_eq!(answers(&["-"], r#"{"status":401}"#)[0]["action"], "stop");
    assert_eq!(common::run_in(folder.path(), &["classify", "none.json"]).code, 3);
}

#[test]
fn mistakes_end_with_their_code() {
    for (arguments, input, code, complaint) in [
        (&[][..], "", 3, "nothing to classify"),
        (&[][..], " \n\n", 3, "nothing to classify"),
        (&["--status", "99"][..], "", 2, "from 100 to 599"),
        (&["--status", "many"][..], "", 2, "--status"),
        (&["--sttus", "429"][..], "", 2, "'--status'"),
    ] {
        let ran = classify(arguments, input);
        assert_eq!(ran.code, code, "{ran:#?}");
        assert!(ran.stderr.contains(complaint) && ran.stdout.is_empty(), "{ran:#?}");
    }
}
