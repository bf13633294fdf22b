//! Answers people ask a log for: which run cost what, who is to blame, why a call was slow.

use crate::common::{finish, program, run_in};
use serde_json::{Value, json};
use std::path::Path;

fn folder(log: &[Value], config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".git")).unwrap();
    std::fs::write(folder.path().join("retrylens.toml"), config).unwrap();
    let lines: Vec<String> = log.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.path().join("log.jsonl"), lines.concat()).unwrap();
    folder
}

fn report(folder: &Path, more: &[&str]) -> Value {
    let arguments = [&["analyze", "--complete", "--format", "json", "log.jsonl"], more].concat();
    run_in(folder, &arguments).json()
}

fn run<'r>(report: &'r Value, id: &str) -> &'r Value {
    report["runs"].as_array().unwrap().iter().find(|run| run["run_id"] == id).unwrap()
}

/// One attempt: its second, its run and call, its number and status, and what else it says.
fn attempt(second: usize, run: &str, call: &str, number: u32, status: u16, more: Value) -> Value {
    let mut line = json!({
        "ts": format!("2026-02-03T04:{:02}:{:02}Z", second / 60, second % 60), "run_id": run, "call_id": call, "attempt": number,
        "status": status, "provider": "north", "model": "tall-7b", "request_id": format!("req-{call}-{number}"), "duration_ms": 500,
    });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

/// A refused request sent three times and billed each time, beside a call that went well, and one whose tokens alone
/// are known.
fn billed() -> Vec<Value> {
    let bad = |number: u32| {
        let more = json!({ "error_type": "invalid_request_error", "input_tokens": 1000, "cost_usd": 0.5, "request_hash": "h" });
        attempt(number as usize, "costly", "bad", number, 400, more)
    };
    vec![
        bad(1),
        bad(2),
        bad(3),
        attempt(9, "costly", "good", 1, 200, json!({ "input_tokens": 2000, "output_tokens": 100, "cost_usd": 0.25 })),
        attempt(10, "told", "tokens", 1, 200, json!({ "usage": { "input_tokens": 3000, "output_tokens": 10 } })),
        attempt(11, "silent", "none", 1, 200, json!({})),
    ]
}

#[test]
fn what_is_known_is_summed_and_what_is_not_is_null() {
    let folder = folder(&billed(), "");
    let report = report(folder.path(), &[]);
    let costly = run(&report, "costly");
    assert_eq!((&costly["usd"], &costly["tokens"]), (&json!(1.75), &json!(5100)));
    assert_eq!(
        (&costly["wasted_usd"], &costly["wasted_tokens"]),
        (&json!(1.0), &json!(2000)),
        "two of three were needless"
    );
    let told = run(&report, "told");
    assert_eq!((&told["usd"], &told["tokens"], &told["wasted_usd"]), (&Value::Null, &json!(3010), &Value::Null));
    let silent = run(&report, "silent");
    assert_eq!((&silent["usd"], &silent["tokens"]), (&Value::Null, &Value::Null), "unknown is not nothing");
    let totals = &report["totals"];
    assert_eq!((&totals["usd"], &totals["tokens"], &totals["wasted_usd"]), (&json!(1.75), &json!(8110), &json!(1.0)));
    assert_eq!(totals["with_cost"], json!({ "count": 4, "of": 6 }));
    assert_eq!(totals["with_tokens"], json!({ "count": 5, "of": 6 }));
}

#[test]
fn declared_prices_fill_in_what_the_log_leaves_out() {
    let prices = "[prices.\"tall-*\"]\ninput_per_mtok = 100\noutput_per_mtok = 1000\n";
    let folder = folder(&billed(), prices);
    let whole = report(folder.path(), &[]);
    assert_eq!(run(&whole, "costly")["usd"], 1.75, "the log's own cost holds");
    assert_eq!(run(&whole, "told")["usd"], 0.31, "3000 at 100, 10 at 1000 a million");
    assert_eq!(run(&whole, "silent")["usd"], Value::Null);
    let bounded = report(folder.path(), &["--memory", "bounded"]);
    assert_eq!(
        (&whole["runs"], &whole["who"], &whole["totals"]),
        (&bounded["runs"], &bounded["who"], &bounded["totals"])
    );
    let other = report(folder.path(), &["--no-config"]);
    assert_eq!(run(&other, "told")["usd"], Value::Null);
}

#[test]
fn every_form_tells_costs_and_senders() {
    let mut log = billed();
    log.push(attempt(20, "told", "elsewhere", 1, 200, json!({ "host": "pod-2" })));
    let folder = folder(&log, "");
    let forms = ["text=r.txt", "markdown=r.md", "html=r.html", "csv=tables"].map(|form| ["--output", form]).concat();
    report(folder.path(), &forms);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for name in ["r.txt", "r.md", "r.html"] {
        let text = read(name);
        assert!(text.contains("$1.75") && text.contains("pod-2") && text.contains("(not logged)"), "{name}: {text}");
    }
    let runs = read("tables/runs.csv");
    assert!(runs.lines().next().unwrap().contains("tokens,usd,wasted_tokens,wasted_usd"), "{runs}");
    assert!(runs.contains(",5100,1.75,2000,1,"), "{runs}");
}

/// Two versions of a client, the old one blind to hints, on two hosts; the log names no call.
fn two_clients() -> Vec<Value> {
    let mut log = Vec::new();
    for nth in 0..6_usize {
        for (version, host, wait) in [("1.0", "pod-a", 1), ("2.0", "pod-b", 21)] {
            let sdk = json!({ "client": { "name": "Acme/Go", "version": version }, "host": host, "layer": "sdk", "api_key_id": "k" });
            let base = nth * 60 + usize::from(host == "pod-b");
            let mut add = |second: usize, number: u32, status: u16, more: Value| {
                let mut line = attempt(second, &format!("job-{host}"), "-", number, status, more);
                let fields = line.as_object_mut().unwrap();
                fields.remove("call_id");
                fields.insert("request_id".into(), format!("req-{host}-{nth}-{number}").into());
                fields.extend(sdk.as_object().unwrap().clone());
                log.push(line);
            };
            add(base, 1, 429, json!({ "error_type": "rate_limit_error", "retry_after": 20 }));
            add(base + wait, 2, 200, json!({}));
        }
    }
    log
}

#[test]
fn who_is_to_blame_has_a_row() {
    let folder = folder(&two_clients(), "");
    let whole = report(folder.path(), &[]);
    let rows = |by: &str| -> Vec<Value> {
        whole["who"].as_array().unwrap().iter().filter(|row| row["by"] == by).cloned().collect()
    };
    let clients = rows("client");
    assert_eq!(clients.len(), 2, "{clients:#?}");
    assert_eq!((&clients[0]["name"], &clients[0]["version"]), (&json!("Acme/Go"), &json!("1.0")));
    assert!(clients[0]["findings"][0].as_u64().unwrap() >= 6 && clients[1]["findings"][0] == 0, "{clients:#?}");
    for by in ["client", "host"] {
        for row in rows(by) {
            assert_eq!((&row["calls"], &row["attempts"], &row["retries"]), (&json!(6), &json!(12), &json!(6)), "{row}");
        }
    }
    assert_eq!(rows("host")[0]["name"], "pod-a");
    assert_eq!(rows("key")[0]["attempts"], 24);
    assert!(rows("org").is_empty(), "no org is named");
    for by in ["client", "host", "layer", "model"] {
        let sum = |column: &str| rows(by).iter().map(|row| row[column].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("calls"), whole["totals"]["calls"].as_u64().unwrap(), "{by}");
        assert_eq!(sum("attempts"), whole["totals"]["sends"].as_u64().unwrap(), "{by}");
        assert_eq!(sum("retries"), whole["totals"]["retries"].as_u64().unwrap(), "{by}");
        assert_eq!(sum("wasted_sends"), whole["totals"]["wasted_sends"].as_u64().unwrap(), "{by}");
    }
    assert_eq!(whole["who"], report(folder.path(), &["--memory", "bounded"])["who"]);
    assert_eq!(whole["who"], report(folder.path(), &["--threads", "1"])["who"]);
    let old = report(folder.path(), &["--client", "Acme/Go 1.*"]);
    assert_eq!(old["totals"]["calls"], 6);
}

#[test]
fn tables_join_attempts_to_calls_that_no_log_names() {
    let folder = folder(&two_clients(), "");
    report(folder.path(), &["--output", "csv=tables"]);
    let column = |table: &str, name: &str| -> Vec<String> {
        let mut csv = csv::Reader::from_path(folder.path().join(format!("tables/{table}.csv"))).unwrap();
        let place = csv.headers().unwrap().iter().position(|head| head == name).unwrap_or_else(|| panic!("{name}"));
        csv.records().map(|record| record.unwrap()[place].to_owned()).collect()
    };
    let calls = column("calls", "call");
    assert_eq!(calls, (1..=12).map(|call| call.to_string()).collect::<Vec<_>>());
    let hosts = column("calls", "host");
    let (of, on) = (column("attempts", "call"), column("attempts", "host"));
    assert_eq!(of.len(), 24);
    for (call, host) in of.iter().zip(&on) {
        assert_eq!(&hosts[call.parse::<usize>().unwrap() - 1], host, "call {call}");
        assert_eq!(of.iter().filter(|other| *other == call).count(), 2, "call {call}");
    }
    for (table, names) in [
        (
            "attempts",
            &["client", "client_version", "org", "api_key_id", "workspace", "endpoint", "usd", "cost_source"][..],
        ),
        (
            "calls",
            &["provider", "client", "client_version", "layer", "org", "api_key_id", "workspace", "tokens", "usd"],
        ),
    ] {
        names.iter().for_each(|name| assert!(!column(table, name).is_empty(), "{table} {name}"));
    }
}

#[test]
fn a_slow_call_is_compared_with_its_peers() {
    let mut log: Vec<Value> = (0..24)
        .map(|nth| {
            attempt(nth, "r", &format!("quick-{nth}"), 1, 200, json!({ "duration_ms": 1000 + nth, "ttft_ms": 100 }))
        })
        .collect();
    log.push(attempt(2, "r", "slow", 1, 529, json!({ "error_type": "overloaded_error" })));
    log.push(attempt(32, "r", "slow", 2, 200, json!({ "duration_ms": 1500, "ttft_ms": 700 })));
    // Not its peers: another model, and a call that failed.
    log.push(attempt(5, "r", "other", 1, 200, json!({ "model": "wide", "duration_ms": 60_000 })));
    log.push(attempt(
        6,
        "r",
        "failed",
        1,
        400,
        json!({ "error_type": "invalid_request_error", "duration_ms": 60_000 }),
    ));
    let folder = folder(&log, "");
    let trace = |id: &str, more: &[&str]| run_in(folder.path(), &[&["trace", id, "log.jsonl"], more].concat());
    let traced = trace("slow", &["--format", "json"]).json();
    let peers = &traced["traces"][0]["calls"][0]["peers"];
    assert_eq!(peers["calls"], 24, "{peers:#}");
    assert_eq!(peers["elapsed"]["this_s"], 31.5);
    assert_eq!((&peers["elapsed"]["median_s"], &peers["elapsed"]["p95_s"]), (&json!(1.011), &json!(1.022)));
    assert_eq!((&peers["elapsed"]["below"], &peers["elapsed"]["of"]), (&json!(24), &json!(24)));
    assert_eq!((&peers["working"]["this_s"], &peers["waiting"]["this_s"]), (&json!(2.0), &json!(29.5)));
    assert_eq!((&peers["first_token"]["this_s"], &peers["first_token"]["median_s"]), (&json!(0.7), &json!(0.1)));
    for form in ["text", "markdown", "html"] {
        let shown = trace("slow", &["--format", form]).stdout.replace('\u{a0}', " ");
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("24 other calls of tall-7b that succeeded too"), "{form}: {shown}");
        assert!(words.contains("most of the difference is waiting between attempts"), "{form}: {shown}");
    }
    let quick = trace("quick-3", &["--format", "text"]).stdout;
    assert!(!quick.contains("most of the difference"), "{quick}");
    assert_eq!(trace("failed", &["--format", "json"]).json()["traces"][0]["calls"][0]["peers"], Value::Null);
    let none = finish(program().current_dir(folder.path()).args(["trace", "other", "log.jsonl"]));
    assert!(!none.stdout.contains("peers"), "one of its model: {none:#?}");
}
