//! Findings that are known and accepted.

use super::{analyze, codes, folder, judged, notices};
use crate::common;

pub(super) const ACCEPTED: &str = "[[suppress]]\nrule = \"RL1\"\nreason = \"the key is being replaced\"\n";

#[test]
fn what_is_suppressed_counts_as_that_and_as_nothing_else() {
    let (code, whole) = judged("", &["auth.jsonl"]);
    assert_eq!((code, &whole["totals"]["suppressed"]), (1, &0.into()));
    let wasted = &whole["totals"]["wasted_sends"];
    assert!(wasted.as_u64().unwrap() > 0);
    let (code, report) = judged(ACCEPTED, &["auth.jsonl"]);
    assert_eq!((code, &report["totals"]["suppressed"], &report["totals"]["errors"]), (0, &1.into(), &0.into()));
    // An attempt that could not have helped is one, whatever is reported.
    assert_eq!((&report["totals"]["wasted_sends"], &report["runs"][0]["wasted_sends"]), (wasted, wasted));
    for chosen in [["--ignore", "RL1"], ["--select", "RL8"], ["--min-severity", "error"]] {
        let ran = analyze(folder("").path(), &[&["auth.jsonl", "--format", "json"], &chosen[..]].concat());
        assert_eq!(&ran.json()["totals"]["wasted_sends"], wasted, "{chosen:?}");
    }
    assert!(!codes(&report).contains(&"RL106"));
    assert!(notices(&report).is_empty());
    let shown = analyze(folder(ACCEPTED).path(), &["auth.jsonl"]).stdout;
    assert!(shown.contains("1 finding suppressed"), "{shown}");
}

#[test]
fn suppressions_hold_where_their_patterns_match() {
    for (pattern, holds) in [
        ("run = \"r-*\"", true),
        ("run = \"night-*\"", false),
        ("model = \"gpt-mini\"", true),
        ("model = \"gpt\"", false),
        ("provider = \"open??\"", true),
        ("class = \"authentication\"", true),
        ("class = \"rate_*\"", false),
        ("run = \"*\"\nmodel = \"gpt*\"\nprovider = \"anthropic\"", false),
    ] {
        let (code, report) = judged(&format!("{ACCEPTED}{pattern}\n"), &["auth.jsonl"]);
        assert_eq!(code, i32::from(!holds), "{pattern}");
        assert_eq!(notices(&report).len(), usize::from(!holds), "{pattern}");
    }
}

#[test]
fn suppressions_that_do_nothing_are_noticed() {
    let unused = "[[suppress]]\nrule = \"RL501\"\nreason = \"one gate a host\"\n";
    let (code, report) = judged(&format!("{ACCEPTED}{unused}"), &["auth.jsonl"]);
    assert_eq!(code, 0, "unused suppressions do not fail");
    assert_eq!(notices(&report), ["suppression of RL501 (line 4: one gate a host) covers nothing here"]);
    let shown = analyze(folder(unused).path(), &["auth.jsonl"]).stdout;
    assert!(shown.contains("! suppression of RL501"), "{shown}");
    // A rule that does not judge finds nothing to suppress.
    let (_, report) = judged(&format!("ignore = [\"RL5\"]\n{unused}"), &["auth.jsonl"]);
    assert!(notices(&report).is_empty());
}

#[test]
fn an_expired_suppression_holds_no_longer() {
    for date in ["2020-01-01", "\"2020-01-01\""] {
        let (code, report) = judged(&format!("{ACCEPTED}expires = {date}\n"), &["auth.jsonl"]);
        assert_eq!((code, &report["totals"]["suppressed"]), (1, &0.into()));
        let told = "suppression of RL1 (line 1: the key is being replaced) has expired on 2020-01-01: \
                    its findings count again";
        assert_eq!(notices(&report), [told]);
    }
    let (code, _) = judged(&format!("{ACCEPTED}expires = 2999-12-31\n"), &["auth.jsonl"]);
    assert_eq!(code, 0);
}

#[test]
fn fleet_findings_are_suppressed_too() {
    let log = common::repo("samples/fan-out.jsonl").display().to_string();
    let (_, report) = judged("", &[&log]);
    let fleet: Vec<&str> = codes(&report).into_iter().filter(|code| code.starts_with("RL5")).collect();
    assert!(!fleet.is_empty());
    let config = "[[suppress]]\nrule = \"RL5\"\nreason = \"a test of load\"\n";
    let (_, report) = judged(config, &[&log]);
    assert!(codes(&report).iter().all(|code| !code.starts_with("RL5")));
    assert!(report["totals"]["suppressed"].as_u64().unwrap() >= fleet.len() as u64);
}

#[test]
fn idle_suppressions_are_one_notice() {
    let idle: String = (1..8)
        .map(|n| format!("[[suppress]]\nrule = \"RL50{n}\"\nreason = \"r{n}\"\nexpires = \"2020-01-01\"\n"))
        .collect();
    let (_, report) = judged(&idle, &["auth.jsonl"]);
    let notices = notices(&report);
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].starts_with("7 suppressions have expired") && notices[0].ends_with("and 4 more"), "{notices:?}");
}
