use super::*;

fn past(calls: u64, problems: &[(&str, Severity, u64)]) -> Past {
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
    Past::parse(&report.to_string()).unwrap()
}

fn change(old: &Past, new: &Past) -> Change {
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
fn a_change_is_beyond_chance_and_no_trifle() {
    use Severity::Error;
    let of = |calls, count| past(calls, &[("RL1", Error, count)]);
    for (old, new, expected) in [
        (of(1000, 40), of(1000, 90), Change::Worse),
        (of(1000, 90), of(1000, 40), Change::Better),
        (of(1000, 2), of(1000, 6), Change::Same),
        (of(1_000_000, 40_000), of(1_000_000, 45_000), Change::Same),
        (of(1000, 1), past(1000, &[]), Change::Fixed),
        (past(1000, &[]), of(1000, 1), Change::New),
        (past(10, &[("RL3", Error, 1)]), past(10, &[]), Change::Untold),
    ] {
        assert_eq!(change(&old, &new), expected);
    }
}

#[test]
fn a_graver_severity_is_worse_at_any_rate() {
    let (mild, grave) = (past(100, &[("RL1", Severity::Warning, 2)]), past(100, &[("RL1", Severity::Error, 2)]));
    assert_eq!((change(&mild, &grave), change(&grave, &mild)), (Change::Worse, Change::Better));
    assert_eq!(diff(("a", &mild), ("b", &grave)).worst(), Some(Severity::Error));
}

#[test]
fn what_tells_of_successes_is_not_fixed_where_more_calls_fail() {
    let night = |failed: u64, problem: Option<(&str, u64)>| {
        let problems: Vec<_> = problem.into_iter().map(|(rule, count)| (rule, Severity::Info, count)).collect();
        let mut past = past(20, &problems);
        past.totals.calls_failed = failed;
        past
    };
    for rule in ["RL504", "RL804"] {
        let (good, bad) = (night(0, Some((rule, 4))), night(9, None));
        let told = diff(("a", &good), ("b", &bad));
        assert_eq!((told.problems[0].change, told.problems[0].failed_instead), (Change::Untold, true));
        assert_eq!(change(&good, &night(0, None)), Change::Fixed);
        assert_eq!(change(&night(0, Some((rule, 19))), &night(18, Some((rule, 1)))), Change::Same);
    }
    assert_eq!(change(&night(0, Some(("RL301", 4))), &night(9, None)), Change::Fixed);
}

#[test]
fn failed_calls_that_chance_hardly_explains_are_told_first() {
    let night = |calls: u64, failed: u64| {
        let totals = serde_json::json!({"calls": calls, "calls_failed": failed, "sends": calls});
        let report = serde_json::json!({"schema_version": 1, "generator": "retrylens 0", "window": null, "totals": totals,
            "problems": [], "coverage": []});
        Past::parse(&report.to_string()).unwrap()
    };
    let said = |old: &Past, new: &Past| diff(("a", old), ("b", new)).verdict;
    let verdict = said(&night(40, 0), &night(40, 10));
    assert!(verdict.starts_with("Failed calls: 0 of 40 before, 10 of 40 now"), "{verdict}");
    assert!(!verdict.to_lowercase().contains("no change"), "{verdict}");
    assert!(said(&night(40, 9), &night(40, 10)).starts_with("No change"));
}
