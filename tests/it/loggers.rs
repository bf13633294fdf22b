//! One scenario as common loggers write it, and what records say in the words of whoever wrote them.

use crate::common::{self, Ran, run_in};
use serde_json::Value;

/// Writes `log` and runs `analyze` on it with `more`.
fn analyze(log: &str, more: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), log).unwrap();
    run_in(folder.path(), &[&["analyze", "--no-config", "--complete", "log.jsonl"], more].concat())
}

fn report(log: &str) -> Value {
    analyze(log, &["--format", "json"]).json()
}

/// Attempts, calls, failed calls.
fn counts(report: &Value) -> [u64; 3] {
    let totals = &report["totals"];
    let sends = totals.get("attempts").unwrap_or(&totals["sends"]);
    [sends, &totals["calls"], &totals["calls_failed"]].map(|count| count.as_u64().unwrap())
}

/// Rules with an error.
fn errors(report: &Value) -> Vec<&str> {
    let problems = report["problems"].as_array().unwrap().iter();
    let mut rules: Vec<&str> = problems
        .filter(|problem| problem["severity"] == "error")
        .map(|problem| problem["rule"].as_str().unwrap())
        .collect();
    rules.dedup();
    rules
}

fn notices(report: &Value) -> String {
    report["notices"].to_string()
}

/// Eight attempts of four calls: one answered at once, one after two overloads, one after a rate limit that was
/// waited for, and a spend cap that was retried.
#[test]
fn one_scenario_reads_alike_from_each_logger() {
    for path in common::logs_in("tests/loggers") {
        let report = report(&std::fs::read_to_string(&path).unwrap());
        let name = path.display();
        assert_eq!(counts(&report), [8, 4, 1], "{name}");
        assert_eq!(errors(&report), ["RL101"], "{name}: {}", report["problems"]);
        let ledger = &report["ledger"];
        assert_eq!((&ledger["skipped"], &ledger["rejected"]), (&0.into(), &0.into()), "{name}");
        assert_eq!(report["totals"]["with_request_id"]["count"], 8, "{name}");
    }
}

