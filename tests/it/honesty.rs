//! What the log cannot tell is said: calls that could not be judged, values that could not be read.

use crate::common::{self, run_in};
use serde_json::{Value, json};

fn report(log: &str) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), log).unwrap();
    let read = |more: &[&str]| run_in(folder.path(), &[&["analyze", "--no-config", "log.jsonl"], more].concat());
    (read(&["--format", "json"]).json(), read(&[]).stdout)
}

/// On one line, however it was wrapped.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn values_that_mean_nothing_are_counted_by_field_and_shown_once() {
    let (report, text) = report(
        r#"{"ts":"2026-01-05T10:00:00Z","call_id":"a","attempt":1,"status":429,"retry_after":"30 seconds","duration_ms":"n/a"}
{"ts":"2026-01-05T10:00:31Z","call_id":"a","attempt":2,"status":200,"duration_ms":"fast","stream":"maybe"}
{"ts":"2026-01-05T10:01:00Z","call_id":"b","attempt":1,"status":429,"retry_after":"later, sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAA","duration_ms":12}
{"ts":"2026-01-05T10:02:00Z","call_id":"c","attempt":1,"status":200,"duration_ms":null,"retry_after":"","max_tokens":"many"}
"#,
    );
    let line = |field: &str, count: u32, example: &str, line: u32| json!({ "field": field, "count": count, "example": example, "file": "log.jsonl", "line": line });
    let expected = [
        line("duration_ms", 2, "n/a", 1),
        line("max_tokens", 1, "many", 4),
        line("retry_after", 2, "30 seconds", 1),
        line("stream", 1, "maybe", 2),
    ];
    assert_eq!(report["unreadable"], json!(expected));
    assert!(
        flat(&text).contains("2 values of duration_ms could not be read, so not used, such as \"n/a\" (log.jsonl:1)"),
        "{text}"
    );
    assert!(!text.contains("sk-ant-api03"), "{text}");
}

#[test]
fn numbers_that_mean_nothing_are_counted_and_change_nothing() {
    // Lines that are alike are read by a shorter way, which must count them too.
    let sound: String = (0..4)
        .map(|n| {
            format!(
                "{{\"ts\":\"2026-01-05T10:0{n}:00Z\",\"call_id\":\"c{n}\",\"attempt\":1,\"status\":200,\"duration_ms\":10,\
                 \"input_tokens\":5,\"cost_usd\":0.5,\"ttft_ms\":3}}\n"
            )
        })
        .collect();
    let line = sound.lines().last().unwrap();
    let cases = [
        ("attempt", "1", "-3"),
        ("attempt", "1", "2.5"),
        ("cost_usd", "0.5", "-0.5"),
        ("duration_ms", "10", "-10"),
        ("input_tokens", "5", "-5"),
        ("input_tokens", "5", "5.5"),
        ("ttft_ms", "3", "-3"),
    ];
    for (field, good, bad) in cases {
        let broken = line.replace(&format!("\"{field}\":{good}"), &format!("\"{field}\":{bad}"));
        assert_ne!(broken, line);
        let (told, _) = report(&format!("{sound}{broken}\n"));
        let expected = json!([{ "field": field, "count": 1, "example": bad, "file": "log.jsonl", "line": 5 }]);
        assert_eq!(told["unreadable"], expected, "{broken}");
        let without = line.replace(&format!("\"{field}\":{good},"), "").replace(&format!(",\"{field}\":{good}"), "");
        let (absent, _) = report(&format!("{sound}{without}\n"));
        assert_eq!(told["totals"], absent["totals"], "{broken}");
    }
}

