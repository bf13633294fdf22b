//! Properties of the page of every trace.

use super::super::sample::HOSTILE;
use super::*;
use crate::ingest::{Dialect, Source};
use crate::model::Zone;
use crate::trace::{Query, search};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

/// A record of the run, sent `at_ms` after 10:00, with the further members `more`.
fn record(call: &str, attempt: u32, at_ms: u32, more: &Value) -> Value {
    let mut record = json!({
        "ts": format!("2026-05-20T10:{:02}:{:02}.{:03}Z", at_ms / 60_000, at_ms / 1000 % 60, at_ms % 1000),
        "run_id": "run-1", "call_id": call, "attempt": attempt, "request_id": format!("req_{call}_{attempt:02}"),
        "provider": "anthropic", "model": "claude-sonnet", "duration_ms": 100,
    });
    if let (Some(all), Some(more)) = (record.as_object_mut(), more.as_object()) {
        all.extend(more.clone());
    }
    record
}

fn overloaded() -> Value {
    json!({"status": 529, "error_type": "overloaded_error", "error_message": "Overloaded"})
}

fn traced(id: &str, records: &[Value]) -> Traces {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let log: String = records.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&path, log).unwrap();
    let query = Query {
        ids: vec![id.to_owned()],
        context_us: None,
        zone: Zone::UTC,
        dialect: Dialect::default(),
        format: None,
    };
    let found = search(&[Source::File(path)], &query, &|_| {}).unwrap();
    let judging = crate::judge::Options { complete: true, ..crate::judge::Options::default() };
    crate::trace::traces(&found, &query.ids, &judging, false)
}

