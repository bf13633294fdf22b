//! Formats of gateways, proxies, recordings and mock servers: which attempts are made of their fixtures.

use crate::common::{self, repo};
use retrylens::ingest::Ingested;
use retrylens::model::{Attempt, AttemptTable};
use std::collections::BTreeSet;

/// Reads a fixture, which must be told by its content.
fn read(path: &str) -> Ingested {
    let ingested = common::read(&[repo("tests/formats").join(path)]);
    let format = path.split('/').next().unwrap();
    assert!(ingested.how[0].contains(&format!("{format}: ")), "{path} is read as {}", ingested.how[0]);
    ingested
}

/// The attempts of a fixture in time: ms within their minute, ms they took, status, class, and what counters say.
fn attempts(path: &str) -> Vec<String> {
    let table = read(path).table;
    let mut rows: Vec<&Attempt> = table.rows.iter().collect();
    rows.sort_by_key(|row| (row.sent, row.line, row.number));
    rows.into_iter().map(|row| described(&table, row)).collect()
}

fn described(table: &AttemptTable, row: &Attempt) -> String {
    let ms = row.sent.0.rem_euclid(60_000_000) / 1000;
    let took = row.duration.as_us().map_or("?".to_owned(), |us| (us / 1000).to_string());
    let mut words = format!("{ms} +{took} {} {}", row.status, row.class.map_or("ok", |class| class.name()));
    let detail = table.detail(row).copied().unwrap_or_default();
    let hint_ms = detail.hint_us.map(|us| us / 1000);
    for (name, count) in [
        ("n", Some(i64::from(row.number)).filter(|number| *number > 0)),
        ("of", Some(i64::from(row.max_attempts)).filter(|most| *most > 0)),
        ("sdk", row.sdk_count().map(i64::from)),
        ("hint", hint_ms),
        ("gateway", Some(i64::from(detail.gateway_retries)).filter(|count| *count > 0)),
        ("resent", Some(i64::from(detail.resends)).filter(|count| *count > 0)),
    ] {
        if let Some(count) = count {
            words.push_str(&format!(" {name}{count}"));
        }
    }
    words
}

/// How many calls the attempts of a fixture are taken for, and how many of those failed.
fn calls(path: &str) -> (u64, u64) {
    let report = common::json(&common::report(&[repo("tests/formats").join(path)]));
    (report["totals"]["calls"].as_u64().unwrap(), report["totals"]["calls_failed"].as_u64().unwrap())
}

const PAYLOADS: [&str; 5] = [
    "250 +500 529 overloaded",
    "1500 +250 429 rate_limited hint3000",
    "5000 +2000 0 ok n3 of4",
    "0 +1625 503 gateway_error resent2",
    "10000 +250 503 gateway_error",
];

#[test]
fn litellm_payloads_are_attempts_and_failures_beneath_which_an_sdk_retried() {
    assert_eq!(attempts("litellm/payloads.jsonl"), PAYLOADS);
    assert_eq!(attempts("litellm/wrapped.json"), PAYLOADS);
    assert_eq!(calls("litellm/payloads.jsonl"), (3, 2));
    // A failure that the SDK retried is not one that was not retried.
    let report = common::json(&common::report(&[repo("tests/formats/litellm/payloads.jsonl")]));
    let missed = report["findings"].as_array().unwrap().iter().filter(|finding| finding["rule"] == "RL201").count();
    assert_eq!(missed, 1);
}

#[test]
fn litellm_rows_count_what_the_proxy_sent() {
    assert_eq!(attempts("litellm/spend.jsonl"), ["500 +4000 0 ok gateway2", "0 +250 400 invalid_request"]);
}

#[test]
fn the_log_of_litellm_tells_as_much_as_its_level_lets_it() {
    // The router at INFO.
    assert_eq!(attempts("litellm-log/router.jsonl"), ["250 +? 0 rate_limited", "2500 +? 200 ok"]);
    assert_eq!(calls("litellm-log/router.jsonl"), (1, 0));
    // Everything, by a clock without a date that passes midnight.
    let read = read("litellm-log/debug.log");
    assert_eq!(attempts("litellm-log/debug.log"), ["58000 +1000 529 overloaded", "1000 +2000 0 ok"]);
    assert!(read.notes.iter().any(|note| note.contains("have no date")), "{:?}", read.notes);
    assert_eq!(common::json(&common::report_of(&read, &common::complete()))["window"], serde_json::Value::Null);
    // A program that uses the library: an SDK beneath it sent again, as the time it took tells.
    assert_eq!(attempts("litellm-log/library.log"), ["10000 +2000 500 server_error resent2"]);
    // The proxy, which tells what clients were answered.
    let expected = ["2500 +? 200 ok", "9250 +? 503 overloaded resent2"];
    assert_eq!(attempts("litellm-log/proxy.jsonl"), expected);
    for name in ["litellm-log/proxy.jsonl", "litellm-log/proxy.log"] {
        assert!(self::read(name).notes.iter().any(|note| note.contains("LITELLM_LOG=INFO")), "{name}");
    }
    let read = self::read("litellm-log/proxy.log");
    let statuses: Vec<u16> = read.table.rows.iter().map(|row| row.status).collect();
    assert_eq!(statuses, [200, 429]);
}

