//! Counts and messages of findings, rule by rule, in logs made for them.

use super::{CATALOGUE, Hit, Rule, shared};
use crate::judge::{Options, judge};

/// Returns the first finding of the rule `code` in the complete log `log`, with the severity that is reported.
fn find(code: &str, log: &str) -> Option<Hit> {
    let table = crate::ingest::read_str(log);
    let judgement = judge(&table, &Options { complete: true, ..Options::default() });
    let problem = judgement.problems.values().find(|problem| problem.rule.code == code)?;
    let kept = problem.kept.values().next()?;
    Some(Hit { severity: Some(kept.severity), ..kept.hit.clone() })
}

/// Like [`find`], but fails if there is no finding.
fn hit(code: &str, log: &str) -> Hit {
    let found = find(code, log);
    assert!(found.is_some(), "no {code} in\n{log}");
    found.unwrap()
}

/// A call whose second attempt came too early, with these fields in the attempts.
fn early(first: &str, second: &str) -> String {
    format!(
        r#"{{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"retry_after":30,"duration_ms":10,{first}}}
{{"ts":"2026-05-20T10:00:02Z","run_id":"r","call_id":"c","attempt":2,"duration_ms":10,{second}}}
"#
    )
}

#[test]
fn an_early_retry_is_wasted_if_it_was_refused_again() {
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

/// Calls with `sends` attempts each, a tenth of a second apart, all within a second.
fn early_retries(calls: u32, sends: u32) -> String {
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
fn a_message_gives_the_window_and_the_counts_within_it() {
    let log = early_retries(30, 4);
    let amplified = hit("RL403", &log).message;
    assert!(
        amplified.starts_with("30 calls on m that started within 131 ms became 120 attempts, 4.0 a call"),
        "{amplified}"
    );
    let budget = hit("RL405", &log).message;
    let counted =
        "30 calls on m that started within 131 ms made 90 retries, where a budget of 20% of first attempts allows 6";
    assert!(budget.starts_with(counted), "{budget}");
}

#[test]
fn calls_outside_the_worst_window_are_not_counted_in_it() {
    // Retried calls within a tenth of a second, and as many within the window that succeed at once. Starts are counted
    // in buckets of 66 ms.
    let later = |call: u32| {
        format!(
            r#"{{"ts":"2026-03-10T09:01:{call:02}Z","model":"m","call_id":"d{call}","duration_ms":20,"status":200}}"#
        )
    };
    let log = format!("{}\n{}", early_retries(30, 4), (0..30).map(later).collect::<Vec<_>>().join("\n"));
    let message = hit("RL403", &log).message;
    assert!(message.starts_with("30 calls on m that started within 131 ms became 120 attempts"), "{message}");
}

#[test]
fn only_first_attempts_that_succeed_count_as_successes_of_a_burst() {
    let call = |call: u32, failure: &str| {
        format!(r#"{{"ts":"2026-03-10T09:00:00.{call:03}Z","model":"m","call_id":"c{call}",{failure}}}"#)
    };
    let kinds = [
        (7, r#""status":503,"error_type":"api_error""#),
        (5, r#""status":529,"error_type":"overloaded_error""#),
        (6, r#""kind":"connection_error""#),
        (4, r#""status":200"#),
    ];
    let all = kinds.iter().flat_map(|(count, kind)| std::iter::repeat_n(*kind, *count));
    let log: Vec<String> = all.zip(0..).map(|(kind, nth)| call(nth, kind)).collect();
    let message = hit("RL506", &log.join("\n")).message;
    assert_eq!(
        message,
        "22 calls on m started within a second, and 12 of them were refused at once, by a rate limit or for lack of \
         capacity, and 6 failed otherwise; 4 succeeded at once, so starts spread over 6 s would have fitted"
    );
}

#[test]
fn a_retry_counts_for_the_failure_before_it() {
    const RESET: &str = r#""kind":"connection_error""#;
    const SERVER: &str = r#""status":500,"error_type":"api_error""#;
    let line = |minute: u32, call: &str, second: u32, what: &str| {
        format!(
            r#"{{"ts":"2026-03-10T09:{minute:02}:{second:02}Z","model":"m","call_id":"{call}","duration_ms":20,{what}}}"#
        )
    };
    let succeeding = (0..1_000).map(|nth| line(nth % 25, &format!("f{nth}"), nth % 60, r#""status":200"#));
    // Of the 48 retries after a lost connection half fail; all of the 24 after a server error succeed.
    let half_failing = |nth: u32| {
        let call = format!("c{nth}");
        let [second, third] = if nth.is_multiple_of(2) { [SERVER, r#""status":200"#] } else { [r#""status":200"#, ""] };
        let sends = [RESET, second, third].into_iter().zip([1, 3, 7]).filter(|(what, _)| !what.is_empty());
        sends.map(|(what, second)| line(30, &call, second, what)).collect::<Vec<_>>()
    };
    let log: Vec<String> = succeeding.chain((0..48).flat_map(half_failing)).collect();
    let message = hit("RL509", &log.join("\n")).message;
    assert!(message.starts_with("after a lost connection on m, 50% of the retries failed (24 of 48)"), "{message}");
}

/// Attempts of one call at these seconds, each with these fields, with durations if `timed`.
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
fn waits_that_may_include_durations_are_upper_bounds() {
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

/// One attempt that the client decided to retry, with these fields.
fn decided_to_retry(fields: &str) -> String {
    format!(
        r#"{{"ts":"2026-05-20T10:00:00Z","run_id":"r","call_id":"c","attempt":1,"duration_ms":20,"decision":"retry",{fields}}}"#
    )
}

#[test]
fn a_decision_to_send_a_refused_request_again_is_a_warning() {
    const CAPPED: &str = r#""status":429,"error_code":"enforced_spend_limit_reached""#;
    const DATED: &str = r#""status":429,"error_code":"enforced_spend_limit_reached","error_message":"You have reached your API usage limits. You will regain access on 2026-06-01 at 00:00 UTC.""#;
    let with_finding: &[(&str, String)] = &[
        ("RL101", CAPPED.to_owned()),
        ("RL101", DATED.to_owned()),
        ("RL101", format!(r#"{DATED},"planned_wait_s":2"#)),
        ("RL104", r#""status":400,"error_type":"invalid_request_error""#.to_owned()),
        ("RL106", r#""status":403,"error_type":"permission_error""#.to_owned()),
        ("RL107", r#""status":429,"error_code":"insufficient_quota""#.to_owned()),
        ("RL109", r#""status":503,"should_retry":false"#.to_owned()),
    ];
    for (code, fields) in with_finding {
        let hit = hit(code, &decided_to_retry(fields));
        assert_eq!((hit.severity, hit.wasted.len()), (Some(crate::model::Severity::Warning), 0), "{fields}");
        assert!(hit.message.contains("by a decision of the client (no such attempt is in the log)"), "{}", hit.message);
    }
    let without_finding = [
        // The client may wait until the cap reopens.
        ("RL101", DATED.replace("2026-06-01 at 00:00", "2026-05-20 at 13:00")),
        ("RL101", format!(r#"{DATED},"planned_wait_s":1200000"#)),
        // The next attempt may have a new token.
        ("RL106", r#""status":401,"error_type":"authentication_error""#.to_owned()),
        // No attempt is left.
        ("RL104", r#""status":400,"error_type":"invalid_request_error","max_attempts":1"#.to_owned()),
        // The server asked for a retry.
        ("RL104", r#""status":400,"error_type":"api_error","should_retry":true"#.to_owned()),
    ];
    for (code, fields) in without_finding {
        assert_eq!(find(code, &decided_to_retry(&fields)).map(|hit| hit.message), None, "{fields}");
    }
}

/// Returns the rules that have this exception.
fn rules_with_exception(exception: &str) -> Vec<&'static Rule> {
    CATALOGUE.iter().filter(|rule| rule.exceptions().any(|sentence| sentence == exception)).collect()
}

#[test]
fn rules_on_waits_find_nothing_if_times_contradict_the_order_of_attempts() {
    let mut tested = 0;
    for rule in rules_with_exception(shared::CLOCK[0]) {
        // Attempts are numbered per layer.
        let of_one_layer =
            |log: &&&str| [1, 2].iter().all(|n| log.contains(&number(*n))) && !log.contains(r#""layer""#);
        for example in rule.firing.iter().filter(of_one_layer) {
            let swapped = example.replace(&number(1), &number(0)).replace(&number(2), &number(1));
            let swapped = swapped.replace(&number(0), &number(2));
            assert!(!super::tests::found(&swapped).contains(rule.code), "{} in {swapped}", rule.code);
            tested += 1;
        }
    }
    assert!(tested >= 12, "{tested} examples");
}

fn number(attempt: u32) -> String {
    format!(r#""attempt":{attempt},"#)
}

#[test]
fn rules_that_need_more_than_similarity_find_nothing_with_it_alone() {
    let rules = rules_with_exception(shared::SHOWN[0]);
    assert!(rules.len() >= 2);
    for rule in rules {
        let named = |log: &&&str| log.contains(r#""call_id":"c","#);
        let without_ids_and_numbers =
            |log: &str| (1..9).fold(log.replace(r#""call_id":"c","#, ""), |log, n| log.replace(&number(n), ""));
        let mut examples = rule.firing.iter().filter(named).peekable();
        assert!(examples.peek().is_some(), "{}", rule.code);
        for example in examples {
            assert!(
                !super::tests::found(&without_ids_and_numbers(example)).contains(rule.code),
                "{} in {}",
                rule.code,
                without_ids_and_numbers(example)
            );
        }
    }
}

#[test]
fn a_run_that_fell_back_to_another_model_has_not_given_up() {
    let failed = r#"{"ts":"2026-05-20T10:00:00Z","run_id":"r","model":"a","status":529,"error_type":"overloaded_error","duration_ms":20}"#;
    let other = r#"{"ts":"2026-05-20T10:00:01Z","run_id":"r","model":"b","status":200,"duration_ms":20}"#;
    assert!(find("RL201", failed).is_some());
    assert!(find("RL201", &format!("{failed}\n{other}")).is_none());
}

#[test]
fn a_second_success_after_an_empty_stop_reason_is_no_duplicate() {
    let twice = |reason: &str| attempts(&[0, 3], true, &format!(r#""status":200,"stop_reason":{reason}"#));
    assert!(find("RL605", &twice(r#""end_turn""#)).is_some());
    assert!(find("RL605", &twice("null")).is_none());
}
