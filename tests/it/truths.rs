//! Small logs of which the truth is known: what must be said of them, and what must not.

use retrylens::ingest::read_str;
use retrylens::judge::{Options, judge};
use std::collections::BTreeSet;

/// Rules of severity warning or error that fire on a log to which nothing is added.
fn loud(log: &str) -> BTreeSet<&'static str> {
    let table = read_str(log);
    let judgement = judge(&table, &Options { complete: true, ..Options::default() });
    let loud = judgement.problems.values().filter(|fold| fold.counts[1] + fold.counts[2] > 0);
    loud.map(|fold| fold.rule.code).collect()
}

const BASE: &str = r#""ts":"2026-01-05T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"request_id":"q","provider":"anthropic","model":"m""#;

#[test]
fn an_answer_is_no_error() {
    for body in [
        r#""body":{"type":"message","role":"assistant","content":[{"type":"text","text":"hi"}]}"#,
        r#""body":"{\"type\":\"message\",\"content\":[]}""#,
        r#""body":"The server was overloaded_error yesterday""#,
        r#""response":{"status":"completed"}"#,
        r#""response":"OK""#,
        r#""body":{"choices":[]}"#,
    ] {
        for outcome in ["", r#","outcome":"ok""#] {
            let log = format!("{{{BASE},\"status\":200{outcome},{body}}}");
            assert!(loud(&log).is_empty(), "{log}: {:?}", loud(&log));
        }
    }
}

#[test]
fn an_error_inside_a_body_of_a_200_is_one() {
    let log = format!(
        r#"{{{BASE},"status":200,"body":{{"type":"error","error":{{"type":"overloaded_error","message":"Overloaded"}}}}}}"#
    );
    assert!(loud(&log).contains("RL202"), "{:?}", loud(&log));
}

#[test]
fn words_for_nothing_are_nothing() {
    for field in [
        r#""error_type":"""#,
        r#""error_type":"None""#,
        r#""errorType":"null""#,
        r#""error":"None""#,
        r#""error":"-""#,
        r#""err":"<nil>""#,
        r#""code":"ok""#,
        r#""exception":"None""#,
    ] {
        let log = format!("{{{BASE},\"status\":200,\"outcome\":\"ok\",{field}}}");
        assert!(loud(&log).is_empty(), "{log}: {:?}", loud(&log));
    }
}

#[test]
fn a_spent_quota_is_read_in_the_text_of_an_exception() {
    let text = "openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota, please \
                check your plan and billing details.', 'type': 'insufficient_quota', 'code': 'insufficient_quota'}}";
    let line = |second: u32, attempt: u32| {
        format!(
            r#"{{"ts":"2026-01-05T10:00:0{second}Z","run_id":"r","call_id":"c","attempt":{attempt},"request_id":"q{attempt}","provider":"openai","status":429,"exception":"{text}"}}"#
        )
    };
    let found = loud(&[line(0, 1), line(2, 2), line(6, 3)].join("\n"));
    assert!(found.contains("RL107") && !found.contains("RL203"), "{found:?}");
}

#[test]
fn steps_of_a_turn_and_jobs_of_other_days_are_calls_of_their_own() {
    let step = |second: u32, id: &str| {
        format!(
            r#"{{"ts":"2026-01-05T10:00:{second:02}Z","session_id":"s","turn_id":"t1","request_id":"{id}","status":200,"duration_ms":900}}"#
        )
    };
    let turn = [step(0, "a"), step(5, "b"), step(10, "c")].join("\n");
    let table = read_str(&turn);
    let judgement = judge(&table, &Options::default());
    assert_eq!(judgement.fleet.tally.all_calls(), 3);

    let day = |day: u32| {
        format!(
            r#"{{"ts":"2026-01-0{day}T10:00:00Z","run_id":"nightly","call_id":"call-1","attempt":1,"request_id":"q{day}","status":400,"error_type":"invalid_request_error"}}"#
        )
    };
    let found = loud(&[day(5), day(6), day(7)].join("\n"));
    assert!(!found.contains("RL104"), "{found:?}");
}

#[test]
fn records_that_cannot_be_told_apart_are_not_copies() {
    let line = r#"{"ts":"2026-01-05T10:00:00Z","model":"m","provider":"anthropic","status":529}"#;
    let table = read_str(&[line; 20].join("\n"));
    let judgement = judge(&table, &Options::default());
    assert_eq!((judgement.fleet.tally.sends, judgement.fleet.tally.duplicates), (20, 0));
}

#[test]
fn an_id_that_several_calls_share_is_said_once() {
    let first = r#"{"ts":"2026-01-05T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"request_id":"q1","status":200,"duration_ms":3000}"#;
    let second = |second: u32| {
        format!(
            r#"{{"ts":"2026-01-05T10:00:0{second}Z","run_id":"r","call_id":"c","attempt":1,"request_id":"q2","status":200,"duration_ms":500}}"#
        )
    };
    let notices = |log: &str| crate::common::judged(log.as_bytes()).notices;
    let overlapping = notices(&format!("{first}\n{}\n", second(1)));
    assert_eq!(overlapping.len(), 1, "{overlapping:?}");
    assert!(
        overlapping[0].contains("1 call was under way when another call with the same id began"),
        "{overlapping:?}"
    );
    assert!(overlapping[0].contains("2026-01-05T10:00:00"), "{overlapping:?}");
    // The next step of a turn, after the answer.
    assert!(notices(&format!("{first}\n{}\n", second(4))).is_empty());
}
