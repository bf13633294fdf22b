//! Two logs that tell of the same attempts, each in its own words.

use crate::common::{codes, run_in};
use serde_json::Value;
use std::path::Path;

/// Logs by name.
type Logs<'l> = [(&'l str, &'l str)];

/// The report of `logs`, which is the same in any order of them, and with open calls alone in memory.
#[track_caller]
fn report(logs: &Logs<'_>) -> Value {
    let folder = tempfile::tempdir().unwrap();
    logs.iter().for_each(|(name, log)| std::fs::write(folder.path().join(name), log).unwrap());
    let names: Vec<&str> = logs.iter().map(|(name, _)| *name).collect();
    let turned: Vec<&str> = names.iter().rev().copied().collect();
    let first = judged(folder.path(), &names, "whole");
    for (names, memory) in [(&names, "bounded"), (&turned, "whole"), (&turned, "bounded")] {
        let other = judged(folder.path(), names, memory);
        for what in ["ledger", "totals", "findings", "problems", "histogram", "who"] {
            assert_eq!(first[what], other[what], "{what} of {names:?} {memory}");
        }
    }
    first
}

fn judged(folder: &Path, names: &[&str], memory: &str) -> Value {
    let options = ["analyze", "--no-config", "--complete", "--format", "json", "--memory", memory];
    run_in(folder, &[&options, names].concat()).json()
}

/// Calls, attempts, attempts that reached a provider, and lines that are other views.
#[track_caller]
fn assert_counts(report: &Value, [calls, attempts, upstream, views]: [u64; 4]) {
    let (totals, ledger) = (&report["totals"], &report["ledger"]);
    let told = [&totals["calls"], &totals["sends"], &totals["attempts_upstream"], &ledger["views"]];
    assert_eq!(told.map(|count| count.as_u64().unwrap()), [calls, attempts, upstream, views], "{totals}\n{ledger}");
    assert_eq!(ledger["duplicates"], 0, "{ledger}");
}

const CLIENT: &str = r#"{"ts":"2026-01-05T10:00:00.000Z","call_id":"c1","attempt":1,"request_id":"7af7651916cd43dd8448eb211c803101","status":503,"duration_ms":300}
{"ts":"2026-01-05T10:00:01.000Z","call_id":"c1","attempt":2,"request_id":"7af7651916cd43dd8448eb211c803102","status":200,"duration_ms":700}
{"ts":"2026-01-05T10:00:05.000Z","call_id":"c2","attempt":1,"request_id":"7af7651916cd43dd8448eb211c803103","status":200,"duration_ms":700}
"#;

const NGINX: &str = r#"10.0.0.7 - - [05/Jan/2026:10:00:00 +0000] "POST /v1/messages HTTP/1.1" 503 88 "-" "agent/1" rt=0.290 us="503" urt="0.280" rid=7af7651916cd43dd8448eb211c803101
10.0.0.7 - - [05/Jan/2026:10:00:01 +0000] "POST /v1/messages HTTP/1.1" 200 512 "-" "agent/1" rt=0.690 us="200" urt="0.680" rid=7af7651916cd43dd8448eb211c803102
10.0.0.7 - - [05/Jan/2026:10:00:05 +0000] "POST /v1/messages HTTP/1.1" 200 512 "-" "agent/1" rt=0.690 us="200" urt="0.680" rid=7af7651916cd43dd8448eb211c803103
"#;

#[test]
fn a_client_and_a_gateway_that_log_the_same_requests_tell_of_each_attempt_once() {
    let report = report(&[("client.jsonl", CLIENT), ("access.log", NGINX)]);
    assert_counts(&report, [2, 3, 3, 3]);
    assert!(codes(&report).iter().all(|code| !code.starts_with("RL4")), "{:?}", codes(&report));
}