#[test]
fn a_log_of_litellm_without_attempts_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let log = "INFO:     Started server process [1]\nLiteLLM: Proxy initialized with Config, Set models:\n    chat\n";
    std::fs::write(folder.path().join("proxy.log"), log).unwrap();
    let ran = common::run_in(folder.path(), &["analyze", "--no-config", "proxy.log"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stderr.contains("set LITELLM_LOG=INFO"), "{}", ran.stderr);
}

#[test]
fn each_try_of_kong_is_an_attempt() {
    let expected = ["10 +500 502 gateway_error n1", "510 +1500 200 ok n2", "5000 +250 429 rate_limited hint9000"];
    assert_eq!(attempts("kong/requests.jsonl"), expected);
    assert_eq!(calls("kong/requests.jsonl"), (2, 1));
}

#[test]
fn rows_of_portkey_count_its_retries() {
    let expected = ["250 +250 429 rate_limited hint2000 gateway2", "3500 +1500 200 ok"];
    assert_eq!(attempts("portkey/rows.jsonl"), expected);
}

#[test]
fn recordings_give_requests_to_model_apis_alone() {
    let expected = [
        "500 +? 0 connection sdk0",
        "1250 +250 429 rate_limited sdk1 hint2000",
        "3750 +900 200 overloaded sdk2",
        "6000 +1500 200 ok sdk0",
    ];
    assert_eq!(attempts("har/recording.har"), expected);
    assert_eq!(attempts("har/flat.har"), expected);
    // The same body again: the program went on where its SDK gave up.
    assert_eq!(calls("har/flat.har"), (1, 0));
    let table = read("har/flat.har").table;
    let hashes: BTreeSet<u64> = table.rows.iter().map(|row| table.request_hash(row)).collect();
    assert!(hashes.len() == 1 && !hashes.contains(&0), "{hashes:?}");
    let runs: BTreeSet<&str> = table.rows.iter().map(|row| table.names.text(row.run)).collect();
    assert_eq!(runs, BTreeSet::from(["4bf92f3577b34da6a3ce929d0e0e4736"]));
}

#[test]
fn pairs_of_requests_and_responses_are_attempts() {
    let expected = ["500 +250 529 overloaded sdk0", "1500 +1500 200 ok sdk0", "10000 +2000 200 overloaded sdk0"];
    assert_eq!(attempts("api-log/pairs.jsonl"), expected);
}

#[test]
fn envoy_counts_what_it_sent_upstream() {
    let expected = [
        "1000 +750 503 connection gateway2",
        "4000 +120 429 unexplained_429",
        "9000 +2300 200 ok gateway1",
        "12000 +30000 0 timeout",
    ];
    assert_eq!(attempts("envoy/access.jsonl"), expected);
    assert_eq!(attempts("envoy/ai_gateway.jsonl"), ["500 +1250 200 ok", "3000 +100 429 unexplained_429"]);
    let expected = ["250 +226 503 connection", "3000 +1105 200 ok", "8000 +15000 504 timeout"];
    assert_eq!(attempts("envoy/default.log"), expected);
}

#[test]
fn each_server_that_nginx_tried_is_an_attempt() {
    let expected = [
        "2250 +500 502 gateway_error n1",
        "2750 +2250 200 ok n2",
        "8875 +125 429 unexplained_429",
        "19500 +5250 504 timeout n1",
        "24750 +5250 504 timeout n2",
    ];
    assert_eq!(attempts("nginx/access.log"), expected);
    assert_eq!(attempts("nginx/access.jsonl"), ["57750 +1000 0 connection n1", "58750 +2000 200 ok n2"]);
    assert_eq!(calls("nginx/access.log"), (3, 2));
}

