//! What findings count and say, rule by rule, of logs that show it.

use super::Hit;
use crate::judge::{Options, judge};

/// The first finding of the rule `code` in `log`, of which nothing follows.
fn hit(code: &str, log: &str) -> Hit {
    let table = crate::ingest::read_str(log);
    let judgement = judge(&table, &Options { complete: true, ..Options::default() });
    let fold = judgement.folds.values().find(|fold| fold.rule.code == code);
    let kept = fold.and_then(|fold| fold.kept.values().next());
    assert!(kept.is_some(), "no {code} in\n{log}");
    kept.unwrap().hit.clone()
}

/// A call whose second attempt came early, each attempt with these fields.
fn early(first: &str, second: &str) -> String {
    format!(
        r#"{{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"retry_after":30,"duration_ms":10,{first}}}
{{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"duration_ms":10,{second}}}
"#
    )
}

#[test]
fn an_early_retry_is_in_vain_where_it_was_refused_again() {
    const LIMITED: &str = r#""status":429,"error_type":"rate_limit_error""#;
    for (first, second, wasted) in [
        (LIMITED, LIMITED, 1),
        (LIMITED, r#""status":529,"error_type":"overloaded_error""#, 1),
        (r#""status":500,"error_type":"api_error""#, r#""status":500,"error_type":"api_error""#, 1),
        (LIMITED, r#""status":200"#, 0),
        (LIMITED, r#""status":400,"error_type":"invalid_request_error""#, 0),
        (LIMITED, r#""status":500,"error_type":"api_error""#, 0),
        (LIMITED, r#""kind":"timeout""#, 0),
    ] {
        let hit = hit("RL301", &early(first, second));
        assert_eq!(
            (hit.wasted.len(), hit.wait_s > 0.0),
            (wasted, wasted > 0),
            "{first} then {second}: {}",
            hit.message
        );
    }
}

/// Calls that are sent `sends` times each, a tenth of a second after one another, all within a second.
fn hasty(calls: u32, sends: u32) -> String {
    let line = |call: u32, nth: u32| {
        let (ms, status) = (call * 3 + nth * 100, if nth + 1 == sends { 200 } else { 529 });
        format!(
            r#"{{"ts":"2026-03-10T09:00:00.{ms:03}Z","run_id":"r","model":"m","call_id":"c{call}","attempt":{},"duration_ms":20,"status":{status}}}"#,
            nth + 1
        )
    };
    (0..calls).flat_map(|call| (0..sends).map(move |nth| line(call, nth))).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_window_is_told_with_what_was_counted_in_it() {
    let log = hasty(30, 4);
    let amplified = hit("RL403", &log).message;
    assert!(
        amplified.starts_with("30 calls on m that started within 5 min 0 s became 120 attempts, 4.0 a call"),
        "{amplified}"
    );
    let budget = hit("RL405", &log).message;
    let counted = "30 calls on m that started within 10 min 0 s made 90 retries, where a budget of 20% of first attempts allows 6";
    assert!(budget.starts_with(counted), "{budget}");
}

/// Attempts of one call, so many seconds apart, each with these fields; without durations where there are none.
fn attempts(seconds: &[u32], timed: bool, fields: &str) -> String {
    let took = if timed { r#""duration_ms":20,"# } else { "" };
    let line = |(nth, second): (usize, &u32)| {
        format!(
            r#"{{"ts":"2026-05-20T10:00:{second:02}.1Z","run_id":"r","call_id":"c","attempt":{},{took}{fields}}}"#,
            nth + 1
        )
    };
    seconds.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn waits_that_may_include_answers_are_upper_bounds() {
    const OVERLOADED: &str = r#""status":529,"error_type":"overloaded_error""#;
    const HINTED: &str = r#""status":429,"error_type":"rate_limit_error","retry_after":9"#;
    const INVALID: &str = r#""status":400,"error_type":"invalid_request_error","request_hash":"aa""#;
    const CANCELLED: &str = r#""kind":"cancelled""#;
    for (code, seconds, fields, [measured, bound]) in [
        ("RL203", &[0, 2, 5][..], OVERLOADED, ["and 5 s of waiting in all", "and at most 5 s of waiting in all"]),
        ("RL301", &[0, 4], HINTED, ["retried after 4 s although", "retried after at most 4 s although"]),
        ("RL104", &[0, 3], INVALID, ["once over 3 s after", "once over at most 3 s after"]),
        ("RL111", &[0, 3], CANCELLED, ["the first time after 3 s", "the first time after at most 3 s"]),
        ("RL312", &[0, 9, 18, 27, 36, 45], HINTED, ["waited 44.9 s over 5 waits", "waited at most 45 s over 5 waits"]),
    ] {
        for (timed, words) in [(true, measured), (false, bound)] {
            let message = hit(code, &attempts(seconds, timed, fields)).message;
            assert!(message.contains(words), "{code}, {words}: {message}");
        }
    }
}