fn page(traced: &Traces, options: &TextOptions) -> String {
    let mut out = Vec::new();
    traces(traced, options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn at_width(traced: &Traces, width: usize) -> String {
    page(traced, &TextOptions { width, ..TextOptions::default() })
}

/// Joins the lines of a page, so that wrapping does not matter.
fn flat(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn calls(n: u32, failing: impl Fn(u32) -> bool) -> Vec<Value> {
    (0..n)
        .map(|nth| {
            let outcome = if failing(nth) { overloaded() } else { json!({"status": 200}) };
            record(&format!("c{nth:02}"), 1, nth * 500, &outcome)
        })
        .collect()
}

fn long(n: u32) -> Vec<Value> {
    (0..n).map(|nth| record("long", nth + 1, nth * 3000, &overloaded())).collect()
}

fn hostile() -> Traces {
    let bad = |nth: u32| {
        let more = json!({
            "status": 529, "error_type": HOSTILE, "error_message": HOSTILE.repeat(30), "model": HOSTILE,
            "provider": HOSTILE, "request_id": format!("hostile {nth} {HOSTILE}"),
        });
        record(&format!("needle {HOSTILE}"), nth + 1, nth * 2000, &more)
    };
    traced("needle", &(0..20).map(bad).collect::<Vec<_>>())
}

#[test]
fn no_line_is_wider_than_the_page_nor_ends_in_blanks() {
    let run = calls(30, |nth| nth % 3 == 0);
    for traced in [traced("req_long_20", &long(45)), traced("run-1", &run), traced("req_c03", &run), hostile()] {
        for width in [0, 40, 53, 60, 72, 79, 80, 81, 99, 100, 101, 119, 120, 500] {
            for verbose in [false, true] {
                let most = width.clamp(40, 120);
                for line in page(&traced, &TextOptions { width, verbose, ..TextOptions::default() }).lines() {
                    assert!(line.width() <= most, "{} > {most}: {line}", line.width());
                    assert_eq!(line.trim_end(), line);
                }
            }
        }
    }
}

#[test]
fn hostile_text_is_escaped() {
    let shown = page(&hostile(), &TextOptions { verbose: true, ..TextOptions::default() });
    let is_invisible = |c: char| {
        c.is_control() && c != '\n'
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!shown.contains(is_invisible), "controls in the page");
    assert!(!shown.contains("abcdefghijklmnop") && !shown.contains("abcdef0123456789"), "a key in the page");
    assert!(shown.contains("␛[2J"), "what was there can be seen");
}

#[test]
fn the_first_line_names_the_call_and_its_outcome() {
    let log = [record("c", 1, 0, &overloaded()), record("c", 2, 600, &json!({"status": 200}))];
    let first = |id: &str| flat(&at_width(&traced(id, &log), 120)).split(" CALL").next().unwrap().to_owned();
    let ending = "succeeded on attempt 2 after 500 ms of waiting.";
    assert_eq!(first("req_c_01"), format!("Request req_c_01 is attempt 1 of 2 of call c; the call {ending}"));
    assert_eq!(
        first("req_c_"),
        format!("`req_c_` begins the request ids of both attempts of call c; the call {ending}")
    );
    assert_eq!(first("run-1"), format!("Run run-1 has one call in this log, call c; the call {ending}"));
    assert_eq!(
        first("claude"),
        format!("`claude` begins no request, call or run id; both attempts of call c mention it; the call {ending}")
    );
    assert_eq!(
        flat(&at_width(&traced("run-1", &calls(5, |nth| nth == 2)), 120)).split(" CALLS").next().unwrap(),
        "Run run-1 has 5 calls; 4 succeeded, 1 failed; 5 attempts. Found: error RL201 transient-not-retried."
    );
}

#[test]
fn the_requested_attempt_is_marked_in_words_too() {
    let shown = at_width(&traced("req_long_20", &long(45)), 80);
    assert_eq!(shown.matches('▶').count(), 1);
    assert!(shown.contains("req_long_20 ◀ the id asked for  log.jsonl:20"), "{shown}");
    assert_eq!(at_width(&traced("long", &long(45)), 80).matches('▶').count(), 0, "all are meant");
}

#[test]
fn the_middle_of_long_calls_is_left_out() {
    let trace = traced("req_long_20", &long(45));
    let shown = flat(&at_width(&trace, 80));
    assert!(
        shown.contains("⋮ 15 more attempts, 4 to 18: 529 overloaded; waits of 2.9 s; --verbose shows them"),
        "{shown}"
    );
    let sent = |page: &str| page.matches("log.jsonl:").count();
    assert_eq!(sent(&shown), 9);
    let all = page(&trace, &TextOptions { verbose: true, ..TextOptions::default() });
    assert_eq!(sent(&all), 45);
    assert!(!all.contains('⋮'));
    for (n, left_out) in [(14, 0), (15, 1)] {
        assert_eq!(at_width(&traced("long", &long(n)), 80).matches('⋮').count(), left_out, "{n} attempts");
    }
}

#[test]
fn runs_show_every_call_and_only_some_timelines() {
    let shown = at_width(&traced("run-1", &calls(30, |nth| nth % 15 == 0)), 80);
    assert_eq!(shown.matches("\nCALL ").count(), 2);
    assert!(flat(&shown).contains("timelines below: 2; left out: 28 calls, none of them with failures"), "{shown}");
    let shown = at_width(&traced("run-1", &calls(30, |_| true)), 80);
    assert_eq!(shown.matches("\nCALL ").count(), 8);
    assert!(flat(&shown).contains("left out: 22 calls, 22 of them with failures"), "{shown}");
    assert_eq!(shown.matches("fix   as above").count(), 7);
    let shown = at_width(&traced("run-1", &calls(60, |_| false)), 80);
    assert!(flat(&shown).contains("10 later calls not shown"), "{shown}");
}

#[test]
fn waits_state_who_chose_them() {
    let limited = |hint: u32| json!({"status": 429, "error_type": "rate_limit_error", "retry_after": hint});
    let with = |mut more: Value, key: &str, value: Value| {
        more[key] = value;
        more
    };
    let log = [
        record("c", 1, 0, &limited(2)),
        record("c", 2, 2100, &limited(90)),
        record("c", 3, 2700, &with(overloaded(), "planned_wait_ms", json!(1000))),
        record("c", 4, 3800, &overloaded()),
        record("c", 5, 4330, &with(overloaded(), "duration_ms", Value::Null)),
        record("c", 6, 6330, &overloaded()),
        record("c", 7, 6440, &limited(1)),
        record("c", 8, 26_540, &limited(30)),
    ];
    let shown = at_width(&traced("c", &log), 120);
    for words in [
        "│ waited 2 s as the server asked ",
        "│ waited 500 ms although the server asked for 90 s",
        "│ waited 1 s as the client had planned",
        "│ waited 430 ms: client's own backoff",
        "│ waited at most 2 s: client's own backoff",
        "│ sent again at once (10 ms): no backoff",
        "│ waited 20 s, longer than the 1 s the server asked for",
        "given up here; the server had asked for 30 s",
    ] {
        assert!(shown.contains(words), "{words}\n{shown}");
    }
}

#[test]
fn wide_pages_have_a_bar_for_each_step() {
    let trace = traced("long", &long(3));
    assert!(at_width(&trace, 80).contains("█ attempt ░ wait"));
    let wide = at_width(&trace, 120);
    assert!(!wide.contains("█ attempt ░ wait"));
    let bars: Vec<usize> = wide.lines().filter_map(|line| line.chars().position(|c| c == '█' || c == '░')).collect();
    assert_eq!(bars.len(), 5);
    assert!(bars.is_sorted(), "each begins where the one before ended: {bars:?}");
}

#[test]
fn times_follow_the_zone_and_the_clock_of_the_log() {
    let zone = "Europe/Berlin".parse().unwrap();
    let trace = traced("long", &long(2));
    let shown = page(&trace, &TextOptions { zone, ..TextOptions::default() });
    assert!(shown.contains("2026-05-20 12:00:00 CEST, 3.1 s in all"), "{shown}");
    assert!(shown.contains("12:00:03  2"), "no decimals where the log has none: {shown}");
    assert_eq!(shown.matches("CEST").count(), 1);
}

#[test]
fn an_unknown_id_is_reported() {
    let traced = traced("nowhere", &calls(1, |_| false));
    assert!(traced.traces.is_empty());
    let text = unresolved(&traced.unresolved[0], &traced.searched);
    assert!(text.starts_with("`nowhere` is nowhere in 1 input (plain), "), "{text}");
}

#[test]
fn other_traffic_is_described() {
    let mut log = calls(6, |nth| nth % 2 == 0);
    let mut other = record("other", 1, 1200, &json!({"status": 500, "model": "claude-opus"}));
    other["run_id"] = json!("run-2");
    log.push(other);
    let shown = flat(&at_width(&traced("req_c02_01", &log), 80));
    assert!(
        shown.contains("It was not alone: 2 of 5 other attempts (40%) on the same scope failed in the same way"),
        "{shown}"
    );
    assert!(shown.contains("server_error 1 1 10:00:01 10:00:01 anthropic claude-opus"), "{shown}");
    let alone = flat(&at_width(&traced("req_c00_01", &calls(1, |_| true)), 80));
    assert!(alone.contains("Nothing else was sent then."), "{alone}");
}

#[test]
fn details_for_support_are_listed() {
    let more = json!({
        "status": 429, "error_type": "rate_limit_error", "error_message": "slow down", "org": "org-7",
        "headers": {"x-amzn-requestid": "platform-9"}, "client": {"name": "SDK", "version": "1.2"},
    });
    let shown = flat(&at_width(&traced("req_c_01", &[record("c", 1, 0, &more)]), 80));
    let block = "request-id req_c_01 platform id platform-9 sent 2026-05-20 10:00:00 UTC \
                 status 429 rate_limit_error model anthropic claude-sonnet organization org-7 client SDK 1.2 \
                 message slow down";
    assert!(shown.contains(block), "{shown}");
    let none = at_width(&traced("c00", &calls(1, |_| false)), 80);
    assert!(!none.contains("FOR SUPPORT"), "nothing to ask about: {none}");
}
