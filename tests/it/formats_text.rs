//! Attempts read from the text that SDKs and retry loops write.

use crate::common::{repo, run_in};
use retrylens::ingest::{self, Ingested, Options, Source};
use retrylens::model::{Attempt, Flags};

fn read(name: &str) -> Ingested {
    let source = Source::File(repo("tests/formats").join(name));
    ingest::read(&[source], &Options::default(), &|_| {}).unwrap()
}

/// Status, retries counted before, stated wait in ms, and class of each attempt, in the order in which they were sent.
fn attempts(read: &Ingested) -> Vec<String> {
    let mut rows: Vec<&Attempt> = read.table.rows.iter().collect();
    rows.sort_by_key(|row| (row.sent, row.line));
    let told = |row: &&Attempt| {
        let wait = read.table.detail(row).and_then(|detail| detail.planned_us);
        let wait = wait.map_or(String::new(), |us| format!(" wait {}", us / 1000));
        let count = row.sdk_count().map_or(String::new(), |count| format!(" retry {count}"));
        let number =
            if row.number > 0 { format!(" attempt {}/{}", row.number, row.max_attempts) } else { String::new() };
        let class = row.class.map_or(String::new(), |class| format!(" {}", class.name()));
        format!("{}{count}{number}{wait}{class}", row.status)
    };
    rows.iter().map(told).collect()
}

/// Waits between attempts in the order in which they were sent, in ms.
fn waits(read: &Ingested) -> Vec<i64> {
    let mut rows: Vec<&Attempt> = read.table.rows.iter().collect();
    rows.sort_by_key(|row| row.sent);
    rows.windows(2).map(|pair| pair[1].sent.us_since(pair[0].ended()) / 1000).collect()
}

fn is_ordered_only(read: &Ingested) -> bool {
    read.table.rows.iter().all(Attempt::is_untimed)
}

/// Every line is told once.
fn is_accounted_for(name: &str, read: &Ingested) -> bool {
    let lines = std::fs::read_to_string(repo("tests/formats").join(name)).unwrap().lines().count() as u64;
    let ledger = read.ledger();
    ledger.lines == lines && ledger.attempts + ledger.skipped + ledger.blank + ledger.rejected == lines
}

#[test]
fn python_info_lines_with_whole_seconds() {
    let read = read("python-sdk/info.log");
    let expected = [
        "529 retry 0 wait 421 overloaded",
        "429 retry 1 wait 3000 unexplained_429",
        "200 retry 2",
        "0 retry 0 wait 480 connection",
        "200 retry 1",
    ];
    assert_eq!(attempts(&read), expected);
    let waits = waits(&read);
    assert_eq!((waits[0], waits[1], waits[3]), (421, 3000, 480), "between attempts an SDK waits what it states");
    assert!(is_accounted_for("python-sdk/info.log", &read) && !is_ordered_only(&read));
}

#[test]
fn python_debug_lines_carry_headers_options_and_exceptions() {
    let read = read("python-sdk/debug.log");
    let expected = ["429 retry 0 wait 460 rate_limited", "0 retry 1 wait 900 connection", "429 retry 2 rate_limited"];
    assert_eq!(attempts(&read), expected);
    let (table, rows) = (&read.table, &read.table.rows);
    let detail = |row: usize| table.detail(&rows[row]).unwrap();
    assert_eq!(detail(0).hint_us, Some(75_000_000));
    assert!(rows[0].flags.has(Flags::SERVER_SAYS_RETRY) && rows[0].flags.has(Flags::STREAM));
    assert_eq!(table.request_id(&rows[0]), Some("req_aa1"));
    assert_eq!(rows[0].duration.as_us(), Some(240_000));
    assert_eq!(detail(0).max_tokens, 64);
    assert_eq!(table.names.get(table.origin(&rows[0]).model), Some("model-a"));
    assert_eq!(table.names.get(table.origin(&rows[0]).client), Some("my-agent"));
    assert_eq!(table.names.get(detail(1).exception), Some("ReadError"));
    assert_eq!(table.names.get(detail(2).message), Some("You're over the limit"));
    assert!(is_accounted_for("python-sdk/debug.log", &read));
}

#[test]
fn lines_without_times_stand_in_order_and_keep_their_stated_waits() {
    let read = read("python-sdk/basic_config.log");
    let expected =
        ["503 retry 0 wait 412 gateway_error", "429 retry 1 wait 20000 unexplained_429", "200 retry 2", "200 retry 0"];
    assert_eq!(attempts(&read), expected);
    assert!(is_ordered_only(&read));
    assert!(read.notes.iter().any(|note| note.contains("have no times")), "{:?}", read.notes);
}