#[test]
fn generations_of_langfuse_are_attempts() {
    let expected = ["250 +750 429 rate_limited n1", "2000 +500 0 connection n2", "4500 +4500 0 ok n3"];
    assert_eq!(attempts("langfuse/observations_v2.jsonl"), expected);
    assert_eq!(calls("langfuse/observations_v2.jsonl"), (1, 0));
    assert_eq!(attempts("langfuse/observations_v1.json"), ["500 +500 503 gateway_error", "2000 +1000 0 ok"]);
    assert_eq!(attempts("langfuse/crashlens.jsonl"), ["500 +500 0 unknown n1", "3000 +1500 0 ok n2"]);
}

#[test]
fn mock_servers_tell_the_requests_they_took() {
    let expected = [
        "32500 +250 429 rate_limited sdk0 hint2000",
        "35000 +250 529 overloaded sdk1",
        "36500 +1500 200 ok sdk2",
        "40000 +3500 200 connection sdk0",
    ];
    assert_eq!(attempts("llmock/requests.json"), expected);
    let expected = ["20250 +? 503 gateway_error sdk0", "20900 +? 503 gateway_error sdk1", "22000 +? 200 ok sdk2"];
    assert_eq!(attempts("aimock/journal.json"), expected);
    assert_eq!(calls("aimock/journal.json"), (1, 0));
}

#[test]
fn a_report_without_dates_gives_order_and_spacing() {
    let expected = [
        "0 +250 429 rate_limited n1 hint1500",
        "2000 +5000 0 timeout n2",
        "8000 +800 200 ok n3",
        "0 +90 400 invalid_request n1",
    ];
    assert_eq!(attempts("ocr-retry-report/report.json"), expected);
    assert_eq!(calls("ocr-retry-report/report.json"), (2, 1));
}

#[test]
fn aws_sdks_count_the_attempts_behind_a_response() {
    let expected = ["4000 +? 200 ok resent2", "0 +? 429 rate_limited resent4", "500 +? 200 ok"];
    assert_eq!(attempts("aws-sdk/responses.jsonl"), expected);
}

#[test]
fn rows_of_cloudflare_that_were_sent_on_are_attempts() {
    let expected = ["1000 +250 429 unexplained_429", "3500 +1500 200 ok"];
    assert_eq!(attempts("cloudflare-ai-gateway/logs.json"), expected);
}

#[test]
fn logs_of_other_servers_hold_no_attempts() {
    let folder = tempfile::tempdir().unwrap();
    let others = [
        ("web.log", r#"10.0.0.8 - - [01/Aug/2026:10:00:11 +0200] "POST /checkout HTTP/1.1" 503 153 "-" "Mozilla/5.0""#),
        ("mesh.log", r#"[2026-07-01T08:00:02.000Z] "GET /cart HTTP/1.1" 503 UH 0 2 1 - "-" "probe" "id-2" "shop" "-""#),
        (
            "mesh.jsonl",
            r#"{"start_time":"2026-07-01T06:00:50.000Z","path":"/cart","response_code":503,"response_flags":"UH","duration":3}"#,
        ),
        (
            "site.har",
            r#"{"log":{"version":"1.2","entries":[{"startedDateTime":"2026-06-02T08:00:00.100Z","time":4,"request":{"method":"GET","url":"https://app.example/"},"response":{"status":503,"content":{}}}]}}"#,
        ),
    ];
    for (name, text) in others {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{text}\n")).unwrap();
        let ingested = common::read(&[path]);
        assert_eq!(ingested.table.rows.len(), 0, "{name}: {}", ingested.how[0]);
        assert_eq!(ingested.rejects.len(), 0, "{name}");
    }
}

#[test]
fn ids_are_found_in_each_of_these_formats() {
    for (path, id) in [
        ("litellm/payloads.jsonl", "req_a2"),
        ("har/recording.har", "req_h3"),
        ("api-log/pairs.jsonl", "req_p1"),
        ("envoy/default.log", "id-4"),
        ("langfuse/observations_v2.jsonl", "lf-2"),
        ("aimock/journal.json", "req-BBBB2222"),
        ("ocr-retry-report/report.json", "req_o1"),
        ("cloudflare-ai-gateway/logs.json", "cf1"),
    ] {
        let ran = common::run_in(&repo("tests/formats"), &["trace", id, path, "--no-config"]);
        assert!(ran.code <= 1, "{path}: {ran:?}");
        assert!(ran.stdout.contains(id), "{path}: {}", ran.stdout);
    }
}
