use super::*;
use crate::model::Time;

fn past(calls: u64, problems: &[(&str, Severity, u64)]) -> PastReport {
    let problems: Vec<serde_json::Value> = problems
        .iter()
        .map(|(rule, severity, count)| {
            serde_json::json!({"rule": rule, "name": "n", "severity": severity, "count": count,
                "provider": null, "model": null, "class": null, "example": "e", "fix": "f"})
        })
        .collect();
    let report = serde_json::json!({"schema_version": 1, "generator": "retrylens 0", "window": null,
        "totals": {"calls": calls, "sends": calls}, "problems": problems,
        "coverage": [{"rules": ["RL3"], "field": "x", "present": {"count": 0, "of": 1}}]});
    PastReport::parse(&report.to_string()).unwrap()
}

fn change(old: &PastReport, new: &PastReport) -> Change {
    diff(("a", old), ("b", new)).problems[0].change
}

#[test]
fn more_findings_in_as_much_more_traffic_are_no_change() {
    use Severity::Error;
    for times in [2, 10, 1000] {
        let (old, new) = (past(1000, &[("RL1", Error, 40)]), past(1000 * times, &[("RL1", Error, 40 * times)]));
        assert_eq!((change(&old, &new), change(&new, &old)), (Change::Same, Change::Same));
    }
}

#[test]
fn a_change_is_significant_and_large() {
    use Severity::Error;
    let of = |calls, count| past(calls, &[("RL1", Error, count)]);
    for (old, new, expected) in [
        (of(1000, 40), of(1000, 90), Change::Worse),
        (of(1000, 90), of(1000, 40), Change::Better),
        (of(1000, 2), of(1000, 6), Change::Same),
        (of(1_000_000, 40_000), of(1_000_000, 45_000), Change::Same),
        (of(1000, 1), past(1000, &[]), Change::Fixed),
        (past(1000, &[]), of(1000, 1), Change::New),
        (past(10, &[("RL3", Error, 1)]), past(10, &[]), Change::Inconclusive),
        (past(10, &[]), past(10, &[("RL3", Error, 1)]), Change::Inconclusive),
    ] {
        assert_eq!(change(&old, &new), expected);
    }
}

#[test]
fn a_graver_severity_is_worse_at_any_rate() {
    let (mild, severe) = (past(100, &[("RL1", Severity::Warning, 2)]), past(100, &[("RL1", Severity::Error, 2)]));
    assert_eq!((change(&mild, &severe), change(&severe, &mild)), (Change::Worse, Change::Better));
    assert_eq!(diff(("a", &mild), ("b", &severe)).worst(), Some(Severity::Error));
}

#[test]
fn rules_on_successes_are_inconclusive_if_more_calls_fail() {
    let report = |failed: u64, problem: Option<(&str, u64)>| {
        let problems: Vec<_> = problem.into_iter().map(|(rule, count)| (rule, Severity::Info, count)).collect();
        let mut past = past(20, &problems);
        past.totals.calls_failed = failed;
        past
    };
    for rule in ["RL504", "RL804"] {
        let (good, bad) = (report(0, Some((rule, 4))), report(9, None));
        let changed = diff(("a", &good), ("b", &bad));
        assert_eq!((changed.problems[0].change, changed.problems[0].failed_instead), (Change::Inconclusive, true));
        assert_eq!(change(&good, &report(0, None)), Change::Fixed);
        assert_eq!(change(&report(0, Some((rule, 19))), &report(18, Some((rule, 1)))), Change::Same);
    }
    assert_eq!(change(&report(0, Some(("RL301", 4))), &report(9, None)), Change::Fixed);
}

#[test]
fn unlikely_changes_in_failed_calls_come_first() {
    let report = |calls: u64, failed: u64| {
        let totals = serde_json::json!({"calls": calls, "calls_failed": failed, "sends": calls});
        let json = serde_json::json!({"schema_version": 1, "generator": "retrylens 0", "window": null, "totals": totals,
            "problems": [], "coverage": []});
        PastReport::parse(&json.to_string()).unwrap()
    };
    let verdict_of = |old: &PastReport, new: &PastReport| diff(("a", old), ("b", new)).head.verdict;
    let verdict = verdict_of(&report(40, 0), &report(40, 10));
    assert!(verdict.starts_with("Failed calls: 0 of 40 before, 10 of 40 now"), "{verdict}");
    assert!(!verdict.to_lowercase().contains("no change"), "{verdict}");
    assert!(verdict_of(&report(40, 9), &report(40, 10)).starts_with("No change"));
}

#[test]
fn errors_and_warnings_come_before_infos() {
    use Severity::{Error, Info, Warning};
    let old = past(1000, &[("RL1", Error, 40), ("RL2", Warning, 9), ("RL5", Info, 4)]);
    let new = past(1000, &[("RL1", Error, 90), ("RL4", Info, 3), ("RL5", Info, 4)]);
    let diff = diff(("a", &old), ("b", &new));
    let order: Vec<&str> = diff.problems.iter().map(|problem| problem.key.rule.as_str()).collect();
    assert_eq!(order, ["RL1", "RL2", "RL4", "RL5"]);
    assert!(
        diff.head.verdict.starts_with("Problems: 1 worse (error RL1 n), 1 fixed; infos: 1 new."),
        "{}",
        diff.head.verdict
    );
}

#[test]
fn infos_alone_are_no_change_of_problems() {
    let new = past(1000, &[("RL4", Severity::Info, 3)]);
    let verdict = diff(("a", &past(1000, &[])), ("b", &new)).head.verdict;
    assert!(verdict.starts_with("No error or warning is new, worse, fixed or better; infos: 1 new."), "{verdict}");
}

#[test]
fn problems_the_old_log_could_not_show_are_inconclusive() {
    let new = past(1000, &[("RL3", Severity::Error, 3), ("RL1", Severity::Error, 2)]);
    let diff = diff(("a", &past(1000, &[])), ("b", &new));
    let first = "Problems: 1 new (error RL1 n), 1 inconclusive (1 found now, by fields that the old log lacks).";
    assert!(diff.head.verdict.starts_with(first), "{}", diff.head.verdict);
    let changed = diff.changed(Change::Inconclusive).next().unwrap();
    assert!(changed.old_inconclusive && !changed.failed_instead);
}

#[test]
fn sides_that_overlap_are_not_taken_for_swapped() {
    let at = |first: i64, last: i64| {
        let mut past = past(10, &[]);
        past.window = Some(Window { first: Time(first), last: Time(last) });
        past
    };
    let told = |old: &PastReport, new: &PastReport| diff(("a", old), ("b", new)).notices;
    let overlap = ["the two sides overlap in time: some calls may count on both"];
    assert_eq!(told(&at(1, 9), &at(0, 5)), overlap);
    assert_eq!(told(&at(0, 5), &at(1, 9)), overlap);
    assert_eq!(told(&at(5, 9), &at(0, 4)), ["a is later than b: are the two sides swapped?"]);
    assert!(told(&at(0, 4), &at(5, 9)).is_empty());
}