#[test]
fn no_rule_that_needs_a_clock_speaks_of_a_log_without_times() {
    let log = "INFO:httpx:HTTP Request: POST https://a.example/v1/messages \"HTTP/1.1 529 \"\n".repeat(200);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.log"), log).unwrap();
    let ran = run_in(folder.path(), &["analyze", "--no-config", "--complete", "a.log", "--format", "json"]);
    let report = ran.json();
    assert_eq!(report["totals"].get("attempts").unwrap_or(&report["totals"]["sends"]), 200);
    assert!(report["window"].is_null(), "{}", report["window"]);
    let rules: Vec<&str> =
        report["problems"].as_array().unwrap().iter().map(|problem| problem["rule"].as_str().unwrap()).collect();
    for rule in &rules {
        assert!(!rule.starts_with("RL5") && !matches!(*rule, "RL304" | "RL306" | "RL405"), "{rules:?}");
    }
    assert!(report["coverage"].to_string().contains("\"ts\""), "{}", report["coverage"]);
}

#[test]
fn calls_side_by_side_are_told_apart() {
    let read = read("python-sdk/two_threads.log");
    assert_eq!(read.table.rows.len(), 4);
    let of_second: Vec<&Attempt> =
        read.table.rows.iter().filter(|row| read.table.call_id(row) == Some("stainless-python-retry-two")).collect();
    assert_eq!(of_second.iter().map(|row| row.status).collect::<Vec<_>>(), [500, 200]);
}

#[test]
fn new_openai_lines_count_retries() {
    let read = read("python-sdk/new_openai.log");
    let expected = ["429 retry 0 wait 12000 unexplained_429", "0 retry 1 wait 810 timeout", "200 retry 2"];
    assert_eq!(attempts(&read), expected);
    assert_eq!(waits(&read), [12_000, 810]);
    let took_us = read.table.rows[1].duration.as_us().unwrap();
    assert!((29_000_000..=31_000_000).contains(&took_us), "{took_us}");
}

#[test]
fn headers_are_read_from_the_connection_beneath() {
    let read = read("python-sdk/httpcore.log");
    assert_eq!(attempts(&read), ["429 retry 0 wait 470 rate_limited", "200 retry 1"]);
    assert_eq!(read.table.detail(&read.table.rows[0]).unwrap().hint_us, Some(33_000_000));
    assert_eq!(read.table.request_id(&read.table.rows[1]), Some("req_d2"));
}

#[test]
fn typescript_lines_name_what_they_retry() {
    let read = read("node-sdk/info.log");
    let expected = ["529 retry 0 overloaded", "0 retry 1 connection", "200 retry 2", "400 retry 0 invalid_request"];
    assert_eq!(attempts(&read), expected);
    assert!(is_ordered_only(&read) && is_accounted_for("node-sdk/info.log", &read));
    assert_eq!(read.table.rows[0].duration.as_us(), Some(31_000));
}

#[test]
fn typescript_objects_carry_headers_and_options() {
    let read = read("node-sdk/debug.log");
    assert_eq!(attempts(&read), ["429 retry 0 rate_limited", "0 retry 1 timeout"]);
    let (table, rows) = (&read.table, &read.table.rows);
    assert_eq!(table.detail(&rows[0]).unwrap().hint_us, Some(17_000_000));
    assert_eq!(table.names.get(table.origin(&rows[1]).model), Some("model-c"));
    assert!(rows[1].duration.as_us().is_none(), "no line tells how long it took");
    assert!(is_accounted_for("node-sdk/debug.log", &read));
}

#[test]
fn lines_of_tenacity() {
    let read = read("retry-lines/tenacity.log");
    let expected = ["429 wait 2000 quota_exhausted", "429 wait 4000 quota_exhausted", "429 quota_exhausted"];
    assert_eq!(attempts(&read), expected);
    assert!(is_accounted_for("retry-lines/tenacity.log", &read));
}

#[test]
fn lines_of_agents() {
    let read = read("retry-lines/agent.log");
    let found = attempts(&read);
    assert_eq!(found[0], "429 attempt 1/11 wait 120000 usage_window");
    assert_eq!(found[1], "429 attempt 2/11 wait 240000 usage_window");
    assert_eq!(found[2], "529 attempt 2/10 wait 3000 overloaded");
    assert!(found[3].starts_with("0 attempt 1/6"), "{found:?}");
    assert_eq!(found.len(), 4);
    assert!(is_accounted_for("retry-lines/agent.log", &read) && is_ordered_only(&read));
}

