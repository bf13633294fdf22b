//! Which attempts are one call: ids, counters, bodies, clocks and layers, and what must not depend on the order of
//! lines.

use crate::common;
use retrylens::report::{Report, build};
use retrylens::{ingest, judge};

/// A log, and what must be true of it.
struct Case {
    name: &'static str,
    log: &'static [&'static str],
    calls: u64,
    /// Codes of the findings above info.
    loud: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "another address sends another request, not a retry",
        log: &[
            r#"10.0.0.1 - - [20/May/2026:10:00:00 +0000] "POST /v1/messages HTTP/1.1" 529 91 "-" "agent/1""#,
            r#"10.0.0.2 - - [20/May/2026:10:00:02 +0000] "POST /v1/messages HTTP/1.1" 200 512 "-" "agent/1""#,
        ],
        calls: 2,
        loud: &[],
    },
    Case {
        name: "another address in an access log of JSON sends another request, and a port tells nothing",
        log: &[
            r#"{"time":"2026-05-20T10:00:00Z","client_ip":"10.0.0.1:40112","method":"POST","path":"/v1/messages","status":529}"#,
            r#"{"time":"2026-05-20T10:00:01Z","client_ip":"10.0.0.2:51000","method":"POST","path":"/v1/messages","status":200}"#,
            r#"{"time":"2026-05-20T10:00:02Z","client_ip":"10.0.0.1:40113","method":"POST","path":"/v1/messages","status":200}"#,
        ],
        calls: 2,
        loud: &[],
    },
    Case {
        name: "another address in an access log of logfmt sends another request, whatever proxy forwarded it",
        log: &[
            r#"time=2026-05-20T10:00:00Z remote_addr=10.9.9.9 x-forwarded-for="10.0.0.1, 10.9.9.9" method=POST path=/v1/messages status=529"#,
            r#"time=2026-05-20T10:00:02Z remote_addr=10.9.9.9 x-forwarded-for="10.0.0.2, 10.9.9.9" method=POST path=/v1/messages status=200"#,
        ],
        calls: 2,
        loud: &[],
    },
    Case {
        name: "another user agent sends another request, not a retry",
        log: &[
            r#"[2026-05-20T10:00:00.000Z] "POST /v1/messages HTTP/2" 529 - 154 91 226 - "10.0.0.1" "agent/1" "-" "llm" "-""#,
            r#"[2026-05-20T10:00:02.000Z] "POST /v1/messages HTTP/2" 200 - 154 91 226 - "10.0.0.1" "script/3" "-" "llm" "-""#,
        ],
        calls: 2,
        loud: &[],
    },
    Case {
        name: "the same address and user agent retry, beside another",
        log: &[
            r#"10.0.0.1 - - [20/May/2026:10:00:00 +0000] "POST /v1/messages HTTP/1.1" 529 91 "-" "agent/1""#,
            r#"10.0.0.9 - - [20/May/2026:10:00:01 +0000] "POST /v1/messages HTTP/1.1" 200 512 "-" "agent/1""#,
            r#"10.0.0.1 - - [20/May/2026:10:00:02 +0000] "POST /v1/messages HTTP/1.1" 200 512 "-" "agent/1""#,
        ],
        calls: 2,
        loud: &[],
    },
    Case {
        name: "a call id tells more than a host",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","host":"10.0.0.1","status":529}"#,
            r#"{"ts":"2026-05-20T10:00:02Z","call_id":"c","host":"10.0.0.2","status":200}"#,
        ],
        calls: 1,
        loud: &[],
    },
    Case {
        name: "a clock of whole seconds: the success is the last of three",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","request_id":"z","status":200}"#,
            r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","request_id":"a","status":503,"duration_ms":70}"#,
            r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","request_id":"m","status":529,"duration_ms":90}"#,
        ],
        calls: 1,
        loud: &[],
    },
    Case {
        name: "a clock of whole seconds: what cannot heal comes after what can",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","request_id":"z","status":403,"error_type":"permission_error"}"#,
            r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","request_id":"a","status":529}"#,
        ],
        calls: 1,
        loud: &[],
    },
    Case {
        name: "one id, two answers that overlap, both numbered 1",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","call_id":"7","attempt":1,"request_id":"a","status":200,"duration_ms":4000}"#,
            r#"{"ts":"2026-05-20T10:00:01.5Z","call_id":"7","attempt":1,"request_id":"b","status":200,"duration_ms":900}"#,
        ],
        calls: 2,
        loud: &[],
    },
    Case {
        name: "two processes that count their calls alike, one of them retrying",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","call_id":"c0","attempt":1,"request_id":"a","status":529,"duration_ms":300,"client":{"name":"one","version":"1"}}"#,
            r#"{"ts":"2026-05-20T10:00:00.1Z","call_id":"c0","attempt":1,"request_id":"b","status":200,"duration_ms":2500,"client":{"name":"two","version":"1"}}"#,
            r#"{"ts":"2026-05-20T10:00:01.0Z","call_id":"c0","attempt":2,"request_id":"c","status":200,"duration_ms":300,"client":{"name":"one","version":"1"}}"#,
        ],
        calls: 2,
        loud: &[],
    },
    Case {
        name: "an answer of the wrong form, asked for again in other words",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","attempt":1,"status":200,"duration_ms":500,"request_hash":"x","request_id":"a"}"#,
            r#"{"ts":"2026-05-20T10:00:02Z","call_id":"c","attempt":2,"status":200,"duration_ms":500,"request_hash":"y","request_id":"b"}"#,
            r#"{"ts":"2026-05-20T10:00:04Z","call_id":"c","attempt":3,"status":200,"duration_ms":500,"request_hash":"z","request_id":"d"}"#,
        ],
        calls: 1,
        loud: &[],
    },
    Case {
        name: "one body answered three times",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","attempt":1,"status":200,"duration_ms":500,"request_hash":"x","request_id":"a"}"#,
            r#"{"ts":"2026-05-20T10:00:02Z","call_id":"c","attempt":1,"status":200,"duration_ms":500,"request_hash":"x","request_id":"b"}"#,
            r#"{"ts":"2026-05-20T10:00:04Z","call_id":"c","attempt":1,"status":200,"duration_ms":500,"request_hash":"x","request_id":"d"}"#,
        ],
        calls: 1,
        loud: &["RL605"],
    },
    Case {
        name: "three transport attempts for each of the SDK's, no ids",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","sdk_retry_count":0,"status":503,"duration_ms":20,"request_hash":"h"}"#,
            r#"{"ts":"2026-05-20T10:00:00.3Z","sdk_retry_count":0,"status":503,"duration_ms":20,"request_hash":"h"}"#,
            r#"{"ts":"2026-05-20T10:00:01.1Z","sdk_retry_count":1,"status":503,"duration_ms":20,"request_hash":"h"}"#,
            r#"{"ts":"2026-05-20T10:00:01.4Z","sdk_retry_count":1,"status":200,"duration_ms":20,"request_hash":"h"}"#,
        ],
        calls: 1,
        loud: &["RL401"],
    },
    Case {
        name: "a body with a time in it, the SDK's retries off, no ids",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","sdk_retry_count":0,"status":503,"duration_ms":20,"request_hash":"h1","request_id":"a"}"#,
            r#"{"ts":"2026-05-20T10:00:01.0Z","sdk_retry_count":0,"status":503,"duration_ms":20,"request_hash":"h2","request_id":"b"}"#,
            r#"{"ts":"2026-05-20T10:00:03.1Z","sdk_retry_count":0,"status":200,"duration_ms":20,"request_hash":"h3","request_id":"d"}"#,
        ],
        calls: 1,
        loud: &[],
    },
    Case {
        name: "another model right after a rate limit, no ids",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","model":"large","status":429,"retry_after":30,"duration_ms":20,"request_id":"a"}"#,
            r#"{"ts":"2026-05-20T10:00:00.4Z","model":"small","status":200,"duration_ms":800,"request_id":"b"}"#,
        ],
        calls: 2,
        loud: &[],
    },
    Case {
        name: "counted from zero, no ids",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","attempt":0,"max_attempts":2,"status":503,"duration_ms":20,"request_id":"a"}"#,
            r#"{"ts":"2026-05-20T10:00:01.0Z","attempt":1,"max_attempts":2,"status":503,"duration_ms":20,"request_id":"b"}"#,
            r#"{"ts":"2026-05-20T10:00:03.1Z","attempt":2,"max_attempts":2,"status":200,"duration_ms":20,"request_id":"d"}"#,
        ],
        calls: 1,
        loud: &[],
    },
    Case {
        name: "a cap that counts retries",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","call_id":"c","attempt":"1/2","status":503,"duration_ms":20,"request_id":"a"}"#,
            r#"{"ts":"2026-05-20T10:00:01.0Z","call_id":"c","attempt":"2/2","status":503,"duration_ms":20,"request_id":"b"}"#,
            r#"{"ts":"2026-05-20T10:00:03.1Z","call_id":"c","attempt":"3/2","status":200,"duration_ms":20,"request_id":"d"}"#,
        ],
        calls: 1,
        loud: &[],
    },
    Case {
        name: "a trace for each request",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00Z","otelTraceID":"t1","status":503,"decision":"fail","request_id":"a"}"#,
            r#"{"ts":"2026-05-20T10:00:02Z","otelTraceID":"t2","status":200,"request_id":"b"}"#,
        ],
        calls: 2,
        loud: &["RL201"],
    },
    Case {
        name: "a correlation id over the calls of one request",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","correlation_id":"r","request_id":"a","status":200,"duration_ms":3000}"#,
            r#"{"ts":"2026-05-20T10:00:01.0Z","correlation_id":"r","request_id":"b","status":200,"duration_ms":3000}"#,
        ],
        calls: 2,
        loud: &[],
    },
    Case {
        name: "a correlation id over numbered attempts",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","correlation_id":"r","attempt":1,"request_id":"a","status":529,"duration_ms":30}"#,
            r#"{"ts":"2026-05-20T10:00:01.0Z","correlation_id":"r","attempt":2,"request_id":"b","status":200,"duration_ms":3000}"#,
        ],
        calls: 1,
        loud: &[],
    },
    Case {
        name: "a proxy that sends thrice and passes the last id on",
        log: &[
            r#"{"ts":"2026-05-20T10:00:00.0Z","call_id":"c","layer":"app","attempt":1,"status":200,"duration_ms":3000,"request_id":"r3"}"#,
            r#"{"ts":"2026-05-20T10:00:00.2Z","call_id":"c","layer":"proxy","attempt":1,"status":529,"duration_ms":50,"request_id":"r1"}"#,
            r#"{"ts":"2026-05-20T10:00:01.0Z","call_id":"c","layer":"proxy","attempt":2,"status":529,"duration_ms":50,"request_id":"r2"}"#,
            r#"{"ts":"2026-05-20T10:00:02.4Z","call_id":"c","layer":"proxy","attempt":3,"status":200,"duration_ms":400,"request_id":"r3"}"#,
        ],
        calls: 1,
        loud: &[],
    },
];

