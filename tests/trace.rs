//! `retrylens trace`: from one id to what happened, on logs of real clients.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Ran, repo, run_in, samples};

/// A send of `spend-cap-retried.jsonl`.
const REQUEST: &str = "req_011CstubprVFwcAKpZQ35Uqv";

/// Traces an id in all samples, whatever else is asked for.
fn trace(id: &str, more: &[&str]) -> Ran {
    let files: Vec<String> = samples().iter().map(|path| path.display().to_string()).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    run_in(&repo("samples"), &[&["trace", id], more, &files].concat())
}

/// On one line, however it was wrapped.
fn flat(ran: &Ran) -> String {
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_request_id_leads_to_its_call() {
    let ran = trace(REQUEST, &[]);
    assert_eq!(ran.code, 1, "a finding of severity error: {ran:#?}");
    assert!(ran.stderr.is_empty(), "{ran:#?}");
    let shown = flat(&ran);
    let first = format!(
        "Request {REQUEST} is send 1 of 3 of call run-d76a85de37-c001; the call failed after 3 sends and 1.3 s of \
         waiting. Found: error RL101 spend-cap-retried."
    );
    assert!(shown.starts_with(&first), "{shown}");
    assert!(shown.contains(&format!("{REQUEST} ◀ the id asked for")), "{shown}");
    for line in 1..=3 {
        assert!(shown.contains(&format!("spend-cap-retried.jsonl:{line}")), "where send {line} is: {shown}");
    }
    assert!(shown.contains("✗ error RL101 spend-cap-retried") && shown.contains("fix Read error.details"), "{shown}");
    assert!(shown.contains("SEARCHED 9 inputs, "), "{shown}");
}

#[test]
fn the_beginning_of_an_id_is_enough() {
    let shown = flat(&trace("req_011CstubprVFw", &[]));
    assert!(
        shown.starts_with(&format!("`req_011CstubprVFw` begins request id {REQUEST}, which is send 1 of 3")),
        "{shown}"
    );
    let shown = flat(&trace("req_", &[]));
    assert!(shown.contains("request ids, in ") && shown.contains("CALLS"), "{shown}");
}

#[test]
fn a_call_id_leads_to_all_its_sends() {
    let ran = trace("run-5414c7497c-c001", &["--complete"]);
    let shown = flat(&ran);
    assert!(shown.starts_with("Call run-5414c7497c-c001 failed after 12 sends and 8.2 s of waiting."), "{shown}");
    assert_eq!(ran.code, 1);
    for line in 1..=12 {
        assert!(shown.contains(&format!("two-loops-4x3.jsonl:{line}")), "{shown}");
    }
    assert!(shown.contains("RL401 hidden-layered-retries"), "{shown}");
}

#[test]
fn a_run_id_leads_to_its_calls() {
    let ran = trace("run-bcbd52897c", &["--complete"]);
    let shown = flat(&ran);
    assert!(shown.starts_with("Run run-bcbd52897c has 32 calls; 19 succeeded, 13 failed; 77 sends"), "{shown}");
    for call in 1..=32 {
        assert!(shown.contains(&format!("run-bcbd52897c-c{call:03}")), "call {call}: {shown}");
    }
    assert_eq!(ran.stdout.matches("\nCALL ").count(), 8, "not every timeline: {shown}");
    assert!(shown.contains("left out: 24 calls"), "{shown}");
    let all = trace("run-bcbd52897c", &["--complete", "--verbose"]);
    assert_eq!(all.stdout.matches("\nCALL ").count(), 32);
}

#[test]
fn every_request_id_of_the_samples_is_found() {
    for path in samples() {
        let log = std::fs::read_to_string(&path).unwrap();
        let last = log.lines().rev().find_map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["request_id"].as_str().map(str::to_owned)
        });
        let last = last.unwrap();
        let ran = run_in(&repo("samples"), &["trace", &last, &path.display().to_string()]);
        assert!(ran.code == 0 || ran.code == 1, "{ran:#?}");
        assert!(ran.stdout.starts_with(&format!("Request {last} is")), "{ran:#?}");
        assert_eq!(ran.code == 1, flat(&ran).contains("✗ error"), "the code is the findings': {ran:#?}");
    }
}

#[test]
fn an_unknown_id_ends_with_3_and_says_what_was_searched() {
    let ran = trace("req_nowhere_to_be_found", &[]);
    assert_eq!(ran.code, 3, "{ran:#?}");
    assert!(ran.stdout.is_empty());
    for words in ["`req_nowhere_to_be_found`", "attempts of 9 inputs", "bytes searched"] {
        assert!(ran.stderr.contains(words), "{words}: {ran:#?}");
    }
}

#[test]
fn json_holds_the_same() {
    let ran = trace(REQUEST, &["--format", "json"]);
    assert_eq!(ran.code, 1);
    let trace = ran.json();
    assert_eq!(trace["id"], REQUEST);
    assert_eq!(trace["matched"], "request");
    let calls = trace["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1);
    let sends = calls[0]["sends"].as_array().unwrap();
    assert_eq!(sends.len(), 3);
    assert_eq!(sends.iter().filter(|send| send["named"] == true).count(), 1);
    assert_eq!(sends[1]["dictated_by"], "client");
    assert_eq!(calls[0]["findings"][0]["rule"], "RL101");
}

#[test]
fn the_page_fits_and_has_no_colour_in_a_pipe() {
    for id in [REQUEST, "run-bcbd52897c", "run-5414c7497c-c001", "req_"] {
        let ran = trace(id, &["--verbose"]);
        assert!(!ran.stdout.contains('\x1b'), "{ran:#?}");
        for line in ran.stdout.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        assert!(trace(id, &["--color", "always"]).stdout.contains("\x1b[1m"));
    }
}
