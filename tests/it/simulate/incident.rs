//! Incidents replayed: the model under the waits of the log is held against what happened.

use crate::common::{repo, run_in};
use retrylens::model::{Jitter, Schedule};
use retrylens::policy::Strategy;
use retrylens::simulate::{Arrivals, Capacity, NamedPolicy, Service, Setup, emit};
use serde_json::Value;
use std::path::Path;

/// Writes the log of a large incident: 3,000 calls in ten minutes, and two minutes in which hardly any is served.
fn large_incident(path: &Path, seed: u64) {
    let second = |at: u64| if (120..240).contains(&at) { 2 } else { 12 };
    let waits = Schedule { base_s: 0.5, factor: 2.0, cap_s: 8.0, jitter: Jitter::Below(0.25) };
    let setup = Setup {
        arrivals: Arrivals::Poisson(3_000, 200.0),
        capacity: Capacity::PerInterval { width: 1_000, known: (0..600).map(second).collect(), rest: 12 },
        second: Capacity::per_step(0),
        service: Service::Exponential(900.0),
        refusal: 30,
        hint_s: None,
        horizon: 1 << 40,
        steps_per_s: 1_000.0,
        min_wait: 1,
    };
    let policy = NamedPolicy { name: "sdk".to_owned(), strategy: Strategy::plain(waits, 3) };
    let mut log = Vec::new();
    emit(&setup, &policy, seed, &mut log).unwrap();
    std::fs::write(path, log).unwrap();
}

fn assert_near(told: &Value) {
    assert_eq!(told["holds"], true, "{told:#}");
    for key in ["attempts", "failed", "served", "lost"] {
        let [observed, replayed] = ["observed", "replayed"].map(|of| told[of][key].as_f64().unwrap());
        assert!((observed - replayed).abs() <= (observed * 0.1).max(2.0), "{key}: {told:#}");
    }
}

#[test]
fn the_fan_out_of_the_samples_is_met() {
    let told = run_in(&repo(""), &["simulate", "--from-log", "samples/fan-out.jsonl", "--format", "json"]).json();
    assert_near(&told);
    assert_eq!((&told["calls"], &told["observed"]["attempts"]), (&32.into(), &77.0.into()));
    assert_eq!((&told["observed"]["served"], &told["observed"]["lost"]), (&19.0.into(), &13.0.into()));
    let happened = told["summary"][0].as_str().unwrap();
    let counted = "What happened: 32 calls were under way: 77 attempts, 58 failed, 13 calls lost, over after ";
    assert!(happened.starts_with(counted), "not all of them failed: {happened}");
    let names: Vec<&str> =
        told["policies"].as_array().unwrap().iter().filter_map(|one| one["policy"].as_str()).collect();
    assert_eq!(names, ["none", "fixed", "exponential", "full-jitter", "full-jitter+attempts=6"]);
    let lost = |at: usize| told["policies"][at]["lost_range"][1].as_f64().unwrap();
    assert!(lost(4) < lost(3) && lost(3) < lost(0), "more attempts lose fewer calls: {told:#}");
}

#[test]
fn a_large_incident_is_met() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..3 {
        large_incident(&folder.path().join("log.jsonl"), seed);
        let arguments = ["simulate", "--no-config", "--complete", "--from-log", "log.jsonl", "--format", "json"];
        assert_near(&run_in(folder.path(), &arguments).json());
    }
}

/// Between two seconds of such a clock nobody is seen to ask, which is no sign of a capacity that is free.
#[test]
fn no_policy_is_served_faster_than_a_log_of_whole_seconds_shows() {
    let folder = tempfile::tempdir().unwrap();
    let burst = ["simulate", "--no-config", "--tasks", "600", "--capacity", "20", "--attempts", "6"];
    let emitted = run_in(folder.path(), &[&burst[..], &["--policy", "full-jitter", "--emit", "log.jsonl"]].concat());
    assert_eq!(emitted.code, 0, "{emitted:#?}");
    let arguments = ["simulate", "--no-config", "--complete", "--from-log", "log.jsonl", "--format", "json"];
    let told = run_in(folder.path(), &arguments).json();
    assert_near(&told);
    for row in told["policies"].as_array().unwrap() {
        let [served, over_after_s] = ["served", "over_after_s"].map(|key| row["figures"][key].as_f64().unwrap());
        assert!(served <= 20.0 * (over_after_s + 1.0), "20 are served a second: {row:#}");
    }
}