fn judged(lines: &[&str]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, lines.join("\n")).unwrap();
    common::report(&[path])
}

#[test]
fn calls_are_told_as_their_logs_have_them() {
    for Case { name, log, calls, loud } in CASES {
        let report = judged(log);
        let mut above_info: Vec<&str> = report
            .findings
            .iter()
            .filter(|finding| finding.severity > retrylens::model::Severity::Info)
            .map(|finding| finding.rule)
            .collect();
        above_info.sort_unstable();
        above_info.dedup();
        assert_eq!((report.totals.calls, above_info.as_slice()), (*calls, *loud), "{name}");
        assert_eq!(report.ledger.duplicates, 0, "{name}");
    }
}

#[test]
fn the_order_of_lines_changes_nothing_but_places() {
    for Case { name, log, .. } in CASES {
        let before = common::without(common::json(&judged(log)), &["file", "line", "inputs"]);
        for turn in 1..log.len() {
            let mut lines = log.to_vec();
            lines.rotate_left(turn);
            lines.swap(0, turn);
            let after = common::without(common::json(&judged(&lines)), &["file", "line", "inputs"]);
            common::assert_same(&before, &after, &format!("{name}, turned by {turn}"));
        }
    }
}

#[test]
fn whole_and_bounded_memory_agree() {
    for Case { name, log, .. } in CASES {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("log.jsonl"), log.join("\n")).unwrap();
        let run = |memory: &str| {
            let arguments = ["analyze", "--format", "json", "--fail-on", "never", "--memory", memory, "log.jsonl"];
            common::run_in(folder.path(), &arguments).stdout
        };
        assert_eq!(run("whole"), run("bounded"), "{name}");
    }
}