#[test]
fn what_the_client_does_not_log_is_known_from_the_gateway() {
    let client = r#"{"ts":"2026-01-05T10:00:00.000Z","call_id":"c1","attempt":1,"request_id":"req_011CabcdefghA1","status":429,"duration_ms":300}
{"ts":"2026-01-05T10:00:00.900Z","call_id":"c1","attempt":2,"request_id":"req_011CabcdefghA2","status":200,"duration_ms":700}
"#;
    let envoy = r#"{"start_time":"2026-01-05T10:00:00.010Z","path":"/v1/messages","response_code":429,"response_flags":"-","duration":280,"x-request-id":"req_011CabcdefghA1","retry-after":"9"}
{"start_time":"2026-01-05T10:00:00.910Z","path":"/v1/messages","response_code":200,"response_flags":"-","duration":680,"x-request-id":"req_011CabcdefghA2"}
"#;
    assert!(!codes(&report(&[("client.jsonl", client)])).contains(&"RL301"));
    let both = report(&[("client.jsonl", client), ("envoy.jsonl", envoy)]);
    assert_counts(&both, [1, 2, 2, 2]);
    assert!(codes(&both).contains(&"RL301"), "the wait of 0.6 s is shorter than the hint of 9 s: {:?}", codes(&both));
}

#[test]
fn attempts_of_a_gateway_lie_within_the_one_of_its_client() {
    let nginx = r#"10.0.0.7 - - [05/Jan/2026:10:00:01 +0000] "POST /v1/messages HTTP/1.1" 503 88 "-" "agent/1" rt=1.000 us="502, 503" urt="0.400, 0.600" rid=7af7651916cd43dd8448eb211c803101
10.0.0.7 - - [05/Jan/2026:10:00:04 +0000] "POST /v1/messages HTTP/1.1" 200 512 "-" "agent/1" rt=1.500 us="502, 200" urt="0.500, 1.000" rid=7af7651916cd43dd8448eb211c803102
"#;
    let client = r#"{"ts":"2026-01-05T09:59:59.990Z","call_id":"c1","attempt":1,"layer":"sdk","request_id":"7af7651916cd43dd8448eb211c803101","status":503,"duration_ms":1020}
{"ts":"2026-01-05T10:00:02.490Z","call_id":"c1","attempt":2,"layer":"sdk","request_id":"7af7651916cd43dd8448eb211c803102","status":200,"duration_ms":1520}
"#;
    let report = report(&[("client.jsonl", client), ("access.log", nginx)]);
    assert_counts(&report, [1, 6, 4, 0]);
    assert!(codes(&report).contains(&"RL401"), "two rounds of two: {:?}", codes(&report));
    let layers: Vec<(&str, u64)> = report["who"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["by"] == "layer")
        .map(|row| (row["name"].as_str().unwrap(), row["attempts"].as_u64().unwrap()))
        .collect();
    assert_eq!(layers.iter().map(|(_, attempts)| attempts).sum::<u64>(), 6, "{layers:?}");
    assert!(layers.contains(&("gateway", 4)) && layers.contains(&("sdk", 2)), "{layers:?}");
}