/// An endpoint that serves some callers always and others never is not described by a capacity.
#[test]
fn where_the_model_does_not_hold_nothing_is_claimed() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = String::new();
    for call in 0..200_u64 {
        let (attempts, status, kind) = if call % 2 == 0 { (1, 200, "") } else { (8, 529, "overloaded_error") };
        for attempt in 0..attempts {
            let at = 1_767_571_200_000 + call * 100 + attempt * (100 + call * 37 % 400);
            log += &format!(
                "{{\"ts\":{at},\"run_id\":\"r\",\"call_id\":\"c{call}\",\"attempt\":{},\"model\":\"m\",\"status\":{status},\
                 \"error_type\":\"{kind}\",\"duration_ms\":10}}\n",
                attempt + 1
            );
        }
    }
    std::fs::write(folder.path().join("log.jsonl"), log).unwrap();
    let arguments = ["simulate", "--no-config", "--complete", "--from-log", "log.jsonl", "--format"];
    let told = run_in(folder.path(), &[&arguments[..], &["json"]].concat()).json();
    assert_eq!((&told["holds"], told["policies"].as_array().map(Vec::len)), (&false.into(), Some(0)), "{told:#}");
    let text = run_in(folder.path(), &[&arguments[..], &["text"]].concat()).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("nothing is claimed") && !text.contains("Ranges"), "{text}");
}

#[test]
fn the_report_tells_of_the_worst_incident() {
    let sample = repo("samples/fan-out.jsonl");
    let analyze = |further: &[&str]| {
        run_in(&repo(""), &[&["analyze", "--no-config", sample.to_str().unwrap()], further].concat())
    };
    let report = analyze(&["--format", "json"]).json();
    assert_near(&report["counterfactual"]);
    for form in ["text", "markdown", "html"] {
        let written = analyze(&["--format", form]).stdout;
        assert!(written.contains("Under full-jitter+attempts=6"), "{form}");
    }
    let asked = analyze(&["--format", "json", "--what-if", "none,full-jitter+gate"]).json();
    let names: Vec<&str> = asked["counterfactual"]["policies"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["policy"].as_str())
        .collect();
    assert_eq!(names, ["none", "full-jitter+gate"]);
    let wrong = analyze(&["--what-if", "gat"]);
    assert_eq!((wrong.code, wrong.stderr.contains("did you mean `gate`")), (2, true), "{}", wrong.stderr);
    let bounded = analyze(&["--format", "json", "--memory", "bounded", "--what-if", "none"]).json();
    assert!(bounded["counterfactual"].is_null());
    assert!(
        bounded["notices"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one.as_str().unwrap().contains("--what-if has no answer"))
    );
}

#[test]
fn nothing_is_said_twice() {
    for form in ["text", "markdown"] {
        let told = run_in(&repo(""), &["simulate", "--from-log", "samples/fan-out.jsonl", "--format", form]).stdout;
        for sentence in ["What happened:", "Under full-jitter+attempts=6", "With the waits of the log"] {
            assert_eq!(told.matches(sentence).count(), 1, "{form}, {sentence}: {told}");
        }
    }
}

/// An incident is counted by time, its replay by calls.
#[test]
fn two_counts_of_one_incident_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    large_incident(&folder.path().join("log.jsonl"), 0);
    let report =
        run_in(folder.path(), &["analyze", "--no-config", "--complete", "log.jsonl", "--format", "json"]).json();
    let (incidents, told) = (report["incidents"].as_array().unwrap(), &report["counterfactual"]);
    let worst = incidents.iter().max_by_key(|one| one["failed"].as_u64()).unwrap();
    assert_ne!(worst["sends"].as_f64(), told["observed"]["attempts"].as_f64(), "else nothing is to be explained");
    let expected = format!("the incident alone has {} failures in {} attempts.", worst["failed"], worst["sends"]);
    let said = told["summary"][1].as_str().unwrap().replace(',', "");
    assert!(said.ends_with(&expected), "{expected} {said}");
}

#[test]
fn calls_that_another_model_answered_are_told_from_those_that_failed() {
    let line = |call: u8, attempt: u8, model: &str, at: u8, status: u16| {
        format!(
            "{{\"ts\":\"2026-01-05T10:00:{at:02}Z\",\"run_id\":\"r\",\"call_id\":\"c{call}\",\"attempt\":{attempt},\"provider\":\"p\",\
             \"model\":\"{model}\",\"status\":{status},\"duration_ms\":300}}\n"
        )
    };
    let refused = |call: u8| [line(call, 1, "big", call, 529), line(call, 2, "big", call + 2, 529)].concat();
    let mut log: String = (10..16).map(refused).collect();
    log += &(10..14).map(|call| line(call, 3, "small", call + 4, 200)).collect::<String>();
    log += &(30..40).map(|call| line(call, 1, "big", call, 200)).collect::<String>();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), log).unwrap();
    let arguments = ["simulate", "--no-config", "--complete", "--from-log", "log.jsonl", "--format", "json"];
    let told = run_in(folder.path(), &arguments).json();
    let summary = told["summary"].to_string();
    assert_eq!(told["observed"]["lost"], 6.0, "{told}");
    assert!(summary.contains("another answered 4 of the calls that failed here"), "{summary}");
}