#[test]
fn every_attempt_of_a_finding_has_its_ids() {
    let report = judged(&[
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","attempt":1,"request_id":"one","status":200,"duration_ms":5000}"#,
        r#"{"ts":"2026-05-20T10:00:03Z","call_id":"c","attempt":2,"request_id":"two","status":200,"duration_ms":5000}"#,
    ]);
    let twice = report.findings.iter().find(|finding| finding.rule == "RL605").unwrap();
    let ids: Vec<Option<&str>> = twice.attempts.iter().map(|attempt| attempt.request_id.as_deref()).collect();
    assert_eq!(ids, [Some("one"), Some("two")]);
    assert_eq!(twice.call_id.as_deref(), Some("c"));
}

#[test]
fn nobody_waits_for_a_retry_after_a_success() {
    let report = judged(&[
        r#"{"ts":"2026-05-20T10:00:00Z","call_id":"c","attempt":1,"request_id":"a","status":200,"duration_ms":100}"#,
        r#"{"ts":"2026-05-20T10:02:00Z","call_id":"c","attempt":2,"request_id":"b","status":200,"duration_ms":100}"#,
    ]);
    assert_eq!((report.totals.wait_s, report.totals.retries, report.totals.green_runs_with_retries), (0.0, 0, 0));
}

#[test]
fn an_outage_at_the_end_of_a_log_is_no_open_question() {
    let mut log = String::new();
    for call in 0..20 {
        for attempt in 0..4 {
            let s = call * 3 + attempt / 2;
            let ms = attempt % 2 * 500;
            log += &format!(
                "{{\"ts\":\"2026-05-20T10:{:02}:{:02}.{ms:03}Z\",\"call_id\":\"c{call}\",\"attempt\":{},\"status\":503,\"duration_ms\":40}}\n",
                s / 60,
                s % 60,
                attempt + 1,
            );
        }
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), &log).unwrap();
    let ingested = common::read(&[folder.path().join("log.jsonl")]);
    let options = judge::Options::default();
    let report = build(&ingested, &judge::judge(&ingested.table, &options), &options.rules);
    assert_eq!((report.totals.calls_failed, report.totals.calls_open), (20, 0));
    let one = ingest::read_str(log.lines().next().unwrap());
    let open = judge::judge(&one, &options)
        .fleet
        .runs
        .values()
        .map(|run| run.ended(retrylens::model::Outcome::Open))
        .sum::<u64>();
    assert_eq!(open, 1, "a call that has only begun");
}