#[test]
fn an_example_is_masked() {
    let key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let (report, text) =
        report(&format!(r#"{{"ts":"2026-01-05T10:00:00Z","status":429,"retry_after":"{key}","run_id":"r"}}"#));
    let shown = report["unreadable"][0]["example"].as_str().unwrap();
    assert!(!shown.contains("AAAA") && !text.contains("AAAA"), "{shown}\n{text}");
}

#[test]
fn a_better_spelling_leaves_nothing_unread() {
    for log in [
        r#"{"ts":"2026-01-05T10:00:00Z","status":500,"latency_ms":"n/a","duration_ms":12}"#,
        r#"{"ts":"2026-01-05T10:00:00Z","status":500,"duration_ms":12,"latency_ms":"n/a"}"#,
        r#"{"level":"info","duration_ms":"n/a"}
{"ts":"2026-01-05T10:00:00Z","status":500}"#,
    ] {
        assert_eq!(report(log).0["unreadable"], json!([]), "{log}");
    }
}

#[test]
fn calls_that_a_rule_could_not_judge_are_counted_with_the_field_that_would_have_told() {
    let log: String = (0..3)
        .map(|n| {
            // Without durations the second send may have left as soon as the first had ended.
            let duration = if n == 0 { ",\"duration_ms\":119000" } else { "" };
            format!(
                "{{\"ts\":\"2026-01-05T1{n}:00:00Z\",\"call_id\":\"c{n}\",\"attempt\":1,\"status\":500{duration}}}\n\
                 {{\"ts\":\"2026-01-05T1{n}:02:00Z\",\"call_id\":\"c{n}\",\"attempt\":2,\"status\":200{duration}}}\n"
            )
        })
        .collect();
    let (report, text) = report(&log);
    assert_eq!(report["undecided"], json!([{ "rule": "RL307", "field": "duration_ms", "calls": 2 }]));
    let told = "RL307 could not judge 2 calls: no duration_ms logged";
    assert!(flat(&text).contains(told), "{text}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), &log).unwrap();
    for format in ["markdown", "sarif", "junit"] {
        let ran = run_in(folder.path(), &["analyze", "a.jsonl", "--format", format]);
        // Markdown escapes what it could take for its own marks.
        assert!(ran.stdout.replace('\\', "").contains(told), "{format}: {}", ran.stdout);
    }
    let ran = run_in(folder.path(), &["analyze", "a.jsonl", "--format", "ndjson"]);
    assert!(ran.stderr.contains(told) && !ran.stdout.contains(told), "{}", ran.stderr);
}

#[test]
fn values_that_mean_nothing_are_told_in_every_form() {
    let log = r#"{"ts":"2026-01-05T10:00:00Z","status":429,"retry_after":"soonish"}"#;
    let told = "1 value of retry_after could not be read, so not used, such as \"soonish\" (a.jsonl:1)";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), log).unwrap();
    for (format, shown) in
        [("markdown", told.to_owned()), ("sarif", told.replace('"', "\\\"")), ("junit", told.replace('"', "&quot;"))]
    {
        let ran = run_in(folder.path(), &["analyze", "a.jsonl", "--format", format]);
        let stdout = if format == "markdown" { ran.stdout.replace('\\', "") } else { ran.stdout };
        assert!(stdout.contains(&shown), "{format}: {stdout}");
    }
    assert!(run_in(folder.path(), &["analyze", "a.jsonl", "--format", "ndjson"]).stderr.contains(told));
}

#[test]
fn a_verdict_on_a_run_is_as_sure_as_the_grouping_of_its_calls() {
    let log = |call: &str| {
        format!(
            r#"{{"ts":"2026-01-05T10:00:00Z","run_id":"r",{call}"status":529,"error_type":"overloaded_error","model":"m"}}
{{"ts":"2026-01-05T10:00:02Z","run_id":"r",{call}"status":200,"model":"m"}}
"#
        )
    };
    for (call, confidence) in [("\"call_id\":\"c\",", "high"), ("", "low")] {
        let (report, _) = report(&log(call));
        let findings = report["findings"].as_array().unwrap();
        let green = findings.iter().find(|finding| finding["rule"] == "RL804").unwrap();
        assert_eq!(green["confidence"], confidence, "{call}");
    }
}

#[test]
fn advice_is_given_for_what_is_shown() {
    let samples = common::repo("samples").display().to_string();
    let advice = |severity: &str| {
        let folder = tempfile::tempdir().unwrap();
        let ran = run_in(folder.path(), &["analyze", &samples, "--select", "RL2,RL307", "--min-severity", severity]);
        ran.stdout
            .split("WHAT TO DO")
            .nth(1)
            .map_or(String::new(), |rest| rest.split("\n\n").next().unwrap_or_default().to_owned())
    };
    let (all, errors) = (advice("info"), advice("error"));
    assert!(all.contains("RL203") && !errors.contains("RL203"), "{all}\n{errors}");
}

/// Two attempts into a spent cap that reopens on the first of September, from this date on.
fn into_a_spent_cap(times: [&str; 2]) -> String {
    let line = |(nth, ts): (usize, &str)| {
        format!(
            r#"{{"ts":"{ts}","run_id":"r","call_id":"c","attempt":{},"status":429,"error_code":"enforced_spend_limit_reached","error_message":"You have reached your API usage limits. You will regain access on 2026-09-01 at 00:00 UTC."}}"#,
            nth + 1
        )
    };
    times.into_iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn to_wait_is_told_of_a_time_that_lies_behind_the_log_alone() {
    let step = |times, of: &str| {
        let (report, text) = report(&into_a_spent_cap(times));
        let steps = report["advice"].as_array().unwrap().clone();
        let step = steps.into_iter().find(|step| step["rule"] == "RL101" && step["remedy"] == of);
        (step.unwrap_or_else(|| panic!("no {of} in {text}")), flat(&text))
    };
    let (wait, text) = step(["2026-08-20T10:00:00Z", "2026-08-20T10:00:09Z"], "wait");
    assert_eq!((&wait["until"], &wait["ended"]), (&json!("2026-09-01T00:00:00Z"), &Value::Null));
    assert!(
        text.contains("until 2026-09-01 00:00 UTC: When the log ends, requests on this limit can only fail"),
        "{text}"
    );
    // Some other call goes on after the cap was due to reopen.
    let later = [
        into_a_spent_cap(["2026-08-20T10:00:00Z", "2026-08-20T10:00:09Z"]),
        r#"{"ts":"2026-09-02T10:00:00Z","run_id":"r","call_id":"d","attempt":1,"status":200}"#.to_owned(),
    ];
    let (report, text) = report(&later.join("\n"));
    let steps = report["advice"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["remedy"] != "wait" && step["until"].is_null()), "{steps:?}");
    assert!(steps.iter().any(|step| step["ended"] == "2026-09-01T00:00:00Z"), "{steps:?}");
    let text = flat(&text);
    assert!(text.contains("over since 2026-09-01 00:00 UTC, before the log ends"), "{text}");
    assert!(!text.contains("can only fail"), "{text}");
}

#[test]
fn without_a_date_of_its_own_a_log_tells_nobody_to_wait() {
    let lines = [
        "10:00:05 - ERROR - anthropic.RateLimitError: Error code: 429 - {'type': 'error', 'error': {'type': \
         'rate_limit_error', 'message': 'You have reached your API usage limits. You will regain access on 2026-09-01 at \
         00:00 UTC.'}}",
        "10:00:07 - ERROR - anthropic.RateLimitError: Error code: 429 - {'type': 'error', 'error': {'type': \
         'rate_limit_error', 'message': 'You have reached your API usage limits. You will regain access on 2026-09-01 at \
         00:00 UTC.'}}",
    ];
    let (report, text) = report(&lines.join("\n"));
    assert!(report["totals"]["sends"].as_u64() > Some(0), "{text}");
    assert!(!text.contains("can only fail"), "{text}");
}

/// Calls that fail once and are retried, each with the fields of its failure, two seconds apart.
fn outage(failures: &[&str]) -> String {
    let lines = failures.iter().enumerate().flat_map(|(call, failure)| {
        let at = |ms: usize| format!("2026-03-10T09:{:02}:{:02}.{:03}Z", call / 30, call * 2 % 60, ms);
        let line = |attempt: usize, ms: usize, rest: &str| {
            format!(
                r#"{{"ts":"{}","run_id":"r{}","call_id":"c{call}","model":"m","attempt":{attempt},"duration_ms":20,{rest}}}"#,
                at(ms),
                call % 4
            )
        };
        [line(1, 0, failure), line(2, 900, r#""status":200"#)]
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn one_outage_is_one_incident_however_it_answers() {
    const OVERLOADED: &str = r#""status":529,"error_type":"overloaded_error""#;
    const BARE: &str = r#""status":503"#;
    const RESET: &str = r#""kind":"connection_error""#;
    const LIMITED: &str = r#""status":429,"error_type":"rate_limit_error","retry_after":1"#;
    let mixed: Vec<&str> =
        [OVERLOADED, BARE, OVERLOADED, RESET, OVERLOADED, BARE].into_iter().cycle().take(18).collect();
    let incidents = |failures: &[&str]| report(&outage(failures)).0["incidents"].as_array().unwrap().clone();
    let one = incidents(&mixed);
    assert_eq!(one.len(), 1, "{one:?}");
    assert_eq!((&one[0]["class"], &one[0]["failed"]), (&json!("overloaded"), &json!(18)));
    let classes = json!([
        {"class": "overloaded", "failed": 9}, {"class": "gateway_error", "failed": 6}, {"class": "connection", "failed": 3}
    ]);
    assert_eq!(one[0]["classes"], classes);
    // The caller's own limit is something else.
    let two = incidents(&[OVERLOADED, LIMITED].repeat(9));
    let classes: Vec<&str> = two.iter().filter_map(|one| one["class"].as_str()).collect();
    assert_eq!(classes, ["overloaded", "rate_limited"]);
    let shown = flat(&report(&outage(&mixed)).1);
    assert!(shown.contains("overloaded +2"), "{shown}");
}

#[test]
fn what_nothing_tells_apart_is_joined_by_guess_and_blames_nobody() {
    // Items of a loop, the second of which fails; the third follows at once.
    let items = |more: [&str; 3]| {
        let line = |(nth, more): (usize, &str)| {
            let (ms, status) = (nth * 150, if nth == 1 { 529 } else { 200 });
            format!(
                r#"{{"ts":"2026-03-10T09:00:00.{ms:03}Z","run_id":"r","model":"m","duration_ms":100,{more}"status":{status}}}"#
            )
        };
        more.into_iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    };
    let (told, text) = report(&items(["", "", ""]));
    let text = flat(&text);
    assert_eq!(told["totals"]["joined_by_guess"], json!({"count": 1, "of": 1}));
    assert!(text.contains("seem to have succeeded") && text.contains("was joined by guess (low confidence)"), "{text}");
    for finding in told["findings"].as_array().unwrap() {
        if finding["grouping"] == "inferred" {
            assert_eq!((&finding["severity"], &finding["confidence"]), (&json!("info"), &json!("low")), "{finding}");
        }
    }
    // A hash of the body, or an id, tells them apart.
    for more in [
        [r#""request_hash":"aa","#, r#""request_hash":"bb","#, r#""request_hash":"cc","#],
        [r#""call_id":"a","#, r#""call_id":"b","#, r#""call_id":"c","#],
    ] {
        let told = report(&items(more)).0;
        assert_eq!((&told["totals"]["calls"], &told["totals"]["calls_ok"]), (&json!(3), &json!(2)), "{more:?}");
    }
}

#[test]
fn an_incident_counts_what_was_sent_while_it_lasted() {
    // Three calls are refused twice at once, and all succeed half a minute later; others succeed just before.
    let line = |call: &str, attempt: u8, at: &str, status: u16| {
        format!(
            "{{\"ts\":\"2026-01-05T10:{at}Z\",\"call_id\":\"{call}\",\"attempt\":{attempt},\"status\":{status},\"duration_ms\":50}}\n"
        )
    };
    let mut log: String = (0..4).map(|n| line(&format!("before-{n}"), 1, &format!("00:0{n}.000"), 200)).collect();
    for call in ["a", "b", "c"] {
        log += &line(call, 1, "00:04.000", 529);
        log += &line(call, 2, "00:05.000", 529);
        log += &line(call, 3, "00:09.000", 200);
    }
    let (report, text) = report(&log);
    let incident = &report["incidents"][0];
    assert_eq!(
        (&incident["failed"], &incident["sends"], &incident["sends_exact"]),
        (&6.into(), &6.into(), &true.into())
    );
    assert!(text.contains("6 of 6"), "{text}");
}

#[test]
fn every_streak_of_refusals_of_a_run_counts() {
    let refused = |hour: u8| -> String {
        let line = |n: u8| {
            format!(
                "{{\"ts\":\"2026-01-05T{hour:02}:0{n}:00Z\",\"run_id\":\"r\",\"call_id\":\"c{hour}-{n}\",\"status\":401,\
                 \"error_type\":\"authentication_error\",\"duration_ms\":50}}\n"
            )
        };
        (0..4).map(line).collect()
    };
    let answered =
        "{\"ts\":\"2026-01-05T10:30:00Z\",\"run_id\":\"r\",\"call_id\":\"ok\",\"status\":200,\"duration_ms\":50}\n";
    let (report, _) = report(&format!("{}{answered}{}", refused(10), refused(11)));
    let streaks = report["findings"].as_array().unwrap().iter().filter(|finding| finding["rule"] == "RL112").count();
    assert_eq!((streaks, &report["totals"]["wasted_sends"]), (2, &6.into()), "{report}");
}

#[test]
fn equal_findings_are_in_the_same_order_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let provider =
        |name: &str| format!(r#"{{"ts":"2026-01-05T10:00:00Z","attempt":1,"status":429,"provider":"{name}"}}"#) + "\n";
    std::fs::write(folder.path().join("log.jsonl"), ["openai", "", "mistral", "groq"].map(provider).concat()).unwrap();
    let judge =
        || run_in(folder.path(), &["analyze", "--no-config", "--complete", "--format", "json", "log.jsonl"]).stdout;
    let first = judge();
    assert!(first.contains("RL201"), "{first}");
    // Hash maps begin with other numbers in each process.
    (0..12).for_each(|_| assert_eq!(judge(), first));
}