#[test]
fn a_log_of_an_sdk_and_traces_of_the_same_process_tell_of_each_attempt_once() {
    let span = |id: &str, at: [u64; 2], status: u16, resends: u8, request: &str| {
        format!(
            r#"{{"traceId":"b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1","spanId":"{id}","parentSpanId":"b100000000000000","name":"POST","kind":3,"startTimeUnixNano":"{}000000","endTimeUnixNano":"{}000000","attributes":[{{"key":"http.request.method","value":{{"stringValue":"POST"}}}},{{"key":"url.full","value":{{"stringValue":"https://api.anthropic.example/v1/messages"}}}},{{"key":"http.response.status_code","value":{{"intValue":"{status}"}}}},{{"key":"http.request.resend_count","value":{{"intValue":"{resends}"}}}},{{"key":"http.response.header.request-id","value":{{"arrayValue":{{"values":[{{"stringValue":"{request}"}}]}}}}}}]}}"#,
            at[0], at[1]
        )
    };
    // 2026-03-02T07:10:00Z
    const START: u64 = 1_772_435_400_000;
    let spans = [
        span("b100000000000001", [START + 111, START + 349], 429, 0, "req_011Cwxyzabcd01"),
        span("b100000000000002", [START + 816, START + 1_315], 200, 1, "req_011Cwxyzabcd02"),
    ];
    let traces = format!(
        r#"{{"resourceSpans":[{{"resource":{{"attributes":[]}},"scopeSpans":[{{"scope":{{"name":"opentelemetry.instrumentation.httpx"}},"spans":[{}]}}]}}]}}"#,
        spans.join(",")
    );
    let log = "2026-03-02 07:10:00,110 anthropic._base_client DEBUG Sending HTTP Request: POST https://api.anthropic.example/v1/messages
2026-03-02 07:10:00,350 httpx INFO HTTP Request: POST https://api.anthropic.example/v1/messages \"HTTP/1.1 429 Too Many Requests\"
2026-03-02 07:10:00,351 anthropic._base_client DEBUG request_id: req_011Cwxyzabcd01
2026-03-02 07:10:00,352 anthropic._base_client INFO Retrying request to /v1/messages in 0.460000 seconds
2026-03-02 07:10:00,815 anthropic._base_client DEBUG Sending HTTP Request: POST https://api.anthropic.example/v1/messages
2026-03-02 07:10:01,316 httpx INFO HTTP Request: POST https://api.anthropic.example/v1/messages \"HTTP/1.1 200 OK\"
2026-03-02 07:10:01,317 anthropic._base_client DEBUG request_id: req_011Cwxyzabcd02
";
    let alone = report(&[("sdk.log", log)]);
    assert_counts(&alone, [1, 2, 2, 0]);
    let both = report(&[("sdk.log", log), ("traces.json", &traces)]);
    assert_counts(&both, [1, 2, 2, 2]);
}

#[test]
fn ids_that_two_programs_use_for_requests_of_their_own_join_nothing() {
    let client = CLIENT.replace("7af7651916cd43dd8448eb211c8031", "request-number-");
    // The same ids a minute later, of other requests.
    let later = NGINX.replace("7af7651916cd43dd8448eb211c8031", "request-number-").replace(":10:00:", ":10:09:");
    let report_of = report(&[("client.jsonl", &client), ("access.log", &later)]);
    assert_eq!(report_of["ledger"]["views"], 0);
    assert_eq!(report_of["totals"]["sends"], 6);
    // Counters that meet by chance.
    let short = |log: &str| log.replace("7af7651916cd43dd8448eb211c803", "r");
    let report_of = report(&[("client.jsonl", &short(CLIENT)), ("access.log", &short(NGINX))]);
    assert_eq!((&report_of["ledger"]["views"], &report_of["totals"]["sends"]), (&0.into(), &6.into()));
    // Two logs of one kind are of two clients.
    let report_of = report(&[("a.jsonl", CLIENT), ("b.jsonl", &CLIENT.replace("\"c", "\"d"))]);
    assert_eq!((&report_of["ledger"]["views"], &report_of["totals"]["sends"]), (&0.into(), &6.into()));
}

#[test]
fn a_trace_shows_what_each_log_says() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("client.jsonl"), CLIENT).unwrap();
    std::fs::write(folder.path().join("access.log"), NGINX).unwrap();
    let trace = |form: &str| {
        let id = "7af7651916cd43dd8448eb211c803102";
        run_in(folder.path(), &["trace", "--no-config", id, "client.jsonl", "access.log", "--format", form])
    };
    let traced = trace("json").json();
    let calls = traced["traces"][0]["calls"].as_array().unwrap();
    assert_eq!((calls.len(), &calls[0]["call_id"]), (1, &"c1".into()), "{traced}");
    let sends = calls[0]["sends"].as_array().unwrap();
    let views: Vec<&Value> = sends.iter().map(|send| &send["views"]).collect();
    assert_eq!(views.iter().map(|views| views.as_array().unwrap().len()).collect::<Vec<_>>(), [1, 1], "{traced}");
    let view = &views[1][0];
    assert_eq!((&view["file"], &view["line"], &view["layer"]), (&"access.log".into(), &2.into(), &"gateway".into()));
    let text = trace("text").stdout;
    assert!(text.contains("also in access.log:2 (nginx, gateway): status 200"), "{text}");
}