#[test]
fn words_of_success_are_no_failures() {
    for members in [
        r#""status":200,"error_code":0"#,
        r#""status":200,"error_code":"0","error_type":"none""#,
        r#""status":200,"error":{"code":0,"message":"success"}"#,
        r#""status":200,"error":"no_error""#,
        r#""outcome":"done""#,
        r#""outcome":"Finished""#,
        r#""outcome":"stop""#,
        r#""status":"STATUS_CODE_OK""#,
        r#""succeeded":true"#,
        r#""is_error":false"#,
        r#""status":"OK","error_message":"OK""#,
    ] {
        let line = format!(r#"{{"ts":"2026-01-05T10:00:00Z","call_id":"a","attempt":1,{members}}}"#);
        assert_eq!(counts(&report(&line)), [1, 1, 0], "{members}");
    }
    for members in [r#""ok":false"#, r#""is_error":true"#, r#""outcome":"errored""#, r#""error.type":"529""#] {
        let line = format!(r#"{{"ts":"2026-01-05T10:00:00Z","call_id":"a","attempt":1,{members}}}"#);
        assert_eq!(counts(&report(&line)), [1, 1, 1], "{members}");
    }
}

/// A web server's own log has statuses, too, and no attempt of a model's.
#[test]
fn requests_that_a_server_received_are_no_attempts() {
    let served = r#"{"level":30,"time":1767607200000,"pid":1,"req":{"id":1,"method":"GET","url":"/health"},"res":{"statusCode":200},"responseTime":3,"msg":"request completed"}"#;
    let attempt =
        r#"{"time":1767607200000,"reqId":"q","attempt":1,"model":"m","res":{"statusCode":200},"responseTime":900}"#;
    assert_eq!(counts(&report(&format!("{served}\n{attempt}\n{served}\n"))), [1, 1, 0]);
    // A level is no outcome.
    let level = r#"{"ts":"2026-01-05T10:00:00Z","status":"info","message":"started","call_id":"c"}"#;
    assert_eq!(counts(&report(&format!("{level}\n{attempt}\n"))), [1, 1, 0]);
}

#[test]
fn attempts_whose_outcome_is_not_understood_are_told_and_fail_the_quality_gate() {
    for (spelled, mapping) in [
        (r#""llm_reply":{"meta":{"http":200}}"#, "[fields] \"llm_reply.meta.http\" = \"status\""),
        (r#""call_state":"delivered""#, "[fields] \"call_state\" = \"outcome\""),
    ] {
        let log = format!(
            "{{\"ts\":\"2026-01-05T10:00:00Z\",\"call_id\":\"c\",\"attempt\":1,\"model\":\"m\",\"status\":529}}\n\
             {{\"ts\":\"2026-01-05T10:00:01Z\",\"call_id\":\"c\",\"attempt\":2,\"model\":\"m\",{spelled}}}\n"
        );
        let ran = analyze(&log, &["--format", "json"]);
        assert_eq!(ran.code, 4, "{ran:#?}");
        let report = ran.json();
        assert_eq!(report["ledger"]["rejected"], 1, "{spelled}");
        assert!(notices(&report).replace("\\\"", "\"").contains(mapping), "{}", notices(&report));
    }
}

/// A limit that asks for 5 s, and a retry that begins 0.45 s after it.
fn early_retry(key: &str, stamp_at_end: bool) -> String {
    let at = |start_ms: u64, took_ms: u64| {
        let ms = if stamp_at_end { start_ms + took_ms } else { start_ms };
        format!("2026-01-05T10:00:{:02}.{:03}Z", ms / 1000, ms % 1000)
    };
    let (first, second) = (at(1000, 30), at(1480, 7000));
    format!(
        "{{\"{key}\":\"{first}\",\"call_id\":\"c\",\"attempt\":1,\"status\":429,\"retry_after\":5,\"duration_ms\":30}}\n\
         {{\"{key}\":\"{second}\",\"call_id\":\"c\",\"attempt\":2,\"status\":200,\"duration_ms\":7000}}\n"
    )
}

#[test]
fn a_log_stamped_at_the_end_gets_the_verdict_of_one_stamped_at_the_start() {
    for (key, at_end) in [("sent_at", false), ("time", false), ("time", true), ("ended_at", true), ("endTime", true)] {
        let report = report(&early_retry(key, at_end));
        assert_eq!(errors(&report), ["RL301"], "{key} {at_end}");
        assert_eq!(report["totals"]["wait_s"], 0.45, "{key} {at_end}");
        assert_eq!(notices(&report).contains("time of writing"), key == "time" && at_end, "{}", notices(&report));
    }
    // Attempts that would begin before those before them ended tell, too.
    let timeouts: String = (0..3)
        .map(|call| {
            let minute = 10 + call;
            format!(
                "{{\"timestamp\":\"2026-01-05T10:{minute}:30Z\",\"call_id\":\"c{call}\",\"attempt\":1,\"kind\":\"timeout\",\"duration_ms\":30000}}\n\
                 {{\"timestamp\":\"2026-01-05T10:{minute}:33Z\",\"call_id\":\"c{call}\",\"attempt\":2,\"status\":200,\"duration_ms\":2000}}\n"
            )
        })
        .collect();
    let report = report(&timeouts);
    assert_eq!(report["totals"]["wait_s"], 3.0, "{}", notices(&report));
    assert!(notices(&report).contains("begin before"), "{}", notices(&report));
}

/// The look at an input's front decides for all of its pieces, whoever reads them.
#[test]
fn how_an_input_is_read_does_not_depend_on_memory_or_threads() {
    let mut log = early_retry("time", true);
    for call in 0..4000 {
        let (minute, second) = (10 + call / 100, call % 100 / 2);
        log += &format!(
            "{{\"time\":\"2026-01-05T10:{minute:02}:{second:02}.{}Z\",\"call_id\":\"c{call}\",\"attempt\":1,\"status\":200,\"duration_ms\":400}}\n",
            call % 2 * 5
        );
    }
    let forms: Vec<String> = [["whole", "1"], ["whole", "2"], ["bounded", "2"]]
        .iter()
        .map(|[memory, threads]| analyze(&log, &["--format", "json", "--memory", memory, "--threads", threads]).stdout)
        .collect();
    assert!(forms[0].contains("time of writing"), "{}", forms[0]);
    assert!(forms[0] == forms[1] && forms[0] == forms[2]);
}

#[test]
fn where_the_log_does_not_tell_how_it_is_stamped_that_is_said() {
    let log = "{\"time\":\"2026-01-05T10:00:00.000Z\",\"call_id\":\"c\",\"attempt\":1,\"status\":529,\"duration_ms\":30}\n\
               {\"time\":\"2026-01-05T10:00:09.700Z\",\"call_id\":\"c\",\"attempt\":2,\"status\":200,\"duration_ms\":4000}\n";
    assert!(notices(&report(log)).contains("does not tell whether `time`"));
    // `ts` is when an attempt was sent.
    assert_eq!(notices(&report(&log.replace("time", "ts"))), "[]");
}

/// A call that is overloaded twice, each attempt written with `duration`.
fn units(duration: [&str; 3]) -> String {
    let at = ["00.0", "03.5", "07.2"];
    let line = |n: usize| {
        let status = if n == 2 { 200 } else { 529 };
        format!(
            "{{\"ts\":\"2026-01-05T10:00:{}Z\",\"call_id\":\"c\",\"attempt\":{},\"status\":{status},{}}}\n",
            at[n],
            n + 1,
            duration[n]
        )
    };
    (0..3).map(line).collect()
}

#[test]
fn durations_are_read_in_the_unit_of_their_key_or_of_their_writer() {
    for (duration, wait_s, noted) in [
        ([r#""duration_ms":2500"#, r#""duration_ms":2700"#, r#""duration_ms":900"#], 2.0, false),
        ([r#""duration_us":2500000"#, r#""elapsed_us":2700000"#, r#""latency_us":9"#], 2.0, false),
        ([r#""duration_ns":2500000000"#, r#""elapsedNanos":2700000000"#, r#""latency_ns":9"#], 2.0, false),
        (
            [r#""event":{"duration":2500000000}"#, r#""event":{"duration":2700000000}"#, r#""event":{"duration":9}"#],
            2.0,
            false,
        ),
        ([r#""duration":2500000000"#, r#""duration":2700000000"#, r#""duration":900000000"#], 2.0, true),
        ([r#""latency":2.5"#, r#""latency":2.7"#, r#""latency":0.9"#], 2.0, true),
        ([r#""elapsed":"2.5s""#, r#""elapsed":"2700ms""#, r#""elapsed":"0.9s""#], 2.0, false),
        ([r#""latency":2500"#, r#""latency":2700"#, r#""latency":900"#], 2.0, false),
    ] {
        let report = report(&units(duration));
        assert_eq!(report["totals"]["wait_s"], wait_s, "{duration:?} {}", notices(&report));
        assert_eq!(notices(&report).contains("is read as"), noted, "{duration:?} {}", notices(&report));
    }
    // Milliseconds cannot be meant where attempts would outlast the next one of their call.
    let doubtful = units([r#""duration_ms":2500000"#, r#""duration_ms":2700000"#, r#""duration_ms":900000"#]);
    assert!(notices(&report(&doubtful)).contains("cannot be in the unit"), "{}", notices(&report(&doubtful)));
    // Fractions that do not fill the time between attempts stay milliseconds, and the doubt is said.
    let unsure = units([r#""latency":0.2"#, r#""latency":0.3"#, r#""latency":1.4"#]);
    assert!(notices(&report(&unsure)).contains("may be seconds"), "{}", notices(&report(&unsure)));
}