#[test]
fn lines_of_other_loggers() {
    let read = read("retry-lines/loggers.log");
    let found = attempts(&read);
    assert_eq!(found[0], "429 wait 3000 rate_limited");
    assert_eq!(read.table.detail(&read.table.rows[0]).unwrap().hint_us, Some(41_500_000));
    assert!(found[1].starts_with("503 attempt 1/0 wait 500"), "{found:?}");
    assert_eq!(found[2], "400 attempt 2/0 context_too_long");
    assert!(found[3].starts_with("0 wait 510"), "{found:?}");
    assert_eq!(found.len(), 4);
    assert!(is_accounted_for("retry-lines/loggers.log", &read));
}

#[test]
fn lines_in_the_words_of_model_apis() {
    let read = read("retry-lines/answers.log");
    let expected = [
        "0 attempt 3/3 rate_limited",
        "429 request_over_limit",
        "0 attempt 1/10 wait 4500 usage_window",
        "0 rate_limited",
        "0 context_too_long",
    ];
    assert_eq!(attempts(&read), expected);
    let detail = |nth: usize| read.table.detail(&read.table.rows[nth]).unwrap();
    assert_eq!(detail(1).hint_us, Some(7_000_000));
    assert_eq!(detail(2).reopens, None, "the hour of a day that is not known");
    assert!(is_accounted_for("retry-lines/answers.log", &read) && is_ordered_only(&read));
}

#[test]
fn errors_of_the_aws_sdk() {
    let read = read("aws-errors/console.log");
    assert_eq!(attempts(&read), ["429 rate_limited", "408 timeout"]);
    let resends = |nth: usize| read.table.detail(&read.table.rows[nth]).unwrap().resends;
    assert_eq!((resends(0), resends(1)), (3, 0));
    assert!(is_accounted_for("aws-errors/console.log", &read) && !is_ordered_only(&read));
}

#[test]
fn errors_of_the_ai_sdk() {
    let read = read("ai-sdk/errors.log");
    let expected = ["529 attempt 1/0 overloaded", "529 attempt 2/0 overloaded", "429 attempt 1/0 rate_limited"];
    assert_eq!(attempts(&read), expected);
    let table = &read.table;
    assert_eq!(table.detail(&table.rows[2]).unwrap().hint_us, Some(7_000_000));
    assert_eq!(table.request_id(&table.rows[0]), Some("req_v1"));
    assert!(is_accounted_for("ai-sdk/errors.log", &read) && is_ordered_only(&read));
}

#[test]
fn error_bodies_alone() {
    let lines = read("error-bodies/answers.jsonl");
    assert_eq!(attempts(&lines), ["0 overloaded", "0 gateway_error", "0 rate_limited"]);
    let document = read("error-bodies/pretty.json");
    assert_eq!(attempts(&document), ["429 rate_limited"]);
    assert!(is_accounted_for("error-bodies/answers.jsonl", &lines));
    assert!(is_ordered_only(&lines) && is_ordered_only(&document));
}

/// Lines of programs that retry nothing, and that ask no model.
#[test]
fn other_logs_fit_none_of_these_formats() {
    let logs = [
        "2026-03-02 07:00:01,250 - app - INFO - started\n2026-03-02 07:00:02,000 - app - ERROR - ValueError: bad row\n",
        "INFO:httpx:HTTP Request: GET https://hub.example/models \"HTTP/1.1 200 OK\"\nINFO:root:done\n",
        "[2026-03-02T07:00:00Z] \"POST /api HTTP/2\" 503 - 154 0 226 100\n",
        "npm ERR! code E404\nnpm ERR! 404 Not Found\n",
        "10.0.0.1 - - [02/Mar/2026:07:00:00 +0000] \"GET / HTTP/1.1\" 500 12\n",
        "Retry policy: 3 attempts\nserver listening\n",
        "{\"error\":{\"code\":404,\"message\":\"no such bucket\"}}\n",
        "ThrottlingException: Rate exceeded\n$metadata: {\"httpStatusCode\":400,\"attempts\":3}\n",
        "Error: You've hit your limit of 3 seats\n    at f (a.js:1:2) {\n  status: 403\n}\n",
    ];
    let folder = tempfile::tempdir().unwrap();
    for log in logs {
        std::fs::write(folder.path().join("a.log"), log).unwrap();
        let ran = run_in(folder.path(), &["analyze", "--no-config", "a.log", "-v"]);
        assert_eq!(ran.code, 3, "{log}{ran:?}");
    }
}