#[test]
fn several_attempts_with_one_trace_at_a_time_stay_apart_and_are_counted() {
    let of = |layer: &str, calls: [&str; 2]| {
        let line = |call: &str, at: &str| {
            format!(
                r#"{{"ts":"2026-01-05T10:00:00.{at}Z","run_id":"c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1","call_id":"{call}","layer":"{layer}","status":200,"duration_ms":700}}"#
            )
        };
        format!("{}\n{}\n", line(calls[0], "100"), line(calls[1], "200"))
    };
    let report = report(&[("client.jsonl", &of("sdk", ["a", "b"])), ("gateway.jsonl", &of("gateway", ["x", "y"]))]);
    assert_counts(&report, [4, 4, 4, 0]);
    let notices = report["notices"].as_array().unwrap();
    assert!(notices.iter().any(|notice| notice.as_str().unwrap().starts_with("2 attempts share an id")), "{notices:?}");
    // One at a time they are told.
    let one = |log: String| log.lines().next().unwrap().to_owned();
    let logs = [one(of("sdk", ["a", "b"])), one(of("gateway", ["x", "y"]))];
    assert_counts(&self::report(&[("client.jsonl", &logs[0]), ("gateway.jsonl", &logs[1])]), [1, 1, 1, 1]);
}

/// The notices that say how many attempts may be in two logs.
fn told_twice(report: &Value) -> Vec<&str> {
    let notices = report["notices"].as_array().unwrap().iter().map(|notice| notice.as_str().unwrap());
    notices.filter(|notice| notice.contains("share an id") || notice.contains("shares an id")).collect()
}

#[test]
fn attempts_that_may_be_in_two_logs_are_said_where_ids_or_clocks_do_not_show_it() {
    let by_clock = |log: &str, minutes: u8| log.replace(":10:00:", &format!(":10:{minutes:02}:"));
    let short = |log: &str| log.replace("7af7651916cd43dd8448eb211c803", "r");
    let told = |client: &str, nginx: &str| {
        let report = report(&[("client.jsonl", client), ("access.log", nginx)]);
        assert_eq!((&report["ledger"]["views"], &report["totals"]["sends"]), (&0.into(), &6.into()));
        told_twice(&report).iter().map(|notice| notice.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Clocks two minutes apart; ids too short to be unique, by the same clock and by another.
    assert_eq!(told(CLIENT, &by_clock(NGINX, 2)), ["3"]);
    assert_eq!(told(&short(CLIENT), &short(NGINX)), ["3"]);
    assert_eq!(told(&short(CLIENT), &short(&by_clock(NGINX, 1))), ["3"]);
    // Other attempts.
    assert_eq!(told(CLIENT, &by_clock(NGINX, 9)), [""; 0]);
    assert_eq!(told(&short(CLIENT), &short(&by_clock(NGINX, 9))), [""; 0]);
}

/// One log of two layers with so many attempts, the first of each of which have one short id.
fn attempts_of_two_layers(attempts: usize) -> String {
    let line = |number: usize| {
        let (layer, id) = if number.is_multiple_of(2) { ("agent", number) } else { ("gateway", number.max(2) - 1) };
        let id = if number < 2 { "r-1".to_owned() } else { format!("r-{layer}-{id}") };
        format!(
            r#"{{"ts":{},"call_id":"{layer}-{number}","layer":"{layer}","attempt":1,"request_id":"{id}","status":200,"duration_ms":5000}}"#,
            1_767_607_200 + number
        ) + "\n"
    };
    (0..attempts).map(line).collect()
}

#[test]
fn an_id_that_a_few_among_thousands_share_is_chance() {
    let notices = |attempts: usize| report(&[("log.jsonl", &attempts_of_two_layers(attempts))])["notices"].to_string();
    assert!(notices(10).contains("share"), "{}", notices(10));
    assert_eq!(notices(2000), "[]");
}
